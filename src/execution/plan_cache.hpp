// Plans by call: equal calls share one plan, which is immutable.
#pragma once

#include "collective/algorithm_table.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/collective_choice.hpp"
#include "photonrail/demand.hpp"
#include "photonrail/execution.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace photonrail::execution {

/// A plan as an operation runs it.
struct RunnablePlan {
  std::unique_ptr<const SendPlan> plan;
  /// Stream fidelity: each pair's sends became one flow. They were so many steps, of so many messages one behind the other.
  std::uint32_t latency_sends = 1;
  std::uint32_t pieces = 1;
  bool stream = false;
  std::uint32_t late = 0;  ///< members that it starts without
  /// By round and pair of the round: what is sent over it; only with PlanOptions::pair_bytes.
  std::vector<std::vector<Bytes>> pair_bytes{};
};

using LayoutId = std::uint32_t;

/// How plans are made for a run.
struct PlanOptions {
  Fidelity fidelity = Fidelity::kStream;
  std::uint64_t seed = 1;   ///< of uneven traffic
  CostModel costs{};        ///< by which "auto" chooses
  bool pair_bytes = false;  ///< plans say what each pair exchanges
};

class PlanCache {
 public:
  /// The table and `traffic` must outlive the cache; `traffic` may be null when no task names a traffic matrix.
  PlanCache(const collective::AlgorithmTable& algorithms, const TrafficSource* traffic, PlanOptions options);

  [[nodiscard]] const CollectiveSpec& spec() const { return algorithms_.spec(); }
  /// Whether the algorithm for the op wants call.straggler.
  [[nodiscard]] bool expects_straggler(CollectiveOp op) const { return algorithms_.expects_straggler(op); }
  /// Where the members of a group sit, as a number for get() and take(). Groups of one shape share it; 0 when each member
  /// is alone in its server, all on one rail, or when on electrical rails no algorithm of the scenario asks.
  [[nodiscard]] LayoutId layout(std::span<const GpuId> gpus, std::uint32_t gpus_per_server);

  /// The plan for a call under the scenario's algorithm, chunks and fidelity. Throws ConfigError when the algorithm does
  /// not support the call.
  [[nodiscard]] const RunnablePlan& get(const CollectiveCall& call) { return get(call, 0, call.members); }
  /// Folded to the first `period` members (SendPlan::folded). REQUIRES: period is call.members, or the plan can be folded.
  [[nodiscard]] const RunnablePlan& get(const CollectiveCall& call, LayoutId layout, Member period);
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
  [[nodiscard]] const CollectiveAlgorithm& choose(const CollectiveCall& call);
  [[nodiscard]] DemandQuery canonical(DemandQuery query) const;

  [[nodiscard]] std::unique_ptr<const SendPlan> expand(CollectiveCall call, LayoutId layout);

  const collective::AlgorithmTable& algorithms_;
  const TrafficSource* traffic_;
  const PlanOptions options_;
  std::vector<std::vector<MemberPlace>> layouts_{{}};
  std::map<std::vector<MemberPlace>, LayoutId> layout_ids_;
  std::vector<std::string> choices_;
  std::map<Key, RunnablePlan> plans_;
  std::map<DemandQuery, DemandPlan> demand_plans_;
  std::deque<DemandQuery> idle_;  ///< plans without a user, the longest without one first
};

}  // namespace photonrail::execution
