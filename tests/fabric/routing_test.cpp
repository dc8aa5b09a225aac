#include "fabric/routing.hpp"

#include "fabric/fabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace photonrail {

using fabric::CircuitRouting;
using fabric::FabricSettings;
using fabric::LeafRouting;
using fabric::RailRouting;
using fabric::ServerRouting;
using fabric::SharedFabric;
using network::Path;
using topology::CapacityId;
using topology::Plant;

namespace {

using ::testing::ElementsAre;

constexpr Duration kInside{3};
constexpr Duration kNic{50};
constexpr Duration kTier{700};
constexpr Duration kLink{10'000};

/// Four servers of two GPUs; leaves of two servers, 2:1; two sites, each with a leaf.
class RoutingSite {
 public:
  explicit RoutingSite(RailKind kind = RailKind::kElectrical) {
    spec.servers = 4;
    spec.gpus_per_server = 2;
    spec.scale_up.latency = kInside;
    spec.nic.latency = kNic;
    spec.rail.kind = kind;
    spec.rail.switch_radix = 3;
    spec.rail.oversubscription = 2;
    spec.rail.tier_latency = kTier;
    spec.sites.servers = {2, 2};
    spec.sites.links = {{0, 1, Bandwidth::from_gb_per_s(10), kLink}};
    plant.emplace(spec.plant());
    shared.emplace(engine, spec, *plant, FabricSettings{});
  }
  [[nodiscard]] static std::vector<CapacityId> hops(const Path& path) { return {path.hops().begin(), path.hops().end()}; }

  engine::Engine engine;
  ClusterSpec spec;
  std::optional<Plant> plant;
  std::optional<SharedFabric> shared;
};

TEST(Routing, OfAServerAddsItsPorts) {
  RoutingSite site;
  ServerRouting routing(site.spec.scale_up, *site.plant, *site.shared);
  Path path;
  path.latency = Duration{1};
  EXPECT_TRUE(routing.add_way(GpuId{2u}, GpuId{3u}, path));
  EXPECT_EQ(path.latency, Duration{1} + kInside);
  EXPECT_THAT(RoutingSite::hops(path),
              ElementsAre(site.plant->scale_up_out(GpuId{2u}), site.plant->scale_up_in(GpuId{3u})));
}

// GPU 1 is on rail 1 of server 0, GPU 3 in the same leaf and site, GPU 7 in the others.
TEST(Routing, OverLeavesCrossesUplinksAndTheLinksOfSites) {
  RoutingSite site;
  LeafRouting routing(site.spec, *site.plant, *site.shared);
  Path near;
  EXPECT_TRUE(routing.add_way({RailId{1u}, 0, 1}, near));
  EXPECT_EQ(near.latency, kNic);
  EXPECT_THAT(RoutingSite::hops(near), ElementsAre(site.plant->nic_out(GpuId{1u}, 0), site.plant->nic_in(GpuId{3u}, 0)));
  Path far;
  EXPECT_TRUE(routing.add_way({RailId{1u}, 0, 3}, far));
  EXPECT_EQ(far.latency, kNic + kTier + kLink);
  EXPECT_THAT(RoutingSite::hops(far), ElementsAre(site.plant->nic_out(GpuId{1u}, 0), site.plant->leaf_up(RailId{1u}, 0),
                                                  site.shared->sites()->capacity(0), site.plant->leaf_down(RailId{1u}, 1),
                                                  site.plant->nic_in(GpuId{7u}, 0)));
}

// Without a lit circuit there is no way, and the path stays as it was.
TEST(Routing, OverCircuitsNeedsOneThatIsLit) {
  RoutingSite site(RailKind::kOptical);
  const fabric::RailContext context{site.engine, site.shared->network(), *site.plant, site.spec.rail, RailId{0u}};
  CircuitRouting::Rails rails(2);
  rails[0] = std::make_unique<fabric::OpticalRail>(context, site.shared->rail(RailId{0u}));
  const std::unique_ptr<RailRouting> routing = make_rail_routing(site.spec, *site.plant, *site.shared, rails);
  Path path;
  EXPECT_FALSE(routing->add_way({RailId{0u}, 0, 2}, path));
  EXPECT_TRUE(path.hops().empty());
  CircuitRouting same(site.spec, rails);
  EXPECT_FALSE(same.add_way({RailId{0u}, 0, 2}, path));
}

}  // namespace
}  // namespace photonrail
