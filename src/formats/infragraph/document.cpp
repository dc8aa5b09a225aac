// The parts of a document: devices, links, instances, edges, annotations.
#include "core/number_in.hpp"
#include "formats/infragraph/infragraph.hpp"
#include "photonrail/error.hpp"

#include <set>

namespace photonrail::formats::infragraph {

namespace {

using json::Json;
using json::JsonReader;

constexpr std::uint32_t kMaxCount = 1'000'000;

std::string text_or(JsonReader& reader, std::string_view key) {
  const auto value = reader.optional(key);
  return value && !value->json().is_null() ? value->string() : std::string();
}

std::vector<JsonReader> list_or(JsonReader& reader, std::string_view key) {
  const auto value = reader.optional(key);
  return value && !value->json().is_null() ? value->elements() : std::vector<JsonReader>{};
}

// A choice with its value beside it: {"choice": "gigabits_per_second", "gigabits_per_second": 400}. The value may stand
// alone; of several the one that is chosen counts.
std::optional<std::pair<std::string, double>> chosen(const JsonReader& from, std::initializer_list<const char*> words) {
  JsonReader reader = from;
  const std::string choice = text_or(reader, "choice");
  for (const char* word : words) {
    if (choice == word) return std::pair{choice, reader.child(word).number(0.0, 1e12)};
    if (!choice.empty()) continue;
    if (const auto value = reader.optional(word)) return std::pair{std::string(word), value->number(0.0, 1e12)};
  }
  return std::nullopt;
}

Link read_link(JsonReader reader) {
  Link link;
  const auto physical = reader.optional("physical");
  if (!physical || physical->json().is_null()) return link;
  JsonReader parts = *physical;
  if (const auto bandwidth = parts.optional("bandwidth")) {
    const auto rate = chosen(*bandwidth, {"gigabits_per_second", "gigabytes_per_second", "gigatransfers_per_second"});
    if (rate && rate->first == "gigabits_per_second") link.gb_per_s = rate->second / 8.0;
    if (rate && rate->first == "gigabytes_per_second") link.gb_per_s = rate->second;
  }
  if (const auto latency = parts.optional("latency")) {
    const auto time = chosen(*latency, {"ms", "us", "ns"});
    if (time) link.latency_ns = time->second * (time->first == "ms" ? 1e6 : time->first == "us" ? 1e3 : 1.0);
  }
  return link;
}

std::map<std::string, Link> read_links(const std::vector<JsonReader>& list) {
  std::map<std::string, Link> links;
  for (JsonReader reader : list) links[reader.child("name").string()] = read_link(reader);
  return links;
}

std::vector<Edge> read_edges(const std::vector<JsonReader>& list, std::string_view node) {
  std::vector<Edge> edges;
  for (JsonReader reader : list) {
    Edge edge;
    edge.pointer = reader.pointer();
    const auto endpoint = [&](const char* key, std::string& of_node, std::string& component) {
      JsonReader ends = reader.child(key);
      of_node = text_or(ends, node);
      component = ends.child("component").string();
    };
    endpoint("ep1", edge.ep1_node, edge.ep1_component);
    endpoint("ep2", edge.ep2_node, edge.ep2_component);
    if (const auto scheme = reader.optional("scheme"))
      edge.many_to_many = scheme->choice<bool>({{"one2one", false}, {"many2many", true}});
    edge.link = reader.child("link").string();
    edges.push_back(std::move(edge));
  }
  return edges;
}

Component read_component(JsonReader reader) {
  Component component;
  component.name = reader.child("name").string();
  component.count = reader.child("count").count(0, kMaxCount);
  component.kind = reader.child("choice", "xpu, nic, port, switch ...").string();
  if (const auto custom = reader.optional("custom"); custom && component.kind == "custom") {
    JsonReader of_custom = *custom;
    component.kind = text_or(of_custom, "type");
  }
  return component;
}

void read_annotations(const std::vector<JsonReader>& attributes, std::vector<Annotation>& into) {
  for (JsonReader reader : attributes) {
    const std::string attribute = reader.child("attribute").string();
    if (!attribute.starts_with(kPrefix)) continue;
    into.push_back({attribute, reader.child("value").string(), reader.pointer()});
  }
}

template <class Named>
void check_names(const std::vector<Named>& all) {
  std::set<std::string> names;
  for (const Named& one : all) {
    if (!names.insert(one.name).second) throw ConfigError(one.pointer + "/name", "\"" + one.name + "\" occurs twice");
  }
}

std::uint32_t index(std::string_view digits, const std::string& pointer, std::string_view text) {
  const auto value = core::number_in<std::uint32_t>(digits);
  if (!value)
    throw ConfigError(pointer, "\"" + std::string(text) + "\" has an index that is no number", "name[0], name[0:8]");
  return *value;
}

}  // namespace

const Component* Device::component(std::string_view wanted) const {
  for (const Component& one : components) {
    if (one.name == wanted) return &one;
  }
  return nullptr;
}

const Device* Document::device(std::string_view wanted) const {
  for (const Device& one : devices) {
    if (one.name == wanted) return &one;
  }
  return nullptr;
}

Slice slice_of(std::string_view text, std::uint32_t count, const std::string& pointer) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) return {std::string(text), 0, count};
  if (text.back() != ']') throw ConfigError(pointer, "\"" + std::string(text) + "\" has no closing bracket", "name[0:8]");
  Slice slice{std::string(text.substr(0, open)), 0, count};
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  const std::size_t colon = inside.find(':');
  if (colon == std::string_view::npos) {
    slice.begin = index(inside, pointer, text);
    slice.end = slice.begin < ~0U ? slice.begin + 1 : slice.begin;
  } else {
    const std::string_view to = inside.substr(colon + 1);
    if (colon > 0) slice.begin = index(inside.substr(0, colon), pointer, text);
    if (!to.empty()) slice.end = index(to, pointer, text);
  }
  if (slice.begin >= slice.end || slice.end > count)
    throw ConfigError(pointer, "\"" + std::string(text) + "\" is out of range", "there are " + std::to_string(count));
  return slice;
}

Document read_document(const Json& root) {
  Document document;
  JsonReader top(root);
  const auto inner = top.optional("infrastructure");
  JsonReader reader = inner ? *inner : top;
  document.name = text_or(reader, "name");
  const auto devices = reader.child("devices", "is it an InfraGraph infrastructure?").elements();
  for (JsonReader of_device : devices) {
    Device device;
    device.pointer = of_device.pointer();
    device.name = of_device.child("name").string();
    for (const JsonReader& component : list_or(of_device, "components"))
      device.components.push_back(read_component(component));
    device.links = read_links(list_or(of_device, "links"));
    device.edges = read_edges(list_or(of_device, "edges"), "device");
    document.devices.push_back(std::move(device));
  }
  document.links = read_links(list_or(reader, "links"));
  for (JsonReader of_instance : reader.child("instances").elements()) {
    document.instances.push_back({of_instance.child("name").string(), of_instance.child("device").string(),
                                  of_instance.child("count").count(0, kMaxCount), of_instance.pointer()});
  }
  document.edges = read_edges(list_or(reader, "edges"), "instance");
  check_names(document.devices);
  check_names(document.instances);
  const auto annotations = top.optional("annotations");
  if (!annotations || annotations->json().is_null()) return document;
  JsonReader of_annotations = *annotations;
  for (JsonReader node : list_or(of_annotations, "nodes"))
    read_annotations(list_or(node, "attributes"), document.annotations);
  read_annotations(list_or(of_annotations, "graph"), document.annotations);
  return document;
}

}  // namespace photonrail::formats::infragraph
