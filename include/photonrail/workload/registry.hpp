// Agents and schedulers that scenarios name, as they name controllers: `"workload": {"agent": {"name": "mine"}}`, and
// `"scheduler": "mine"` of engines that serve requests.
#pragma once

#include "photonrail/control/parameter.hpp"
#include "photonrail/workload/agent.hpp"
#include "photonrail/workload/scheduling.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

/// What a scenario says of its agent.
struct AgentSpec {
  std::string name;
  ParameterValues parameters{};             ///< AgentFactory::parameters
  std::vector<Time> times{};                ///< ascending; where AgentFactory::takes_times
  std::shared_ptr<const TaskGraph> step{};  ///< of the job that the workload has beside the agent; null: it has none
  std::uint32_t ranks_per_server = 1;
  /// An agent that is told of more events than these, and is not finished, ends the run with DeadlockError.
  std::uint64_t most_events = 100'000'000;
};

/// Makes the agent of a run.
struct AgentFactory {
  std::string name;
  std::string summary;
  /// `spec` is complete(). `ranks`: of the job. Throws ConfigError for what cannot be.
  std::function<std::unique_ptr<WorkloadAgent>(const AgentSpec& spec, std::size_t ranks, std::uint64_t seed)> make;
  std::vector<ControllerParameter> parameters{};  ///< its own keys of the scenario
  /// How often it will launch the step, about, for estimates of work. Null: not known.
  std::function<double(const AgentSpec& spec)> launches{};
  bool needs_step = false;
  bool takes_times = false;
  bool on_every_gpu = false;  ///< the job has all GPUs where the scenario does not say its ranks, and not those of the step

  /// The spec with every parameter set. Throws ConfigError for one that is unknown, of another kind or out of range, and
  /// for a step or times that are missing or have no effect.
  [[nodiscard]] AgentSpec complete(const AgentSpec& spec) const;
};

/// Makes the scheduler of an engine.
struct SchedulerFactory {
  std::string name;
  std::string summary;
  std::function<std::shared_ptr<const SchedulingPolicy>()> make;
};

/// A table of agents by name. It is a value: copies are independent.
class AgentRegistry {
 public:
  /// `repeat` and `arrivals`.
  [[nodiscard]] static AgentRegistry builtin();

  /// Throws ConfigError when there is one of that name, or the factory has no name or no function.
  void add(AgentFactory factory);
  /// Throws ConfigError that lists the known names.
  [[nodiscard]] const AgentFactory& find(std::string_view name) const;
  [[nodiscard]] const std::vector<AgentFactory>& all() const& { return factories_; }
  void all() const&& = delete;  // the reference would outlive the temporary table

 private:
  std::vector<AgentFactory> factories_;
};

/// The same of schedulers.
class SchedulerRegistry {
 public:
  /// `shortest_first`.
  [[nodiscard]] static SchedulerRegistry builtin();

  void add(SchedulerFactory factory);
  [[nodiscard]] const SchedulerFactory& find(std::string_view name) const;
  /// The scheduler of that name. Throws ConfigError, too, where its function throws or returns none.
  [[nodiscard]] std::shared_ptr<const SchedulingPolicy> make(std::string_view name) const;
  [[nodiscard]] const std::vector<SchedulerFactory>& all() const& { return factories_; }
  void all() const&& = delete;

 private:
  std::vector<SchedulerFactory> factories_;
};

/// A workload whose agents the factory makes. Throws as AgentFactory::complete(). What a function of the factory or of an
/// agent throws that is no Error of this library ends the run with ConfigError that names the agent, and so does a factory
/// that returns none.
[[nodiscard]] std::shared_ptr<const Workload> named_workload(const AgentFactory& factory, const AgentSpec& spec);

}  // namespace photonrail
