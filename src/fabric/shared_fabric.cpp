#include "fabric/shared_fabric.hpp"

#include <algorithm>

namespace photonrail::fabric {

using network::DeliveryListener;
using topology::Plant;

SharedFabric::SharedFabric(engine::Engine& engine, const ClusterSpec& spec, const Plant& plant,
                           const FabricSettings& settings, std::span<const GpuId> gpus)
    : capacities_(plant, gpus), network_(engine, settings.network_accuracy), plant_(plant) {
  network_.resize(capacities_.count());
  const PlantSpec& of = plant.spec();
  const bool optical = spec.rail.kind == RailKind::kOptical;
  // On an electrical rail a message may spread over all ports of its NIC, so that the first port stands for all of them.
  const Bandwidth first = optical ? of.nic_port : Bandwidth{spec.nic.per_port.bytes_per_second * spec.nic.ports};
  const bool crossbar = plant.grid() == nullptr;
  capacities_.each_link_slot([&](GpuId gpu, std::uint32_t slot) {
    const Bandwidth rate = plant.rate(plant.scale_up_link(gpu, slot));
    network_.set_rate(capacities_.scale_up_link(gpu, slot), rate);
  });
  capacities_.each_gpu([&](GpuId gpu) {
    if (crossbar) {
      network_.set_rate(capacities_.scale_up_out(gpu), of.scale_up);
      network_.set_rate(capacities_.scale_up_in(gpu), of.scale_up);
    }
    for (std::uint32_t port = 0; port < of.nic_ports; ++port) {
      network_.set_rate(capacities_.nic_out(gpu, port), port == 0 ? first : of.nic_port);
      network_.set_rate(capacities_.nic_in(gpu, port), port == 0 ? first : of.nic_port);
    }
  });
  capacities_.each_leaf([&](RailId rail, std::uint32_t leaf) {
    network_.set_rate(capacities_.leaf_up(rail, leaf), plant.rate(plant.leaf_up(rail, leaf)));
    network_.set_rate(capacities_.leaf_down(rail, leaf), plant.rate(plant.leaf_down(rail, leaf)));
  });
  if (!crossbar && !spec.scale_up.faults.empty()) {
    link_faults_ = std::make_unique<LinkFaults>(LinkFaults::Parts{engine, spec, plant, capacities_, network_});
  }
  if (!optical && !spec.rail.faults.empty()) {
    nic_faults_ =
        std::make_unique<NicFaults>(NicFaults::Parts{engine, spec.rail.faults, plant, capacities_, network_}, first);
  }
  if (of.routes_uplinks()) uplink_routes_ = std::make_unique<UplinkRoutes>(plant, capacities_, network_, settings.seed);
  if (!spec.sites.servers.empty()) add_sites(spec.sites);
  const auto of_tiers = [](const PortFault& fault) { return !fault.of_ports(); };
  if (std::any_of(spec.rail.faults.begin(), spec.rail.faults.end(), of_tiers)) {
    tier_faults_ = std::make_unique<TierFaults>(
        TierFaults::Parts{engine, spec.rail.faults, plant, capacities_, network_, uplink_routes_.get(), sites_.get()});
  }
  if (!optical) return;
  rails_.resize(of.gpus_per_server);
  for (std::uint32_t r = 0; r < of.gpus_per_server; ++r) {
    if (capacities_.has_rail(RailId{r})) add_rail(spec, plant, RailId{r}, settings.seed);
  }
}

void SharedFabric::add_sites(const SitesSpec& spec) {
  sites_ = std::make_unique<SiteLinks>(spec);
  for (SiteLinks::Direction direction = 0; direction < sites_->directions(); ++direction) {
    const CapacityId id = network_.add_capacity();
    if (direction == 0) sites_->place(id);
    network_.set_rate(id, sites_->link(direction).rate);
  }
}

void SharedFabric::add_rail(const ClusterSpec& spec, const Plant& plant, RailId id, std::uint64_t seed) {
  const std::uint32_t ports = plant.spec().nic_ports;
  rails_[id.index()] =
      std::make_unique<SharedRail>(SharedRail{RailSwitches(spec.rail, plant.spec().servers, ports, id, seed), capacities_});
  SharedRail& rail = *rails_[id.index()];
  rail.sites = sites_.get();
  if (spec.rail.optical.pip) rail.mesh = std::make_unique<MeshRoutes>(spec);
  const PodSpec& pods = spec.rail.pods;
  if (pods.servers == 0 || pods.layer != PodSpec::Layer::kElectrical || pods.oversubscription == 1.0) return;
  for (std::uint32_t pod = 0; pod < rail.switches.pods(); ++pod) {
    const std::uint32_t servers = std::min(pods.servers, plant.spec().servers - pod * pods.servers);
    const double port = plant.spec().nic_port.bytes_per_second;
    for (std::vector<CapacityId>* side : {&rail.pod_out, &rail.pod_in}) {
      side->push_back(network_.add_capacity());
      network_.set_rate(side->back(), {servers * ports * port / pods.oversubscription});
    }
  }
}

void SharedFabric::seat(std::span<const std::span<const GpuId>> gpus) {
  for (std::size_t j = 0; j < gpus.size(); ++j) {
    for (const GpuId gpu : gpus[j]) {
      job_of_gpu_[gpu.value] = static_cast<std::uint32_t>(j);
      first_in_server_.try_emplace(plant_.server_of(gpu), static_cast<std::uint32_t>(j));
    }
  }
}

std::uint32_t SharedFabric::owner(GpuId gpu) const {
  if (const auto own = job_of_gpu_.find(gpu.value); own != job_of_gpu_.end()) return own->second;
  const auto first = first_in_server_.find(plant_.server_of(gpu));
  return first == first_in_server_.end() ? kNoJob : first->second;
}

void SharedFabric::attach(std::uint32_t job, DeliveryListener& listener) {
  attach(*this);
  if (jobs_.size() <= job) jobs_.resize(job + 1);
  jobs_[job] = &listener;
}

}  // namespace photonrail::fabric
