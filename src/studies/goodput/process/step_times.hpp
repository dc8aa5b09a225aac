// The times say how long a step takes with parts that are down: each distinct configuration is simulated once.
#pragma once

#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/goodput/spec.hpp"
#include "photonrail/training.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::goodput {

/// A part that is down and degrades the step.
struct DegradedPart {
  std::uint32_t source = 0;   ///< index in GoodputSpec::failures
  std::uint32_t replica = 0;  ///< of the job; parts of the whole cluster: 0
  std::uint32_t place = 0;    ///< server within the replica; parts of the whole cluster: which part
  std::uint32_t local = 0;    ///< part within the server

  friend auto operator<=>(const DegradedPart&, const DegradedPart&) = default;
};

/// Holds what of the job is missing or slow.
struct Configuration {
  std::uint32_t dropped = 0;  ///< replicas that do not take part
  std::vector<DegradedPart> parts;

  /// The representative of all configurations that differ only in which replicas and which local indices are hit. Replicas
  /// are taken as alike, and GPUs of one local index in all servers as a rail that is like the other rails; the server
  /// within a replica (a pipeline stage, say) is kept.
  [[nodiscard]] Configuration canonical(const GoodputSpec& spec) const;
  [[nodiscard]] std::string text(const GoodputSpec& spec) const;  ///< the same for equal configurations
  friend bool operator==(const Configuration&, const Configuration&) = default;
};

class StepTimes {
 public:
  virtual ~StepTimes() = default;
  /// Of a canonical configuration; none: the job cannot go on. Called by several threads at once; the answer must be a
  /// function of the configuration.
  [[nodiscard]] virtual std::optional<Duration> of(const Configuration& configuration) = 0;
};

/// A step time without a network: a degraded part multiplies it by its factor, once for each source; dropped replicas leave
/// it as it is.
class ConstantSteps : public StepTimes {
 public:
  ConstantSteps(const GoodputSpec& spec, Duration healthy) : spec_(&spec), healthy_(healthy) {}
  [[nodiscard]] std::optional<Duration> of(const Configuration& configuration) override;

 private:
  const GoodputSpec* spec_;
  Duration healthy_;
};

/// Steps from simulate(), each configuration once.
class SimulatedSteps : public StepTimes {
 public:
  /// Called with each new configuration and its step, by one thread at a time.
  using Store = std::function<void(const std::string& text, std::optional<Duration> step)>;

  /// All must outlive the object. `training`: what the job's graph was made from, needed where replicas are dropped.
  SimulatedSteps(const GoodputSpec& spec, const Scenario& healthy, std::optional<TrainingSpec> training,
                 const Registries& known, Store store = {});
  ~SimulatedSteps() override;

  void preset(const std::string& text, std::optional<Duration> step);  ///< as simulated earlier
  /// Throws ConfigError where a configuration has no scenario, such as dropped replicas of a recorded trace.
  [[nodiscard]] std::optional<Duration> of(const Configuration& configuration) override;
  [[nodiscard]] std::size_t simulated() const;  ///< configurations that were not preset

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The scenario of a configuration. Throws ConfigError (see SimulatedSteps::of).
[[nodiscard]] Scenario degraded_scenario(const GoodputSpec& spec, const Scenario& healthy,
                                         const std::optional<TrainingSpec>& training, const Configuration& configuration);

/// Throws ConfigError where a failure degrades steps in a way that the cluster's rails do not have, or where an option of
/// recovery drops replicas that cannot be dropped: better known before the first history than at the first failure.
void check_degraded(const GoodputSpec& spec, const Scenario& healthy, const std::optional<TrainingSpec>& training);

}  // namespace photonrail::goodput
