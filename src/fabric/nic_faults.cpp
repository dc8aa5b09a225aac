#include "fabric/nic_faults.hpp"

#include <algorithm>

namespace photonrail::fabric {

NicFaults::NicFaults(const Parts& parts, Bandwidth nic) : parts_(parts), nic_(nic) {
  using engine::Action;
  for (std::size_t f = 0; f < parts_.faults.size(); ++f) {
    const PortFault& fault = parts_.faults[f];
    parts_.engine.schedule(fault.at, engine::Phase::kFinish, Action::to<&NicFaults::begin>(*this, f));
    if (!fault.lasts) continue;
    parts_.engine.schedule(fault.at + *fault.lasts, engine::Phase::kFinish, Action::to<&NicFaults::end>(*this, f));
  }
}

void NicFaults::begin(std::uint64_t index) {
  now_.insert(std::upper_bound(now_.begin(), now_.end(), index), index);
  change_rates(parts_.faults[index]);
}

void NicFaults::end(std::uint64_t index) {
  now_.erase(std::find(now_.begin(), now_.end(), index));
  change_rates(parts_.faults[index]);
}

bool NicFaults::concerns(const PortFault& fault, GpuId gpu) const {
  if (fault.server && *fault.server != parts_.plant.server_of(gpu)) return false;
  return !fault.rail || fault.rail->value == parts_.plant.local_of(gpu);
}

// Of each NIC anew from the faults that it has now, so that a rate comes back exactly. A message may spread over all ports
// of its NIC, so that the first stands for all of them.
void NicFaults::change_rates(const PortFault& changed) {
  parts_.capacities.each_gpu([&](GpuId gpu) {
    if (!concerns(changed, gpu)) return;
    double share = 1.0;
    for (const std::uint64_t index : now_) {
      const PortFault& fault = parts_.faults[index];
      if (concerns(fault, gpu)) share *= fault.kind == PortFault::Kind::kFailed ? 0.0 : fault.rate;
    }
    const Bandwidth rate{nic_.bytes_per_second * share};
    parts_.network.set_rate(parts_.capacities.nic_out(gpu, 0), rate);
    parts_.network.set_rate(parts_.capacities.nic_in(gpu, 0), rate);
  });
}

}  // namespace photonrail::fabric
