#include "control_plane/missing_circuit.hpp"

#include <vector>

namespace photonrail::control_plane {

using fabric::RailCrossing;

namespace {

// A message that changes its rail leaves its server, or comes into it, over another GPU of the server. The controllers of a
// job have the ports of its own GPUs, and of GPUs that no job has.
std::string foreign_gpu(const ControlContext& run, const RailCrossing& crossing) {
  const std::vector<bool>& own = run.fabric.rail(crossing.rail).servers();
  if (own.empty()) return "";
  for (const std::uint32_t server : {crossing.from, crossing.to}) {
    if (own[server]) continue;
    const std::uint32_t gpu = server * run.plant().gpus_per_server + crossing.rail.value;
    return " over GPU " + std::to_string(gpu) + " (server " + std::to_string(server) + " on rail " +
           std::to_string(crossing.rail.value) +
           "), which belongs to another job: place the ranks so that they talk over their own rails, or give each job "
           "whole servers";
  }
  return "";
}

fabric::MeshAdmission::WaitReason blocked(const ControlContext& run, const RailCrossing& crossing) {
  const fabric::MeshAdmission* mesh = run.fabric.optical() ? run.fabric.rail(crossing.rail).mesh() : nullptr;
  if (mesh == nullptr) return {};
  return mesh->why_waiting({crossing.from, crossing.to});
}

}  // namespace

execution::MissingCircuits missing_circuit(const ControlContext& run, const execution::Operation& op, MemberPair pair) {
  const auto crossing = run.fabric.crossing(op.gpus[pair.first], op.gpus[pair.second]);
  const std::string text = " waits for a circuit from rank " + std::to_string(op.rank(pair.first).value) + " to rank " +
                           std::to_string(op.rank(pair.second).value);
  if (!crossing) return {text};
  const auto reason = blocked(run, *crossing);
  return {text + foreign_gpu(run, *crossing) + reason.text, reason.for_ever};
}

}  // namespace photonrail::control_plane
