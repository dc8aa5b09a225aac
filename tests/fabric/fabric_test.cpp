#include "fabric/fabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

namespace photonrail {

using fabric::CircuitListener;
using fabric::Fabric;
using network::DeliveryListener;
using network::Network;
using network::Path;
using topology::CapacityId;
using topology::Plant;

namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr Duration kScaleUpLatency = microseconds(3);
constexpr Duration kNicLatency = microseconds(5);
constexpr Duration kTierLatency = microseconds(7);
constexpr Duration kOverhead = microseconds(1);

ClusterSpec cluster(std::uint32_t servers, std::uint32_t gpus_per_server, RailKind kind) {
  ClusterSpec spec;
  spec.servers = servers;
  spec.gpus_per_server = gpus_per_server;
  spec.scale_up = {Bandwidth::from_gb_per_s(100), kScaleUpLatency};
  spec.nic = {1, Bandwidth::from_gb_per_s(50), kNicLatency, kOverhead};
  spec.rail.kind = kind;
  spec.rail.tier_latency = kTierLatency;
  spec.rail.optical.reconfiguration = DelayDistribution::constant(microseconds(100));
  return spec;
}

/// A fabric, and a log of what was delivered when.
class FabricFixture : public DeliveryListener, public CircuitListener {
 public:
  explicit FabricFixture(const ClusterSpec& cluster) : spec(cluster), fabric(engine, spec, fabric::FabricSettings{}) {
    fabric.attach(*this, *this);
  }

  void delivered(std::uint64_t tag) override { arrivals.emplace_back(tag, engine.now().since_start()); }
  void circuit_changed(RailId, Circuit, CircuitState) override {}
  void command_done(RailId, std::uint32_t) override {}
  void circuit_missed(RailId, std::uint64_t, std::uint32_t, std::uint32_t) override {}
  void circuit_back(RailId, std::uint64_t, std::uint32_t, std::uint32_t) override {}
  void rail_changed(RailId) override {}
  void light_back(RailId) override {}

  [[nodiscard]] std::vector<CapacityId> hops(std::size_t from, std::size_t to) {
    const std::optional<Path> path = route(fabric, GpuId{from}, GpuId{to});
    EXPECT_TRUE(path.has_value());
    return path ? std::vector<CapacityId>(path->hops().begin(), path->hops().end()) : std::vector<CapacityId>{};
  }
  [[nodiscard]] Duration latency(std::size_t from, std::size_t to) {
    return route(fabric, GpuId{from}, GpuId{to}).value().latency;
  }
  void post(std::size_t from, std::size_t to, std::int64_t bytes, std::uint64_t tag) {
    fabric.network().post(Network::kNone, route(fabric, GpuId{from}, GpuId{to}).value(), Bytes{bytes}, tag);
  }

  ClusterSpec spec;
  engine::Engine engine;
  Fabric fabric;
  std::vector<std::pair<std::uint64_t, Duration>> arrivals;
};

TEST(Fabric, WithinAServerAMessageUsesTheScaleUpPortsOfItsEnds) {
  for (const RailKind kind : {RailKind::kElectrical, RailKind::kOptical}) {
    FabricFixture f(cluster(2, 4, kind));
    const Plant& plant = f.fabric.plant();
    EXPECT_FALSE(f.fabric.crossing(GpuId{4}, GpuId{7}).has_value());
    EXPECT_THAT(f.hops(4, 7), ElementsAre(plant.scale_up_out(GpuId{4}), plant.scale_up_in(GpuId{7})));
    EXPECT_EQ(f.latency(4, 7), kScaleUpLatency);
    f.post(4, 7, 1000000, 1);
    f.engine.run();
    // 1 MB at 100 GB/s, then the gap and the way.
    EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, microseconds(10) + kOverhead + kScaleUpLatency)));
  }
}

TEST(Fabric, AlongARailAMessageUsesTheNicsOfItsEnds) {
  FabricFixture f(cluster(3, 2, RailKind::kElectrical));
  const Plant& plant = f.fabric.plant();
  EXPECT_THAT(f.hops(1, 5), ElementsAre(plant.nic_out(GpuId{1}, 0), plant.nic_in(GpuId{5}, 0)));
  EXPECT_EQ(f.latency(1, 5), kNicLatency);
  const auto crossing = f.fabric.crossing(GpuId{1}, GpuId{5});
  ASSERT_TRUE(crossing.has_value());
  EXPECT_EQ(crossing->rail, RailId{1});
  EXPECT_EQ(crossing->from, 0u);
  EXPECT_EQ(crossing->to, 2u);
}

TEST(Fabric, ToAnotherLocalIndexAMessageGoesThroughTheScaleUpFabricToTheRailOfItsDestination) {
  FabricFixture f(cluster(2, 2, RailKind::kElectrical));  // servers {0, 1} and {2, 3}
  const Plant& plant = f.fabric.plant();
  EXPECT_THAT(f.hops(0, 3), ElementsAre(plant.scale_up_out(GpuId{0}), plant.scale_up_in(GpuId{1}),
                                        plant.nic_out(GpuId{1}, 0), plant.nic_in(GpuId{3}, 0)));
  EXPECT_EQ(f.latency(0, 3), kScaleUpLatency + kNicLatency);
  EXPECT_EQ(f.fabric.crossing(GpuId{0}, GpuId{3})->rail, RailId{1});
  EXPECT_EQ(f.fabric.crossing(GpuId{3}, GpuId{0})->rail, RailId{0});
}

// Servers {0..3} and {4..7}, two GPUs a NIC: those of 0 and 1 are the ports of 0. To the other GPU of a NIC nothing passes
// the scale-up fabric.
TEST(Fabric, NeighboursMayShareANic) {
  ClusterSpec spec = cluster(2, 4, RailKind::kElectrical);
  spec.nic.gpus = 2;
  FabricFixture f(spec);
  const Plant& plant = f.fabric.plant();
  const auto first = ElementsAre(plant.nic_out(GpuId{0}, 0), plant.nic_in(GpuId{4}, 0));
  for (const auto& [from, to] : {std::pair{0U, 4U}, {1U, 5U}, {0U, 5U}, {1U, 4U}}) EXPECT_THAT(f.hops(from, to), first);
  EXPECT_THAT(f.hops(0, 7), ElementsAre(plant.scale_up_out(GpuId{0}), plant.scale_up_in(GpuId{3}),
                                        plant.nic_out(GpuId{2}, 0), plant.nic_in(GpuId{6}, 0)));
  // Two messages of 1 MB at 50 GB/s, which they share: both leave after 40 us.
  f.post(0, 4, 1'000'000, 1);
  f.post(1, 5, 1'000'000, 2);
  f.engine.run();
  const Duration at = microseconds(40) + kOverhead + kNicLatency;
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, at), Pair(2, at)));
}

TEST(Fabric, AnElectricalNicOfTwoPortsIsOneOfTheirSummedRate) {
  ClusterSpec spec = cluster(2, 1, RailKind::kElectrical);
  spec.nic.ports = 2;
  FabricFixture f(spec);
  f.post(0, 1, 10000000, 1);
  f.engine.run();
  // 10 MB at 2 x 50 GB/s.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(1, microseconds(100) + kOverhead + kNicLatency)));
}

TEST(Fabric, ARailLargerThanASwitchCrossesLeafAndSpine) {
  ClusterSpec spec = cluster(8, 1, RailKind::kElectrical);
  spec.rail.switch_radix = 4;  // 2 ports down and 2 up: leaves {0, 1}, {2, 3}, {4, 5}, {6, 7}
  FabricFixture f(spec);
  const Plant& plant = f.fabric.plant();
  EXPECT_THAT(f.hops(2, 3), ElementsAre(plant.nic_out(GpuId{2}, 0), plant.nic_in(GpuId{3}, 0)));
  EXPECT_EQ(f.latency(2, 3), kNicLatency);
  EXPECT_THAT(f.hops(2, 7), ElementsAre(plant.nic_out(GpuId{2}, 0), plant.nic_in(GpuId{7}, 0)))
      << "2 ports cannot fill 2 uplinks";
  EXPECT_EQ(f.latency(2, 7), kNicLatency + kTierLatency);
}

TEST(Fabric, UplinksAreSharedWhereTheLeafIsOversubscribed) {
  ClusterSpec spec = cluster(6, 1, RailKind::kElectrical);
  spec.rail.switch_radix = 4;
  spec.rail.oversubscription = 3;  // 3 ports down, 1 up: leaves {0, 1, 2} and {3, 4, 5}
  FabricFixture f(spec);
  f.post(0, 3, 10000000, 1);
  f.post(1, 4, 10000000, 2);
  f.post(2, 1, 10000000, 3);
  f.engine.run();
  // Messages 1 and 2 share an uplink of 50 GB/s: 20 MB take 400 us. Message 3 stays below its leaf: 200 us.
  EXPECT_THAT(f.arrivals, ElementsAre(Pair(3, microseconds(200) + kOverhead + kNicLatency),
                                      Pair(1, microseconds(400) + kOverhead + kNicLatency + kTierLatency),
                                      Pair(2, microseconds(400) + kOverhead + kNicLatency + kTierLatency)));
}

TEST(Fabric, AnOpticalRailHasAWayOnlyWhereACircuitIsLit) {
  FabricFixture f(cluster(3, 2, RailKind::kOptical));
  const Plant& plant = f.fabric.plant();
  EXPECT_FALSE(route(f.fabric, GpuId{1}, GpuId{5}).has_value());
  f.fabric.rail(RailId{1}).apply({{{PortId{0}, PortId{2}}}, {}}, {});
  EXPECT_FALSE(route(f.fabric, GpuId{1}, GpuId{5}).has_value()) << "it is switching";
  f.engine.run();
  // A circuit is never shared: the port that sends is all that counts.
  EXPECT_THAT(f.hops(1, 5), ElementsAre(plant.nic_out(GpuId{1}, 0)));
  EXPECT_FALSE(route(f.fabric, GpuId{5}, GpuId{1}).has_value()) << "a circuit has a direction";
  EXPECT_FALSE(route(f.fabric, GpuId{0}, GpuId{4}).has_value()) << "the other rail is another switch";
  // From the other GPU of the server, by way of the one on the rail.
  EXPECT_THAT(f.hops(0, 5),
              ElementsAre(plant.scale_up_out(GpuId{0}), plant.scale_up_in(GpuId{1}), plant.nic_out(GpuId{1}, 0)));
  EXPECT_EQ(f.latency(0, 5), kScaleUpLatency + kNicLatency);
}

}  // namespace
}  // namespace photonrail
