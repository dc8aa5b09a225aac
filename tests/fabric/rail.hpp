// One optical rail driven by hand at given times.
#pragma once

#include "fabric/fabric.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail::test {

using std::chrono::microseconds;

inline constexpr Duration kSwitching = microseconds(100);
inline constexpr Duration kLatency = microseconds(5);
inline constexpr std::int64_t kMegabyte = 1000000;  // 20 us at the port's 50 GB/s

/// One rail of one GPU a server, driven by hand at given times.
class Rail : public network::DeliveryListener, public fabric::CircuitListener {
 public:
  explicit Rail(std::uint32_t servers, std::uint32_t ports = 1, const std::function<void(RailSpec&)>& change = {}) {
    spec.servers = servers;
    spec.nic = {ports, Bandwidth::from_gb_per_s(50), kLatency, {}};
    spec.rail.kind = RailKind::kOptical;
    spec.rail.optical.reconfiguration = DelayDistribution::constant(kSwitching);
    if (change) change(spec.rail);
    fabric = std::make_unique<fabric::Fabric>(engine, spec, fabric::FabricSettings{});
    fabric->attach(*this, *this);
  }

  void delivered(std::uint64_t tag) override { arrivals.emplace_back(tag, engine.now().since_start()); }
  void circuit_changed(RailId, Circuit circuit, CircuitState state) override {
    if (state == CircuitState::kLit) lit.emplace_back(circuit, engine.now().since_start());
  }
  void command_done(RailId, std::uint32_t command) override { done.emplace_back(command, engine.now().since_start()); }
  void circuit_back(RailId, std::uint64_t owner, std::uint32_t from, std::uint32_t to) override {
    back.emplace_back(owner, from, to);
  }
  void rail_changed(RailId) override { changed.push_back(engine.now().since_start()); }
  void light_back(RailId) override { changed.push_back(engine.now().since_start()); }
  void circuit_missed(RailId, std::uint64_t owner, std::uint32_t from, std::uint32_t to) override {
    lost.emplace_back(owner, from, to);
  }

  [[nodiscard]] fabric::OpticalRail& rail() { return fabric->rail(RailId{0u}); }
  [[nodiscard]] std::uint32_t in_use(std::size_t port) { return rail().crossbar().transmit()[port].in_use; }
  static Circuit circuit(std::size_t from, std::size_t to) { return {PortId{from}, PortId{to}}; }
  std::optional<fabric::OpticalRail::Command> connect(std::vector<Circuit> circuits) {
    return rail().apply({std::move(circuits), {}}, {});
  }
  std::optional<fabric::OpticalRail::Command> disconnect(std::size_t port) {
    return rail().apply({{}, {PortId{port}}}, {});
  }
  /// Connects and lets time pass until the circuits are lit.
  void light(std::vector<Circuit> circuits) {
    connect(std::move(circuits));
    engine.run();
  }
  void at(Duration time, std::function<void()> act) {
    acts.push_back(std::move(act));
    engine.schedule(
        Time{time}, engine::Phase::kDecide,
        {[](void* self, std::uint64_t index) { static_cast<Rail*>(self)->acts[index](); }, this, acts.size() - 1});
  }
  fabric::OpticalRail::HoldId hold(std::uint32_t from, std::uint32_t to, std::uint64_t owner = 7) {
    return rail().hold(from, to, owner).value();
  }
  void post(std::size_t from, std::size_t to, std::int64_t bytes, std::uint64_t tag) {
    fabric->network().post(network::Network::kNone, route(*fabric, GpuId{from}, GpuId{to}).value(), Bytes{bytes}, tag);
  }
  [[nodiscard]] std::vector<PortId> way(std::uint32_t from, std::uint32_t to) {
    std::vector<PortId> ports;  // at which the links on the way are counted
    for (const topology::CapacityId hop : rail().way(from, to)) {
      for (std::uint32_t p = 0; p < rail().crossbar().ports(); ++p) {
        const std::uint32_t nic = fabric->plant().spec().nic_ports;
        if (fabric->plant().nic_out(GpuId{p / nic}, p % nic) == hop) ports.push_back(PortId{p});
      }
    }
    return ports;
  }

  ClusterSpec spec;
  engine::Engine engine;
  std::unique_ptr<fabric::Fabric> fabric;
  std::deque<std::function<void()>> acts;
  std::vector<std::pair<std::uint64_t, Duration>> arrivals;
  std::vector<std::pair<Circuit, Duration>> lit;
  std::vector<std::pair<std::uint32_t, Duration>> done;
  std::vector<Duration> changed;
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> lost;
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> back;
};

}  // namespace photonrail::test
