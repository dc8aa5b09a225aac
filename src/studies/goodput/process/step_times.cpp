#include "studies/goodput/process/step_times.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace photonrail::goodput {

std::optional<Duration> ConstantSteps::of(const Configuration& configuration) {
  double factor = 1.0;
  std::set<std::uint32_t> sources;
  for (const DegradedPart& part : configuration.parts) {
    if (sources.insert(part.source).second) factor *= spec_->failures[part.source].factor;
  }
  return round_up_picoseconds(static_cast<double>(healthy_.count()) * factor);
}

// The lock is held while a configuration is simulated: another thread that needs the same one would only do it twice, and
// one that needs a known one waits once for each new configuration of the whole study.
struct SimulatedSteps::State {
  const GoodputSpec& spec;
  const Scenario& healthy;
  std::optional<TrainingSpec> training;
  const Registries& known;
  Store store;
  mutable std::mutex mutex{};
  std::map<std::string, std::optional<Duration>> steps{};
  std::size_t simulated = 0;

  [[nodiscard]] std::optional<Duration> simulate_step(const Configuration& configuration) const {
    try {
      return simulate(degraded_scenario(spec, healthy, training, configuration), {}, known).step_time();
    } catch (const DeadlockError&) {
      return std::nullopt;
    }
  }
};

SimulatedSteps::SimulatedSteps(const GoodputSpec& spec, const Scenario& healthy, std::optional<TrainingSpec> training,
                               const Registries& known, Store store)
    : state_(new State{spec, healthy, std::move(training), known, std::move(store)}) {}

SimulatedSteps::~SimulatedSteps() = default;

void SimulatedSteps::preset(const std::string& text, std::optional<Duration> step) {
  const std::lock_guard lock(state_->mutex);
  state_->steps[text] = step;
}

std::optional<Duration> SimulatedSteps::of(const Configuration& configuration) {
  const std::string text = configuration.text(state_->spec);
  const std::lock_guard lock(state_->mutex);
  const auto known = state_->steps.find(text);
  if (known != state_->steps.end()) return known->second;
  const auto step = state_->simulate_step(configuration);
  if (!step && configuration == Configuration{}) {
    static_cast<void>(simulate(state_->healthy, {}, state_->known));  // throws what the healthy job waits for
  }
  state_->steps.emplace(text, step);
  ++state_->simulated;
  if (state_->store) state_->store(text, step);
  return step;
}

std::size_t SimulatedSteps::simulated() const {
  const std::lock_guard lock(state_->mutex);
  return state_->simulated;
}

}  // namespace photonrail::goodput
