#include "fabric/uplink_routes.hpp"

#include "fabric/site_links.hpp"
#include "fabric/tier_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace photonrail {

using fabric::CapacityMap;
using fabric::divide;
using fabric::SiteLinks;
using fabric::TierFaults;
using fabric::UplinkRoutes;
using network::Network;
using network::Path;
using topology::Plant;

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Divide, GivesWhatIsLeftToTheLargestRemainders) {
  // 10 x 1/6, 2/6, 3/6 = 1.67, 3.33, 5: the first has the largest remainder.
  EXPECT_THAT(divide(Bytes{10}, {1, 2, 3}), ElementsAre(Bytes{2}, Bytes{3}, Bytes{5}));
  EXPECT_THAT(divide(Bytes{5}, {1, 1, 1}), ElementsAre(Bytes{2}, Bytes{2}, Bytes{1}));
  EXPECT_THAT(divide(Bytes{0}, {1, 1}), ElementsAre(Bytes{0}, Bytes{0}));
}

TEST(Divide, LosesNoByteAndIsWithinOneOfTheShare) {
  std::mt19937_64 random(3);
  for (int draw = 0; draw < 1000; ++draw) {
    std::vector<std::uint64_t> shares(1 + random() % 9);
    double whole = 0.0;
    for (std::uint64_t& share : shares) whole += static_cast<double>(share = random() % 100 + draw % 2);
    if (whole == 0.0) shares[0] = 1, whole = 1.0;
    const Bytes bytes{static_cast<std::int64_t>(random() % (std::uint64_t{1} << (random() % 50 + 1)))};
    Bytes sum{};
    const std::vector<Bytes> parts = divide(bytes, shares);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      sum += parts[i];
      EXPECT_NEAR(static_cast<double>(parts[i].count),
                  static_cast<double>(bytes.count) * static_cast<double>(shares[i]) / whole, 1.0);
    }
    EXPECT_EQ(sum, bytes);
  }
}

/// Two leaves of two servers, with two uplinks of 10 and 30 GB/s.
class TierSite : public network::DeliveryListener {
 public:
  explicit TierSite(UplinkRouting routing, std::vector<PortFault> of = {}) : given(std::move(of)) {
    spec.servers = 4;
    spec.rail.switch_radix = 3;
    spec.rail.oversubscription = 2;
    spec.rail.uplinks.rates = {Bandwidth::from_gb_per_s(10), Bandwidth::from_gb_per_s(30)};
    spec.rail.uplinks.routing = routing;
    spec.rail.faults = given;
    plant.emplace(spec.plant());
    capacities.emplace(*plant, std::span<const GpuId>{});
    network.resize(capacities->count());
    for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
      network.set_rate(capacities->nic_out(GpuId{gpu}, 0), Bandwidth::from_gb_per_s(100));
      network.set_rate(capacities->nic_in(GpuId{gpu}, 0), Bandwidth::from_gb_per_s(100));
    }
    routes.emplace(*plant, *capacities, network, 1);
    network.attach(routes->before(*this));
    faults.emplace(TierFaults::Parts{engine, given, *plant, *capacities, network, &*routes});
  }
  void delivered(std::uint64_t tag) override { arrivals.emplace_back(tag, engine.now().since_start().count()); }
  void send(std::uint32_t from, std::uint32_t to, std::int64_t bytes, std::uint64_t tag, Network::ChannelId channel) {
    Path path;
    path.add(capacities->nic_out(GpuId{from}, 0));
    path.add(capacities->leaf_up(RailId{0}, from / 2));
    path.add(capacities->leaf_down(RailId{0}, to / 2));
    path.add(capacities->nic_in(GpuId{to}, 0));
    routes->post(channel, path, Bytes{bytes}, tag);
  }

  std::vector<PortFault> given;
  std::vector<std::pair<std::uint64_t, std::int64_t>> arrivals;
  engine::Engine engine;
  ClusterSpec spec;
  std::optional<Plant> plant;
  std::optional<CapacityMap> capacities;
  Network network{engine};
  std::optional<UplinkRoutes> routes;
  std::optional<TierFaults> faults;
};

// Each message is 300 bytes over 10 GB/s and 300 over 30: 30 ns. The parts of the second one follow those of the first on
// their uplinks, that of the fast uplink long before the slow one is done: the second ends at 60 ns. Each is told of once.
TEST(UplinkRoutes, APartWaitsForThePartBeforeItOnItsUplink) {
  TierSite site(UplinkRouting::kEqual);
  const Network::ChannelId channel = site.network.open_channel();
  site.send(0, 2, 600, 7, channel);
  site.send(0, 2, 600, 8, channel);
  site.engine.run();
  EXPECT_THAT(site.arrivals, ElementsAre(std::pair<std::uint64_t, std::int64_t>(7, 30'000),
                                         std::pair<std::uint64_t, std::int64_t>(8, 60'000)));
  site.routes->close(channel);
  site.network.close_channel(channel);
}

TEST(UplinkRoutes, AMessageOfOneByteHasOnePart) {
  TierSite site(UplinkRouting::kEqual);
  site.send(0, 2, 1, 1, Network::kNone);
  site.send(1, 3, 0, 2, Network::kNone);
  site.engine.run();
  EXPECT_EQ(site.arrivals.size(), 2u);
}

// 400 bytes at 30 GB/s: 300 have left when the uplink fails after 10 ns, and 100 go over the slow one in 10 ns.
TEST(UplinkRoutes, AMessageMovesWithWhatItHasLeft) {
  PortFault cut;
  cut.uplink = 1;
  cut.at = Time{10'000};
  TierSite site(UplinkRouting::kLeastLoaded, {cut});
  site.send(0, 2, 400, 1, Network::kNone);
  site.engine.run();
  EXPECT_THAT(site.arrivals, ElementsAre(std::pair<std::uint64_t, std::int64_t>(1, 20'000)));
  const auto loads = site.routes->loads();
  ASSERT_EQ(loads.size(), 4u);
  EXPECT_EQ(loads[0].up, Bytes{100});
  EXPECT_EQ(loads[1].up, Bytes{300});
  EXPECT_EQ(loads[2].down, Bytes{100});
  EXPECT_EQ(loads[3].down, Bytes{300});
}

// A square of sites with a link across: 1 is joined to 3 over 0, whose links come first.
TEST(SiteLinks, WaysAreTheFewestLinksAndTheFirst) {
  SitesSpec spec;
  spec.servers = {1, 2, 1, 1};
  const Bandwidth rate = Bandwidth::from_gb_per_s(1);
  spec.links = {{0, 1, rate, Duration{1}}, {1, 2, rate, Duration{2}}, {2, 3, rate, Duration{4}}, {3, 0, rate, Duration{8}}};
  const SiteLinks links(spec);
  EXPECT_THAT(links.way(1, 2), IsEmpty()) << "one site";
  EXPECT_THAT(links.way(0, 1), ElementsAre(0u));
  EXPECT_THAT(links.way(2, 4), ElementsAre(1u, 7u)) << "the second against its order";
  EXPECT_EQ(links.latency(2, 4), Duration{9});
  EXPECT_EQ(SiteLinks::parted(spec), std::nullopt);
  spec.links.resize(2);
  EXPECT_EQ(SiteLinks::parted(spec), std::pair(0u, 3u));
}

}  // namespace
}  // namespace photonrail
