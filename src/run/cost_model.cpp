#include "run/cost_model.hpp"

namespace photonrail::run {

CostModel cost_model(const ClusterSpec& cluster, const ControllerSpec& controller) {
  const NicSpec& nic = cluster.nic;
  CostModel model;
  model.rail = {nic.latency, nic.message_overhead, {nic.per_port.bytes_per_second * nic.ports}};
  model.scale_up = {cluster.scale_up.latency, nic.message_overhead, cluster.scale_up.least_link()};
  model.ports = nic.ports;
  if (cluster.rail.kind == RailKind::kOptical) {
    const bool root = controller.control.placement == ControllerPlacement::kHierarchical;
    model.reconfiguration = cluster.rail.optical.typical() + controller.request + controller.service + controller.command +
                            controller.acknowledgement;
    if (root) *model.reconfiguration += controller.control.root_request + controller.control.root_service;
  }
  return model;
}

}  // namespace photonrail::run
