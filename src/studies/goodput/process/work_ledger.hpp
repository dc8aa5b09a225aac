// The work of a job: steps, checkpoints and what a failure takes of them.
#pragma once

#include "photonrail/study/goodput/history.hpp"

#include <cstdint>
#include <optional>

namespace photonrail::goodput {

/// Steps go on at the current speed; after every `interval` of them comes a checkpoint. Every picosecond that advance()
/// is given is booked once, at the latest by close().
class WorkLedger {
 public:
  struct Plan {
    std::int64_t interval = 1;  ///< steps between two checkpoints
    LongTime stall{};
    LongTime copy{};
    std::int64_t target = 0;  ///< steps of the whole job; 0: no end
  };
  struct Speed {
    LongTime step{};    ///< more than 0
    LongTime credit{};  ///< what the work of such a step takes on a healthy cluster
  };
  /// Work that is kept up to some point.
  struct Mark {
    std::int64_t steps = 0;
    LongTime credit{};
  };

  explicit WorkLedger(const Plan& plan) : plan_(plan) {}

  /// The part of a step in flight that is left goes on at the new speed.
  void set_speed(const Speed& speed);
  /// Works from `now` to `until`, or until `to_boundary` and a step has ended, or all steps are done; returns that instant.
  [[nodiscard]] LongTime advance(LongTime now, LongTime until, bool to_boundary);
  [[nodiscard]] bool at_boundary() const { return elapsed_ == LongTime{}; }
  [[nodiscard]] bool finished() const { return plan_.target > 0 && steps_ >= plan_.target; }

  /// The job stops: the step in flight is lost. A copy of a checkpoint that is not complete at `now` is lost too.
  /// Returns what was lost.
  LongTime interrupt(LongTime now);
  /// After interrupt(): what is not in a durable checkpoint is lost. Returns what was lost.
  LongTime roll_back();
  /// The state of the last durable checkpoint, to roll back to later when results prove wrong from here on.
  [[nodiscard]] Mark durable(LongTime now);
  /// After interrupt(): everything after `mark` is lost, in checkpoints too. Returns what was lost.
  LongTime roll_back_to(const Mark& mark);
  /// A checkpoint without a stall, at a boundary: of a planned pause, whose length has it.
  void save();
  [[nodiscard]] LongTime at_risk() const { return tentative_; }

  void book(TimeUse use, LongTime length) { books_[use] += length; }
  /// The end of the history: the step in flight counts by its share.
  void close();
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] const TimeBooks& books() const { return books_; }  ///< complete after close()

 private:
  struct Copy {
    LongTime done{};
    Mark mark{};
  };

  void settle(LongTime now);
  LongTime stall(LongTime now, LongTime until);
  LongTime skip_cycles(LongTime now, LongTime until);
  [[nodiscard]] std::int64_t steps_of_cycle() const;
  [[nodiscard]] bool checkpoint_due(LongTime now);
  void begin_checkpoint(LongTime now);
  void end_checkpoint(LongTime now);
  LongTime whole_steps(LongTime now, LongTime until);
  LongTime part_of_step(LongTime now, LongTime until);
  void credit_steps(std::int64_t steps, LongTime wall);

  Plan plan_;
  Speed speed_{};
  TimeBooks books_{};      // but productive time
  LongTime elapsed_{};     // of the step in flight, not booked yet
  LongTime left_{};        // of it, at the current speed
  LongTime stall_left_{};  // of a checkpoint in progress
  bool stalled_ = false;   // a checkpoint is in progress
  std::int64_t steps_ = 0;
  std::int64_t since_ = 0;  // steps since the last checkpoint began
  Mark durable_{};
  LongTime tentative_{};  // credit after durable_
  std::optional<Copy> copy_;
};

}  // namespace photonrail::goodput
