// The plant as a Boost graph, made on demand: a vertex per device, an edge per link. For looking at and for checking;
// the simulation routes by the arithmetic of Plant and never builds it.
#pragma once

#include "topology/plant.hpp"

#include <boost/graph/adjacency_list.hpp>

#include <cstdint>
#include <string>

namespace photonrail::topology {

enum class Device : std::uint8_t { kGpu, kNicPort, kScaleUpFabric, kRailSwitch, kLeaf, kSpine, kOcs };

struct PlantVertex {
  Device kind = Device::kGpu;
  std::uint32_t group = 0;  ///< GPU, NIC port: the GPU; scale-up fabric: the server; others: the rail
  std::uint32_t index = 0;  ///< NIC port, leaf, spine, OCS: its number in the group
};

/// From the device nearer to a GPU (`up`) to the farther one, and back (`down`).
struct PlantEdge {
  bool cable = true;  ///< false: a GPU and its own NIC port, which no cable joins
  CapacityId up = 0;  ///< what messages share; meaningful for cables, but for those between pods
  CapacityId down = 0;
  Bandwidth rate;  ///< of this cable, each way; the cables between a leaf and the spines split their capacity evenly
};

using PlantGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, PlantVertex, PlantEdge>;
using PlantVertexId = boost::graph_traits<PlantGraph>::vertex_descriptor;

/// GPU g is vertex g. Spines of a rail: as many as the uplinks fill, ceil(uplinks / radix), with the uplinks dealt out in
/// turn. A rail of more leaves than a switch has ports would need further tiers: they are drawn as one spine.
[[nodiscard]] PlantGraph make_graph(const Plant& plant);

/// Such as "GPU 3 port 0" or "rail 1 leaf 2".
[[nodiscard]] std::string name_of(const PlantVertex& vertex);

}  // namespace photonrail::topology
