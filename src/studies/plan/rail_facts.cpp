#include "studies/plan/rail_facts.hpp"

#include "config/scenario_parts.hpp"
#include "photonrail/error.hpp"

namespace photonrail::plan {

Duration least_switching(const ClusterSpec& cluster) {
  const bool one_circuit = cluster.rail.kind == RailKind::kOptical && cluster.nic.ports == 1 && cluster.nic.gpus == 1 &&
                           !cluster.rail.forwarding && cluster.rail.faults.empty();
  if (!one_circuit) return {};
  const OpticalSwitchSpec& device = cluster.rail.optical;
  const bool has_least = device.reconfiguration.kind == DelayDistribution::Kind::kConstant ||
                         device.reconfiguration.kind == DelayDistribution::Kind::kUniform;
  return device.delays(has_least ? device.reconfiguration.a : Duration{}).total();
}

RingOps rings_of(const std::optional<json::JsonReader>& section, const std::filesystem::path& directory) {
  CollectiveSpec spec;
  RingOps rings{};
  try {
    if (section) spec = config::read_collectives(*section, directory, {});
  } catch (const ConfigError&) {
    return rings;  // algorithms of others
  }
  for (std::size_t op = 0; op < rings.size(); ++op)
    rings[op] = spec.algorithm[op] == "ring" && spec.find_own("ring") == nullptr;
  return rings;
}

}  // namespace photonrail::plan
