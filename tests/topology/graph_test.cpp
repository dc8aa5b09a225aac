#include "topology/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/range/iterator_range.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

using topology::CapacityId;
using topology::Device;
using topology::make_graph;
using topology::name_of;
using topology::Plant;
using topology::PlantGraph;
using topology::PlantVertexId;

std::ostream& operator<<(std::ostream& out, const PlantSpec& s) {
  return out << s.servers << " servers x " << s.gpus_per_server << " GPUs x " << s.nic_ports << " ports, "
             << (s.rail == RailKind::kOptical ? "optical" : "electrical") << ", radix " << s.switch_radix
             << ", 1:" << s.oversubscription;
}

namespace {

using ::testing::HasSubstr;

PlantSpec plant_spec(RailKind rail, std::uint32_t servers, std::uint32_t gpus, std::uint32_t ports,
                     std::uint32_t radix = 64, double oversubscription = 1.0) {
  PlantSpec spec{servers, gpus, ports, Bandwidth::from_gb_per_s(50), Bandwidth::from_gb_per_s(450)};
  spec.rail = rail;
  spec.switch_radix = radix;
  spec.oversubscription = oversubscription;
  return spec;
}

PlantSpec electrical(std::uint32_t servers, std::uint32_t gpus, std::uint32_t ports, std::uint32_t radix = 64,
                     double oversubscription = 1.0) {
  return plant_spec(RailKind::kElectrical, servers, gpus, ports, radix, oversubscription);
}

PlantSpec optical(std::uint32_t servers, std::uint32_t gpus, std::uint32_t ports) {
  return plant_spec(RailKind::kOptical, servers, gpus, ports);
}

class PlantGraphs : public ::testing::TestWithParam<PlantSpec> {};

// The capacities that messages from the `port` of `from` to that of `to` take: what the fabric does by arithmetic.
std::vector<CapacityId> route(const Plant& plant, GpuId from, GpuId to, std::uint32_t port) {
  const RailId rail{plant.local_of(from)};
  std::vector<CapacityId> path{plant.nic_out(from, port)};
  const auto from_leaf = plant.leaf_of(from, port);
  const auto to_leaf = plant.leaf_of(to, port);
  if (from_leaf != to_leaf) {
    path.push_back(plant.leaf_up(rail, from_leaf));
    path.push_back(plant.leaf_down(rail, to_leaf));
  }
  path.push_back(plant.nic_in(to, port));
  return path;
}

/// All links of each vertex: where each leads, and by which capacity.
struct Link {
  PlantVertexId to;
  CapacityId capacity;
};
using Links = std::vector<std::vector<Link>>;

Links cables_of(const PlantGraph& graph) {
  Links links(boost::num_vertices(graph));
  for (const auto e : boost::make_iterator_range(boost::edges(graph))) {
    if (!graph[e].cable) continue;
    links[boost::source(e, graph)].push_back({boost::target(e, graph), graph[e].up});
    links[boost::target(e, graph)].push_back({boost::source(e, graph), graph[e].down});
  }
  return links;
}

/// Where a walk over exactly these capacities may end.
std::set<PlantVertexId> walk(const Links& links, PlantVertexId from, const std::vector<CapacityId>& path) {
  std::set<PlantVertexId> at{from};
  for (const CapacityId capacity : path) {
    std::set<PlantVertexId> next;
    for (const auto v : at) {
      for (const Link& link : links[v]) {
        if (link.capacity == capacity) next.insert(link.to);
      }
    }
    at = next;
  }
  return at;
}

std::map<std::pair<std::uint32_t, std::uint32_t>, PlantVertexId> ports_of(const PlantGraph& graph) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, PlantVertexId> ports;
  for (const auto v : boost::make_iterator_range(boost::vertices(graph))) {
    if (graph[v].kind == Device::kNicPort) ports[{graph[v].group, graph[v].index}] = v;
  }
  return ports;
}

TEST_P(PlantGraphs, HaveEveryRouteOfTheFabricAsAShortestWalk) {
  const Plant plant(GetParam());
  const PlantGraph graph = make_graph(plant);
  const Links links = cables_of(graph);
  const auto ports = ports_of(graph);
  for (std::uint32_t g = 0; g < GetParam().gpus(); ++g) {
    for (std::uint32_t p = 0; p < GetParam().nic_ports; ++p) {
      const PlantVertexId start = ports.at({g, p});
      std::vector<std::size_t> distance(boost::num_vertices(graph));
      const auto recorder = boost::make_bfs_visitor(boost::record_distances(distance.data(), boost::on_tree_edge()));
      boost::breadth_first_search(graph, start, boost::visitor(recorder));
      for (std::uint32_t s = 0; s < GetParam().servers; ++s) {
        const GpuId to = plant.gpu(s, plant.local_of(GpuId{g}));
        if (to == GpuId{g}) continue;
        const PlantVertexId end = ports.at({to.value, p});
        const auto path = route(plant, GpuId{g}, to, p);
        ASSERT_TRUE(walk(links, start, path).contains(end)) << name_of(graph[start]) << " to " << name_of(graph[end]);
        // A port of its own GPU on the leaf of the other end may be a shortcut; where ports share a leaf there is none.
        if (plant.leaf_of(GpuId{g}, 0) == plant.leaf_of(GpuId{g}, p) && plant.leaf_of(to, 0) == plant.leaf_of(to, p)) {
          ASSERT_EQ(distance[end], path.size()) << name_of(graph[start]) << " to " << name_of(graph[end]);
        }
      }
    }
  }
}

TEST_P(PlantGraphs, CablesOfACapacityAddUpToItsRate) {
  const Plant plant(GetParam());
  const PlantGraph graph = make_graph(plant);
  std::vector<double> up(plant.capacities());
  for (const auto e : boost::make_iterator_range(boost::edges(graph))) {
    if (!graph[e].cable) continue;
    up[graph[e].up] += graph[e].rate.bytes_per_second;
    up[graph[e].down] += graph[e].rate.bytes_per_second;
  }
  for (CapacityId id = 0; id < plant.capacities(); ++id) {
    ASSERT_NEAR(up[id] / plant.rate(id).bytes_per_second, 1.0, 1e-9) << "capacity " << id;
  }
}

TEST_P(PlantGraphs, NoSwitchHasMoreCablesThanPorts) {
  const PlantGraph graph = make_graph(Plant(GetParam()));
  for (const auto v : boost::make_iterator_range(boost::vertices(graph))) {
    const Device kind = graph[v].kind;
    const bool electrical_switch = kind == Device::kRailSwitch || kind == Device::kLeaf || kind == Device::kSpine;
    if (!electrical_switch) continue;
    ASSERT_LE(boost::out_degree(v, graph), GetParam().switch_radix) << name_of(graph[v]);
  }
}

TEST_P(PlantGraphs, NamesAreUniqueAndRailsConnected) {
  const PlantGraph graph = make_graph(Plant(GetParam()));
  std::set<std::string> names;
  for (const auto v : boost::make_iterator_range(boost::vertices(graph))) names.insert(name_of(graph[v]));
  EXPECT_EQ(names.size(), boost::num_vertices(graph));
  const PlantSummary summary = summarize(GetParam());
  EXPECT_TRUE(summary.connected);
  EXPECT_EQ(
      summary.gpus + summary.nic_ports + summary.scale_up_fabrics + summary.electrical_switches + summary.optical_switches,
      boost::num_vertices(graph));
  std::size_t cables = 0;
  for (const auto e : boost::make_iterator_range(boost::edges(graph))) cables += graph[e].cable ? 1 : 0;
  EXPECT_EQ(summary.cables, cables);
}

INSTANTIATE_TEST_SUITE_P(Some, PlantGraphs,
                         ::testing::ValuesIn(std::vector<PlantSpec>{
                             electrical(4, 2, 1), electrical(1, 1, 1), electrical(16, 2, 2, 8), electrical(9, 2, 2, 8),
                             electrical(13, 3, 1, 8, 3.0), electrical(9, 1, 2, 6, 1.0), electrical(30, 1, 1, 11, 1.2),
                             electrical(32, 1, 1, 8), optical(4, 2, 1), optical(5, 3, 4)}));

TEST(Summary, CountsOneTier) {
  // 4 servers x 2 GPUs x 1 port. Cables: 8 to scale-up fabrics, 8 to the switches of 2 rails.
  const PlantSummary s = summarize(electrical(4, 2, 1));
  EXPECT_EQ(s.gpus, 8u);
  EXPECT_EQ(s.nic_ports, 8u);
  EXPECT_EQ(s.scale_up_fabrics, 4u);
  EXPECT_EQ(s.electrical_switches, 2u);
  EXPECT_EQ(s.optical_switches, 0u);
  EXPECT_EQ(s.cables, 16u);
  EXPECT_TRUE(s.connected);
}

TEST(PlantSummaries, CountTheSwitchesOfPlanesAndPods) {
  PlantSpec spec = optical(5, 2, 4);
  spec.planes = 2;
  EXPECT_EQ(summarize(spec).optical_switches, 2u * 2);
  spec.pod_servers = 2;
  // 3 pods x 2 planes a rail; 5 x 4 NIC ports a rail are cabled to a switch, and as many uplinks to the layer above.
  PlantSummary s = summarize(spec);
  EXPECT_EQ(s.optical_switches, 2u * 6);
  EXPECT_EQ(s.electrical_switches, 2u * 2) << "one that joins the pods, for each plane";
  EXPECT_EQ(s.cables, 2u * 5 + 2u * 20 + 2u * 20);  // with the scale-up ports
  EXPECT_TRUE(s.connected);
  spec.optical_pods = true;
  s = summarize(spec);
  // A pod has 2 servers x 2 ports of a plane: 4 uplinks, each to a switch of its own.
  EXPECT_EQ(s.optical_switches, 2u * (6 + 2 * 4));
  EXPECT_EQ(s.electrical_switches, 0u);
  EXPECT_EQ(s.cables, 2u * 5 + 2u * 20 + 2u * 20);
  EXPECT_TRUE(s.connected);
  EXPECT_THAT(to_graphviz(spec), HasSubstr("rail 1 OCS 13"));
}

TEST(Summary, CountsAnOcsARail) {
  const PlantSummary s = summarize(optical(4, 8, 2));
  EXPECT_EQ(s.optical_switches, 8u);
  EXPECT_EQ(s.electrical_switches, 0u);
  EXPECT_EQ(s.cables, 32u + 64u);  // 4 x 8 to scale-up fabrics, 4 x 8 x 2 ports to an OCS
}

TEST(Summary, CountsLeavesAndSpines) {
  // 16 servers x 2 ports = 32 rail ports at radix 8: leaves of 4 ports and 4 uplinks, 8 of them; 32 uplinks fill 4 spines.
  // 2 rails: 2 x (8 + 4) switches. Cables: 32 scale-up + 64 NIC + 2 x 32 uplinks.
  const PlantSummary s = summarize(electrical(16, 2, 2, 8));
  EXPECT_EQ(s.electrical_switches, 24u);
  EXPECT_EQ(s.cables, 160u);
}

TEST(Summary, DrawsFurtherTiersAsOneSpine) {
  // 17 x 2 = 34 ports need 9 leaves of 4, one more than a spine of radix 8 can join.
  const PlantSummary s = summarize(electrical(17, 1, 2, 8));
  EXPECT_EQ(s.electrical_switches, 10u);
  EXPECT_TRUE(s.connected);
}

TEST(Graphviz, SaysWhatIsJoinedAndHowFast) {
  const std::string dot = to_graphviz(plant_spec(RailKind::kOptical, 2, 2, 1));
  EXPECT_THAT(dot, HasSubstr("subgraph \"cluster server 1\""));
  EXPECT_THAT(dot, HasSubstr("\"GPU 3\" -- \"server 1 scale-up\" [label=\"450 GB/s each way\"];"));
  EXPECT_THAT(dot, HasSubstr("\"GPU 3\" -- \"GPU 3 port 0\";"));
  EXPECT_THAT(dot, HasSubstr("\"GPU 3 port 0\" -- \"rail 1 OCS\" [label=\"50 GB/s each way\"];"));
}

TEST_P(PlantGraphs, AreValidGraphviz) {
  const std::string dot = to_graphviz(GetParam());
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '"') % 2, 0);
  if (std::system("command -v dot >/dev/null 2>&1") != 0) GTEST_SKIP() << "SKIPPED IN PART: no dot to read it";
  std::ostringstream name;
  name << "photonrail plant, " << GetParam() << ".dot";
  const auto file = std::filesystem::path(::testing::TempDir()) / name.str();
  std::ofstream(file) << dot;
  EXPECT_EQ(std::system(("dot -Tcanon '" + file.string() + "' >/dev/null").c_str()), 0);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace photonrail
