#include "collective/decomposition.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/testing/replay.hpp"

#include <gtest/gtest.h>

#include <set>

namespace photonrail {

using collective::birkhoff_rounds;
using collective::DemandRound;
using collective::greedy_rounds;
using collective::PairBytes;

namespace {

TrafficMatrix draw(Member n, std::uint64_t seed) {
  RandomStream random(seed, "demand");
  TrafficMatrix demand(n);
  for (Member from = 0; from < n; ++from) {
    for (Member to = 0; to < n; ++to) {
      const bool none = random.below(3) == 0;
      demand.at(from, to) = {none ? 0 : static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(30)))};
    }
  }
  return demand;
}

std::int64_t longest(const DemandRound& round) {
  std::int64_t most = 0;
  for (const PairBytes& pair : round) most = std::max(most, pair.bytes.count);
  return most;
}

/// Rounds are matchings and carry the demand, no more and no less. Returns how long they last, in bytes of a port.
std::int64_t check(const TrafficMatrix& demand, const std::vector<DemandRound>& rounds) {
  TrafficMatrix sent(demand.members());
  std::int64_t time = 0;
  for (const DemandRound& round : rounds) {
    std::set<Member> senders;
    std::set<Member> receivers;
    for (const PairBytes& pair : round) {
      EXPECT_GT(pair.bytes, Bytes{});
      EXPECT_TRUE(senders.insert(pair.from).second);
      EXPECT_TRUE(receivers.insert(pair.to).second);
      sent.at(pair.from, pair.to) += pair.bytes;
    }
    time += longest(round);
  }
  for (Member m = 0; m < demand.members(); ++m) sent.at(m, m) = demand.at(m, m);
  EXPECT_EQ(sent, demand);
  return time;
}

TEST(Decomposition, BirkhoffLastsAsLongAsTheBusiestPort) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const TrafficMatrix demand = draw(static_cast<Member>(2 + seed % 15), seed);
    const std::vector<DemandRound> rounds = birkhoff_rounds(demand);
    EXPECT_EQ(check(demand, rounds), demand.busiest_port().count) << seed;
    EXPECT_LE(rounds.size(), std::size_t{demand.members()} * demand.members());
  }
}

TEST(Decomposition, GreedyCarriesTheDemandToo) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const TrafficMatrix demand = draw(static_cast<Member>(2 + seed % 15), seed);
    const std::size_t birkhoff = birkhoff_rounds(demand).size();
    for (const std::int64_t reconfiguration : {std::int64_t{0}, std::int64_t{1} << 20, std::int64_t{1} << 40}) {
      const std::vector<DemandRound> rounds = greedy_rounds(demand, Bytes{reconfiguration});
      EXPECT_GE(check(demand, rounds), demand.busiest_port().count) << seed;
      if (reconfiguration > 1 << 30) {
        EXPECT_LE(rounds.size(), birkhoff) << seed;
      }
    }
  }
}

// 0 has 10 for 1 and 1 for 2; 1 has 1 for 0 and 10 for 2; 2 has 10 for 0 and 1 for 1: a cycle of 10, and one of 1.
TEST(Decomposition, TwoCycles) {
  TrafficMatrix demand(3);
  for (Member m = 0; m < 3; ++m) {
    demand.at(m, (m + 1) % 3) = {10};
    demand.at(m, (m + 2) % 3) = {1};
  }
  for (const auto& rounds : {birkhoff_rounds(demand), greedy_rounds(demand, Bytes{5})}) {
    ASSERT_EQ(rounds.size(), 2u);
    EXPECT_EQ(longest(rounds[0]), 10);
    EXPECT_EQ(longest(rounds[1]), 1);
  }
}

TEST(Decomposition, PlansOfUnevenDemandReplay) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  for (const char* name : {"birkhoff", "greedy_matchings"}) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const TrafficMatrix demand = draw(static_cast<Member>(2 + seed % 9), seed);
      CollectiveCall call{.op = CollectiveOp::kAllToAll, .members = demand.members(), .size = {1}};
      call.demand = &demand;
      call.reconfiguration = {1 << 20};
      const auto plan = registry.find(name).expand(call);
      EXPECT_EQ(plan->wire_bytes(), demand.wire_bytes());
      for (const bool by_rounds : {false, true}) {
        const auto order = testing::ArrivalOrder::kRandom;
        const auto report = testing::replay(call, *plan, {.order = order, .by_rounds = by_rounds, .seed = seed});
        EXPECT_TRUE(report.correct) << name << " " << seed << ": " << report.problem;
      }
    }
  }
}

TEST(Decomposition, AnEvenAllToAllIsAsManyMatchingsAsThereAreOthers) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  for (const char* name : {"birkhoff", "greedy_matchings"}) {
    for (const Member n : {2u, 5u, 8u, 33u}) {
      const auto plan = registry.find(name).expand({.op = CollectiveOp::kAllToAll, .members = n, .size = {1000}});
      EXPECT_EQ(plan->rounds(), n - 1) << name;
    }
  }
}

}  // namespace
}  // namespace photonrail
