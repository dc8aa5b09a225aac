#include "run/decided_workload.hpp"

#include "core/field.hpp"
#include "photonrail/control/needs.hpp"
#include "photonrail/workload/agent.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace photonrail::run {

namespace {

using core::field;
using core::FieldError;

constexpr const char* kDecides = "the workload decides while the run goes on";

// A policy that rehearses runs the job before the run.
bool rehearses(const ControllerFactory& factory, const ControllerSpec& controller) {
  return factory.rehearse != nullptr && !factory.rehearse(controller).empty();
}

void check_policy(const Scenario& scenario, const WorkloadAgent& agent, const Registries& registries) {
  const ControllerFactory& factory = registries.controllers.find(scenario.controller.name);
  const auto refuse = [&](const std::string& needs, const std::string& hint) {
    throw FieldError(field("controller.name"), factory.name + " " + needs + ", and " + kDecides, hint);
  };
  if (factory.bound) refuse("is a bound of tasks that are known before the run", "name a policy");
  const ControllerSpec controller = factory.complete(scenario.controller);
  const PolicyNeeds needs = factory.needs_of(controller).with_ports(scenario.cluster.nic.ports);
  if (needs.ranks.announces_any() && !agent.announces()) {
    refuse("announces what comes next of a known schedule",
           "set its mode to on_demand or provisioned to false, and no shim's; or, of served requests, "
           "\"open\" of \"transfer\" to \"at_prefill\"");
  }
  if (needs.view.has_any({ViewPart::kSchedule, ViewPart::kDueTimes})) {
    refuse("needs a known schedule",
           "lru, phases, max_weight and mixnet need none; opus on demand where a NIC has one port");
  }
  if (rehearses(factory, controller)) refuse("rehearses the job", "set its parameter rehearse to false");
}

}  // namespace

void check_decided(const Scenario& scenario, const WorkloadAgent& agent, const Registries& registries) {
  check_policy(scenario, agent, registries);
  if (scenario.run.critical_path) {
    throw FieldError(field("run.critical_path"), std::string("is of tasks that are known before the run, and ") + kDecides,
                     "remove it");
  }
  if (scenario.run.iterations != 1) {
    throw FieldError(field("run.iterations"), std::string("has no effect: ") + kDecides, "remove it");
  }
}

std::optional<Scenario> with_known_future(const Scenario& scenario, const WorkloadAgent& agent) {
  const std::optional<KnownFuture> future = agent.known_future();
  if (!future) return std::nullopt;
  if (future->graph == nullptr || future->graph->ranks() != scenario.gpu_of_rank.size()) {
    throw FieldError(field("graph"), "says that its future is a graph of " +
                                         std::to_string(future->graph == nullptr ? 0 : future->graph->ranks()) +
                                         " ranks, and the job has " + std::to_string(scenario.gpu_of_rank.size()));
  }
  if (scenario.run.iterations != 1) {
    throw FieldError(field("run.iterations"), "has no effect: the agent says how often its step runs", "remove it");
  }
  Scenario fixed = scenario;
  fixed.workload = nullptr;
  fixed.graph = *future->graph;
  fixed.run.iterations = future->steps;
  return fixed;
}

std::optional<Scenario> with_known_futures(const Scenario& scenario) {
  if (scenario.workload != nullptr)
    return with_known_future(scenario, *scenario.workload->make(scenario, scenario.run.seed));
  std::optional<Scenario> all;
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
    if (scenario.jobs[j].workload == nullptr) continue;
    std::optional<Scenario> fixed = with_known_futures(scenario.alone(j));
    if (!fixed) continue;
    if (!all) all = scenario;
    all->jobs[j] = std::move(static_cast<JobSpec&>(*fixed));
  }
  return all;
}

}  // namespace photonrail::run
