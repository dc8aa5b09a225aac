#include "fabric/capacity_map.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace photonrail {

using fabric::CapacityMap;
using topology::CapacityId;
using topology::Plant;

namespace {

PlantSpec plant_of(std::uint32_t servers, std::uint32_t gpus, std::uint32_t ports, std::uint32_t radix) {
  PlantSpec spec;
  spec.servers = servers;
  spec.gpus_per_server = gpus;
  spec.nic_ports = ports;
  spec.nic_port = Bandwidth::from_gb_per_s(50);
  spec.scale_up = Bandwidth::from_gb_per_s(450);
  spec.switch_radix = radix;
  return spec;
}

TEST(CapacityMap, OfTheWholePlantHasItsNumbers) {
  const Plant plant(plant_of(8, 3, 2, 8));  // leaves of 4 ports, 4 of them
  const CapacityMap map(plant, {});
  EXPECT_EQ(map.count(), plant.capacities());
  std::size_t gpus = 0;
  map.each_gpu([&](GpuId gpu) {
    ++gpus;
    EXPECT_EQ(map.scale_up_out(gpu), plant.scale_up_out(gpu));
    EXPECT_EQ(map.scale_up_in(gpu), plant.scale_up_in(gpu));
    EXPECT_EQ(map.nic_out(gpu, 1), plant.nic_out(gpu, 1));
    EXPECT_EQ(map.nic_in(gpu, 1), plant.nic_in(gpu, 1));
  });
  EXPECT_EQ(gpus, 24u);
  std::size_t leaves = 0;
  map.each_leaf([&](RailId rail, std::uint32_t leaf) {
    ++leaves;
    EXPECT_EQ(map.leaf_up(rail, leaf), plant.leaf_up(rail, leaf));
    EXPECT_EQ(map.leaf_down(rail, leaf), plant.leaf_down(rail, leaf));
  });
  EXPECT_EQ(leaves, 12u);
}

TEST(CapacityMap, OfSomeGpusNumbersTheirServersAndRailsInTheOrderOfThePlant) {
  const Plant plant(plant_of(8, 3, 2, 8));
  // Servers 1 and 6 (leaves 0 and 3), rails 0 and 2: 4 GPUs, each with 2 + 2 x 2 capacities, and 2 x 2 leaves each way.
  const std::vector<GpuId> gpus{plant.gpu(6, 0), plant.gpu(1, 2)};
  const CapacityMap map(plant, gpus);
  EXPECT_EQ(map.count(), 4u * 6 + 8);
  EXPECT_TRUE(map.has_server(6));
  EXPECT_FALSE(map.has_server(0));
  EXPECT_TRUE(map.has_rail(RailId{2u}));
  EXPECT_FALSE(map.has_rail(RailId{1u}));
  std::vector<CapacityId> ids;
  map.each_gpu([&](GpuId gpu) { ids.push_back(map.scale_up_out(gpu)); });
  map.each_gpu([&](GpuId gpu) { ids.push_back(map.scale_up_in(gpu)); });
  map.each_gpu([&](GpuId gpu) { ids.insert(ids.end(), {map.nic_out(gpu, 0), map.nic_out(gpu, 1)}); });
  map.each_gpu([&](GpuId gpu) { ids.insert(ids.end(), {map.nic_in(gpu, 0), map.nic_in(gpu, 1)}); });
  map.each_leaf([&](RailId rail, std::uint32_t leaf) { ids.push_back(map.leaf_up(rail, leaf)); });
  map.each_leaf([&](RailId rail, std::uint32_t leaf) { ids.push_back(map.leaf_down(rail, leaf)); });
  ASSERT_EQ(ids.size(), map.count());
  for (CapacityId id = 0; id < map.count(); ++id) EXPECT_EQ(ids[id], id);
}

TEST(CapacityMap, OfAFewGpusOfALargePlantIsSmall) {
  const Plant plant(plant_of(100'000, 1024, 1, 64));
  const std::vector<GpuId> gpus{GpuId{0u}, GpuId{1u}, plant.gpu(99'999, 1023)};
  // 2 servers x 3 rails x 4, and 2 leaves x 3 rails x 2.
  EXPECT_EQ(CapacityMap(plant, gpus).count(), 36u);
}

}  // namespace
}  // namespace photonrail
