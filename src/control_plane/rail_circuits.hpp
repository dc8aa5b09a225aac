// Which circuits the rounds of a plan want of each rail.
#pragma once

#include "execution/plan_cache.hpp"
#include "fabric/fabric.hpp"
#include "photonrail/fabric_view.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace photonrail::control_plane {

/// The circuits of one rail.
struct RailCircuits {
  std::vector<ServerPair> pairs;  ///< ascending
  std::vector<Bytes> bytes;       ///< by pair; empty where the plan does not say (PlanOptions::pair_bytes)
};

/// Returns the circuits of one round. `gpus`: by member of the whole group.
[[nodiscard]] std::map<RailId, RailCircuits> rail_circuits(const fabric::Fabric& fabric, std::span<const GpuId> gpus,
                                                           const execution::RunnablePlan& plan, std::uint32_t round);
/// Returns the circuits of all rounds together.
[[nodiscard]] std::map<RailId, RailCircuits> rail_circuits(const fabric::Fabric& fabric, std::span<const GpuId> gpus,
                                                           const execution::RunnablePlan& plan);

/// The same, and without bytes any two of the group's servers: each iteration of the call has a plan of its own.
[[nodiscard]] std::map<RailId, RailCircuits> drifting_circuits(const fabric::Fabric& fabric, std::span<const GpuId> gpus,
                                                               const execution::RunnablePlan& plan);

/// Between any two of the group's servers, where it is not known who sends to whom; each GPU sends `sent` in equal shares.
[[nodiscard]] std::map<RailId, RailCircuits> all_circuits(const fabric::Fabric& fabric, std::span<const GpuId> gpus,
                                                          Bytes sent);

}  // namespace photonrail::control_plane
