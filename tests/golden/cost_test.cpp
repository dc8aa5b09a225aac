// The cost that comes with a run.
#include "golden/golden.hpp"

#include "photonrail/study/cost.hpp"

namespace photonrail::test {
namespace {

TEST(CostOfARun, TheQuickstartsRailsShareOneOcs) {
  const RunResult result = run("quickstart.json");
  const CostSummary& cost = result.cost.value();
  EXPECT_EQ(cost.catalogue, "h200_400g");  // the slowest that carries 25 GB/s
  EXPECT_EQ(cost.bill.fabric, NetworkFabric::kPhotonicRail);
  // 4 rails of 4 GPUs are 16 circuits, and a Polatis of 192 ports switches 96: 99,840 USD and 75 W. 16 transceivers at 879
  // USD and 10 W. A spare of each.
  EXPECT_DOUBLE_EQ(cost.bill.usd(), 2 * 99'840 + 17 * 879);
  EXPECT_DOUBLE_EQ(cost.bill.power_w(), 75 + 160);
  const double step = to_seconds(result.makespan);
  EXPECT_DOUBLE_EQ(cost.network_energy_per_step_j, 235 * step);
  // 16 A100 of 400 W, a fifth of it while they do not compute.
  const double computing = to_seconds(result.mean_rank_time().compute);
  EXPECT_NEAR(cost.gpu_energy_per_step_j.value(), 16 * 400 * (computing + 0.2 * (step - computing)), 1e-6);
}

TEST(CostOfARun, IsTheSameForEveryIteration) {
  const CostSummary one = run("quickstart-electrical.json").cost.value();
  const CostSummary three = run("quickstart-electrical.json", {"/run/iterations=3"}).cost.value();
  EXPECT_EQ(one.bill.usd(), three.bill.usd());
  EXPECT_NEAR(one.network_energy_per_step_j, three.network_energy_per_step_j, 1e-3 * one.network_energy_per_step_j);
}

TEST(CostOfARun, ANetworkThatCannotBeBuiltIsAWarning) {
  // 4 NIC ports a rail, and switches of three: the model divides the rate, but no tree of such switches exists.
  const RunResult result = run("quickstart-electrical.json", {"/cluster/rail/radix=3"});
  EXPECT_FALSE(result.cost.has_value());
  EXPECT_THAT(result.warnings, ::testing::Contains(::testing::HasSubstr("no cost")));
}

TEST(CostOfARun, ScenariosWithoutPricesHaveNone) {
  Scenario scenario = load("quickstart.json");
  scenario.pricing.reset();
  EXPECT_FALSE(simulate(scenario).cost.has_value());
}

}  // namespace
}  // namespace photonrail::test
