#include "fabric/fault_timeline.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::fabric {

void FaultTimeline::schedule() {
  using engine::Action;
  using engine::Phase;
  const std::vector<PortFault>& faults = rail_.spec.faults;
  const auto at = [this](Time t, Action action) { rail_.engine.schedule(t, Phase::kFinish, action); };
  for (std::size_t f = 0; f < faults.size(); ++f) {
    const PortFault& fault = faults[f];
    // Faults of links and servers are scheduled by their own parts of the fabric.
    if (!fault.of_ports() || (fault.rail && *fault.rail != rail_.id)) continue;
    if (fault.kind == PortFault::Kind::kSlow) {
      at(fault.at, Action::to<&FaultTimeline::slow_down>(*this, f));
      if (fault.lasts) at(fault.at + *fault.lasts, Action::to<&FaultTimeline::speed_up>(*this, f));
      continue;
    }
    if (fault.detection == Duration{}) {
      at(fault.at, Action::to<&FaultTimeline::begin>(*this, f));
    } else {
      at(fault.at, Action::to<&FaultTimeline::strike>(*this, f));
      // A fault that is over before it is detected never reaches the controller: the light comes back by itself.
      if (fault.lasts && *fault.lasts <= fault.detection) {
        at(fault.at + *fault.lasts, Action::to<&FaultTimeline::pass>(*this, f));
        continue;
      }
      at(fault.at + fault.detection, Action::to<&FaultTimeline::detect>(*this, f));
    }
    if (fault.lasts) at(fault.at + *fault.lasts, Action::to<&FaultTimeline::end>(*this, f));
  }
}

bool FaultTimeline::concerns(const PortFault& fault, PortId at) const {
  if (fault.server && *fault.server != circuits_.server(at)) return false;
  const std::uint32_t port = at.value % circuits_.ports_per_gpu();
  if (fault.port && *fault.port != port) return false;
  return !fault.plane || *fault.plane == port % rail_.spec.planes;
}

template <class Visit>
void FaultTimeline::each_port(const PortFault& fault, Visit&& visit) const {
  for (std::uint32_t p = 0; p < circuits_.crossbar().ports(); ++p) {
    if (concerns(fault, PortId{p})) visit(PortId{p});
  }
}

void FaultTimeline::slow_down(std::uint64_t index) {
  slow_.begin(index);
  change_rates(rail_.spec.faults[index]);
}

void FaultTimeline::speed_up(std::uint64_t index) {
  slow_.end(index);
  change_rates(rail_.spec.faults[index]);
}

void FaultTimeline::change_rates(const PortFault& changed) {
  std::vector<std::uint32_t> servers;  // whose links have other rates
  each_port(changed, [&](PortId port) {
    circuits_.set_rate(port, slow_.share([&](const PortFault& fault) { return concerns(fault, port); }));
    servers.push_back(circuits_.server(port));
    // A circuit has the lower rate of its two ends, so that the server at its other end changes too.
    const PortId source = circuits_.crossbar().receive()[port.index()].peer;
    if (!source.is_none()) servers.push_back(circuits_.server(source));
  });
  std::sort(servers.begin(), servers.end());
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  for (const std::uint32_t server : servers) transitions_.change_rates(server);
}

void FaultTimeline::strike(std::uint64_t index) {
  std::vector<Circuit> lit;
  each_port(rail_.spec.faults[index], [&](PortId port) {
    // The switch still counts the circuit as lit: only its bytes stop. The controller learns of it at the detection.
    for (const Circuit circuit : circuits_.lit_at(port)) lit.push_back(circuit);
    circuits_.begin_blind(port);
  });
  transitions_.pause(lit);
  notifier_.light_lost(index, transitions_.owners_without_light(lit));
}

void FaultTimeline::pass(std::uint64_t index) {
  notifier_.light_lost(index, {});
  std::vector<Circuit> lit;
  each_port(rail_.spec.faults[index], [&](PortId port) {
    circuits_.end_blind(port);
    for (const Circuit circuit : circuits_.lit_at(port)) lit.push_back(circuit);
  });
  transitions_.resume(std::move(lit));
}

void FaultTimeline::detect(std::uint64_t index) {
  notifier_.light_lost(index, {});
  begin(index);  // darkens the circuits, so that none is seen without the fault
  each_port(rail_.spec.faults[index], [&](PortId port) { circuits_.end_blind(port); });
}

void FaultTimeline::begin(std::uint64_t index) {
  const PortFault& fault = rail_.spec.faults[index];
  each_port(fault, [&](PortId port) {
    // Faults of a port overlap; it works again when the last of them is over.
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
    if (!fault.of_ports() || (fault.rail && *fault.rail != rail_.id) || fault.at > rail_.engine.now()) continue;
    const bool failed = fault.kind == PortFault::Kind::kFailed;
    const std::string at = std::to_string(to_seconds(fault.at)) + " s";
    // Of a run that cannot finish only what holds it up is of use.
    if (fault.kind == PortFault::Kind::kSlow) continue;  // nothing waits for ever because of it
    const std::string when = fault.lasts ? std::string(failed ? " failed from " : " was stuck from ") + at + " to " +
                                               std::to_string(to_seconds(fault.at + *fault.lasts)) + " s"
                                         : (failed ? " failed at " : " is stuck since ") + at;
    const std::string which = fault.port    ? "port " + std::to_string(*fault.port)
                              : fault.plane ? "every port of plane " + std::to_string(*fault.plane)
                                            : "every port";
    lines.push_back("rail " + std::to_string(rail_.id.value) + ": " + which + " of " +
                    (fault.server ? "server " + std::to_string(*fault.server) : "every server") + when);
  }
  return lines;
}

}  // namespace photonrail::fabric
