// A small case as a scenario file. Everything in it is a number or a word of ours, so that nothing needs escapes.
#include "testing/case_tasks.hpp"
#include "testing/setting_text.hpp"

#include <string>

namespace photonrail::testing {

namespace {

std::string quoted(const std::string& word) { return '"' + word + '"'; }
std::string picoseconds(Duration d) { return std::to_string(d.count()); }

std::string list(const std::vector<std::uint32_t>& numbers) {
  std::string text = "[";
  for (const std::uint32_t n : numbers) text += (text.size() == 1 ? "" : ", ") + std::to_string(n);
  return text + "]";
}

std::string rail_text(const RailSpec& rail) {
  if (rail.kind == RailKind::kElectrical) return "{ \"kind\": \"electrical\" }";
  return std::string("{ \"kind\": \"optical\", ") + (rail.forwarding ? "\"forwarding\": true, " : "") +
         "\"switch\": { \"reconfiguration_ps\": " + picoseconds(rail.optical.reconfiguration.a) +
         ", \"link_up_ps\": " + picoseconds(rail.optical.link_up) + " } }";
}

std::string cluster_text(const FuzzCase& c, const RailSpec& rail) {
  return "  \"cluster\": { \"servers\": " + std::to_string(c.servers) +
         ", \"gpus_per_server\": " + std::to_string(c.gpus_per_server) +
         ",\n    \"nic\": { \"ports\": " + std::to_string(c.ports) +
         ", \"port_gb_per_s\": 50, \"latency_ps\": " + picoseconds(c.latency) + " },\n    \"rail\": " + rail_text(rail) +
         " }";
}

std::string run_text(const FuzzCase& c) {
  const std::string lanes = c.lanes == CommLanes::kOne ? "one" : "per_communicator";
  const std::string fidelity = c.fidelity == Fidelity::kExact ? "exact" : "stream";
  return "  \"executor\": { \"comm_lanes\": " + quoted(lanes) + ", \"buffered_send_bytes\": 0 },\n" +
         "  \"collectives\": { \"chunks\": " + std::to_string(c.chunks) + " },\n" +
         "  \"run\": { \"iterations\": " + std::to_string(c.iterations) + ", \"fidelity\": " + quoted(fidelity) + " }";
}

std::string task_text(const CaseTask& task) {
  std::string text = "{ \"rank\": " + std::to_string(task.rank) + ", \"id\": " + quoted(task.id);
  if (task.call == nullptr) {
    text += ", \"compute_us\": " + std::to_string(task.compute / Duration{std::chrono::microseconds(1)});
  } else if (task.call->op == CollectiveOp::kSend) {
    const bool sends = task.rank == task.call->members[0];
    text += std::string(sends ? ", \"send_to\": " : ", \"receive_from\": ") +
            std::to_string(task.call->members[sends ? 1 : 0]) + ", \"bytes\": " + std::to_string(task.call->bytes);
  } else {
    text += ", \"collective\": " + quoted(std::string(photonrail::name(task.call->op))) +
            ", \"communicator\": " + quoted(task.group) + ", \"bytes\": " + std::to_string(task.call->bytes);
  }
  if (!task.after.empty()) text += ", \"after\": [" + quoted(task.after) + "]";
  return text + " }";
}

std::string graph_text(const FuzzCase& c) {
  const CaseTasks tasks = tasks_of(c);
  std::string text = "{ \"schema\": \"photonrail.graph/1\", \"ranks\": " + std::to_string(c.ranks());
  std::string separator = ",\n    \"communicators\": { ";
  for (const auto& [name, members] : tasks.groups) {
    text += separator + quoted(name) + ": { \"ranks\": " + list(members) + " }";
    separator = ", ";
  }
  if (!tasks.groups.empty()) text += " }";
  separator = ",\n    \"tasks\": [\n      ";
  for (const CaseTask& task : tasks.tasks) {
    text += separator + task_text(task);
    separator = ",\n      ";
  }
  return text + " ] }";
}

}  // namespace

std::string to_json(const FuzzCase& fuzz_case, const Scenario& scenario, const ControllerFactory& factory) {
  return "{ \"schema\": \"photonrail.scenario/1\", \"name\": \"small case\",\n" +
         cluster_text(fuzz_case, scenario.cluster.rail) +
         ",\n  \"controller\": " + setting_json(scenario.controller, factory) + ",\n" + run_text(fuzz_case) +
         ",\n  \"workload\": { \"graph\": " + graph_text(fuzz_case) + " } }\n";
}

}  // namespace photonrail::testing
