#include "workload/pipeline_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace photonrail {
namespace {

/// "F0 F1 B0 B1"
std::string written(const std::vector<PipelineStep>& steps) {
  std::string text;
  for (const PipelineStep& s : steps) {
    text += (text.empty() ? "" : " ") + std::string(s.forward ? "F" : "B") + std::to_string(s.micro_batch);
  }
  return text;
}

/// The most micro-batches whose activations a stage holds at once.
int most_in_flight(const std::vector<PipelineStep>& steps) {
  int now = 0;
  int most = 0;
  for (const PipelineStep& s : steps) most = std::max(most, now += s.forward ? 1 : -1);
  return most;
}

TEST(PipelineSchedule, GPipeDoesAllForwardPassesFirst) {
  for (std::uint32_t stage = 0; stage < 3; ++stage) {
    EXPECT_EQ(written(pipeline_steps(PipelineSchedule::kGPipe, stage, 3, 3)), "F0 F1 F2 B0 B1 B2");
  }
}

TEST(PipelineSchedule, OneFOneBWarmsUpWithTheStagesBehind) {
  // Four stages: stage 0 runs 3 forward passes ahead, stage 3 none.
  const auto stage = [](std::uint32_t s) { return written(pipeline_steps(PipelineSchedule::kOneFOneB, s, 4, 5)); };
  EXPECT_EQ(stage(0), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
  EXPECT_EQ(stage(1), "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4");
  EXPECT_EQ(stage(2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4");
  EXPECT_EQ(stage(3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
}

TEST(PipelineSchedule, FewMicroBatchesEndTheWarmUpEarly) {
  EXPECT_EQ(written(pipeline_steps(PipelineSchedule::kOneFOneB, 0, 4, 2)), "F0 F1 B0 B1");
  EXPECT_EQ(written(pipeline_steps(PipelineSchedule::kOneFOneB, 2, 4, 1)), "F0 B0");
}

TEST(PipelineSchedule, InFlightMicroBatchesAreBoundedByStagesUnder1F1BOnly) {
  for (std::uint32_t stages = 1; stages <= 6; ++stages) {
    for (std::uint32_t m = 1; m <= 9; ++m) {
      for (std::uint32_t s = 0; s < stages; ++s) {
        EXPECT_EQ(most_in_flight(pipeline_steps(PipelineSchedule::kOneFOneB, s, stages, m)), std::min(stages - s, m));
        EXPECT_EQ(most_in_flight(pipeline_steps(PipelineSchedule::kGPipe, s, stages, m)), m);
      }
    }
  }
}

TEST(PipelineSchedule, OfTwoNeighboursThatExchangeOneBeginsWithTheReceive) {
  EXPECT_FALSE(receives_first(PipelineSchedule::kOneFOneB, 0, 4, 8));
  EXPECT_TRUE(receives_first(PipelineSchedule::kOneFOneB, 1, 4, 8));
  EXPECT_FALSE(receives_first(PipelineSchedule::kGPipe, 1, 4, 8));
  // Two micro-batches, two stages behind: only warm-up and cool-down, nobody exchanges.
  EXPECT_FALSE(receives_first(PipelineSchedule::kOneFOneB, 1, 4, 2));
}

}  // namespace
}  // namespace photonrail
