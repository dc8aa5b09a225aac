#include "worlds/laws.hpp"

#include "photonrail/controller.hpp"
#include "worlds/twins.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

namespace photonrail::worlds {

namespace {

const char* word(Ending ending) {
  return ending == Ending::kDone ? "is done" : ending == Ending::kStuck ? "cannot finish" : "is refused";
}

Outcome run_twin(const Json& twin, Verdict& verdict, Watched watched = Watched::kYes) {
  ++verdict.runs;
  return run(twin, watched);
}

// "" when the twin ended as well.
std::string ends_otherwise(const Outcome& twin) {
  if (!twin.symptom.empty()) return "the twin: " + twin.symptom + ": " + twin.message;
  if (twin.ending != Ending::kDone) return std::string("the twin ") + word(twin.ending) + ": " + twin.message;
  return "";
}

std::string in_us(Duration time) { return std::to_string(static_cast<double>(time.count()) / 1e6) + " us"; }

std::string longer(const char* what, Duration before, Duration after) {
  return std::string(what) + ": " + in_us(before) + " became " + in_us(after);
}

std::string other_traffic(const RunResult& a, const RunResult& b) {
  for (std::size_t d = 0; d < a.traffic.size(); ++d) {
    if (a.traffic[d].bytes != b.traffic[d].bytes || a.traffic[d].operations != b.traffic[d].operations) {
      return "dimension " + std::to_string(d) + ": " + std::to_string(a.traffic[d].bytes.count) + " bytes became " +
             std::to_string(b.traffic[d].bytes.count);
    }
  }
  for (std::size_t j = 0; j < a.jobs.size(); ++j) {
    if (std::string text = other_traffic(a.jobs[j], b.jobs[j]); !text.empty()) return text;
  }
  return "";
}

// A run of days may be too long at one of the fidelities.
bool is_too_long(const Outcome& run) { return run.message.find("times end at") != std::string::npos; }

// What two runs of one world may be apart besides roundings: each may be off by what the accuracy allows.
Duration slack_of(const World& world, const Outcome& a, const Outcome& b) {
  if (a.result.engine.epochs + b.result.engine.epochs == 0) return {};
  const double slack = accuracy_slack_ps(world.scenario, a.result) + accuracy_slack_ps(world.scenario, b.result);
  return Duration{static_cast<std::int64_t>(slack)};
}

// What an agent sends may go by the time: random launches, jobs that arrive and take the ranks that are free then, requests
// that are refused or end with the run, samples that are too old.
bool sends_by_the_clock(const Json& scenario) {
  const std::string text = scenario.dump();
  return scenario.contains("agents") &&
         (text.find("\"name\":\"arrivals\"") != std::string::npos || text.find("\"barrier\"") != std::string::npos ||
          text.find("\"max_waiting\"") != std::string::npos || text.find("\"horizon_us\"") != std::string::npos ||
          text.find("\"async\"") != std::string::npos);
}

LawAnswer same_bytes_at_both_fidelities(const World& world, const Outcome& first, Verdict& verdict) {
  if (sends_by_the_clock(world.scenario)) return {};
  Json twin = world.scenario;
  Json& fidelity = twin["run"]["fidelity"];
  fidelity = fidelity == "exact" ? "stream" : "exact";
  const Outcome other = run_twin(twin, verdict);
  if (is_too_long(other)) return {};
  // What fails for good at a time is after the end of one run and before that of the other.
  if (other.ending == Ending::kStuck && (may_stop(world.scenario) || lacks_ways(other))) return {};
  if (std::string text = ends_otherwise(other); !text.empty()) return {true, text};
  return {true, other_traffic(first.result, other.result)};
}

LawAnswer same_result_folded(const World& world, const Outcome& first, Verdict& verdict) {
  Json twin = world.scenario;
  twin["run"]["folding"] = true;
  const Outcome other = run_twin(twin, verdict, Watched::kNo);
  if (std::string text = ends_otherwise(other); !text.empty()) return {true, text};
  const RunResult& a = first.result;
  const RunResult& b = other.result;
  if (a.makespan != b.makespan) return {true, longer("folded", a.makespan, b.makespan)};
  if (a.iterations != b.iterations || a.ranks != b.ranks) return {true, "the times of ranks differ when folded"};
  if (a.reconfigurations.count != b.reconfigurations.count ||
      a.reconfigurations.dark_port != b.reconfigurations.dark_port) {
    return {true, "reconfigurations differ when folded"};
  }
  // Every rank is simulated, and none is looked at: equal ranks of a server run as one.
  const bool unfolded = b.folding.ranks == b.folding.classes && b.jobs.empty();
  if (unfolded && a.engine.events != b.engine.events) return {true, "there are more events, or fewer, when nothing looks"};
  if (unfolded && (a.windows != b.windows || a.circuit_waits != b.circuit_waits)) return {true, "windows or waits differ"};
  return {true, other_traffic(a, b)};
}

// Of one collective after another: what a send pays besides its bytes, on every step of the longest chain.
LawAnswer fidelities_agree(const World& world, const Outcome& first, Verdict& verdict) {
  if (!is_serial(world.scenario) || !is_steady(world.scenario) || names_presets(world.scenario["cluster"])) return {};
  Json twin = world.scenario;
  const bool stream = twin["run"].value("fidelity", std::string("stream")) == "stream";
  twin["run"]["fidelity"] = stream ? "exact" : "stream";
  const Outcome other = run_twin(twin, verdict);
  if (is_too_long(other)) return {};
  if (std::string text = ends_otherwise(other); !text.empty()) return {true, text};
  const Duration a = first.result.makespan;
  const Duration b = other.result.makespan;
  const auto apart = static_cast<double>(a > b ? (a - b).count() : (b - a).count());
  const auto slack = static_cast<double>(slack_of(world, first, other).count());
  if (apart <= latency_term_ps(world.scenario) + 0.01 * static_cast<double>(a.count()) + slack) return {true, ""};
  return {true, longer("at the other fidelity", a, b)};
}

// A rounding of a picosecond may change which of two events comes first, so that the law is for runs with one order, whose
// messages do not push each other aside.
LawAnswer times_scale(const World& world, const Outcome& first, Verdict& verdict) {
  const std::optional<Json> twin = twice_as_slow(world.scenario);
  if (!twin || !is_steady(world.scenario) || !is_serial(world.scenario)) return {};
  if (rings_share_wires(world.scenario) || may_forward(world.scenario)) return {};
  const Outcome other = run_twin(*twin, verdict);
  if (other.ending == Ending::kRefused && other.symptom.empty()) return {};  // half of the least rate is none
  if (std::string text = ends_otherwise(other); !text.empty()) return {true, text};
  const auto expected = 2.0 * static_cast<double>(first.result.makespan.count());
  const auto found = static_cast<double>(other.result.makespan.count());
  // Epochs are shares of the ages of flows, and scale; which flow is the last of one may go by a rounding.
  const auto slack = static_cast<double>(slack_of(world, first, other).count());
  if (std::abs(found - expected) <= 2000.0 + 1e-5 * expected + slack) return {true, ""};
  return {true, longer("twice as slow", first.result.makespan, other.result.makespan)};
}

const ControllerRegistry& known() {
  static const ControllerRegistry kRegistry = ControllerRegistry::builtin();
  return kRegistry;
}

// docs/models/policies.md, "Names of servers": ties go by age, size and the order of ranks; faults and regions speak of
// servers by number.
bool goes_by_rank(const Json& scenario, const std::string& policy) {
  static constexpr std::array kPolicies{"rotor", "max_weight", "mixnet", "bvn", "solstice", "topoopt", "static_split"};
  if (std::find(kPolicies.begin(), kPolicies.end(), policy) == kPolicies.end()) return false;
  return scenario.value("/cluster/nic/ports"_json_pointer, 1u) == 1 && is_steady(scenario) &&
         !scenario["controller"].contains("region");
}

// With several ports a demand that is served whole gives its pairs ports in the order of positions.
// Which ways a mesh has for circuits depends on the places of their ports.
bool has_mesh(const Json& scenario) { return scenario.contains("/cluster/rail/switch/pip"_json_pointer); }

bool claims_names(const Json& scenario) {
  if (has_mesh(scenario)) return false;
  const std::string name = policy_of(scenario);
  const std::uint32_t ports = scenario.value("/cluster/nic/ports"_json_pointer, 1u);
  if (name == "opus" && ports > 1) return false;
  if (goes_by_rank(scenario, name)) return true;
  return !name.empty() && (known().find(name).rank_symmetric || known().find(name).claims.server_names);
}

bool claims_symmetry(const Json& scenario) {
  if (has_mesh(scenario)) return false;
  const std::string name = policy_of(scenario);
  return !name.empty() && known().find(name).rank_symmetric;
}

LawAnswer same_makespan(const World& world, const std::optional<Json>& twin, const char* what, const Outcome& first,
                        Verdict& verdict) {
  if (!twin) return {};
  const Outcome other = run_twin(*twin, verdict);
  if (std::string text = ends_otherwise(other); !text.empty()) return {true, text};
  // Rates that several flows share are rounded to picoseconds flow by flow, in an order that names may change.
  const Duration apart =
      std::max(other.result.makespan, first.result.makespan) - std::min(other.result.makespan, first.result.makespan);
  // Epochs take flows that end together in the order of their ports.
  const Duration slack = Duration{1000 + first.result.makespan.count() / 1'000'000} + slack_of(world, first, other);
  if (apart <= slack) return {true, ""};
  return {true, longer(what, first.result.makespan, other.result.makespan)};
}

bool draws_by_rail(const Json& scenario) {
  const std::string text = scenario["cluster"].dump() + scenario.value("controller", Json::object()).dump();
  return text.find("\"distribution\"") != std::string::npos || text.find("\"messages\"") != std::string::npos;
}

LawAnswer names_do_not_matter(const World& world, const Outcome& first, Verdict& verdict) {
  if (!claims_names(world.scenario) || draws_by_rail(world.scenario)) return {};
  // A queue of messages in the order of their arrival is another where one comes 1 ps earlier.
  if (world.scenario.dump().find("\"pipelined\"") != std::string::npos) return {};
  std::vector<std::uint32_t> permutation(world.scenario["cluster"]["servers"].get<std::size_t>());
  for (std::uint32_t s = 0; s < permutation.size(); ++s) permutation[s] = s;
  Dice(world.seed, "permutation").shuffle(permutation);
  return same_makespan(world, renamed(world.scenario, permutation), "servers renamed", first, verdict);
}

LawAnswer unused_server_does_not_matter(const World& world, const Outcome& first, Verdict& verdict) {
  if (!claims_symmetry(world.scenario) || draws_by_rail(world.scenario)) return {};
  return same_makespan(world, with_unused_server(world.scenario), "one more server", first, verdict);
}

LawAnswer not_slower(const World& world, const Json& twin, const char* what, const Outcome& first, Verdict& verdict) {
  const Outcome other = run_twin(twin, verdict);
  if (std::string text = ends_otherwise(other); !text.empty()) return {true, text};
  const Duration slack = Duration{1000 + first.result.makespan.count() / 1'000'000} + slack_of(world, first, other);
  if (other.result.makespan <= first.result.makespan + slack) return {true, ""};
  return {true, longer(what, first.result.makespan, other.result.makespan)};
}

// "auto" chooses by a cost model that knows of no shared ports: another rate or delay may make it choose worse.
bool chooses(const Json& scenario) { return scenario.dump().find("\"auto\"") != std::string::npos; }

// What a policy claims, it claims where making one thing faster cannot reorder others.
// On links between GPUs, messages that come earlier may have to share a link with others on the critical path.
bool has_links(const Json& scenario) {
  const Json& scale_up = scenario["cluster"]["scale_up"];
  return scale_up.contains("torus") || scale_up.contains("ring");
}

const PolicyClaims* claims_on(const Json& scenario) {
  if (chooses(scenario) || has_links(scenario) || rings_share_wires(scenario)) return nullptr;
  if (!is_serial(scenario) || !is_steady(scenario)) return nullptr;
  return &known().find(policy_of(scenario)).claims;
}

// How several ports of a NIC are shared goes by rates and delays: who promises nothing of more ports promises nothing
// there.
bool claims_speed(const PolicyClaims& claims, const Json& scenario) {
  return claims.more_ports || scenario.value("/cluster/nic/ports"_json_pointer, 1u) == 1;
}

constexpr double kGreatestRate = 1e9;  // of a port, GB/s; no file may ask for more

LawAnswer faster_ports(const World& world, const Outcome& first, Verdict& verdict) {
  const PolicyClaims* claims = claims_on(world.scenario);
  if (claims == nullptr || !claims->faster_ports || !claims_speed(*claims, world.scenario)) return {};
  Json twin = world.scenario;
  Json& nic = twin["cluster"]["nic"];
  const double rate = world.scenario.value("/cluster/nic/port_gb_per_s"_json_pointer, 50.0);
  if (rate > kGreatestRate / 2) return {};
  nic["port_gb_per_s"] = 2 * rate;
  return not_slower(world, twin, "ports of twice the rate", first, verdict);
}

LawAnswer one_more_port(const World& world, const Outcome& first, Verdict& verdict) {
  const PolicyClaims* claims = claims_on(world.scenario);
  const Json& cluster = world.scenario["cluster"];
  if (claims == nullptr || !claims->more_ports || cluster["rail"].value("planes", 1u) > 1) return {};
  Json twin = world.scenario;
  if (cluster["rail"]["kind"] != "optical" && cluster["rail"].contains("radix")) return {};  // it may need another tier
  Json& nic = twin["cluster"]["nic"];
  nic["ports"] = world.scenario.value("/cluster/nic/ports"_json_pointer, 1u) + 1;
  return not_slower(world, twin, "one more port", first, verdict);
}

LawAnswer shorter_delay(const World& world, const Outcome& first, Verdict& verdict) {
  const PolicyClaims* claims = claims_on(world.scenario);
  const auto delay = "/cluster/rail/switch/reconfiguration_us"_json_pointer;
  if (claims == nullptr || !claims->shorter_delay || !claims_speed(*claims, world.scenario)) return {};
  if (!world.scenario.contains(delay)) return {};
  Json twin = world.scenario;
  twin[delay] = world.scenario[delay].get<double>() / 2;
  return not_slower(world, twin, "half of the delay", first, verdict);
}

// The oracle in place of the policy: on the same job, with what it has to know of policies that send over other GPUs, and
// at the fidelity at which the policy ran.
std::optional<Json> bound_of(const Json& scenario) {
  const std::string policy = policy_of(scenario);
  if (policy.empty() || policy == "oracle" || policy == "electrical") return std::nullopt;
  if (chooses(scenario)) return std::nullopt;
  Json twin = scenario;
  twin["controller"] = {{"name", "oracle"}};
  for (const ControllerParameter& parameter : known().find("oracle").parameters) {
    if (parameter.key == "forwarding") twin["controller"]["forwarding"] = true;
  }
  ControllerSpec spec;
  spec.name = policy;
  const PolicyNeeds needs = known().find(policy).needs_of(spec);
  const bool hops = needs.hops > 0;
  if (!hops) twin["controller"].erase("forwarding");
  if (hops && !twin["controller"].contains("forwarding")) return std::nullopt;
  if (needs.by_pair()) twin["run"]["fidelity"] = "exact";
  return twin;
}

LawAnswer bound_holds(const World& world, const Outcome& first, Verdict& verdict) {
  const std::optional<Json> twin = bound_of(world.scenario);
  if (!twin) return {};
  const Outcome bound = run_twin(*twin, verdict);
  if (std::string text = ends_otherwise(bound); !text.empty()) return {true, text};
  const Duration slack = Duration{1000 + first.result.makespan.count() / 1'000'000} + slack_of(world, first, bound);
  if (bound.result.makespan <= first.result.makespan + slack) return {true, ""};
  const std::string what = policy_of(world.scenario) + " beats the bound";
  return {true, longer(what.c_str(), first.result.makespan, bound.result.makespan)};
}

// Fewer messages than a crowd has make the exact run; others come near its end.
LawAnswer near_the_exact_run(const World& world, const Outcome& first, Verdict& verdict) {
  const double accuracy = world.scenario.value("/network/accuracy"_json_pointer, 0.0);
  if (accuracy == 0.0) return {};
  Json twin = world.scenario;
  twin.erase("network");
  const Outcome exact = run_twin(twin, verdict);
  if (is_too_long(exact)) return {};
  if (exact.ending == Ending::kStuck && (may_stop(world.scenario) || lacks_ways(exact))) return {};
  if (std::string text = ends_otherwise(exact); !text.empty()) return {true, text};
  if (static_cast<double>(first.result.engine.sends) < 2.0 / accuracy) {
    return {true,
            exact.history == first.history ? "" : "so few messages are no crowd, and their history is not the exact one"};
  }
  const auto apart = static_cast<double>((exact.result.makespan - first.result.makespan).count());
  if (std::abs(apart) <= accuracy_slack_ps(world.scenario, first.result)) return {true, ""};
  return {true, longer("exact", first.result.makespan, exact.result.makespan)};
}

// The path of a folded run is one of the whole; a run whose path is asked for is the same run.
LawAnswer path_adds_up(const World& world, const Outcome& first, Verdict& verdict) {
  if (!first.result.jobs.empty()) return {};
  Json twin = world.scenario;
  twin["run"]["critical_path"] = true;
  const Outcome other = run_twin(twin, verdict, Watched::kNo);
  if (std::string text = ends_otherwise(other); !text.empty()) return {true, text};
  if (first.result.makespan != other.result.makespan) {
    return {true, longer("with its path", first.result.makespan, other.result.makespan)};
  }
  if (!other.result.critical_path) return {};  // a bound has none
  const Duration sum = other.result.critical_path->total();
  if (sum != other.result.makespan) return {true, longer("the path", other.result.makespan, sum)};
  const std::vector<PeerWaits>& waits = other.result.critical_path->waits;
  for (std::size_t r = 0; r < other.result.ranks.size(); ++r) {
    const Duration of_causes = std::accumulate(waits[r].begin(), waits[r].end(), Duration{});
    const Duration waited = other.result.ranks[r].peer_wait;
    if (of_causes != waited)
      return {true, longer("the causes of waits", waited, of_causes) + ", rank " + std::to_string(r)};
  }
  return {true, ""};
}

std::vector<PolicyProperty> laws_of_twins() {
  return {{"bytes_fidelity", "both fidelities move the same bytes", same_bytes_at_both_fidelities, false, true},
          {"fidelity_time", "both fidelities take the same time but for latencies", fidelities_agree},
          {"folding", "a folded run has the result of the whole", same_result_folded, false, true},
          {"critical_path", "the parts of the critical path add up to the makespan", path_adds_up},
          {"time_scale", "all times twice as long: a run twice as long", times_scale},
          {"names", "renamed servers: the same makespan, where the policy is symmetric", names_do_not_matter},
          {"unused_server", "a server without ranks changes nothing, where the policy is symmetric",
           unused_server_does_not_matter},
          {"faster_ports", "ports of twice the rate are not slower, where the policy claims it", faster_ports},
          {"one_more_port", "one more port is not slower, where the policy claims it", one_more_port},
          {"shorter_delay", "half of the switching delay is not slower, where the policy claims it", shorter_delay},
          {"bound", "no policy is faster than the oracle", bound_holds},
          {"accuracy", "a run within an accuracy ends near the exact one, and with few messages is the exact one",
           near_the_exact_run, true}};
}

// A file that leaves out what a twin changes has no such twin.
LawAnswer answer_of(const PolicyProperty& law, const World& world, const Outcome& first, Verdict& verdict) {
  try {
    return law.examine(world, first, verdict);
  } catch (const Json::exception&) {
    return {};
  }
}

}  // namespace

const std::vector<PolicyProperty>& laws() {
  static const std::vector<PolicyProperty> kLaws = [] {
    std::vector<PolicyProperty> list = laws_of_twins();
    for (PolicyProperty& law : laws_of_use()) list.push_back(std::move(law));
    for (PolicyProperty& law : laws_of_instants()) list.push_back(std::move(law));
    for (PolicyProperty& law : laws_of_notes()) list.push_back(std::move(law));
    return list;
  }();
  return kLaws;
}

void examine_laws(const World& world, const Outcome& first, const JudgeOptions& options, Verdict& verdict) {
  if (world.scenario.dump().find("\"starvation_us\"") != std::string::npos) return;  // a twin may have to wait longer
  const bool decided = is_decided(world.scenario);
  for (std::size_t i = 0; i < laws().size() && verdict.symptom.empty(); ++i) {
    const PolicyProperty& law = laws()[i];
    if (decided && !law.of_agents) continue;
    if (!options.only_law.empty() && options.only_law != law.name) continue;
    const bool chosen = options.all_laws || !options.only_law.empty() || law.on_every_world || (world.seed + i) % 3 == 0;
    if (!chosen) continue;
    const LawAnswer answer = answer_of(law, world, first, verdict);
    if (answer.applies) verdict.laws.push_back(law.name);
    if (answer.problem.empty()) continue;
    verdict.symptom = law.name;
    verdict.detail = answer.problem;
  }
}

}  // namespace photonrail::worlds
