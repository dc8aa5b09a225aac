// Folded runs are equal to unfolded ones, to the picosecond; where symmetry is broken every rank is run, and the result
// says why.
#include "photonrail/training.hpp"
#include "sim/drawing.hpp"
#include "support/folded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

/// A training job of a small model; tensor parallelism inside servers of tp GPUs.
TrainingSpec small_training(const ParallelismSpec& parallelism) {
  TrainingSpec spec;
  spec.model = {"small", 8, 512, 2048, 8, 8, 4096};
  spec.parallelism = parallelism;
  spec.sequence = 256;
  spec.micro_batch = 1;
  spec.global_batch = 4 * parallelism.dp;
  return spec;
}

Scenario training(const ParallelismSpec& parallelism, std::uint32_t ports = 1) {
  const TrainingSpec spec = small_training(parallelism);
  Scenario scenario;
  scenario.cluster.gpus_per_server = parallelism.tp;
  scenario.cluster.servers = parallelism.ranks() / parallelism.tp;
  scenario.cluster.nic.ports = ports;
  scenario.cluster.nic.latency = us(1);
  scenario.cluster.nic.message_overhead = Duration{10'000};
  scenario.cluster.rail.switch_radix = std::max(2u, scenario.cluster.plant().rail_ports());
  for (std::uint32_t r = 0; r < parallelism.ranks(); ++r) scenario.gpu_of_rank.push_back(GpuId{r});
  scenario.graph = make_training_graph(spec);
  return scenario;
}

Scenario optical(Scenario scenario, OpusMode mode, OperationOrder order = OperationOrder::kScheduled) {
  scenario.cluster.rail.kind = RailKind::kOptical;
  scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(us(40));
  scenario.controller.name = "opus";
  scenario.controller.mode = mode;
  scenario.controller.order = order;
  return scenario;
}

void expect_folded_to(std::uint64_t classes, const Scenario& scenario) {
  const RunResult result = expect_same_folded(scenario);
  EXPECT_EQ(result.folding.off, "");
  EXPECT_EQ(result.folding.classes, classes);
}

// Ranks of one pipeline stage are alike: tp x dp of them, with the same neighbours.
TEST(Folding, OneRankAStage) {
  for (const bool fsdp : {false, true}) {
    for (const Fidelity fidelity : {Fidelity::kStream, Fidelity::kExact}) {
      for (const CommLanes lanes : {CommLanes::kPerCommunicator, CommLanes::kOne}) {
        for (const std::uint32_t ports : {1u, 2u}) {
          for (const ParallelismSpec p : {ParallelismSpec{2, 2, 2, fsdp}, ParallelismSpec{4, 4, 4, fsdp},
                                          ParallelismSpec{1, 1, 8, fsdp}, ParallelismSpec{2, 3, 4, fsdp}}) {
            Scenario scenario = training(p, ports);
            scenario.run.fidelity = fidelity;
            scenario.run.iterations = 2;
            scenario.executor.comm_lanes = lanes;
            SCOPED_TRACE("tp " + std::to_string(p.tp) + " pp " + std::to_string(p.pp) + " dp " + std::to_string(p.dp));
            expect_folded_to(p.pp, scenario);
            for (const OpusMode mode : {OpusMode::kOnDemand, OpusMode::kProvisioned}) {
              for (const OperationOrder order : {OperationOrder::kScheduled, OperationOrder::kFree}) {
                expect_folded_to(p.pp, optical(scenario, mode, order));
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace photonrail::test
