#include "control_plane/missing_circuit.hpp"

#include "core/counted.hpp"

#include <vector>

namespace photonrail::control_plane {

using fabric::RailCrossing;

namespace {

// A message that changes its rail leaves its server, or comes into it, over another GPU of the server. The controllers of a
// job have the ports of its own GPUs, and of GPUs that no job has.
std::string foreign_gpu(const ControlContext& run, const RailCrossing& crossing) {
  const std::vector<bool>& own = run.fabric.rail(crossing.rail).servers();
  if (own.empty()) return "";
  for (const std::uint32_t server : {crossing.from, fibre_of(crossing.to)}) {
    if (own[server]) continue;
    const std::uint32_t gpu = server * run.plant().gpus_per_server + crossing.rail.value;
    return " over GPU " + std::to_string(gpu) + " (server " + std::to_string(server) + " on rail " +
           std::to_string(crossing.rail.value) +
           "), which belongs to another job: place the ranks so that they talk over their own rails, or give each job "
           "whole servers";
  }
  return "";
}

// A rail at rest has the circuits that its controller chose last: what the sender has of them, and what would lead further.
std::string left_as_it_is(const ControlContext& run, const execution::Operation& op, const RailCrossing& crossing) {
  if (!run.fabric.optical() || !run.fabric.has_rail(crossing.rail)) return "";
  const fabric::OpticalRail& rail = run.fabric.rail(crossing.rail);
  const std::uint32_t ports = run.plant().nic_ports;
  std::uint32_t lit = 0;
  for (std::uint32_t p = 0; p < ports; ++p) lit += rail.is_lit(PortId{crossing.from * ports + p}) ? 1 : 0;
  std::string text = "; controller '" + run.spec.name + "' leaves server " + std::to_string(crossing.from) + " on rail " +
                     std::to_string(crossing.rail.value) +
                     (lit == 0 ? " without circuits" : " with " + core::counted(lit, "circuit") + " to others");
  if (op.op == CollectiveOp::kBarrier) text += ", and a barrier has no bytes for which a policy would give it ports";
  if (run.factory.has("forward") && !run.factory.complete(run.spec).parameters.flag("forward")) {
    text += " (with \"forward\": true it would go over other GPUs)";
  }
  return text;
}

fabric::MeshAdmission::WaitReason blocked(const ControlContext& run, const RailCrossing& crossing) {
  const fabric::MeshAdmission* mesh = run.fabric.optical() ? run.fabric.rail(crossing.rail).mesh() : nullptr;
  if (mesh == nullptr) return {};
  return mesh->why_waiting({crossing.from, crossing.to});
}

}  // namespace

execution::MissingCircuits missing_circuit(const ControlContext& run, const execution::Operation& op,
                                           const execution::Link& link) {
  const MemberPair pair = link.pair;
  const auto& crossing = link.way.crossing;
  const std::string text = " waits for a circuit from rank " + std::to_string(op.rank(pair.first).value) + " to rank " +
                           std::to_string(op.rank(pair.second).value);
  if (!crossing) return {text};
  const auto reason = blocked(run, *crossing);
  std::string why = foreign_gpu(run, *crossing) + reason.text;
  if (why.empty()) why = left_as_it_is(run, op, *crossing);
  return {text + why, reason.for_ever};
}

}  // namespace photonrail::control_plane
