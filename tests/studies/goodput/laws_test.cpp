// Laws of recovery and spare-placement policies, over random scenarios: no broken part in a running job, no job that waits
// while it could go on, books that add up. For the built-in policies, and one that errs on purpose.
#include "photonrail/error.hpp"
#include "studies/goodput/specs.hpp"
#include "support/errors.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>

#include <set>

namespace photonrail::test {
namespace {

using goodput::PolicyTable;

class LawObserver : public goodput::HistoryObserver {
 public:
  explicit LawObserver(const GoodputSpec& spec) : spec_(spec) {}

  void period(const goodput::Period& p) override {
    EXPECT_EQ(p.from, last_);
    EXPECT_LT(p.from, p.to);
    last_ = p.to;
  }
  void places(LongTime, bool running, const std::vector<std::uint32_t>& server_at, const std::vector<std::uint32_t>& down,
              const std::vector<bool>& dropped) override {
    const std::set<std::uint32_t> distinct(server_at.begin(), server_at.end());
    EXPECT_EQ(distinct.size(), server_at.size()) << "a server is at two places";
    if (!running) return;
    const std::uint32_t per_replica = spec_.job.servers / spec_.job.replicas;
    std::uint32_t active = 0;
    for (std::uint32_t p = 0; p < server_at.size(); ++p) {
      if (dropped[p / per_replica]) continue;
      ++active;
      EXPECT_EQ(down[server_at[p]], 0u) << "a running job uses a broken server";
    }
    EXPECT_GE(active, spec_.job.min_replicas * per_replica);
  }

 private:
  const GoodputSpec& spec_;
  LongTime last_{};
};

GoodputSpec drawn(std::uint64_t seed) {
  RandomStream random(seed, "laws");
  GoodputSpec spec;
  const std::uint32_t per_replica = 1 + static_cast<std::uint32_t>(random.below(4));
  spec.job.replicas = 1 + static_cast<std::uint32_t>(random.below(6));
  spec.job.servers = spec.job.replicas * per_replica;
  spec.job.min_replicas = 1 + static_cast<std::uint32_t>(random.below(spec.job.replicas));
  spec.spares.servers_per_rack = static_cast<std::uint32_t>(random.below(spec.job.servers + 1));
  spec.spares.per_rack = static_cast<std::uint32_t>(random.below(3));
  spec.spares.anywhere = static_cast<std::uint32_t>(random.below(5));
  spec.days = 3.0;
  for (std::uint64_t i = 0, n = 1 + random.below(3); i < n; ++i) {
    FailureSource source = servers_fail(86400.0 * (0.5 + 5.0 * random.uniform()));
    source.name = "source " + std::to_string(i);
    if (random.below(3) == 0)
      source.repair = RandomTime::exponential(3600.0 * 20.0 * random.uniform());
    else if (random.below(3) != 0)
      source.repair = RandomTime::constant(3600.0 * static_cast<double>(random.below(50)));
    source.detection = RandomTime::constant(static_cast<double>(random.below(100)));
    if (random.below(4) == 0)
      source.time_to_failure = {RandomTime::Law::kWeibull, source.time_to_failure.mean_s, 0.6, 0, 0, {}};
    if (random.below(5) == 0) {
      source.per_server = 0;
      source.servers_per_part = 1 + static_cast<std::uint32_t>(random.below(spec.job.servers));
    }
    if (source.per_server != 0 && random.below(4) == 0) {
      source.effect = goodput::FailureEffect::kSlow;
      source.degradation = goodput::Degradation::kCompute;
      source.factor = 1.0 + random.uniform();
    } else if (random.below(5) == 0) {
      source.effect = goodput::FailureEffect::kSilent;
    }
    spec.failures.push_back(source);
  }
  for (const auto action : {RecoveryAction::kSwapInRack, RecoveryAction::kSwap, RecoveryAction::kMoveRack,
                            RecoveryAction::kDropReplica, RecoveryAction::kRestart}) {
    if (random.below(2) == 0) continue;
    spec.recovery.push_back(option(action, static_cast<double>(random.below(2000)),
                                   random.below(2) == 0 ? Rollback::kStep : Rollback::kCheckpoint));
    spec.recovery.back().for_slow = random.below(2) == 0;
  }
  spec.recovery.push_back(option(RecoveryAction::kWait, 100.0));
  spec.checkpoint = {goodput::IntervalRule::kYoung, 0.0, static_cast<double>(random.below(60)),
                     static_cast<double>(random.below(600))};
  if (random.below(4) == 0) spec.maintenance = {0.7, RandomTime::constant(1800.0)};
  return spec;
}

TEST(PolicyLaws, HoldForTheBuiltInsOverRandomScenarios) {
  const PolicyTable table;
  for (std::uint64_t seed = 1; seed <= test_cases(300); ++seed) {
    GoodputSpec spec = drawn(seed);
    for (const auto& recovery : table.recovery) {
      for (const auto& placement : table.placement) {
        spec.policy = recovery.name;
        spec.spare_placement = placement.name;
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + spec.policy + ", " + spec.spare_placement);
        LawObserver laws(spec);
        const History history = history_of(spec, 11.0, seed, &laws);
        EXPECT_EQ(history.books.total(), LongTime::from_days(spec.days));
      }
    }
  }
}

// A job whose every failure can be repaired at once never waits.
TEST(PolicyLaws, AJobThatCouldGoOnDoesNotWait) {
  GoodputSpec spec = one_server(3600.0, 600.0, 0.0, 60.0, 30.0);
  for (const auto& recovery : PolicyTable{}.recovery) {
    spec.policy = recovery.name;
    EXPECT_EQ(history_of(spec).books[TimeUse::kWaiting], LongTime{}) << recovery.name;
  }
}

// The same failures hit the job whatever spares there are: more spares never cost productive time, as recoveries take no
// time here, and a spare that fails idle does no harm.
TEST(PolicyLaws, MoreSparesNeverLowerTheGoodputOfTheJob) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    GoodputSpec spec;
    spec.job.servers = 20;
    spec.days = 100.0;
    spec.failures = {servers_fail(20.0 * 86400.0, 2.0 * 86400.0)};
    spec.recovery = {option(RecoveryAction::kSwap, 0.0, Rollback::kStep),
                     option(RecoveryAction::kWait, 0.0, Rollback::kStep)};
    double before = 0.0;
    for (const std::uint32_t spares : {0U, 1U, 2U, 4U, 8U, 16U}) {
      spec.spares.anywhere = spares;
      const double ettr = history_of(spec, 10.0, seed).ettr();
      EXPECT_GE(ettr, before - 0.002) << seed << ", "
                                      << spares;  // at most a step a failure: 500 x 10 s of 100 days are 0.06 %
      before = ettr;
    }
  }
}

class NoAnswer : public goodput::RecoveryPolicy {
 public:
  std::optional<std::size_t> decide(const goodput::RecoveryView& view) const override {
    for (std::size_t i = 0; i < view.options.size(); ++i) {
      if (!view.options[i].possible) return i;
    }
    return std::nullopt;
  }
};

TEST(PolicyLaws, APolicyThatChoosesTheImpossibleIsAnError) {
  PolicyTable table;
  table.recovery.push_back({"no_answer", "", std::make_shared<NoAnswer>()});
  GoodputSpec spec = one_server(3600.0, 600.0, 0.0, 60.0, 30.0);
  spec.policy = "no_answer";
  ConstantSteps steps(spec, from_seconds(1.0));
  EXPECT_EQ(error_of([&] { static_cast<void>(goodput::run_history(spec, steps, 1, table)); }).where(),
            "reliability.policy");
}

// A rack of 2 moves to the idle rack when one of its servers fails for good; the next failure finds none.
TEST(Recovery, ARackMovesAsAWhole) {
  GoodputSpec spec;
  spec.job.servers = 4;
  spec.spares = {2, 0, 2};
  spec.days = 1.0;
  spec.recovery = {option(RecoveryAction::kMoveRack, 10.0), option(RecoveryAction::kWait, 0.0)};
  spec.trace = goodput::FaultTrace{{{0.1, 9.0, 0, "x"}, {0.2, 0.5, 2, "x"}, {0.3, 0.6, 1, "x"}}, false, {}};
  const History history = history_of(spec);
  EXPECT_EQ(history.swaps, 1u);
  // The second fault waits from 0.2 to 0.5 days; the third is of a server that the job has left.
  EXPECT_EQ(history.failures, 2u);
  EXPECT_EQ(history.books[TimeUse::kWaiting], LongTime::from_days(0.3));
}

// Two of four replicas lose a server; a minimum of three makes the second failure wait.
TEST(Recovery, ReplicasAreDroppedDownToTheMinimumAndRejoin) {
  GoodputSpec spec;
  spec.job = {4, 8, 4, 3};
  spec.days = 1.0;
  RecoveryOption drop = option(RecoveryAction::kDropReplica, 0.0, Rollback::kStep);
  drop.rejoin = {{"rejoin", RandomTime::constant(864.0)}};
  spec.recovery = {drop, option(RecoveryAction::kWait, 0.0, Rollback::kStep)};
  spec.trace = goodput::FaultTrace{{{0.1, 0.6, 0, "x"}, {0.2, 0.3, 2, "x"}}, false, {}};
  const History history = history_of(spec);
  EXPECT_EQ(history.drops, 1u);
  EXPECT_NEAR(history.books[TimeUse::kWaiting].days(), 0.1, 1e-9);
  // A quarter of the work is missing from 0.1 to 0.2 and from 0.3 to 0.6 days; rejoining takes 0.01 days.
  EXPECT_NEAR(history.books[TimeUse::kDegraded].days(), 0.1, 1e-4);
  EXPECT_NEAR(history.books[TimeUse::kRecovering].days(), 0.01, 1e-9);
}

// Wrong results from 0.2 to 0.5 days: 0.3 days and what was done since the checkpoint before are lost.
TEST(Recovery, SilentCorruptionTakesTheCheckpointsAfterIt) {
  GoodputSpec spec = one_server(1.0, 600.0, 0.0, 0.0, 0.9);
  spec.failures[0].effect = goodput::FailureEffect::kSilent;
  spec.failures[0].time_to_failure = RandomTime::constant(0.35 * 86400.0);
  spec.failures[0].detection = RandomTime::constant(0.3 * 86400.0);
  const History history = history_of(spec);
  // The failure at 0.35 days is found at 0.65, when 0.35 minus the checkpoint at 50 x 600 s = 30,000 s is left.
  EXPECT_NEAR(history.books[TimeUse::kLost].seconds(), 0.65 * 86400.0 - 30'000.0, 1.0);
  EXPECT_EQ(history.failures, 1u);
}

// The clock of a part begins anew once, when it works again: failure k is after 20 k hours and k - 1 times 11 minutes, of
// which the 35th lies in 30 days, at 706.2 hours.
TEST(Recovery, APartThatCorruptsSilentlyHasOneClock) {
  GoodputSpec spec = one_server(1.0, 600.0, 0.0, 0.0, 30.0);
  spec.failures[0].effect = goodput::FailureEffect::kSilent;
  spec.failures[0].time_to_failure = RandomTime::constant(20.0 * 3600.0);
  spec.failures[0].detection = RandomTime::constant(600.0);
  spec.failures[0].repair = RandomTime::constant(60.0);
  EXPECT_EQ(history_of(spec).sources[0].failures, 35u);
}

}  // namespace
}  // namespace photonrail::test
