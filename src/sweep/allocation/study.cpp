// Studies of slices: the step of a scenario says how a job slows down on a part of its bandwidth.
#include "photonrail/study/allocation.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "report/allocation/report.hpp"

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

allocation::AllocationOutcome run_allocation(const allocation::AllocationStudy& study, const Registries& known,
                                             const allocation::AllocatorRegistry& policies,
                                             const allocation::StudyProgress& progress) {
  if (study.step.empty()) return carry_out(study, policies, {}, progress);
  StepStretch step(study.step, known);
  return carry_out(study, policies, std::ref(step), progress);
}

std::string allocation_json(const allocation::AllocationStudy& study, const allocation::AllocationOutcome& outcome) {
  return report::allocation_json(study, outcome);
}

std::string allocation_jobs_csv(const allocation::AllocationStudy& study, const allocation::StreamOutcome& stream) {
  return report::jobs_csv(study.jobs, stream.schedule);
}

}  // namespace photonrail
