// The only interface between execution and the control plane. The control plane serves whole rounds (RoundService) or
// single pairs (PairService).
#pragma once

#include "execution/operation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace photonrail::execution {

/// Notified when sends of a round may begin; implemented by Transfers.
class RoundListener {
 public:
  virtual ~RoundListener() = default;
  /// The round's sends may go to CircuitService::send() from now on.
  virtual void round_opened(OpId op, std::uint32_t round) = 0;
};

/// Manages the communication lanes of operations that lack circuits; implemented by Starter.
class LaneArbiter {
 public:
  virtual ~LaneArbiter() = default;
  /// False while the operation has yielded its lanes and other operations occupy them.
  [[nodiscard]] virtual bool may_take_circuits(OpId op) = 0;
  /// The round lacks only its circuits: the operation may yield its lanes to others.
  virtual void lacks_circuits(OpId op) = 0;
  /// The operation has its circuits: takes back the lanes that it yielded.
  virtual void has_circuits(OpId op) = 0;
};

/// Holds what a started operation lacks.
struct MissingCircuits {
  std::string text;         ///< for a deadlock report; "": nothing
  bool impossible = false;  ///< they can never be lit together, whatever else is: the operation is a cause, not a victim

  /// Keeps the first of several that it lacks, but for one that is impossible.
  void keep_worse(MissingCircuits other) {
    if (text.empty() || (other.impossible && !impossible)) *this = std::move(other);
  }
};

/// Provides operations with circuits; implemented by RoundService and PairService.
class CircuitService {
 public:
  virtual ~CircuitService() = default;

  /// Sets the listeners. Both must outlive the object.
  virtual void attach(RoundListener& rounds, LaneArbiter& lanes) = 0;
  /// Requests the circuits of a round from the controllers for a member that needs them now or later. Idempotent. `task`:
  /// the task of the member.
  virtual void request(OpId op, std::uint32_t round, Member member, TaskId task) = 0;
  /// Every participant has reached the round: RoundListener::round_opened follows when the circuits allow it.
  virtual void enter(OpId op, std::uint32_t round) = 0;
  /// Posts a send of an open round, at once or when its pair has a circuit.
  virtual void send(OpId op, const Send& send, std::uint64_t tag) = 0;
  /// A send was delivered. `sender_done`: its sender has no further send in the round; `round_done`: no member has one.
  virtual void leave(OpId op, const Send& send, bool sender_done, bool round_done) = 0;
  /// Tries again to open the operation's first round, whose lanes may have become free.
  virtual void retry(OpId op) = 0;

  /// Sets the number of operations of the job that have bytes in flight.
  virtual void set_running(std::uint32_t operations) = 0;
  /// A task of the rank ended.
  virtual void task_ended(RankId rank) = 0;
  /// The job is done.
  virtual void job_ended() = 0;
  /// The rank's operations before index `next` of its profiled schedule are complete.
  virtual void set_progress(RankId rank, std::uint32_t iteration, std::size_t next) = 0;

  [[nodiscard]] virtual MissingCircuits missing(OpId op) const = 0;
};

}  // namespace photonrail::execution
