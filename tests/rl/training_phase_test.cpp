#include "rl/training_phase.hpp"

#include "workload/training/forward_pass.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photonrail::rl {
namespace {

TrainingPhase small_phase() {
  TrainingPhase phase;
  phase.step.model.layers = 4;
  phase.step.model.hidden = phase.step.model.ffn = 64;
  phase.step.model.heads = phase.step.model.kv_heads = 2;
  phase.step.model.vocabulary = 128;
  phase.step.parallelism.dp = 2;
  phase.step.parallelism.pp = 2;
  return phase;
}

double flops_of(const TaskGraph& graph) {
  double sum = 0.0;
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    for (const Task& task : graph.program(RankId{static_cast<std::uint32_t>(r)}).tasks()) {
      sum += task.flops;
    }
  }
  return sum;
}

// Two passes and that of the critic over the batch, then policy and critic for each of two mini-batches of half the batch.
TEST(TrainingLaunches, AreTheOnesOfABatch) {
  TrainingPhase phase = small_phase();
  phase.critic = true;
  phase.mini_batches = 2;
  TrainingLaunches launches(phase);
  launches.take(std::vector<std::uint32_t>(32, 100));
  std::vector<bool> trains;
  std::vector<const TaskGraph*> graphs;
  while (const auto launch = launches.next()) {
    trains.push_back(launch->trains);
    graphs.push_back(launch->graph.get());
  }
  EXPECT_EQ(trains, (std::vector<bool>{false, false, false, true, true, true, true}));
  EXPECT_EQ(graphs[0], graphs[2]);  // equal batches are one graph
  EXPECT_EQ(graphs[3], graphs[6]);
}

// 32 responses of 100 tokens, one a micro-batch: 16 on each data-parallel rank, 8 in each of two mini-batches.
TEST(TrainingPhase, TakesItsBatchFromTheResponses) {
  TrainingPhase phase = small_phase();
  const std::vector<std::uint32_t> tokens(32, 100);
  EXPECT_EQ(phase.of(tokens).sequence, 100u);
  EXPECT_EQ(phase.of(tokens).micro_batches(), 16u);
  phase.micro_batch_tokens = 400;
  EXPECT_EQ(phase.of(tokens).micro_batches(), 4u);
  EXPECT_EQ(phase.of(tokens).micro_batch, 4u);
}

// A training step is three times its forward pass, but for the optimizer, which has no FLOPs that count here.
TEST(ForwardGraph, IsAThirdOfATrainingStep) {
  const TrainingPhase phase = small_phase();
  const TrainingSpec spec = phase.of(std::vector<std::uint32_t>(8, 64));
  const TaskGraph forward = workload::make_forward_graph(spec);
  const TaskGraph training = make_training_graph(spec);
  EXPECT_EQ(forward.ranks(), training.ranks());
  EXPECT_GT(flops_of(forward), 0.0);
  EXPECT_NEAR(flops_of(training) / flops_of(forward), 3.0, 0.1);
}

// Every schedule has forward passes that end on their own: a graph that could not is refused when it is built, or blocks.
TEST(ForwardGraph, OfEverySchedule) {
  for (const PipelineScheduleInfo& info : pipeline_schedules()) {
    SCOPED_TRACE(info.name);
    TrainingPhase phase = small_phase();
    phase.step.schedule = info.schedule;
    if (info.schedule == PipelineSchedule::kInterleaved) phase.step.parallelism.virtual_stages = 2;
    const TrainingSpec spec = phase.of(std::vector<std::uint32_t>(16, 64));
    EXPECT_GT(flops_of(workload::make_forward_graph(spec)), 0.0);
  }
}

}  // namespace
}  // namespace photonrail::rl
