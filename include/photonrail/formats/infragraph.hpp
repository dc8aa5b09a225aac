// InfraGraph, the schema of infrastructure that goes with Chakra's traces (github.com/Keysight/infragraph, 2.4): devices of
// components, instances of devices, edges between them, and annotations. Everything here throws ConfigError with the file
// and the place in it.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace photonrail {

struct Override;    // config.hpp
struct Registries;  // simulate.hpp

/// A scenario (JSON) on the cluster of an infrastructure file (YAML or JSON; an `Infrastructure`, or one with its
/// `annotations` as get_graph returns them), with an all-reduce of all GPUs as the workload to go on with. Servers are
/// instances of devices with xpu components; every edge from a server to a switch is a NIC port. `why` in it names what the
/// file leaves open, or says otherwise. Refused: servers that differ, more than one tier of switches, a cluster that is not
/// wired by rails.
[[nodiscard]] std::string scenario_from_infragraph(const std::filesystem::path& file);

/// The cluster of a scenario as an infrastructure (JSON, which is YAML too) with annotations: counts, rates (GB/s) and
/// latencies (ns) are the schema's own; what it has no words for (GPUs, circuit switches, delays, pods) are attributes
/// "photonrail/..." of nodes, by the pointer of the key below /cluster, so that scenario_from_infragraph() gives the same
/// cluster back.
[[nodiscard]] std::string infragraph_from_scenario(const std::filesystem::path& file, std::span<const Override> overrides,
                                                   const Registries& known);

}  // namespace photonrail
