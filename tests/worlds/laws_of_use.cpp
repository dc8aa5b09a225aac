// Laws of what a run makes of its ports, rails and times.
#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/goodput.hpp"
#include "studies/goodput/process/step_times.hpp"
#include "worlds/laws.hpp"
#include "worlds/twins.hpp"

#include <algorithm>
#include <array>

namespace photonrail::worlds {

namespace {

std::string in_us(double picoseconds) { return std::to_string(picoseconds / 1e6) + " us"; }

template <std::size_t kCount>
bool is_one_of(const std::string& name, const std::array<const char*, kCount>& list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// One OCS a rail that re-points circuit by circuit, and messages that take one circuit.
bool has_plain_rails(const Json& scenario) {
  const Json& rail = scenario["cluster"]["rail"];
  for (const char* key : {"pods", "planes", "faults", "forwarding"}) {
    if (rail.contains(key)) return false;
  }
  return rail["kind"] == "optical" && !rail["switch"].contains("dark") && !names_presets(scenario["cluster"]);
}

void set_delay(Json& scenario, double us) {
  for (const char* key : {"settle_us", "link_up_us", "batching_us", "commands_per_s"}) {
    scenario["cluster"]["rail"]["switch"].erase(key);
  }
  scenario["cluster"]["rail"]["switch"]["reconfiguration_us"] = us;
}

// More than everything else takes, so that it pays to save one: 100 ms, or all bytes one after the other at the least rate.
double long_delay_us(const Json& scenario, const RunResult& result) {
  constexpr double kUsualUs = 1e5;
  double bytes = 0.0;
  for (const DimensionTraffic& traffic : result.traffic) bytes += static_cast<double>(traffic.bytes.count);
  return std::max(kUsualUs, bytes / least_rate(scenario) / 1e6);
}

// Everything one after the other, and each message waits for many times of everything that the scenario can make it wait
// for.
LawAnswer ends_in_time(const World& world, const Outcome& first, Verdict&) {
  constexpr double kWaits = 32.0;  // a message is lost, or loses its circuit to another, that often in a row at the most
  const Json& scenario = world.scenario;
  if (scenario.dump().find("\"rotor\"") != std::string::npos) return {};  // waits for turns, however long they are
  if (names_presets(scenario["cluster"])) return {};                      // their times are not in the file
  const RunResult& result = first.result;
  double compute = 0.0;
  double bytes = 0.0;
  double operations = 0.0;
  for (const RankTime& rank : result.ranks) compute += static_cast<double>(rank.compute.count());
  for (const DimensionTraffic& traffic : result.traffic) {
    bytes += static_cast<double>(traffic.bytes.count);
    operations += static_cast<double>(traffic.operations);
  }
  const double messages = static_cast<double>(result.engine.sends) + operations + static_cast<double>(result.ranks.size());
  const double slack_ps = 1e11;
  const double limit = slack_ps + compute + 2.0 * bytes / least_rate(scenario) + kWaits * messages * all_times_ps(scenario);
  const auto makespan = static_cast<double>(result.makespan.count());
  if (makespan <= limit) return {true, ""};
  return {true, "takes " + in_us(makespan) + ", all of it one after the other " + in_us(limit)};
}

// The servers of a job are its own, and so are their ports: they are pointed between its start and its end. A command that
// was sent before the end may be carried out after it.
LawAnswer ports_rest_without_their_job(const World& world, const Outcome& first, Verdict&) {
  const Json& scenario = world.scenario;
  if (!scenario.contains("jobs") || names_presets(scenario["cluster"])) return {};
  const double late_ps =
      all_times_ps(scenario["cluster"]["rail"]) + all_times_ps(scenario.value("controller", Json::object()));
  const std::uint32_t ports = scenario.value("/cluster/nic/ports"_json_pointer, 1u);
  LawAnswer answer;
  for (std::size_t j = 0; j < scenario["jobs"].size(); ++j) {
    const Json& job = scenario["jobs"][j];
    if (!job.contains("servers")) continue;
    answer.applies = true;
    const RunResult& of = first.result.jobs[j];
    const double allowed_ps = late_ps + all_times_ps(job.value("controller", Json::object()));
    for (const auto& [port, span] : first.circuits.pointed) {
      const auto& servers = job["servers"];
      if (std::find(servers.begin(), servers.end(), port / ports) == servers.end()) continue;
      const double before = static_cast<double>((of.start - span.first).count());
      const double after = static_cast<double>((span.second - (of.start + of.makespan)).count());
      if (before > 0.0)
        answer.problem = "a port of job " + std::to_string(j) + " was pointed " + in_us(before) + " before it began";
      if (after > allowed_ps)
        answer.problem = "a port of job " + std::to_string(j) + " was pointed " + in_us(after) + " after its end";
    }
  }
  return answer;
}

// Nothing but bytes: several ports are faster than one, or some of them are idle.
LawAnswer ports_are_used(const World& world, const Outcome&, Verdict& verdict) {
  static constexpr std::array kPolicies{"opus", "lru", "max_weight", "mixnet", "bvn", "solstice"};
  const Json& scenario = world.scenario;
  if (!is_serial(scenario) || !is_steady(scenario) || !has_plain_rails(scenario)) return {};
  if (!is_one_of(policy_of(scenario), kPolicies) || scenario["controller"].contains("width")) return {};
  const auto ports = "/cluster/nic/ports"_json_pointer;
  const Json& call = scenario["workload"]["collective"];
  if (scenario.value(ports, 1u) < 2 || call["op"] == "barrier" || call.contains("moe")) return {};
  Json many = scenario;
  many["controller"] = {{"name", policy_of(scenario)}};
  many["cluster"]["nic"] = {{"ports", scenario[ports]}, {"port_gb_per_s", 1}};
  many["cluster"]["scale_up"] = {{"gb_per_s", 1e6}};
  many["cluster"].erase("sites");  // their links are as fast with one port
  many["workload"]["collective"]["bytes"] = 64 << 20;
  set_delay(many, 0.0);
  Json one = many;
  one[ports] = 1;
  verdict.runs += 2;
  const Outcome fast = run(many);
  const Outcome slow = run(one);
  if (fast.ending != Ending::kDone || slow.ending != Ending::kDone || slow.result.reconfigurations.count == 0) return {};
  const auto a = static_cast<double>(fast.result.makespan.count());
  const auto b = static_cast<double>(slow.result.makespan.count());
  if (a <= 0.95 * b) return {true, ""};
  return {true, "all ports: " + in_us(a) + ", one port: " + in_us(b)};
}

// A pipeline whose stages have a port for each neighbour needs no circuit twice.
LawAnswer circuits_are_made_once(const World& world, const Outcome& first, Verdict& verdict) {
  const Json& scenario = world.scenario;
  if (scenario.contains("jobs") || scenario.contains("stragglers") || !scenario["workload"].contains("training")) return {};
  if (policy_of(scenario) != "opus" || !is_steady(scenario) || !has_plain_rails(scenario)) return {};
  for (std::size_t d = 0; d < first.result.traffic.size(); ++d) {
    const bool pipeline = d == static_cast<std::size_t>(Dimension::kPp);
    if (!pipeline && first.result.traffic[d].operations > 0) return {};
  }
  Json twin = scenario;
  set_delay(twin, long_delay_us(scenario, first.result));
  ++verdict.runs;
  const Outcome other = run(twin);
  const std::uint32_t ports = scenario.value("/cluster/nic/ports"_json_pointer, 1u);
  if (other.ending != Ending::kDone || other.circuits.peers(ports) > ports) return {};
  const std::uint32_t most = other.circuits.most_joined(ports);
  if (most <= ports) return {true, ""};
  return {true,
          "the circuits of all pairs fit at once, and those of one pair were made " + std::to_string(most) + " times"};
}

// An all-to-all in shifts waits for one delay a shift of the servers, however many rails it crosses.
LawAnswer rails_are_asked_at_once(const World& world, const Outcome& first, Verdict& verdict) {
  static constexpr std::array kPolicies{"opus", "lru", "coalesce"};
  const Json& scenario = world.scenario;
  if (!is_serial(scenario) || !is_steady(scenario) || !has_plain_rails(scenario)) return {};
  const Json& call = scenario["workload"]["collective"];
  if (call["op"] != "all_to_all" || call.contains("moe") || scenario.contains("placement")) return {};
  if (!is_one_of(policy_of(scenario), kPolicies) || call.value("algorithm", "pairwise") != std::string("pairwise"))
    return {};
  if (scenario.value("/collectives/all_to_all"_json_pointer, std::string("pairwise")) != "pairwise") return {};
  const Json& cluster = scenario["cluster"];
  const std::uint32_t servers = cluster["servers"];
  if (servers < 2 || call["ranks"] != servers * cluster["gpus_per_server"].get<std::uint32_t>()) return {};
  Json twin = scenario;
  const double delay_us = long_delay_us(scenario, first.result);
  set_delay(twin, delay_us);
  ++verdict.runs;
  const Outcome other = run(twin);
  if (other.ending != Ending::kDone) return {};
  const double calls = call.value("repeat", 1.0) * scenario.value("/run/iterations"_json_pointer, 1.0);
  const double delays = static_cast<double>(other.result.makespan.count()) / (delay_us * 1e6);
  if (delays < calls * (servers - 1) + 0.5) return {true, ""};
  return {true, "waits for " + std::to_string(delays) + " delays, one after the other, among " + std::to_string(servers) +
                    " servers"};
}

bool simulates_every_send(const RunResult& result) {
  const auto says = [](const std::string& line) { return line.find("every send is simulated") != std::string::npos; };
  return std::any_of(result.choices.begin(), result.choices.end(), says) ||
         std::any_of(result.jobs.begin(), result.jobs.end(), simulates_every_send);
}

// Of one job: of several, each says so of itself, and the others' flows are streams.
LawAnswer forwarded_streams_are_exact(const World& world, const Outcome& first, Verdict& verdict) {
  Json twin = world.scenario;
  if (twin.contains("jobs") || twin["run"].value("fidelity", std::string("stream")) != "stream") return {};
  if (!simulates_every_send(first.result)) return {};
  twin["run"]["fidelity"] = "exact";
  ++verdict.runs;
  const Outcome exact = run(twin);
  const bool too_long = exact.message.find("times end at") != std::string::npos;
  if (too_long || (exact.ending == Ending::kDone && exact.history == first.history)) return {true, ""};
  return {true, "a run says that every send is simulated, and has another history at the exact fidelity"};
}

// Months of a training job go on without its last server, whatever the file says of servers, ranks and pods.
LawAnswer a_replica_can_be_dropped(const World& world, const Outcome&, Verdict&) {
  Json months = world.scenario;
  if (!months.contains("/workload/training"_json_pointer)) return {};
  const std::uint32_t servers = months["cluster"]["servers"];
  const std::uint32_t dp = months.value("/workload/training/parallelism/dp"_json_pointer, 1u);
  if (dp < 2 || servers % dp != 0) return {};
  if (ranks_of(months) != servers * months["cluster"]["gpus_per_server"].get<std::uint32_t>()) return {};  // whole servers
  if (!months.contains("placement")) months["placement"] = {{"order", {"tp", "cp", "pp", "dp"}}};          // dp outermost
  months["reliability"] = {{"days", 1},
                           {"job", {{"replicas", dp}}},
                           {"failures", {{{"of", "server"}, {"mtbf_h", 100}}}},
                           {"recovery", {{{"action", "drop_replica"}}, {{"action", "wait"}}}}};
  try {
    const auto scenario = goodput::parse_goodput(months.dump(), ".", "months", {}, Registries{});
    const goodput::Configuration one_less{1, {}};
    goodput::degraded_scenario(scenario.spec, *scenario.job, scenario.training, one_less).validate();
    return {true, ""};
  } catch (const ConfigError& error) {
    if (error.problem().find("replicas cannot be dropped") != std::string::npos) return {};
    // With fewer servers a mesh has its ports elsewhere on its rim, and other ways.
    if (error.problem().find("of the mesh passes") != std::string::npos) return {};
    // Smaller groups may be none of the algorithm that the file names.
    if (error.problem().find(" cannot do ") != std::string::npos) return {};
    return {true, std::string("without its last replica: ") + error.what()};
  }
}

// Where every circuit had room at once, a mesh is a crossbar.
LawAnswer roomy_meshes_are_crossbars(const World& world, const Outcome& first, Verdict& verdict) {
  const std::optional<BlockingSummary>& blocking = first.result.reconfigurations.blocking;
  if (!blocking || blocking->waited + blocking->displaced > 0) return {};
  Json twin = world.scenario;
  twin["cluster"]["rail"]["switch"].erase("pip");
  twin["cluster"]["nic"].erase("optical_budget_db");
  ++verdict.runs;
  const Outcome crossbar = run(twin);
  if (crossbar.result.choices != first.result.choices) return {};  // of ways that were rehearsed, where circuits may wait
  if (crossbar.ending == Ending::kDone && crossbar.history == first.history) return {true, ""};
  return {true, "no circuit waited for room in the mesh, and a crossbar has another history: " + crossbar.message};
}

// The file's job as one of several, which starts `start_us` after the cluster.
Json as_first_job(const Json& scenario, double start_us) {
  Json twin = scenario;
  Json job{{"start_us", start_us}};
  for (const char* const section : {"workload", "placement", "stragglers"}) {
    if (!scenario.contains(section)) continue;
    job[section] = scenario[section];
    twin.erase(section);
  }
  twin["jobs"] = Json::array({job});
  return twin;
}

// Nobody looks at a clock: a job takes as long whenever it starts, and as long as where the file has it alone.
LawAnswer a_late_job_takes_as_long(const World& world, const Outcome& first, Verdict& verdict) {
  constexpr double kLateUs = 12'345.678;
  const Json& scenario = world.scenario;
  if (scenario.contains("jobs") || !is_steady(scenario) || scenario.dump().find("at_us\"") != std::string::npos) return {};
  // A job alone may be forwarded over GPUs that it does not use; one of several has its own servers only.
  if (may_forward(scenario) && first.result.ranks.size() < first.result.cluster.gpus()) return {};
  for (const double start_us : {0.0, kLateUs}) {
    ++verdict.runs;
    const Outcome twin = run(as_first_job(scenario, start_us));
    if (twin.ending == Ending::kRefused && twin.symptom.empty()) return {};  // a section that jobs may not have
    if (twin.ending != Ending::kDone) return {true, "started at " + in_us(start_us * 1e6) + ": " + twin.message};
    const Duration before = first.result.makespan;
    const Duration after = twin.result.jobs.at(0).makespan;
    if (before != after) {
      return {true, "started at " + in_us(start_us * 1e6) + " it takes " + in_us(static_cast<double>(after.count())) +
                        ", alone " + in_us(static_cast<double>(before.count()))};
    }
  }
  return {true, ""};
}

}  // namespace

std::vector<PolicyProperty> laws_of_use() {
  return {{"ends_in_time", "no run takes longer than everything one after the other", ends_in_time, true},
          {"only_while_running", "ports of a job's own servers are pointed between its start and its end",
           ports_rest_without_their_job, true, true},
          {"ports_used", "several ports are faster than one, where nothing but bytes takes time", ports_are_used, true},
          {"late_start", "a job takes as long whenever it starts", a_late_job_takes_as_long, false, true},
          {"made_once", "opus makes no circuit of a pipeline twice, where all of them fit", circuits_are_made_once, true},
          {"rails_at_once", "a step of an all-to-all asks all rails at once", rails_are_asked_at_once, true},
          {"dropped_replica", "months of the job may go on without a replica", a_replica_can_be_dropped, true},
          {"forwarded_streams", "where messages may be forwarded, both fidelities have one history",
           forwarded_streams_are_exact, true},
          {"roomy_mesh", "a mesh in which no circuit waited for room has the history of a crossbar",
           roomy_meshes_are_crossbars, true}};
}

}  // namespace photonrail::worlds
