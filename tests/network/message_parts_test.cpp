// The parts of the network that a message passes without sharing, each alone.
#include "network/arrivals.hpp"
#include "network/channels.hpp"
#include "network/delivery_listener.hpp"
#include "network/exclusive_flows.hpp"
#include "network/flow.hpp"
#include "network/flow_table.hpp"
#include "network/network.hpp"
#include "network/path.hpp"
#include "support/test_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace photonrail::network {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Pair;

Path path_of(std::initializer_list<CapacityId> hops, std::int64_t latency = 0, std::int64_t overhead = 0) {
  Path path;
  for (const CapacityId hop : hops) path.add(hop);
  path.latency = Duration{latency};
  path.overhead = Duration{overhead};
  return path;
}

class TagLog : public DeliveryListener {
 public:
  explicit TagLog(const engine::Engine& engine) : engine_(engine) {}
  void delivered(std::uint64_t tag) override { arrivals.emplace_back(tag, engine_.now().since_start().count()); }

  std::vector<std::pair<std::uint64_t, std::int64_t>> arrivals;

 private:
  const engine::Engine& engine_;
};

TEST(FlowTable, AFreeNumberIsUsedAgainWithItsRoomForHops) {
  FlowTable flows;
  const FlowId first = flows.take(path_of({3, 4}), Bytes{10}, 7, kNone);
  const FlowId second = flows.take(path_of({5, 6, 8}), Bytes{20}, 8, 2);
  const HopSlot room = flows[first].first_hop;
  EXPECT_EQ(flows[first].remaining, 10.0);
  EXPECT_EQ(flows[second].channel, 2u);
  EXPECT_EQ(flows.hop(flows[second].first_hop + 2).capacity, 8u);
  EXPECT_EQ(flows.hop(flows[second].first_hop).flow, second);
  flows.release(first);
  EXPECT_EQ(flows[first].state, FlowState::kFree);
  const FlowId again = flows.take(path_of({1, 2}), Bytes{30}, 9, kNone);
  EXPECT_EQ(again, first);
  EXPECT_EQ(flows[again].first_hop, room);
  EXPECT_EQ(flows.all().size(), 2u);
}

TEST(FlowTable, APathOfAnotherLengthTakesRoomThatOneOfItsLengthHad) {
  FlowTable flows;
  const FlowId two = flows.take(path_of({1, 2}), Bytes{1}, 0, kNone);
  const FlowId three = flows.take(path_of({1, 2, 3}), Bytes{1}, 0, kNone);
  const HopSlot room_of_two = flows[two].first_hop;
  flows.release(two);
  const FlowId longer = flows.take(path_of({4, 5, 6}), Bytes{1}, 0, kNone);  // gives its room for two back
  EXPECT_EQ(longer, two);
  flows.release(three);
  const FlowId shorter = flows.take(path_of({7, 8}), Bytes{1}, 0, kNone);
  EXPECT_EQ(shorter, three);
  EXPECT_EQ(flows[shorter].first_hop, room_of_two);
}

struct ChannelSite {
  FlowTable flows;
  Channels channels{flows};
  ChannelId channel = channels.open();

  FlowId take(std::int64_t begin, std::int64_t left_at) {
    const FlowId id = flows.take(path_of({0}, 0, 1), Bytes{1}, 0, channel);
    flows[id].begin = Time{begin};
    flows[id].left_at = Time{left_at};
    return id;
  }
  std::vector<FlowId> in_order() {
    std::vector<FlowId> found;
    channels.for_each(channel, [&](FlowId id) { found.push_back(id); });
    return found;
  }
};

TEST(Channels, WaitingFlowsHaveTheirTurnInOrderWhenNoSharedFlowHoldsTheChannel) {
  ChannelSite site;
  const FlowId a = site.take(0, 0);
  const FlowId b = site.take(0, 0);
  EXPECT_TRUE(site.channels.nothing_waits(site.channel));
  site.channels.enqueue(site.channel, a);
  site.channels.enqueue(site.channel, b);
  EXPECT_FALSE(site.channels.nothing_waits(site.channel));
  EXPECT_EQ(site.channels.first_waiting(site.channel), a);
  site.channels.pop_waiting(site.channel);
  site.channels.hold(site.channel, a);
  EXPECT_EQ(site.channels.first_waiting(site.channel), kNone) << "a holds the channel";
  site.channels.release(site.channel, Time{9});
  EXPECT_EQ(site.channels.first_waiting(site.channel), b);
  EXPECT_EQ(site.channels.free_at(site.channel), Time{9});
  EXPECT_TRUE(site.channels.needs_wake(site.channel));
  EXPECT_FALSE(site.channels.needs_wake(site.channel)) << "it will be woken at 9 already";
}

// At 25 the first of four flows has left, the second sends, and two are to come before one that waited anyhow.
TEST(Channels, UnravelKeepsWhatHasLeftReturnsWhatSendsAndLetsTheRestWaitInFront) {
  ChannelSite site;
  std::vector<FlowId> ids;
  for (std::int64_t i = 0; i < 4; ++i) {
    ids.push_back(site.take(20 * i, 20 * i + 19));
    site.channels.add_exclusive(site.channel, ids.back(), Time{20 * i + 20});
  }
  EXPECT_EQ(site.channels.last_exclusive(site.channel), ids[3]);
  const FlowId waiting = site.take(0, 0);
  site.channels.enqueue(site.channel, waiting);
  std::size_t cancelled = 0;
  EXPECT_EQ(site.channels.unravel(site.channel, Time{25}, [&](const Flow&) { ++cancelled; }), ids[1]);
  EXPECT_EQ(cancelled, 3u);
  EXPECT_THAT(site.in_order(), ElementsAre(ids[0], ids[2], ids[3], waiting));
  EXPECT_EQ(site.channels.free_at(site.channel), Time{20});
  EXPECT_EQ(site.channels.last_exclusive(site.channel), ids[0]);
  site.channels.drop_exclusive(site.channel, ids[0]);
  EXPECT_EQ(site.channels.last_exclusive(site.channel), kNone);
}

TEST(Channels, AClosedChannelIsOpenedAgainEmpty) {
  ChannelSite site;
  site.channels.release(site.channel, Time{50});
  site.channels.close(site.channel);
  EXPECT_EQ(site.channels.open(), site.channel);
  EXPECT_EQ(site.channels.free_at(site.channel), Time{0});
}

// Latency 100 for two neighbours, then 50, then 100 again: three events.
TEST(Arrivals, NeighboursThatArriveTogetherCostOneEvent) {
  engine::Engine engine;
  FlowTable flows;
  Arrivals arrivals(engine, flows);
  TagLog log(engine);
  arrivals.attach(log);
  Arrivals::Group group;
  std::uint64_t tag = 0;
  for (const std::int64_t latency : {100, 100, 50, 100}) {
    arrivals.leave(flows.take(path_of({0}, latency), Bytes{1}, tag++, kNone), group);
  }
  engine.run();
  EXPECT_THAT(log.arrivals, ElementsAre(Pair(2, 50), Pair(0, 100), Pair(1, 100), Pair(3, 100)));
  EXPECT_EQ(engine.events_run(), 3u);
}

struct ExclusiveSite {
  engine::Engine engine;
  FlowTable flows;
  Channels channels{flows};
  Arrivals arrivals{engine, flows};
  std::vector<double> rates{2.0, 1.0, 4.0};  // bytes per picosecond
  ExclusiveFlows exclusive{{engine, flows, channels, arrivals, rates}};
  TagLog log{engine};

  ExclusiveSite() {
    arrivals.attach(log);
    exclusive.resize(rates.size());
  }
};

// 100 bytes at 1 byte per picosecond leave at 100 and arrive 10 later.
TEST(ExclusiveFlows, AFlowOccupiesItsPathUntilItsLastByteHasLeft) {
  ExclusiveSite site;
  const FlowId id = site.flows.take(path_of({0, 1}, 10), Bytes{100}, 5, kNone);
  site.exclusive.start(id, Time{0});
  EXPECT_EQ(site.exclusive.occupant(0), id);
  EXPECT_EQ(site.exclusive.occupant(1), id);
  EXPECT_EQ(site.exclusive.occupant(2), kNone);
  EXPECT_EQ(site.exclusive.rate(site.flows[id]), 1.0);
  site.engine.run();
  EXPECT_THAT(site.log.arrivals, ElementsAre(Pair(5, 110)));
  EXPECT_EQ(site.exclusive.last_occupant(0), kNone);
}

// At 40 of 100 bytes 60 are left; the arrival is cancelled.
TEST(ExclusiveFlows, AWithdrawnFlowKeepsWhatItHasLeft) {
  ExclusiveSite site;
  const FlowId id = site.flows.take(path_of({1}), Bytes{100}, 5, kNone);
  site.exclusive.start(id, Time{0});
  struct Act {
    ExclusiveSite& site;
    FlowId id;
    void withdraw(std::uint64_t) { EXPECT_EQ(site.exclusive.withdraw(id), id); }
  } act{site, id};
  site.engine.schedule(Time{40}, engine::Phase::kFinish, engine::Action::to<&Act::withdraw>(act));
  site.engine.run();
  EXPECT_TRUE(site.log.arrivals.empty());
  EXPECT_EQ(site.flows[id].remaining, 60.0);
  EXPECT_EQ(site.exclusive.occupant(1), kNone);
}

TEST(ExclusiveFlows, TheNextMessageOfAChannelFollowsOnTheSamePathWhileItHasARate) {
  ExclusiveSite site;
  const ChannelId channel = site.channels.open();
  EXPECT_FALSE(site.exclusive.can_follow(channel, path_of({0, 1})));
  site.exclusive.start(site.flows.take(path_of({0, 1}), Bytes{100}, 5, channel), Time{0});
  EXPECT_TRUE(site.exclusive.can_follow(channel, path_of({0, 1})));
  EXPECT_FALSE(site.exclusive.can_follow(channel, path_of({0})));
  EXPECT_FALSE(site.exclusive.can_follow(channel, path_of({1, 0})));
  site.rates[1] = 0.0;
  EXPECT_FALSE(site.exclusive.can_follow(channel, path_of({0, 1})));
}

// ---- messages that leave together, as one path of several parts

// Capacities of 1 byte a picosecond, and what arrived when.
struct PartsSite {
  PartsSite() {
    network.attach(log);
    network.resize(12);
    for (CapacityId id = 0; id < 12; ++id) network.set_rate(id, {1e12});
  }
  engine::Engine engine;
  TagLog log{engine};
  Network network{engine};
  Network::Standing ring{};
};

Path ring_of_four(std::int64_t latency = 0) {
  Path path = path_of({0, 4, 1, 5, 2, 6, 3, 7}, latency, 3);
  path.parts = 4;
  return path;
}

TEST(PathOfParts, MessagesThatAreAloneCostOneEvent) {
  PartsSite site;
  EXPECT_EQ(site.network.rate_of_parts(ring_of_four()).bytes_per_second, 1e12);
  site.network.post_parts(ring_of_four(50), Bytes{1000}, 10, site.ring);
  EXPECT_EQ(site.network.messages(), 4u);
  EXPECT_THAT(site.network.rates(), ElementsAre(Pair(10, 1e12), Pair(11, 1e12), Pair(12, 1e12), Pair(13, 1e12)));
  site.engine.run();
  // 1,000 bytes at 1 byte/ps, an overhead of 3 ps and a latency of 50 ps.
  EXPECT_THAT(site.log.arrivals, ElementsAre(Pair(10, 1053), Pair(11, 1053), Pair(12, 1053), Pair(13, 1053)));
  EXPECT_EQ(site.engine.events_run(), 1u);
}

TEST(PathOfParts, OneThatMeetsAnotherIsLateAndTheOthersAreNot) {
  PartsSite site;
  site.network.post_parts(ring_of_four(), Bytes{1000}, 10, site.ring);
  struct Act {
    PartsSite& site;
    void post(std::uint64_t) { site.network.post(kNone, path_of({5, 8}), Bytes{300}, 77); }
  } act{site};
  site.engine.schedule(Time{400}, engine::Phase::kFinish, engine::Action::to<&Act::post>(act));
  site.engine.run();
  // Part 1 has 600 bytes left at 400 ps and shares capacity 5 until the 300 bytes are there, at 1,000 ps; then 300 more.
  EXPECT_THAT(site.log.arrivals,
              ElementsAre(Pair(77, 1000), Pair(10, 1003), Pair(12, 1003), Pair(13, 1003), Pair(11, 1303)));
}

TEST(PathOfParts, StandUntilAnotherFlowWantsOneOfTheirCapacities) {
  PartsSite site;
  site.network.post_parts(ring_of_four(50), Bytes{1000}, 10, site.ring);
  const std::uint32_t first = site.ring.serial;
  site.engine.run();
  EXPECT_EQ(site.network.bytes_left(4), Bytes{0});
  // Again at 1,053 ps, with another latency: 2,000 bytes, 3 ps, 7 ps.
  site.network.post_parts(ring_of_four(7), Bytes{2000}, 20, site.ring);
  EXPECT_EQ(site.ring.serial, first) << "it was found standing";
  EXPECT_EQ(site.network.bytes_left(4), Bytes{2000});
  site.engine.run();
  EXPECT_THAT(site.log.arrivals, IsSupersetOf({Pair(20, 3063), Pair(21, 3063), Pair(22, 3063), Pair(23, 3063)}));
  EXPECT_EQ(site.network.messages(), 8u);
  site.network.post(kNone, path_of({5, 8}), Bytes{300}, 77);
  site.engine.run();
  site.network.post_parts(ring_of_four(), Bytes{1000}, 30, site.ring);
  EXPECT_NE(site.ring.serial, first);
}

TEST(PathOfParts, StandUntilARateChanges) {
  PartsSite site;
  site.network.post_parts(ring_of_four(), Bytes{1000}, 10, site.ring);
  site.engine.run();
  EXPECT_EQ(site.network.rate_of_parts(ring_of_four(), site.ring).bytes_per_second, 1e12);
  site.network.set_rate(6, {0.5e12});
  EXPECT_EQ(site.network.rate_of_parts(ring_of_four(), site.ring).bytes_per_second, 0.0);
}

TEST(PathOfParts, WaysOfDifferentRatesHaveNoCommonOne) {
  PartsSite site;
  site.network.set_rate(6, {0.5e12});
  EXPECT_EQ(site.network.rate_of_parts(ring_of_four()).bytes_per_second, 0.0);
}

// What post_parts() promises: the arrivals, in their order, of as many calls of post(), whatever else goes on.
TEST(PathOfParts, ArrivesAsMessagesThatWerePostedOneByOne) {
  for (std::uint64_t trial = 0; trial < test::test_cases(100); ++trial) {
    PartsSite together;
    PartsSite apart;
    std::mt19937_64 random(trial);
    std::uint64_t tag = 0;
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t what = random() % 8;
      const Bytes bytes{static_cast<std::int64_t>(random() % 5 * 100)};
      const auto id = static_cast<CapacityId>(random() % 12);
      const Path other = path_of({id, static_cast<CapacityId>((id + 1 + random() % 11) % 12)}, 5, 2);
      const Path ring = ring_of_four(static_cast<std::int64_t>(random() % 3));
      const double rate = static_cast<double>(random() % 3) * 0.5e12;
      for (PartsSite* site : {&together, &apart}) {
        if (what == 0) site->network.set_rate(id, {rate > 0.0 || step % 10 == 0 ? rate : 1e12});
        if (what == 1) site->network.post(kNone, other, bytes, tag);
        if (what < 2) continue;
        const bool even = site->network.rate_of_parts(ring).bytes_per_second > 0.0;
        if (site == &together && even) site->network.post_parts(ring, bytes, tag, site->ring);
        for (std::uint32_t p = 0; p < 4 && (site == &apart || !even); ++p) {
          site->network.post(kNone, ring.part(p), bytes, tag + p);
        }
      }
      tag += 4;
      const Time until = together.engine.now() + Duration{static_cast<std::int64_t>(random() % 900)};
      struct Stop {
        void pass(std::uint64_t) { passed = true; }
        bool passed = false;
      };
      for (PartsSite* site : {&together, &apart}) {
        Stop stop;
        site->engine.schedule(until, engine::Phase::kSettle, engine::Action::to<&Stop::pass>(stop));
        while (!stop.passed) site->engine.step();
      }
    }
    for (PartsSite* site : {&together, &apart}) {
      for (CapacityId id = 0; id < 12; ++id) site->network.set_rate(id, {1e12});
      site->engine.run();
    }
    ASSERT_EQ(together.log.arrivals, apart.log.arrivals) << "trial " << trial;
    EXPECT_EQ(together.network.messages(), apart.network.messages());
    EXPECT_LE(together.engine.events_run(), apart.engine.events_run());
  }
}

}  // namespace
}  // namespace photonrail::network
