// A cache of plans by call. Equal calls share one immutable plan.
#pragma once

#include "collective/algorithm_table.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/collective/choice.hpp"
#include "photonrail/collective/traffic_matrix.hpp"
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

/// A plan in the form that an operation runs.
struct RunnablePlan {
  std::unique_ptr<const SendPlan> plan;
  /// Stream fidelity, where each pair's sends are merged into one flow: the critical sends of the original plan, and the
  /// consecutive sends of a pair for each of them. Both determine the latency of the operation.
  std::uint32_t latency_sends = 1;
  std::uint32_t pieces = 1;
  bool stream = false;
  std::uint32_t late = 0;    ///< members that the plan starts without
  bool pairs_again = false;  ///< in one round, some pair sends again and again
  /// Indexed by member: its sends and receives, and 1 for the start itself.
  std::vector<std::uint32_t> work{};
  /// Indexed by round and pair of the round: the bytes sent over it. Only with PlanOptions::pair_bytes.
  std::vector<std::vector<Bytes>> pair_bytes{};
};

using LayoutId = std::uint32_t;

/// The options of a run that plans depend on.
struct PlanOptions {
  Fidelity fidelity = Fidelity::kStream;
  std::uint64_t seed = 1;   ///< seed of uneven traffic
  CostModel costs{};        ///< the costs by which "auto" chooses
  bool pair_bytes = false;  ///< computes RunnablePlan::pair_bytes
  /// Servers are tori or rings: sends of a group inside one share links, so that no flow can stand for all sends of a pair.
  bool grids = false;
};

/// Makes plans on demand and keeps them. Algorithm, chunks and fidelity are the scenario's.
class PlanCache {
 public:
  /// The table and `traffic` must outlive the cache; `traffic` may be null when no task names a traffic matrix.
  PlanCache(const collective::AlgorithmTable& algorithms, const TrafficSource* traffic, PlanOptions options);

  /// Where traffic matrices come from; null: there are none.
  [[nodiscard]] const TrafficSource* traffic() const { return traffic_; }
  [[nodiscard]] const CollectiveSpec& spec() const { return algorithms_.spec(); }
  /// Returns true when the algorithm for the op uses CollectiveCall::straggler.
  [[nodiscard]] bool expects_straggler(CollectiveOp op) const { return algorithms_.expects_straggler(op); }
  /// The number of the servers and rails of a group's members, for get() and take(). Groups of one shape have the same
  /// number. It is 0 when each member is alone in its server, all on one rail, or when the rails are electrical and no
  /// algorithm of the scenario uses places. `box`: of the group in the grid of its server, where it is one.
  [[nodiscard]] LayoutId layout(std::span<const GpuId> gpus, std::uint32_t gpus_per_server, const MemberBox& box = {});

  /// The plan for a call. Throws ConfigError when the algorithm does not support the call.
  [[nodiscard]] const RunnablePlan& get(const CollectiveCall& call) { return get(call, 0, call.members); }
  /// The plan folded to the first `period` members (SendPlan::folded). REQUIRES: period is call.members, or the plan can be
  /// folded.
  [[nodiscard]] const RunnablePlan& get(const CollectiveCall& call, LayoutId layout, Member period);
  /// The plan for a call with a traffic matrix; sets `query.seed`. `servers`: by member. Reference-counted by take() and
  /// give_back(); the last 16 idle plans are kept. A limit is needed because traffic that changes from call to call would
  /// fill the memory with plans.
  [[nodiscard]] const RunnablePlan& take(const CollectiveCall& call, DemandQuery query,
                                         std::span<const std::uint32_t> servers, LayoutId layout = 0);
  void give_back(DemandQuery query);
  /// The FLOPs of a computation that follows a traffic matrix; sets `query.seed`.
  [[nodiscard]] double flops(DemandQuery query, Member member) const;

  /// The choices of "auto" and their reasons: one line for each kind of call.
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
  struct Layout {
    std::vector<MemberPlace> places{};
    MemberBox box{};
    friend auto operator<=>(const Layout&, const Layout&) = default;
  };
  [[nodiscard]] bool places_matter(CollectiveOp op) const {
    return options_.grids || options_.costs.optical() || algorithms_.uses_places(op);
  }
  std::vector<Layout> layouts_{{}};
  std::map<Layout, LayoutId> layout_ids_;
  std::vector<std::string> choices_;
  std::map<Key, RunnablePlan> plans_;
  std::map<DemandQuery, DemandPlan> demand_plans_;
  std::deque<DemandQuery> idle_;  ///< plans without a user, the least recently used first
};

}  // namespace photonrail::execution
