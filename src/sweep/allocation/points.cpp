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
