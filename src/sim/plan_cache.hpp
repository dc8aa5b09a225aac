// Plans by call: equal calls share one plan, which is immutable.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/scenario.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

namespace photonrail {

/// A plan as an operation runs it.
struct RunnablePlan {
  std::unique_ptr<const SendPlan> plan;
  /// Stream fidelity: each pair's sends became one flow, which pays the latency of this many sends. 1: as planned.
  std::uint32_t latency_sends = 1;
  bool stream = false;
  std::uint32_t late = 0;  ///< members that it starts without
};

class PlanCache {
 public:
  /// The references must outlive the cache, and so must `demands`, which may be null when no task names a demand.
  PlanCache(const CollectiveSpec& spec, const RunSpec& run, const CollectiveRegistry& registry, const DemandSource* demands,
            Bytes reconfiguration = {});

  [[nodiscard]] const CollectiveSpec& spec() const { return spec_; }
  /// Whether the scenario's algorithm for the op wants call.straggler.
  [[nodiscard]] bool expects_straggler(CollectiveOp op) const { return expects_straggler_[static_cast<std::size_t>(op)]; }

  /// The plan for a call under the scenario's algorithm, chunks and fidelity. Throws ConfigError when the algorithm does
  /// not support the call.
  [[nodiscard]] const RunnablePlan& get(const CollectiveCall& call);

  /// The plan for a call that follows a demand (`query.seed` is set here). It lives until it is given back as often as it
  /// was taken, and a while longer: routing that changes from call to call would fill the memory with plans. `servers`: of
  /// each member.
  [[nodiscard]] const RunnablePlan& take(const CollectiveCall& call, DemandQuery query,
                                         std::span<const std::uint32_t> servers);
  void give_back(DemandQuery query);
  /// Of a computation that goes with a demand (`query.seed` is set here).
  [[nodiscard]] double flops(DemandQuery query, Member member) const;

 private:
  struct DemandPlan {
    RunnablePlan runnable;
    std::uint32_t users = 0;
  };
  using Key = std::tuple<CollectiveOp, Member, std::int64_t, Member, std::optional<Member>>;
  [[nodiscard]] RunnablePlan make(const CollectiveCall& call) const;
  [[nodiscard]] DemandQuery canonical(DemandQuery query) const;

  const CollectiveSpec& spec_;
  Fidelity fidelity_;
  std::uint64_t seed_;
  const CollectiveRegistry& registry_;
  const DemandSource* demands_;
  Bytes reconfiguration_;  ///< see CollectiveCall
  std::array<bool, kCollectiveOpCount> expects_straggler_{};
  std::map<Key, RunnablePlan> plans_;
  std::map<DemandQuery, DemandPlan> demand_plans_;
  std::deque<DemandQuery> idle_;  ///< plans without a user, the longest without one first
};

}  // namespace photonrail
