#include "topology/plant.hpp"

#include "photonrail/error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace photonrail {

using topology::CapacityId;
using topology::Plant;

namespace {

PlantSpec electrical_plant(std::uint32_t servers, std::uint32_t gpus, std::uint32_t ports, std::uint32_t radix = 64,
                           double oversubscription = 1.0) {
  PlantSpec spec;
  spec.servers = servers;
  spec.gpus_per_server = gpus;
  spec.nic_ports = ports;
  spec.nic_port = Bandwidth::from_gb_per_s(50);
  spec.scale_up = Bandwidth::from_gb_per_s(450);
  spec.switch_radix = radix;
  spec.oversubscription = oversubscription;
  return spec;
}

TEST(PlantSpecTest, ARailThatFitsOneSwitchHasOneTier) {
  EXPECT_FALSE(electrical_plant(64, 8, 1).two_tier());
  EXPECT_TRUE(electrical_plant(65, 8, 1).two_tier());
  EXPECT_EQ(electrical_plant(64, 8, 1).leaves(), 1u);
  EXPECT_EQ(electrical_plant(64, 8, 1).ports_per_leaf(), 64u);
  PlantSpec optical = electrical_plant(1000, 8, 2);
  optical.rail = RailKind::kOptical;
  EXPECT_FALSE(optical.two_tier());
}

TEST(PlantSpecTest, OversubscriptionSplitsTheRadix) {
  // radix x o / (1 + o) down: 64 x 1/2 = 32, 64 x 3/4 = 48, 64 x 2/3 = 42.7.
  EXPECT_EQ(electrical_plant(1000, 1, 1, 64, 1.0).ports_per_leaf(), 32u);
  EXPECT_EQ(electrical_plant(1000, 1, 1, 64, 3.0).ports_per_leaf(), 48u);
  EXPECT_EQ(electrical_plant(1000, 1, 1, 64, 2.0).ports_per_leaf(), 42u);
  EXPECT_EQ(electrical_plant(1000, 1, 1, 11, 1.2).ports_per_leaf(), 6u);  // 11 x 1.2 / 2.2 is exactly 6
  EXPECT_EQ(electrical_plant(1000, 1, 1, 2, 1e18).ports_per_leaf(), 1u);  // a leaf keeps a port for its uplink
  EXPECT_EQ(electrical_plant(1000, 1, 1, 64, 1.0).leaves(), 32u);         // 1000 / 32 = 31.25
}

TEST(PlantTest, PlacesGpusByServerAndLocalIndex) {
  const Plant plant(electrical_plant(4, 8, 2));
  EXPECT_EQ(plant.gpu(2, 5), GpuId{21u});  // 2 x 8 + 5
  EXPECT_EQ(plant.server_of(GpuId{21u}), 2u);
  EXPECT_EQ(plant.local_of(GpuId{21u}), 5u);
  EXPECT_EQ(plant.rail_port(GpuId{21u}, 1), PortId{5u});  // 2 x 2 + 1
}

TEST(PlantTest, CapacitiesAreDenseAndDistinct) {
  // 10 servers x 2 GPUs x 2 ports: 20 rail ports at radix 8, 4 a leaf, 5 leaves a rail.
  // 20 + 20 scale-up, 40 + 40 NIC, 2 rails x 5 leaves each way = 10 + 10.
  const Plant plant(electrical_plant(10, 2, 2, 8));
  std::set<CapacityId> ids;
  for (std::uint32_t g = 0; g < 20; ++g) {
    ids.insert({plant.scale_up_out(GpuId{g}), plant.scale_up_in(GpuId{g})});
    for (std::uint32_t p = 0; p < 2; ++p) ids.insert({plant.nic_out(GpuId{g}, p), plant.nic_in(GpuId{g}, p)});
  }
  for (std::uint32_t r = 0; r < 2; ++r) {
    for (std::uint32_t l = 0; l < 5; ++l) ids.insert({plant.leaf_up(RailId{r}, l), plant.leaf_down(RailId{r}, l)});
  }
  EXPECT_EQ(plant.capacities(), 140u);
  EXPECT_EQ(ids.size(), 140u);
  EXPECT_EQ(*ids.begin(), 0u);
  EXPECT_EQ(*ids.rbegin(), 139u);
}

TEST(PlantTest, OneTierHasNoLeafCapacities) {
  const Plant plant(electrical_plant(10, 2, 2));
  EXPECT_EQ(plant.capacities(), 120u);  // as above without the 20 of leaves
  for (std::uint32_t g = 0; g < 20; ++g) EXPECT_EQ(plant.leaf_of(GpuId{g}, 1), 0u);
}

TEST(PlantTest, PortsFillLeavesInOrder) {
  // 9 servers x 2 ports = 18 rail ports at radix 8: 4 a leaf, so server s has ports 2s and 2s + 1, on leaf s / 2.
  const Plant plant(electrical_plant(9, 2, 2, 8));
  for (std::uint32_t s = 0; s < 9; ++s) {
    EXPECT_EQ(plant.leaf_of(plant.gpu(s, 1), 0), s / 2);
    EXPECT_EQ(plant.leaf_of(plant.gpu(s, 1), 1), s / 2);
  }
  // The last leaf has 18 - 4 x 4 = 2 ports.
}

TEST(PlantTest, RatesFollowTheWiring) {
  // Radix 8, oversubscription 3: 6 ports down. 10 servers x 1 port: leaves of 6 and 4 ports.
  // Up: 6 x 50 / 3 = 100 GB/s, also from the leaf that is not full: its uplinks do not depend on the servers below.
  const Plant plant(electrical_plant(10, 2, 1, 8, 3.0));
  EXPECT_EQ(plant.rate(plant.scale_up_out(GpuId{19u})), Bandwidth::from_gb_per_s(450));
  EXPECT_EQ(plant.rate(plant.scale_up_in(GpuId{0u})), Bandwidth::from_gb_per_s(450));
  EXPECT_EQ(plant.rate(plant.nic_out(GpuId{0u}, 0)), Bandwidth::from_gb_per_s(50));
  EXPECT_EQ(plant.rate(plant.nic_in(GpuId{19u}, 0)), Bandwidth::from_gb_per_s(50));
  for (const RailId rail : {RailId{0u}, RailId{1u}}) {
    EXPECT_DOUBLE_EQ(plant.rate(plant.leaf_up(rail, 0)).bytes_per_second, 100e9);
    EXPECT_DOUBLE_EQ(plant.rate(plant.leaf_down(rail, 0)).bytes_per_second, 100e9);
    EXPECT_DOUBLE_EQ(plant.rate(plant.leaf_up(rail, 1)).bytes_per_second, 100e9);
    EXPECT_DOUBLE_EQ(plant.rate(plant.leaf_down(rail, 1)).bytes_per_second, 100e9);
  }
  EXPECT_THROW((void)plant.rate(plant.capacities()), InternalError);
}

// A server that no job uses changes no capacity of the others: neither on a leaf of its own nor on one that has room.
TEST(PlantTest, AnUnusedServerChangesNoUplink) {
  for (std::uint32_t servers = 9; servers < 20; ++servers) {
    const Plant before(electrical_plant(servers, 1, 1, 8, 3.0));
    const Plant after(electrical_plant(servers + 1, 1, 1, 8, 3.0));
    for (std::uint32_t s = 0; s < servers; ++s) {
      const std::uint32_t leaf = before.leaf_of(GpuId{s}, 0);
      EXPECT_EQ(after.leaf_of(GpuId{s}, 0), leaf);
      EXPECT_EQ(after.rate(after.leaf_up(RailId{0u}, leaf)), before.rate(before.leaf_up(RailId{0u}, leaf))) << servers;
      EXPECT_EQ(after.rate(after.leaf_down(RailId{0u}, leaf)), before.rate(before.leaf_down(RailId{0u}, leaf))) << servers;
    }
  }
}

TEST(PlantTest, AMillionGpusCostNothing) {
  // 131,072 servers x 8: 2 x 2^20 scale-up + 2 x 2^20 NIC + 2 x 8 rails x 131,072 / 32 leaves.
  const Plant plant(electrical_plant(131'072, 8, 1));
  EXPECT_EQ(plant.capacities(), 4u * 1'048'576u + 2u * 8u * 4096u);
  EXPECT_LE(sizeof(Plant), 512u);
}

TEST(PlantTest, WhatHasNoMeaningIsRefused) {
  EXPECT_THROW(Plant(electrical_plant(0, 8, 1)), ConfigError);
  EXPECT_THROW(Plant(electrical_plant(4, 0, 1)), ConfigError);
  EXPECT_THROW(Plant(electrical_plant(4, 8, 0)), ConfigError);
  EXPECT_THROW(Plant(electrical_plant(4, 8, 1, 1)), ConfigError);
  EXPECT_THROW(Plant(electrical_plant(4, 8, 1, 64, 0.5)), ConfigError);
  EXPECT_THROW(Plant(electrical_plant(4, 8, 1, 64, std::numeric_limits<double>::quiet_NaN())), ConfigError);
  // 2^28 GPUs: 2^29 scale-up, and 2^28 x 2 x 8 = 2^32 NIC capacities are too many; with 4 ports it is 2^31 + 2^29.
  EXPECT_THROW(Plant(electrical_plant(1u << 20, 256, 8, 1u << 30)), ConfigError);
  EXPECT_EQ(Plant(electrical_plant(1u << 20, 256, 4, 1u << 30)).capacities(), (1u << 31) + (1u << 29));
  EXPECT_THROW(Plant(electrical_plant(1u << 31, 1u << 31, 1u << 31)), ConfigError);
}

}  // namespace
}  // namespace photonrail
