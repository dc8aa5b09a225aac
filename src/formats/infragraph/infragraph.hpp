// InfraGraph's documents: their parts, and the cluster section of a scenario from and to them.
#pragma once

#include "json/json_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats::infragraph {

struct Link {
  std::optional<double> gb_per_s;  ///< 1e9 bytes per second, each direction; none: not said
  std::optional<double> latency_ns;
};

struct Component {
  std::string name;
  std::uint32_t count = 0;
  std::string kind;  ///< choice; of a custom component its type
};

/// One name of an endpoint with the range of its indices: "port[0:8]".
struct Slice {
  std::string name;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Edge {
  std::string ep1_node,
      ep1_component;  ///< node: of an infrastructure's edge the instance, of a device's the composed device
  std::string ep2_node, ep2_component;
  bool many_to_many = false;
  std::string link;
  std::string pointer;  ///< of the edge in the file
};

struct Device {
  std::string name;
  std::vector<Component> components;
  std::map<std::string, Link> links;
  std::vector<Edge> edges;
  std::string pointer;

  [[nodiscard]] const Component* component(std::string_view name) const;
};

struct Instance {
  std::string name;
  std::string device;
  std::uint32_t count = 0;
  std::string pointer;
};

struct Annotation {
  std::string attribute;
  std::string value;
  std::string pointer;
};

struct Document {
  std::string name;
  std::vector<Device> devices;
  std::map<std::string, Link> links;
  std::vector<Instance> instances;
  std::vector<Edge> edges;
  std::vector<Annotation> annotations;  ///< of nodes and of the graph: those whose attribute begins with kPrefix

  [[nodiscard]] const Device* device(std::string_view name) const;
};

/// Attributes of the project: "photonrail/rail/switch/ports" is the key /cluster/rail/switch/ports.
inline constexpr std::string_view kPrefix = "photonrail/";

/// Holds what an optical circuit switch is called as the type of a custom component.
inline constexpr std::string_view kOpticalSwitch = "optical_circuit_switch";

/// YAML or JSON as a value, within limits of size, depth and number. Throws ConfigError that begins with the file.
[[nodiscard]] json::Json read_value(const std::filesystem::path& file);

/// Throws ConfigError with the JSON pointer.
[[nodiscard]] Document read_document(const json::Json& root);

/// "port[0:8]", "port[3]", "port": the range, within `count`. Throws ConfigError at `pointer`.
[[nodiscard]] Slice slice_of(std::string_view text, std::uint32_t count, const std::string& pointer);

/// A cluster, and what the document leaves open or says otherwise, a sentence each.
struct ClusterSection {
  json::Json cluster;
  std::vector<std::string> remarks;
};

/// The section "cluster" of a scenario. Throws ConfigError with the JSON pointer.
[[nodiscard]] ClusterSection cluster_of(const Document& document);

/// Holds what an infrastructure says in words of its own.
struct ClusterFacts {
  std::string name;
  std::string description;
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 1;
  std::uint32_t nic_ports = 1;
  std::uint32_t planes = 1;
  bool optical = false;
  double port_gb_per_s = 0.0;
  double nic_latency_ns = 0.0;
  double scale_up_gb_per_s = 0.0;
  double scale_up_latency_ns = 0.0;
};

/// `cluster`: the section as the scenario has it; the keys that ClusterFacts says are left out of the annotations.
[[nodiscard]] json::Json infrastructure_of(const ClusterFacts& facts, const json::Json& cluster);

}  // namespace photonrail::formats::infragraph
