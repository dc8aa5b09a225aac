// Jobs drawn at random on switches that queue, darken as a whole, have planes and pods and lose ports for a while, under
// control planes that fail: every job ends, its books balance, and the same scenario has the same history.
#include "photonrail/error.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "run/drawing.hpp"
#include "run/matching_observer.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

const std::uint64_t kSwitchCases = test_cases(1500);

void draw_rail(Dice& dice, ClusterSpec& cluster) {
  RailSpec& rail = cluster.rail;
  OpticalSwitchSpec& optical = rail.optical;
  if (dice.one_in(2)) optical.darkness = DarkScope::kSwitch;
  optical.settle = dice.pick<Duration>({{}, us(3)});
  optical.batching = dice.pick<Duration>({{}, {}, us(50)});
  optical.command_gap = dice.pick<Duration>({{}, {}, us(200)});
  if (dice.one_in(2)) rail.planes = cluster.nic.ports;
  if (dice.one_in(3)) rail.on_dark = OnDark::kPause;
  if (cluster.servers > 1 && dice.one_in(2)) {
    rail.pods.servers = dice.from_to(1, cluster.servers - 1);
    rail.pods.layer = dice.pick<PodSpec::Layer>({PodSpec::Layer::kElectrical, PodSpec::Layer::kOptical});
    if (rail.pods.layer == PodSpec::Layer::kElectrical) rail.pods.oversubscription = dice.pick<double>({1.0, 3.0});
    rail.pods.latency = dice.pick<Duration>({{}, us(2)});
  }
  for (std::uint32_t left = dice.from_to(0, 3); left > 0; --left) {
    PortFault& fault = rail.faults.emplace_back();
    fault.kind = dice.pick<PortFault::Kind>({PortFault::Kind::kFailed, PortFault::Kind::kStuck});
    if (dice.one_in(2)) fault.rail = RailId{dice.from_to(0, cluster.gpus_per_server - 1)};
    if (dice.one_in(2)) fault.server = dice.from_to(0, cluster.servers - 1);
    if (dice.one_in(2)) fault.port = dice.from_to(0, cluster.nic.ports - 1);
    fault.at = Time{dice.pick<Duration>({{}, us(70), us(500), ms(2), ms(20)})};
    fault.lasts = dice.pick<Duration>({{}, us(40), ms(3)});  // all are repaired
  }
}

void draw_control(Dice& dice, Scenario& scenario) {
  ControlPlaneSpec& control = scenario.controller.control;
  using enum ControllerPlacement;
  control.placement = dice.pick<ControllerPlacement>({kPerRail, kOne, kHierarchical});
  if (control.placement == kHierarchical) {
    control.root_request = dice.pick<Duration>({{}, us(9)});
    control.root_service = dice.pick<Duration>({{}, us(4)});
  }
  // Not with several rails: requests that reach them in different orders can lock up operations that need two of them.
  if (scenario.cluster.gpus_per_server == 1 && dice.one_in(2)) {
    control.messages.loss = dice.pick<double>({0.0, 0.1, 0.5});
    control.messages.timeout = us(150);
    control.messages.delay = {DelayDistribution::Kind::kUniform, {}, us(400), 0.0};
  }
  for (std::uint32_t left = dice.from_to(0, 2); left > 0; --left) {
    control.restarts.push_back(
        {dice.pick<Duration>({{}, us(110), ms(1), ms(7)}), dice.pick<Duration>({{}, us(30), ms(4)}), {}});
  }
  if (dice.one_in(3)) control.shims.push_back({{RankId{0u}}, dice.one_in(2), us(33)});
}

TEST(SwitchProperties, EveryJobEndsAndItsBooksBalance) {
  for (std::uint64_t seed = 1; seed <= kSwitchCases && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Drawing job(seed, {});
    const RunResult plain = simulate(job.scenario);
    Dice dice(seed + 1'000'000);
    draw_rail(dice, job.scenario.cluster);
    draw_control(dice, job.scenario);
    CircuitsAreAMatching matching;
    Observer* const observers[] = {&matching};
    RunResult result;
    try {
      result = simulate(job.scenario, observers);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    EXPECT_TRUE(books_balance(result));
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      EXPECT_EQ(result.traffic[d].bytes, plain.traffic[d].bytes);
      EXPECT_EQ(result.traffic[d].operations, plain.traffic[d].operations);
    }
    EXPECT_LE(result.reconfigurations.exposed, result.reconfigurations.total);
    const RunResult again = simulate(job.scenario);
    EXPECT_EQ(again.makespan, result.makespan);
    EXPECT_EQ(again.reconfigurations.dark_port, result.reconfigurations.dark_port);
  }
}

}  // namespace
}  // namespace photonrail::test
