// InfraGraph: infrastructures as scenarios, clusters as infrastructures, and back.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/folder.hpp"
#include "support/source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <string>

namespace photonrail::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Four servers of two GPUs behind NICs of their own; a switch for each local index.
constexpr const char* kRails = R"(name: rails
devices:
- name: host
  components:
  - {name: gpu, count: 2, choice: xpu}
  - {name: nvs, count: 3, choice: switch}
  - {name: cx, count: 2, choice: device}
  links:
  - {name: nv, physical: {bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 100}, latency: {ns: 500}}}
  - {name: pcie}
  edges:
  - {ep1: {component: gpu}, ep2: {component: nvs}, scheme: many2many, link: nv}
  - {ep1: {component: gpu}, ep2: {device: "cx[0:2]", component: "port[0]"}, scheme: one2one, link: pcie}
- name: cx
  components: [{name: port, count: 1, choice: port}]
- name: leaf
  components: [{name: port, count: 4, choice: port}, {name: core, count: 1, choice: custom, custom: {type: packet switch}}]
instances: [{name: h, device: host, count: 4}, {name: l, device: leaf, count: 2}]
links: [{name: eth, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 400}, latency: {us: 1}}}]
edges:
- {ep1: {instance: "h[0:4]", component: "cx[0].port[0]"}, ep2: {instance: "l[0]", component: "port[0:4]"}, scheme: one2one, link: eth}
- {ep1: {instance: h, component: "cx[1:2].port"}, ep2: {instance: "l[1]", component: port}, scheme: one2one, link: eth}
)";

class Infragraph : public ::testing::Test {
 protected:
  [[nodiscard]] Scenario read(const std::string& text) {
    return parse_scenario(scenario_from_infragraph(folder_.write("infra.yaml", text)), folder_.path());
  }
  [[nodiscard]] std::string refusal(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    try {
      static_cast<void>(read(text.replace(at, from.size(), to)));
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "read";
  }

  // By node and attribute: their order is not kept.
  [[nodiscard]] static std::map<std::string, std::string> attributes_of(const json& graph) {
    std::map<std::string, std::string> all;
    for (const json& node : graph["annotations"]["nodes"]) {
      for (const json& one : node["attributes"])
        all[node["name"].get<std::string>() + " " + one["attribute"].get<std::string>()] = one["value"];
    }
    return all;
  }

  Folder folder_;
};

TEST_F(Infragraph, ServersNicsAndRailsComeFromInstancesAndEdges) {
  const Scenario s = read(kRails);
  EXPECT_EQ(s.cluster.servers, 4U);
  EXPECT_EQ(s.cluster.gpus_per_server, 2U);
  EXPECT_EQ(s.cluster.nic.ports, 1U);
  EXPECT_EQ(s.cluster.nic.per_port.bytes_per_second, 50e9);       // 400 Gbit/s
  EXPECT_EQ(s.cluster.nic.latency, Duration{1'000'000});          // 1 us
  EXPECT_EQ(s.cluster.scale_up.per_gpu.bytes_per_second, 300e9);  // a link to each of three switches
  EXPECT_EQ(s.cluster.scale_up.latency, Duration{500'000});
  EXPECT_EQ(s.cluster.rail.kind, RailKind::kElectrical);
  EXPECT_GT(simulate(s).makespan, Duration{});
  // The names of GPUs' speeds are not in the schema: it is said.
  EXPECT_THAT(s.why, HasSubstr("no speed of a GPU"));
}

TEST_F(Infragraph, LinksOfAGpuAddUpOverEdgesAndAChosenRateCounts) {
  const auto changed = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  // An edge for each of the three switches in place of one for all; and a rate in another unit that was not chosen.
  const std::string one = "  - {ep1: {component: gpu}, ep2: {component: nvs}, scheme: many2many, link: nv}\n";
  std::string each;
  for (const char* nvs : {"nvs[0]", "nvs[1]", "nvs[2]"})
    each += "  - {ep1: {component: gpu}, ep2: {component: \"" + std::string(nvs) + "\"}, scheme: many2many, link: nv}\n";
  const std::string text =
      changed(changed(kRails, one, each), "gigabytes_per_second: 100", "gigabits_per_second: 7, gigabytes_per_second: 100");
  EXPECT_EQ(read(text).cluster.scale_up.per_gpu.bytes_per_second, 300e9);
  EXPECT_THAT(refusal(kRails, "gigabytes_per_second: 100", "gigabits_per_second: 7"),
              HasSubstr("/bandwidth/gigabytes_per_second"));
}

TEST_F(Infragraph, JsonIsReadAsYamlIsAndOpticalSwitchesWithTheirAnnotations) {
  std::string text = kRails;
  text.replace(text.find("packet switch"), 13, "optical_circuit_switch");
  EXPECT_THAT(refusal(kRails, "packet switch", "optical_circuit_switch"), HasSubstr("/cluster/rail/switch"));  // no delay
  const std::string whole = "infrastructure:\n  " +
                            [&] {
                              std::string indented = text;
                              for (std::size_t at = 0; (at = indented.find('\n', at)) != std::string::npos; at += 3)
                                indented.insert(at + 1, "  ");
                              return indented;
                            }() +
                            "\nannotations:\n  nodes:\n  - name: l[0:2]core[0:1]\n    attributes:\n"
                            "    - {attribute: photonrail/rail/switch/reconfiguration_ms, value: \"15\"}\n    - "
                            "{attribute: other/rank, value: x}\n";
  const Scenario s = read(whole);
  EXPECT_EQ(s.cluster.rail.kind, RailKind::kOptical);
  EXPECT_EQ(s.cluster.rail.optical.reconfiguration.a, Duration{15'000'000'000});
  EXPECT_EQ(s.controller.name, "opus");
}

TEST_F(Infragraph, WhatIsNoClusterOfRailsIsRefusedWithThePlace) {
  EXPECT_THAT(refusal(kRails, "instance: \"l[1]\"", "instance: \"l[2]\""), HasSubstr("/edges/1/ep2/instance"));
  EXPECT_THAT(refusal(kRails, "cx[1:2].port", "cx[1:2].prt"), HasSubstr("there is no component \"prt\""));
  EXPECT_THAT(refusal(kRails, "scheme: one2one, link: eth", "scheme: ring, link: eth"), HasSubstr("one2one"));
  EXPECT_THAT(refusal(kRails, "h[0:4]", "h[0:3]"), HasSubstr("server 3 has 1 edge to switches, server 0 has 2"));
  EXPECT_THAT(refusal(kRails, "instance: h, component: \"cx[1:2].port\"", "instance: \"l[0]\", component: \"port[0:1]\""),
              HasSubstr("joins two switches"));
  EXPECT_THAT(refusal(kRails, "name: gpu, count: 2", "name: gpu, <<: {count: 2}"), HasSubstr("merge key"));
  EXPECT_THAT(refusal(kRails, "choice: xpu", "choice: cpu"), HasSubstr("no instance has a device with xpu"));
  EXPECT_THAT(refusal(kRails, "name: cx\n", "name: cy\n"), HasSubstr("there is no device \"cx\""));
  EXPECT_THAT(refusal(kRails, "name: leaf\n", "name: host\n"), HasSubstr("\"host\" occurs twice"));
  EXPECT_THAT(refusal(kRails, "{name: gpu, count: 2", "{name: gpu, count: 3000"), HasSubstr("more than 1024"));
}

// Every cluster of configs/: what is written is read as the same, and written again as the same text.
TEST_F(Infragraph, ClustersComeBackAsTheyWere) {
  const std::filesystem::path configs = std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "configs";
  for (const char* name :
       {"quickstart.json", "quickstart-electrical.json", "llama3-8b-16gpu.json", "goodput/dark-ports.json",
        "straggler-all-reduce.json", "shared-nics.json", "unlike-gpus-uneven-stages.json", "two-gpu-models.json",
        "all-gather-inside-a-server.json", "scale-up/tori-on-rails.json", "scale-up/twisted-cubes.json",
        "scale-up/photonic-server.json", "scale-up/around-a-failed-switch.json"}) {
    SCOPED_TRACE(name);
    const std::string graph = infragraph_from_scenario(configs / name, {}, Registries{});
    const std::string scenario = scenario_from_infragraph(folder_.write("graph.json", graph));
    const auto file = folder_.write("scenario.json", scenario);
    json back = json::parse(scenario);
    json was = json::parse(std::ifstream(configs / name), nullptr, true, true);
    for (const char* section : {"gpu", "unlike_gpus", "rail"}) {
      if (was["cluster"].contains(section)) {
        EXPECT_EQ(back["cluster"][section], was["cluster"][section]);
      }
    }
    const Scenario a = read_scenario(configs / name), b = read_scenario(file);
    EXPECT_EQ(a.cluster.servers, b.cluster.servers);
    EXPECT_EQ(a.cluster.nic.per_port.bytes_per_second, b.cluster.nic.per_port.bytes_per_second);
    EXPECT_EQ(a.cluster.nic.latency, b.cluster.nic.latency);
    EXPECT_EQ(a.cluster.nic.message_overhead, b.cluster.nic.message_overhead);
    EXPECT_EQ(a.cluster.scale_up.per_gpu.bytes_per_second, b.cluster.scale_up.per_gpu.bytes_per_second);
    EXPECT_EQ(a.cluster.scale_up.latency, b.cluster.scale_up.latency);
    // The same job takes as long on the cluster that came back.
    json job = was;
    job["cluster"] = back["cluster"];
    if (!job.contains("reliability")) {
      EXPECT_EQ(simulate(parse_scenario(job.dump(), configs)).makespan, simulate(a).makespan);
    }
    const json first = json::parse(graph), second = json::parse(infragraph_from_scenario(file, {}, Registries{}));
    auto attributes = attributes_of(second);
    if (!was["cluster"].contains("rail")) {  // the default is written out
      std::erase_if(attributes, [](const auto& one) { return one.first.ends_with(" photonrail/rail/kind"); });
    }
    EXPECT_EQ(attributes_of(first), attributes);
    EXPECT_EQ(first["infrastructure"]["edges"], second["infrastructure"]["edges"]);
    EXPECT_EQ(first["infrastructure"]["links"], second["infrastructure"]["links"]);
  }
}

}  // namespace
}  // namespace photonrail::test
