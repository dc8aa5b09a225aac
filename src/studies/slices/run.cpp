// Studies of slices: the step of a scenario says how a job slows down on a part of its bandwidth.
#include "photonrail/study/slices.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "studies/slices/reader.hpp"

#include <algorithm>
#include <map>

namespace photonrail {

namespace {

/// The factor by which the step of a scenario takes longer when its NICs have a part of their bandwidth. Each share is
/// simulated once.
class StepStretch {
 public:
  StepStretch(const std::filesystem::path& file, const Registries& known)
      : known_(known), scenario_(read_scenario(file, {}, known)) {
    if (!scenario_.jobs.empty()) {
      throw ConfigError(file.string() + ": /jobs", "this is about one job only", "give a scenario with a \"workload\"");
    }
  }

  double operator()(double share) { return std::max(1.0, seconds(share) / seconds(1.0)); }

 private:
  [[nodiscard]] double seconds(double share) {
    const auto [at, is_new] = times_.try_emplace(share, 0.0);
    if (is_new) at->second = simulated(share);
    return at->second;
  }
  [[nodiscard]] double simulated(double share) const {
    Scenario scaled = scenario_;
    scaled.run.spread_seeds.reset();
    scaled.cluster.nic.per_port.bytes_per_second *= share;
    return to_seconds(simulate(scaled, {}, known_).makespan);
  }

  const Registries& known_;
  Scenario scenario_;
  std::map<double, double> times_;
};

}  // namespace

slices::AllocationOutcome run_allocation(const slices::AllocationStudy& study, const Registries& known,
                                         const slices::AllocatorRegistry& policies, const slices::StudyProgress& progress) {
  try {
    if (study.step.empty()) return carry_out(study, policies, {}, progress);
    StepStretch step(study.step, known);
    return carry_out(study, policies, std::ref(step), progress);
  } catch (const core::FieldError& error) {  // of the file of the study, or of the scenario that it names
    fields::Places places;
    places.add("", "", nullptr, slices::kAllocationSection);
    if (!places.pointer(error.field())) throw;
    throw places.located(error);
  }
}

}  // namespace photonrail
