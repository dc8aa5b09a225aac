#include "photonrail/study/calibrate.hpp"

#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "support/errors.hpp"
#include "support/own_names.hpp"

namespace photonrail::test {
namespace {

TEST(Calibrate, FindsTheEfficiencyOfAStepWithCommunicationBesideIt) {
  // A step of 3 ms + 4 ms / e is 13 ms at e = 0.4. It is a straight line in 1 / e: two points of it give the third.
  const auto step = [](double e) { return ms(3) + Duration{static_cast<std::int64_t>(4e9 / e)}; };
  const Calibration found = fit_compute_efficiency(ms(13), step);
  EXPECT_NEAR(found.compute_efficiency, 0.4, 0.4e-3);
  EXPECT_NEAR(to_seconds(found.simulated), 13e-3, 13e-7);  // 0.01 %
  EXPECT_LE(found.runs, 5u);                               // 1, 1/2, 1/4, then the line
}

TEST(Calibrate, FindsItAcrossABend) {
  // Memory bounds the compute above e = 0.5: 8 ms there, 4 ms / e below. 20 ms is e = 0.2.
  const auto step = [](double e) { return std::max(ms(8), Duration{static_cast<std::int64_t>(4e9 / e)}); };
  EXPECT_NEAR(fit_compute_efficiency(ms(20), step).compute_efficiency, 0.2, 0.2e-3);
}

TEST(Calibrate, EfficiencyOneIsAnAnswer) {
  EXPECT_DOUBLE_EQ(fit_compute_efficiency(ms(4), [](double e) { return ms(4.0 / e); }).compute_efficiency, 1.0);
}

TEST(Calibrate, WhatCannotBeIsSaid) {
  const auto step = [](double e) { return ms(3) + Duration{static_cast<std::int64_t>(4e9 / e)}; };
  const ConfigError early = error_of([&] { static_cast<void>(fit_compute_efficiency(ms(6), step)); });
  EXPECT_EQ(early.problem(), "0.006 s is shorter than the simulated step at compute efficiency 1, 0.007 s");
  // 3 ms + 4 ms x 1000 = 4.003 s
  const ConfigError late = error_of([&] { static_cast<void>(fit_compute_efficiency(ms(5000), step)); });
  EXPECT_EQ(late.problem(), "5 s is longer than the simulated step even at compute efficiency 0.001, 4.003 s");
  const auto fixed = [](double) { return ms(3); };
  EXPECT_NE(error_of([&] { static_cast<void>(fit_compute_efficiency(ms(5), fixed)); }).hint().find("fixed time"),
            std::string::npos);
  const auto jump = [](double e) { return e > 0.3 ? ms(3) : ms(9); };
  EXPECT_NE(error_of([&] { static_cast<void>(fit_compute_efficiency(ms(5), jump)); }).problem().find("jumps from"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { static_cast<void>(fit_compute_efficiency(ms(0), step)); }).where(), "measured step");
}

TEST(Calibrate, ASteadyStepLeavesOutTheFirst) {
  RunResult result;
  result.iterations = {ms(9), ms(4), ms(6)};
  EXPECT_EQ(result.step_time(), ms(5));
  result.iterations = {ms(9)};
  EXPECT_EQ(result.step_time(), ms(9));
}

/// 1e12 FLOPs at 100 TFLOP/s, which are 10 ms; then a ring all-reduce of 1 GB on two GPUs at 50 GB/s: 2 x 500 MB = 20 ms.
Scenario ten_and_twenty_ms() {
  TaskGraphBuilder builder(2);
  const CommunicatorId pair = builder.add_communicator("pair", {RankId{0}, RankId{1}}, Dimension::kDp);
  const ProgramId p = builder.add_program();
  const TaskId compute = builder.add_compute(p, 1e12, Bytes{});
  const std::vector<TaskId> after{compute};
  builder.add_collective(p, 0, CollectiveOp::kAllReduce, Bytes{1'000'000'000}, "reduce", after);
  for (std::size_t r = 0; r < 2; ++r) builder.assign(RankId{r}, p, {pair});
  Scenario scenario;
  scenario.cluster.servers = 2;
  scenario.cluster.gpu.peak_tflops = 100;
  scenario.gpu_of_rank = {GpuId{0}, GpuId{1}};
  scenario.graph = std::move(builder).build();
  return scenario;
}

TEST(Calibrate, RunsTheScenario) {
  // A step of 45 ms leaves 25 ms for the compute: efficiency 0.4.
  const Calibration found = calibrate(ten_and_twenty_ms(), ms(45));
  EXPECT_NEAR(found.compute_efficiency, 0.4, 0.4e-3);
  EXPECT_EQ(found.measured, ms(45));
}

TEST(Calibrate, RunsTheCallersControllersAndCollectives) {
  // The circuits are lit 1 ms after the request, in 4 ms: a step of 50 ms leaves 25 ms for the compute, efficiency 0.4.
  Scenario scenario = ten_and_twenty_ms();
  scenario.cluster.rail.kind = RailKind::kOptical;
  scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(ms(4));
  scenario.controller.name = "lights_once";
  scenario.controller.parameters.set("hold", ms(1));
  scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllReduce)] = "own_ring";
  const Calibration found = calibrate(scenario, ms(50), 1e-4, own_names());
  EXPECT_NEAR(found.compute_efficiency, 0.4, 0.4e-3);
  const ConfigError stranger = error_of([&] { static_cast<void>(calibrate(scenario, ms(50))); });
  EXPECT_EQ(stranger.problem(), "there is no controller 'lights_once'");
}

}  // namespace
}  // namespace photonrail::test
