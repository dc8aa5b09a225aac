// `photonrail.result/1`.
#include "report/result_json.hpp"

#include "photonrail/report.hpp"
#include "photonrail/version.hpp"
#include "report/bill_json.hpp"
#include "report/output.hpp"
#include "report/rank_spread.hpp"
#include "report/rl_report.hpp"
#include "report/run_json.hpp"
#include "report/serving_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

namespace {

using json::Json;

// The command adds these keys of each library.
constexpr fields::Field kPluginFields[] = {report::key_field("file", fields::text_shape(), "Its name.", true),
                                           report::key_field("hash", fields::text_shape(), "Of its content.", true)};
constexpr fields::Section kPlugin{.fields = kPluginFields, .written = true};
constexpr fields::Shape kPluginShape = fields::object_shape(kPlugin);
constexpr fields::Shape kPluginsShape = fields::list_shape(kPluginShape);

constexpr std::uint64_t kMaxWindows = 10'000;  // of one kind: bounds the size of the file for a million ranks

std::string key_of(std::pair<Dimension, Dimension> change) {
  return std::string(name(change.first)) + "->" + std::string(name(change.second));
}

std::uint64_t count(const std::vector<WindowCount>& windows) {
  return std::accumulate(windows.begin(), windows.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const WindowCount& w) { return sum + w.count; });
}

/// The mean of the ranks, or a class of ranks: `detection`: of a run in which failures were not detected at once; `idle`:
/// of an agent's workload; others have no such entries.
struct RankParts {
  RankTime time{};
  bool detection = false;
  bool idle = false;
};

RankParts parts_of_rank(const RankTime& time, const RunResult& result) {
  return {time, report::has_detection(result), report::has_idle(result)};
}

constexpr auto kRankParts = report::outputs<RankParts>(
    {report::key<[](const RankParts& p) { return p.time.compute; }>("compute", "Seconds."),
     report::key<[](const RankParts& p) { return p.time.exposed_communication; }>("exposed_communication", "Seconds."),
     report::key<[](const RankParts& p) { return p.time.reconfiguration_wait; }>("reconfiguration_wait", "Seconds."),
     report::key<[](const RankParts& p) { return p.time.peer_wait; }>("peer_wait", "Seconds."),
     report::key<[](const RankParts& p) { return p.detection ? std::optional(p.time.detection) : std::nullopt; }>(
         "detection", "Seconds, where failures were not detected at once."),
     report::key<[](const RankParts& p) { return p.idle ? std::optional(p.time.idle) : std::nullopt; }>(
         "idle", "Seconds, of a workload that an agent decides.")});

/// Ranks whose times are the same.
struct RankClass {
  RankParts parts{};
  std::uint64_t count = 0;
  std::size_t first = 0;  // of the range that the next rank may continue
  std::size_t last = 0;
  std::string ranges{};  // before it, each with a comma behind

  void end_range() { ranges += std::to_string(first) + (last > first ? "-" + std::to_string(last) : "") + ","; }
  void add(std::size_t rank) {
    if (count++ > 0 && rank == last + 1) {
      last = rank;
      return;
    }
    if (count > 1) end_range();
    first = last = rank;
  }
};

std::array<std::int64_t, 6> key_of(const RankTime& time) {
  return {time.compute.count(),
          time.exposed_communication.count(),
          time.reconfiguration_wait.count(),
          time.peer_wait.count(),
          time.detection.count(),
          time.idle.count()};
}

// One row for all ranks with the same times, in the order of the first of each: of a folded run they are few.
std::vector<RankClass> rank_classes(const RunResult& result) {
  std::vector<RankClass> classes;
  std::map<std::array<std::int64_t, 6>, std::size_t> known;
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    const auto [entry, fresh] = known.try_emplace(key_of(result.ranks[r]), classes.size());
    if (fresh) classes.push_back({parts_of_rank(result.ranks[r], result)});
    classes[entry->second].add(r);
  }
  for (RankClass& of : classes) {
    of.end_range();
    of.ranges.pop_back();
  }
  return classes;
}

constexpr auto kRankClass = report::outputs<RankClass>({report::key<&RankClass::ranges>("ranks", "As in `0-7,12`."),
                                                        report::key<&RankClass::count>("count", "How many they are."),
                                                        report::with_keys_of<kRankParts, &RankClass::parts>()});

/// The traffic of a dimension, with its commands.
struct OfDimension {
  DimensionTraffic traffic{};
  std::uint64_t commands = 0;
};

constexpr auto kOfDimension = report::outputs<OfDimension>(
    {report::key<[](const OfDimension& d) { return d.traffic.bytes; }>("bytes", "That left GPUs, of all ranks."),
     report::key<[](const OfDimension& d) { return d.traffic.operations; }>("operations", "Collectives and messages."),
     report::key<[](const OfDimension& d) { return d.traffic.busy; }>("busy_s", "An operation runs: mean over ranks."),
     report::key<[](const OfDimension& d) { return d.traffic.exposed; }>("exposed_s", "No computation runs beside it."),
     report::key<[](const OfDimension& d) { return d.traffic.reconfiguration_wait; }>(
         "reconfiguration_wait_s", "The part of the reconfiguration wait that the dimension explains, mean over ranks."),
     report::key<&OfDimension::commands>("commands", "Commands whose first request was of the dimension.")});

report::ByName<OfDimension> communication(const RunResult& result) {
  report::ByName<OfDimension> by_dimension;
  for (std::size_t d = 0; d < result.traffic.size(); ++d) {
    if (result.traffic[d].operations == 0) continue;
    by_dimension.emplace_back(name(static_cast<Dimension>(d)),
                              OfDimension{result.traffic[d], report::commands_for(result, d)});
  }
  return by_dimension;
}

// Kinds that were launched; none without an agent.
std::optional<std::vector<LaunchTotals>> launches(const RunResult& result) {
  if (result.launches.empty()) return std::nullopt;
  std::vector<LaunchTotals> launched;
  for (const LaunchTotals& of : result.launches) {
    if (of.count > 0) launched.push_back(of);
  }
  return launched;
}

constexpr auto kLaunch = report::outputs<LaunchTotals>(
    {report::key<&LaunchTotals::kind>("kind", "As the agent names it."),
     report::key<&LaunchTotals::count>("count", "How many."),
     report::key<&LaunchTotals::time>("time_s", "From the launch until its ranks are done, summed up."),
     report::key<&LaunchTotals::longest>("longest_s", "The longest."),
     report::key<&LaunchTotals::bytes>("bytes", "That left GPUs.")});

// Each window of its own; of more than kMaxWindows an even part of the ascending list, with the ends.
std::vector<Duration> one_by_one(const std::vector<WindowCount>& windows) {
  const std::uint64_t all = count(windows);
  const std::uint64_t written = std::min(all, kMaxWindows);
  std::vector<Duration> list;
  std::size_t at = 0;
  std::uint64_t before = 0;  // windows of lengths before windows[at]
  for (std::uint64_t i = 0; i < written; ++i) {
    const std::uint64_t wanted = written == 1 ? 0 : i * (all - 1) / (written - 1);
    while (before + windows[at].count <= wanted) before += windows[at++].count;
    list.push_back(windows[at].length);
  }
  return list;
}

// Counts the windows, where not all are written.
std::optional<report::ByName<std::uint64_t>> thinned(const RunResult& result) {
  report::ByName<std::uint64_t> by_change;
  for (const auto& [change, lengths] : result.windows) {
    if (count(lengths) > kMaxWindows) by_change.emplace_back(key_of(change), count(lengths));
  }
  return by_change.empty() ? std::nullopt : std::optional(std::move(by_change));
}

report::ByName<std::vector<Duration>> windows(const RunResult& result) {
  report::ByName<std::vector<Duration>> by_change;
  for (const auto& [change, lengths] : result.windows) by_change.emplace_back(key_of(change), one_by_one(lengths));
  return by_change;
}

struct PricedCluster {
  CostSummary cost;
  std::uint32_t gpus = 0;
  std::uint32_t servers = 0;
  std::optional<double> million_kwh{};

  [[nodiscard]] report::OrNull<double> energy_j() const {
    const auto& gpu_energy = cost.gpu_energy_per_step_j;
    return {gpu_energy ? std::optional(*gpu_energy + cost.network_energy_per_step_j) : std::nullopt};
  }
};

std::optional<PricedCluster> priced(const RunResult& result) {
  if (!result.cost) return std::nullopt;
  return PricedCluster{*result.cost, result.cluster.gpus(), result.cluster.servers, report::kwh_per_million_tokens(result)};
}

constexpr auto kCost = report::outputs<PricedCluster>(
    {report::key<[](const PricedCluster& c) { return c.cost.catalogue; }>("catalogue", "Which prices."),
     report::key<[](const PricedCluster& c) { return name(c.cost.rule); }>("rule", "[Which rule](../models/cost.md)."),
     report::key<[](const PricedCluster& c) { return name(c.cost.bill.fabric); }>("fabric", "What was priced."),
     report::key<&PricedCluster::gpus>("gpus", "Of the cluster."),
     report::key<&PricedCluster::servers>("servers", "Of the cluster."),
     report::key<[](const PricedCluster& c) { return report::switches_of(c.cost.bill); }>("switches",
                                                                                          "Installed ones of all tiers."),
     report::key<[](const PricedCluster& c) { return c.cost.bill.usd(); }>("usd", "Of the network."),
     report::key<[](const PricedCluster& c) { return c.cost.bill.power_w(); }>("power_w", "Of the network."),
     report::key<[](const PricedCluster& c) { return c.cost.network_energy_per_step_j; }>(
         "network_energy_per_step_j", "Of a mean step; of several jobs, of the whole run."),
     report::key<[](const PricedCluster& c) { return report::OrNull<double>{c.cost.gpu_energy_per_step_j}; }>(
         "gpu_energy_per_step_j", "Null where the GPU's power is unknown."),
     report::key<&PricedCluster::energy_j>("energy_per_step_j", "Of both; null likewise."),
     report::key<&PricedCluster::million_kwh>("kwh_per_million_output_tokens", "That energy, of served requests."),
     report::of_shape<[](const PricedCluster& c) { return report::to_json_array(c.cost.bill); }>(
         "bill", report::kListOf<report::kBillLineKeys>, "Its lines.")});

constexpr auto kNetwork = report::outputs<EngineSummary>(
    {report::key<&EngineSummary::network_accuracy>("accuracy", "As the scenario says."),
     report::key<&EngineSummary::epochs>("epochs", "How many there were."),
     report::key<&EngineSummary::flows_in_epochs>("flows_in_epochs", "How many flows ended in epochs.")});

std::optional<EngineSummary> network(const RunResult& result) {
  return result.engine.network_accuracy > 0.0 ? std::optional(result.engine) : std::nullopt;
}

constexpr auto kEngine = report::outputs<EngineSummary>(
    {report::key<&EngineSummary::events>("events", "Of what was simulated."),
     report::key<&EngineSummary::sends>("sends", "Of what was simulated."),
     report::key<&EngineSummary::wall_s>("wall_s", "It may differ between two runs of one scenario."),
     report::key<&EngineSummary::peak_rss_mb>("peak_rss_mb", "It may differ likewise.")});

constexpr auto kFolding = report::outputs<FoldingSummary>(
    {report::key<&FoldingSummary::ranks>("ranks", "Of the job, hosts of storage among them."),
     report::key<&FoldingSummary::classes>("classes", "How many were simulated."),
     report::key<[](const FoldingSummary& f) { return f.off.empty() ? std::nullopt : std::optional(f.off); }>(
         "off", "Why all were, if so.")});

using Spread = RunResult::Spread;
constexpr auto kSpread = report::outputs<Spread>(
    {report::key<&Spread::seeds>("seeds", "How many, the run's own among them."),
     report::key<&Spread::unfinished>("unfinished", "How many of these runs cannot finish."),
     report::key<&Spread::min>("min_s", "The shortest."),
     report::key<&Spread::median>("median_s", "Of an even number the lower of the two in the middle."),
     report::key<&Spread::max>("max_s", "The longest.")});

std::optional<Json> serving(const RunResult& result) {
  return result.serving ? std::optional(report::serving_json(*result.serving)) : std::nullopt;
}
std::optional<Json> learning(const RunResult& result) {
  return result.rl ? std::optional(report::rl_json(*result.rl)) : std::nullopt;
}
std::optional<Json> utilisation(const RunResult& result) {
  return result.utilisation ? std::optional(report::utilisation_json(*result.utilisation)) : std::nullopt;
}
std::optional<Json> path(const RunResult& result) {
  return result.critical_path ? std::optional(report::path_json(*result.critical_path)) : std::nullopt;
}

// ---- What a run and each of several jobs have.

constexpr auto kName = report::key<&RunResult::name>("name", "Of the scenario, or of the job.");
constexpr auto kMakespan = report::key<&RunResult::makespan>("makespan_s", "When the last rank ended.");
constexpr auto kIterations =
    report::key<&RunResult::iterations>("iteration_s", "Each step, from the end of the step before. None of several jobs.");
constexpr auto kSimulated =
    report::part<report::simulated_json>("simulated", report::kSimulatedKeys, "What was simulated.");
constexpr auto kMeans = report::object<kRankParts, [](const RunResult& r) { return parts_of_rank(r.mean_rank_time(), r); }>(
    "per_rank_mean_s", "Means over ranks.");
constexpr auto kLaunches = report::objects<kLaunch, launches>("launches", "Of a workload that an agent decides, by kind.");
constexpr auto kServing = report::part<serving>("serving", report::kServingKeys, "Of served requests.");
constexpr auto kLearning = report::part<learning>("rl", report::kRlKeys, "Of reinforcement learning.");
constexpr auto kCommunication = report::objects_by_name<kOfDimension, communication>(
    "communication", "By dimension, of those that have operations: `tp`, `cp`, `ep`, `dp`, `pp`, `other`.");
constexpr auto kReconfigurations =
    report::part<[](const RunResult& r) { return report::reconfigurations_json(r.reconfigurations); }>(
        "reconfigurations", report::kReconfigurationKeys, "Commands to optical switches.");

constexpr auto kJob = report::outputs<RunResult>(
    {kName.as("/name"), report::key<&RunResult::start>("start_s", "When it began."), kMakespan.as("/makespan_s"),
     report::key<&RunResult::alone>("alone_s", "Its makespan with the cluster to itself."),
     report::key<[](const RunResult& r) { return r.alone ? std::optional(r.slowdown()) : std::nullopt; }>(
         "slowdown", "Of its makespan over the one alone. The numbers of a training job follow."),
     kSimulated.as("/simulated"), report::of_shape<report::training_json>("", {}, ""), kIterations.as("/iteration_s"),
     kMeans.as("/per_rank_mean_s"), kLaunches.as("/launches"), kServing.as("/serving"), kLearning.as("/rl"),
     kCommunication.as("/communication"), kReconfigurations.as("/reconfigurations")});

constexpr auto kResult = report::outputs<RunResult>(
    {report::key<[](const RunResult& /*r*/) { return "photonrail.result/1"; }>("schema", "`photonrail.result/1`."),
     kName,
     report::key<[](const RunResult& /*r*/) { return version(); }>("photonrail_version", "Of the program."),
     report::key<&RunResult::seed>("seed", "Of all that is drawn."),
     kMakespan,
     kIterations,
     report::key<[](const RunResult& r) { return report::OrNull<Duration>{r.steady_iteration()}; }>(
         "steady_iteration_s",
         "Mean of the steps after the first; null when there was one. Runs are compared by it. Failures that are over "
         "within "
         "the first step are not in it, as a warning says."),
     report::object<kSpread, &RunResult::spread>(
         "spread", "Makespans under [several seeds](scenario.md#run), where something is drawn."),
     kSimulated,
     report::part<report::training_json>("", report::kTrainingKeys, ""),
     report::key<[](const RunResult& r) {
       return report::OrNull<std::string>{r.infeasible.empty() ? std::nullopt : std::optional(r.infeasible)};
     }>("infeasible",
        "Why the job could not run on such GPUs, which have too little memory; null where it could, or where "
        "that is not known."),
     kMeans,
     report::part<report::rank_spread_json>("per_rank_spread_s", report::kRankSpreadKeys, "Over ranks."),
     kLaunches,
     kServing,
     kLearning,
     kCommunication,
     kReconfigurations,
     report::part<utilisation>("utilisation", report::kUtilisationKeys, "From 0 to 1; absent of a bound."),
     report::part<report::quantiles_json>("quantiles_s", report::kQuantileKeys, "Of times, by dimension.").in_lists_only(),
     report::key<windows>(
         "windows_s",
         "By `A->B`: every gap between rail operations of dimension A and of B, of all ranks, ascending; of "
         "more than 10,000 an even part of them, with the least and the greatest.")
         .in_lists_only(),
     report::key<thinned>("windows_count", "How many there were, only where not all are written.").in_lists_only(),
     report::object<kCost, priced>("cost", "With prices."),
     report::object<kFolding, &RunResult::folding>("folding", "What of the job was simulated."),
     report::key<&RunResult::warnings>(
         "warnings",
         "What is valid and yet [looks like a mistake](../models/accounting.md#warnings), and what the run adds."),
     report::of_shape<[](const RunResult& r) { return report::notes_json(r.notes); }>(
         "notes", report::kListOf<report::kNoteKeys>, "[Why numbers are what they are](../models/critical-path.md)."),
     report::part<path>("critical_path", report::kPathKeys, "Where it is asked for."),
     report::key<[](const RunResult& r) { return r.choices.empty() ? std::nullopt : std::optional(r.choices); }>(
         "choices", "What `\"auto\"` took for which collective, and why."),
     report::object<kNetwork, network>("network", "With `network/accuracy` in the scenario alone."),
     report::object<kEngine, &RunResult::engine>("engine", "What the simulation took."),
     report::objects<kJob,
                     [](const RunResult& r) { return r.jobs.empty() ? std::nullopt : std::optional(std::span(r.jobs)); }>(
         "jobs",
         "Each of several jobs. What is beside it is of all together; the ranks of `rank_classes` are those of one job "
         "after another."),
     report::objects<kRankClass, rank_classes>(
         "rank_classes",
         "A row for all ranks with the same times, in the order of the first of each. The times of a row add up "
         "to `makespan_s`.")
         .in_lists_only(),
     report::added_later<RunResult>("plugins", kPluginsShape, "Libraries that `--plugin` loaded."),
     report::added_later<RunResult>(
         "seal", fields::text_shape(),
         "A [checksum](sweep.md#sweep-results) of the file; `report` and `compare` refuse one that "
         "does not fit.")});

void collect(const Json& value, const std::string& path, std::vector<std::pair<std::string, double>>& into) {
  if (value.is_number()) into.emplace_back(path, value.number());
  if (!value.is_object()) return;
  for (const auto& [key, entry] : value.members()) {
    if (key == "wall_s" || key == "peak_rss_mb" || (path.empty() && key == "simulated")) continue;
    collect(entry, path.empty() ? key : path + "." + key, into);
  }
}

}  // namespace

namespace report {

const fields::Section kResultKeys = kKeysOf<kResult>;

Json result_json(const RunResult& result, bool lists) { return written<kResult>(result, lists); }

std::vector<std::pair<std::string, double>> numbers_of_job(const Json& job) {
  std::vector<std::pair<std::string, double>> numbers;
  const Json* const name = job.find("name");
  if (name == nullptr || !name->is_string()) return numbers;
  const std::string path = "jobs." + name->string() + ".";
  for (const auto& [key, value] : job.members()) {
    if (value.is_number() || key == "per_rank_mean_s") collect(value, path + key, numbers);
  }
  return numbers;
}

std::vector<std::pair<std::string, double>> numbers_of_quantiles(const Json& quantiles) {
  std::vector<std::pair<std::string, double>> numbers;
  const Json* const probabilities = quantiles.find("probabilities");
  if (probabilities == nullptr || !probabilities->is_array()) return numbers;
  for (const auto& [what, by_dimension] : quantiles.members()) {
    if (!by_dimension.is_object()) continue;
    for (const auto& [dimension, histogram] : by_dimension.members()) {
      const Json* const values = histogram.is_object() ? histogram.find("quantiles") : nullptr;
      if (values == nullptr || !values->is_array() || values->size() != probabilities->size()) continue;
      for (std::size_t i = 0; i < values->size(); ++i) {
        const double p = probabilities->elements()[i].is_number() ? probabilities->elements()[i].number() : 0.0;
        if (!values->elements()[i].is_number() || (p != 0.5 && p != 0.99)) continue;
        numbers.emplace_back("quantiles_s." + what + "." + dimension + (p == 0.5 ? ".p50" : ".p99"),
                             values->elements()[i].number());
      }
    }
  }
  return numbers;
}

std::vector<std::pair<std::string, double>> numbers_of(const RunResult& result) {
  std::vector<std::pair<std::string, double>> numbers = numbers_of_quantiles(quantiles_json(result));
  const Json json = result_json(result, false);
  collect(json, "", numbers);
  if (const Json* const jobs = json.find("jobs")) {
    for (const Json& job : jobs->elements()) {
      const auto of_job = numbers_of_job(job);
      numbers.insert(numbers.end(), of_job.begin(), of_job.end());
    }
  }
  std::erase_if(numbers, [](const auto& entry) { return entry.first == "seed" || !std::isfinite(entry.second); });
  return numbers;
}

}  // namespace report

std::string to_json(const RunResult& result) {
  // Warnings may quote names from a trace, which need not be UTF-8.
  return report::result_json(result, true).dump(2) + "\n";
}

}  // namespace photonrail
