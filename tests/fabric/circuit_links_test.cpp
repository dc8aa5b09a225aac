#include "fabric/circuit_links.hpp"

#include "fabric/rail_site.hpp"

#include <gtest/gtest.h>

namespace photonrail::fabric::test {

using network::DeliveryListener;
using network::Network;
using network::Path;
using topology::CapacityId;

namespace {

class CircuitLinksTest : public ::testing::Test, public DeliveryListener {
 protected:
  CircuitLinksTest() : site(3, 2), circuits(site.circuits()), links(site.context, site.capacities, circuits) {
    site.network.attach(*this);
  }
  void delivered(std::uint64_t) override { arrived = site.engine.now().since_start().count(); }
  [[nodiscard]] CapacityId nic_out(std::uint32_t port) const { return site.capacities.nic_out(GpuId{0u}, port); }
  void post(CapacityId capacity, std::int64_t bytes) {
    Path path;
    path.add(capacity);
    site.network.post(Network::kNone, path, Bytes{bytes}, 1);
  }

  RailSite site;
  RailCircuits circuits;
  CircuitLinks links;
  std::int64_t arrived = 0;  // picoseconds
};

TEST_F(CircuitLinksTest, WithoutCircuitsThereIsNone) {
  links.refresh(0);
  EXPECT_EQ(links.find({0, 1}), nullptr);
  EXPECT_EQ(links.bytes_left({0, 1}), Bytes{});
}

TEST_F(CircuitLinksTest, ParallelCircuitsAreOneLinkOfTheirSummedRate) {
  light(circuits, {circuit(0, 2), circuit(1, 3)});  // both from server 0 to server 1
  links.refresh(0);
  ASSERT_NE(links.find({0, 1}), nullptr);
  EXPECT_EQ(links.find({0, 1})->width, 2u);
  post(links.find({0, 1})->capacity, 3000);
  EXPECT_EQ(links.bytes_left({0, 1}), Bytes{3000});
  site.engine.run();
  EXPECT_EQ(arrived, 1500);  // 3000 bytes at 2 x 1 byte per picosecond
}

TEST_F(CircuitLinksTest, ALinkIsCountedAtThePortThatBeginsIt) {
  light(circuits, {circuit(1, 3)});
  links.refresh(0);
  EXPECT_EQ(links.find({0, 1})->capacity, nic_out(1));
  light(circuits, {circuit(0, 2)});
  links.refresh(0);
  EXPECT_EQ(links.find({0, 1})->capacity, nic_out(1)) << "and stays there";
}

TEST_F(CircuitLinksTest, ALinkOutlivesItsCircuitsWhileItHasUsers) {
  light(circuits, {circuit(0, 2)});
  links.refresh(0);
  links.add_user({0, 1});
  darken(circuits, {PortId{0u}});
  links.refresh(0);
  ASSERT_NE(links.find({0, 1}), nullptr);
  EXPECT_EQ(links.find({0, 1})->width, 0u);
  links.remove_user({0, 1});
  links.refresh(0);
  EXPECT_EQ(links.find({0, 1}), nullptr);
}

TEST_F(CircuitLinksTest, WhenAllCapacitiesOfAServerAreTakenTheNetworkGetsAnother) {
  light(circuits, {circuit(0, 2), circuit(1, 4)});
  links.refresh(0);
  links.add_user({0, 1});
  links.add_user({0, 2});
  const CapacityId first = links.find({0, 1})->capacity;
  const CapacityId second = links.find({0, 2})->capacity;
  darken(circuits, {PortId{0u}});
  light(circuits, {circuit(0, 0)});  // of a server to itself, as when one stands for several
  links.refresh(0);
  ASSERT_NE(links.find({0, 0}), nullptr);
  EXPECT_NE(links.find({0, 0})->capacity, first) << "bytes may wait on it";
  EXPECT_NE(links.find({0, 0})->capacity, second);
}

}  // namespace
}  // namespace photonrail::fabric::test
