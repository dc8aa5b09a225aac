#include "studies/work.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/work.hpp"

#include <algorithm>
#include <string>
#include <system_error>

namespace photonrail {

namespace {

constexpr double kWorthSaying = 10.0;    // seconds of a run: less is not printed, and not looked at closely
constexpr double kReportedByte = 15e-9;  // seconds, of a file of results

/// Keys that make less of what a run counts.
std::string levers_of(const std::string& what) {
  if (what == run::kOperations) return "/run/iterations, /run/fidelity, fewer ranks";
  if (what == run::kCircuitsTurned) return "/controller/slot_us, /run/iterations";
  if (what == run::kRequests) return "/workload/serving/requests/count";
  if (what == "launches") return "/workload/agent";
  if (what == run::kResponses) return "/workload/rl/steps, /workload/rl/prompts/count";
  return "/cluster/servers";
}

}  // namespace

WorkEstimate studies::work_of_run(const Scenario& scenario, const Registries& known, double close_look_s) {
  WorkEstimate work = run::expected_work(scenario, known, close_look_s);
  for (WorkPart& part : work.parts) part.levers = levers_of(part.what);
  return work;
}

WorkEstimate work_of(const Scenario& scenario, const Registries& known) {
  WorkEstimate work;
  const double seeds =
      scenario.run.spread_seeds && draws_of_seed(scenario) ? std::max(1U, *scenario.run.spread_seeds) : 1.0;
  work.add(studies::work_of_run(scenario, known, kWorthSaying / seeds), seeds);
  return work;
}

WorkEstimate work_of_report(const std::filesystem::path& folder) {
  double bytes = 0.0;
  std::error_code ignored;  // what cannot be read is for the report to say
  std::filesystem::recursive_directory_iterator entry(folder, ignored);
  for (; !ignored && entry != std::filesystem::recursive_directory_iterator(); entry.increment(ignored)) {
    const auto name = entry->path().filename();
    if (name == "results.db" || name == "result.json" || name == "trace.json")
      bytes += static_cast<double>(entry->file_size(ignored));
  }
  WorkEstimate work;
  work.add({"bytes of results", bytes, bytes * kReportedByte, "a folder with fewer traces"});
  return work;
}

}  // namespace photonrail
