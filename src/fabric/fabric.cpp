#include "fabric/fabric.hpp"

namespace photonrail {

Fabric::Fabric(Engine& engine, const ClusterSpec& spec, std::uint64_t seed)
    : spec_(spec), plant_(spec.plant()), network_(engine) {
  network_.resize(plant_.capacities());
  for (CapacityId id = 0; id < plant_.capacities(); ++id) network_.set_rate(id, plant_.rate(id));
  if (spec.rail.kind == RailKind::kOptical) {
    for (std::uint32_t r = 0; r < spec.gpus_per_server; ++r) {
      rails_.push_back(std::make_unique<OpticalRail>(engine, network_, plant_, spec_.rail, RailId{r}, seed));
    }
    return;
  }
  // On an electrical rail a message may spread over all ports of its NIC, so that the first port stands for all of them.
  const Bandwidth whole{spec.nic.per_port.bytes_per_second * spec.nic.ports};
  for (std::uint32_t g = 0; g < spec.gpus(); ++g) {
    network_.set_rate(plant_.nic_out(GpuId{g}, 0), whole);
    network_.set_rate(plant_.nic_in(GpuId{g}, 0), whole);
  }
}

void Fabric::attach(DeliveryListener& deliveries, CircuitListener& circuits) {
  network_.attach(deliveries);
  for (const auto& rail : rails_) rail->attach(circuits);
}

std::optional<RailCrossing> Fabric::crossing(GpuId from, GpuId to) const {
  const std::uint32_t from_server = plant_.server_of(from);
  const std::uint32_t to_server = plant_.server_of(to);
  if (from_server == to_server) return std::nullopt;
  return RailCrossing{RailId{plant_.local_of(to)}, from_server, to_server};
}

std::optional<Path> Fabric::route(GpuId from, GpuId to) {
  Path path;
  path.overhead = spec_.nic.message_overhead;
  const std::uint32_t from_server = plant_.server_of(from);
  const std::uint32_t to_server = plant_.server_of(to);
  const std::uint32_t local = plant_.local_of(to);
  if (from_server == to_server) {
    path.add(plant_.scale_up_out(from));
    path.add(plant_.scale_up_in(to));
    path.latency = spec_.scale_up.latency;
    return path;
  }
  GpuId sender = from;
  if (plant_.local_of(from) != local) {
    sender = plant_.gpu(from_server, local);
    path.add(plant_.scale_up_out(from));
    path.add(plant_.scale_up_in(sender));
    path.latency = spec_.scale_up.latency;
  }
  if (optical()) {
    const std::span<const CapacityId> hops = rails_[local]->way(from_server, to_server);
    if (hops.empty()) return std::nullopt;
    for (const CapacityId hop : hops) {
      path.add(hop);
      path.latency += spec_.nic.latency;
    }
    return path;
  }
  path.latency += spec_.nic.latency;
  path.add(plant_.nic_out(sender, 0));
  const std::uint32_t from_leaf = plant_.leaf_of(sender, 0);
  const std::uint32_t to_leaf = plant_.leaf_of(to, 0);
  if (from_leaf != to_leaf) {
    path.add(plant_.leaf_up(RailId{local}, from_leaf));
    path.add(plant_.leaf_down(RailId{local}, to_leaf));
    path.latency += spec_.rail.tier_latency;
  }
  path.add(plant_.nic_in(to, 0));
  return path;
}

}  // namespace photonrail
