#include "studies/sweep/slices_point.hpp"
#include "core/inside.hpp"

#include "core/counted.hpp"
#include "studies/slices/reader.hpp"
#include "studies/slices/report.hpp"
#include "studies/slices/study.hpp"

#include <algorithm>

namespace photonrail::sweep {

bool is_study(const Json& base) {
  const Json* const schema = base.find("schema");
  return schema != nullptr && schema->is_string() && schema->string() == slices::kAllocationSchema;
}

slices::AllocationStudy study_of(const Json& json, const std::filesystem::path& directory, const std::string& file) {
  return core::inside(file, [&] { return slices::read_study_json(json, directory, slices::AllocatorRegistry::builtin()); });
}

Estimate estimate_of(const slices::AllocationStudy& study) {
  const double streams = static_cast<double>(study.policies.size() * std::max<std::size_t>(1, study.orders.size()));
  const double jobs = static_cast<double>(study.jobs.size());
  double kept = 0.0;
  for (const slices::SliceJob& job : study.jobs) kept += job.request.accelerators;
  const double accelerators = study.jobs.empty() ? 1.0 : static_cast<double>(study.schedule.pod.torus.size());
  kept = std::min(kept, static_cast<double>(slices::kKeptSlices) * accelerators);
  const WorkEstimate work = work_of(study);
  Estimate estimate;
  estimate.seconds = work.seconds();
  estimate.work = 1e6 * estimate.seconds;
  // 200 bytes beside the slices that are kept.
  estimate.bytes = static_cast<std::uint64_t>(12e6 + streams * (200.0 * jobs + 4.0 * kept));
  return estimate;
}

void run_study(const slices::AllocationStudy& study, const Registries& known, const Stop& stop, Record& record) {
  if (stop()) throw Stopped{};
  record.seed = study.schedule.seed;
  const slices::AllocationOutcome outcome = run_allocation(study, known);
  record.metrics = slices::allocation_numbers(study, outcome);
  std::sort(record.metrics.begin(), record.metrics.end());
  const std::size_t unexpected = outcome.unexpected();
  if (unexpected == 0) return;
  record.exit_status = 1;
  record.error = std::to_string(unexpected) + " of " + core::counted(outcome.decisions.size(), "decision") +
                 (unexpected == 1 ? " is" : " are") + " not as expected";
}

}  // namespace photonrail::sweep
