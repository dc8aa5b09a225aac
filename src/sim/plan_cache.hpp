// Plans by call: equal calls share one plan, which is immutable.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/scenario.hpp"

#include <map>
#include <memory>
#include <tuple>

namespace photonrail {

/// A plan as an operation runs it.
struct RunnablePlan {
  std::unique_ptr<const SendPlan> plan;
  /// Stream fidelity: each pair's sends became one flow, which pays the latency of this many sends. 1: as planned.
  std::uint32_t latency_sends = 1;
  bool stream = false;
};

class PlanCache {
 public:
  /// The references must outlive the cache.
  PlanCache(const CollectiveSpec& spec, Fidelity fidelity, const CollectiveRegistry& registry)
      : spec_(spec), fidelity_(fidelity), registry_(registry) {}

  /// The plan for a call under the scenario's algorithm, chunks and fidelity. Throws ConfigError when the algorithm does
  /// not support the call.
  [[nodiscard]] const RunnablePlan& get(const CollectiveCall& call) { return get(call, call.members); }
  /// Folded to the first `period` members (SendPlan::folded). REQUIRES: period is call.members, or the plan can be folded.
  [[nodiscard]] const RunnablePlan& get(const CollectiveCall& call, Member period);
  /// The plan as the algorithm gives it.
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(CollectiveCall call) const;

 private:
  using Key = std::tuple<CollectiveOp, Member, std::int64_t, Member, Member>;
  [[nodiscard]] RunnablePlan make(const CollectiveCall& call, Member period) const;

  const CollectiveSpec& spec_;
  Fidelity fidelity_;
  const CollectiveRegistry& registry_;
  std::map<Key, RunnablePlan> plans_;
};

}  // namespace photonrail
