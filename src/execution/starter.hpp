// Starts, in the start phase of an instant, what became ready in it: computations, then operations whose lanes are free, in
// the order of the programs.
#pragma once

#include "execution/circuit_service.hpp"
#include "execution/compute_streams.hpp"
#include "execution/issue_order.hpp"
#include "execution/lanes.hpp"
#include "execution/run_context.hpp"
#include "execution/transfers.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace photonrail::execution {

/// The objects that the starter uses. All must outlive it.
struct StartTargets {
  ComputeStreams& streams;
  Transfers& transfers;
  CircuitService& circuits;
  IssueOrder& order;
};

class Starter : public LaneArbiter {
 public:
  Starter(const RunContext& run, const StartTargets& targets, Lanes lanes, bool yields_lanes);

  /// Starts what is ready in the start phase of this instant.
  void schedule();
  /// All members that the operation needs have come: it wants its lanes.
  void enqueue(OpId id);
  /// A member came to an operation that is ready or under way.
  void joined(OpId id, Member member);
  /// A member is done; `last`: all of them are. Frees the lanes.
  void leave(OpId id, Member member, bool last, CriticalPathTag cause);
  /// Records with all that the rank comes to at this instant that it came to the task.
  void record_in_turn(RankId id, TaskId task);

  bool may_take_circuits(OpId op) override;
  void lacks_circuits(OpId op) override;
  void has_circuits(OpId op) override;

 private:
  void start_all(std::uint64_t);
  [[nodiscard]] bool take_lanes(const Lanes::Ready& ready, Operation& op);
  void start_operation(OpId id);
  void account_ready();
  void record_started();

  RunContext run_;
  StartTargets targets_;
  Lanes lanes_;
  bool yields_lanes_;
  std::vector<Lanes::Ready> fresh_;                 // rail operations that became ready at this instant
  std::vector<std::pair<RankId, TaskId>> came_;     // to be recorded: operations that a rank came to at this instant
  std::vector<std::pair<RankId, TaskId>> started_;  // to be recorded: rail operations that started
  bool scheduled_ = false;
};

}  // namespace photonrail::execution
