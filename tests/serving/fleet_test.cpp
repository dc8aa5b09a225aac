// Engines that fail in the middle, start and stop with the load, and refuse by class.
#include "serving/served.hpp"

#include <algorithm>

namespace photonrail::serving {
namespace {

constexpr LinearLaw kStepLaw{kMs, 10 * kUs, 20 * kUs, {}};

// Two engines, one request each of 1,000 tokens and 100 answers: 11 ms, then 1.02 ms a token. Engine 0 fails at 20 ms,
// when its request has 9 tokens (the ninth after 11 + 8 x 1.02 = 19.16 ms).
ServingSpec one_of_two_fails(Duration detection) {
  ServingSpec spec = one_pool(kStepLaw, plain_engine(), 2);
  spec.requests.concurrency = 2;
  spec.requests.count = 2;
  spec.requests.input = tokens(1000);
  spec.requests.output = tokens(100);
  spec.failures = {{0, 0, Time{20 * kMs}, {}, detection}};
  return spec;
}

// The other engine is in a step that ends at 11 + 9 x 1.02 = 20.18 ms. The next one has 1,009 tokens of the request that
// moves beside a decode: 1 + 10.09 + 0.02 ms, and gives the tenth token.
TEST(ServingFleet, ARequestOfAFailedEngineIsComputedAgainElsewhere) {
  const ServingResult r = served(one_of_two_fails({}));
  EXPECT_EQ(r.finished, 2U);
  EXPECT_EQ(r.restarts, 1U);
  EXPECT_EQ(r.failures, 1U);
  expect_books(r);
  const auto moved = std::find_if(r.requests.begin(), r.requests.end(), [](const auto& q) { return q.restarts == 1; });
  ASSERT_NE(moved, r.requests.end());
  EXPECT_EQ(moved->first, Time{11 * kMs});
  const Duration ninth = 11 * kMs + 8 * (kMs + 20 * kUs);
  const Duration tenth = 11 * kMs + 9 * (kMs + 20 * kUs) + kMs + 10'090 * kUs + 20 * kUs;
  EXPECT_EQ(moved->longest_gap, tenth - ninth);
  // 90 more in steps with the other request until that has its 100, and the last ten alone.
  EXPECT_GT(moved->last, Time{tenth + 90 * kMs});
  EXPECT_EQ(r.engines[0].off, r.makespan - 20 * kMs);
}

// Nothing knows it for 30 ms: so much later it begins again.
TEST(ServingFleet, WhatIsNotDetectedWaits) {
  const ServingResult soon = served(one_of_two_fails({}));
  const ServingResult late = served(one_of_two_fails(30 * kMs));
  EXPECT_NEAR(ms_of(late.makespan - soon.makespan), 30.0, 2.1);  // a step of the other engine, more or less
  expect_books(late);
}

TEST(ServingFleet, WithoutAnotherEngineRequestsWaitForTheRepair) {
  ServingSpec spec = one_pool(kStepLaw, plain_engine());
  spec.requests.concurrency = 1;
  spec.requests.count = 3;
  spec.requests.input = tokens(1000);
  spec.requests.output = tokens(1);
  spec.failures = {{0, 0, Time{5 * kMs}, 100 * kMs, kMs}};
  const ServingResult r = served(spec);
  EXPECT_EQ(r.finished, 3U);
  EXPECT_EQ(r.makespan, 105 * kMs + 3 * (11 * kMs));
  EXPECT_EQ(r.ttft.most, 105 * kMs + 11 * kMs);
  EXPECT_EQ(r.engines[0].off, 100 * kMs);
  expect_books(r);

  spec.failures.front().lasts.reset();
  EXPECT_THROW(served(spec), DeadlockError);
}

ServingSpec failing(std::uint64_t seed) {
  RandomStream draw(seed, "failures");
  EngineSpec engine = plain_engine(150);
  engine.prefix_caching = seed % 2 == 0;
  engine.token_budget = 256;
  engine.max_sequences = 12;
  if (seed % 5 == 0) engine.speculation = {3, 0.5, 100 * kUs};
  if (seed % 6 == 0) {
    engine.preemption = Preemption::kSwap;
    engine.swap_block = 10 * kUs;
  }
  ServingSpec spec;
  if (seed % 3 == 0) {
    spec.pools.push_back(pool(PoolRole::kMixed, 4, 0, kStepLaw, engine));
  } else {
    spec.pools.push_back(pool(PoolRole::kPrefill, 2, 0, kStepLaw, engine));
    spec.pools.push_back(pool(PoolRole::kDecode, 4, 2, kStepLaw, engine));
  }
  spec.pools.back().together = seed % 4 == 0 ? 2 : 1;
  spec.transfer.bytes_per_token = 1e6;
  spec.transfer.layers = 8;
  spec.transfer.when = static_cast<TransferSpec::When>(seed % 2);
  spec.transfer.order = static_cast<TransferSpec::Order>(seed / 2 % 2);
  spec.transfer.first_token_at_prefill = seed % 7 < 3;
  spec.routing.decode = static_cast<RoutePolicy>(seed % 7);
  spec.requests.arrivals.stages = {{60.0}};
  spec.requests.turns = 2;
  spec.requests.input = {LengthLaw::Kind::kLogNormal, 150, 1.0, 1000};
  spec.requests.output = {LengthLaw::Kind::kLogNormal, 30, 0.8, 300};
  spec.requests.classes = {{"a", 2.0, 0, 100 * kMs, {}, 0}, {"b", 1.0, 1, {}, {}, 0}};
  spec.requests.count = 300;
  spec.seed = seed;
  Time at{};
  for (int i = 0; i < 12; ++i) {
    at += Duration{static_cast<std::int64_t>(draw.uniform() * 500e9)};
    EngineFailure failure;
    failure.pool = static_cast<std::uint32_t>(draw.below(spec.pools.size()));
    failure.engine = static_cast<std::uint32_t>(draw.below(spec.pools[failure.pool].engines.size()));
    failure.at = at;
    failure.lasts = Duration{static_cast<std::int64_t>(draw.uniform() * 800e9) + 50'000'000'000};
    failure.detection = draw.below(2) == 0 ? Duration{} : *failure.lasts / static_cast<std::int64_t>(1 + draw.below(4));
    spec.failures.push_back(failure);
  }
  return spec;
}

// Failures of any engine at any time: whatever was there begins again, and nothing is lost.
TEST(ServingFleet, NothingIsLostWhateverFails) {
  std::uint64_t restarts = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    const ServingSpec spec = failing(seed);
    const ServingResult r = served(spec, {20e9});
    expect_books(r);
    EXPECT_EQ(r.offered, 300U);
    EXPECT_EQ(r.unfinished, 0U);
    EXPECT_EQ(r.refused, 0U);
    EXPECT_EQ(r.classes[0].offered + r.classes[1].offered, 300U);
    EXPECT_EQ(r.classes[0].finished + r.classes[1].finished, 300U);
    std::uint64_t answers = 0;
    for (const ServedRequest& q : r.requests) answers += q.output;
    EXPECT_EQ(r.itl.count, answers - 300);  // each token but the first has a gap
    restarts += r.restarts;
    if (seed % 10 == 0) {
      const ServingResult again = served(spec, {20e9});
      EXPECT_EQ(r.makespan, again.makespan);
      EXPECT_EQ(r.itl.mean, again.itl.mean);
    }
  }
  EXPECT_GT(restarts, 500U);
}

// Four engines, of which one is always there. Weights of 1 GB come at 50 GB/s: 20 ms, and 5 ms more until requests.
ServingSpec scaled(double up, double down) {
  ServingSpec spec = one_pool(kStepLaw, plain_engine(), 4);
  spec.pools.front().scaling = ScalingSpec{1, up, down, 50 * kMs, 5 * kMs, Bytes{1'000'000'000}};
  spec.requests.arrivals.stages = {{10.0, Duration{2'000'000'000'000}}, {400.0, Duration{1'000'000'000'000}}, {10.0}};
  spec.requests.input = tokens(500);
  spec.requests.output = tokens(20);
  spec.requests.count = 460;
  return spec;
}

TEST(ServingFleet, EnginesStartAndStopWithTheLoad) {
  const ServingResult r = served(scaled(4.0, 1.0));
  expect_books(r);
  EXPECT_EQ(r.finished, 460U);
  EXPECT_EQ(r.started, 3U);
  EXPECT_EQ(r.stopped, 3U);
  EXPECT_EQ(r.weight_bytes, 3'000'000'000U);
  EXPECT_EQ(r.start.mean, 25 * kMs);
  EXPECT_EQ(r.engines[0].off, Duration{});
  for (std::size_t e = 1; e < 4; ++e) EXPECT_GT(to_seconds(r.engines[e].off), 2.0);
  // One engine alone has 6.6 ms of work a request, for 2.5 ms between two.
  const ServingResult alone = served(scaled(1e9, 0.0));
  EXPECT_EQ(alone.started, 0U);
  EXPECT_GT(alone.ttft.p99, 3 * r.ttft.p99);
}

TEST(ServingFleet, AClassIsShedWhereItsLimitIsReached) {
  ServingSpec spec = one_pool(kStepLaw, plain_engine());
  spec.pools.front().engine.max_sequences = 4;
  spec.requests.arrivals.stages = {{200.0}};
  spec.requests.input = tokens(500);
  spec.requests.output = tokens(20);
  spec.requests.count = 600;
  spec.requests.classes = {{"paid", 1.0, 0, 50 * kMs, {}, 0}, {"free", 3.0, 1, {}, {}, 5}};
  spec.pools.front().engine.order = QueueOrder::kPriority;
  const ServingResult r = served(spec);
  expect_books(r);
  EXPECT_EQ(r.classes[0].refused, 0U);
  EXPECT_GT(r.classes[1].refused, 50U);
  EXPECT_EQ(r.refused, r.classes[1].refused);
  EXPECT_NEAR(static_cast<double>(r.classes[0].offered) / 600.0, 0.25, 0.06);
  EXPECT_LT(r.classes[0].ttft.mean, r.classes[1].ttft.mean);
}

}  // namespace
}  // namespace photonrail::serving
