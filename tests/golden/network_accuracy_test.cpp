// A job whose crowds of flows are simulated within an accuracy.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "support/source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace photonrail {
namespace {

Scenario skewed() {
  return read_scenario(std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "configs" / "all-to-all-within-one-percent.json");
}

// 32 x 31 flows of unlike sizes over uplinks 4:1.
TEST(NetworkAccuracy, MovesAMakespanByLessAndIsSaidByTheResult) {
  Scenario scenario = skewed();
  ASSERT_EQ(scenario.run.network_accuracy, 0.01);
  const RunResult within = simulate(scenario);
  scenario.run.network_accuracy = 0.0;
  const RunResult exact = simulate(scenario);
  EXPECT_EQ(within.engine.network_accuracy, 0.01);
  EXPECT_GT(within.engine.epochs, 0u);
  EXPECT_GT(within.engine.flows_in_epochs, 100u);
  EXPECT_EQ(exact.engine.epochs, 0u);
  EXPECT_THAT(within.folding.off, ::testing::HasSubstr("not exact"));
  const double off = std::abs(to_seconds(within.makespan) - to_seconds(exact.makespan));
  EXPECT_LE(off, 0.001 * to_seconds(exact.makespan));
}

TEST(NetworkAccuracy, RunsRepeat) {
  const Scenario scenario = skewed();
  const RunResult first = simulate(scenario);
  const RunResult second = simulate(scenario);
  EXPECT_EQ(first.makespan, second.makespan);
  EXPECT_EQ(first.engine.events, second.engine.events);
}

TEST(NetworkAccuracy, OfAnotherRangeIsRefused) {
  Scenario scenario = skewed();
  for (const double accuracy : {-0.01, 0.11, std::nan("")}) {
    scenario.run.network_accuracy = accuracy;
    EXPECT_THROW(simulate(scenario), ConfigError) << accuracy;
  }
}

}  // namespace
}  // namespace photonrail
