// Studies of slices: the step of a scenario says how a job slows down on a part of its bandwidth.
#include "studies/slices/study.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/slices.hpp"
#include "studies/slices/reader.hpp"

#include <algorithm>
#include <map>

namespace photonrail::slices {

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

AllocationTexts texts_of(const AllocationStudy& study, const Registries& known, const AllocatorRegistry& policies) {
  const AllocationOutcome outcome = run_allocation(study, known, policies);
  AllocationTexts texts{allocation_json(study, outcome), {}};
  for (const StreamOutcome& stream : outcome.streams) {
    texts.jobs.emplace_back(stream.policy + " " + stream.order,
                            stream.order.empty() ? std::string() : allocation_jobs_csv(study, stream));
  }
  return texts;
}

}  // namespace

AllocationOutcome run_allocation(const AllocationStudy& study, const Registries& known, const AllocatorRegistry& policies,
                                 const StudyProgress& progress) {
  try {
    if (study.step.empty()) return carry_out(study, policies, {}, progress);
    StepStretch step(study.step, known);
    return carry_out(study, policies, std::ref(step), progress);
  } catch (const core::FieldError& error) {  // of the file of the study, or of the scenario that it names
    fields::Places places;
    places.add("", "", nullptr, kAllocationSection);
    if (!places.pointer(error.field())) throw;
    throw places.located(error);
  }
}

}  // namespace photonrail::slices

namespace photonrail {

AllocationTexts run_allocation(const std::filesystem::path& file, std::span<const Override> overrides,
                               const Registries& known, const slices::AllocatorRegistry& policies) {
  return slices::texts_of(slices::read_study(file, overrides, policies), known, policies);
}

AllocationTexts run_allocation(std::string_view json, const std::filesystem::path& directory, std::string_view file,
                               std::span<const Override> overrides, const Registries& known,
                               const slices::AllocatorRegistry& policies) {
  return slices::texts_of(slices::parse_study(json, directory, file, overrides, policies), known, policies);
}

}  // namespace photonrail
