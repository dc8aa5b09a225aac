// Communication lanes: a lane runs one operation at a time, or, where collectives run together, those of one communicator.
// One lane per communicator, or one per GPU for all its operations.
//
// An operation takes its lanes when every member has arrived, and keeps them while it waits for circuits and while it runs.
// It never holds a lane while a member is missing, as a runtime that agrees on what is ready: a trace whose ranks
// come to their operations in different orders cannot lock itself up by that alone. Receives take no lane: posting one
// costs nothing. A member that the operation starts without takes no lane of its own for it either.
#pragma once

#include "execution/critical_path.hpp"
#include "execution/operation.hpp"
#include "folding/order_ambiguity.hpp"
#include "photonrail/execution.hpp"

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace photonrail::execution {

class Lanes {
 public:
  /// Ready operations start in this order: iteration, lowest task id, and what else the programs say; what they do not tell
  /// apart, in the order of the first arrivals.
  struct Ready {
    std::uint32_t iteration;
    Time due;  ///< under RankBehaviour::earliest_due_first; the same for all otherwise
    TaskId task;
    TaskId last;  ///< the highest task id
    std::uint32_t tag;
    std::uint32_t match;
    Dimension dimension;
    std::uint32_t sequence;
    OpId op;

    [[nodiscard]] bool same_to_programs(const Ready& o) const {
      return iteration == o.iteration && due == o.due && task == o.task && last == o.last && tag == o.tag &&
             match == o.match && dimension == o.dimension;
    }

    friend auto operator<=>(const Ready&, const Ready&) = default;
  };

  /// `ambiguity`: of a folded run, else null. It must outlive the object, and gets a report when the programs do not order
  /// two operations on one lane.
  Lanes(const TaskGraph& graph, const ExecutorSpec& spec, folding::OrderAmbiguity* ambiguity)
      : per_communicator_(spec.comm_lanes == CommLanes::kPerCommunicator),
        together_(spec.concurrent == ConcurrentCollectives::kTogether),
        ambiguity_(ambiguity),
        lanes_(per_communicator_ ? graph.communicators().size() : graph.ranks()) {}

  /// Returns the key of an operation as it becomes ready; members that come later would change it.
  [[nodiscard]] static Ready key(OpId id, const Operation& op);

  /// The operation wants its lanes: it is among the next candidates.
  void enqueue(OpId id, const Operation& op);
  /// Takes all lanes of a candidate, if all are free for it, and returns what freed the last of them; else nothing.
  [[nodiscard]] std::optional<CriticalPathTag> take(const Ready& candidate, const Operation& op);
  /// A member is done; `last`: all of them are. Frees what the operation no longer needs.
  void leave(const Operation& op, Member member, bool last, CriticalPathTag cause);

  /// Returns true when all lanes are free for the operation, which waits for them: no operation has them, or only
  /// collectives that it runs together with, and none that is to start before it waits for them.
  [[nodiscard]] bool are_free(const Ready& ready, const Operation& op);
  /// The operation leaves its lanes to others and waits for them again.
  void yield(OpId id, const Operation& op);

  /// Operations that may be able to start now, in order. Empties the list. Valid until the next call.
  [[nodiscard]] const std::vector<Ready>& candidates();
  [[nodiscard]] bool has_candidates() const { return !candidates_.empty(); }

 private:
  struct Lane {
    std::uint32_t users = 0;
    CommunicatorId communicator{};  ///< of the users
    CriticalPathTag freed;
    std::vector<Ready> waiting;  ///< ascending
  };

  template <class Visit>
  void each_lane(const Operation& op, Visit&& visit);
  /// Returns true when collectives of the operation's communicator run together with it. Messages of a pair stay in order.
  [[nodiscard]] bool shares(const Operation& op) const { return together_ && !op.communicator->point_to_point; }
  void free(Lane& lane, CriticalPathTag cause);
  void check_order(const Lane& lane, const Ready& ready) const;

  bool per_communicator_;
  bool together_;
  folding::OrderAmbiguity* ambiguity_;
  std::vector<Lane> lanes_;
  std::vector<Ready> candidates_;  // in any order, some twice
  std::vector<Ready> offered_;     // by candidates()
};

}  // namespace photonrail::execution
