#include "worlds/judge.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/testing/agent_kit.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "report/ccl_bench.hpp"
#include "worlds/laws.hpp"
#include "worlds/twins.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <tuple>
#include <typeinfo>

namespace photonrail::worlds {

bool has_no_number(const std::string& json) {
  for (const char* word : {"nan", "inf,", "inf\n", "inf}"}) {
    if (json.find(word) != std::string::npos) return true;
  }
  return false;
}

namespace {

constexpr std::uint64_t kMaxEvents = 4'000'000;  // of a world's few ranks; an ordinary one has some thousands

struct TooManyEvents {};

/// Circuits must be a partial matching at every instant, and the run must not go on for ever.
class Watcher : public testing::HistoryHash {
 public:
  explicit Watcher(std::vector<Time>& instants) : instants_(instants) {}

  void operation(const OperationEvent& event) override {
    HistoryHash::operation(event);
    count();
    const bool moves = event.state == OperationEvent::State::kRunning || event.state == OperationEvent::State::kDone;
    if (moves && instants_.size() < kMaxInstants && (instants_.empty() || instants_.back() != event.at)) {
      instants_.push_back(event.at);
    }
  }
  void circuit(const CircuitEvent& event) override {
    HistoryHash::circuit(event);
    count();
    auto& rail = rails_[event.rail];
    if (event.state == CircuitState::kDark) {
      last_dark_ = event;
      rail.first.erase(event.circuit.from);
      rail.second.erase(event.circuit.to);
    } else if (event.state == CircuitState::kSwitching) {
      ++circuits.made[{event.rail, event.circuit}];
      const auto before = last_target_.try_emplace({event.rail, event.circuit.from}, event.circuit.to).first;
      if (before->second != event.circuit.to) circuits.pointed_elsewhere = true;
      if (!is_dark_with_its_switch(event)) {
        for (const PortId port : {event.circuit.from, event.circuit.to})
          circuits.pointed.try_emplace(port.value, event.at, event.at).first->second.second = event.at;
      }
      const bool free = rail.first.emplace(event.circuit.from, event.circuit.to).second &&
                        rail.second.emplace(event.circuit.to, event.circuit.from).second;
      if (!free) problem = "two circuits share a fibre";
    }
  }

  std::string problem;
  CircuitCounts circuits;

 private:
  // A circuit that stays is dark while its switch re-points others: it is switching in the instant in which it goes dark.
  [[nodiscard]] bool is_dark_with_its_switch(const CircuitEvent& event) const {
    return last_dark_ && last_dark_->at == event.at && last_dark_->rail == event.rail &&
           last_dark_->circuit == event.circuit;
  }
  void count() const {
    if (events() > kMaxEvents) throw TooManyEvents{};
  }
  static constexpr std::size_t kMaxInstants = 500;

  std::vector<Time>& instants_;
  std::optional<CircuitEvent> last_dark_;
  std::map<std::pair<RailId, PortId>, PortId> last_target_;
  std::map<RailId, std::pair<std::map<PortId, PortId>, std::map<PortId, PortId>>> rails_;
};

void check_refusal(const ConfigError& error, Outcome& outcome) {
  outcome.ending = Ending::kRefused;
  outcome.message = error.what();
  if (error.where().empty() && error.hint().empty()) outcome.symptom = "refusal_without_place";
}

// A random agent takes the place of each barrier.
void set_agent(const Json& agents, const Json& file, JobSpec& job) {
  if (file["workload"].value("/collective/op"_json_pointer, std::string()) != "barrier") return;
  job.workload = testing::random_workload(job.run.seed, agents.value("launches", 1U));
  job.graph = idle_graph(job.graph.ranks());
}

void set_agents(const Json& agents, const Json& file, Scenario& scenario) {
  if (scenario.jobs.empty()) set_agent(agents, file, scenario);
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) set_agent(agents, file["jobs"][j], scenario.jobs[j]);
}

Scenario read_for_run(const Json& scenario) {
  if (!scenario.contains("agents")) return parse_scenario(scenario.dump(), "/", "world.json");
  Json file = scenario;
  file.erase("agents");
  Scenario read = parse_scenario(file.dump(), "/", "world.json");
  if (!file.contains("workload")) file["workload"] = Json::object();
  set_agents(scenario["agents"], file, read);
  return read;
}

// What took how long on this machine is no part of the result.
void forget_clock(RunResult& result) {
  result.engine.wall_s = result.engine.peak_rss_mb = 0.0;
  for (RunResult& job : result.jobs) forget_clock(job);
}

void simulate_into(const Json& scenario, Watched watched, Outcome& outcome) {
  const Scenario read = read_for_run(scenario);
  Watcher watcher(outcome.instants);
  report::CclBenchObserver kernels;  // reads the scenario at the beginning and at the end
  std::vector<Observer*> observers;
  if (watched == Watched::kYes) observers = {&watcher};
  const bool repeats = watched == Watched::kYes && !is_decided(scenario);  // it measures a step that repeats
  if (repeats) observers.push_back(&kernels);
  outcome.result = simulate(read, observers);
  forget_clock(outcome.result);
  outcome.text = to_json(outcome.result);
  outcome.history = watcher.value();
  outcome.message = watcher.problem;
  if (!watcher.problem.empty()) outcome.symptom = "matching";
  outcome.circuits = std::move(watcher.circuits);
  if (repeats && has_no_number(to_json(kernels.metrics()))) {
    outcome.symptom = "books";
    outcome.message = "a metric of CCL-Bench is no number";
  }
}

bool may_lose_for_good(const Json& job) {
  if (!job.contains("controller")) return false;
  const Json& controller = job["controller"];
  const std::string name = controller.value("name", std::string());
  if (name == "static" || (name == "static_split" && !controller.value("forward", true))) return true;
  if (controller.contains("starvation_us")) return true;
  return controller.contains("messages") && controller["messages"].contains("retries");
}

// An operation that starts without its straggler keeps the lanes of those who are there. The straggler may be behind an
// operation that wants one of these lanes.
bool may_lock_lanes(const Json& scenario) {
  return scenario.value("/executor/comm_lanes"_json_pointer, std::string()) == "one" &&
         scenario.dump().find("stragglar") != std::string::npos;
}

// A GPU that stops and is not repaired.
bool may_lose_gpu(const Json& job) {
  if (!job.contains("stragglers")) return false;
  return std::any_of(job["stragglers"].begin(), job["stragglers"].end(), [](const Json& straggler) {
    const bool ends = straggler.contains("lasts_us") || straggler.contains("lasts_ms") || straggler.contains("lasts_ps");
    return straggler.contains("stops") && !ends;
  });
}

}  // namespace

// What a scenario says that may stop its job for good, whatever the code does.
bool may_stop(const Json& scenario) {
  for (const auto& faults :
       {"/cluster/rail/faults"_json_pointer, "/cluster/scale_up/faults"_json_pointer, "/server_faults"_json_pointer}) {
    if (!scenario.contains(faults)) continue;
    for (const Json& fault : scenario[faults]) {
      const bool ends = fault.contains("lasts_us") || fault.contains("lasts_ms") || fault.contains("lasts_ps");
      if (!ends && fault.value("rate", 0.0) == 0.0) return true;
    }
  }
  if (may_lose_for_good(scenario) || may_lock_lanes(scenario) || may_lose_gpu(scenario)) return true;
  if (!scenario.contains("jobs")) return false;
  for (const Json& job : scenario["jobs"]) {
    if (may_lose_for_good(job) || may_lose_gpu(job)) return true;
  }
  return false;
}

namespace {

bool says_why(const std::string& message) {
  for (const char* reason :
       {"circuits at once", "into the one port", "circuits into", "more circuits", "more planned circuit",
        "even without other circuits", "circuits that are wanted at once", "for their KV to go"}) {
    if (message.find(reason) != std::string::npos) return true;
  }
  return false;
}

// The profiled order of one rank may have two collectives of a communicator the other way round than those ranks that have
// begun one of them without their straggler.
bool locks_in_its_order(const Json& scenario, const std::string& message) {
  return message.find("comes first in the schedule of its rank") != std::string::npos &&
         message.find("waits for its communication lane") != std::string::npos &&
         scenario.dump().find("stragglar") != std::string::npos;
}

// Slots that the file names may be shorter than most of the delays that are drawn: then hardly a circuit is ever lit.
bool turns_in_vain(const Json& scenario, const std::string& message) {
  return message.find("stands still, since no bytes moved") != std::string::npos &&
         scenario.dump().find("\"distribution\"") != std::string::npos &&
         scenario.dump().find("\"slot_us\"") != std::string::npos;
}

// Policies that plan a topology as a whole, over which messages are forwarded, do not plan another where a mesh has no
// room.
bool lacks_room_for_its_topology(const Json& scenario, const std::string& message) {
  const std::string text = scenario.dump();
  const auto names = [&text](const char* policy) { return text.find(policy) != std::string::npos; };
  return message.find("the mesh of") != std::string::npos &&
         (names("\"static_split\"") || names("\"topoopt\"") || names("\"harvest\""));
}

// Of a graph, parts of which came from another world or were taken away: a call that members of its communicator do not
// make, or a message without its other end.
bool lacks_partners(const Json& scenario) {
  if (!scenario.contains("/workload/graph/tasks"_json_pointer)) return false;
  const Json& graph = scenario["workload"]["graph"];
  std::map<std::tuple<Json, Json, Json>, int> messages;  // (sender, receiver, tag) -> sends less receives
  for (const Json& task : graph["tasks"]) {
    std::set<Json> ranks(task["rank"].begin(), task["rank"].end());
    if (task.contains("collective")) {
      const Json& members = graph["communicators"][task["communicator"].get<std::string>()]["ranks"];
      if (ranks != std::set<Json>(members.begin(), members.end())) return true;
    }
    const Json tag = task.value("tag", Json(0));
    for (const Json& rank : ranks) {
      if (task.contains("send_to")) ++messages[{rank, task["send_to"], tag}];
      if (task.contains("receive_from")) --messages[{task["receive_from"], rank, tag}];
    }
  }
  return std::any_of(messages.begin(), messages.end(), [](const auto& of) { return of.second != 0; });
}

void judge_stuck(const Json& scenario, const Outcome& first, Verdict& verdict) {
  if (may_stop(scenario) || says_why(first.message) || locks_in_its_order(scenario, first.message)) return;
  if (turns_in_vain(scenario, first.message)) return;
  if (lacks_room_for_its_topology(scenario, first.message) || lacks_partners(scenario)) return;
  if (scenario["cluster"]["rail"]["kind"] != "optical") {
    verdict.symptom = "stuck";  // a drawn job cannot wait for itself
    verdict.detail = first.message;
    return;
  }
  ++verdict.runs;
  if (run(on_electrical_rails(scenario)).ending != Ending::kDone) return;
  verdict.symptom = "stuck";
  verdict.detail = first.message;
}

void judge_history(const Json& scenario, const Outcome& first, Verdict& verdict) {
  const Outcome again = run(scenario);
  ++verdict.runs;
  if (again.history == first.history && again.text == first.text) return;
  verdict.symptom = "history";
  verdict.detail = "two runs of one scenario differ";
}

}  // namespace

std::uint32_t CircuitCounts::peers(std::uint32_t ports_per_gpu) const {
  std::map<std::tuple<RailId, bool, std::uint32_t>, std::set<std::uint32_t>> peers;
  for (const auto& [place, times] : made) {
    const auto& [rail, circuit] = place;
    const std::uint32_t from = circuit.from.value / ports_per_gpu;
    const std::uint32_t to = circuit.to.value / ports_per_gpu;
    peers[{rail, true, from}].insert(to);
    peers[{rail, false, to}].insert(from);
  }
  std::size_t most = 0;
  for (const auto& [gpu, others] : peers) most = std::max(most, others.size());
  return static_cast<std::uint32_t>(most);
}

std::uint32_t CircuitCounts::most_joined(std::uint32_t ports_per_gpu) const {
  std::map<std::tuple<RailId, std::uint32_t, std::uint32_t>, std::uint32_t> joined;
  std::uint32_t most = 0;
  for (const auto& [place, times] : made) {
    const auto& [rail, circuit] = place;
    std::uint32_t& count = joined[{rail, circuit.from.value / ports_per_gpu, circuit.to.value / ports_per_gpu}];
    most = std::max(most, count += times);
  }
  return most;
}

bool lacks_ways(const Outcome& run) {
  return run.ending == Ending::kStuck && run.message.find("has no ways for the ") != std::string::npos;
}

Json on_electrical_rails(Json scenario) {
  scenario["cluster"]["rail"] = {{"kind", "electrical"}};
  if (scenario["cluster"].contains("nic")) scenario["cluster"]["nic"].erase("optical_budget_db");
  scenario.erase("controller");
  if (scenario.contains("jobs")) {
    for (Json& job : scenario["jobs"]) job.erase("controller");
  }
  return scenario;
}

namespace {

// A circuit that no setting of the mesh makes is warned of before the run; with a budget of light it may be made, too dim.
bool is_told_beforehand(const Json& scenario, const std::string& message) {
  if (message.find("even without other circuits") == std::string::npos) return true;
  if (scenario["cluster"].value("nic", Json::object()).contains("optical_budget_db")) return true;
  const std::vector<std::string> warnings = read_for_run(scenario).warnings();
  return std::any_of(warnings.begin(), warnings.end(),
                     [](const std::string& line) { return line.find("has no way for") != std::string::npos; });
}

}  // namespace

Outcome run(const Json& scenario, Watched watched) {
  Outcome outcome;
  try {
    simulate_into(scenario, watched, outcome);
  } catch (const ConfigError& error) {
    check_refusal(error, outcome);
  } catch (const DeadlockError& error) {
    outcome.ending = Ending::kStuck;
    outcome.message = error.what();
    if (error.stuck().empty()) outcome.symptom = "stuck_without_reason";
    if (!is_told_beforehand(scenario, outcome.message)) outcome.symptom = "not_warned";
  } catch (const ControllerError& error) {
    outcome.message = error.what();
    const bool is_limit = outcome.message.find("that the controller allows (starvation)") != std::string::npos;
    outcome.ending = is_limit ? Ending::kStuck : Ending::kRefused;  // the file asks to be told
    if (!is_limit) outcome.symptom = "controller_error";
  } catch (const InternalError& error) {
    outcome.message = error.what();
    outcome.symptom = "internal_check";
  } catch (const std::bad_alloc&) {
    outcome.message = "out of memory";
    outcome.symptom = "memory";
  } catch (const TooManyEvents&) {
    outcome.message = "more than " + std::to_string(kMaxEvents) + " events";
    outcome.symptom = "events";
  } catch (const std::exception& error) {
    outcome.message = std::string(typeid(error).name()) + ": " + error.what();
    outcome.symptom = "raw_exception";
  }
  return outcome;
}

namespace {

// Of a request, what comes first does not come later.
std::string wrong_order_of(const ServedRequest& request) {
  const bool ordered = request.arrival <= request.scheduled && request.scheduled <= request.first &&
                       request.first <= request.last &&
                       (request.sent == Time::never() || request.sent <= request.delivered);
  return ordered ? "" : "the times of request " + std::to_string(request.number) + " are out of order";
}

std::string problem_of_serving(const RunResult& result, const ServingResult& served) {
  if (served.finished + served.refused + served.unfinished != served.offered) return "requests do not add up";
  std::uint64_t delivered = 0;
  for (const ServedRequest& request : served.requests) {
    if (std::string problem = wrong_order_of(request); !problem.empty()) return problem;
    if (request.delivered != Time::never()) ++delivered;
  }
  Duration parts{};
  for (const TimeSummary& part : served.parts) parts += part.mean;
  // Each mean is rounded down.
  if (parts > served.ttft.mean || parts + Duration{kTtftPartCount} < served.ttft.mean) {
    return "the parts of the time to the first token do not add up to it";
  }
  for (const TimeSummary& time : {served.ttft, served.tpot, served.e2e, served.transfer}) {
    if (time.p50 > time.p90 || time.p90 > time.p95 || time.p95 > time.p99) return "percentiles are out of order";
  }
  for (const ServingResult::Engine& engine : served.engines) {
    if (engine.prefill + engine.decode + engine.mixed + engine.waiting + engine.idle + engine.off != served.makespan) {
      return "the time of an engine does not add up to the makespan";
    }
    if (engine.blocks.most > engine.blocks.total) return "an engine holds more blocks than it has";
  }
  if (served.unfinished > 0) return "";
  std::int64_t moved = 0;
  for (const LaunchTotals& launches : result.launches) moved += launches.kind == "kv_transfer" ? launches.bytes.count : 0;
  // An engine that fails takes KV with it, which is sent again.
  if (delivered > served.transfers) return "some KV was received and not sent";
  if (moved != static_cast<std::int64_t>(served.transfer_bytes)) return "the KV that was sent is not what ranks sent";
  return "";
}

std::string problem_of_learning(const RunResult& result, const RlResult& learned) {
  Duration all{};
  for (const RlStep& step : learned.steps) {
    all += step.step;
    for (const Duration part : {step.step, step.generation, step.log_probabilities, step.training, step.refit, step.tail}) {
      if (part < Duration{}) return "a part of a training step is negative";
    }
    if (step.tail > step.generation || step.slot_use > 1.0 + 1e-9) return "samples are outside generation";
    if (step.training + step.log_probabilities > step.step) return "training takes longer than its step";
    if (step.tokens.responses > static_cast<double>(step.tokens.longest) * learned.samples)
      return "responses are longer than the longest";
  }
  if (all > result.makespan) return "the training steps take longer than the run";
  std::uint64_t samples = 0;
  for (const std::uint64_t count : learned.staleness) samples += count;
  if (samples != std::uint64_t{learned.samples} * learned.steps.size())
    return "the samples of training steps do not add up";
  std::uint64_t calls = 0;
  std::uint64_t hits = 0;
  for (const auto& [of_depth, hits_of_depth] : learned.hits_by_depth) {
    calls += of_depth;
    hits += hits_of_depth;
  }
  if (hits > calls || calls != learned.tool_calls || hits != learned.tool_hits) return "calls of tools do not add up";
  return "";
}

std::string problem_of_agents(const RunResult& result) {
  if (result.serving) return problem_of_serving(result, *result.serving);
  if (result.rl) return problem_of_learning(result, *result.rl);
  return "";
}

// Laws read parts of the cluster that a file may leave out, as worlds that were made small do.
World with_parts(World world) {
  if (!world.scenario.contains("cluster") || !world.scenario["cluster"].is_object()) return world;
  Json& cluster = world.scenario["cluster"];
  cluster.emplace("rail", Json{{"kind", "electrical"}});
  for (const char* part : {"scale_up", "nic"}) cluster.emplace(part, Json::object());
  return world;
}

}  // namespace

std::string problem_of(const RunResult& result) {
  if (std::string problem = problem_of_agents(result); !problem.empty()) return problem;
  for (std::size_t r = 0; r < result.ranks.size(); ++r) {
    const RankTime& time = result.ranks[r];
    if (time.total() != result.makespan)
      return "the time of rank " + std::to_string(r) + " does not add up to the makespan";
    for (const Duration part :
         {time.compute, time.exposed_communication, time.reconfiguration_wait, time.peer_wait, time.detection}) {
      if (part < Duration{}) return "a part of the time of rank " + std::to_string(r) + " is negative";
    }
  }
  for (const DimensionTraffic& traffic : result.traffic) {
    if (traffic.bytes.count < 0 || traffic.busy < Duration{} || traffic.exposed < Duration{}) return "negative traffic";
    if (traffic.exposed > result.makespan || traffic.busy > result.makespan) return "traffic longer than the run";
  }
  const ReconfigurationSummary& sums = result.reconfigurations;
  std::uint64_t count = 0;
  for (const std::uint64_t rail : sums.per_rail) count += rail;
  if (count != sums.count) return "the commands of the rails do not add up";
  if (sums.dark_port < Duration{} || sums.total < Duration{} || sums.exposed < Duration{})
    return "negative time of commands";
  if (sums.exposed > sums.total) return "more time of commands is exposed than there was";
  Duration steps{};
  for (const Duration step : result.iterations) {
    if (step < Duration{}) return "a negative step";
    steps += step;
  }
  if (!result.iterations.empty() && steps != result.makespan) return "the steps do not add up to the makespan";
  for (const RunResult& job : result.jobs) {
    if (const std::string problem = problem_of(job); !problem.empty()) return job.name + ": " + problem;
  }
  if (has_no_number(to_json(result))) return "the result has a number that is none";
  return "";
}

Verdict judge(const World& drawn, const JudgeOptions& options) {
  const World world = with_parts(drawn);
  Verdict verdict;
  const Outcome first = run(world.scenario);
  verdict.runs = 1;
  verdict.ending = first.ending;
  verdict.symptom = first.symptom;
  verdict.detail = first.message;
  if (!verdict.symptom.empty() || first.ending == Ending::kRefused) return verdict;
  if (first.ending == Ending::kStuck) {
    judge_stuck(world.scenario, first, verdict);
    return verdict;
  }
  if (const std::string problem = problem_of(first.result); !problem.empty()) {
    verdict.symptom = "books";
    verdict.detail = problem;
    return verdict;
  }
  judge_history(world.scenario, first, verdict);
  if (verdict.symptom.empty()) examine_laws(world, first, options, verdict);
  return verdict;
}

}  // namespace photonrail::worlds
