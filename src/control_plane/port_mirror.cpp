#include "control_plane/port_mirror.hpp"

namespace photonrail::control_plane {

using fabric::OpticalRail;
using topology::Plant;

PortMirror::PortMirror(OpticalRail& rail, const PlantSpec& plant, bool shows_bytes)
    : rail_(rail),
      ports_per_gpu_(plant.nic_ports),
      shows_bytes_(shows_bytes),
      transmit_(plant.rail_ports()),
      receive_(plant.rail_ports(), PortId::none()) {}

// First the servers of ranks on this rail, then those whose GPUs here pass on what ranks on other rails send.
void PortMirror::seat(std::span<const GpuId> gpu_of_rank, const Plant& plant, RailId rail) {
  const std::vector<bool>& allowed = rail_.servers();
  std::vector<bool> listed(plant.spec().servers, false);
  for (const bool on_rail : {true, false}) {
    for (const GpuId gpu : gpu_of_rank) {
      const ServerIndex server = plant.server_of(gpu);
      if (listed[server] || (on_rail && plant.local_of(gpu) != rail.value)) continue;
      if (!allowed.empty() && !allowed[server]) continue;
      listed[server] = true;
      own_.push_back(server);
    }
  }
  foreign_ = own_.empty();
}

void PortMirror::sync() {
  const device::OpticalSwitch& crossbar = rail_.crossbar();
  rail_.take_touched(touched_);
  for (const PortId port : touched_) {
    const device::OpticalSwitch::Fibre& fibre = crossbar.transmit()[port.index()];
    transmit_[port.index()] = {fibre.peer, rail_.is_lit(port),   fibre.in_use > 0, rail_.draining(port),
                               {},         rail_.is_faulty(port)};
    receive_[port.index()] = crossbar.receive()[port.index()].peer;
  }
  if (!shows_bytes_) return;
  for (std::uint32_t p = 0; p < transmit_.size(); ++p) {
    PortView& fibre = transmit_[p];
    fibre.bytes_left = fibre.in_use ? rail_.bytes_left(p / ports_per_gpu_, fibre.peer.value / ports_per_gpu_) : Bytes{};
  }
}

}  // namespace photonrail::control_plane
