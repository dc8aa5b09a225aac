// The table of operations in progress, by number and by key.
#pragma once

#include "execution/arrival_writer.hpp"
#include "execution/launch_table.hpp"
#include "execution/operation.hpp"
#include "fabric/fabric.hpp"
#include "folding/member_placement.hpp"
#include "folding/order_ambiguity.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace photonrail::execution {

/// The operation of a task, and the member of it that its rank is.
struct Seat {
  OpId op = kNoOp;
  Member member = 0;
};

/// Creates and retires operations. References to an operation stay valid until it is retired.
class OperationTable {
 public:
  /// All must outlive the object. `ambiguity`: of a folded run, else null. `launches`: of an agent's workload, whose groups
  /// come by add_group(), else null.
  OperationTable(const TaskGraph& graph, const folding::MemberPlacement& placement, const fabric::Fabric& fabric,
                 PlanCache& plans, folding::OrderAmbiguity* ambiguity, LaunchTable* launches = nullptr);

  /// A communicator of LaunchTable::groups(). REQUIRES: it is the next.
  void add_group(CommunicatorId id);

  [[nodiscard]] const TrafficSource* traffic() const { return plans_.traffic(); }
  [[nodiscard]] Operation& operator[](OpId id) { return *pool_[id]; }
  [[nodiscard]] const Operation& operator[](OpId id) const { return *pool_[id]; }
  /// The operation that a rank's task belongs to. The first task of an operation creates it. `iteration`: or launch.
  [[nodiscard]] Seat seat(RankId rank, const Task& task, std::uint32_t iteration);
  void retire(OpId id);
  /// Declares the one missing member the straggler and selects the plan for it. REQUIRES: the operation has no plan, and
  /// one member is missing.
  void settle_straggler(OpId id);
  [[nodiscard]] ArrivalWriter& arrivals() { return arrivals_; }

  /// The plan of the task's call; null while it depends on a straggler that is not known yet.
  [[nodiscard]] const RunnablePlan* plan_of(RankId rank, const Task& task);
  /// The FLOPs of a computation that follows a traffic matrix.
  [[nodiscard]] double flops(RankId rank, const Task& task, std::uint32_t iteration) const;

  [[nodiscard]] bool any_live() const { return free_.size() + spares_ < pool_.size(); }
  /// Live operations in the order of their creation.
  [[nodiscard]] std::vector<OpId> live() const;
  /// The number of GPUs of the communicator of a task.
  [[nodiscard]] std::size_t group_size(RankId rank, const Task& task, std::uint32_t iteration) const {
    return groups_[communicator_of(rank, task, iteration).index()].gpus.size();
  }
  [[nodiscard]] std::span<const GpuId> gpus(CommunicatorId communicator) const {
    return groups_[communicator.index()].gpus;
  }
  /// Returns true when some pair of the communicator leaves its server.
  [[nodiscard]] bool crosses(CommunicatorId communicator) const { return groups_[communicator.index()].crosses; }
  /// The same of the communicator of a task.
  [[nodiscard]] bool crosses(RankId rank, const Task& task) const { return crosses(graph_.communicator(rank, task.slot)); }

 private:
  // The key beside the number: looking for one reads no other operation.
  struct OpenOperation {
    OperationKey key;
    OpId id = kNoOp;
  };
  // Holds what an arrival reads of its communicator, in one line of the cache. Most communicators have one operation at a
  // time.
  struct alignas(64) Group {
    std::span<const GpuId> gpus;
    const RankId* members = nullptr;
    Member ranks = 0;
    LayoutId layout = 0;
    OpenOperation open;  // kNoOp: none
    bool crosses = false;
    bool point_to_point = false;
    bool more_open = false;  // in more_open_
    OpId spare = kNoOp;      // of a group inside a server: its last operation, which lies in the cache when the next comes
  };

  [[nodiscard]] CommunicatorId communicator_of(RankId rank, const Task& task, std::uint32_t iteration) const {
    if (launches_ == nullptr) [[likely]]
      return graph_.communicator(rank, task.slot);
    return launches_->communicator(rank, task.slot, iteration);
  }
  [[nodiscard]] const Communicator& communicator(CommunicatorId id) const {
    return launches_ == nullptr ? graph_.communicators()[id.index()] : launches_->groups()[id];
  }
  [[nodiscard]] Group group_of(const Communicator& communicator, std::span<const GpuId> gpus) const;
  [[nodiscard]] OpId find(const OperationKey& key) const;
  void open(const OperationKey& key, OpId id);
  void close(CommunicatorId communicator, OpId id);
  [[nodiscard]] OpId find_or_make(const OperationKey& key, const Task& task);
  [[nodiscard]] OpId take(Group& group);
  void identify(OperationIdentity& op, const OperationKey& key, const Task& task);
  [[nodiscard]] const RunnablePlan* plan_for(const OperationIdentity& op);
  [[nodiscard]] std::optional<Member> expected_straggler(CommunicatorId communicator) const;
  [[nodiscard]] Member member_of(CommunicatorId communicator, RankId rank, const Task& task) const;

  const TaskGraph& graph_;
  const folding::MemberPlacement& placement_;
  const fabric::Fabric& fabric_;
  PlanCache& plans_;
  folding::OrderAmbiguity* ambiguity_;
  LaunchTable* launches_;
  std::vector<std::uint32_t> servers_;  // scratch: of the members of an operation with a traffic matrix
  std::vector<Group> groups_;           // by communicator
  ArrivalWriter arrivals_;
  std::vector<std::unique_ptr<Operation>> pool_;
  std::vector<OpId> free_;
  std::size_t spares_ = 0;                             // of groups_
  std::vector<std::vector<OpenOperation>> more_open_;  // by communicator; empty until one has several
  std::uint32_t next_sequence_ = 0;
};

}  // namespace photonrail::execution
