// Circuits for each step of an all-to-all on the switch of a rack: the controller harvest in a simulation against the
// published model, cheapest_shifts(), which tests/studies/slices holds against all published costs.
#include "studies/slices/pods/step_circuits.hpp"
#include "run/job.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <numeric>

namespace photonrail {
namespace {

using test::Job;

constexpr Duration kAlpha{500'000};

Duration simulated(std::uint32_t nodes, std::int64_t bytes, Duration delay, bool other_rounds) {
  Job job(nodes);
  job.optical(delay, "harvest");
  Scenario& scenario = job.scenario;
  scenario.cluster.nic.per_port = Bandwidth::from_gb_per_s(100);
  scenario.cluster.nic.latency = kAlpha;
  scenario.cluster.nic.message_overhead = kAlpha;
  scenario.cluster.rail.forwarding = true;
  scenario.controller.parameters.set("look_ahead", static_cast<double>(nodes));
  scenario.controller.parameters.set("other_rounds", other_rounds ? 1.0 : 0.0);
  scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "pairwise";
  std::vector<std::size_t> all(nodes);
  std::iota(all.begin(), all.end(), 0);
  job.collective(job.group(all), all, CollectiveOp::kAllToAll, bytes);
  const RunResult result = job.run();
  EXPECT_TRUE(test::books_balance(result));
  return result.makespan;
}

Duration published(std::uint32_t nodes, std::int64_t bytes, Duration delay) {
  slices::RotationFabric fabric;
  fabric.nodes = nodes;
  fabric.circuit = Bandwidth::from_gb_per_s(100);
  fabric.alpha = kAlpha;
  fabric.hop = kAlpha;
  fabric.reconfiguration = delay;
  return cheapest_shifts(slices::direct_all_to_all(nodes, static_cast<double>(bytes)), fabric).cost;
}

// The model has its first circuits for nothing; in the run they are a switch as any other. Steps are barriers in both: all
// nodes do the same at the same time. So the run costs one delay more, to the rounding of a picosecond a step and hop.
TEST(StepCircuits, AnAllToAllInARunCostsWhatThePublishedModelSays) {
  std::uint32_t apart = 0;
  for (const std::uint32_t nodes : {5u, 8u}) {
    for (const std::int64_t each : {std::int64_t{128}, std::int64_t{1} << 17, std::int64_t{1} << 21}) {
      for (const std::int64_t delay_ns : {10, 1'000, 10'000, 30'000, 100'000, 1'000'000}) {
        const Duration delay{delay_ns * 1000};
        const std::int64_t bytes = each * nodes;
        const Duration model = published(nodes, bytes, delay) + delay;
        const Duration run = simulated(nodes, bytes, delay, true);
        EXPECT_LE(run, model + Duration{100}) << nodes << " nodes, " << bytes << " bytes, " << delay_ns << " ns";
        EXPECT_GE(run, model - Duration{100}) << nodes << " nodes, " << bytes << " bytes, " << delay_ns << " ns";
        const Duration own = simulated(nodes, bytes, delay, false);
        EXPECT_GE(own, run - Duration{100}) << "circuits of the round alone are not better";
        apart += own > run + Duration{100} ? 1 : 0;
      }
    }
  }
  EXPECT_GT(apart, 0u) << "circuits of other rounds are worth something";
}

}  // namespace
}  // namespace photonrail
