#include "network/network.hpp"

#include "network/network_fixture.hpp"
#include "photonrail/error.hpp"
#include "support/test_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace photonrail {

using network::Network;
using network::Path;
using test::NetworkFixture;
using topology::CapacityId;

namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr double kGiga = 1e9;

TEST(Network, ALoneFlowTakesBytesOverRatePlusOverheadPlusLatency) {
  NetworkFixture f({50 * kGiga, 50 * kGiga});
  f.network.post(Network::kNone, NetworkFixture::path({0, 1}, 936250, 10000), Bytes{1}, 7);
  f.engine.run();
  // 1 byte at 50 GB/s is 20 ps; then 10 ns of overhead and 936.25 ns of latency.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(7, 20 + 10000 + 936250)));
}

TEST(Network, TheSlowestCapacityOfAPathCounts) {
  NetworkFixture f({50 * kGiga, 10 * kGiga});
  f.post({0, 1}, 1000, 1);
  f.engine.run();
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, 100000)));  // 1000 B at 10 GB/s
}

TEST(Network, TwoFlowsShareACapacityAndTheRestTakesOver) {
  NetworkFixture f({1 * kGiga, 1 * kGiga, 1 * kGiga});
  f.post({0, 1}, 1000, 1);
  f.post({0, 2}, 3000, 2);
  f.engine.run();
  // Half of 1 GB/s each: flow 1 is done after 1000 B / 0.5 GB/s = 2 us. Flow 2 has sent 1000 B by then, and sends its last
  // 2000 B at the full rate: 2 + 2 = 4 us.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, 2000000), Pair(2, 4000000)));
}

TEST(Network, AFlowThatComesLateTakesItsShareFromThenOn) {
  NetworkFixture f({1 * kGiga});
  f.post({0}, 2000, 1);
  f.post_at(1000000, {0}, 500, 2);
  f.engine.run();
  // Flow 1 alone for 1 us (1000 B); then both at 0.5 GB/s: flow 2 is done 500 / 0.5 = 1 us later, at 2 us, when flow 1 has
  // 500 B left, which take 0.5 us at the full rate.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(2, 2000000), Pair(1, 2500000)));
}

TEST(Network, AFlowThatHasLeftDoesNotShareThoughItHasNotArrived) {
  NetworkFixture f({1 * kGiga});
  f.network.post(Network::kNone, NetworkFixture::path({0}, 5000000), Bytes{1000}, 1);  // leaves at 1 us, arrives at 6 us
  f.post_at(2000000, {0}, 1000, 2);
  f.engine.run();
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(2, 3000000), Pair(1, 6000000)));
}

TEST(Network, MaxMinOfTheClassicThreeFlowChain) {
  // Capacities a = 1, b = 2. Flow 1 uses both, flow 2 only a, flow 3 only b. Fair share of a is 1/2 for flows 1 and 2; flow
  // 3 gets what flow 1 leaves of b: 3/2.
  NetworkFixture f({1 * kGiga, 2 * kGiga});
  f.post({0, 1}, 1000000, 1);
  f.post({0}, 1000000, 2);
  f.post({1}, 1000000, 3);
  const auto rates = f.network.rates();
  ASSERT_EQ(rates.size(), 3u);
  EXPECT_THAT(rates[0].second, DoubleNear(0.5 * kGiga, 1));
  EXPECT_THAT(rates[1].second, DoubleNear(0.5 * kGiga, 1));
  EXPECT_THAT(rates[2].second, DoubleNear(1.5 * kGiga, 1));
}

TEST(Network, AChannelSendsOneMessageAtATimeInOrder) {
  NetworkFixture f({1 * kGiga});
  const auto channel = f.network.open_channel();
  for (std::uint64_t tag = 1; tag <= 3; ++tag) f.network.post(channel, NetworkFixture::path({0}, 100, 10), Bytes{1}, tag);
  f.engine.run();
  // 1 byte = 1000 ps, then a gap of 10 ps; each arrives 100 ps after its gap: 1110, 2120, 3130.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, 1110), Pair(2, 2120), Pair(3, 3130)));
}

TEST(Network, AChannelKeepsItsOrderWhenItsCapacityIsShared) {
  NetworkFixture f({1 * kGiga});
  const auto channel = f.network.open_channel();
  f.network.post(channel, NetworkFixture::path({0}), Bytes{1000}, 1);
  f.network.post(channel, NetworkFixture::path({0}), Bytes{1000}, 2);
  f.post({0}, 3000, 3);
  f.engine.run();
  // Flow 3 shares with 1, then with 2, at 0.5 GB/s: 1 ends at 2 us, 2 at 4 us; flow 3 has sent 2000 B by then: 5 us.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, 2000000), Pair(2, 4000000), Pair(3, 5000000)));
}

TEST(Network, AChannelThatIsAloneCostsOneEventAMessage) {
  NetworkFixture f({1 * kGiga});
  const auto channel = f.network.open_channel();
  for (std::uint64_t tag = 0; tag < 100; ++tag) f.network.post(channel, NetworkFixture::path({0}, 100, 10), Bytes{1}, tag);
  f.engine.run();
  EXPECT_EQ(f.arrivals.back(), std::pair(std::uint64_t{99}, std::int64_t{100 * 1010 + 100}));
  EXPECT_EQ(f.engine.events_run(), 100u);
}

TEST(Network, WhatAChannelHasToSendWaitsAgainWhenAnotherFlowComes) {
  NetworkFixture f({1 * kGiga});
  const auto channel = f.network.open_channel();
  for (std::uint64_t tag = 1; tag <= 3; ++tag) f.network.post(channel, NetworkFixture::path({0}), Bytes{1000}, tag);
  f.post_at(1500000, {0}, 1000, 4);
  f.engine.run();
  // 1 leaves at 1 us. 2 has sent 500 B when 4 comes at 1.5 us; both at 0.5 GB/s: 2 leaves at 2.5 us, 4 has 500 B left. Then
  // 3 and 4 share: 4 leaves at 3.5 us, 3 has 500 B left and the whole rate: 4 us.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, 1000000), Pair(2, 2500000), Pair(4, 3500000), Pair(3, 4000000)));
  f.network.close_channel(channel);
}

TEST(Network, AFlowThatComesInTheGapBetweenTwoMessagesOfAChannel) {
  NetworkFixture f({1 * kGiga});
  const auto channel = f.network.open_channel();
  for (std::uint64_t tag = 1; tag <= 2; ++tag)
    f.network.post(channel, NetworkFixture::path({0}, 0, 500000), Bytes{1000}, tag);
  f.post_at(1200000, {0}, 1000, 3);
  f.engine.run();
  // 1 leaves at 1 us and arrives after its gap at 1.5 us, when 2 starts. 3 is alone from 1.2 to 1.5 us (300 B); then both
  // at 0.5 GB/s: 3 leaves after 700 / 0.5 = 1.4 us more, at 2.9 us; 2 has 300 B left, leaves at 3.2 us and arrives at 3.7
  // us.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, 1500000), Pair(3, 2900000), Pair(2, 3700000)));
}

TEST(Network, RateZeroStopsAFlowAndANewRateLetsItGoOn) {
  NetworkFixture f({1 * kGiga});
  f.post({0}, 2000, 1);
  f.engine.schedule(Time{500000}, engine::Phase::kFinish,
                    {[](void* n, std::uint64_t) { static_cast<Network*>(n)->set_rate(0, {0.0}); }, &f.network, 0});
  f.engine.schedule(Time{4000000}, engine::Phase::kFinish,
                    {[](void* n, std::uint64_t) { static_cast<Network*>(n)->set_rate(0, {3e9}); }, &f.network, 0});
  f.engine.run();
  // 500 B by 0.5 us, nothing until 4 us, 1500 B at 3 GB/s: 4.5 us.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, 4500000)));
}

TEST(Network, ExclusiveFlowsCostNoSolving) {
  NetworkFixture f({1 * kGiga, 1 * kGiga});
  for (int i = 0; i < 100; ++i) f.post_at(1 + i * 10000000, {0, 1}, 1000, static_cast<std::uint64_t>(i));
  f.engine.run();
  EXPECT_EQ(f.arrivals.size(), 100u);
  EXPECT_EQ(f.network.flows_solved(), 0u);
  EXPECT_EQ(f.engine.events_run(), 200u) << "one event to post, one to deliver";
}

TEST(Network, OnlyTheComponentThatChangedIsSolved) {
  NetworkFixture f({1 * kGiga, 1 * kGiga});
  f.post({0}, 1000, 1);
  f.post({0}, 1000, 2);
  f.engine.step();  // settles the two flows on capacity 0
  const auto before = f.network.flows_solved();
  f.post({1}, 1000, 3);
  f.post({1}, 1000, 4);
  f.engine.step();
  EXPECT_EQ(f.network.flows_solved() - before, 2u) << "flows 1 and 2 share nothing with 3 and 4";
}

// The plain solver: fill all flows at the same pace; when a capacity is full, its flows stop. O(flows x capacities) a step.
std::map<std::uint64_t, double> plain_max_min(const std::vector<double>& rates,
                                              const std::map<std::uint64_t, std::vector<CapacityId>>& flows) {
  std::map<std::uint64_t, double> result;
  std::vector<double> left = rates;
  std::map<std::uint64_t, std::vector<CapacityId>> open = flows;
  while (!open.empty()) {
    double best = std::numeric_limits<double>::infinity();
    CapacityId bottleneck = 0;
    for (CapacityId c = 0; c < rates.size(); ++c) {
      const auto users = std::count_if(open.begin(), open.end(), [c](const auto& flow) {
        return std::find(flow.second.begin(), flow.second.end(), c) != flow.second.end();
      });
      if (users > 0 && left[c] / static_cast<double>(users) < best) {
        best = left[c] / static_cast<double>(users);
        bottleneck = c;
      }
    }
    for (auto it = open.begin(); it != open.end();) {
      if (std::find(it->second.begin(), it->second.end(), bottleneck) == it->second.end()) {
        ++it;
        continue;
      }
      result[it->first] = best;
      for (const CapacityId c : it->second) left[c] -= best;
      it = open.erase(it);
    }
  }
  return result;
}

// How often the solver adapts a capacity before it begins again from nothing: never, early, as always.
class NetworkAfterVisits : public ::testing::TestWithParam<std::uint8_t> {};
INSTANTIATE_TEST_SUITE_P(MostVisits, NetworkAfterVisits,
                         ::testing::ValuesIn(std::vector<std::uint8_t>{std::uint8_t{0}, std::uint8_t{1},
                                                                       Network::kMaxVisits}),
                         [](const auto& test) { return std::to_string(test.param); });

TEST_P(NetworkAfterVisits, AgreesWithThePlainSolverOnRandomNetworksWhileFlowsComeAndGo) {
  std::mt19937_64 random(11);
  int compared = 0;
  for (int net = 0; net < 400; ++net) {
    const std::size_t capacities = 1 + random() % 12;
    std::vector<double> rates;
    for (std::size_t c = 0; c < capacities; ++c) rates.push_back(static_cast<double>(1 + random() % 8) * kGiga);
    NetworkFixture f(rates, GetParam());
    std::map<std::uint64_t, std::vector<CapacityId>> open;
    for (std::uint64_t tag = 0; tag < 25; ++tag) {
      std::vector<CapacityId> hops;
      for (CapacityId c = 0; c < capacities; ++c) {
        if (random() % 3 == 0) hops.push_back(c);
      }
      if (hops.empty()) hops.push_back(static_cast<CapacityId>(random() % capacities));
      Path path;
      for (const CapacityId hop : hops) path.add(hop);
      f.network.post(Network::kNone, path, Bytes{static_cast<std::int64_t>(1 + random() % 100000)}, tag);
      open[tag] = hops;
      if (random() % 2 == 0) f.engine.run(random() % 6);
      for (const auto& arrival : f.arrivals) open.erase(arrival.first);
      f.arrivals.clear();
      const auto solved = f.network.rates();
      std::map<std::uint64_t, std::vector<CapacityId>> sending;  // a flow whose last byte has left takes no share
      for (const auto& flow : solved) sending[flow.first] = open.at(flow.first);
      const auto expected = plain_max_min(rates, sending);
      for (const auto& [flow, rate] : solved) {
        ASSERT_THAT(rate, DoubleNear(expected.at(flow), expected.at(flow) * 1e-9))
            << "network " << net << ", flow " << flow;
        ++compared;
      }
    }
    f.engine.run();
  }
  EXPECT_GT(compared, 10000);
}

// Larger networks, long lives, capacities that change and stop: every solution is compared with the plain one.
TEST_P(NetworkAfterVisits, AgreesWithThePlainSolverThroughLongHistories) {
  std::mt19937_64 random(23);
  const int nets = static_cast<int>(test::test_cases(4));
  int compared = 0;
  for (int net = 0; net < nets; ++net) {
    const std::size_t capacities = 4 + random() % 40;
    std::vector<double> rates;
    for (std::size_t c = 0; c < capacities; ++c) rates.push_back(static_cast<double>(1 + random() % 5) * kGiga);
    NetworkFixture f(rates, GetParam());
    std::map<std::uint64_t, std::vector<CapacityId>> paths;
    for (std::uint64_t step = 0; step < 300; ++step) {
      const auto a = static_cast<CapacityId>(random() % capacities);
      const auto b = static_cast<CapacityId>((a + 1 + random() % (capacities - 1)) % capacities);
      Path path;
      path.add(a);
      path.add(b);
      paths[step] = {a, b};
      f.network.post(Network::kNone, path, Bytes{static_cast<std::int64_t>(1 + random() % 1000000)}, step);
      if (random() % 10 == 0) {
        const auto changed = static_cast<CapacityId>(random() % capacities);
        rates[changed] = random() % 4 == 0 ? 0.0 : static_cast<double>(1 + random() % 5) * kGiga;
        f.network.set_rate(changed, {rates[changed]});
      }
      f.engine.run(random() % 5);
      const auto solved = f.network.rates();
      std::map<std::uint64_t, std::vector<CapacityId>> sending;
      for (const auto& flow : solved) sending[flow.first] = paths.at(flow.first);
      const auto expected = plain_max_min(rates, sending);
      for (const auto& [flow, rate] : solved) {
        ASSERT_THAT(rate, DoubleNear(expected.at(flow), 1e-9 * 5 * kGiga)) << "network " << net << ", step " << step;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 2500 * nets);
}

struct Job {
  double start;  // picoseconds
  std::vector<CapacityId> hops;
  double bytes;
};

// The times at which flows end, by the plain solver from change to change: fluid, in floating-point time.
std::map<std::uint64_t, double> plain_ends(const std::vector<double>& rates, const std::vector<Job>& jobs) {
  std::map<std::uint64_t, double> ends;
  std::map<std::uint64_t, double> left;
  double now = 0.0;
  std::size_t next = 0;
  while (next < jobs.size() || !left.empty()) {
    std::map<std::uint64_t, std::vector<CapacityId>> open;
    for (const auto& flow : left) open[flow.first] = jobs[flow.first].hops;
    const auto solved = plain_max_min(rates, open);
    double until = next < jobs.size() ? jobs[next].start : std::numeric_limits<double>::infinity();
    for (const auto& [flow, bytes] : left) until = std::min(until, now + bytes / (solved.at(flow) * 1e-12));
    for (auto it = left.begin(); it != left.end();) {
      it->second -= (until - now) * solved.at(it->first) * 1e-12;
      const bool done = it->second < 1e-6;  // bytes
      if (done) ends[it->first] = until;
      it = done ? left.erase(it) : std::next(it);
    }
    now = until;
    for (; next < jobs.size() && jobs[next].start <= now; ++next) left[next] = jobs[next].bytes;
  }
  return ends;
}

// A departure takes place at a whole picosecond, up to one late, and so does what it changes: 60 flows that each delay the
// next change by less than a picosecond end less than 60 ps x 5 (a rate may rise fivefold) after the fluid ones.
TEST_P(NetworkAfterVisits, FlowsEndWhenThePlainSolutionSaysSo) {
  std::mt19937_64 random(31);
  for (int net = 0; net < 60; ++net) {
    const std::size_t capacities = 2 + random() % 12;
    std::vector<double> rates;
    for (std::size_t c = 0; c < capacities; ++c) rates.push_back(static_cast<double>(1 + random() % 5) * kGiga);
    NetworkFixture f(rates, GetParam());
    std::vector<Job> jobs;
    std::int64_t at = 0;
    for (std::uint64_t tag = 0; tag < 60; ++tag) {
      at += static_cast<std::int64_t>(random() % 3) * 1'000'000;
      const auto a = static_cast<CapacityId>(random() % capacities);
      const auto b = static_cast<CapacityId>((a + 1 + random() % (capacities - 1)) % capacities);
      const auto bytes = static_cast<std::int64_t>(1000 * (1 + random() % 20));  // many are equal
      f.post_at(at, {a, b}, bytes, tag);
      jobs.push_back({static_cast<double>(at), {a, b}, static_cast<double>(bytes)});
    }
    const auto expected = plain_ends(rates, jobs);
    f.engine.run();
    ASSERT_EQ(f.arrivals.size(), jobs.size());
    for (const auto& [tag, end] : f.arrivals) {
      ASSERT_NEAR(static_cast<double>(end), expected.at(tag), 300.0) << "network " << net << ", flow " << tag;
    }
  }
}

/// Moves the flows of capacity 0 to capacity 1, only those of one overhead, at an instant, before what was posted
/// later ends.
struct Diversion {
  Diversion(NetworkFixture& in, Duration overhead, Time at) : fixture(in), of(overhead) {
    in.engine.schedule(at, engine::Phase::kFinish, engine::Action::to<&Diversion::happens>(*this));
  }
  void happens(std::uint64_t) {
    fixture.network.divert({1, 0}, [this](Path& path, Bytes) {
      if (path.overhead != of) return false;
      const Duration overhead = path.overhead;
      path = NetworkFixture::path({1});
      path.overhead = overhead;
      return true;
    });
  }
  NetworkFixture& fixture;
  Duration of;
};

// 100 bytes each at 0.5 bytes a picosecond: the last byte has left when the capacity is taken away.
TEST(Network, FlowsThatAreDivertedAtTheInstantOfTheirEndHaveEnded) {
  NetworkFixture f({1e12, 1e12});
  Diversion diversion(f, Duration{}, Time{200});
  f.post({0}, 100, 1);
  f.post({0}, 100, 2);
  f.engine.run();
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, 200), Pair(2, 200)));
}

// The first flow ends at 200 ps, and is diverted then. The other one has 200 of 300 bytes left, alone from now on.
TEST(Network, AFlowStaysWhenOneThatEndsBesideItIsDiverted) {
  NetworkFixture f({1e12, 1e12});
  Diversion diversion(f, Duration{7}, Time{200});
  f.network.post(Network::kNone, NetworkFixture::path({0}, 0, 7), Bytes{100}, 1);
  f.post({0}, 300, 2);
  f.engine.run();
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, 207), Pair(2, 400)));
}

TEST(Network, FlowsThatEndAndArriveTogetherCostOneEvent) {
  NetworkFixture f({1 * kGiga, 1 * kGiga, 1 * kGiga, 1 * kGiga});
  std::uint64_t tag = 0;
  for (const CapacityId from : {0u, 1u}) {
    for (const CapacityId to : {2u, 3u}) {
      f.network.post(Network::kNone, NetworkFixture::path({from, to}, 100), Bytes{1000}, tag++);
    }
  }
  f.engine.run();
  // Four flows at 0.5 GB/s: 2 us, and 100 ps of latency.
  ASSERT_EQ(f.arrivals.size(), 4u);
  for (const auto& arrival : f.arrivals) EXPECT_EQ(arrival.second, 2000100);
  EXPECT_EQ(f.engine.events_run(), 4u) << "they are settled, leave, are settled and arrive";
}

TEST(Network, ManyBytesThroughOneCapacityAreCountedExactly) {
  // A long flow shares with short ones, one after another: 20,000 x 1 MB, so that 20 GB are served to each of the two.
  NetworkFixture f({2 * kGiga});
  const auto channel = f.network.open_channel();
  f.post({0}, 20'000'000'000, 1);
  for (std::uint64_t i = 0; i < 20'000; ++i) f.network.post(channel, NetworkFixture::path({0}), Bytes{1'000'000}, 2 + i);
  f.engine.run();
  // Both halves run at 1 GB/s: 20 s for each, 1 ms for each short one, without a picosecond between them.
  ASSERT_EQ(f.arrivals.size(), 20'001u);
  for (std::size_t i = 0; i + 1 < 20'000; ++i) {
    ASSERT_EQ(f.arrivals[i], std::pair(std::uint64_t{2 + i}, static_cast<std::int64_t>(i + 1) * 1'000'000'000));
  }
  EXPECT_EQ(f.arrivals.back().second, 20'000'000'000'000);
}

TEST(Network, EveryByteArrivesWhateverIsPosted) {
  std::mt19937_64 random(3);
  NetworkFixture f({1 * kGiga, 2 * kGiga, 3 * kGiga, 1 * kGiga});
  std::vector<Network::ChannelId> channels;
  for (int i = 0; i < 5; ++i) channels.push_back(f.network.open_channel());
  for (std::uint64_t tag = 0; tag < 2000; ++tag) {
    const auto a = static_cast<CapacityId>(random() % 4);
    const auto b = static_cast<CapacityId>((a + 1 + random() % 3) % 4);
    const auto channel = random() % 2 == 0 ? Network::kNone : channels[random() % channels.size()];
    const auto latency = static_cast<std::int64_t>(random() % 1000);
    f.network.post(channel, NetworkFixture::path({a, b}, latency, static_cast<std::int64_t>(random() % 50)),
                   Bytes{static_cast<std::int64_t>(random() % 3000)}, tag);
    f.engine.run(random() % 8);
  }
  f.engine.run();
  ASSERT_EQ(f.arrivals.size(), 2000u);
  std::sort(f.arrivals.begin(), f.arrivals.end());
  for (std::uint64_t tag = 0; tag < 2000; ++tag) ASSERT_EQ(f.arrivals[tag].first, tag);
  for (const auto channel : channels) f.network.close_channel(channel);
}

TEST(Path, HoldsMoreHopsThanItsInlinePart) {
  Path path;
  std::vector<CapacityId> expected;
  for (CapacityId c = 0; c < 40; ++c) {
    path.add(c);
    expected.push_back(c);
    ASSERT_TRUE(std::equal(path.hops().begin(), path.hops().end(), expected.begin(), expected.end()));
  }
}

// 1 byte per picosecond. Of 1000 bytes that are alone 600 are left at 400. Then 500 more share: at 600 the first has had
// 100 more and 500 left, the other 400.
TEST(Network, SaysHowManyBytesACapacityHasLeft) {
  NetworkFixture f({1e12, 1e12});
  f.post_at(0, {0}, 1000, 1);
  f.post_at(400, {0, 1}, 500, 2);
  std::vector<std::int64_t> left;
  for (const std::int64_t at : {200, 400, 600}) {
    f.engine.schedule(Time{at}, engine::Phase::kDecide,
                      {[](void* self, std::uint64_t argument) {
                         auto* out = reinterpret_cast<std::vector<std::int64_t>*>(argument);
                         for (const CapacityId id : {0u, 1u}) {
                           out->push_back(static_cast<NetworkFixture*>(self)->network.bytes_left(id).count);
                         }
                       },
                       &f, reinterpret_cast<std::uint64_t>(&left)});
  }
  f.engine.run();
  EXPECT_THAT(left, ElementsAre(800, 0, 600, 0, 900, 400));
  // Looking changed nothing: 500 at half the rate end at 1400, the other 100 at 1500.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(2, 1400), Pair(1, 1500)));
}

// A channel sends one message at a time; those behind count too.
TEST(Network, CountsTheMessagesThatWaitInAChannel) {
  NetworkFixture f({1e12});
  const Network::ChannelId channel = f.network.open_channel();
  f.network.post(channel, NetworkFixture::path({0}), Bytes{300}, 1);
  f.network.post(channel, NetworkFixture::path({0}), Bytes{200}, 2);
  EXPECT_EQ(f.network.bytes_left(0).count, 500);
  f.engine.run();
  EXPECT_EQ(f.network.bytes_left(0).count, 0);
}

}  // namespace
}  // namespace photonrail
