#include "rl/schedule.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <queue>

namespace photonrail::rl {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

void complete_all(Schedule& schedule, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t s = first; s < first + count; ++s) schedule.complete(s);
}

// Generate, train, refit; nothing overlaps, and no sample is older than the weights.
TEST(Schedule, OnPolicyTakesTurns) {
  Schedule schedule({.batch = 4, .shared = true, .steps = 2});
  for (std::uint32_t step = 0; step < 2; ++step) {
    ASSERT_EQ(schedule.may_begin(), 4u);
    const std::uint64_t first = schedule.begin(4);
    EXPECT_EQ(schedule.may_begin(), 0u);
    schedule.complete(first);
    EXPECT_FALSE(schedule.may_train());
    complete_all(schedule, first + 1, 3);
    ASSERT_TRUE(schedule.may_train());
    EXPECT_THAT(schedule.train().staleness, Each(0u));
    EXPECT_EQ(schedule.may_begin(), 0u);
    EXPECT_FALSE(schedule.may_refit());
    schedule.trained();
    ASSERT_TRUE(schedule.may_refit());
    schedule.refit();
    EXPECT_EQ(schedule.may_begin(), 0u);
    schedule.refitted();
  }
  EXPECT_TRUE(schedule.finished());
  EXPECT_EQ(schedule.may_begin(), 0u);
}

// The second batch is begun while the first is trained, with the weights of before: its staleness is 1.
TEST(Schedule, OneStepOffGeneratesBesideTraining) {
  Schedule schedule({.batch = 4, .ahead = 1.0, .steps = 3});
  complete_all(schedule, schedule.begin(4), 4);
  EXPECT_THAT(schedule.train().staleness, Each(0u));
  const std::uint64_t second = schedule.begin(schedule.may_begin());
  EXPECT_EQ(schedule.in_flight(), 4u);
  schedule.trained();
  EXPECT_FALSE(schedule.may_refit());  // the second batch is in flight
  complete_all(schedule, second, 4);
  EXPECT_EQ(schedule.may_begin(), 0u);  // a third would be two steps off
  ASSERT_TRUE(schedule.may_refit());
  schedule.refit();
  EXPECT_FALSE(schedule.may_train());
  schedule.refitted();
  EXPECT_THAT(schedule.train().staleness, Each(1u));
  EXPECT_EQ(schedule.may_begin(), 4u);
}

// verl: between two syncs at most (1 + staleness) x batch samples; those in flight go on with new weights.
TEST(Schedule, AsynchronousStartsWhatTheThresholdAllows) {
  Schedule schedule({.batch = 4, .ahead = 0.5, .partial = true, .steps = 10});
  EXPECT_EQ(schedule.may_begin(), 6u);
  schedule.begin(6);
  complete_all(schedule, 0, 4);
  schedule.train();
  EXPECT_EQ(schedule.may_begin(), 0u);
  schedule.trained();
  ASSERT_TRUE(schedule.may_refit());  // two are in flight
  schedule.refit();
  schedule.refitted();
  EXPECT_EQ(schedule.may_begin(), 4u);  // 4 x (1 + 1.5) - 6
}

// The same, but a step takes the samples that were begun first: the batch 0 to 3 waits for sample 1, though 4 and 5 are
// complete.
TEST(Schedule, InOrderABatchWaitsForItsOwn) {
  Schedule schedule({.batch = 4, .ahead = 0.5, .partial = true, .in_order = true, .steps = 10});
  schedule.begin(6);
  for (const std::uint64_t sample : {5u, 4u, 3u, 2u, 0u}) {
    schedule.complete(sample);
    EXPECT_FALSE(schedule.may_train());
  }
  schedule.complete(1);
  ASSERT_TRUE(schedule.may_train());
  EXPECT_THAT(schedule.train().samples, ::testing::ElementsAre(0u, 1u, 2u, 3u));
  EXPECT_EQ(schedule.queued(), 2u);
}

// Samples 0 to 3 are begun with version 0 and trained; 4 to 7 too, of which 4 comes when version 2 is trained, older
// than 1.
TEST(Schedule, DropsWhatIsTooOldAndMakesItAgain) {
  Schedule schedule({.batch = 2, .ahead = 1.0, .partial = true, .oldest = 1, .steps = 10});
  schedule.begin(4);
  const auto train = [&] {
    const TakenBatch taken = schedule.train();
    schedule.trained();
    schedule.refit();
    schedule.refitted();
    return taken;
  };
  complete_all(schedule, 1, 2);  // 0 and 3 are slow
  train();
  complete_all(schedule, schedule.begin(2), 2);
  train();  // 4 and 5
  EXPECT_EQ(schedule.version(), 2u);
  schedule.complete(0);
  schedule.complete(3);
  EXPECT_FALSE(schedule.may_train());  // both are two versions old
  complete_all(schedule, schedule.begin(2), 2);
  ASSERT_TRUE(schedule.may_train());
  const TakenBatch taken = train();
  EXPECT_EQ(taken.dropped, 2u);
  EXPECT_THAT(taken.samples, ::testing::ElementsAre(6u, 7u));
  EXPECT_EQ(schedule.may_begin(), 4u);  // 2 x (1 + 3 + 1) begun 8, and 2 in place of those that were dropped
}

TEST(Schedule, RefusesModesThatStarveTraining) {
  const auto problem = [](const ModeSpec& mode) -> std::string {
    try {
      mode.validate();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(problem({.ahead = 1.0, .oldest = 0}), HasSubstr("training starves"));
  EXPECT_THAT(problem({.ahead = 1.0, .shared = true}), HasSubstr("no GPUs of its own"));
  EXPECT_EQ(problem({.ahead = 8.0, .partial = true, .oldest = 8}), "");
}

// Little's law, with versions for a clock: the versions that pass between the begin of a sample and its use, over all
// samples, are the samples in flight and queued, over all ends of training steps. So the mean staleness is the mean of
// these over the samples of a version, and exactly, where every sample is used. Samples take 1 to 12 units; a training
// step 5.
TEST(Schedule, MeanStalenessIsLittlesLaw) {
  for (const double ahead : {0.5, 1.5, 3.0}) {
    constexpr std::uint32_t kBatch = 8;
    Schedule schedule({.batch = kBatch, .ahead = ahead, .partial = true, .steps = 2000});
    using Event = std::pair<double, std::uint64_t>;  // time, sample; the greatest number: training ends
    constexpr std::uint64_t kTraining = ~std::uint64_t{0};
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    double now = 0.0;
    std::uint64_t waiting = 0;
    std::uint64_t versions = 0;
    std::uint64_t used = 0;
    RandomStream random(1, "little");
    const auto act = [&] {
      if (schedule.may_refit()) {
        schedule.refit();
        schedule.refitted();
      }
      if (schedule.may_train()) {
        const TakenBatch taken = schedule.train();
        versions += std::accumulate(taken.staleness.begin(), taken.staleness.end(), std::uint64_t{0});
        used += taken.samples.size();
        events.emplace(now + 5.0, kTraining);
      }
      const std::uint64_t n = schedule.may_begin();
      if (n == 0) return;
      const std::uint64_t first = schedule.begin(n);
      for (std::uint64_t s = first; s < first + n; ++s) events.emplace(now + 1.0 + 11.0 * random.uniform(), s);
    };
    act();
    while (!events.empty()) {
      const auto [time, what] = events.top();
      events.pop();
      now = time;
      if (what == kTraining) {
        waiting += schedule.in_flight() + schedule.queued();
        schedule.trained();
      } else {
        schedule.complete(what);
      }
      act();
    }
    EXPECT_TRUE(schedule.finished());
    EXPECT_EQ(used, 2000u * kBatch);
    EXPECT_EQ(versions, waiting);
    EXPECT_GT(versions, used / 4);
  }
}

}  // namespace
}  // namespace photonrail::rl
