#include "fabric/optical_rail.hpp"

#include <gtest/gtest.h>

#include <map>

namespace photonrail {

using fabric::CapacityMap;
using fabric::CircuitListener;
using fabric::OpticalRail;
using fabric::RailSwitches;
using fabric::SharedRail;
using network::DeliveryListener;
using network::Network;
using network::Path;
using topology::CapacityId;
using topology::Plant;

namespace {

/// A rail of three servers with three ports each, 1 byte per picosecond a port; circuits are lit at once.
class OpticalRailTest : public ::testing::Test, public DeliveryListener, public CircuitListener {
 protected:
  OpticalRailTest()
      : plant(cluster().plant()),
        network(engine),
        capacities(plant, {}),
        shared{RailSwitches(spec, 3, 3, RailId{0u}, 1), capacities},
        rail({engine, network, plant, spec, RailId{0u}}, shared) {
    network.attach(*this);
    rail.attach(*this);
    network.resize(plant.capacities());
    for (CapacityId id = 0; id < plant.capacities(); ++id) network.set_rate(id, plant.rate(id));
  }
  static ClusterSpec cluster() {
    ClusterSpec c;
    c.servers = 3;
    c.nic.ports = 3;
    c.nic.per_port = Bandwidth{1e12};
    c.rail.kind = RailKind::kOptical;
    return c;
  }
  void delivered(std::uint64_t tag) override { arrival[tag] = engine.now().since_start().count(); }
  void circuit_changed(RailId, Circuit, CircuitState) override {}
  void command_done(RailId, std::uint32_t) override {}
  void circuit_missed(RailId, std::uint64_t, std::uint32_t, std::uint32_t) override {}
  void circuit_back(RailId, std::uint64_t, std::uint32_t, std::uint32_t) override {}
  void rail_changed(RailId) override {}
  void light_back(RailId) override {}

  void connect(std::vector<Circuit> circuits) {
    (void)rail.apply({std::move(circuits), {}}, {});
    engine.run();
  }
  static Circuit circuit(std::size_t from, std::size_t to) { return {PortId{from}, PortId{to}}; }
  Path path() {
    Path p;
    for (const CapacityId hop : rail.way(0, 1)) p.add(hop);
    return p;
  }

  RailSpec spec;
  engine::Engine engine;
  Plant plant;
  Network network;
  CapacityMap capacities;
  SharedRail shared;
  OpticalRail rail;
  std::map<std::uint64_t, std::int64_t> arrival;
};

TEST_F(OpticalRailTest, ALinkKeepsTheCapacityThatItsFlowsAreOn) {
  connect({circuit(1, 3)});  // server 0 to server 1, by port 1
  const auto first = rail.hold(0, 1, 1);
  connect({circuit(0, 4)});  // a second circuit beside it, by port 0: a link of two
  const auto second = rail.hold(0, 1, 2);
  network.post(Network::kNone, path(), Bytes{2000}, 2);
  rail.release(*first);      // both ports are in use by the second only
  connect({circuit(2, 6)});  // port 2 of server 0 goes elsewhere, which has its links looked at again
  network.post(Network::kNone, path(), Bytes{2000}, 3);
  engine.run();
  // connect() runs the engine until it is empty, so that message 2 is delivered by then: 2000 bytes at 2 bytes per
  // picosecond. Message 3 has the link for itself.
  EXPECT_EQ(arrival[2], 1000);
  EXPECT_EQ(arrival[3], 2000);
  EXPECT_EQ(rail.way(0, 1).front(), plant.nic_out(GpuId{0u}, 1)) << "the link stays where its first circuit was counted";
  rail.release(*second);
}

}  // namespace
}  // namespace photonrail
