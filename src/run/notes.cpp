#include "run/notes.hpp"

#include "core/counted.hpp"
#include "core/printed.hpp"
#include "photonrail/core/work.hpp"
#include "photonrail/simulate.hpp"
#include "run/expected_time.hpp"
#include "run/served_workload.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace photonrail {

namespace {

constexpr const char* kOversubscription = "/cluster/rail/oversubscription";
constexpr const char* kSwitching = "/cluster/rail/reconfiguration_ms";

std::string per_cent(double share) { return core::printed(share < 0.1 ? "%.2g %%" : "%.0f %%", 100.0 * share); }

std::string brief(double x) { return core::printed("%.4g", x); }

std::string brief_time(Duration d) {
  const double s = to_seconds(d);
  if (s < 1e-6) return brief(s * 1e9) + " ns";
  if (s < 1e-3) return brief(s * 1e6) + " us";
  return s < 1.0 ? brief(s * 1e3) + " ms" : brief(s) + " s";
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

using Found = std::optional<Note>;

// What follows is the table: a function a note. Each says when it is true, and fills the sentence.

Found one_tier(const Scenario& scenario, const RunResult&) {
  const RailSpec& rail = scenario.cluster.rail;
  if (rail.kind != RailKind::kElectrical || scenario.cluster.plant().two_tier()) return {};
  if (rail.oversubscription == 1.0 && rail.tier_latency == Duration{}) return {};
  const std::uint32_t ports = scenario.cluster.plant().rail_ports();
  const bool share = rail.oversubscription != 1.0;
  return Note{"one-tier", share ? kOversubscription : "/cluster/rail/tier_latency_ns",
              "One switch of radix " + std::to_string(rail.switch_radix) + " holds all " + core::counted(ports, "port") +
                  " of a rail: there is one tier, so " +
                  (share ? "oversubscription " + brief(rail.oversubscription) : "the latency of a second tier") +
                  " has no effect. A radix below " + std::to_string(ports) + " makes two.",
              static_cast<double>(ports)};
}

Found idle_uplinks(const Scenario& scenario, const RunResult& result) {
  if (!result.utilisation || !result.utilisation->uplinks) return {};
  const Utilisation::Uplinks& of = *result.utilisation->uplinks;
  const RailSpec& rail = scenario.cluster.rail;
  const bool optical = rail.kind == RailKind::kOptical;
  const double share = optical ? rail.pods.oversubscription : rail.oversubscription;
  if (share == 1.0 || of.busiest >= 0.5) return {};
  const std::string key = optical ? "/cluster/rail/pods/oversubscription" : kOversubscription;
  const std::string below = optical ? "pod" : "leaf";
  if (of.busiest == 0.0) {
    return Note{"uplinks", key,
                "No byte crosses an uplink, as each group on a rail is below one " + below + ": oversubscription " +
                    brief(share) + " has no effect.",
                0.0};
  }
  const bool once = of.members > 0.0 && of.members < 1.0 + 1e-5;
  return Note{"uplinks", key,
              std::string(once ? "Groups on the rails cross each " + below + " once, as rings do: its" : "The busiest") +
                  " uplinks are busy " + per_cent(of.busiest) + " of the time, so oversubscription " + brief(share) +
                  " costs little here; traffic that leaves a " + below + " from each GPU would need more.",
              of.busiest};
}

// Which uplink binds where messages take single ones, or why the keys of uplinks change nothing.
Found single_uplinks(const Scenario& scenario, const RunResult& result) {
  constexpr const char* kRouting = "/cluster/rail/uplinks/routing";
  const UplinkSpec& uplinks = scenario.cluster.rail.uplinks;
  const PlantSpec plant = scenario.cluster.plant();
  const bool routed = uplinks.routing != UplinkRouting::kFluid;
  const std::string routing = "routing \"" + std::string(name(uplinks.routing)) + "\"";
  if (!routed && uplinks.count == 0 && uplinks.rates.empty()) return {};
  if (!plant.two_tier()) {
    return Note{"uplink-routing", routed ? kRouting : "/cluster/rail/uplinks",
                "A rail is one switch, without uplinks: " + (routed ? routing : std::string("\"uplinks\"")) +
                    " has no effect. A radix below " + std::to_string(plant.rail_ports()) + " makes two tiers.",
                0.0};
  }
  if (routed && plant.uplink_count() == 1) {
    return Note{"uplink-routing", kRouting, "A leaf has one uplink: " + routing + " has no effect.", 1.0};
  }
  if (!routed && uplinks.rates.empty() && !plant.uplinks_fail) {
    return Note{
        "uplink-routing", "/cluster/rail/uplinks/count",
        "The uplinks of a leaf are one capacity (routing \"fluid\"), and none has a fault: their number has no effect.",
        static_cast<double>(plant.uplink_count())};
  }
  if (!result.utilisation || !result.utilisation->uplinks || result.utilisation->uplinks->single.empty()) return {};
  const Utilisation::Uplinks& of = *result.utilisation->uplinks;
  const Utilisation::Uplink& worst = of.single.front();
  if (worst.busy <= 0.0) return {};
  const double times = worst.busy / of.single_mean;
  return Note{"uplink-routing", kRouting,
              "With " + routing + " the busiest uplink, " + std::to_string(worst.uplink) + " of leaf " +
                  std::to_string(worst.leaf) + " on rail " + std::to_string(worst.rail.value) + ", is busy " +
                  per_cent(worst.busy) + " of the time, " + brief(times) + " times the mean of all uplinks.",
              times};
}

Found idle_gpus(const Scenario& scenario, const RunResult&) {
  std::set<GpuId> used;
  const auto add = [&used](const JobSpec& job) {
    used.insert(job.gpu_of_rank.begin(), job.gpu_of_rank.end() - job.storage_ranks);
  };
  add(scenario);
  std::for_each(scenario.jobs.begin(), scenario.jobs.end(), add);
  const std::uint32_t all = scenario.cluster.gpus();
  if (used.size() >= all) return {};
  const double idle = 1.0 - static_cast<double>(used.size()) / all;
  return Note{"idle-gpus", "/cluster/servers",
              per_cent(idle) + " of the GPUs of the cluster are idle: " + core::counted(used.size(), "rank") + " on " +
                  std::to_string(all) + " GPUs. Cost and power are of the whole cluster.",
              idle};
}

// Messages without a byte, as those of a barrier, pay latencies.
bool has_group_across_servers(const Scenario& scenario) {
  const auto server = [&](RankId rank) {
    return scenario.gpu_of_rank[rank.index()].value / scenario.cluster.gpus_per_server;
  };
  const std::vector<Communicator>& groups = scenario.graph.communicators();
  return std::any_of(groups.begin(), groups.end(), [&](const Communicator& group) {
    return std::any_of(group.members.begin(), group.members.end(),
                       [&](RankId rank) { return server(rank) != server(group.members.front()); });
  });
}

Found no_rail_traffic(const Scenario& scenario, const RunResult& result) {
  if (!scenario.jobs.empty() || !result.utilisation || result.utilisation->rail_ports > 0.0) return {};
  if (result.makespan == Duration{} || has_group_across_servers(scenario)) return {};
  return Note{"no-rail-traffic", "/cluster/rail", "No byte crosses a rail: NICs, rails and the controller have no effect.",
              0.0};
}

// Dimensions that circuits were changed for, and how often from one to another.
Found never_switches(const Scenario& scenario, const RunResult& result) {
  if (scenario.cluster.rail.kind != RailKind::kOptical || !scenario.jobs.empty()) return {};
  std::set<Dimension> crossing;
  for (const auto& [change, totals] : result.reconfigurations.by_change) {
    if (!change.second) return {};
    if (change.first && totals.count > 0) return {};
    if (totals.count > 0) crossing.insert(*change.second);
  }
  if (crossing.size() != 1) return {};
  const Duration delay = scenario.cluster.rail.optical.typical();
  return Note{"never-switches", kSwitching,
              "The rails set their circuits once and never switch: the delay of " + brief_time(delay) +
                  " counts at the start alone.",
              to_seconds(delay)};
}

// A refit gains from it when it needs other circuits than there are, and is known before it begins.
Found refit_not_provisioned(const Scenario& scenario, const RunResult& result, const Registries& registries) {
  if (!result.rl || scenario.cluster.rail.kind != RailKind::kOptical) return {};
  const ControllerFactory policy = registries.controllers.find(scenario.controller.name);
  if (policy.bound || !policy.needs_of(policy.complete(scenario.controller)).ranks.announces_any()) return {};
  const std::vector<RlStep>& steps = result.rl->steps;
  const auto known =
      std::count_if(steps.begin(), steps.end(), [](const RlStep& s) { return s.refit_announced > Duration{}; });
  std::uint64_t switched = 0;
  for (const auto& [change, totals] : result.reconfigurations.by_change) {
    if (change.second == Dimension::kRefit) switched += totals.count;
  }
  if (known > 0 && switched > 0) return {};
  return Note{"refit-provisioned", "/controller",
              std::string("\"provisioned\" has no effect: ") +
                  (switched == 0 ? "the circuits of a refit are lit when it comes, as other phases use them too."
                                 : "each refit follows the last message of training, or of engines, at once."),
              static_cast<double>(known)};
}

// Circuits that are announced when prefill begins are made then by a policy that provisions.
Found opened_without_effect(const Scenario& scenario, const RunResult&, const Registries& registries) {
  const run::ServedWorkload* const served = run::ServedWorkload::of(scenario);
  if (served == nullptr || !served->spec().transfer.open_at_prefill) return {};
  const ControllerFactory policy = registries.controllers.find(scenario.controller.name);
  const bool optical = scenario.cluster.rail.kind == RailKind::kOptical;
  if (optical && !policy.bound && policy.needs_of(policy.complete(scenario.controller)).ranks.announces_any()) return {};
  return Note{
      "opened-circuits", "/workload/serving/transfer/open",
      std::string("\"at_prefill\" opens no circuit: ") +
          (optical ? "the controller lights one when bytes wait for it (\"mode\": \"provisioned\" of opus does before, "
                     "and \"provisioned\": true of phases and polling)."
                   : "electrical rails have none.") +
          " Engines that decode are chosen when prefill begins all the same.",
      0.0};
}

Found hidden_switching(const Scenario& scenario, const RunResult& result) {
  const ReconfigurationSummary& summary = result.reconfigurations;
  if (scenario.cluster.rail.kind != RailKind::kOptical || !scenario.jobs.empty()) return {};
  if (summary.count == 0 || summary.total == LongTime{}) return {};
  const auto waits = [](const RankTime& rank) { return rank.reconfiguration_wait > Duration{}; };
  if (std::any_of(result.ranks.begin(), result.ranks.end(), waits)) return {};
  return Note{"hidden-switching", kSwitching,
              "All " + core::counted(summary.count, "reconfiguration") +
                  " are hidden behind other work: no rank waits for a circuit, and a shorter delay saves nothing.",
              static_cast<double>(summary.count)};
}

Found first_step(const Scenario& scenario, const RunResult& result) {
  if (scenario.cluster.rail.kind != RailKind::kOptical || result.reconfigurations.count == 0) return {};
  const std::optional<Duration> steady = result.steady_iteration();
  if (!steady || result.iterations.front() <= *steady) return {};
  const Duration more = result.iterations.front() - *steady;
  return Note{"first-step", "/run/iterations",
              "The first step takes " + brief_time(more) +
                  " more than later ones, as it lights its circuits; \"step\" is the mean "
                  "of the later ones.",
              to_seconds(more)};
}

Found unused_share(const Scenario& scenario, const RunResult& result) {
  std::vector<std::string> unused;
  double most = 0.0;
  for (std::size_t d = 0; d < kDimensionCount && scenario.jobs.empty(); ++d) {
    const double share = scenario.executor.sm_share[d];
    if (share == 0.0 || result.traffic[d].operations > 0) continue;
    unused.emplace_back(name(static_cast<Dimension>(d)));
    most = std::max(most, share);
  }
  if (unused.empty()) return {};
  return Note{
      "unused-sm-share", "/executor/sm_share/" + unused.front(),
      "The job has no " + joined(unused, " or ") + " traffic: " +
          (unused.size() == 1 ? "its share of the multiprocessors, " : "the shares of the multiprocessors, at most ") +
          per_cent(most) + (unused.size() == 1 ? ", has no effect." : ", have no effect."),
      most};
}

Found unused_accuracy(const Scenario& scenario, const RunResult& result) {
  if (scenario.run.network_accuracy == 0.0 || result.engine.epochs > 0) return {};
  return Note{"unused-accuracy", "/network/accuracy",
              "No crowd of flows was large enough: accuracy " + brief(scenario.run.network_accuracy) +
                  " has no effect, but that ranks are not folded.",
              scenario.run.network_accuracy};
}

Found nothing_drawn(const Scenario& scenario, const RunResult&) {
  if (scenario.run.spread_seeds.value_or(0) < 2 || draws_of_seed(scenario)) return {};
  return Note{"nothing-drawn", "/run/spread_seeds",
              "Nothing is drawn at random: " + std::to_string(*scenario.run.spread_seeds) +
                  " seeds would give one result, so there is no spread.",
              static_cast<double>(*scenario.run.spread_seeds)};
}

const char* key_of(const PathPart& part) {
  using Kind = PathPart::Kind;
  if (part.kind == Kind::kCircuits) return kSwitching;
  if (part.kind == Kind::kLane) return "/executor/comm_lanes";
  if (part.kind != Kind::kCommunication) return "/cluster/gpu";
  switch (*part.place) {
    case Place::kScaleUp:
      return "/cluster/scale_up/gb_per_s";
    case Place::kPort:
      return "/cluster/nic/port_gb_per_s";
    case Place::kLeafUplink:
      return kOversubscription;
    case Place::kPodUplink:
      return "/cluster/rail/pods/oversubscription";
    case Place::kSiteLink:
      return "/cluster/sites/links";
    case Place::kLatency:
      break;
  }
  return "/cluster/nic/latency_ns";
}

Found binds(const Scenario&, const RunResult& result) {
  if (!result.critical_path || result.critical_path->parts.empty() || result.makespan == Duration{}) return {};
  const PathPart& part = result.critical_path->parts.front();
  const double share = to_seconds(part.time) / to_seconds(result.makespan);
  std::string text = per_cent(share) + " of the critical path is " + part.label();
  if (const auto& busiest = result.critical_path->busiest) {
    text += "; the busiest capacity on it is the " + busiest->name + ", " + per_cent(busiest->utilisation) +
            " busy in its " + brief_time(busiest->time);
  }
  return Note{"binds", key_of(part), text + ".", share};
}

}  // namespace

namespace run {

void add_notes(const Scenario& scenario, const Registries& registries, RunResult& result) {
  constexpr Found (*kNotes[])(const Scenario&, const RunResult&) = {
      &binds,          &one_tier,         &idle_uplinks, &single_uplinks, &idle_gpus,       &no_rail_traffic,
      &never_switches, &hidden_switching, &first_step,   &unused_share,   &unused_accuracy, &nothing_drawn};
  for (const auto find : kNotes) {
    if (Found note = find(scenario, result)) result.notes.push_back(*std::move(note));
  }
  for (const auto find : {&refit_not_provisioned, &opened_without_effect}) {
    if (Found note = find(scenario, result, registries)) result.notes.push_back(*std::move(note));
  }
}

void add_forecast(const Scenario& scenario, const Registries& registries, RunResult& result) {
  constexpr std::uint64_t kEvents = 500'000;  // of shorter runs the estimate would take a part of the time
  constexpr double kLong = 10.0;              // seconds
  if (result.engine.events < kEvents) return;
  const WorkEstimate work = expected_work(scenario, registries);
  if (work.seconds() < kLong) return;
  result.notes.push_back({"forecast", "--work-limit",
                          "The run was expected to take about " + rough_time(work.seconds()) + " of one core (" +
                              work.in_words() + "); --work-limit refuses what takes longer than it says.",
                          work.seconds()});
}

}  // namespace run

namespace {

bool can_be_compared(const RunResult& a, const RunResult& b) {
  return a.jobs.empty() && b.jobs.empty() && a.ranks.size() == b.ranks.size() && a.makespan > Duration{};
}

Found coincide(const RunResult& a, const RunResult& b) {
  if (a.step_time() != b.step_time() || a.makespan != b.makespan) return {};
  const auto waits = [](const RunResult& r) { return r.mean_rank_time().reconfiguration_wait > Duration{}; };
  const bool same_time = a.mean_rank_time() == b.mean_rank_time();
  return Note{"coincide", "",
              a.name + " and " + b.name + " take the same time: " +
                  (!waits(a) && !waits(b) ? "no rank waits for a circuit in either"
                   : same_time            ? "each part of it is equal"
                                          : "what ends the run is the same") +
                  ".",
              to_seconds(a.step_time())};
}

/// Which algorithms "auto" took, whether every send was simulated though `fidelity` is "stream", and whether nothing was.
struct Chosen {
  std::vector<std::string> collectives;
  bool every_send = false;
  bool bound = false;
};

Chosen chosen(const RunResult& result) {
  constexpr std::string_view kTook = ": auto took ";
  Chosen of;
  for (const std::string& line : result.choices) {
    of.every_send = of.every_send || line.starts_with("fidelity: ");
    of.bound = of.bound || line.ends_with(", and no run");
    const std::size_t took = line.find(kTook);
    if (took == std::string::npos) continue;
    of.collectives.push_back(line.substr(0, line.find(' ', took + kTook.size())));  // its cost is of these rails
  }
  return of;
}

// Failures at given times. Servers that stop are among those of rails.
bool has_failures(const ClusterSpec& cluster) { return !cluster.rail.faults.empty() || !cluster.scale_up.faults.empty(); }

// What electrical rails have that circuits do not. Where it is nothing of this, the order of messages is what is left.
std::string what_slows(const RunResult& electrical, const RunResult& optical) {
  const RailSpec& rail = electrical.cluster.rail;
  std::vector<std::string> reasons;
  if (electrical.cluster.plant().two_tier()) {
    if (rail.oversubscription > 1.0) reasons.emplace_back("its uplinks are oversubscribed");
    if (rail.tier_latency > Duration{}) reasons.emplace_back("its second tier adds latency");
  }
  const Chosen there = chosen(electrical);
  const Chosen here = chosen(optical);
  if (here.bound) reasons.emplace_back("the time behind circuits is a lower bound, and no run");
  if (there.collectives != here.collectives) reasons.emplace_back("\"auto\" takes other collectives there");
  if (!there.every_send && here.every_send)
    reasons.emplace_back(
        R"(its collectives are streams, and here every send is simulated ("fidelity": "exact" compares them))");
  if (has_failures(electrical.cluster) || has_failures(optical.cluster))
    reasons.emplace_back("failures at given times strike other messages there");
  if (reasons.empty()) reasons.emplace_back("messages that overlap share a port there, where circuits let one go first");
  return joined(reasons, ", and ");
}

Found faster_than_electrical(const RunResult& a, const RunResult& b) {
  const bool a_optical = a.cluster.rail.kind == RailKind::kOptical;
  if (a_optical == (b.cluster.rail.kind == RailKind::kOptical)) return {};
  const RunResult& optical = a_optical ? a : b;
  const RunResult& electrical = a_optical ? b : a;
  if (optical.step_time() >= electrical.step_time()) return {};
  const double saved = 1.0 - to_seconds(optical.step_time()) / to_seconds(electrical.step_time());
  return Note{"faster-than-electrical", "/cluster/rail/kind",
              optical.name + " is " + per_cent(saved) + " faster than " + electrical.name +
                  (electrical.name.find("electric") == std::string::npos ? ", whose rails are electrical: " : ": ") +
                  what_slows(electrical, optical) + ".",
              saved};
}

}  // namespace

std::vector<Note> notes_of(std::span<const RunResult> results) {
  std::vector<Note> notes;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t j = i + 1; j < results.size(); ++j) {
      if (!can_be_compared(results[i], results[j])) continue;
      for (const auto find : {&coincide, &faster_than_electrical}) {
        if (Found note = find(results[i], results[j])) notes.push_back(*std::move(note));
      }
    }
  }
  return notes;
}

}  // namespace photonrail
