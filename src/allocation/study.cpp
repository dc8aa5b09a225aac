#include "photonrail/allocation/study.hpp"

#include <algorithm>

namespace photonrail::allocation {

const char* name(QueueOrder order) {
  switch (order) {
    case QueueOrder::kFifo:
      return "fifo";
    case QueueOrder::kBackfill:
      return "backfill";
    case QueueOrder::kShortestService:
      return "srsf";
    case QueueOrder::kScarcestShape:
      return "irs";
    case QueueOrder::kRandom:
      return "random";
  }
  return "";
}

std::string difference(const DecisionCase::Expected& expected, const SliceDecision& decision) {
  if (expected.refusal) {
    if (decision.placement) return "placed, but a refusal is expected";
    if (decision.reason == *expected.refusal) return "";
    return decision.reason == RefusalReason::kResource ? "refused for resource, not for shape"
                                                       : "refused for shape, not for resource";
  }
  if (!decision.placement) return "refused, but a placement is expected";
  const Placement& slice = *decision.placement;
  if (expected.shape && slice.shape.sides != expected.shape->sides) {
    return "placed as " + slice.shape.text() + ", not as " + expected.shape->text();
  }
  std::vector<std::uint32_t> ours = slice.accelerators;
  std::sort(ours.begin(), ours.end());
  return expected.accelerators.empty() || ours == expected.accelerators ? "" : "placed on other accelerators";
}

}  // namespace photonrail::allocation
