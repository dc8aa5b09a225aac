#include "topology/graph.hpp"

#include <boost/graph/connected_components.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/range/iterator_range.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace photonrail {

using topology::CapacityId;
using topology::Device;
using topology::make_graph;
using topology::name_of;
using topology::Plant;
using topology::PlantGraph;
using topology::PlantVertex;
using topology::PlantVertexId;

namespace {

using PlantEdgeId = boost::graph_traits<PlantGraph>::edge_descriptor;

class Builder {
 public:
  explicit Builder(const Plant& plant) : plant_(plant), spec_(plant.spec()), graph_(spec_.gpus()) {
    for (std::uint32_t g = 0; g < spec_.gpus(); ++g) graph_[g] = {Device::kGpu, g, 0};
    add_scale_up();
    for (std::uint32_t r = 0; r < spec_.gpus_per_server; ++r) add_rail(RailId{r});
  }

  PlantGraph take() { return std::move(graph_); }

 private:
  PlantVertexId add(Device kind, std::uint32_t group, std::uint32_t index = 0) {
    return boost::add_vertex({kind, group, index}, graph_);
  }

  void join(PlantVertexId lower, PlantVertexId upper, CapacityId up, CapacityId down) {
    boost::add_edge(lower, upper, {true, up, down, plant_.rate(up)}, graph_);
  }

  void add_scale_up() {
    if (plant_.grid() != nullptr) return add_links(*plant_.grid());
    for (std::uint32_t s = 0; s < spec_.servers; ++s) {
      const auto fabric = add(Device::kScaleUpFabric, s);
      for (std::uint32_t local = 0; local < spec_.gpus_per_server; ++local) {
        const GpuId gpu = plant_.gpu(s, local);
        join(gpu.index(), fabric, plant_.scale_up_out(gpu), plant_.scale_up_in(gpu));
      }
    }
  }

  // Each cable once, from the end that it leaves upwards.
  void add_links(const topology::LinkGrid& grid) {
    for (std::uint32_t g = 0; g < spec_.gpus(); ++g) {
      const std::uint32_t local = plant_.local_of(GpuId{g});
      for (std::uint32_t slot = 0; slot < grid.slots(); slot += 2) {
        const std::optional<std::uint32_t> other = grid.neighbour(local, slot);
        if (!other) continue;
        const GpuId to = plant_.gpu(plant_.server_of(GpuId{g}), *other);
        join(g, to.index(), plant_.scale_up_link(GpuId{g}, slot), plant_.scale_up_link(to, slot + 1));
      }
    }
  }

  void add_rail(RailId rail) {
    if (spec_.rail == RailKind::kOptical) return add_optical_rail(rail);
    std::vector<PlantVertexId> leaves;  // what NIC ports are plugged into
    if (spec_.two_tier()) {
      for (std::uint32_t l = 0; l < spec_.leaves(); ++l) leaves.push_back(add(Device::kLeaf, rail.value, l));
      add_spines(rail, leaves);
    } else {
      leaves.push_back(add(Device::kRailSwitch, rail.value));
    }
    add_ports(rail, [&](GpuId gpu, std::uint32_t p) { return leaves[plant_.leaf_of(gpu, p)]; });
  }

  template <class SwitchOf>
  void add_ports(RailId rail, SwitchOf&& switch_of) {
    for (std::uint32_t s = 0; s < spec_.servers; ++s) {
      const GpuId gpu = plant_.gpu(s, rail.value);
      for (std::uint32_t p = 0; p < spec_.nic_ports; ++p) {
        const auto port = add(Device::kNicPort, gpu.value, p);
        boost::add_edge(gpu.index(), port, {false, 0, 0, spec_.nic_port}, graph_);
        join(port, switch_of(gpu, p), plant_.nic_out(gpu, p), plant_.nic_in(gpu, p));
      }
    }
  }

  // A switch for each plane of each pod.
  void add_optical_rail(RailId rail) {
    const std::uint32_t each = spec_.pod_servers == 0 ? spec_.servers : spec_.pod_servers;
    const std::uint32_t pods = (spec_.servers + each - 1) / each;
    std::vector<PlantVertexId> switches;
    for (std::uint32_t i = 0; i < pods * spec_.planes; ++i) switches.push_back(add(Device::kOcs, rail.value, i));
    add_ports(rail, [&](GpuId gpu, std::uint32_t p) {
      return switches[plant_.server_of(gpu) / each * spec_.planes + p % spec_.planes];
    });
    for (std::uint32_t plane = 0; pods > 1 && plane < spec_.planes; ++plane) join_pods(rail, plane, each, switches);
  }

  // An uplink for every NIC port: all to one packet switch, or each to a circuit switch of its own.
  void join_pods(RailId rail, std::uint32_t plane, std::uint32_t each, const std::vector<PlantVertexId>& switches) {
    const std::uint32_t ports = spec_.nic_ports / spec_.planes;
    std::vector<PlantVertexId> upper;
    for (std::uint32_t i = 0; i < (spec_.optical_pods ? each * ports : 1); ++i) {
      const Device kind = spec_.optical_pods ? Device::kOcs : Device::kSpine;
      upper.push_back(
          add(kind, rail.value,
              spec_.optical_pods ? static_cast<std::uint32_t>(switches.size()) + plane * each * ports + i : plane));
    }
    for (std::uint32_t pod = 0; pod * spec_.planes < switches.size(); ++pod) {
      const std::uint32_t uplinks = std::min(each, spec_.servers - pod * each) * ports;
      for (std::uint32_t u = 0; u < uplinks; ++u) {
        boost::add_edge(switches[pod * spec_.planes + plane], upper[u % upper.size()], {true, 0, 0, spec_.nic_port},
                        graph_);
      }
    }
  }

  // Where messages take single uplinks, each leads to a spine of its own number.
  void add_spines(RailId rail, const std::vector<PlantVertexId>& leaves) {
    const std::uint32_t uplinks = spec_.uplink_count();
    const std::uint64_t cables = std::uint64_t{uplinks} * leaves.size();
    const bool further_tiers = leaves.size() > spec_.switch_radix;
    const std::uint64_t packed = further_tiers ? 1 : (cables + spec_.switch_radix - 1) / spec_.switch_radix;
    const std::uint64_t count = spec_.routes_uplinks() ? uplinks : packed;
    std::vector<PlantVertexId> spines;
    for (std::uint32_t s = 0; s < count; ++s) spines.push_back(add(Device::kSpine, rail.value, s));
    std::size_t next = 0;
    for (std::uint32_t l = 0; l < leaves.size(); ++l) {
      const CapacityId up = plant_.leaf_up(rail, l);
      for (std::uint32_t u = 0; u < uplinks; ++u, next = (next + 1) % spines.size()) {
        boost::add_edge(leaves[l], spines[next], {true, up, plant_.leaf_down(rail, l), spec_.uplink_rate(u)}, graph_);
      }
    }
  }

  const Plant& plant_;
  const PlantSpec& spec_;
  PlantGraph graph_;
};

/// Every edge but those of the scale-up fabrics, which are no part of a rail.
struct OnRail {
  const PlantGraph* graph = nullptr;

  bool operator()(PlantEdgeId edge) const {
    const Device from = (*graph)[boost::source(edge, *graph)].kind;
    const Device to = (*graph)[boost::target(edge, *graph)].kind;
    return to != Device::kScaleUpFabric && (from != Device::kGpu || to != Device::kGpu);
  }
};

bool rails_connected(const PlantGraph& graph, const PlantSpec& spec) {
  std::vector<std::uint32_t> component(boost::num_vertices(graph));
  boost::connected_components(boost::filtered_graph(graph, OnRail{&graph}), component.data());
  for (std::uint32_t g = 0; g < spec.gpus(); ++g) {
    if (component[g] != component[g % spec.gpus_per_server]) return false;
  }
  return true;
}

void count(Device kind, PlantSummary& summary) {
  switch (kind) {
    case Device::kGpu:
      ++summary.gpus;
      break;
    case Device::kNicPort:
      ++summary.nic_ports;
      break;
    case Device::kScaleUpFabric:
      ++summary.scale_up_fabrics;
      break;
    case Device::kOcs:
      ++summary.optical_switches;
      break;
    case Device::kRailSwitch:
    case Device::kLeaf:
    case Device::kSpine:
      ++summary.electrical_switches;
      break;
  }
}

const char* shape(Device kind) {
  switch (kind) {
    case Device::kGpu:
      return "box";
    case Device::kNicPort:
      return "ellipse";
    case Device::kOcs:
      return "diamond";
    default:
      return "hexagon";
  }
}

void write_vertex(std::ostream& out, const PlantVertex& vertex) {
  out << '"' << name_of(vertex) << "\" [shape=" << shape(vertex.kind) << "];\n";
}

}  // namespace

PlantGraph topology::make_graph(const Plant& plant) { return Builder(plant).take(); }

std::string topology::name_of(const PlantVertex& vertex) {
  const std::string group = std::to_string(vertex.group);
  const std::string index = std::to_string(vertex.index);
  switch (vertex.kind) {
    case Device::kGpu:
      return "GPU " + group;
    case Device::kNicPort:
      return "GPU " + group + " port " + index;
    case Device::kScaleUpFabric:
      return "server " + group + " scale-up";
    case Device::kRailSwitch:
      return "rail " + group + " switch";
    case Device::kLeaf:
      return "rail " + group + " leaf " + index;
    case Device::kSpine:
      return "rail " + group + " spine " + index;
    case Device::kOcs:
      return "rail " + group + " OCS" + (vertex.index == 0 ? "" : " " + index);
  }
  return {};
}

std::string to_graphviz(const PlantSpec& spec) {
  const Plant plant(spec);
  const PlantGraph graph = make_graph(plant);
  std::vector<std::vector<PlantVertexId>> inside(spec.servers);
  std::ostringstream out;
  out << "graph plant {\n";
  for (const auto v : boost::make_iterator_range(boost::vertices(graph))) {
    const PlantVertex& vertex = graph[v];
    if (vertex.kind == Device::kScaleUpFabric) {
      inside[vertex.group].push_back(v);
    } else if (vertex.kind == Device::kGpu || vertex.kind == Device::kNicPort) {
      inside[plant.server_of(GpuId{vertex.group})].push_back(v);
    } else {
      write_vertex(out << "  ", vertex);
    }
  }
  for (std::uint32_t s = 0; s < spec.servers; ++s) {
    out << "  subgraph \"cluster server " << s << "\" {\n    label=\"server " << s << "\";\n";
    for (const auto v : inside[s]) write_vertex(out << "    ", graph[v]);
    out << "  }\n";
  }
  for (const auto e : boost::make_iterator_range(boost::edges(graph))) {
    out << "  \"" << name_of(graph[boost::source(e, graph)]) << "\" -- \"" << name_of(graph[boost::target(e, graph)])
        << '"';
    if (graph[e].cable) out << " [label=\"" << graph[e].rate.bytes_per_second / 1e9 << " GB/s each way\"]";
    out << ";\n";
  }
  out << "}\n";
  return out.str();
}

namespace {

// Of crossbars inside the servers and one switch a rail or plane, which has a port for each NIC port: no graph is needed.
PlantSummary summarize_single_switches(const PlantSpec& spec) {
  PlantSummary summary;
  summary.gpus = spec.gpus();
  summary.nic_ports = summary.gpus * spec.nic_ports;
  summary.scale_up_fabrics = spec.servers;
  const bool optical = spec.rail == RailKind::kOptical;
  (optical ? summary.optical_switches : summary.electrical_switches) =
      std::size_t{spec.gpus_per_server} * (optical ? spec.planes : 1);
  summary.cables = summary.gpus + summary.nic_ports;
  summary.connected = true;
  return summary;
}

}  // namespace

PlantSummary summarize(const PlantSpec& spec) {
  const Plant plant(spec);
  if (plant.grid() == nullptr && !spec.two_tier() && spec.pod_servers == 0) return summarize_single_switches(spec);
  const PlantGraph graph = make_graph(plant);
  PlantSummary summary;
  for (const auto v : boost::make_iterator_range(boost::vertices(graph))) count(graph[v].kind, summary);
  for (const auto e : boost::make_iterator_range(boost::edges(graph))) summary.cables += graph[e].cable ? 1 : 0;
  summary.connected = rails_connected(graph, spec);
  return summary;
}

}  // namespace photonrail
