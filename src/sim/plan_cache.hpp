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
  std::uint32_t participants_of_round_0 = 0;
};

class PlanCache {
 public:
  /// The references must outlive the cache.
  PlanCache(const CollectiveSpec& spec, Fidelity fidelity, const CollectiveRegistry& registry)
      : spec_(spec), fidelity_(fidelity), registry_(registry) {}

  /// The plan for a call under the scenario's algorithm, chunks and fidelity. Throws ConfigError when the algorithm does
  /// not support the call.
  [[nodiscard]] const RunnablePlan& get(CollectiveCall call);

 private:
  using Key = std::tuple<CollectiveOp, Member, std::int64_t, Member>;
  [[nodiscard]] RunnablePlan make(const CollectiveCall& call) const;

  const CollectiveSpec& spec_;
  Fidelity fidelity_;
  const CollectiveRegistry& registry_;
  std::map<Key, RunnablePlan> plans_;
};

/// Whether a plan can run as streams: one round, and every pair sends from the beginning to the end.
[[nodiscard]] bool is_steady(const SendPlan& plan);

/// One flow for each pair of `plan`'s only round, with all the bytes that the plan sends over it; no dependencies.
/// Leaves out: how a member's sends wait for each other, but for their latency (RunnablePlan::latency_sends).
[[nodiscard]] std::unique_ptr<const SendPlan> make_stream_plan(const SendPlan& plan);

}  // namespace photonrail
