#include "run/cost_model.hpp"

namespace photonrail::run {

Duration reconfiguration(const OpticalSwitchSpec& optical, Duration switching, const ControllerSpec& controller) {
  ReconfigurationDelays delays = optical.delays(switching);
  delays.command = controller.command;
  delays.acknowledgement = controller.acknowledgement;
  return delays.total();
}

CostModel cost_model(const ClusterSpec& cluster, const ControllerSpec& controller) {
  const NicSpec& nic = cluster.nic;
  CostModel model;
  model.rail = {nic.latency, nic.message_overhead, {nic.per_port.bytes_per_second * nic.ports}};
  model.scale_up = {cluster.scale_up.latency, nic.message_overhead, cluster.scale_up.least_link()};
  model.ports = nic.ports;
  if (cluster.rail.kind == RailKind::kOptical) {
    const bool root = controller.control.placement == ControllerPlacement::kHierarchical;
    const OpticalSwitchSpec& optical = cluster.rail.optical;
    model.reconfiguration =
        controller.request + controller.service + reconfiguration(optical, optical.reconfiguration.typical(), controller);
    if (root) *model.reconfiguration += controller.control.root_request + controller.control.root_service;
  }
  return model;
}

}  // namespace photonrail::run
