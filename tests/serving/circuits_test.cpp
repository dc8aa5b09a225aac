// KV from one prefill engine to eight decode engines over a rail: what a switch's delay adds, against closed forms
// (oracle_kv_over_circuits in the reference data; here at fewer transfers).
#include "photonrail/testing/tiny_job.hpp"
#include "serving/agent.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace photonrail::test {
namespace {

using namespace serving;

constexpr double kBytes = 1.342177280e9 / 8;  // of 4,096 tokens of Llama-3-70B that one of eight NICs sends
constexpr double kTransferMs = kBytes / 50e9 * 1e3;
constexpr std::uint32_t kDestinations = 8;

ServingSpec one_to_eight(double per_s, std::uint64_t transfers) {
  ServingSpec spec;
  EngineSpec engine;
  engine.blocks = 1'000'000;
  engine.max_sequences = 10'000;
  engine.prefix_caching = false;
  PoolSpec prefill;
  prefill.name = "prefill";
  prefill.role = PoolRole::kPrefill;
  prefill.engine = engine;
  prefill.engines = {{RankId{0U}}};
  prefill.times = std::make_shared<LinearStepTime>(LinearLaw{Duration{1}, {}, {}, {}});
  PoolSpec decode = prefill;
  decode.name = "decode";
  decode.role = PoolRole::kDecode;
  decode.engines.clear();
  for (std::uint32_t i = 1; i <= kDestinations; ++i) decode.engines.push_back({RankId{i}});
  spec.pools = {prefill, decode};
  spec.routing.decode = RoutePolicy::kRandom;
  spec.transfer.bytes_per_token = kBytes;
  spec.transfer.order = TransferSpec::Order::kFifo;
  spec.transfer.rate = {50e9};
  spec.requests.arrivals.stages = {{per_s}};
  spec.requests.count = transfers;
  return spec;
}

ServingResult over_rail(const ServingSpec& spec, const std::string& controller, Duration delay) {
  testing::TinyJob job(1 + kDestinations);
  if (!controller.empty()) job.optical(delay, controller);
  job.build();
  job.scenario.graph = idle_graph(1 + kDestinations);
  ServingAgent agent(spec);
  static_cast<void>(simulate(job.scenario, agent));
  return agent.result();
}

double mean_ms(const ServingResult& result) { return to_seconds(result.transfer.mean) * 1e3; }

// First come, first served, S = x, or x + delay with probability 7/8: E[S] + lambda E[S^2] / (2 (1 - lambda E[S])).
double on_demand_ms(double per_s, double delay_ms) {
  const double share = 1.0 - 1.0 / kDestinations;
  const double service = kTransferMs + share * delay_ms;
  const double square =
      (1.0 - share) * kTransferMs * kTransferMs + share * (kTransferMs + delay_ms) * (kTransferMs + delay_ms);
  const double per_ms = per_s / 1e3;
  return service + per_ms * square / (2.0 * (1.0 - per_ms * service));
}

TEST(ServingCircuits, AnElectricalRailIsAQueueWithAConstantService) {
  // rho = 0.336: 3.355 + 0.336 x 3.355 / (2 x 0.664) = 4.203 ms
  EXPECT_NEAR(mean_ms(over_rail(one_to_eight(100.0, 20'000), "", {})), 4.203, 0.06);
}

TEST(ServingCircuits, OnDemandTheDelayAddsWhatTheClosedFormSays) {
  struct Point {
    double per_s, delay_ms;
  };
  for (const Point& at : {Point{10.0, 15.0}, Point{100.0, 1.0}, Point{100.0, 5.0}, Point{200.0, 0.1}}) {
    const ServingResult result =
        over_rail(one_to_eight(at.per_s, 20'000), "lru", Duration{static_cast<std::int64_t>(at.delay_ms * 1e9)});
    EXPECT_NEAR(mean_ms(result) / on_demand_ms(at.per_s, at.delay_ms), 1.0, 0.05)
        << at.per_s << "/s, " << at.delay_ms << " ms";
    // The parts of each request add up to its TTFT (Metrics checks it), and what is not the wire's is the circuit's.
    EXPECT_NEAR(to_seconds(result.parts[static_cast<int>(TtftPart::kTransfer)].mean) * 1e3, kTransferMs, 1e-3);
  }
}

// 5.9 ms is where a static split of the port by destination, M/D/1 with 8 x and 100 / 8 a second, is as good: 33.6 ms.
TEST(ServingCircuits, TheBreakEvenWithAStaticSplitIsWhereTheClosedFormHasIt) {
  EXPECT_NEAR(on_demand_ms(100.0, 5.9), 33.62, 1.7);
  const ServingResult result = over_rail(one_to_eight(100.0, 60'000), "lru", Duration{5'900'000'000});
  EXPECT_NEAR(mean_ms(result), 33.62, 4.0);  // rho = 0.85: 60,000 transfers are some 2,000 busy periods
}

// lambda (x + 7/8 delay) = 1.65: no mean exists. The horizon ends it, and the rest is said.
TEST(ServingCircuits, AnOverloadIsSaidAndNotAveraged) {
  ServingSpec spec = one_to_eight(100.0, 20'000);
  spec.horizon = Time{from_seconds(20.0)};
  const ServingResult result = over_rail(spec, "lru", Duration{15'000'000'000});
  EXPECT_GT(result.unfinished, 500U);
  EXPECT_EQ(result.offered, result.finished + result.refused + result.unfinished);
}

// Where the next KV goes to the engine that the circuit points at, as long as it has a place, hardly any is re-pointed.
TEST(ServingCircuits, StickyRoutesSaveReconfigurations) {
  ServingSpec spec = one_to_eight(100.0, 5'000);
  spec.routing.decode = RoutePolicy::kSticky;
  const ServingResult sticky = over_rail(spec, "lru", Duration{5'000'000'000});
  const ServingResult random = over_rail(one_to_eight(100.0, 5'000), "lru", Duration{5'000'000'000});
  EXPECT_NEAR(mean_ms(sticky), 4.2, 0.3);  // as on an electrical rail
  EXPECT_GT(mean_ms(random), 15.0);
}

}  // namespace
}  // namespace photonrail::test
