#include "photonrail/pipeline.hpp"
#include "workload/pipeline_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>

namespace photonrail {
namespace {

using enum PipelineSchedule;
using test::pipeline_shapes;
using ::testing::PrintToString;

/// Forward, backward for the input, backward for the weights, of one pass.
struct Times {
  std::int64_t f = 1;
  std::int64_t b = 1;
  std::int64_t w = 1;

  friend std::ostream& operator<<(std::ostream& out, const Times& t) {
    return out << "f " << t.f << " b " << t.b << " w " << t.w;
  }
};

// Equal, and unequal both ways.
constexpr Times kTimes[]{{10, 10, 10}, {10, 12, 8}, {10, 14, 10}, {10, 8, 6}};

std::vector<PassTimes> pass_times(const Times& t) { return {{Duration{t.f}, Duration{t.b}, Duration{t.w}, {}}}; }

// Of DualPipe the closed forms hold while b is not much longer than f: the longer the pipeline, the more of its backward
// passes outside of pairs follow each other.
constexpr Times kDualPipeTimes[]{{10, 10, 10}, {10, 12, 8}, {12, 10, 10}, {10, 8, 6}};

/// The end of the forward (true) or backward pass, its input part where it is split, by virtual stage and micro-batch.
using Ends = std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, Time>;

Ends ends_of(const PipelineShape& shape, const PlayedPipeline& played) {
  Ends ends;
  for (std::uint32_t s = 0; s < shape.stages; ++s) {
    for (const PlayedPass& pass : played.stages[s]) {
      if (pass.step.kind == PassKind::kBackwardWeight) continue;
      ends[{pass.step.kind == PassKind::kForward, shape.virtual_stage({s, pass.step.chunk}), pass.step.micro_batch}] =
          pass.end;
    }
  }
  return ends;
}

TEST(PipelinePlay, NoPassBeginsBeforeItsInputIsThere) {
  for (const PipelineShape& shape : pipeline_shapes()) {
    SCOPED_TRACE(PrintToString(shape));
    const PlayedPipeline played = play_pipeline(shape, pass_times({3, 4, 2}));
    const Ends ends = ends_of(shape, played);
    const std::uint32_t last = shape.virtual_stages() - 1;
    for (std::uint32_t s = 0; s < shape.stages; ++s) {
      Time before{};
      EXPECT_EQ(played.stages[s].size(), pipeline_steps(shape, s).size());
      for (const auto& [step, start, end] : played.stages[s]) {
        EXPECT_GE(start, before);
        before = end;
        const std::uint32_t v = shape.virtual_stage({s, step.chunk});
        const bool forward = step.kind == PassKind::kForward;
        if (forward && v > 0) {
          EXPECT_GE(start, ends.at({true, v - 1, step.micro_batch}));
        }
        if (!forward) {
          EXPECT_GE(start, ends.at({true, v, step.micro_batch}));
        }
        if (!forward && step.kind != PassKind::kBackwardWeight && v < last) {
          EXPECT_GE(start, ends.at({false, v + 1, step.micro_batch}));
        }
        if (step.kind == PassKind::kBackwardWeight) {
          EXPECT_GE(start, ends.at({false, v, step.micro_batch}));
        }
      }
    }
  }
}

TEST(PipelinePlay, TheBubbleOfLoopedSchedulesShrinksWithTheChunks) {
  // A step of one stage takes m (F + B). The last stage's first forward pass waits for p - 1 passes of one chunk, and
  // after its last backward pass p - 1 more follow; between them somebody always computes. With F = v f: idle is
  // (p - 1) (f + b + w) = (p - 1) (F + B) / v (arXiv 2104.04473, section 2.2). It needs m >= p, or a chunk's passes end
  // before its first micro-batch is back.
  for (const Times& t : kTimes) {
    for (const PipelineShape& shape : pipeline_shapes()) {
      const bool looped = shape.schedule == kInterleaved || shape.schedule == kBreadthFirst;
      const bool plain = shape.schedule == kGPipe || shape.schedule == kOneFOneB;
      if (!plain && !(looped && (shape.chunks == 1 || shape.micro_batches >= shape.stages))) continue;
      SCOPED_TRACE(PrintToString(shape) + " " + PrintToString(t));
      const PlayedPipeline played = play_pipeline(shape, pass_times(t));
      const Duration expected{(shape.stages - 1) * (t.f + t.b + t.w)};
      for (std::uint32_t s = 0; s < shape.stages; ++s) EXPECT_EQ(played.idle(s), expected) << "stage " << s;
    }
  }
}

TEST(PipelinePlay, BreadthFirstWaitsBetweenChunksForFewMicroBatches) {
  // m < p: each of the v - 1 changes of chunk, forward and back, waits p - m passes for the first micro-batch.
  const PipelineShape shape{kBreadthFirst, 6, 3, 2};
  const PlayedPipeline played = play_pipeline(shape, pass_times({10, 12, 8}));
  EXPECT_EQ(played.idle(0), Duration{5 * 30 + 2 * (6 - 2) * 30});
}

TEST(PipelinePlay, ZeroBubbleH1FillsTheBubbleWithWeightParts) {
  // Stage 0 has p forward passes before its first backward pass can begin, at (p - 1) (f + b) + f: its idle time until
  // then is (p - 1) b. Its last weight part ends last. Table 1 of arXiv 2401.10241: (p - 1) (f + b - w).
  for (const Times& t : kTimes) {
    for (const PipelineShape& shape : pipeline_shapes()) {
      if (shape.schedule != kZeroBubbleH1 || shape.micro_batches < shape.stages) continue;
      SCOPED_TRACE(PrintToString(shape) + " " + PrintToString(t));
      const PlayedPipeline played = play_pipeline(shape, pass_times(t));
      const Duration expected{(shape.stages - 1) * (t.f + t.b - t.w)};
      for (std::uint32_t s = 0; s < shape.stages; ++s) EXPECT_EQ(played.idle(s), expected) << "stage " << s;
    }
  }
}

TEST(PipelinePlay, ZeroBubbleH2HasNoBubbleBetweenFirstAndLastPass) {
  // Table 1 of arXiv 2401.10241: (p - 1) (f + b - 2 w), which is 0 for equal times. Stages begin one after the other, f
  // apart, so the whole step still has (p - 1) f of it before the last one begins. 2 p - 1 micro-batches fill the warm-up.
  for (const Times& t : kTimes) {
    for (const PipelineShape& shape : pipeline_shapes()) {
      if (shape.schedule != kZeroBubbleH2 || shape.micro_batches + 1 < 2 * shape.stages) continue;
      SCOPED_TRACE(PrintToString(shape) + " " + PrintToString(t));
      const PlayedPipeline played = play_pipeline(shape, pass_times(t));
      Duration longest{};
      for (std::uint32_t s = 0; s < shape.stages; ++s) longest = std::max(longest, played.bubble(s));
      EXPECT_EQ(longest, Duration{(shape.stages - 1) * (t.f + t.b - 2 * t.w)});
    }
  }
}

TEST(PipelinePlay, DualPipeOfOverlappedPairs) {
  // arXiv 2412.19437, table 2: (p / 2 - 1) (F&B + B - 3 W) with B = b + w the whole backward pass and W = w, so
  // (p / 2 - 1) (F&B + b - 2 w). The played schedule has f for b: what the stage waits for is a forward pass, and the
  // paper takes both as equal. Here F&B = f + b + w: both passes at once for as long as one after the other.
  for (const Times& t : kDualPipeTimes) {
    for (const PipelineShape& shape : pipeline_shapes()) {
      if (shape.schedule != kDualPipe) continue;
      SCOPED_TRACE(PrintToString(shape) + " " + PrintToString(t));
      std::vector<PassTimes> times = pass_times(t);
      const std::int64_t pair = t.f + t.b + t.w;
      times.front().overlapped = Duration{pair};
      const PlayedPipeline played = play_pipeline(shape, times);
      const Duration expected{(shape.stages / 2 - 1) * (pair + t.f - 2 * t.w)};
      for (std::uint32_t s = 0; s < shape.stages; ++s) EXPECT_EQ(played.idle(s), expected) << "stage " << s;
    }
  }
}

TEST(PipelinePlay, DualPipeOfPassesOneAfterTheOther) {
  // One after the other, the result of a pair's forward pass leaves b + w before the pair ends. So each of the p / 2 - 1
  // waits for a pair, f + b + w, of the test above is one for a forward pass, f: (p / 2 - 1) (f + f - 2 w) and, as the
  // backward pass that comes back is no part of a pair any more, b - f + w: (p / 2 - 1) (f + b - w), half of zb_h1's.
  for (const Times& t : kDualPipeTimes) {
    for (const PipelineShape& shape : pipeline_shapes()) {
      if (shape.schedule != kDualPipe) continue;
      SCOPED_TRACE(PrintToString(shape) + " " + PrintToString(t));
      const PlayedPipeline played = play_pipeline(shape, pass_times(t));
      const Duration expected{(shape.stages / 2 - 1) * (t.f + t.b - t.w)};
      for (std::uint32_t s = 0; s < shape.stages; ++s) EXPECT_EQ(played.idle(s), expected) << "stage " << s;
    }
  }
}

TEST(PipelinePlay, TimesDifferByVirtualStage) {
  // Two stages, one micro-batch: F0 of 1, F1 of 10, B1 of 20 + 30, B0 of 2 + 3, one after the other.
  const PlayedPipeline played = play_pipeline(
      {kOneFOneB, 2, 1, 1}, {{Duration{1}, Duration{2}, Duration{3}, {}}, {Duration{10}, Duration{20}, Duration{30}, {}}});
  EXPECT_EQ(played.makespan(), Duration{66});
  EXPECT_EQ(played.idle(0), Duration{60});
  EXPECT_EQ(played.bubble(0), Duration{60});
  EXPECT_EQ(played.idle(1), Duration{6});
  EXPECT_EQ(played.bubble(1), Duration{0});
}

TEST(PipelinePlay, OverlappedPassesShareTheirTime) {
  // Two stages, DualPipe of four micro-batches, in the middle: F0 F2 F1 B2 F3+B0 B3 b1 w1 is 3 + 2 + 2.5 + 2 + 2 units
  // of 10 when a pair takes 25 and a whole backward pass 20.
  std::vector<PassTimes> times = pass_times({10, 10, 10});
  times.front().overlapped = Duration{25};
  const PlayedPipeline played = play_pipeline({kDualPipe, 2, 1, 4}, times);
  EXPECT_EQ(played.makespan(), Duration{30 + 20 + 25 + 20 + 20});
  const auto pair = std::find_if(played.stages[0].begin(), played.stages[0].end(),
                                 [](const PlayedPass& pass) { return pass.step.overlaps_next; });
  ASSERT_NE(pair, played.stages[0].end());
  EXPECT_EQ(pair[0].start, pair[1].start);
  EXPECT_EQ(pair[0].end, pair[1].end);
}

}  // namespace
}  // namespace photonrail
