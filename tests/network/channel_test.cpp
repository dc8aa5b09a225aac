// Channels whose path gets faster while messages wait.
#include "network/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail {

using network::DeliveryListener;
using network::Network;
using network::Path;

namespace {

class ArrivalLog : public DeliveryListener {
 public:
  explicit ArrivalLog(engine::Engine& engine) : engine_(engine) {}
  void delivered(std::uint64_t tag) override { arrivals.emplace_back(tag, engine_.now().since_start().count()); }

  std::vector<std::pair<std::uint64_t, std::int64_t>> arrivals;

 private:
  engine::Engine& engine_;
};

TEST(Channel, TheNextMessageLeavesWhenTheOneBeforeHasLeftEarlierThanItWasExpectedTo) {
  engine::Engine engine;
  Network network(engine);
  ArrivalLog log(engine);
  network.attach(log);
  network.resize(1);
  network.set_rate(0, {1e12});  // 1 byte per picosecond
  Path path;
  path.add(0);
  path.overhead = Duration{5};
  const auto channel = network.open_channel();
  network.post(channel, path, Bytes{100}, 1);
  network.post(channel, path, Bytes{100}, 2);
  engine.schedule(Time{10}, engine::Phase::kFinish,
                  {[](void* self, std::uint64_t) { static_cast<Network*>(self)->set_rate(0, {10e12}); }, &network, 0});
  engine.run();
  // 10 bytes in 10 ps, then 10 bytes per picosecond: 90 take 9, and the overhead 5. The second message needs 10 + 5.
  EXPECT_THAT(log.arrivals, ::testing::ElementsAre(::testing::Pair(1, 24), ::testing::Pair(2, 39)));
}

// Between its two messages the channel pauses for its overhead, and there the path stops.
TEST(Channel, AMessageThatFollowsOnAPathThatStandsStillWaitsUntilItGoesOn) {
  engine::Engine engine;
  Network network(engine);
  ArrivalLog log(engine);
  network.attach(log);
  network.resize(1);
  network.set_rate(0, {1e12});  // 1 byte per picosecond
  Path path;
  path.add(0);
  path.overhead = Duration{50};
  path.latency = Duration{500};  // the first message is on its way for long
  const auto channel = network.open_channel();
  network.post(channel, path, Bytes{100}, 1);
  struct Act {
    Network& network;
    Network::ChannelId channel;
    const Path& path;
    void stop(std::uint64_t) { network.set_rate(0, {0.0}); }
    void post(std::uint64_t) { network.post(channel, path, Bytes{100}, 2); }
    void go_on(std::uint64_t) { network.set_rate(0, {1e12}); }
  } act{network, channel, path};
  engine.schedule(Time{110}, engine::Phase::kFinish, engine::Action::to<&Act::stop>(act));
  engine.schedule(Time{120}, engine::Phase::kFinish, engine::Action::to<&Act::post>(act));
  engine.schedule(Time{300}, engine::Phase::kFinish, engine::Action::to<&Act::go_on>(act));
  engine.run();
  // The first leaves until 100 and arrives 50 + 500 later. The second has the channel from 150 on and light from 300 on.
  EXPECT_THAT(log.arrivals, ::testing::ElementsAre(::testing::Pair(1, 650), ::testing::Pair(2, 950)));
}

// As small messages do where the protocol goes by the size.
TEST(Channel, AMessageOfLessLatencyArrivesBeforeTheOneInFrontOfIt) {
  engine::Engine engine;
  Network network(engine);
  ArrivalLog log(engine);
  network.attach(log);
  network.resize(1);
  network.set_rate(0, {1e12});  // 1 byte per picosecond
  const auto channel = network.open_channel();
  const auto post = [&](std::int64_t latency, std::uint64_t tag) {
    Path path;
    path.add(0);
    path.latency = Duration{latency};
    network.post(channel, path, Bytes{100}, tag);
  };
  post(1000, 1);
  post(10, 2);
  post(500, 3);
  engine.run();
  network.close_channel(channel);
  EXPECT_THAT(log.arrivals,
              ::testing::ElementsAre(::testing::Pair(2, 210), ::testing::Pair(3, 800), ::testing::Pair(1, 1100)));
}

}  // namespace
}  // namespace photonrail
