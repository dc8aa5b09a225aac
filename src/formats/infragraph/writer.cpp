// A cluster as an infrastructure.
#include "formats/infragraph/infragraph.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <array>

namespace photonrail::formats::infragraph {

namespace {

using json::Json;

std::string slice(std::uint64_t begin, std::uint64_t end) {
  return "[" + std::to_string(begin) + ":" + std::to_string(end) + "]";
}

Json component(const char* name, const char* choice, std::uint64_t count, const char* description) {
  return {{"name", Json(name)}, {"description", Json(description)}, {"count", Json(count)}, {"choice", Json(choice)}};
}

Json link(const char* name, const char* description, double gb_per_s, double latency_ns) {
  return {{"name", Json(name)},
          {"description", Json(description)},
          {"physical",
           Json{{"bandwidth", Json{{"choice", Json("gigabytes_per_second")}, {"gigabytes_per_second", Json(gb_per_s)}}},
                {"latency", Json{{"choice", Json("ns")}, {"ns", Json(latency_ns)}}}}}};
}

Json device_edge(std::string from, std::string to, const char* scheme, const char* by) {
  return {{"ep1", Json{{"component", Json(std::move(from))}}},
          {"ep2", Json{{"component", Json(std::move(to))}}},
          {"scheme", Json(scheme)},
          {"link", Json(by)}};
}

Json server_device(const ClusterFacts& facts) {
  Json components = Json::array();
  components.push_back(component("xpu", "xpu", facts.gpus_per_server, "GPU, by local index"));
  components.push_back(component("scale_up", "switch", 1, "Scale-up fabric"));
  components.push_back(component("nic", "nic", facts.gpus_per_server, "NIC of the GPU with the same index"));
  components.push_back(
      component("port", "port", std::uint64_t{facts.gpus_per_server} * facts.nic_ports, "Ports of the NICs, NIC by NIC"));
  Json links = Json::array();
  links.push_back(
      link("scale_up_link", "GPU to scale-up fabric, each direction", facts.scale_up_gb_per_s, facts.scale_up_latency_ns));
  links.push_back(Json{{"name", Json("inside")}, {"description", Json("Not modelled")}});
  Json edges = Json::array();
  edges.push_back(device_edge("xpu", "scale_up[0]", "many2many", "scale_up_link"));
  edges.push_back(device_edge("xpu", "nic", "one2one", "inside"));
  for (std::uint32_t n = 0; n < facts.gpus_per_server; ++n)
    edges.push_back(
        device_edge("nic" + slice(n, n + 1),
                    "port" + slice(std::uint64_t{n} * facts.nic_ports, (n + std::uint64_t{1}) * facts.nic_ports),
                    "many2many", "inside"));
  return {{"name", Json("photonrail_server")},
          {"components", std::move(components)},
          {"links", std::move(links)},
          {"edges", std::move(edges)}};
}

Json switch_device(const ClusterFacts& facts) {
  const std::uint64_t ports = std::uint64_t{facts.servers} * ((facts.nic_ports + facts.planes - 1) / facts.planes);
  Json core = component(
      "core", facts.optical ? "custom" : "switch", 1,
      facts.optical ? "Optical circuit switch; each of its ports here is a transmit and a receive port" : "Packet switch");
  if (facts.optical) core["custom"] = Json{{"type", Json(kOpticalSwitch)}};
  Json components = Json::array();
  components.push_back(std::move(core));
  components.push_back(component("port", "port", ports, "One for each NIC port of the rail"));
  Json edges = Json::array();
  edges.push_back(device_edge("core", "port", "many2many", "inside_switch"));
  Json links = Json::array();
  links.push_back(Json{{"name", Json("inside_switch")}});
  return {{"name", Json("photonrail_rail")},
          {"components", std::move(components)},
          {"links", std::move(links)},
          {"edges", std::move(edges)}};
}

// NIC port p of local index g goes to plane p modulo planes of rail g; one edge for all servers.
Json wires(const ClusterFacts& facts) {
  Json edges = Json::array();
  for (std::uint32_t g = 0; g < facts.gpus_per_server; ++g) {
    for (std::uint32_t p = 0; p < facts.nic_ports; ++p) {
      const std::uint64_t plane = p % facts.planes, block = p / facts.planes, at = std::uint64_t{g} * facts.nic_ports + p;
      const std::uint64_t rail = std::uint64_t{g} * facts.planes + plane;
      Json from = {{"instance", Json("server" + slice(0, facts.servers))}, {"component", Json("port" + slice(at, at + 1))}};
      Json to = {{"instance", Json("rail" + slice(rail, rail + 1))},
                 {"component", Json("port" + slice(block * facts.servers, (block + 1) * facts.servers))}};
      edges.push_back(
          Json{{"ep1", std::move(from)}, {"ep2", std::move(to)}, {"scheme", Json("one2one")}, {"link", Json("rail_link")}});
    }
  }
  return edges;
}

// Values below a section, one attribute each; lists and words as JSON text.
void flatten(const Json& value, const std::string& attribute, Json& attributes) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, member] : value.members()) flatten(member, json::join_pointer(attribute, key), attributes);
    return;
  }
  attributes.push_back(Json{{"attribute", Json(attribute)}, {"value", Json(value.dump())}});
}

bool is_native(const std::string& section, const std::string& key) {
  if (section == "scale_up") return key == "gb_per_s" || json::stem_of_duration(key) == "latency";
  if (section != "nic") return false;
  return key == "ports" || key == "port_gb_per_s" || json::stem_of_duration(key) == "latency";
}

// A preset or a shape means what it does with the rate and the latency that stand beside it: one attribute for all.
bool is_one_value(const std::string& section, const Json& value) {
  if (!value.is_object()) return true;
  if (section != "scale_up") return false;
  const auto& keys = value.members();
  return std::any_of(keys.begin(), keys.end(), [&](const auto& member) { return !is_native(section, member.key); });
}

Json annotation(const std::string& node, const Json& cluster, const std::string& section) {
  Json attributes = Json::array();
  const Json* const values = cluster.find(section);
  if (values == nullptr) return attributes;
  const std::string prefix = std::string(kPrefix) + section;
  if (is_one_value(section, *values)) {
    attributes.push_back(Json{{"attribute", Json(prefix)}, {"value", Json(values->dump())}});
  } else {
    for (const auto& [key, member] : values->members()) {
      if (!is_native(section, key)) flatten(member, json::join_pointer(prefix, key), attributes);
    }
  }
  if (attributes.empty()) return attributes;
  Json of_node = {{"name", Json(node)}, {"attributes", std::move(attributes)}};
  Json list = Json::array();
  list.push_back(std::move(of_node));
  return list;
}

}  // namespace

Json infrastructure_of(const ClusterFacts& facts, const Json& cluster) {
  const std::uint64_t rails = std::uint64_t{facts.gpus_per_server} * facts.planes;
  Json devices = Json::array();
  devices.push_back(server_device(facts));
  devices.push_back(switch_device(facts));
  Json links = Json::array();
  links.push_back(link("rail_link", "NIC port to rail, each direction; latency from GPU to GPU", facts.port_gb_per_s,
                       facts.nic_latency_ns));
  Json instances = Json::array();
  instances.push_back(
      Json{{"name", Json("server")}, {"device", Json("photonrail_server")}, {"count", Json(facts.servers)}});
  instances.push_back(Json{{"name", Json("rail")}, {"device", Json("photonrail_rail")}, {"count", Json(rails)}});
  Json nodes = Json::array();
  const std::string gpus = "server" + slice(0, facts.servers) + "xpu" + slice(0, facts.gpus_per_server);
  const std::array<std::pair<const char*, std::string>, 5> places{
      {{"gpu", gpus},
       {"unlike_gpus", gpus},
       {"scale_up", "server" + slice(0, facts.servers) + "scale_up" + slice(0, 1)},
       {"nic", "server" + slice(0, facts.servers) + "nic" + slice(0, facts.gpus_per_server)},
       {"rail", "rail" + slice(0, rails) + "core" + slice(0, 1)}}};
  for (const auto& [section, node] : places) {
    Json of_section = annotation(node, cluster, section);
    for (Json& one : of_section.elements()) nodes.push_back(std::move(one));
  }
  Json infrastructure = {{"name", Json(facts.name)},          {"description", Json(facts.description)},
                         {"devices", std::move(devices)},     {"links", std::move(links)},
                         {"instances", std::move(instances)}, {"edges", wires(facts)}};
  return {{"infrastructure", std::move(infrastructure)}, {"annotations", Json{{"nodes", std::move(nodes)}}}};
}

}  // namespace photonrail::formats::infragraph
