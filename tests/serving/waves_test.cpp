// Engines that step together, in stages, and with their collectives as traffic.
#include "serving/served.hpp"

namespace photonrail::serving {
namespace {

constexpr LinearLaw kPlainLaw{kMs, 10 * kUs, 20 * kUs, {}};

// Two engines of one wave: a decode of one waits for the prompt of the other. The first request's prompt of 100 tokens
// takes 2 ms. That of 1,000 tokens comes to the other engine at 4 ms, in the middle of a step, and holds up one step of the
// first: 11 ms in place of 1.02.
TEST(ServingWaves, AWaveTakesAsLongAsItsSlowestEngine) {
  Trace trace;
  trace.rows = {{Time{}, 100, 50, 0, {}}, {Time{4 * kMs}, 1000, 2, 0, {}}};
  ServingSpec spec = one_pool(kPlainLaw, plain_engine(), 2);
  spec.routing.arrivals = RoutePolicy::kRoundRobin;
  spec.requests.trace = std::make_shared<Trace>(trace);
  spec.requests.count = 2;
  spec.pools.front().together = 2;
  const ServingResult r = served(spec);
  expect_books(r);
  // 2 + 49 decodes, of which one is as long as the prompt.
  EXPECT_EQ(r.makespan, 2 * kMs + 48 * (kMs + 20 * kUs) + 11 * kMs);
  const auto& prompt = *std::find_if(r.requests.begin(), r.requests.end(), [](const auto& q) { return q.prompt == 1000; });
  EXPECT_EQ(prompt.scheduled, Time{2 * kMs + 2 * (kMs + 20 * kUs)});  // it waits for the step that goes on
  spec.pools.front().together = 1;
  EXPECT_EQ(served(spec).makespan, 2 * kMs + 49 * (kMs + 20 * kUs));
}

// A step of one prompt of 1,000 tokens is 11 ms on two stages of two ranks, 5.5 ms each. Behind each computation the ranks
// reduce 1,000 x 20 kB / 2 at 50 GB/s: 0.2 ms; between the stages each of two ranks sends 1,000 x 10 kB / 2: 0.1 ms.
TEST(ServingWaves, StagesFollowEachOtherWithTheirTraffic) {
  ServingSpec spec = one_pool(kPlainLaw, plain_engine());
  spec.pools.front().engines = {{RankId{0U}, RankId{1U}, RankId{2U}, RankId{3U}}};
  spec.pools.front().stages = 2;
  spec.pools.front().flows = {20'000.0, 0.0, 10'000.0};
  spec.requests.concurrency = 1;
  spec.requests.count = 1;
  spec.requests.input = tokens(1000);
  spec.requests.output = tokens(1);
  const ServingResult r = served(spec);
  EXPECT_EQ(r.ttft.mean, 11 * kMs + 2 * (kMs / 5) + kMs / 10);
  expect_books(r);
}

// Experts of two engines that step together: 1,000 tokens x 80 kB over two ranks, 40 MB each at 50 GB/s: 0.8 ms.
TEST(ServingWaves, EnginesThatStepTogetherExchangeTokensOfExperts) {
  ServingSpec spec = one_pool(kPlainLaw, plain_engine(), 2);
  spec.pools.front().together = 2;
  spec.pools.front().flows.exchanged = 80'000.0;
  spec.requests.concurrency = 1;
  spec.requests.count = 1;
  spec.requests.input = tokens(1000);
  spec.requests.output = tokens(1);
  EXPECT_EQ(served(spec).ttft.mean, 11 * kMs + 4 * (kMs / 5));
}

}  // namespace
}  // namespace photonrail::serving
