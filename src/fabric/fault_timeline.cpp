#include "fabric/fault_timeline.hpp"

namespace photonrail::fabric {

void FaultTimeline::schedule() {
  const std::vector<PortFault>& faults = rail_.spec.faults;
  for (std::size_t f = 0; f < faults.size(); ++f) {
    const PortFault& fault = faults[f];
    if (fault.rail && *fault.rail != rail_.id) continue;
    rail_.engine.schedule(fault.at, engine::Phase::kFinish, engine::Action::to<&FaultTimeline::begin>(*this, f));
    if (!fault.lasts) continue;
    rail_.engine.schedule(fault.at + *fault.lasts, engine::Phase::kFinish, engine::Action::to<&FaultTimeline::end>(*this, f));
  }
}

template <class Visit>
void FaultTimeline::each_port(const PortFault& fault, Visit&& visit) const {
  for (std::uint32_t p = 0; p < circuits_.crossbar().ports(); ++p) {
    if (fault.server && *fault.server != p / circuits_.ports_per_gpu()) continue;
    if (fault.port && *fault.port != p % circuits_.ports_per_gpu()) continue;
    visit(PortId{p});
  }
}

void FaultTimeline::begin(std::uint64_t index) {
  const PortFault& fault = rail_.spec.faults[index];
  each_port(fault, [&](PortId port) {
    faults_.begin(port);
    circuits_.touch(port);
    if (fault.kind == PortFault::Kind::kFailed) fail(port);
  });
  notifier_.rail_changed();
}

void FaultTimeline::end(std::uint64_t index) {
  each_port(rail_.spec.faults[index], [&](PortId port) {
    faults_.end(port);
    circuits_.touch(port);
  });
  notifier_.rail_changed();
}

// Bytes on its circuits go on over others that join the same GPUs, now or later.
void FaultTimeline::fail(PortId port) {
  const device::OpticalSwitch& crossbar = circuits_.crossbar();
  CircuitPlan change;
  const PortId source = crossbar.receive()[port.index()].peer;
  if (!crossbar.transmit()[port.index()].peer.is_none()) change.disconnect.push_back(port);
  if (!source.is_none() && source != port) change.disconnect.push_back(source);
  for (const PortId from : change.disconnect) faults_.lose({from, crossbar.transmit()[from.index()].peer});
  if (!change.disconnect.empty()) static_cast<void>(transitions_.darken(change, true));
}

std::vector<std::string> FaultTimeline::lines() const {
  std::vector<std::string> lines;
  for (const PortFault& fault : rail_.spec.faults) {
    if ((fault.rail && *fault.rail != rail_.id) || fault.at > rail_.engine.now()) continue;
    const bool failed = fault.kind == PortFault::Kind::kFailed;
    const std::string at = std::to_string(to_seconds(fault.at)) + " s";
    const std::string when = fault.lasts ? std::string(failed ? " failed from " : " was stuck from ") + at + " to " +
                                               std::to_string(to_seconds(fault.at + *fault.lasts)) + " s"
                                         : (failed ? " failed at " : " is stuck since ") + at;
    lines.push_back("rail " + std::to_string(rail_.id.value) + ": " +
                    (fault.port ? "port " + std::to_string(*fault.port) : "every port") + " of " +
                    (fault.server ? "server " + std::to_string(*fault.server) : "every server") + when);
  }
  return lines;
}

}  // namespace photonrail::fabric
