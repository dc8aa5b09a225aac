#include "fabric/nic_faults.hpp"

namespace photonrail::fabric {

NicFaults::NicFaults(const Parts& parts, Bandwidth nic) : parts_(parts), nic_(nic), active_(parts.faults) {
  active_.schedule<&NicFaults::begin, &NicFaults::end>(parts_.engine, *this,
                                                       [](const PortFault& fault) { return fault.of_ports(); });
}

void NicFaults::begin(std::uint64_t index) {
  active_.begin(index);
  change_rates(parts_.faults[index]);
}

void NicFaults::end(std::uint64_t index) {
  active_.end(index);
  change_rates(parts_.faults[index]);
}

bool NicFaults::concerns(const PortFault& fault, GpuId gpu) const {
  if (fault.server && *fault.server != parts_.plant.server_of(gpu)) return false;
  return !fault.rail || fault.rail->value == parts_.plant.local_of(gpu);
}

// A message may spread over all ports of its NIC, so that the first stands for all of them.
void NicFaults::change_rates(const PortFault& changed) {
  parts_.capacities.each_gpu([&](GpuId gpu) {
    if (!concerns(changed, gpu)) return;
    const double share = active_.share([&](const PortFault& fault) { return concerns(fault, gpu); });
    const Bandwidth rate{nic_.bytes_per_second * share};
    parts_.network.set_rate(parts_.capacities.nic_out(gpu, 0), rate);
    parts_.network.set_rate(parts_.capacities.nic_in(gpu, 0), rate);
  });
}

}  // namespace photonrail::fabric
