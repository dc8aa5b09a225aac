#include "control_plane/port_mirror.hpp"

namespace photonrail::control_plane {

PortMirror::PortMirror(OpticalRail& rail, const PlantSpec& plant, bool shows_bytes)
    : rail_(rail),
      ports_per_gpu_(plant.nic_ports),
      shows_bytes_(shows_bytes),
      transmit_(plant.rail_ports()),
      receive_(plant.rail_ports(), PortId::none()) {
  const std::vector<bool>& own = rail.servers();
  for (ServerIndex s = 0; s < own.size(); ++s) {
    if (own[s]) own_.push_back(s);
  }
}

void PortMirror::sync() {
  const OpticalSwitch& crossbar = rail_.crossbar();
  rail_.take_touched(touched_);
  for (const PortId port : touched_) {
    const OpticalSwitch::Fibre& fibre = crossbar.transmit()[port.index()];
    transmit_[port.index()] = {fibre.peer, rail_.is_lit(port),   fibre.in_use > 0, rail_.draining(port),
                               {},         rail_.is_faulty(port)};
    receive_[port.index()] = crossbar.receive()[port.index()].peer;
  }
  if (!shows_bytes_) return;
  for (std::uint32_t p = 0; p < transmit_.size(); ++p) {
    PortView& fibre = transmit_[p];
    fibre.bytes_left =
        fibre.in_use ? rail_.bytes_left(p / ports_per_gpu_, fibre.peer.value / ports_per_gpu_) : Bytes{};
  }
}

}  // namespace photonrail::control_plane
