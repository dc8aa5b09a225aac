// The cluster in motion: it owns the network and the switches, and says which way a message goes.
#pragma once

#include "fabric/optical_rail.hpp"
#include "network/network.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/engine.hpp"
#include "topology/plant.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace photonrail {

/// The part of a message's way that an optical rail must provide.
struct RailCrossing {
  RailId rail;
  std::uint32_t from = 0;  ///< server
  std::uint32_t to = 0;
};

class Fabric {
 public:
  /// `engine` and `spec` must outlive the fabric.
  Fabric(Engine& engine, const ClusterSpec& spec, std::uint64_t seed);

  /// Who is told of deliveries and circuits. Both must outlive the fabric.
  void attach(DeliveryListener& deliveries, CircuitListener& circuits);

  [[nodiscard]] Network& network() { return network_; }
  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] const Plant& plant() const { return plant_; }
  [[nodiscard]] const ClusterSpec& spec() const { return spec_; }
  [[nodiscard]] bool optical() const { return !rails_.empty(); }
  [[nodiscard]] std::uint32_t rails() const { return spec_.gpus_per_server; }
  /// REQUIRES: optical().
  [[nodiscard]] OpticalRail& rail(RailId id) { return *rails_[id.index()]; }

  /// Which rail a message crosses: that of the destination, reached through the scale-up fabric where it is another than
  /// the sender's. nullopt within a server.
  [[nodiscard]] std::optional<RailCrossing> crossing(GpuId from, GpuId to) const;

  /// The way of a message now. nullopt: the rail has no circuit for it. REQUIRES: from != to.
  [[nodiscard]] std::optional<Path> route(GpuId from, GpuId to);

  [[nodiscard]] Duration compute_time(double flops, Bytes memory) const { return spec_.gpu.compute_time(flops, memory); }

 private:
  const ClusterSpec& spec_;
  Plant plant_;
  Network network_;
  std::vector<std::unique_ptr<OpticalRail>> rails_;
};

}  // namespace photonrail
