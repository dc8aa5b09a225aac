// Whole jobs under the kit of agents: computations take the times that they ask for, a refit what the test says.
#include "rl/agent.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "photonrail/testing/agent_kit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

namespace photonrail::rl {
namespace {

using ::testing::HasSubstr;

constexpr Duration milli(std::int64_t n) { return Duration{n * 1'000'000'000}; }

/// 32 responses of 100 tokens at 10 ms a step: 1 s. 0.1 s before and 0.4 s of training, of which the kit says the latter.
RlSpec small_job() {
  RlSpec spec;
  spec.model.layers = 2;
  spec.model.hidden = 64;
  spec.model.ffn = 64;
  spec.model.heads = spec.model.kv_heads = 2;
  spec.model.vocabulary = 100;
  spec.prompts = {.count = 8, .responses = 4, .tokens = 10, .lengths = {LengthSpec::Kind::kConstant, 100}};
  spec.mode = {.batch = 32, .steps = 5};
  spec.generation.engines = 2;
  spec.generation.times = std::make_shared<serving::LinearStepTime>(serving::LinearLaw{.fixed = milli(10)});
  spec.generation.batching.blocks = 1000;
  spec.training.step.model = spec.model;
  spec.training.step.parallelism.dp = 2;
  spec.training.micro_batch_tokens = 1000;
  spec.other = milli(100);
  return spec;
}

struct KitTimes {
  Duration refit = milli(50);
  Duration train = milli(400);
};

RlResult run_job(const RlSpec& spec, const KitTimes& times = {}) {
  spec.validate();
  RlAgent agent(spec, refit_graphs(spec));
  testing::AgentKit kit(agent, spec.ranks());
  kit.begin();
  kit.run([&](const testing::AgentCall& call) {
    if (call.label.kind == RlAgent::kRefit) return times.refit;
    if (call.label.kind == RlAgent::kTrain) return times.train;
    return call.time;
  });
  EXPECT_TRUE(agent.finished()) << agent.waiting()[0];
  return agent.result();
}

double middle_step(const RlResult& result) {
  double sum = 0.0;
  for (std::size_t i = 1; i + 1 < result.steps.size(); ++i) sum += to_seconds(result.steps[i].step);
  return sum / static_cast<double>(result.steps.size() - 2);
}

TEST(RlAgent, OnPolicyIsASum) {
  RlSpec spec = small_job();
  spec.mode.shared = true;
  EXPECT_NEAR(middle_step(run_job(spec)), 1.0 + 0.1 + 0.4 + 0.05, 0.002);
  spec.offload.bytes = 25e9;  // a second there and one back
  EXPECT_NEAR(middle_step(run_job(spec)), 3.55, 0.002);
  // Parameters of 2 bytes and an optimizer of 12, not sharded: 14 bytes each way.
  spec.offload.bytes = 0.0;
  spec.offload.training_state = true;
  spec.offload.rate = Bandwidth{14.0 * spec.model.parameters()};
  EXPECT_NEAR(middle_step(run_job(spec)), 3.55, 0.02);
  spec.mode.shared = false;  // the same on GPUs of their own
  EXPECT_NEAR(middle_step(run_job(spec)), 1.55, 0.002);
}

// Two GPUs behind one link to their host share it: a second there and one back become two.
TEST(RlAgent, GpusShareLinksToTheirHost) {
  RlSpec spec = small_job();
  spec.mode.shared = true;
  spec.offload.bytes = 25e9;
  spec.offload.gpus_per_link = 2;
  const RlResult result = run_job(spec);
  EXPECT_NEAR(to_seconds(result.steps[1].offload), 2.0, 1e-6);
  EXPECT_NEAR(to_seconds(result.steps[1].reload), 2.0, 1e-6);
  EXPECT_NEAR(to_seconds(result.steps[1].log_probabilities), 0.1, 1e-6);
  EXPECT_NEAR(middle_step(result), 5.55, 0.002);
  EXPECT_DOUBLE_EQ(result.offloaded_bytes, 25e9 * 2 * 2 * 5);  // GPUs, ways, steps
}

// 16 responses an engine of 10 + 100 tokens, of which the last is not fed back: 109 x 16 tokens go through each engine in a
// step, and two layers reduce 2 x 64 x 2 bytes each.
TEST(RlAgent, MessagesInsideEnginesAreTraffic) {
  RlSpec spec = small_job();
  spec.generation.batching.prefix_caching = false;
  spec.generation.engine.ranks = spec.generation.engine.tp = 2;
  const auto reduced = [](const RlSpec& of) {
    RlAgent agent(of, refit_graphs(of));
    testing::AgentKit kit(agent, of.ranks());
    std::map<LaunchId, double> of_launch;  // a launch is asked for its time more than once
    kit.run([&](const testing::AgentCall& call) {
      if (call.label.kind != RlAgent::kExchange) return call.time;
      of_launch[call.id] = static_cast<double>(call.size.count);
      return milli(30);
    });
    EXPECT_TRUE(agent.finished());
    double bytes = 0.0;
    for (const auto& [launch, sent] : of_launch) bytes += sent;
    return std::pair(bytes, middle_step(agent.result()));
  };
  EXPECT_FALSE(EngineFlows(spec).any());
  const auto timed = reduced(spec);
  EXPECT_EQ(timed.first, 0.0);
  spec.generation.flows = true;
  const auto flows = reduced(spec);
  EXPECT_DOUBLE_EQ(flows.first, 5.0 * 2 * 109 * 16 * 2 * 2 * 64 * 2);
  EXPECT_NEAR(flows.second, timed.second + 0.03, 0.002);
  spec.generation.engine.ranks = spec.generation.engine.tp = 1;
  EXPECT_THROW(spec.validate(), ConfigError) << "one GPU sends nothing";
}

// A refit is announced when the last mini-batch begins, so that its circuits may be asked for behind its last message:
// before what training kept comes back.
TEST(RlAgent, AnnouncesItsRefit) {
  RlSpec spec = small_job();
  spec.mode.shared = true;
  spec.offload.bytes = 25e9;
  RlAgent agent(spec, refit_graphs(spec));
  testing::AgentKit kit(agent, spec.ranks());
  std::size_t reloads_beside = 0;
  kit.run([&](const testing::AgentCall& call) {
    for (const testing::AgentCall& other : kit.open()) {
      const bool ahead = other.label.kind == RlAgent::kRefit && other.entered.empty() && other.announced.size() == 2;
      if (call.label.kind == RlAgent::kReload && ahead) ++reloads_beside;
    }
    return call.time;
  });
  EXPECT_TRUE(agent.finished());
  EXPECT_GE(reloads_beside, 5u * 2u);
}

// verl: max(generation, the rest) + refit.
TEST(RlAgent, OneStepOffIsTheLongerOfTwo) {
  RlSpec spec = small_job();
  spec.mode.ahead = 1.0;
  const RlResult generates = run_job(spec);
  EXPECT_NEAR(middle_step(generates), 1.05, 0.002);
  EXPECT_DOUBLE_EQ(generates.steps[2].staleness, 1.0);
  EXPECT_NEAR(middle_step(run_job(spec, {.train = milli(1400)})), 1.55, 0.002);
}

// Lengths vary: one step off waits for the longest response of each batch, asynchronous generation does not; and it never
// loses, whatever is ahead. No response is lost or used twice.
TEST(RlAgent, AsynchronousDoesNotWaitForTheLongest) {
  RlSpec spec = small_job();
  spec.prompts.lengths = {LengthSpec::Kind::kLogNormal, 100, 0.8, 0};
  spec.mode.steps = 12;
  spec.mode.ahead = 1.0;
  const double one_step_off = middle_step(run_job(spec));
  spec.mode.partial = true;
  spec.generation.longest_run = 4;
  double before = one_step_off;
  for (const double ahead : {1.0, 2.0}) {
    spec.mode.ahead = ahead;
    const RlResult result = run_job(spec);
    EXPECT_LE(middle_step(result), before * 1.001);
    EXPECT_EQ(std::accumulate(result.staleness.begin(), result.staleness.end(), std::uint64_t{0}), 12u * 32u);
    before = middle_step(result);
  }
  EXPECT_LT(before, 0.8 * one_step_off);
}

// One worker scores 32 responses in 20 ms each, all complete after 1 s.
TEST(RlAgent, RewardsQueueForWorkers) {
  RlSpec spec = small_job();
  spec.mode.shared = true;
  spec.rewards = {milli(20), 1};
  EXPECT_NEAR(middle_step(run_job(spec)), 1.55 + 32 * 0.02, 0.002);
  spec.rewards.workers = 0;
  EXPECT_NEAR(middle_step(run_job(spec)), 1.55 + 0.02, 0.002);
}

// Calls of 1 s: responses of a prompt ask the same in turn. With the tree, and calls in flight waited for, the first
// response that comes so far pays; engines stand in between. The d-th call is made with p = (2/3)^d; of 4 responses 4 p
// make it, and the first of them is no hit: the sum of 4 p - 1 + (1 - p)^4 over the sum of 4 p is 0.42.
TEST(RlAgent, ToolsHoldEnginesUp) {
  RlSpec spec = small_job();
  spec.mode.shared = true;
  spec.tools.emplace();
  spec.tools->calls = 2.0;
  spec.tools->call = DelayDistribution::constant(milli(1000));
  const RlResult without = run_job(spec);
  EXPECT_EQ(without.tool_hits, 0u);
  EXPECT_GT(without.tool_calls, 5u * 32u);
  EXPECT_GT(to_seconds(without.tool_wait), 1.0);
  spec.tools->cache = CacheKind::kPrefixTree;
  const RlResult with = run_job(spec);
  EXPECT_EQ(with.tool_calls, without.tool_calls);
  EXPECT_NEAR(static_cast<double>(with.tool_hits) / static_cast<double>(with.tool_calls), 0.42, 0.06);
  EXPECT_LE(middle_step(with), middle_step(without) * 1.01);  // a copy begins anew where no sandbox was kept
  // What the tree forgets at once is found by none but those who wait for it.
  spec.tools->tree.seconds_to_live = 0.0;
  spec.tools->in_flight = InFlight::kRunTwice;
  EXPECT_LT(run_job(spec).tool_hits, with.tool_hits / 10);
}

TEST(RlAgent, NamesWhatAStepWaitsFor) {
  RlSpec spec = small_job();
  RlAgent agent(spec, refit_graphs(spec));
  testing::AgentKit kit(agent, spec.ranks());
  kit.begin();
  EXPECT_THAT(agent.waiting()[0], HasSubstr("training step 1 of 5: 32 responses in flight, 0 complete, of the 32"));
}

// Four mini-batches are four optimizer steps, and a critic trains beside the policy.
TEST(RlAgent, TrainsMiniBatchByMiniBatch) {
  RlSpec spec = small_job();
  spec.training.mini_batches = 4;
  const RlResult policy = run_job(spec);
  EXPECT_EQ(policy.steps[0].optimizer_steps, 4u);
  EXPECT_NEAR(to_seconds(policy.steps[0].training), 4 * 0.4, 1e-9);
  spec.training.critic = true;
  EXPECT_NEAR(to_seconds(run_job(spec).steps[0].training), 8 * 0.4, 1e-9);
}

// The second of two engines fails at 0.5 s of its second, and is back a second later. Its 16 responses are made by the
// first, 1 s from then on: the step's generation is 1.5 s. None is lost or counted twice.
TEST(RlAgent, MakesTheResponsesOfAFailedEngineAgain) {
  RlSpec spec = small_job();
  spec.generation.failures = {{.engine = 1, .at = Time{} + milli(505), .lasts = milli(1000)}};
  const RlResult result = run_job(spec);
  EXPECT_EQ(result.made_again, 16u);
  EXPECT_NEAR(to_seconds(result.steps[0].generation), 1.51, 0.011);
  EXPECT_NEAR(to_seconds(result.steps[1].generation), 1.0, 0.011);
  EXPECT_EQ(std::accumulate(result.staleness.begin(), result.staleness.end(), std::uint64_t{0}), 5u * 32u);
}

// Where no engine is left, the job says what it waits for.
TEST(RlAgent, NamesFailedEngines) {
  RlSpec spec = small_job();
  spec.generation.failures = {{.engine = 0, .at = Time{} + milli(300)}, {.engine = 1, .at = Time{} + milli(300)}};
  RlAgent agent(spec, refit_graphs(spec));
  testing::AgentKit kit(agent, spec.ranks());
  kit.begin();
  kit.run([](const testing::AgentCall& call) { return call.time; });
  EXPECT_FALSE(agent.finished());
  EXPECT_THAT(agent.waiting()[0], HasSubstr("2 of 2 engines failed"));
}

// Failures at drawn times, with tools, in all modes: every sample is trained once.
TEST(RlAgent, LosesNoResponse) {
  RandomStream random(3, "failures");
  for (int draw = 0; draw < 60; ++draw) {
    RlSpec spec = small_job();
    spec.seed = static_cast<std::uint64_t>(draw);
    spec.prompts.lengths = {LengthSpec::Kind::kLogNormal, 100, 0.7, 0};
    spec.mode.ahead = static_cast<double>(draw % 3) / 2.0;
    spec.mode.partial = draw % 2 == 1;
    spec.mode.in_order = draw % 5 == 1;
    spec.generation.engines = 4;
    spec.waiting_kv = static_cast<WaitingKv>(draw % 3);
    spec.generation.batching.blocks = 40 + random.below(200);
    if (draw % 4 > 0) {
      spec.tools.emplace();
      spec.tools->call = DelayDistribution::constant(milli(static_cast<std::int64_t>(random.below(900))));
      spec.tools->cache = CacheKind::kPrefixTree;
      spec.tools->result_tokens = 20;
    }
    for (int f = 0; f < 6; ++f) {
      EngineFailure& failure = spec.generation.failures.emplace_back();
      failure.engine = static_cast<std::uint32_t>(random.below(4));
      failure.at = Time{} + milli(static_cast<std::int64_t>(random.below(9000)));
      failure.lasts = milli(static_cast<std::int64_t>(random.below(2000)));
    }
    const RlResult result = run_job(spec);
    EXPECT_EQ(std::accumulate(result.staleness.begin(), result.staleness.end(), std::uint64_t{0}), 5u * 32u) << draw;
  }
}

// 16 responses on an engine whose KV has room for eight of them: some are preempted, and the step takes longer.
TEST(RlAgent, PreemptsWhereKvIsShort) {
  RlSpec spec = small_job();
  const double before = middle_step(run_job(spec));
  spec.generation.batching.blocks = 8 * 7;
  const RlResult result = run_job(spec);
  EXPECT_GT(result.preemptions, 0u);
  EXPECT_GT(result.recomputed_tokens, 0u);
  EXPECT_GT(middle_step(result), 1.3 * before);
}

// A tool call of 1 s: KV that is held costs nothing; that which is swapped at 1 MB/s comes late; that which is dropped is
// computed again where others took its blocks. Answers are the same.
TEST(RlAgent, KvOfWaitingResponses) {
  RlSpec spec = small_job();
  spec.tools.emplace();
  spec.tools->call = DelayDistribution::constant(milli(1000));
  spec.generation.times =
      std::make_shared<serving::LinearStepTime>(serving::LinearLaw{.fixed = milli(10), .prefill_token = milli(1)});
  const RlResult stays = run_job(spec);
  spec.waiting_kv = WaitingKv::kSwapped;
  spec.swap_rate = Bandwidth{1e5};  // 512 B a token: some 60 tokens take 0.3 s
  const RlResult swapped = run_job(spec);
  EXPECT_EQ(swapped.tool_calls, stays.tool_calls);
  EXPECT_GT(middle_step(swapped), middle_step(stays));
  spec.waiting_kv = WaitingKv::kDropped;
  spec.generation.batching.blocks = 60;
  const RlResult dropped = run_job(spec);
  EXPECT_EQ(dropped.tool_calls, stays.tool_calls);
  EXPECT_LT(dropped.cached_tokens, stays.cached_tokens);
}

}  // namespace
}  // namespace photonrail::rl
