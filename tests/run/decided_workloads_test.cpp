// Served requests and reinforcement learning as workloads of a scenario.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "rl/agent.hpp"
#include "run/rl_workload.hpp"
#include "run/served_workload.hpp"
#include "support/source_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace photonrail::test {
namespace {

using std::chrono::milliseconds;

const std::filesystem::path kQuickstarts = std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "configs";

TEST(ServedWorkload, KeepsItsSpecification) {
  serving::ServingSpec spec;
  spec.warm_up = 7;
  const run::ServedWorkload workload(spec);
  EXPECT_EQ(workload.name(), "serving");
  EXPECT_EQ(workload.spec().warm_up, 7u);
}

TEST(ServedWorkload, ServesTheQuickstart) {
  const RunResult result = simulate(read_scenario(kQuickstarts / "serving/quickstart.json"));
  ASSERT_TRUE(result.serving.has_value());
  EXPECT_EQ(result.serving->finished + result.serving->refused + result.serving->unfinished, result.serving->offered);
  EXPECT_EQ(result.serving->finished, 1000u);
  for (const RankTime& time : result.ranks) EXPECT_EQ(time.total(), result.makespan);
}

// The bytes of refits are those of 16 engines of two ranks: each engine rank gets its half of 16.1 GB, over a ring a rail.
TEST(RlWorkload, RunsTheQuickstart) {
  const Scenario scenario = read_scenario(kQuickstarts / "rl/quickstart.json");
  const RunResult result = simulate(scenario);
  ASSERT_TRUE(result.rl.has_value());
  ASSERT_EQ(result.rl->steps.size(), 3u);
  Duration steps{};
  for (const RlStep& step : result.rl->steps) {
    steps += step.step;
    EXPECT_LE(step.generation + step.log_probabilities + step.training + step.refit, step.step);
    EXPECT_GT(step.refit, Duration{30'000'000'000});  // 16.1 GB over 8 rails of 50 GB/s take 40 ms
    EXPECT_LT(step.refit, Duration{80'000'000'000});
    EXPECT_EQ(step.staleness, 0.0);
  }
  EXPECT_LE(steps, result.makespan);
  // Four optimizer steps a batch reduce gradients of fp32 over four servers: on each of 8 rails 2 x 3 times an eighth of
  // 8.03 B parameters, 12 times.
  EXPECT_NEAR(static_cast<double>(result.traffic[static_cast<std::size_t>(Dimension::kDp)].bytes.count),
              12 * 2 * 3 * 4 * 8.03e9, 0.01 * 12 * 2 * 3 * 4 * 8.03e9);
  for (const RankTime& time : result.ranks) EXPECT_EQ(time.total(), result.makespan);
}

TEST(RlWorkload, RefusesASpecificationThatCannotBe) {
  rl::RlSpec spec;
  spec.prompts.count = 0;
  EXPECT_THROW(run::RlWorkload{spec}, ConfigError);
}

TEST(RlWorkload, ItsGraphHasTheTrafficOfItsRefits) {
  const Scenario scenario = read_scenario(kQuickstarts / "rl/quickstart.json");
  ASSERT_NE(scenario.workload, nullptr);
  EXPECT_NE(scenario.graph.demands(), nullptr);
  const auto* workload = dynamic_cast<const run::RlWorkload*>(scenario.workload.get());
  ASSERT_NE(workload, nullptr);
  EXPECT_EQ(workload->graph().demands(), scenario.graph.demands());
}

// What an agent draws follows from the seed, in a repeated run too.
TEST(RlWorkload, SeedsGiveOtherResponses) {
  Scenario scenario = read_scenario(kQuickstarts / "rl/quickstart.json");
  scenario.run.spread_seeds = 3;
  const RunResult result = simulate(scenario);
  ASSERT_TRUE(result.spread.has_value());
  EXPECT_LT(result.spread->min, result.spread->max);
}

}  // namespace
}  // namespace photonrail::test
