// The history is what a run did, as far as its critical path needs it: computations, and for each operation when its
// members arrived, waited for circuits, ran and were done.
#pragma once

#include "photonrail/observer.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::execution {

/// The interval of a computation.
struct ComputationRecord {
  Time start{};
  Time finish{};
  RankId rank;
  TaskId task;
  std::uint32_t iteration = 0;
};

/// The part of a member in an operation.
struct MemberRecord {
  RankId rank;
  TaskId task;
  std::uint32_t iteration = 0;
  Time arrived = Time::never();
  Time started = Time::never();  ///< when it first ran or waited for circuits
  Time done = Time::never();
  std::vector<std::pair<Time, Time>> waits{};  ///< for circuits, ascending
  Time waits_since = Time::never();
};

struct OperationRecord {
  std::uint32_t sequence = 0;
  CommunicatorId communicator;
  Time started = Time::never();  ///< when its first member ran or waited for circuits
  std::vector<MemberRecord> members{};
  std::size_t done = 0;  ///< members
};

/// A task of a rank completed: a computation, or the rank's part in an operation.
struct Completion {
  static constexpr std::uint32_t kComputation = ~std::uint32_t{0};

  Time at{};
  std::uint32_t record = 0;             ///< of computations() or operations()
  std::uint32_t member = kComputation;  ///< of the operation's `members`
  [[nodiscard]] bool is_computation() const { return member == kComputation; }
};

class RunHistory : public Observer {
 public:
  /// `graph` must outlive the object. `buffered`: ExecutorSpec::buffered_send.
  RunHistory(const TaskGraph& graph, Bytes buffered, std::uint32_t iterations);

  void compute(const ComputeEvent& event) override;
  void operation(const OperationEvent& event) override;
  void iteration(RankId rank, std::uint32_t finished, Time at) override;

  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<ComputationRecord>& computations() const { return computations_; }
  [[nodiscard]] const std::vector<OperationRecord>& operations() const { return operations_; }
  /// The completions of a rank in their order.
  [[nodiscard]] const std::vector<Completion>& completions(RankId rank) const { return completed_[rank.index()]; }
  /// The position in completions(rank) of a task's completion; none for a task that takes no part in the run, as an
  /// operation of one member.
  [[nodiscard]] std::optional<std::uint32_t> position(RankId rank, TaskId task, std::uint32_t iteration) const;
  /// When the rank began an iteration.
  [[nodiscard]] Time began(RankId rank, std::uint32_t iteration) const {
    return iteration == 0 ? Time{} : iteration_ends_[rank.index()][iteration - 1];
  }
  /// The rank whose last iteration ended last; the lowest of several.
  [[nodiscard]] RankId last_rank() const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void complete(RankId rank, TaskId task, std::uint32_t iteration, Completion completion);
  [[nodiscard]] bool is_buffered(RankId rank, TaskId task) const;
  void change(OperationRecord& record, MemberRecord& member, const OperationEvent& event);

  const TaskGraph& graph_;
  const Bytes buffered_;
  std::size_t tasks_ = 0;             // of an iteration, all ranks
  std::vector<std::size_t> offsets_;  // by rank, of its first task
  std::vector<ComputationRecord> computations_;
  std::vector<OperationRecord> operations_;
  std::map<std::uint32_t, std::uint32_t> open_;     // by sequence: into operations_
  std::vector<std::vector<Completion>> completed_;  // by rank
  std::vector<std::uint32_t> positions_;            // by iteration, rank and task: into completed_ of the rank
  std::vector<std::vector<Time>> iteration_ends_;   // by rank
};

}  // namespace photonrail::execution
