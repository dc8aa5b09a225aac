#include "fabric/fabric.hpp"

#include <algorithm>

namespace photonrail {

namespace {

PlantSpec plant_for(const ClusterSpec& spec, const FoldedPlant* folded) {
  PlantSpec plant = spec.plant();
  if (folded != nullptr) {
    plant.servers = folded->servers;
    plant.gpus_per_server = folded->gpus_per_server;
    plant.switch_radix = std::max(2u, plant.rail_ports());
  }
  return plant;
}

}  // namespace

Fabric::Fabric(Engine& engine, const ClusterSpec& spec, std::uint64_t seed, const FoldedPlant* folded)
    : spec_(spec), folded_(folded), plant_(plant_for(spec, folded)), network_(engine) {
  network_.resize(plant_.capacities());
  for (CapacityId id = 0; id < plant_.capacities(); ++id) network_.set_rate(id, plant_.rate(id));
  if (spec.rail.kind == RailKind::kOptical) {
    for (std::uint32_t r = 0; r < rails(); ++r) {
      rails_.push_back(std::make_unique<OpticalRail>(engine, network_, plant_, spec_.rail, RailId{r}, seed));
      if (folded != nullptr) rails_.back()->set_copies(folded->stands_for);
    }
    return;
  }
  // On an electrical rail a message may spread over all ports of its NIC, so that the first port stands for all of them.
  const Bandwidth whole{spec.nic.per_port.bytes_per_second * spec.nic.ports};
  for (std::uint32_t g = 0; g < plant_.spec().gpus(); ++g) {
    network_.set_rate(plant_.nic_out(GpuId{g}, 0), whole);
    network_.set_rate(plant_.nic_in(GpuId{g}, 0), whole);
  }
}

void Fabric::attach(DeliveryListener& deliveries, CircuitListener& circuits) {
  network_.attach(deliveries);
  for (const auto& rail : rails_) rail->attach(circuits);
}

std::optional<RailCrossing> Fabric::crossing(GpuId from, GpuId to) const {
  if (server_of(from) == server_of(to)) return std::nullopt;
  const GpuId sender = image(GpuId{server_of(from) * spec_.gpus_per_server + local_of(to)});
  return RailCrossing{RailId{plant_.local_of(image(to))}, plant_.server_of(sender), plant_.server_of(image(to))};
}

std::optional<Path> Fabric::route(GpuId from, GpuId to) {
  Path path;
  path.overhead = spec_.nic.message_overhead;
  const GpuId receiver = image(to);
  if (server_of(from) == server_of(to)) {
    path.add(plant_.scale_up_out(image(from)));
    path.add(plant_.scale_up_in(receiver));
    path.latency = spec_.scale_up.latency;
    return path;
  }
  const GpuId sender = image(GpuId{server_of(from) * spec_.gpus_per_server + local_of(to)});
  if (local_of(from) != local_of(to)) {
    path.add(plant_.scale_up_out(image(from)));
    path.add(plant_.scale_up_in(sender));
    path.latency = spec_.scale_up.latency;
  }
  const std::uint32_t local = plant_.local_of(receiver);
  if (optical()) {
    const std::span<const CapacityId> hops = rails_[local]->way(plant_.server_of(sender), plant_.server_of(receiver));
    if (hops.empty()) return std::nullopt;
    for (const CapacityId hop : hops) path.add(hop);
    path.latency += spec_.nic.latency * rails_[local]->way_circuits();
    path.latency += spec_.rail.pods.latency * rails_[local]->way_crossings();
    return path;
  }
  path.latency += spec_.nic.latency;
  path.add(plant_.nic_out(sender, 0));
  const std::uint32_t from_leaf = plant_.leaf_of(sender, 0);
  const std::uint32_t to_leaf = plant_.leaf_of(receiver, 0);
  if (from_leaf != to_leaf) {
    path.add(plant_.leaf_up(RailId{local}, from_leaf));
    path.add(plant_.leaf_down(RailId{local}, to_leaf));
    path.latency += spec_.rail.tier_latency;
  }
  path.add(plant_.nic_in(receiver, 0));
  return path;
}

}  // namespace photonrail
