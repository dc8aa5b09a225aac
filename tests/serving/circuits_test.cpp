// KV from one prefill engine to eight decode engines over a rail: what a switch's delay adds, against closed forms
// (oracle_kv_over_circuits in the reference data; here at fewer transfers).
#include "serving/kv_over_circuits.hpp"

#include "photonrail/core/random.hpp"
#include "support/shared_data.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <fstream>
#include <vector>

namespace photonrail::test {
namespace {

using namespace serving;

constexpr Duration kWire{3'355'443'200};

Duration delay_of(double ms) { return Duration{static_cast<std::int64_t>(std::llround(ms * 1e9))}; }

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

// ---- Each transfer, by the recursion of a queue with one server: the next begins when the one before it has ended.

std::vector<ServedRequest> in_order(const ServingResult& result) {
  std::vector<ServedRequest> requests = result.requests;
  std::sort(requests.begin(), requests.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return requests;
}

constexpr double kRates[] = {10.0, 100.0, 200.0};
constexpr double kDelaysMs[] = {0.001, 0.01, 0.1, 1.0, 5.0, 10.0, 15.0, 25.0, 100.0};

TEST(ServingCircuits, OnDemandEveryTransferIsThatOfTheRecursion) {
  for (const double per_s : kRates) {
    for (const double delay_ms : kDelaysMs) {
      SCOPED_TRACE(std::to_string(per_s) + "/s, " + std::to_string(delay_ms) + " ms");
      const Duration delay = delay_of(delay_ms);
      Time free{};
      std::uint32_t lit = 0;  // the prefill engine's own number: no circuit is lit
      for (const ServedRequest& r : in_order(over_rail(one_to_eight(per_s, 300), "lru", delay))) {
        const Time begins = std::max(r.sent, free);
        free = begins + kWire + (r.decode_engine != lit ? delay : Duration{});
        lit = r.decode_engine;
        ASSERT_EQ(r.delivered, free) << "request " << r.number;
      }
    }
  }
}

TEST(ServingCircuits, OfAStaticSplitEveryTransferIsThatOfTheRecursion) {
  for (const double per_s : kRates) {
    ServingSpec spec = one_to_eight(per_s, 1'000);
    spec.transfer.order = TransferSpec::Order::kFair;  // those to one engine follow each other all the same
    std::vector<Time> free(1 + kDestinations);
    for (const ServedRequest& r : in_order(over_split(spec, std::vector<double>(kDestinations, 1.0)))) {
      Time& there = free[r.decode_engine];
      there = std::max(r.sent, there) + kWire * kDestinations;
      ASSERT_EQ(r.delivered, there) << "request " << r.number << " at " << per_s << "/s";
    }
  }
}

// Of eight ports in shares of 5 to 3 one engine has five and another three: its KV takes 8/5 or 8/3 of the time.
TEST(ServingCircuits, OfASplitByUnequalSharesEveryTransferHasItsPorts) {
  ServingSpec spec = one_to_eight(100.0, 300);
  spec.pools[1].engines.resize(2);
  spec.transfer.order = TransferSpec::Order::kFair;
  std::vector<Time> free(3);
  for (const ServedRequest& r : in_order(over_split(spec, {5.0, 3.0}))) {
    Time& there = free[r.decode_engine];
    const double wire = kTransferMs * 8.0 / (r.decode_engine == 1 ? 5.0 : 3.0);
    there = std::max(r.sent, there) + delay_of(wire);
    ASSERT_NEAR(to_seconds(r.delivered.since_start()), to_seconds(there.since_start()), 1e-9) << "request " << r.number;
    there = r.delivered;
  }
}

// A prompt of 4 ms a step is announced when its prefill begins. Its circuit begins to switch then, or when the KV before it
// has gone, and its KV leaves when both are there: a delay of up to 4 ms costs a request nothing that finds the port free.
TEST(ServingCircuits, OpenedWhenPrefillStartsADelayBelowThePrefillIsHidden) {
  constexpr Duration kPrefill{4'000'000'000};
  for (const double per_s : kRates) {
    for (const double delay_ms : {0.1, 1.0, 3.9, 4.0, 5.0, 15.0}) {
      SCOPED_TRACE(std::to_string(per_s) + "/s, " + std::to_string(delay_ms) + " ms");
      ServingSpec spec = one_to_eight(per_s, 300);
      spec.transfer.open_at_prefill = true;
      spec.pools[0].engine.token_budget = 1;  // one prompt a step
      spec.pools[0].times = std::make_shared<LinearStepTime>(LinearLaw{kPrefill, {}, {}, {}});
      Time free{};
      std::uint32_t lit = 0;
      Duration waits{};
      for (const ServedRequest& r : in_order(over_rail(spec, "opus", delay_of(delay_ms), true))) {
        ASSERT_EQ(r.prefilled, r.scheduled + kPrefill);
        const Duration delay = r.decode_engine != lit ? delay_of(delay_ms) : Duration{};
        const Time opened = std::max(free, r.scheduled) + delay;
        if (free <= r.scheduled && delay <= kPrefill) {
          ASSERT_LE(opened, r.prefilled);
        }
        waits += std::max(Duration{}, opened - std::max(free, r.prefilled));
        free = std::max(opened, r.prefilled) + kWire;
        lit = r.decode_engine;
        ASSERT_EQ(r.delivered, free) << "request " << r.number;
      }
      // A port that sends for 3.36 of 4 ms has 0.64 ms left for a switch, however busy it is.
      if (delay_ms < 4.0 - kTransferMs) {
        EXPECT_EQ(waits, Duration{});
      }
      if (delay_ms > 4.0) {
        EXPECT_GT(waits, Duration{});
      }
    }
  }
}

// One request, prefill of 4 ms, a delay of 3 ms: on demand its KV waits 3 ms, opened when prefill starts not at all; of a
// delay of 6 ms it waits for the 2 ms that prefill does not hide.
TEST(ServingCircuits, TheCircuitWaitOfOneRequestIsTheDelayLessItsPrefill) {
  const auto wait = [](const char* policy, double delay_ms, bool opened) {
    ServingSpec spec = one_to_eight(1.0, 1);
    spec.transfer.open_at_prefill = opened;
    spec.pools[0].times = std::make_shared<LinearStepTime>(LinearLaw{Duration{4'000'000'000}, {}, {}, {}});
    const ServingResult result = over_rail(spec, policy, delay_of(delay_ms), opened);
    return result.parts[static_cast<int>(TtftPart::kCircuitWait)].mean;
  };
  for (const char* const policy : {"opus", "polling", "phases"}) {
    SCOPED_TRACE(policy);
    EXPECT_EQ(wait(policy, 3.0, true), Duration{});
    EXPECT_EQ(wait(policy, 6.0, true), delay_of(2.0));
  }
  for (const char* const policy : {"opus", "polling"}) EXPECT_EQ(wait(policy, 3.0, false), delay_of(3.0));
}

// Of a port that has time between prompts, circuits in turn hide the delay as well; a port that has none serves what waits
// first, and what is announced costs it at most one change.
TEST(ServingCircuits, CircuitsInTurnThatAreOpenedWhenPrefillStartsWaitLess) {
  const auto wait = [](double per_s, double delay_ms, bool opened) {
    ServingSpec spec = one_to_eight(per_s, 300);
    spec.transfer.open_at_prefill = opened;
    spec.transfer.order = TransferSpec::Order::kFair;
    spec.pools[0].engine.token_budget = 1;  // one prompt a step
    spec.pools[0].times = std::make_shared<LinearStepTime>(LinearLaw{Duration{4'000'000'000}, {}, {}, {}});
    const ServingResult result = over_rail(spec, "polling", delay_of(delay_ms), opened);
    EXPECT_EQ(result.finished, 300u);
    return result.parts[static_cast<int>(TtftPart::kCircuitWait)].mean;
  };
  for (const double delay_ms : {0.1, 0.6}) EXPECT_EQ(wait(100.0, delay_ms, true), Duration{}) << delay_ms;
  for (const double per_s : {10.0, 100.0, 200.0}) {
    for (const double delay_ms : {1.0, 5.0, 15.0}) {
      const Duration on_demand = wait(per_s, delay_ms, false);
      EXPECT_LT(wait(per_s, delay_ms, true), on_demand) << per_s << "/s, " << delay_ms << " ms";
    }
  }
}

// Circuits in turn: the port stays until nothing waits for its destination, and goes on to the next one that has some.
TEST(ServingCircuits, OfCircuitsInTurnEveryTransferIsThatOfTheRecursion) {
  for (const double per_s : kRates) {
    for (const double delay_ms : kDelaysMs) {
      SCOPED_TRACE(std::to_string(per_s) + "/s, " + std::to_string(delay_ms) + " ms");
      ServingSpec spec = one_to_eight(per_s, 300);
      spec.transfer.order = TransferSpec::Order::kFair;  // all that waits is seen
      const std::vector<ServedRequest> requests = in_order(over_rail(spec, "polling", delay_of(delay_ms)));
      std::vector<std::deque<const ServedRequest*>> waits(1 + kDestinations);
      std::uint32_t turn = 0;
      Time now{};
      for (std::size_t next = 0, served = 0; served < requests.size(); ++served) {
        const auto come = [&] {
          for (; next < requests.size() && requests[next].sent <= now; ++next)
            waits[requests[next].decode_engine].push_back(&requests[next]);
        };
        come();
        if (served == next) {
          now = requests[next].sent;
          come();
        }
        if (waits[turn].empty()) {
          do turn = turn % kDestinations + 1;
          while (waits[turn].empty());
          const bool was_busy = now > requests[next - 1].sent;
          now += delay_of(delay_ms) + Duration{was_busy ? 1 : 0};  // whether more comes is seen a picosecond later
        }
        now += kWire;
        ASSERT_EQ(waits[turn].front()->delivered, now) << "request " << waits[turn].front()->number;
        waits[turn].pop_front();
      }
    }
  }
}

// x + (lambda x^2 + delay (N - rho)) / (2 (1 - rho)) of a server that goes round: where a queue is rarely empty.
TEST(ServingCircuits, CircuitsInTurnHaveTheMeanOfTheClosedFormWhereQueuesAreLong) {
  ServingSpec spec = one_to_eight(200.0, 40'000);
  spec.transfer.order = TransferSpec::Order::kFair;
  const double rho = 0.2 * kTransferMs;
  const double mean = kTransferMs + (0.2 * kTransferMs * kTransferMs + 25.0 * (kDestinations - rho)) / (2.0 * (1.0 - rho));
  EXPECT_NEAR(mean_ms(over_rail(spec, "polling", delay_of(25.0))) / mean, 1.0, 0.03);  // on demand there is no mean
}

// What the recursions give in the mean over `transfers` draws, in ms. The draws of one seed are the same for all delays.
struct RecursionMeans {
  double on_demand = 0.0;
  double split = 0.0;
};

RecursionMeans recursion_means(double per_s, double delay_ms, std::uint64_t transfers) {
  RandomStream gaps(1, "gaps");
  RandomStream targets(1, "targets");
  RecursionMeans sum;
  double now = 0.0;
  double free = 0.0;
  std::uint64_t lit = kDestinations;
  double free_of[kDestinations] = {};
  for (std::uint64_t i = 0; i < transfers; ++i) {
    now += -std::log1p(-gaps.uniform()) * 1e3 / per_s;
    const std::uint64_t to = targets.below(kDestinations);
    free = std::max(now, free) + kTransferMs + (to != lit ? delay_ms : 0.0);
    lit = to;
    sum.on_demand += free - now;
    free_of[to] = std::max(now, free_of[to]) + kTransferMs * kDestinations;
    sum.split += free_of[to] - now;
  }
  return {sum.on_demand / static_cast<double>(transfers), sum.split / static_cast<double>(transfers)};
}

bool overloads(double per_s, double delay_ms) {
  return per_s / 1e3 * (kTransferMs + (1.0 - 1.0 / kDestinations) * delay_ms) >= 1.0;
}

// At rho = 0.85 a mean over 4,000,000 transfers has a standard error of 0.8 %, over 400,000 at rho = 0.6 of 0.6 %.
TEST(ServingCircuits, TheRecursionHasTheMeansOfTheClosedForms) {
  for (const double per_s : kRates) {
    for (const double delay_ms : kDelaysMs) {
      if (overloads(per_s, delay_ms)) continue;
      const bool busy = per_s / 1e3 * (kTransferMs + 0.875 * delay_ms) > 0.65;
      const RecursionMeans means = recursion_means(per_s, delay_ms, busy ? 4'000'000 : 400'000);
      EXPECT_NEAR(means.on_demand / on_demand_ms(per_s, delay_ms), 1.0, 0.02) << per_s << "/s, " << delay_ms << " ms";
    }
  }
}

// Five per cent below the delay of the closed forms circuits on demand are faster than a static split, and five per cent
// above it slower: by the recursions, which every simulated transfer follows.
TEST(ServingCircuits, BreakEvensWithAStaticSplitAreThoseOfTheClosedForms) {
  struct Point {
    double per_s, delay_ms;
  };
  for (const Point& at : {Point{10.0, 22.9}, Point{100.0, 5.9}, Point{200.0, 1.6}}) {
    const RecursionMeans below = recursion_means(at.per_s, 0.95 * at.delay_ms, 2'000'000);
    const RecursionMeans above = recursion_means(at.per_s, 1.05 * at.delay_ms, 2'000'000);
    EXPECT_LT(below.on_demand, below.split) << at.per_s;
    EXPECT_GT(above.on_demand, above.split) << at.per_s;
  }
}

TEST(ServingCircuits, ClosedFormsAreThoseOfTheReferenceAndOverloadsAreSaid) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto oracle = nlohmann::json::parse(std::ifstream(data / "serving" / "v2" / "oracle_kv_over_circuits.json"));
  std::size_t overloaded = 0;
  for (const nlohmann::json& row : oracle.at("rows")) {
    const auto per_s = row.at("rate_per_s").get<double>();
    const auto delay_ms = row.at("delay_ms").get<double>();
    const nlohmann::json& mean = row.at("fifo_on_demand_ms");
    ASSERT_EQ(mean.is_null(), overloads(per_s, delay_ms)) << per_s << "/s, " << delay_ms << " ms";
    if (!mean.is_null()) {
      EXPECT_NEAR(on_demand_ms(per_s, delay_ms) / mean.get<double>(), 1.0, 1e-9);
      continue;
    }
    // Of what comes in ten seconds the share that the port has no time for is left, and is said.
    ++overloaded;
    ServingSpec spec = one_to_eight(per_s, 100'000);
    spec.horizon = Time{from_seconds(10.0)};
    const ServingResult result = over_rail(spec, "lru", delay_of(delay_ms));
    const double left = per_s * 10.0 - 1e4 / (kTransferMs + 0.875 * delay_ms);
    EXPECT_GT(static_cast<double>(result.unfinished), 0.8 * left - 50.0) << per_s << "/s, " << delay_ms << " ms";
    EXPECT_EQ(result.offered, result.finished + result.refused + result.unfinished);
  }
  EXPECT_GE(overloaded, 8U);
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
