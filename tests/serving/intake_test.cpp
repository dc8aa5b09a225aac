// When engines take requests that wait: TensorRT-LLM, SGLang and vLLM with asynchronous scheduling differ in it.
#include "serving/one_engine.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace photonrail::test {
namespace {

using namespace serving;

constexpr std::int64_t kMicrosecond = 1'000'000;

struct Asked {
  std::int64_t at_us;
  std::uint32_t prompt;
};

/// Each step takes 10 us; the first request generates until all others have come.
std::vector<std::int64_t> first_tokens_us(const IntakeRules& rules, const std::vector<Asked>& asked,
                                          const StepSeen& seen = {}) {
  EngineSpec spec;
  spec.blocks = 1000;
  spec.intake = rules;
  std::vector<Arrival> arrivals;
  for (const Asked& one : asked) {
    Request request;
    request.prompt = one.prompt;
    request.output = 12;
    arrivals.push_back({Time{} + Duration{one.at_us * kMicrosecond}, request});
  }
  LinearLaw law;
  law.fixed = Duration{10 * kMicrosecond};
  const OneEngine run = run_one_engine(spec, arrivals, LinearStepTime(law), seen);
  std::vector<std::int64_t> us;
  for (const Outcome& outcome : run.outcomes) us.push_back((*outcome.first - Time{}).count() / kMicrosecond);
  return us;
}

using Us = std::vector<std::int64_t>;

TEST(ServingIntake, AStepThatIsDecidedAheadLacksWhoComesMeanwhile) {
  // The second comes in the first step, from 0 to 10: it is in the next one, or in the one after that.
  EXPECT_EQ(first_tokens_us({}, {{0, 4}, {5, 4}}), (Us{10, 20}));
  IntakeRules ahead;
  ahead.ahead = true;
  EXPECT_EQ(first_tokens_us(ahead, {{0, 4}, {5, 4}}), (Us{10, 30}));
  // An engine with nothing to do decides when the request comes.
  EXPECT_EQ(first_tokens_us(ahead, {{0, 4}, {500, 4}}), (Us{10, 510}));
}

TEST(ServingIntake, RequestsAreLookedForAfterPromptsAndSoManySteps) {
  IntakeRules rules;
  rules.poll_steps = 3;
  // The engine looks after the prompts of the steps from 0 and from 10, and then after the three from 20, 30 and 40.
  EXPECT_EQ(first_tokens_us(rules, {{0, 4}, {5, 4}, {25, 4}}), (Us{10, 20, 60}));
}

TEST(ServingIntake, RequestsAreHeldBackForSoManySteps) {
  IntakeRules rules;
  rules.wait_steps = 2;
  rules.wait_tokens = 20;
  // Of 4 + 1 tokens, the steps from 10 and 20 go without it; 30 + 1 are enough for the one from 10.
  EXPECT_EQ(first_tokens_us(rules, {{0, 4}, {5, 4}}), (Us{10, 40}));
  EXPECT_EQ(first_tokens_us(rules, {{0, 4}, {5, 30}}), (Us{10, 20}));
}

TEST(ServingIntake, PromptsAloneStopDecodes) {
  IntakeRules rules;
  rules.prompts_alone = true;
  std::vector<std::uint32_t> prompts;
  const StepSeen seen = [&](Time, const serving::Step& step, const auto&, const auto&, const auto&) {
    EXPECT_TRUE(step.prefills == 0 || step.decodes == 0);
    prompts.push_back(step.prefills);
  };
  EXPECT_EQ(first_tokens_us(rules, {{0, 4}, {5, 4}, {5, 4}}, seen), (Us{10, 20, 20}));
  // Two steps of prompts, then eleven of decodes, as both kinds generate twelve tokens.
  ASSERT_EQ(prompts.size(), 13U);
  EXPECT_EQ(prompts[0], 1U);
  EXPECT_EQ(prompts[1], 2U);
}

}  // namespace
}  // namespace photonrail::test
