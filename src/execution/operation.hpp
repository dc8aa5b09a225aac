// An operation in progress: one collective, or one send with its receive.
#pragma once

#include "fabric/fabric.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/task_graph.hpp"
#include "execution/critical_path.hpp"
#include "execution/plan_cache.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace photonrail {

using OpId = std::uint32_t;
inline constexpr OpId kNoOp = ~OpId{0};

/// Members that call with equal keys meet in one operation.
struct OperationKey {
  CommunicatorId communicator;
  std::uint32_t tag = 0;
  std::uint32_t match = 0;
  std::uint32_t iteration = 0;

  friend bool operator==(const OperationKey&, const OperationKey&) = default;
};

/// The way from one member to another, for as long as a round lasts.
struct Link {
  MemberPair pair;
  Path path;
  Network::ChannelId channel = Network::kNone;
  RailId rail = RailId::none();  ///< optical: the rail whose circuits are held
  OpticalRail::HoldId hold = 0;
  bool held = false;
  // Served pair by pair:
  std::uint32_t on_way = 0;             ///< sends posted and not delivered
  std::vector<std::uint64_t> parked{};  ///< tags of sends that wait for the circuits
};

/// A round of circuits that some member has reached and some has not left. Only operations on optical rails have rounds.
struct Round {
  std::uint32_t index = 0;
  std::uint32_t participants = 0;
  std::uint32_t reached = 0;
  bool open = false;                      ///< the circuits are held
  bool waiting = false;                   ///< every participant reached it; only circuits are missing
  std::vector<Duration> waited_before;    ///< by member: what its rank had waited for circuits when the round began to wait
  std::uint32_t work = 0;                 ///< sends not delivered
  std::vector<std::uint32_t> sends_left;  ///< by member
  std::vector<std::uint32_t> work_left;   ///< by member: sends and receives
  std::vector<Link> links;                ///< ascending by pair
  std::vector<SendIndex> parked;          ///< released before the round opened
  // Served pair by pair, by member: its sends and receives on their way, and those that wait for circuits.
  std::vector<std::uint32_t> moving;
  std::vector<std::uint32_t> lacking;

  /// Served pair by pair: the member has nothing but sends and receives that wait for circuits.
  [[nodiscard]] bool waits(Member m) const { return lacking[m] > 0 && moving[m] == 0; }
};

/// A demand at one rail's controller: which round it is for, and its place in ControlPlane's table.
struct OpenDemand {
  std::uint32_t round = 0;
  std::uint32_t slot = 0;
};

/// Where the members of each communicator are. In a folded run (sim/folding.hpp) a communicator has fewer members than
/// GPUs, and stands for several.
struct MemberPlacement {
  std::vector<std::size_t> offsets{0};      ///< by communicator, one more: into `gpus`
  std::vector<GpuId> gpus;                  ///< by member of the whole group
  std::vector<std::uint64_t> copies;        ///< by communicator: for how many it stands; empty: each for itself
  std::vector<std::vector<Member>> places;  ///< folded: by rank and slot

  /// Of a graph that is run as it is.
  [[nodiscard]] static MemberPlacement of(const TaskGraph& graph, std::span<const GpuId> gpu_of_rank);
};

struct Operation {
  enum class State : std::uint8_t { kFree, kGathering, kReady, kStarted };

  State state = State::kFree;
  OperationKey key;
  std::uint32_t sequence = 0;
  CollectiveOp op = CollectiveOp::kSend;
  const Communicator* communicator = nullptr;
  std::span<const GpuId> gpus;  ///< by member of the whole group
  Member ranks = 0;             ///< members that are run; folded: each stands for gpus.size() / ranks of one operation
  std::uint64_t copies = 1;     ///< folded: for how many operations it stands
  std::uint32_t demand = 0;     ///< its number, or 0
  CollectiveCall call;
  const RunnablePlan* runnable = nullptr;  ///< null while it is open whom the plan takes to be late
  bool crosses = false;                    ///< some pair leaves its server
  bool optical = false;                    ///< ... over circuits

  std::vector<TaskId> tasks;  ///< by member; none: has not arrived
  std::uint32_t arrived = 0;
  std::uint32_t needed = 0;  ///< members that have to come before it can start
  bool sender_done = false;  ///< a buffered send: its sender went on
  CriticalPathTag cause;               ///< what the operation waited for last
  Time expected{};           ///< see CircuitRequest
  Time due{};                ///< Time::max(): not known
  Time lane_due{};           ///< by which it is ranked among those that want its lanes; Time::max(): not at all
  bool yielded = false;      ///< it waits for circuits and has left its lanes

  std::vector<std::uint32_t> left;  ///< by member: sends and receives to go
  std::uint32_t sends_to_go = 0;
  std::uint32_t members_to_go = 0;
  std::vector<Link> links;              ///< not optical and one round: ascending by pair
  std::vector<std::uint16_t> arrivals;  ///< by send, when some send waits for more than one
  std::vector<Round> rounds;
  // Started, while a member that the plan starts without is missing:
  std::uint32_t in_flight = 0;
  bool resting = false;           ///< nothing can move until it comes
  std::vector<SendIndex> parked;  ///< not optical: released, but an end is missing

  std::vector<OpenDemand> demands;  ///< what the control plane holds open for it

  [[nodiscard]] Dimension dimension() const { return communicator->dimension; }
  [[nodiscard]] Member members() const { return ranks; }
  /// The member that is run for one of the whole group.
  [[nodiscard]] Member run_for(Member m) const { return m < ranks ? m : m % ranks; }
  [[nodiscard]] DemandQuery demand_query() const { return {key.communicator, demand, key.iteration}; }
  [[nodiscard]] RankId rank(Member m) const { return communicator->members[m]; }
  [[nodiscard]] const SendPlan& plan() const { return *runnable->plan; }
  [[nodiscard]] bool takes_part(Member m, std::uint32_t round) const {
    return plan().sends_from(m, round) + plan().sends_to(m, round) > 0;
  }
  [[nodiscard]] bool present(Member m) const { return !tasks[m].is_none(); }
  [[nodiscard]] bool complete() const { return arrived == members(); }
  [[nodiscard]] bool starts_without(Member m) const {
    return runnable != nullptr && runnable->late > 0 && plan().starts_without(m);
  }
  [[nodiscard]] Round* round(std::uint32_t index) {
    for (Round& round : rounds) {
      if (round.index == index) return &round;
    }
    return nullptr;
  }
};

/// A rank's place in an operation.
struct Seat {
  OpId op = kNoOp;
  Member member = 0;
};

/// All operations, by id and by key. References stay valid while an operation lives.
class OperationTable {
 public:
  /// All must outlive the object.
  OperationTable(const TaskGraph& graph, const MemberPlacement& roster, Fabric& fabric, PlanCache& plans);

  [[nodiscard]] Operation& operator[](OpId id) { return pool_[id]; }
  /// Where a rank's task belongs. The operation is made when the first of its members comes.
  [[nodiscard]] Seat seat(RankId rank, const Task& task, std::uint32_t iteration);
  void retire(OpId id);
  /// Takes whoever is missing to be late, and so finds the plan. REQUIRES: the operation has none; one member is missing.
  void settle_straggler(OpId id);
  /// The last member has come.
  void record_last_arrival(OpId id, Member member);

  /// Of a computation that goes with a demand.
  [[nodiscard]] double flops(RankId rank, const Task& task, std::uint32_t iteration) const;

  /// Live operations in the order of their making.
  [[nodiscard]] std::vector<OpId> live() const;
  /// How many GPUs the communicator of a task has.
  [[nodiscard]] std::size_t group_size(RankId rank, const Task& task) const {
    return gpus(graph_.communicator(rank, task.slot)).size();
  }
  /// Whether some pair of the task's operation leaves its server.
  [[nodiscard]] bool crosses(RankId rank, const Task& task) const {
    return crosses_[graph_.communicator(rank, task.slot).index()];
  }

 private:
  [[nodiscard]] OpId find_or_make(const OperationKey& key, const Task& task);
  [[nodiscard]] const RunnablePlan* plan_for(const Operation& op);
  [[nodiscard]] std::optional<Member> expected_straggler(CommunicatorId communicator) const;
  [[nodiscard]] Member member_of(CommunicatorId communicator, RankId rank, const Task& task) const;
  [[nodiscard]] std::span<const GpuId> gpus(CommunicatorId communicator) const {
    return {roster_.gpus.data() + roster_.offsets[communicator.index()],
            roster_.gpus.data() + roster_.offsets[communicator.index() + 1]};
  }

  const TaskGraph& graph_;
  const MemberPlacement& roster_;
  Fabric& fabric_;
  PlanCache& plans_;
  std::vector<std::uint32_t> servers_;            // of the GPUs of roster_, where tasks name demands
  std::vector<bool> crosses_;                     // by communicator
  std::vector<LayoutId> layouts_;                 // by communicator
  std::vector<std::optional<Member>> came_last_;  // by communicator, where it is used to predict
  std::deque<Operation> pool_;
  std::vector<OpId> free_;
  std::vector<std::vector<OpId>> open_;  // by communicator
  std::uint32_t next_sequence_ = 0;
};

}  // namespace photonrail
