// The ledger goes over many steps and checkpoints in one piece: the same to the picosecond as one step after another.
#include "studies/goodput/process/work_ledger.hpp"
#include "photonrail/core/random.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

namespace photonrail::test {
namespace {

using goodput::TimeUse;
using goodput::WorkLedger;

LongTime ps(std::int64_t count) { return LongTime(Duration{count}); }

/// The rules of the ledger, one step at a time, in whole numbers of picoseconds.
class StepByStep {
 public:
  explicit StepByStep(const WorkLedger::Plan& plan) : plan_(plan) {}

  void set_speed(std::int64_t step, std::int64_t credit) {
    if (elapsed_ > 0) left_ = (left_ * step + step_ - 1) / step_;
    step_ = step;
    credit_ = credit;
  }

  std::int64_t advance(std::int64_t now, std::int64_t until) {
    std::int64_t unchecked = 0;  // steps that follow before the checkpoint that is due is looked at again
    while (now < until) {
      if (stalled_) {
        const std::int64_t length = std::min(stall_left_, until - now);
        checkpoint_ += length;
        stall_left_ -= length;
        now += length;
        if (stall_left_ == 0) end_checkpoint(now);
        continue;
      }
      if (elapsed_ == 0) {
        if (plan_.target > 0 && steps_ >= plan_.target) return now;
        if (unchecked == 0) settle(now);
        if (unchecked == 0 && since_ >= plan_.interval && copy_until_ < 0) {
          since_ = 0;
          stalled_ = true;
          stall_left_ = count(plan_.stall);
          if (stall_left_ == 0) end_checkpoint(now);
          continue;
        }
        if (unchecked == 0 && since_ >= plan_.interval)
          unchecked = std::min((copy_until_ - now) / step_ + 1, (until - now) / step_);
        left_ = step_;
      }
      const std::int64_t length = std::min(left_, until - now);
      elapsed_ += length;
      left_ -= length;
      now += length;
      if (left_ > 0) continue;
      const std::int64_t credit = std::min(credit_, elapsed_);
      tentative_ += credit;
      degraded_ += elapsed_ - credit;
      elapsed_ = 0;
      ++steps_;
      ++since_;
      if (unchecked > 0) --unchecked;
    }
    return now;
  }

  void fail(std::int64_t now) {
    settle(now);
    copy_until_ = -1;
    stalled_ = false;
    lost_ += elapsed_ + tentative_;
    elapsed_ = 0;
    tentative_ = 0;
    steps_ = durable_steps_;
    since_ = 0;
  }

  void expect_equal(WorkLedger& ledger, std::int64_t now, const std::string& where) {
    settle(now);
    EXPECT_EQ(ledger.durable(ps(now)).steps, durable_steps_) << where;
    EXPECT_EQ(ledger.steps(), steps_) << where;
    EXPECT_EQ(ledger.at_risk(), ps(tentative_)) << where;
    EXPECT_EQ(ledger.books()[TimeUse::kCheckpoint], ps(checkpoint_)) << where;
    EXPECT_EQ(ledger.books()[TimeUse::kDegraded], ps(degraded_)) << where;
    EXPECT_EQ(ledger.books()[TimeUse::kLost], ps(lost_)) << where;
  }

 private:
  static std::int64_t count(LongTime t) { return t.whole(ps(1)); }

  void end_checkpoint(std::int64_t now) {
    stalled_ = false;
    copy_until_ = now + count(plan_.copy);
    copy_steps_ = steps_;
    copy_credit_ = tentative_;
    settle(now);
  }
  void settle(std::int64_t now) {
    if (copy_until_ < 0 || copy_until_ > now) return;
    durable_steps_ = copy_steps_;
    tentative_ -= copy_credit_;
    copy_until_ = -1;
  }

  WorkLedger::Plan plan_;
  std::int64_t step_ = 0, credit_ = 0, elapsed_ = 0, left_ = 0, stall_left_ = 0;
  std::int64_t steps_ = 0, since_ = 0, durable_steps_ = 0, tentative_ = 0;
  std::int64_t copy_until_ = -1, copy_steps_ = 0, copy_credit_ = 0;
  std::int64_t checkpoint_ = 0, degraded_ = 0, lost_ = 0;
  bool stalled_ = false;
};

TEST(WorkLedger, IsTheSameAsOneStepAfterAnother) {
  for (std::uint64_t seed = 1; seed <= test_cases(3000); ++seed) {
    RandomStream random(seed, "ledger");
    const auto up_to = [&](std::uint64_t n) { return static_cast<std::int64_t>(random.below(n + 1)); };
    WorkLedger::Plan plan;
    plan.interval = 1 + up_to(4);
    plan.stall = ps(random.below(2) == 0 ? 0 : up_to(9));
    plan.copy = ps(random.below(2) == 0 ? 0 : up_to(60));
    if (random.below(3) == 0) plan.target = 1 + up_to(300);
    WorkLedger ledger(plan);
    StepByStep reference(plan);
    std::int64_t now = 0;
    for (int event = 0; event < 8 && !ledger.finished(); ++event) {
      const std::int64_t step = 1 + up_to(12);
      const std::int64_t credit = std::min(step, 1 + up_to(12));
      ledger.set_speed({ps(step), ps(credit)});
      reference.set_speed(step, credit);
      const std::int64_t until = now + up_to(1500);
      const LongTime at = ledger.advance(ps(now), ps(until), false);
      const std::int64_t there = reference.advance(now, until);
      ASSERT_EQ(at, ps(there)) << "seed " << seed << ", event " << event;
      now = there;
      if (random.below(2) == 0) {
        static_cast<void>(ledger.interrupt(ps(now)));
        static_cast<void>(ledger.roll_back());
        reference.fail(now);
      }
      reference.expect_equal(ledger, now, "seed " + std::to_string(seed) + ", event " + std::to_string(event));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// 36,500 days of a step of 20 ns with a checkpoint after each: 1.6e17 steps, which no call could go over one by one.
TEST(WorkLedger, WalksAPieceForACallAndNotForAStep) {
  for (const std::int64_t copy : {0, 90'000}) {
    for (const std::int64_t stall : {0, 1}) {
      WorkLedger ledger({1, ps(stall), ps(copy), 0});
      ledger.set_speed({ps(20'000), ps(20'000)});
      const LongTime end = LongTime::from_days(36500.0);
      EXPECT_EQ(ledger.advance({}, end, false), end);
      EXPECT_GT(ledger.steps(), std::int64_t{20'000'000'000'000'000}) << copy << ", " << stall;
    }
  }
}

}  // namespace
}  // namespace photonrail::test
