#include "fabric/shared_fabric.hpp"

#include <algorithm>

namespace photonrail {

SharedFabric::SharedFabric(Engine& engine, const ClusterSpec& spec, const Plant& plant, std::uint64_t seed)
    : network_(engine) {
  network_.resize(plant.capacities());
  for (CapacityId id = 0; id < plant.capacities(); ++id) network_.set_rate(id, plant.rate(id));
  if (spec.rail.kind == RailKind::kOptical) {
    for (std::uint32_t r = 0; r < plant.spec().gpus_per_server; ++r) add_rail(spec, plant, RailId{r}, seed);
    return;
  }
  // On an electrical rail a message may spread over all ports of its NIC, so that the first port stands for all of them.
  const Bandwidth whole{spec.nic.per_port.bytes_per_second * spec.nic.ports};
  for (std::uint32_t g = 0; g < plant.spec().gpus(); ++g) {
    network_.set_rate(plant.nic_out(GpuId{g}, 0), whole);
    network_.set_rate(plant.nic_in(GpuId{g}, 0), whole);
  }
}

void SharedFabric::add_rail(const ClusterSpec& spec, const Plant& plant, RailId id, std::uint64_t seed) {
  const std::uint32_t ports = plant.spec().nic_ports;
  rails_.push_back(
      std::make_unique<SharedRail>(SharedRail{RailSwitches(spec.rail, plant.spec().servers, ports, id, seed)}));
  SharedRail& rail = *rails_.back();
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

void SharedFabric::attach(std::uint32_t job, DeliveryListener& listener) {
  network_.attach(*this);
  if (jobs_.size() <= job) jobs_.resize(job + 1);
  jobs_[job] = &listener;
}

}  // namespace photonrail
