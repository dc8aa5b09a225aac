// Inputs of other programs and of other studies than a run: ASTRA-sim, InfraGraph, goodput, slices.
#include "fuzz/entry.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/formats/astra.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/goodput.hpp"
#include "photonrail/study/plan.hpp"
#include "studies/goodput/section/faults.hpp"
#include "studies/slices/study.hpp"
#include "support/source_dir.hpp"

#include <stdexcept>

namespace photonrail::fuzz {

namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(PHOTONRAIL_SOURCE_DIR) / "configs";

constexpr const char* kAstraSystem =
    R"({"scheduling-policy": "FIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 2,
  "preferred-dataset-splits": 4, "all-reduce-implementation": ["direct3"], "all-gather-implementation": ["oneRing"],
  "reduce-scatter-implementation": ["halvingDoubling"], "all-to-all-implementation": ["direct"],
  "collective-optimization": "localBWAware", "local-mem-bw": 1600, "roofline-enabled": 1, "peak-perf": 900})";
constexpr const char* kAstraNetwork = "topology: [ Ring ]\nnpus_count: [ 2 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500 ]\n";

// Two ranks of three all-reduces, as this project writes them.
void write_astra_traces(const fs::path& folder) {
  if (fs::exists(folder / "astra.1.et")) return;
  const Scenario scenario = parse_scenario(R"({"schema": "photonrail.scenario/1",
      "cluster": {"servers": 2, "gpus_per_server": 1, "rail": {"kind": "electrical"}},
      "workload": {"collective": {"op": "all_reduce", "bytes": 5000, "repeat": 3, "arrival_delay_us": {"1": 5}}}})",
                                           folder);
  write_chakra(scenario.graph, folder / "astra");
}

AstraOptions astra_files(const fs::path& folder) {
  write_astra_traces(folder);
  AstraOptions options;
  options.system = folder / "system.json";
  options.network = folder / "network.yml";
  options.workload = folder / "astra";
  options.comm_groups = folder / "groups.json";
  write(options.system, kAstraSystem);
  write(options.network, kAstraNetwork);
  write(options.comm_groups, R"({"all": [0, 1], "8": [1]})");
  return options;
}

void read_both_ways(const AstraOptions& options) {
  static_cast<void>(read_astra(options));
  static_cast<void>(scenario_from_astra(options, options.system.parent_path()));
}

}  // namespace

void read_astra_machine(std::string_view data, const fs::path& folder) {
  const AstraOptions options = astra_files(folder);
  const auto [system, network] = split(data);
  write(options.system, system);
  write(options.network, network);
  read_both_ways(options);
}
std::vector<std::string> astra_machine_seeds(const fs::path&) {
  return {joined(kAstraSystem, kAstraNetwork), joined(content(kConfigs / "astra-sim/system.json"),
                                                      "topology: Switch\nnpus_count: 2\nbandwidth: 25\nlatency: 1.5\n")};
}

void read_astra_workload(std::string_view data, const fs::path& folder) {
  const AstraOptions options = astra_files(folder);
  const auto [groups, trace] = split(data);
  write(options.comm_groups, groups);
  const std::string kept = content(folder / "astra.0.et");
  write(folder / "astra.0.et", trace);
  try {
    static_cast<void>(read_astra(options));
  } catch (...) {
    write(folder / "astra.0.et", kept);
    throw;
  }
  write(folder / "astra.0.et", kept);
}
std::vector<std::string> astra_workload_seeds(const fs::path& folder) {
  write_astra_traces(folder);
  return {joined(R"({"all": [0, 1], "8": [1]})", content(folder / "astra.0.et"))};
}

// What is read is written and read again: the same cluster.
void read_infragraph(std::string_view data, const fs::path& folder) {
  write(folder / "infrastructure.yaml", data);
  const std::string once = scenario_from_infragraph(folder / "infrastructure.yaml");
  write(folder / "once.json", once);
  write(folder / "again.json", infragraph_from_scenario(folder / "once.json", {}, Registries{}));
  const ClusterSpec first = parse_scenario(once, folder).cluster;
  const ClusterSpec second = parse_scenario(scenario_from_infragraph(folder / "again.json"), folder).cluster;
  const bool same = first.servers == second.servers && first.gpus_per_server == second.gpus_per_server &&
                    first.nic.ports == second.nic.ports &&
                    first.nic.per_port.bytes_per_second == second.nic.per_port.bytes_per_second &&
                    first.rail.kind == second.rail.kind && first.rail.planes == second.rail.planes;
  if (!same) throw std::logic_error("a cluster is another after it was written and read");
}
std::vector<std::string> infragraph_seeds(const fs::path& folder) {
  std::vector<std::string> seeds{R"(name: four servers
devices:
- name: host
  components:
  - {name: gpu, count: 2, choice: xpu}
  - {name: nvs, count: 1, choice: switch}
  - {name: nic, count: 2, choice: nic}
  links:
  - {name: nv, physical: {bandwidth: {gigabytes_per_second: 300}, latency: {ns: 500}}}
  edges:
  - {ep1: {component: gpu}, ep2: {component: "nvs[0]"}, scheme: many2many, link: nv}
- name: leaf
  components: [{name: port, count: 4, choice: port}]
instances: [{name: h, device: host, count: 4}, {name: l, device: leaf, count: 2}]
links: [{name: eth, physical: {bandwidth: {gigabits_per_second: 400}, latency: {us: 1}}}]
edges:
- {ep1: {instance: "h[0:4]", component: "nic[0]"}, ep2: {instance: "l[0]", component: "port[0:4]"}, scheme: one2one, link: eth}
- {ep1: {instance: "h", component: "nic[1:2]"}, ep2: {instance: "l[1]", component: port}, scheme: one2one, link: eth}
)"};
  write(folder / "scenario.json", kScenario);
  seeds.push_back(infragraph_from_scenario(folder / "scenario.json", {}, Registries{}));
  return seeds;
}

void read_goodput_text(std::string_view data, const fs::path& folder) {
  static_cast<void>(goodput::parse_goodput(data, folder, "goodput.json", {}, Registries{}));
}
std::vector<std::string> goodput_seeds(const fs::path&) {
  return {content(kConfigs / "goodput/dark-ports.json"), content(kConfigs / "goodput/trace-400-servers.json")};
}

void read_faults_text(std::string_view data, const fs::path& folder) {
  for (const char* name : {"faults.csv", "faults.json"}) {
    write(folder / name, data);
    try {
      static_cast<void>(goodput::read_faults(folder / name));
    } catch (const ConfigError&) {
      if (std::string_view(name).ends_with(".json")) throw;
    }
  }
}
std::vector<std::string> faults_seeds(const fs::path&) {
  return {
      R"([{"server": 3, "start_day": 0.5, "end_day": 2, "class": "gpu"}, {"server": 1, "start_day": 1, "end_day": 1.25}])",
      "server,start_day,end_day,class\n3,0.5,2,gpu\n1,1,1.25,nic\n"};
}

void read_allocation(std::string_view data, const fs::path& folder) {
  write(folder / "study.json", data);
  static_cast<void>(slices::read_study(folder / "study.json"));
}
std::vector<std::string> allocation_seeds(const fs::path&) {
  std::vector<std::string> seeds;
  for (const char* name : {"decisions", "orders-with-failures", "availability", "step-circuits", "photonic-rack"})
    seeds.push_back(content(kConfigs / "slices" / (std::string(name) + ".json")));
  return seeds;
}

void read_plan_text(std::string_view data, const fs::path& folder) {
  write(folder / "plan.json", data);
  static_cast<void>(read_plan(folder / "plan.json"));
}
std::vector<std::string> plan_seeds(const fs::path&) { return {content(kConfigs / "plans/llama3-8b-64.json")}; }

}  // namespace photonrail::fuzz
