// Plans by call: equal calls share one plan, which is immutable.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/collective_choice.hpp"
#include "photonrail/scenario.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace photonrail {

/// A plan as an operation runs it.
struct RunnablePlan {
  std::unique_ptr<const SendPlan> plan;
  /// Stream fidelity: each pair's sends became one flow. They were so many steps, of so many messages one behind the other.
  std::uint32_t latency_sends = 1;
  std::uint32_t pieces = 1;
  bool stream = false;
  std::uint32_t late = 0;  ///< members that it starts without
  /// By round and pair of the round: what is sent over it; only where it is wanted (PlanCache::weigh()).
  std::vector<std::vector<Bytes>> pair_bytes{};
};

using LayoutId = std::uint32_t;

class PlanCache {
 public:
  /// The references must outlive the cache, and so must `demands`, which may be null when no task names a demand.
  PlanCache(const CollectiveSpec& spec, const RunSpec& run, const CollectiveRegistry& registry, const TrafficSource* demands,
            const CostModel& costs = {});

  /// Plans made from now on say what each pair exchanges.
  void weigh() { weighs_ = true; }

  [[nodiscard]] const CollectiveSpec& spec() const { return spec_; }
  /// Whether the scenario leaves the algorithm for the op to "auto".
  [[nodiscard]] bool chooses(CollectiveOp op) const {
    return spec_.algorithm[static_cast<std::size_t>(op)] == kAutoAlgorithm;
  }
  /// The scenario's algorithm for the op. Throws ConfigError when there is none of its name. REQUIRES: not chooses(op).
  /// The scenario's own or a registered one, or null.
  [[nodiscard]] const CollectiveAlgorithm* find(std::string_view name) const;
  [[nodiscard]] const CollectiveAlgorithm& algorithm(CollectiveOp op) const;
  /// Whether the scenario's algorithm for the op wants call.straggler.
  [[nodiscard]] bool expects_straggler(CollectiveOp op) const { return expects_straggler_[static_cast<std::size_t>(op)]; }
  /// Where the members of a group sit, as a number for get() and take(). Groups of one shape share it; 0 when each member
  /// is alone in its server, all on one rail, or when on electrical rails no algorithm of the scenario asks.
  [[nodiscard]] LayoutId layout(std::span<const GpuId> gpus, std::uint32_t gpus_per_server);

  /// The plan for a call under the scenario's algorithm, chunks and fidelity. Throws ConfigError when the algorithm does
  /// not support the call.
  [[nodiscard]] const RunnablePlan& get(const CollectiveCall& call) { return get(call, 0, call.members); }
  /// Folded to the first `period` members (SendPlan::folded). REQUIRES: period is call.members, or the plan can be folded.
  [[nodiscard]] const RunnablePlan& get(const CollectiveCall& call, LayoutId layout, Member period);
  /// The plan as the algorithm gives it; on optical rails with rounds merged where their circuits can be lit together.
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(CollectiveCall call, LayoutId layout = 0);

  /// The plan for a call that follows a demand (`query.seed` is set here). It lives until it is given back as often as it
  /// was taken, and a while longer: routing that changes from call to call would fill the memory with plans. `servers`: of
  /// each member.
  [[nodiscard]] const RunnablePlan& take(const CollectiveCall& call, DemandQuery query,
                                         std::span<const std::uint32_t> servers, LayoutId layout = 0);
  void give_back(DemandQuery query);
  /// Of a computation that goes with a demand (`query.seed` is set here).
  [[nodiscard]] double flops(DemandQuery query, Member member) const;

  /// What "auto" chose, and why: a line for each call that it was asked for.
  [[nodiscard]] const std::vector<std::string>& choices() const { return choices_; }

 private:
  struct DemandPlan {
    RunnablePlan runnable;
    std::uint32_t users = 0;
  };
  using Key = std::tuple<CollectiveOp, Member, std::int64_t, Member, LayoutId, std::optional<Member>, Member>;
  [[nodiscard]] RunnablePlan make(const CollectiveCall& call, LayoutId layout, Member period);
  [[nodiscard]] const CollectiveAlgorithm& algorithm_for(const CollectiveCall& call);
  [[nodiscard]] const CollectiveAlgorithm& choose(const CollectiveCall& call);
  [[nodiscard]] DemandQuery canonical(DemandQuery query) const;

  const CollectiveSpec& spec_;
  Fidelity fidelity_;
  std::uint64_t seed_;
  const CollectiveRegistry& registry_;
  const TrafficSource* demands_;
  CostModel costs_;
  bool weighs_ = false;
  std::array<bool, kCollectiveOpCount> placed_{};  ///< by op: the algorithm asks where members sit
  std::array<bool, kCollectiveOpCount> expects_straggler_{};
  std::vector<std::vector<MemberPlace>> layouts_{{}};
  std::map<std::vector<MemberPlace>, LayoutId> layout_ids_;
  std::vector<std::string> choices_;
  std::map<Key, RunnablePlan> plans_;
  std::map<DemandQuery, DemandPlan> demand_plans_;
  std::deque<DemandQuery> idle_;  ///< plans without a user, the longest without one first
};

}  // namespace photonrail
