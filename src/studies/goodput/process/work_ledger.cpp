#include "studies/goodput/process/work_ledger.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::goodput {

void WorkLedger::set_speed(const Speed& speed) {
  PHOTONRAIL_CHECK(speed.step > LongTime{});
  if (elapsed_ > LongTime{}) left_ = left_.scaled_up(speed.step, speed_.step);
  speed_ = speed;
}

LongTime WorkLedger::advance(LongTime now, LongTime until, bool to_boundary) {
  bool begins_cycle = false;  // a checkpoint has just ended
  while (now < until) {
    if (stalled_) {
      now = stall(now, until);
      begins_cycle = !stalled_;
      continue;
    }
    if (std::exchange(begins_cycle, false) && !to_boundary) {
      now = skip_cycles(now, until);
      continue;
    }
    if (at_boundary()) {
      if (to_boundary || finished()) return now;
      if (checkpoint_due(now)) {
        begin_checkpoint(now);
        begins_cycle = !stalled_;
        continue;
      }
      if (until - now >= speed_.step) {
        now = whole_steps(now, until);
        continue;
      }
      left_ = speed_.step;
    }
    now = part_of_step(now, until);
  }
  return now;
}

// From the end of a checkpoint to the end of the next: the interval, and what the copy of the first takes beyond it.
std::int64_t WorkLedger::steps_of_cycle() const {
  const LongTime work = speed_.step.times(plan_.interval);
  return plan_.copy > work ? plan_.interval + (plan_.copy - work).whole(speed_.step) + 1 : plan_.interval;
}

// At the end of a checkpoint: goes over all cycles that end before `until` in one piece. They are alike, as the state at
// the end of a checkpoint is: no step in flight, none since the checkpoint, and a copy that has just begun. The last cycle
// ends before `until`, not at it: a checkpoint without a stall that is due at `until` begins in the next call.
LongTime WorkLedger::skip_cycles(LongTime now, LongTime until) {
  const std::int64_t steps = steps_of_cycle();
  const LongTime work = speed_.step.times(steps);
  const LongTime length = work + plan_.stall;
  const LongTime credit = speed_.credit.times(steps);
  std::int64_t cycles = (until - now - LongTime(Duration{1})).whole(length);
  if (plan_.target > 0) cycles = std::min(cycles, (plan_.target - steps_ - 1) / steps);
  if (cycles <= 0) return now;
  now += length.times(cycles);
  steps_ += steps * cycles;
  books_[TimeUse::kDegraded] += (work - credit).times(cycles);
  books_[TimeUse::kCheckpoint] += plan_.stall.times(cycles);
  const LongTime all = durable_.credit + tentative_ + credit.times(cycles);
  const bool copies = plan_.copy > LongTime{};
  durable_ = copies ? Mark{steps_ - steps, all - credit} : Mark{steps_, all};
  tentative_ = all - durable_.credit;
  copy_.reset();
  if (copies) copy_ = Copy{now + plan_.copy, {steps_, all}};
  return now;
}

LongTime WorkLedger::stall(LongTime now, LongTime until) {
  const LongTime length = std::min(stall_left_, until - now);
  books_[TimeUse::kCheckpoint] += length;
  stall_left_ -= length;
  if (stall_left_ == LongTime{}) end_checkpoint(now + length);
  return now + length;
}

bool WorkLedger::checkpoint_due(LongTime now) {
  settle(now);
  return since_ >= plan_.interval && !copy_;  // one copy at a time: the next checkpoint waits for its end
}

void WorkLedger::begin_checkpoint(LongTime now) {
  since_ = 0;
  stalled_ = true;
  stall_left_ = plan_.stall;
  if (stall_left_ == LongTime{}) end_checkpoint(now);
}

void WorkLedger::end_checkpoint(LongTime now) {
  stalled_ = false;
  copy_ = Copy{now + plan_.copy, {steps_, durable_.credit + tentative_}};
  settle(now);
}

void WorkLedger::settle(LongTime now) {
  if (!copy_ || copy_->done > now) return;
  tentative_ -= copy_->mark.credit - durable_.credit;
  durable_ = copy_->mark;
  copy_.reset();
}

void WorkLedger::credit_steps(std::int64_t steps, LongTime wall) {
  const LongTime credit = std::min(speed_.credit.times(steps), wall);
  tentative_ += credit;
  books_[TimeUse::kDegraded] += wall - credit;
  steps_ += steps;
  since_ += steps;
}

LongTime WorkLedger::whole_steps(LongTime now, LongTime until) {
  std::int64_t steps = (until - now).whole(speed_.step);
  if (since_ < plan_.interval) {
    steps = std::min(steps, plan_.interval - since_);
  } else {
    steps = std::min(steps, (copy_->done - now).whole(speed_.step) + 1);  // due, but for the copy
  }
  if (plan_.target > 0) steps = std::min(steps, plan_.target - steps_);
  const LongTime wall = speed_.step.times(steps);
  credit_steps(steps, wall);
  return now + wall;
}

LongTime WorkLedger::part_of_step(LongTime now, LongTime until) {
  const LongTime length = std::min(left_, until - now);
  elapsed_ += length;
  left_ -= length;
  if (left_ == LongTime{}) {
    credit_steps(1, elapsed_);
    elapsed_ = {};
  }
  return now + length;
}

LongTime WorkLedger::interrupt(LongTime now) {
  settle(now);
  copy_.reset();
  stalled_ = false;
  since_ = steps_ - durable_.steps;
  const LongTime lost = elapsed_;
  books_[TimeUse::kLost] += lost;
  elapsed_ = {};
  left_ = {};
  return lost;
}

LongTime WorkLedger::roll_back() { return roll_back_to(durable_); }

WorkLedger::Mark WorkLedger::durable(LongTime now) {
  settle(now);
  return durable_;
}

LongTime WorkLedger::roll_back_to(const Mark& mark) {
  const LongTime lost = durable_.credit + tentative_ - mark.credit;
  books_[TimeUse::kLost] += lost;
  durable_ = mark;
  tentative_ = {};
  steps_ = mark.steps;
  since_ = 0;
  return lost;
}

void WorkLedger::save() {
  PHOTONRAIL_CHECK(at_boundary());
  copy_.reset();
  stalled_ = false;
  durable_ = {steps_, durable_.credit + tentative_};
  tentative_ = {};
  since_ = 0;
}

void WorkLedger::close() {
  if (elapsed_ > LongTime{}) {
    const LongTime credit = std::min(elapsed_.scaled(speed_.credit, speed_.step), elapsed_);
    tentative_ += credit;
    books_[TimeUse::kDegraded] += elapsed_ - credit;
    elapsed_ = {};
  }
  books_[TimeUse::kProductive] = durable_.credit + tentative_;
}

}  // namespace photonrail::goodput
