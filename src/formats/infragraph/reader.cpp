// The cluster of an infrastructure: servers, the NIC ports that their edges are, and rails.
#include "core/counted.hpp"
#include "formats/infragraph/infragraph.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace photonrail::formats::infragraph {

namespace {

using json::Json;

constexpr std::uint64_t kMaxEdges = 8'000'000;  // NIC ports of a cluster
constexpr std::uint32_t kMaxComposed = 8;       // levels of devices in devices
constexpr std::uint64_t kMaxGpus = 1024;        // of a server

/// One end of an edge of the infrastructure: a node, and the place of its port among those of the device.
struct End {
  std::uint32_t instance = 0;
  std::uint32_t node = 0;
  std::string_view component;  ///< path of names
  std::uint64_t index = 0;     ///< along the path
};

/// A NIC port: where it goes.
struct Port {
  std::string_view component;
  std::uint64_t index = 0;
  std::uint32_t instance = 0;  ///< of the switch
  std::uint32_t node = 0;

  friend bool operator<(const Port& a, const Port& b) {
    return std::tie(a.component, a.index) < std::tie(b.component, b.index);
  }
};

std::uint64_t xpus(const Document& document, const Device& device, std::uint32_t level = 0) {
  if (level > kMaxComposed) throw ConfigError(device.pointer, "is composed of devices without end");
  std::uint64_t count = 0;
  for (const Component& component : device.components) {
    std::uint64_t each = component.kind == "xpu" ? 1 : 0;
    if (component.kind == "device") {
      const Device* const inner = document.device(component.name);
      if (inner == nullptr)
        throw ConfigError(device.pointer, "there is no device \"" + component.name + "\" of which it is composed");
      each = xpus(document, *inner, level + 1);
    }
    count += each * component.count;
    if (count > kMaxGpus)
      throw ConfigError(device.pointer, "has more than " + std::to_string(kMaxGpus) + " xpu components");
  }
  return count;
}

bool is_optical(const Device& device) {
  return std::any_of(device.components.begin(), device.components.end(), [](const Component& c) {
    std::string kind = c.kind;
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char x) { return x >= 'A' && x <= 'Z' ? x + 32 : x; });
    return kind == kOpticalSwitch || kind == "ocs";
  });
}

class Wiring {
 public:
  explicit Wiring(const Document& document) : document_(document) {
    for (const Instance& instance : document.instances) {
      const Device* const device = document.device(instance.device);
      if (device == nullptr)
        throw ConfigError(instance.pointer + "/device", "there is no device \"" + instance.device + "\"");
      devices_.push_back(device);
      gpus_.push_back(static_cast<std::uint32_t>(xpus(document, *device)));
      first_.push_back(servers_);
      if (gpus_.back() > 0) servers_ += instance.count;
    }
    check_servers();
    ports_.resize(servers_);
    for (const Edge& edge : document.edges) add(edge);
    for (auto& ports : ports_) std::sort(ports.begin(), ports.end());
  }

  [[nodiscard]] std::uint32_t servers() const { return servers_; }
  [[nodiscard]] std::uint32_t gpus_per_server() const { return gpus_per_server_; }
  [[nodiscard]] const Device& server() const { return *server_; }
  [[nodiscard]] const std::vector<std::vector<Port>>& ports() const { return ports_; }
  [[nodiscard]] const std::set<std::string>& links() const { return links_; }
  [[nodiscard]] const Device& device_of(const Port& port) const { return *devices_[port.instance]; }

 private:
  void check_servers() {
    constexpr std::uint32_t kMaxServers = 1'000'000;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (gpus_[i] == 0 || document_.instances[i].count == 0) continue;
      if (server_ != nullptr && gpus_[i] != gpus_per_server_)
        throw ConfigError(
            document_.instances[i].pointer,
            "has " + core::counted(gpus_[i], "GPU") + " a server, others have " + std::to_string(gpus_per_server_),
            "servers that are alike");
      gpus_per_server_ = gpus_[i];
      server_ = devices_[i];
    }
    if (server_ == nullptr)
      throw ConfigError("/instances", "no instance has a device with xpu components", "a server has some");
    if (servers_ > kMaxServers) throw ConfigError("/instances", core::counted(servers_, "server"), "at most 1000000");
  }

  std::vector<End> ends(const std::string& node, const std::string& component, const std::string& pointer) {
    const std::string name = node.substr(0, node.find('['));
    std::uint32_t at = 0;
    while (at < document_.instances.size() && document_.instances[at].name != name) ++at;
    if (at == document_.instances.size()) throw ConfigError(pointer + "/instance", "there is no instance \"" + name + "\"");
    const Slice nodes = slice_of(node, document_.instances[at].count, pointer + "/instance");
    const auto [path, indices] = along(*devices_[at], component, pointer + "/component");
    count(std::uint64_t{nodes.end - nodes.begin} * indices.size(), pointer);
    std::vector<End> all;
    for (std::uint32_t n = nodes.begin; n < nodes.end; ++n) {
      for (const std::uint64_t index : indices) all.push_back({at, n, path, index});
    }
    return all;
  }

  // "cx5[0:8].port[0]": the names, and the places of the ports among all of that path.
  std::pair<std::string_view, std::vector<std::uint64_t>> along(const Device& device, const std::string& text,
                                                                const std::string& pointer) {
    std::string path;
    std::vector<std::uint64_t> indices{0};
    const Device* in = &device;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('.', begin), text.size());
      const std::string part = text.substr(begin, end - begin);
      begin = end + 1;
      const Component* const component = in == nullptr ? nullptr : in->component(part.substr(0, part.find('[')));
      if (component == nullptr)
        throw ConfigError(pointer, "there is no component \"" + part + "\"", "components of " + device.name);
      const Slice slice = slice_of(part, component->count, pointer);
      count(std::uint64_t{slice.end - slice.begin} * indices.size(), pointer);
      std::vector<std::uint64_t> further;
      for (const std::uint64_t index : indices) {
        for (std::uint32_t i = slice.begin; i < slice.end; ++i) further.push_back(index * component->count + i);
      }
      indices = std::move(further);
      path += "/" + slice.name;
      in = component->kind == "device" ? document_.device(component->name) : nullptr;
    }
    return {*paths_.insert(path).first, std::move(indices)};
  }

  static void count(std::uint64_t edges, const std::string& pointer) {
    if (edges > kMaxEdges) throw ConfigError(pointer, core::counted(edges, "end"), "at most " + std::to_string(kMaxEdges));
  }

  void add(const Edge& edge) {
    const auto from = ends(edge.ep1_node, edge.ep1_component, edge.pointer + "/ep1");
    const auto to = ends(edge.ep2_node, edge.ep2_component, edge.pointer + "/ep2");
    if (!document_.links.contains(edge.link))
      throw ConfigError(edge.pointer + "/link", "there is no link \"" + edge.link + "\"");
    if (edge.many_to_many) {
      count(std::uint64_t{from.size()} * to.size(), edge.pointer);
      for (const End& a : from) {
        for (const End& b : to) join(a, b, edge);
      }
    } else {
      for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) join(from[i], to[i], edge);
    }
  }

  void join(const End& a, const End& b, const Edge& edge) {
    const bool from_server = gpus_[a.instance] > 0, to_server = gpus_[b.instance] > 0;
    if (!from_server && !to_server)
      throw ConfigError(edge.pointer, "joins two switches",
                        "photonrail has tiers of a rail as /cluster/rail/radix and /cluster/rail/oversubscription, "
                        "pods as /cluster/rail/pods: leave these edges out, and set the keys in the scenario");
    if (from_server && to_server)
      throw ConfigError(edge.pointer, "joins two servers", "servers with switches between them");
    const End& server = from_server ? a : b;
    const End& other = from_server ? b : a;
    count(++edges_, edge.pointer);
    ports_[first_[server.instance] + server.node].push_back({server.component, server.index, other.instance, other.node});
    links_.insert(edge.link);
  }

  const Document& document_;
  std::vector<const Device*> devices_;  // by instance
  std::vector<std::uint32_t> gpus_;     // by instance: of a node
  std::vector<std::uint32_t> first_;    // by instance: its first server
  std::uint32_t servers_ = 0;
  std::uint32_t gpus_per_server_ = 0;
  const Device* server_ = nullptr;
  std::vector<std::vector<Port>> ports_;  // by server, ascending
  std::set<std::string> paths_;
  std::set<std::string> links_;  // between servers and switches
  std::uint64_t edges_ = 0;
};

// The switches of the ports, the same for all servers, or an error.
std::uint32_t ports_per_gpu(const Wiring& wiring) {
  const auto& first = wiring.ports().front();
  const auto same = [](const Port& a, const Port& b) { return a.instance == b.instance && a.node == b.node; };
  for (std::size_t s = 0; s < wiring.ports().size(); ++s) {
    const auto& ports = wiring.ports()[s];
    if (ports.size() != first.size())
      throw ConfigError("/edges",
                        "server " + std::to_string(s) + " has " + core::counted(ports.size(), "edge") +
                            " to switches, server 0 has " + std::to_string(first.size()),
                        "servers that are alike");
    if (!std::equal(ports.begin(), ports.end(), first.begin(), same))
      throw ConfigError("/edges", "server " + std::to_string(s) + " is wired to other switches than server 0",
                        "a port of every server on the same switch: a rail");
  }
  if (first.empty() || first.size() % wiring.gpus_per_server() != 0)
    throw ConfigError("/edges",
                      core::counted(first.size(), "edge") + " to switches for " +
                          core::counted(wiring.gpus_per_server(), "GPU") + " of a server",
                      "as many for each GPU; leave management networks out");
  return static_cast<std::uint32_t>(first.size()) / wiring.gpus_per_server();
}

void add_nic(const Document& document, const Wiring& wiring, std::uint32_t ports, ClusterSection& into) {
  Json nic = {{"ports", Json(ports)}};
  std::optional<double> rate, latency;
  for (const std::string& name : wiring.links()) {
    const Link& link = document.links.at(name);
    if (rate && link.gb_per_s && *rate != *link.gb_per_s)
      throw ConfigError("/links", "links to switches have several rates", "one for all NIC ports");
    if (link.gb_per_s) rate = link.gb_per_s;
    if (link.latency_ns) latency = std::max(latency.value_or(0.0), *link.latency_ns);
  }
  if (rate) nic["port_gb_per_s"] = Json(*rate);
  if (latency) nic["latency_ns"] = Json(*latency);
  if (!rate)
    into.remarks.emplace_back("The file has no bandwidth of the links to switches: NIC ports have the default rate.");
  into.cluster["nic"] = std::move(nic);
}

/// An end of an edge between components of a server; no component: of a device of which the server is composed.
struct ServerEnd {
  const Component* component = nullptr;
  Slice slice;

  [[nodiscard]] bool is_xpu() const { return component != nullptr && component->kind == "xpu"; }
  [[nodiscard]] bool is_switch() const {
    return component != nullptr && component->kind.find("switch") != std::string::npos;
  }
  [[nodiscard]] std::uint32_t count() const { return slice.end - slice.begin; }
  [[nodiscard]] bool has(const Component* other, std::uint32_t i) const {
    return component == other && slice.begin <= i && i < slice.end;
  }
};

ServerEnd server_end(const Device& server, const std::string& device, const std::string& text, const std::string& pointer) {
  const Component* const composed = server.component(device.substr(0, device.find('[')));
  if (composed != nullptr && composed->kind == "device") return {};
  const Component* const component = server.component(text.substr(0, text.find('[')));
  return component == nullptr ? ServerEnd{} : ServerEnd{component, slice_of(text, component->count, pointer)};
}

// How many links of an edge a GPU of `a` has: of a mesh, a pair of GPUs has one.
std::uint32_t links_of(const ServerEnd& a, const ServerEnd& b, std::uint32_t gpu, bool many_to_many) {
  const bool both = b.has(a.component, gpu);
  if (!many_to_many) {
    const std::uint32_t place = gpu - a.slice.begin;
    return place < b.count() && !(both && b.slice.begin + place == gpu) ? 1 : 0;
  }
  if (!both) return b.count();
  const std::uint32_t common = std::min(a.slice.end, b.slice.end) - std::max(a.slice.begin, b.slice.begin);
  return a.count() + b.count() - common - 1;
}

/// Adds up the links of each GPU to GPUs and switches of its server: of one name, as a fabric has, and with a bandwidth.
class ServerLinks {
 public:
  ServerLinks(const Device& server, const std::string& link) {
    for (const Edge& edge : server.edges) {
      if (edge.link != link) continue;
      const ServerEnd a = server_end(server, edge.ep1_node, edge.ep1_component, edge.pointer);
      const ServerEnd b = server_end(server, edge.ep2_node, edge.ep2_component, edge.pointer);
      if (a.is_xpu() && (b.is_xpu() || b.is_switch())) add(a, b, edge.many_to_many, nullptr);
      if (b.is_xpu() && (a.is_xpu() || a.is_switch())) add(b, a, edge.many_to_many, &a);
    }
  }

  [[nodiscard]] std::uint32_t most() const {
    std::uint32_t most = 0;
    for (const auto& [gpu, links] : links_) most = std::max(most, links);
    return most;
  }
  [[nodiscard]] bool alike(std::uint64_t gpus) const {
    return links_.size() == gpus &&
           std::all_of(links_.begin(), links_.end(), [&](const auto& one) { return one.second == links_.begin()->second; });
  }

 private:
  // `counted`: an end whose GPUs have the links of a mesh already.
  void add(const ServerEnd& a, const ServerEnd& b, bool many_to_many, const ServerEnd* counted) {
    for (std::uint32_t gpu = a.slice.begin; gpu < a.slice.end; ++gpu) {
      if (many_to_many && counted != nullptr && counted->has(a.component, gpu)) continue;
      const std::uint32_t links = links_of(a, b, gpu, many_to_many);
      if (links > 0) links_[{a.component->name, gpu}] += links;
    }
  }

  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> links_;  // by GPU
};

// The fastest fabric between the GPUs of a server: NICs, CPUs and PCIe hang on links of other names, or on none with a
// bandwidth.
void add_scale_up(const Device& server, std::uint64_t gpus, ClusterSection& into) {
  double rate = 0.0;
  std::optional<double> latency;
  bool alike = true;
  for (const auto& [name, link] : server.links) {
    if (!link.gb_per_s) continue;
    const ServerLinks links(server, name);
    const double of_gpu = *link.gb_per_s * links.most();
    if (!(of_gpu > rate)) continue;
    rate = of_gpu;
    latency = link.latency_ns;
    alike = links.alike(gpus);
  }
  if (!(rate > 0.0)) {
    into.remarks.emplace_back(
        "The file has no bandwidth between the GPUs of a server: the scale-up fabric has the default rate.");
    return;
  }
  if (!alike)
    into.remarks.emplace_back("GPUs of a server differ in their links: the scale-up fabric has the rate of the most.");
  Json scale_up = {{"gb_per_s", Json(rate)}};
  if (latency) scale_up["latency_ns"] = Json(*latency);
  into.cluster["scale_up"] = std::move(scale_up);
}

void add_rail(const Wiring& wiring, std::uint32_t ports, ClusterSection& into) {
  const auto& first = wiring.ports().front();
  const bool optical = is_optical(wiring.device_of(first.front()));
  std::set<std::pair<std::uint32_t, std::uint32_t>> all, of_rail;
  for (std::size_t p = 0; p < first.size(); ++p) {
    if (is_optical(wiring.device_of(first[p])) != optical)
      throw ConfigError("/edges", "some ports go to optical circuit switches and some to others", "rails of one kind");
    all.insert({first[p].instance, first[p].node});
    if (p < ports) of_rail.insert({first[p].instance, first[p].node});
  }
  if (all.size() < of_rail.size() * wiring.gpus_per_server())
    into.remarks.emplace_back("The file has " + std::to_string(all.size()) + " switches for " +
                              std::to_string(wiring.gpus_per_server()) +
                              " local indices: rails share them; here each local index has switches of its own.");
  Json rail = {{"kind", Json(optical ? "optical" : "electrical")}};
  if (optical && of_rail.size() > 1) rail["planes"] = Json(of_rail.size());
  into.cluster["rail"] = std::move(rail);
}

// "photonrail/rail/switch/ports" = "384": the key below the cluster.
void apply(const Annotation& annotation, Json& cluster) {
  const auto keys = json::split_pointer("/" + annotation.attribute.substr(kPrefix.size()));
  constexpr std::array<std::string_view, 5> kSections{"gpu", "unlike_gpus", "scale_up", "nic", "rail"};
  if (keys.empty() || std::find(kSections.begin(), kSections.end(), keys.front()) == kSections.end())
    throw ConfigError(annotation.pointer + "/attribute",
                      "\"" + annotation.attribute + "\" is no key of gpu, unlike_gpus, scale_up, nic or rail");
  Json* at = &cluster;
  for (const std::string& key : keys) {
    if (!at->is_object() && !at->is_null())
      throw ConfigError(annotation.pointer, "\"" + annotation.attribute + "\" is below a value that is no object");
    at = &(*at)[key];
  }
  *at = json::parse_json(annotation.value, annotation.pointer + "/value");
}

}  // namespace

ClusterSection cluster_of(const Document& document) {
  const Wiring wiring(document);
  const std::uint32_t ports = ports_per_gpu(wiring);
  ClusterSection section;
  section.cluster = Json::object();
  section.cluster["servers"] = Json(wiring.servers());
  section.cluster["gpus_per_server"] = Json(wiring.gpus_per_server());
  add_scale_up(wiring.server(), wiring.gpus_per_server(), section);
  add_nic(document, wiring, ports, section);
  add_rail(wiring, ports, section);
  for (const Annotation& annotation : document.annotations) apply(annotation, section.cluster);
  if (!section.cluster.contains("gpu"))
    section.remarks.emplace_back("InfraGraph has no speed of a GPU: it is the default one.");
  return section;
}

}  // namespace photonrail::formats::infragraph
