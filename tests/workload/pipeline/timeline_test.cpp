#include "photonrail/workload/pipeline.hpp"
#include "workload/pipeline/pipeline_shapes.hpp"

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

/// The end of the forward (true) or backward pass, its input part where it is split, by virtual stage and micro-batch.
using Ends = std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, Time>;

Ends ends_of(const PipelineShape& shape, const PipelineTimeline& played) {
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
    const PipelineTimeline played = simulate_pipeline(shape, pass_times({3, 4, 2}));
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
  // The last stage begins when the first micro-batch has passed the p - 1 stages before it, after (p - 1) f, and is then
  // never idle: m >= p micro-batches are back at a chunk when it needs them. Its last backward pass has p - 1 more to
  // follow it, (p - 1) (b + w). With F = v f, B = v (b + w): (p - 1) (F + B) / v (arXiv 2104.04473, section 2.2).
  for (const Times& t : kTimes) {
    for (const PipelineShape& shape : pipeline_shapes()) {
      const bool looped = shape.schedule == kInterleaved || shape.schedule == kBreadthFirst;
      const bool plain = shape.schedule == kGPipe || shape.schedule == kOneFOneB;
      if (!plain && !(looped && (shape.chunks == 1 || shape.micro_batches >= shape.stages))) continue;
      SCOPED_TRACE(PrintToString(shape) + " " + PrintToString(t));
      const PipelineTimeline played = simulate_pipeline(shape, pass_times(t));
      const Duration expected{(shape.stages - 1) * (t.f + t.b + t.w)};
      for (std::uint32_t s = 0; s < shape.stages; ++s) EXPECT_EQ(played.idle(s), expected) << "stage " << s;
    }
  }
}

TEST(PipelinePlay, BreadthFirstWaitsBetweenChunksForFewMicroBatches) {
  // m < p: each of the v - 1 changes of chunk, forward and back, waits p - m passes for the first micro-batch.
  const PipelineShape shape{kBreadthFirst, 6, 3, 2};
  const PipelineTimeline played = simulate_pipeline(shape, pass_times({10, 12, 8}));
  EXPECT_EQ(played.idle(0), Duration{5 * 30 + 2 * (6 - 2) * 30});
}

TEST(PipelinePlay, ZeroBubbleH1FillsTheBubbleWithWeightParts) {
  // The last stage begins at (p - 1) f and is then never idle. After its last input part it has p - 1 weight parts left, of
  // the same length as those of micro-batches: it ends (p - 1) w + w later. The result of that input part passes p - 1
  // stages, and stage 0 ends with one weight part, (p - 1) b + w later. So idle time is (p - 1) f + (p - 1) (b - w): table
  // 1 of arXiv 2401.10241, where the longest stage is counted from its own first pass (stage 0, that begins at 0).
  for (const Times& t : kTimes) {
    for (const PipelineShape& shape : pipeline_shapes()) {
      if (shape.schedule != kZeroBubbleH1 || shape.micro_batches < shape.stages) continue;
      SCOPED_TRACE(PrintToString(shape) + " " + PrintToString(t));
      const PipelineTimeline played = simulate_pipeline(shape, pass_times(t));
      const Duration expected{(shape.stages - 1) * (t.f + t.b - t.w)};
      for (std::uint32_t s = 0; s < shape.stages; ++s) EXPECT_EQ(played.idle(s), expected) << "stage " << s;
    }
  }
}

TEST(PipelinePlay, ZeroBubbleH2HasNoBubbleBetweenFirstAndLastPass) {
  // Table 1 of arXiv 2401.10241: (p - 1) (f + b - 2 w), 0 for equal times. The last stage begins at (p - 1) f and is never
  // idle; after its last input part 2 (p - 1) + 1 weight parts are left. Stage 0 begins at 0, gets the result of that input
  // part (p - 1) b later and has one weight part left: so its end is (p - 1) (b - 2 w) after the other's, and its span from
  // first to last pass (p - 1) (f + b - 2 w) longer. It needs 2 p - 1 micro-batches for the warm-up.
  for (const Times& t : kTimes) {
    for (const PipelineShape& shape : pipeline_shapes()) {
      if (shape.schedule != kZeroBubbleH2 || shape.micro_batches + 1 < 2 * shape.stages) continue;
      SCOPED_TRACE(PrintToString(shape) + " " + PrintToString(t));
      const PipelineTimeline played = simulate_pipeline(shape, pass_times(t));
      Duration longest{};
      for (std::uint32_t s = 0; s < shape.stages; ++s) longest = std::max(longest, played.bubble(s));
      EXPECT_EQ(longest, Duration{(shape.stages - 1) * (t.f + t.b - 2 * t.w)});
    }
  }
}

TEST(PipelinePlay, DualPipeOfOverlappedPairs) {
  // arXiv 2412.19437, table 2: (p / 2 - 1) (F&B + B - 3 W), B = b + w the whole backward pass and W = w. As the table does,
  // take a forward pass as long as a backward pass for the input. F&B = f + b + w: both passes of a pair end at its end.
  for (const Times& t : {Times{10, 10, 10}, Times{12, 12, 10}, Times{10, 10, 7}}) {
    for (const PipelineShape& shape : pipeline_shapes()) {
      if (shape.schedule != kDualPipe) continue;
      SCOPED_TRACE(PrintToString(shape) + " " + PrintToString(t));
      std::vector<PassTimes> times = pass_times(t);
      const std::int64_t pair = t.f + t.b + t.w;
      times.front().overlapped = Duration{pair};
      const PipelineTimeline played = simulate_pipeline(shape, times);
      const Duration expected{(shape.stages / 2 - 1) * (pair + (t.b + t.w) - 3 * t.w)};
      for (std::uint32_t s = 0; s < shape.stages; ++s) EXPECT_EQ(played.idle(s), expected) << "stage " << s;
    }
  }
}

TEST(PipelinePlay, DualPipeOfPassesOneAfterTheOther) {
  // With h = p / 2: a middle stage waits (h - 1) f for its first pass, and never again. It ends with h weight parts after
  // its last input part; the result of that goes through the h - 1 stages to the end of the pipeline, where one weight part
  // follows, so that the end stage is done (h - 1) (b - w) later. Idle in all: (h - 1) (f + b - w), half of zb_h1's. (A
  // b much longer than f makes a middle stage wait: times here are b <= 1.2 f, and b >= w.)
  for (const Times& t : {Times{10, 10, 10}, Times{10, 12, 8}, Times{12, 10, 10}, Times{10, 8, 6}}) {
    for (const PipelineShape& shape : pipeline_shapes()) {
      if (shape.schedule != kDualPipe) continue;
      SCOPED_TRACE(PrintToString(shape) + " " + PrintToString(t));
      const PipelineTimeline played = simulate_pipeline(shape, pass_times(t));
      const Duration expected{(shape.stages / 2 - 1) * (t.f + t.b - t.w)};
      for (std::uint32_t s = 0; s < shape.stages; ++s) EXPECT_EQ(played.idle(s), expected) << "stage " << s;
    }
  }
}

TEST(PipelinePlay, TimesDifferByVirtualStage) {
  // Two stages, one micro-batch: F0 of 1, F1 of 10, B1 of 20 + 30, B0 of 2 + 3, one after the other.
  const PipelineTimeline played = simulate_pipeline(
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
  const PipelineTimeline played = simulate_pipeline({kDualPipe, 2, 1, 4}, times);
  EXPECT_EQ(played.makespan(), Duration{30 + 20 + 25 + 20 + 20});
  const auto pair = std::find_if(played.stages[0].begin(), played.stages[0].end(),
                                 [](const PlayedPass& pass) { return pass.step.overlaps_next; });
  ASSERT_NE(pair, played.stages[0].end());
  EXPECT_EQ(pair[0].start, pair[1].start);
  EXPECT_EQ(pair[0].end, pair[1].end);
}

}  // namespace
}  // namespace photonrail
