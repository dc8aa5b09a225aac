// The parts of the network that a message passes without sharing, each alone.
#include "network/arrivals.hpp"
#include "network/channels.hpp"
#include "network/delivery_listener.hpp"
#include "network/exclusive_flows.hpp"
#include "network/flow.hpp"
#include "network/flow_table.hpp"
#include "network/path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::network {
namespace {

using ::testing::ElementsAre;
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
  site.channels.drop_first_exclusive(site.channel);
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

}  // namespace
}  // namespace photonrail::network
