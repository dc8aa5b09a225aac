#include "photonrail/study/work.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "run/expected_time.hpp"
#include "sweep/goodput/point.hpp"
#include "sweep/work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <system_error>

namespace photonrail {

namespace {

constexpr double kWorthSaying = 10.0;       // seconds of a run: less is not printed, and not looked at closely
constexpr double kReportedByte = 15e-9;     // seconds, of a file of results
constexpr double kExportedSend = 3e-6;      // seconds: a send is made, checked, and written as two steps
constexpr double kBytesOfAnExported = 400;  // memory

/// By what the sends of an algorithm grow with its members.
enum class PlanGrowth : std::uint8_t { kSquare, kLog, kLine };

PlanGrowth growth_of(std::string_view algorithm, CollectiveOp op) {
  static constexpr std::array<std::string_view, 4> kByLog{"halving_doubling", "recursive_doubling", "bruck",
                                                          "dissemination"};
  static constexpr std::array<std::string_view, 2> kByLine{"binomial", "double_tree"};
  if (std::find(kByLine.begin(), kByLine.end(), algorithm) != kByLine.end()) return PlanGrowth::kLine;
  if (std::find(kByLog.begin(), kByLog.end(), algorithm) != kByLog.end()) return PlanGrowth::kLog;
  const bool ring = algorithm.starts_with("ring");
  const bool hierarchical = algorithm.starts_with("hierarchical");
  switch (op) {
    case CollectiveOp::kBroadcast:
    case CollectiveOp::kReduce:
      return ring || hierarchical || algorithm == "direct" ? PlanGrowth::kLine : PlanGrowth::kSquare;
    case CollectiveOp::kGather:
    case CollectiveOp::kScatter:
      return hierarchical || algorithm == "direct" ? PlanGrowth::kLine : PlanGrowth::kSquare;
    case CollectiveOp::kBarrier:
      return ring ? PlanGrowth::kLine : PlanGrowth::kSquare;
    default:
      return PlanGrowth::kSquare;
  }
}

}  // namespace

namespace sweep {

double expected_sends(const CollectiveCall& call, std::string_view algorithm) {
  const double members = call.members;
  const double twice = call.op == CollectiveOp::kAllReduce || call.op == CollectiveOp::kBarrier ? 2.0 : 1.0;
  const double pieces = std::max<std::uint32_t>(1, call.pieces);
  switch (growth_of(algorithm, call.op)) {
    case PlanGrowth::kLine:
      return 2.0 * twice * members * pieces;
    case PlanGrowth::kLog:
      return twice * members * std::ceil(std::log2(members)) * pieces;
    case PlanGrowth::kSquare:
      break;
  }
  return twice * members * (members - 1.0) * pieces;
}

}  // namespace sweep

WorkEstimate work_of(const Scenario& scenario, const Registries& known) {
  WorkEstimate work;
  const double seeds =
      scenario.run.spread_seeds && draws_of_seed(scenario) ? std::max(1U, *scenario.run.spread_seeds) : 1.0;
  work.add(run::expected_work(scenario, known, kWorthSaying / seeds), seeds);
  return work;
}

WorkEstimate work_of(const reliability::GoodputScenario& scenario, const Registries& known) {
  WorkEstimate step;
  if (scenario.job) {
    step.add(run::expected_work(*scenario.job, known), 1.0 / std::max(1U, scenario.job->run.iterations));
  }
  WorkEstimate work = sweep::work_of_months(scenario, step);
  if (scenario.job) work.add(run::expected_work(*scenario.job, known));
  if (scenario.checkpoint) work.add(run::expected_work(scenario.checkpoint->job, known));
  return work;
}

WorkEstimate work_of_export(const CollectiveCall& call, const CollectiveAlgorithm& algorithm) {
  const double sends = sweep::expected_sends(call, algorithm.name());
  WorkEstimate work;
  work.add({"sends", sends, sends * kExportedSend, "--ranks, --chunks"});
  work.bytes = sends * kBytesOfAnExported;
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
