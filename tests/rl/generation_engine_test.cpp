#include "rl/generation_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::rl {
namespace {

using ::testing::ElementsAre;

/// 100 ps a step, 10 for each sequence, 1 for each cached token; 2 for each token of a prompt.
class PlainCost final : public GenerationCost {
 public:
  [[nodiscard]] double decode(double sequences, double cached) const override { return 100 + 10 * sequences + cached; }
  [[nodiscard]] double prefill(double tokens) const override { return 2 * tokens; }
};

GenerationRequest request(std::uint64_t sample, std::uint32_t tokens) {
  return {.sample = sample, .fresh = 5, .cached = 5, .room = 5.0 + tokens, .tokens = tokens};
}

// Two requests of 2 and 4 tokens after prompts of 5. Steps 1 and 2 with both: prefill 20, then 100 + 20 + 10, 100 + 20 +
// 12; steps 3 and 4 alone: 100 + 10 + 7, 100 + 10 + 8.
TEST(GenerationEngine, RunsEndWhereTheBatchChanges) {
  const PlainCost cost;
  GenerationEngine engine(cost, {});
  engine.add(request(0, 2));
  engine.add(request(1, 4));
  EXPECT_EQ(engine.begin_run(), Duration{20 + 130 + 132});
  EXPECT_THAT(engine.end_run(), ElementsAre(0u));
  EXPECT_EQ(engine.begin_run(), Duration{117 + 118});
  EXPECT_THAT(engine.end_run(), ElementsAre(1u));
  EXPECT_EQ(engine.begin_run(), std::nullopt);
  EXPECT_DOUBLE_EQ(engine.generated(), 6);
  EXPECT_DOUBLE_EQ(engine.slot_time(), 2.0 * 282 + 235);
}

// A run that is cut short costs the same in parts.
TEST(GenerationEngine, PartsOfARunAddUp) {
  const PlainCost cost;
  Duration sums[2]{};
  for (const std::uint32_t longest : {0u, 7u}) {
    GenerationEngine engine(cost, {.longest_run = longest});
    engine.add(request(0, 50));
    engine.add(request(1, 90));
    while (const auto time = engine.begin_run()) {
      sums[longest > 0] += *time;
      static_cast<void>(engine.end_run());
    }
  }
  EXPECT_EQ(sums[0], sums[1]);
}

// Room for 20 tokens: two requests of 9 fit, the third waits for one of them; a kept one takes its room along.
TEST(GenerationEngine, AdmitsWhatFits) {
  const PlainCost cost;
  GenerationEngine engine(cost, {.kv_tokens = 20});
  for (std::uint64_t s = 0; s < 3; ++s) engine.add(request(s, 4));
  EXPECT_TRUE(engine.begin_run());
  EXPECT_EQ(engine.running(), 2u);
  EXPECT_EQ(engine.waiting(), 1u);
  EXPECT_THAT(engine.end_run(), ElementsAre(0u, 1u));
  engine.keep(9);
  engine.add(request(3, 4));
  EXPECT_TRUE(engine.begin_run());
  EXPECT_EQ(engine.running(), 1u);
  EXPECT_THAT(engine.end_run(), ElementsAre(2u));
  engine.drop(9);
  EXPECT_TRUE(engine.begin_run());
  EXPECT_EQ(engine.running(), 1u);
}

// New weights: the KV of all running sequences is computed anew, 2 ps a token.
TEST(GenerationEngine, RecomputesKv) {
  const PlainCost cost;
  GenerationEngine engine(cost, {.longest_run = 1});
  engine.add(request(0, 3));
  EXPECT_EQ(engine.begin_run(), Duration{10 + 115});
  static_cast<void>(engine.end_run());
  engine.recompute();
  EXPECT_EQ(engine.begin_run(), Duration{2 * 6 + 116});
}

}  // namespace
}  // namespace photonrail::rl
