#include "photonrail/workload/pipeline.hpp"
#include "photonrail/error.hpp"
#include "workload/pipeline/pipeline_shapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace photonrail {
namespace {

using enum PipelineSchedule;
using test::pipeline_shapes;
using test::written;
using ::testing::HasSubstr;
using ::testing::PrintToString;

std::string order(const PipelineShape& shape, std::uint32_t stage) { return written(pipeline_steps(shape, stage)); }

TEST(Pipeline, GPipeDoesAllForwardPassesFirst) {
  for (std::uint32_t stage = 0; stage < 3; ++stage) EXPECT_EQ(order({kGPipe, 3, 1, 3}, stage), "F0 F1 F2 B0 B1 B2");
}

TEST(Pipeline, OneFOneBWarmsUpWithTheStagesBehind) {
  // Four stages: stage 0 runs 3 forward passes ahead, stage 3 none.
  EXPECT_EQ(order({kOneFOneB, 4, 1, 5}, 0), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
  EXPECT_EQ(order({kOneFOneB, 4, 1, 5}, 1), "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4");
  EXPECT_EQ(order({kOneFOneB, 4, 1, 5}, 2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4");
  EXPECT_EQ(order({kOneFOneB, 4, 1, 5}, 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
}

TEST(Pipeline, FewMicroBatchesEndTheWarmUpEarly) {
  EXPECT_EQ(order({kOneFOneB, 4, 1, 2}, 0), "F0 F1 B0 B1");
  EXPECT_EQ(order({kOneFOneB, 4, 1, 1}, 2), "F0 B0");
  EXPECT_EQ(order({kZeroBubbleH2, 4, 1, 1}, 3), "F0 b0 w0");
}

TEST(Pipeline, InterleavedTakesGroupsOfMicroBatchesThroughTheChunks) {
  // Two stages, two chunks, groups of two micro-batches. Warm-up: 2 (p - s - 1) + (v - 1) p = 4 - 2 s; back from the last
  // chunk to the first.
  EXPECT_EQ(order({kInterleaved, 2, 2, 4}, 0), "F0 F1 F0.1 F1.1 F2 B0.1 F3 B1.1 F2.1 B0 F3.1 B1 B2.1 B3.1 B2 B3");
  EXPECT_EQ(order({kInterleaved, 2, 2, 4}, 1), "F0 F1 F0.1 B0.1 F1.1 B1.1 F2 B0 F3 B1 F2.1 B2.1 F3.1 B3.1 B2 B3");
}

TEST(Pipeline, BreadthFirstTakesAllMicroBatchesThroughAChunk) {
  EXPECT_EQ(order({kBreadthFirst, 2, 2, 3}, 1), "F0 F1 F2 F0.1 F1.1 F2.1 B0.1 B1.1 B2.1 B0 B1 B2");
}

TEST(Pipeline, ZeroBubbleRunsWeightPartsLateByTheStage) {
  // zb_h1: stage s of 3 runs 2 - s passes ahead and each weight part s micro-batches late; zb_h2 twice of both.
  EXPECT_EQ(order({kZeroBubbleH1, 3, 1, 4}, 0), "F0 F1 F2 b0 w0 F3 b1 w1 b2 w2 b3 w3");
  EXPECT_EQ(order({kZeroBubbleH1, 3, 1, 4}, 1), "F0 F1 b0 F2 b1 w0 F3 b2 w1 b3 w2 w3");
  EXPECT_EQ(order({kZeroBubbleH1, 3, 1, 4}, 2), "F0 b0 F1 b1 F2 b2 w0 F3 b3 w1 w2 w3");
  EXPECT_EQ(order({kZeroBubbleH2, 3, 1, 6}, 1), "F0 F1 F2 b0 F3 b1 F4 b2 w0 F5 b3 w1 b4 w2 b5 w3 w4 w5");
}

TEST(Pipeline, DualPipeMeetsInTheMiddle) {
  // Two stages, four micro-batches, both of them in the middle: 0 and 1 enter at stage 0, 2 and 3 at stage 1. By the
  // paper's figure 5: one forward pass of each direction, the first pair apart, an overlapped pair, then the last
  // backward pass of each direction, the second of them split.
  EXPECT_EQ(order({kDualPipe, 2, 1, 4}, 0), "F0 F2.1 F1 B2.1 F3.1+B0 B3.1 b1 w1");
  EXPECT_EQ(order({kDualPipe, 2, 1, 4}, 1), "F2.1 F0 F3.1 B0 F1+B2.1 B1 b3.1 w3.1");
}

TEST(Pipeline, EveryPassRunsOnce) {
  for (const PipelineShape& shape : pipeline_shapes()) {
    SCOPED_TRACE(PrintToString(shape));
    for (std::uint32_t s = 0; s < shape.stages; ++s) {
      std::map<std::tuple<std::uint32_t, std::uint32_t>, std::vector<PassKind>> passes;  // by micro-batch and chunk
      for (const PipelineStep& step : pipeline_steps(shape, s)) {
        passes[{step.micro_batch, step.chunk}].push_back(step.kind);
      }
      const bool two_ways = shape.schedule == kDualPipe;
      EXPECT_EQ(passes.size(), std::size_t{shape.micro_batches} * shape.chunks);
      for (const auto& [of, kinds] : passes) {
        const auto [micro_batch, chunk] = of;
        EXPECT_LT(micro_batch, shape.micro_batches);
        EXPECT_LT(chunk, shape.chunks_held());
        if (two_ways) {
          EXPECT_EQ(chunk, micro_batch < shape.micro_batches / 2 ? 0u : 1u);
        }
        const std::vector<PassKind> whole{PassKind::kForward, PassKind::kBackward};
        const std::vector<PassKind> split{PassKind::kForward, PassKind::kBackwardInput, PassKind::kBackwardWeight};
        EXPECT_TRUE(kinds == whole || kinds == split) << "micro-batch " << micro_batch << " chunk " << chunk;
      }
    }
  }
}

TEST(Pipeline, OnlyForwardPassesOverlapAndOnlyBackwardPassesOfTheOtherDirection) {
  for (const PipelineShape& shape : pipeline_shapes()) {
    SCOPED_TRACE(PrintToString(shape));
    for (std::uint32_t s = 0; s < shape.stages; ++s) {
      const auto steps = pipeline_steps(shape, s);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!steps[i].overlaps_next) continue;
        ASSERT_LT(i + 1, steps.size());
        EXPECT_EQ(steps[i].kind, PassKind::kForward);
        EXPECT_EQ(steps[i + 1].kind, PassKind::kBackward);
        EXPECT_NE(steps[i].chunk, steps[i + 1].chunk);
      }
    }
  }
}

TEST(Pipeline, EveryVirtualStageHasOnePlaceForAMicroBatch) {
  for (const PipelineShape& shape : pipeline_shapes()) {
    SCOPED_TRACE(PrintToString(shape));
    for (const std::uint32_t micro_batch : {0u, shape.micro_batches - 1}) {
      std::vector<PipelinePlace> seen;
      for (std::uint32_t v = 0; v < shape.virtual_stages(); ++v) {
        const PipelinePlace place = shape.place(v, micro_batch);
        EXPECT_LT(place.stage, shape.stages);
        EXPECT_LT(place.chunk, shape.chunks_held());
        EXPECT_EQ(shape.virtual_stage(place), v);
        EXPECT_EQ(std::count(seen.begin(), seen.end(), place), 0);
        seen.push_back(place);
      }
    }
  }
  // Looped placement: chunk 1 of stage 0 follows chunk 0 of the last stage. DualPipe: the last micro-batch enters at the
  // last stage.
  EXPECT_EQ((PipelineShape{kInterleaved, 4, 2, 4}.place(4, 0)), (PipelinePlace{0, 1}));
  EXPECT_EQ((PipelineShape{kDualPipe, 4, 1, 8}.place(0, 7)), (PipelinePlace{3, 1}));
}

/// Activations held at once at the peak, each of a micro-batch in a chunk.
std::uint32_t expected_peak(const PipelineShape& shape, std::uint32_t stage) {
  const std::uint32_t p = shape.stages;
  const std::uint32_t all = shape.micro_batches * shape.chunks;
  switch (shape.schedule) {
    case kOneFOneB:  // the warm-up and one more
      return std::min(p - stage, all);
    case kInterleaved:  // the same; for stage 0 it is (v + (p - 1) / v p) p micro-batches' worth, arXiv 2104.04473
      return std::min(2 * (p - stage - 1) + (shape.chunks - 1) * p + 1, all);
    case kZeroBubbleH1:  // warm-up p - s - 1, one more, s with the weight part to come (arXiv 2401.10241, table 1: p)
      return std::min(p, all);
    case kZeroBubbleH2:  // 2 (p - s - 1) + 1 + 2 s (table 1: 2 p - 1)
      return std::min(2 * p - 1, all);
    case kDualPipe:  // arXiv 2412.19437, table 2
      return p + 1;
    default:
      return all;
  }
}

TEST(Pipeline, ActivationsInFlightAreThoseOfThePapers) {
  for (const PipelineShape& shape : pipeline_shapes()) {
    SCOPED_TRACE(PrintToString(shape));
    for (std::uint32_t s = 0; s < shape.stages; ++s) {
      EXPECT_EQ(peak_in_flight(pipeline_steps(shape, s)), expected_peak(shape, s)) << "stage " << s;
    }
  }
}

std::string refusal(const PipelineShape& shape) {
  try {
    shape.validate();
  } catch (const ConfigError& e) {
    return e.where() + ": " + e.problem() + " (" + e.hint() + ")";
  }
  return "accepted";
}

TEST(Pipeline, RefusesAScheduleThatDoesNotExistForTheShape) {
  for (const PipelineShape& shape : pipeline_shapes()) EXPECT_EQ(refusal(shape), "accepted") << PrintToString(shape);
  EXPECT_THAT(refusal({kOneFOneB, 0, 1, 1}), HasSubstr("stages: is 0"));
  EXPECT_THAT(refusal({kOneFOneB, 1, 0, 1}), HasSubstr("chunks: is 0"));
  EXPECT_THAT(refusal({kOneFOneB, 1, 1, 0}), HasSubstr("micro_batches: has no micro-batch"));
  EXPECT_THAT(refusal({kOneFOneB, 2, 2, 4}), HasSubstr("\"1f1b\" has one model chunk a stage, not 2"));
  EXPECT_THAT(refusal({kDualPipe, 2, 2, 4}), HasSubstr("\"dualpipe\" has one model chunk a stage, not 2"));
  EXPECT_THAT(refusal({kInterleaved, 2, 1, 4}), HasSubstr("needs two or more model chunks"));
  EXPECT_THAT(refusal({kInterleaved, 4, 2, 6}), HasSubstr("micro_batches: the schedule \"interleaved\" over 4 stages does "
                                                          "not exist for 6 micro-batches (a multiple of 4, at least 4: "
                                                          "the next is 8"));
  EXPECT_THAT(refusal({kDualPipe, 3, 1, 8}), HasSubstr("stages: the schedule \"dualpipe\" folds an even number"));
  EXPECT_THAT(refusal({kDualPipe, 4, 1, 9}), HasSubstr("the next is 10"));
  EXPECT_THAT(refusal({kDualPipe, 4, 1, 6}), HasSubstr("the next is 8"));
}

TEST(Pipeline, TheTableNamesEverySchedule) {
  const auto& table = pipeline_schedules();
  ASSERT_EQ(table.size(), 7u);
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(table[i].schedule), i);
    EXPECT_FALSE(table[i].summary.empty());
    EXPECT_THAT(std::string(table[i].paper), HasSubstr("arXiv "));
  }
  EXPECT_EQ(name(kDualPipe), "dualpipe");
}

}  // namespace
}  // namespace photonrail
