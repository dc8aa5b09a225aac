// What the parts of an optical rail borrow, so that a test builds one part with the parts above it and nothing else.
#pragma once

#include "fabric/circuit_listener.hpp"
#include "fabric/rail_circuits.hpp"
#include "fabric/rail_context.hpp"
#include "fabric/shared_fabric.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace photonrail::fabric::test {

using std::chrono::microseconds;

/// Writes down each call in one line, with the time in microseconds: "100 lit 0-3".
class RecordingListener : public CircuitListener {
 public:
  explicit RecordingListener(const engine::Engine& engine) : engine_(engine) {}

  void circuit_changed(RailId, Circuit circuit, CircuitState state) override {
    const char* what = state == CircuitState::kLit ? "lit " : state == CircuitState::kDark ? "dark " : "switching ";
    write(what + std::to_string(circuit.from.value) + "-" + std::to_string(circuit.to.value));
  }
  void command_done(RailId, std::uint32_t command) override { write("done " + std::to_string(command)); }
  void circuit_missed(RailId, std::uint64_t owner, std::uint32_t from, std::uint32_t to) override {
    write("missed by " + std::to_string(owner) + ": " + std::to_string(from) + ">" + std::to_string(to));
  }
  void circuit_back(RailId, std::uint64_t owner, std::uint32_t from, std::uint32_t to) override {
    write("back to " + std::to_string(owner) + ": " + std::to_string(from) + ">" + std::to_string(to));
  }
  void rail_changed(RailId) override { write("rail changed"); }
  void light_back(RailId) override { write("light back"); }

  std::vector<std::string> calls;

 private:
  void write(const std::string& what) {
    const auto now = std::chrono::duration_cast<microseconds>(engine_.now().since_start());
    calls.push_back(std::to_string(now.count()) + " " + what);
  }

  const engine::Engine& engine_;
};

/// Rail 0 of servers with one GPU each and 1 byte per picosecond a port; the switches take 100 us.
struct RailSite {
  explicit RailSite(std::uint32_t servers, std::uint32_t ports = 1, const std::function<void(RailSpec&)>& change = {})
      : cluster(describe(servers, ports, change)),
        plant(cluster.plant()),
        network(engine),
        capacities(plant, {}),
        shared{RailSwitches(cluster.rail, servers, ports, RailId{0u}, 1), capacities},
        listener(engine),
        notifier(RailId{0u}),
        context{engine, network, plant, cluster.rail, RailId{0u}} {
    network.resize(plant.capacities());
    notifier.attach(listener);
  }

  static ClusterSpec describe(std::uint32_t servers, std::uint32_t ports, const std::function<void(RailSpec&)>& change) {
    ClusterSpec cluster;
    cluster.servers = servers;
    cluster.nic.ports = ports;
    cluster.nic.per_port = Bandwidth{1e12};
    cluster.rail.kind = RailKind::kOptical;
    cluster.rail.optical.reconfiguration = DelayDistribution::constant(microseconds(100));
    if (change) change(cluster.rail);
    return cluster;
  }
  [[nodiscard]] RailCircuits circuits() const { return {plant.spec(), cluster.rail, shared.switches}; }

  ClusterSpec cluster;
  engine::Engine engine;
  topology::Plant plant;
  network::Network network;
  CapacityMap capacities;
  SharedRail shared;
  RecordingListener listener;
  CircuitNotifier notifier;
  RailContext context;
};

[[nodiscard]] inline Circuit circuit(std::uint32_t from, std::uint32_t to) { return {PortId{from}, PortId{to}}; }

/// Lights the circuits at once. Those in their place must not be in use.
inline void light(RailCircuits& circuits, const std::vector<Circuit>& wanted) {
  const CircuitPlan change = circuits.crossbar().changes({wanted, {}});
  const std::uint32_t begun = circuits.begin(change);
  static_cast<void>(circuits.light(change.connect, begun));
}

/// Leaves the circuits that begin at the ports dark.
inline void darken(RailCircuits& circuits, const std::vector<PortId>& ports) {
  static_cast<void>(circuits.begin(circuits.crossbar().changes({{}, ports})));
}

}  // namespace photonrail::fabric::test
