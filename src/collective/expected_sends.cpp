#include "collective/expected_sends.hpp"

#include "photonrail/collective.hpp"
#include "photonrail/core/work.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace photonrail {

namespace collective {

namespace {

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

}  // namespace collective

namespace {

// A send is made, proven and written as two steps; what it waits for beyond the first is a step each.
constexpr double kSend = 9e-6;  // seconds
constexpr double kWait = 5e-6;
constexpr double kBytesOfSend = 900;  // of memory
constexpr double kBytesOfWait = 800;
constexpr const char* kLevers = "--ranks, --chunks";

}  // namespace

WorkEstimate work_of_export(const CollectiveCall& call, const CollectiveAlgorithm& algorithm) {
  const double sends = collective::expected_sends(call, algorithm.name());
  WorkEstimate work;
  work.add({"sends", sends, sends * kSend, kLevers});
  work.bytes = sends * kBytesOfSend;
  return work;
}

WorkEstimate work_of_export(const SendPlan& plan) {
  const double sends = plan.send_count();
  double waits = 0.0;
  for (SendIndex i = plan.initial_sends(); i < plan.send_count(); ++i) waits += plan.waits_for(i) - 1.0;
  WorkEstimate work;
  work.add({"sends", sends, sends * kSend, kLevers});
  work.add({"waits of sends", waits, waits * kWait, "--ranks, another --algorithm"});
  work.bytes = sends * kBytesOfSend + waits * kBytesOfWait;
  return work;
}

}  // namespace photonrail
