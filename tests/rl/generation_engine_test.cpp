#include "rl/generation_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace photonrail::rl {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// 100 ps a step, 10 for each sequence, 1 for each cached token that a decode reads; 2 for each token of a prompt.
const serving::LinearStepTime& plain_times() {
  static const serving::LinearStepTime kTimes({Duration{100}, Duration{2}, Duration{10}, Duration{1}});
  return kTimes;
}

serving::EngineSpec batching(std::uint64_t blocks, std::uint32_t block_tokens = 4) {
  serving::EngineSpec spec;
  spec.block_tokens = block_tokens;
  spec.blocks = blocks;
  return spec;
}

Stretch stretch(std::uint64_t sample, std::uint32_t tokens, std::uint64_t prefix = 0) {
  return {.sample = sample, .prefix = prefix, .prompt = 8, .context = 8, .tokens = tokens};
}

/// Runs until nothing can run, and returns the time.
Duration run_out(GenerationEngine& engine) {
  Time now{};
  while (const auto time = engine.begin_run(now)) {
    now = now + *time;
    for (const std::uint64_t sample : engine.end_run()) engine.release(sample);
  }
  return now.since_start();
}

// Two requests of 2 and 4 tokens after prompts of 8 that differ. The first step computes both prompts and gives the first
// tokens: 100 + 2 x 16. The second decodes both, which read 8 tokens each: 100 + 2 x 10 + 16. Then one alone, which reads 9
// and 10: 100 + 10 + 9, 100 + 10 + 10.
TEST(GenerationEngine, RunsEndWhereTheBatchChanges) {
  GenerationEngine engine(batching(100), plain_times(), 1);
  engine.add(stretch(0, 2, 0));
  engine.add(stretch(1, 4, 1));
  EXPECT_EQ(engine.begin_run(Time{}), Duration{132 + 136});
  EXPECT_THAT(engine.end_run(), ElementsAre(0u));
  EXPECT_EQ(engine.begin_run(Time{}), Duration{119 + 120});
  EXPECT_THAT(engine.end_run(), ElementsAre(1u));
  EXPECT_EQ(engine.begin_run(Time{}), std::nullopt);
}

// Responses to one prompt compute it once: the second computes its last block of 4 tokens again, since its first token
// follows from the last token of the prompt. 100 + 2 x (8 + 4).
TEST(GenerationEngine, SharesThePromptOfAGroup) {
  GenerationEngine engine(batching(100), plain_times(), 1);
  for (std::uint64_t sample = 0; sample < 2; ++sample) engine.add(stretch(sample, 1));
  EXPECT_EQ(engine.begin_run(Time{}), Duration{100 + 2 * 12});
  EXPECT_EQ(engine.totals().prompt_tokens, 16u);
  EXPECT_EQ(engine.totals().cached_tokens, 4u);
}

// A run that is cut short takes as long in parts, and ends with the first step that ends at the limit or later.
TEST(GenerationEngine, PartsOfARunAddUp) {
  Duration sums[3]{};
  const serving::RunLimit limits[3] = {{}, {.max_steps = 7}, {.until = Time{1}}};
  for (int i = 0; i < 3; ++i) {
    GenerationEngine engine(batching(1000), plain_times(), 1);
    engine.add(stretch(0, 50, 0));
    engine.add(stretch(1, 90, 1));
    std::uint32_t runs = 0;
    while (const auto time = engine.begin_run(Time{}, limits[i])) {
      sums[i] += *time;
      for (const std::uint64_t sample : engine.end_run()) engine.release(sample);
      ++runs;
    }
    EXPECT_EQ(runs, i == 0 ? 2u : i == 1 ? 14u : 90u);  // 8 + 6 runs of 7 steps or less, with the end of the first
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
}

// 5 blocks of 4: two requests of 8 + 5 - 1 = 12 tokens need 6. The second is preempted when both want their third block,
// and finds its 8 tokens of prompt again; the one that it had made had no KV yet, so that nothing is computed twice.
TEST(GenerationEngine, PreemptsWhatDoesNotFit) {
  GenerationEngine engine(batching(5), plain_times(), 1);
  engine.add(stretch(0, 5, 0));
  engine.add(stretch(1, 5, 1));
  EXPECT_TRUE(engine.begin_run(Time{}));
  EXPECT_THAT(engine.end_run(), ElementsAre(0u));
  engine.release(0);
  EXPECT_TRUE(engine.begin_run(Time{}));
  EXPECT_THAT(engine.end_run(), ElementsAre(1u));
  EXPECT_EQ(engine.totals().preemptions, 1u);
  EXPECT_EQ(engine.totals().recomputed_tokens, 0u);
}

// A sample of 8 + 4 tokens calls a tool and goes on with 12 + 3 of its result. Where its KV stays, and where it is given up
// but not taken, the blocks of its first 8 tokens are found (the 12th token has no KV, so that the third block is not
// full); where another took all blocks, nothing is.
TEST(GenerationEngine, FindsWhatASampleHadBeforeItsTool) {
  const auto cached = [](bool stays, bool taken) {
    GenerationEngine engine(batching(6), plain_times(), 1);
    engine.add(stretch(0, 4));
    EXPECT_TRUE(engine.begin_run(Time{}));
    EXPECT_THAT(engine.end_run(), ElementsAre(0u));
    if (!stays) engine.release(0);
    if (taken) {
      engine.add({.sample = 1, .prefix = 9, .prompt = 20, .context = 20, .tokens = 4});
      EXPECT_EQ(engine.begin_run(Time{}).has_value(), !stays);  // held blocks keep it waiting
      if (!stays) engine.release(engine.end_run().at(0));
    }
    const std::uint64_t before = engine.totals().cached_tokens;
    engine.add({.sample = 0, .prefix = 0, .prompt = 8, .context = 15, .tokens = 2});
    run_out(engine);
    return engine.totals().cached_tokens - before;
  };
  EXPECT_EQ(cached(true, false), 8u);
  EXPECT_EQ(cached(false, false), 8u);
  EXPECT_EQ(cached(false, true), 0u);
}

// KV that comes back from elsewhere is not computed: one step for the 4 tokens that are new, 100 + 2 x 4.
TEST(GenerationEngine, TakesKvFromElsewhere) {
  GenerationEngine engine(batching(100), plain_times(), 1);
  engine.add({.sample = 0, .prefix = 0, .prompt = 8, .context = 15, .tokens = 1, .brought = 11});
  EXPECT_EQ(engine.begin_run(Time{}), Duration{100 + 2 * 4});
  EXPECT_THAT(engine.end_run(), ElementsAre(0u));
  EXPECT_EQ(engine.samples(), 0u);
}

// New weights: two samples in flight compute prompt and generated tokens again, 8 + 3 each, and end as before. What was
// found before is not found.
TEST(GenerationEngine, RecomputesAllKv) {
  GenerationEngine engine(batching(100), plain_times(), 1);
  for (std::uint64_t sample = 0; sample < 2; ++sample) engine.add(stretch(sample, 5));
  EXPECT_TRUE(engine.begin_run(Time{}, {.max_steps = 3}));
  EXPECT_TRUE(engine.end_run().empty());
  engine.recompute();
  const auto again = engine.begin_run(Time{}, {.max_steps = 1});
  EXPECT_TRUE(engine.end_run().empty());
  EXPECT_EQ(again, Duration{100 + 2 * (11 + 3)});  // the second finds the prompt, which the first computes now
  EXPECT_TRUE(engine.begin_run(Time{}));
  EXPECT_THAT(engine.end_run(), UnorderedElementsAre(0u, 1u));
}

}  // namespace
}  // namespace photonrail::rl
