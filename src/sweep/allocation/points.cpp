#include "sweep/allocation/points.hpp"

#include "config/allocation/parts.hpp"
#include "core/counted.hpp"
#include "photonrail/study/allocation.hpp"
#include "report/allocation/report.hpp"

#include <algorithm>

namespace photonrail::sweep {

bool is_study(const Json& base) {
  const Json* const schema = base.find("schema");
  return schema != nullptr && schema->is_string() && schema->string() == config::kAllocationSchema;
}

allocation::AllocationStudy study_of(const Json& json, const std::filesystem::path& directory, const std::string& file) {
  try {
    return config::read_study_json(json, directory, allocation::AllocatorRegistry::builtin());
  } catch (const ConfigError& error) {
    throw error.inside(file);
  }
}

// As measured with the TPU v4 mix on one core: a job takes an allocator some 0.2 us for each accelerator of the pod, and
// 200 bytes beside the slices that are kept. Only what they are to each other counts.
Estimate estimate_of(const allocation::AllocationStudy& study) {
  const double streams = static_cast<double>(study.policies.size() * std::max<std::size_t>(1, study.orders.size()));
  const double jobs = static_cast<double>(study.jobs.size());
  const double accelerators = study.jobs.empty() ? 1.0 : static_cast<double>(study.schedule.pod.torus.size());
  double kept = 0.0;
  for (const allocation::SliceJob& job : study.jobs) kept += job.request.accelerators;
  kept = std::min(kept, static_cast<double>(allocation::kKeptSlices) * accelerators);
  Estimate estimate;
  estimate.work = 1.0 + streams * jobs * accelerators + static_cast<double>(study.decisions.size());
  estimate.seconds = 2e-7 * estimate.work;
  estimate.bytes = static_cast<std::uint64_t>(12e6 + streams * (200.0 * jobs + 4.0 * kept));
  return estimate;
}

void run_study(const allocation::AllocationStudy& study, const Registries& known, const Stop& stop, Record& record) {
  if (stop()) throw Stopped{};
  record.seed = study.schedule.seed;
  const allocation::AllocationOutcome outcome = run_allocation(study, known);
  record.metrics = report::allocation_numbers(study, outcome);
  std::sort(record.metrics.begin(), record.metrics.end());
  const std::size_t unexpected = outcome.unexpected();
  if (unexpected == 0) return;
  record.exit_status = 1;
  record.error = std::to_string(unexpected) + " of " + core::counted(outcome.decisions.size(), "decision") +
                 (unexpected == 1 ? " is" : " are") + " not as expected";
}

}  // namespace photonrail::sweep
