// Served requests against closed forms (reference in docs/models/serving.md), and what must hold of every run.
#include "photonrail/workload/registry.hpp"
#include "serving/served.hpp"

#include <vector>

namespace photonrail::serving {
namespace {

// 1,000 prompt tokens in chunks of 400, 400, 200: three prefill steps and nine decodes of one.
TEST(Serving, OneRequestTakesTheSumOfItsSteps) {
  EngineSpec engine = plain_engine();
  engine.token_budget = 400;
  ServingSpec spec = one_pool({kMs, 10 * kUs, 20 * kUs, {}}, engine);
  spec.requests.count = 1;
  spec.requests.concurrency = 1;
  spec.requests.input = tokens(1000);
  spec.requests.output = tokens(10);
  const ServingResult r = served(spec);
  EXPECT_EQ(r.ttft.mean, 3 * kMs + 1000 * (10 * kUs));
  EXPECT_EQ(r.e2e.mean, r.ttft.mean + 9 * (kMs + 20 * kUs));
  EXPECT_EQ(r.itl.mean, kMs + 20 * kUs);
  EXPECT_EQ(r.tpot.mean, r.itl.mean);
  expect_books(r);
}

// A prompt whose blocks are those of prompts that wait for a slow link keeps what it has: it is not computed again and
// again.
TEST(Serving, APromptThatLacksBlocksOfKvOnItsWayWaitsForThem) {
  EngineSpec engine = plain_engine(40);
  engine.block_tokens = 1;
  engine.token_budget = 8;
  ServingSpec spec;
  spec.pools = {pool(PoolRole::kPrefill, 1, 0, {kMs, {}, {}, {}}, engine),
                pool(PoolRole::kDecode, 1, 1, {kMs, {}, {}, {}}, plain_engine())};
  spec.requests.concurrency = 6;
  spec.requests.count = 12;
  spec.requests.input = tokens(24);
  spec.requests.output = tokens(2);
  spec.transfer.bytes_per_token = 1000.0;
  const ServingResult r = served(spec, {1000.0});  // 24 s a prompt, whose three steps take 3 ms
  EXPECT_EQ(r.finished, 12U);
  EXPECT_LE(r.engines[0].steps, 12U * 4U);
  EXPECT_LE(r.engines[0].preemptions, 12U);
  expect_books(r);
  const std::shared_ptr<const SchedulingPolicy> policy = SchedulerRegistry::builtin().make("shortest_first");
  for (PoolSpec& each : spec.pools) each.engine.policy = policy;
  EXPECT_LE(served(spec, {1000.0}).engines[0].steps, 12U * 4U);
}

// N clients of a step law a + b n. Every step has each of them once: TPOT = a + b N.
TEST(Serving, AClosedLoopOfEqualRequestsHasTheTpotOfItsStepLaw) {
  ServingSpec spec = one_pool({kMs, {}, 50 * kUs, {}}, plain_engine());
  spec.requests.count = 320;
  spec.requests.concurrency = 32;
  spec.requests.input = tokens(1);  // a chunk of one token is a decode
  spec.requests.output = tokens(100);
  spec.warm_up = 32;
  const ServingResult r = served(spec);
  EXPECT_EQ(r.tpot.mean, kMs + 32 * (50 * kUs));
  EXPECT_EQ(r.tpot.most, r.tpot.p50);
  expect_books(r);
}

// One slot, one token: M/D/1. At rho = 0.7 and D = 1 ms: D + rho D / (2 (1 - rho)) = 2.1667 ms.
TEST(Serving, OneSlotIsAQueueWithAConstantService) {
  EngineSpec engine = plain_engine();
  engine.max_sequences = 1;
  ServingSpec spec = one_pool({kMs, {}, {}, {}}, engine);
  spec.requests.arrivals.stages = {{700.0}};
  spec.requests.count = 200'000;
  const ServingResult r = served(spec);
  EXPECT_NEAR(ms_of(r.ttft.mean), 1.0 + 0.7 / (2 * 0.3), 0.022);
  EXPECT_FALSE(r.exact);
  EXPECT_EQ(r.requests.size(), kMaxServedRows);
  expect_books(r);
}

// A step law c n shares the engine equally: E2E = L c / (1 - rho), for long answers. c = 10 us, L = 400, 150 requests/s:
// rho = 0.6, 10 ms.
TEST(Serving, AStepLawWithoutAFixedPartIsProcessorSharing) {
  EngineSpec engine = plain_engine();
  engine.max_sequences = 1000;
  ServingSpec spec = one_pool({{}, {}, 10 * kUs, {}}, engine);
  spec.requests.arrivals.stages = {{150.0}};
  spec.requests.output = tokens(400);
  spec.requests.count = 6000;
  const ServingResult r = served(spec);
  EXPECT_NEAR(ms_of(r.e2e.mean), 4.0 / 0.4, 0.4);
  expect_books(r);
}

// Four drafts, each accepted with probability 0.6: (1 - 0.6^5) / 0.4 = 2.3056 tokens a step.
TEST(Serving, DraftsGiveTheTokensOfTheirLaw) {
  EngineSpec engine = plain_engine();
  engine.speculation = {4, 0.6, {}};
  ServingSpec spec = one_pool({kMs, {}, {}, {}}, engine);
  spec.requests.concurrency = 1;
  spec.requests.count = 50;
  spec.requests.input = tokens(1);
  spec.requests.output = tokens(2001);
  const ServingResult r = served(spec);
  EXPECT_NEAR(1.0 / ms_of(r.tpot.mean), 2.3056, 0.02);
  EXPECT_EQ(r.itl.count, 50 * 2000U);
  expect_books(r);
}

ServingSpec apart(TransferSpec::When when, bool first_at_prefill) {
  ServingSpec spec;
  const EngineSpec engine = plain_engine();
  spec.pools.push_back(pool(PoolRole::kPrefill, 2, 0, {kMs, 10 * kUs, 20 * kUs, {}}, engine));
  spec.pools.push_back(pool(PoolRole::kDecode, 2, 2, {kMs, 10 * kUs, 20 * kUs, {}}, engine));
  spec.transfer.when = when;
  spec.transfer.bytes_per_token = 1e5;
  spec.transfer.layers = 10;
  spec.transfer.first_token_at_prefill = first_at_prefill;
  spec.requests.concurrency = 1;
  spec.requests.count = 4;
  spec.requests.input = tokens(1000);
  spec.requests.output = tokens(3);
  return spec;
}

// Prefill 11 ms; 100 MB over 50 GB/s: 2 ms; each decode 1.02 ms.
TEST(Serving, PartsOfPrefillAndDecodeApartAddUp) {
  const ServingResult r = served(apart(TransferSpec::When::kAtEnd, false));
  EXPECT_EQ(r.ttft.mean, 11 * kMs + 2 * kMs + kMs + 20 * kUs);
  EXPECT_EQ(r.e2e.mean, r.ttft.mean + 2 * (kMs + 20 * kUs));
  EXPECT_EQ(r.parts[static_cast<int>(TtftPart::kTransfer)].mean, 2 * kMs);
  EXPECT_EQ(r.transfers, 4U);
  EXPECT_EQ(r.transfer_bytes, 400'000'000U);
  expect_books(r);

  const ServingResult at_prefill = served(apart(TransferSpec::When::kAtEnd, true));
  EXPECT_EQ(at_prefill.ttft.mean, 11 * kMs);
  EXPECT_EQ(at_prefill.itl.most, 2 * kMs + kMs + 20 * kUs);
}

// Nine of ten layers go beside the prompt's last chunk; the last one, 10 MB, after it: 0.2 ms.
TEST(Serving, LayersThatGoDuringPrefillAreHidden) {
  const ServingResult r = served(apart(TransferSpec::When::kLayerByLayer, false));
  EXPECT_EQ(r.ttft.mean, 11 * kMs + kMs / 5 + kMs + 20 * kUs);
  expect_books(r);
}

// A session's second prompt is the 1,000 tokens of the first, its 3, and 1,000 more. Both engines have 62 blocks of 16
// tokens of it: 1,011 of 2,003 are computed, 11.11 ms, and sent, 101.1 MB in 2.022 ms.
TEST(Serving, OnlyKvThatTheDecodeEngineLacksIsSent) {
  for (const auto when : {TransferSpec::When::kAtEnd, TransferSpec::When::kLayerByLayer}) {
    for (const bool first_at_prefill : {false, true}) {
      ServingSpec spec = apart(when, first_at_prefill);
      spec.requests.turns = 2;
      spec.requests.count = 2;
      spec.pools[0].engines.resize(1);
      spec.pools[1].engines.resize(1);
      for (PoolSpec& pool : spec.pools) pool.engine.prefix_caching = true;
      const ServingResult r = served(spec);
      expect_books(r);
      EXPECT_EQ(r.transfer_bytes, (1000U + 1011U) * 100'000U);
      EXPECT_EQ(r.found_bytes, 992U * 100'000U);
      const ServedRequest& second = r.requests.back();
      EXPECT_EQ(second.wire, 2'022 * kUs);
      if (first_at_prefill) continue;
      const Duration sent = when == TransferSpec::When::kAtEnd ? 2'022 * kUs : Duration{202'200'000};
      EXPECT_EQ(second.first - second.arrival, 11'110 * kUs + sent + kMs + 20 * kUs);
    }
  }
}

// The common 640 tokens of all prompts go once to each of two decode engines; what is not sent was there.
TEST(Serving, KvOfACommonPrefixIsSentOnceToEachEngine) {
  ServingSpec spec = apart(TransferSpec::When::kAtEnd, false);
  spec.requests.count = 20;
  spec.requests.prefix = {1, 640};
  for (PoolSpec& pool : spec.pools) pool.engine.prefix_caching = true;
  spec.routing.decode = RoutePolicy::kRoundRobin;
  const ServingResult r = served(spec);
  EXPECT_EQ(r.found_bytes, 18U * 640U * 100'000U);
  EXPECT_EQ(r.transfer_bytes + r.found_bytes, 20U * 1000U * 100'000U);
}

// Blocks of 48 tokens hold 624 of the common 640, and those of 16 all.
TEST(Serving, EnginesWithUnlikeBlocksFindWhatIsCommonOnly) {
  ServingSpec spec = apart(TransferSpec::When::kAtEnd, false);
  spec.requests.count = 20;
  spec.requests.prefix = {1, 640};
  for (PoolSpec& pool : spec.pools) pool.engine.prefix_caching = true;
  spec.pools[1].engine.block_tokens = 48;
  spec.routing.arrivals = spec.routing.decode = RoutePolicy::kRoundRobin;
  const ServingResult r = served(spec);
  EXPECT_EQ(r.found_bytes, 18U * 624U * 100'000U);
  EXPECT_EQ(r.engines[0].cached_tokens + r.engines[1].cached_tokens, 18U * 640U);
}

// 40 requests of 20 tokens come every 100 ms, and each begins its answer after 11 ms + 2 ms + 1.02 ms: 39 of them until the
// last one begins. Where one at a time takes 10 ms + 20 x 1 ms and more come, 39 answers begin one after another.
TEST(Serving, TheSteadyRateOfTokensHasNoTail) {
  ServingSpec spec = apart(TransferSpec::When::kAtEnd, false);
  spec.requests.concurrency = 0;
  spec.requests.arrivals.kind = ArrivalLaw::Kind::kConstant;
  spec.requests.arrivals.stages = {{10.0}};
  spec.requests.count = 40;
  spec.requests.output = tokens(20);
  const ServingResult r = served(spec);
  const double begins_s = 13e-3;  // its first decode step
  EXPECT_NEAR(r.steady_output_tokens_per_s, 39 * 20 / (3.9 + begins_s + 1.02e-3), 1e-6);
  EXPECT_GT(r.steady_output_tokens_per_s, r.output_tokens_per_s());

  ServingSpec crowded = one_pool({kMs, 9 * kUs, {}, {}}, plain_engine());
  crowded.pools[0].engine.max_sequences = 1;
  crowded.requests.arrivals.stages = {{1e6}};
  crowded.requests.count = 2000;
  crowded.requests.input = tokens(1000);
  crowded.requests.output = tokens(21);
  crowded.warm_up = 10;
  EXPECT_NEAR(served(crowded).steady_output_tokens_per_s, 21 / 30e-3, 21 / 30e-3 * 0.01);
}

TEST(Serving, WhatCannotFitIsRefusedAndAHorizonLeavesTheRestUnfinished) {
  ServingSpec spec = one_pool({10 * kMs, {}, {}, {}}, plain_engine(10));
  spec.requests.arrivals.stages = {{100.0}};
  spec.requests.input = {LengthLaw::Kind::kUniform, 1, 320};  // 160 tokens fit
  spec.requests.output = tokens(20);
  spec.requests.count = 1'000;
  spec.horizon = Time{from_seconds(2.0)};
  spec.slo = SloSpec{100 * kMs, {}};
  const ServingResult r = served(spec);
  EXPECT_GT(r.refused, 50U);
  EXPECT_GT(r.unfinished, 10U);
  EXPECT_LT(r.slo->share, static_cast<double>(r.finished) / static_cast<double>(r.offered) + 1e-9);
  expect_books(r);
}

// Everything at once: little memory, prefixes, sessions, swap, priorities, drafts, ages of signals.
ServingSpec busy(std::uint64_t seed) {
  EngineSpec engine = plain_engine(120);
  engine.prefix_caching = seed % 4 < 2;
  engine.token_budget = 256;
  engine.max_sequences = 12;
  engine.preemption = seed % 3 == 0 ? Preemption::kSwap : Preemption::kRecompute;
  engine.swap_block = 10 * kUs;
  engine.order = static_cast<QueueOrder>(seed % 3);
  engine.admission = static_cast<Admission>(seed % 4 % 3);
  if (seed % 5 == 0) engine.speculation = {3, 0.5, 100 * kUs};
  ServingSpec spec;
  const LinearLaw law{kMs, 10 * kUs, 20 * kUs, Duration{1000}};
  if (seed % 2 == 0) {
    spec.pools.push_back(pool(PoolRole::kMixed, 3, 0, law, engine));
  } else {
    spec.pools.push_back(pool(PoolRole::kPrefill, 2, 0, law, engine));
    spec.pools.push_back(pool(PoolRole::kDecode, 3, 2, law, engine));
  }
  spec.transfer.bytes_per_token = 1e5;
  spec.transfer.layers = 8;
  spec.transfer.when = static_cast<TransferSpec::When>(seed % 3 % 2);
  spec.transfer.order = static_cast<TransferSpec::Order>(seed % 5 % 2);
  spec.transfer.first_token_at_prefill = seed % 7 < 3;
  spec.routing.arrivals = static_cast<RoutePolicy>(seed % 7);
  spec.routing.decode = static_cast<RoutePolicy>(seed % 6 + 1);
  spec.routing.signal_age = 50 * kMs;
  spec.requests.arrivals.stages = {{40.0}};
  spec.requests.turns = 3;
  spec.requests.think = DelayDistribution::constant(100 * kMs);
  spec.requests.input = {LengthLaw::Kind::kLogNormal, 150, 1.0, 1500};
  spec.requests.output = {LengthLaw::Kind::kLogNormal, 30, 0.8, 400};
  spec.requests.prefix = {4, 64};
  spec.requests.count = 300;
  spec.seed = seed;
  return spec;
}

TEST(Serving, EveryRunKeepsItsBooksAndIsTheSameAgain) {
  std::uint64_t preemptions = 0;
  std::uint64_t cached = 0;
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const ServingResult r = served(busy(seed));
    expect_books(r);
    EXPECT_EQ(r.offered, 300U);
    EXPECT_EQ(r.unfinished, 0U);
    std::uint64_t whole = 0;
    for (const ServedRequest& q : r.requests) whole += q.delivered == Time::never() ? 0 : q.prompt * std::uint64_t{100'000};
    EXPECT_EQ(r.transfer_bytes + r.found_bytes, whole);
    found += r.found_bytes;
    for (const auto& e : r.engines) {
      preemptions += e.preemptions;
      cached += e.cached_tokens;
    }
    if (seed % 10 != 0) continue;
    const ServingResult again = served(busy(seed));
    EXPECT_EQ(r.makespan, again.makespan);
    EXPECT_EQ(r.ttft.mean, again.ttft.mean);
    EXPECT_EQ(r.itl.mean, again.itl.mean);
  }
  EXPECT_GT(preemptions, 100U);  // or the settings would show little
  EXPECT_GT(cached, 10'000U);
  EXPECT_GT(found, 10'000U * 100'000U);
}

TEST(Serving, RoutersAnswerByWhatTheyKnow) {
  const std::vector<EngineSignal> engines{{90, 10, 5, 8, 0, 2}, {20, 80, 9, 8, 64, 0}, {50, 50, 2, 8, 0, 1}};
  EXPECT_EQ(route(RoutePolicy::kRoundRobin, engines, {0, 4, 0, {}}), 1U);
  EXPECT_EQ(route(RoutePolicy::kRandom, engines, {0, 0, 8, {}}), 2U);
  EXPECT_EQ(route(RoutePolicy::kLeastRequests, engines, {}), 2U);
  EXPECT_EQ(route(RoutePolicy::kLeastBlocks, engines, {}), 1U);
  EXPECT_EQ(route(RoutePolicy::kPrefix, engines, {}), 2U);  // the one that has the prefix has more than 2 x 2 + 4
  EXPECT_EQ(route(RoutePolicy::kNearest, engines, {10, 0, 0, {}}), 2U);  // 0 is farther, 1 has no place
  EXPECT_EQ(route(RoutePolicy::kNearest, engines, {60, 0, 0, {}}), 1U);  // no other has blocks, though it has no place
  EXPECT_EQ(route(RoutePolicy::kSticky, engines, {10, 0, 0, 0}), 0U);
  EXPECT_EQ(route(RoutePolicy::kSticky, engines, {11, 0, 0, 0}), 1U);  // no blocks there: as least_blocks
  EXPECT_EQ(route(RoutePolicy::kSticky, engines, {1, 0, 0, 1}), 1U);   // no place there: the same
}

}  // namespace
}  // namespace photonrail::serving
