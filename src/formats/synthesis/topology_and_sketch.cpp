// photonrail.topology/1 and photonrail.sketch/1.
#include "formats/synthesis/topology_and_sketch.hpp"
#include "formats/input_file.hpp"
#include "json/file_kind.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "photonrail/collective/plan_file.hpp"

#include <limits>

namespace photonrail {

namespace {

using json::Json;
using json::JsonReader;

constexpr std::uint32_t kMaxNodeNumber = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr std::uint32_t kMaxPorts = 1 << 20;

Member node(const JsonReader& value) { return value.count(0, kMaxNodeNumber); }

MemberPair pair(const JsonReader& value) {
  const std::vector<JsonReader> ends = value.elements();
  if (ends.size() != 2) value.fail("must be a pair of nodes", "[from, to]");
  return {node(ends[0]), node(ends[1])};
}

std::vector<MemberPair> pairs(const JsonReader& value) {
  std::vector<MemberPair> list;
  for (const JsonReader& entry : value.elements()) list.push_back(pair(entry));
  return list;
}

// Adds one link, or two that are the way there and back.
void read_link(JsonReader entry, SynthesisTopology& topology) {
  SynthesisLink link;
  link.from = node(entry.child("from"));
  link.to = node(entry.child("to"));
  link.rate = entry.child("gb_per_s").bandwidth();
  entry.read_duration("latency", link.latency, "ns");
  const auto both = entry.optional("both_ways");
  entry.finish();
  topology.links.push_back(link);
  if (!both || !both->boolean()) return;
  std::swap(link.from, link.to);
  topology.links.push_back(link);
}

SynthesisTopology topology_in(const Json& root) {
  JsonReader top(root);
  json::require_schema(top, "photonrail.topology/1");
  SynthesisTopology topology;
  topology.nodes = top.child("nodes").count(2, kMaxNodeNumber);
  if (const auto v = top.optional("send_ports")) topology.send_ports = v->count(1, kMaxPorts);
  if (const auto v = top.optional("receive_ports")) topology.receive_ports = v->count(1, kMaxPorts);
  const JsonReader links = top.child("links");
  top.finish();
  std::vector<std::size_t> entry_of_link;
  const std::vector<JsonReader> entries = links.elements();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    read_link(entries[i], topology);
    entry_of_link.resize(topology.links.size(), i);
  }
  try {
    topology.validate();
  } catch (const core::FieldError& e) {
    core::Field field = e.field();
    if (!field.indices.empty()) field.indices.front() = entry_of_link[field.indices.front()];
    fields::Places places;
    formats::synthesis::add_places(places);
    throw places.located({field, e.problem_pattern(), e.hint_pattern()});
  }
  return topology;
}

SketchSwitch read_switch(JsonReader entry) {
  SketchSwitch read;
  for (const JsonReader& value : entry.child("nodes").elements()) read.nodes.push_back(node(value));
  read.policy =
      entry.child("connections")
          .choice<SwitchPolicy>({{"fewest", SwitchPolicy::kFewestConnections}, {"most", SwitchPolicy::kMaxConnections}});
  entry.finish();
  return read;
}

SynthesisSketch sketch_in(const Json& root) {
  JsonReader top(root);
  json::require_schema(top, "photonrail.sketch/1");
  SynthesisSketch sketch;
  auto links = top.optional("links");
  const auto switches = top.optional("switches");
  const auto symmetries = top.optional("symmetries");
  top.finish();
  if (links) {
    if (const auto v = links->optional("only")) sketch.only = pairs(*v);
    if (const auto v = links->optional("without")) sketch.without = pairs(*v);
    links->finish();
  }
  if (switches) {
    for (const JsonReader& entry : switches->elements()) sketch.switches.push_back(read_switch(entry));
  }
  if (symmetries) {
    for (JsonReader entry : symmetries->elements()) {
      SketchSymmetry symmetry;
      symmetry.offset = entry.child("offset").count(0, kMaxNodeNumber / 2);
      symmetry.group = entry.child("group").count(1, kMaxNodeNumber / 2);
      entry.finish();
      sketch.symmetries.push_back(symmetry);
    }
  }
  return sketch;
}

template <class Read>
auto from_file(const std::filesystem::path& file, const Read& read) {
  const Json root = json::parse_json(formats::read_file(file), file.string());
  try {
    return read(root);
  } catch (const ConfigError& e) {
    throw e.inside(file.string());
  }
}

}  // namespace

void formats::synthesis::add_places(fields::Places& places) {
  static constexpr fields::Alias kTopology[] = {{"nodes", "nodes"}, {"links", "links"}, {"links[]", "links/[]"}};
  static constexpr fields::Alias kSketch[] = {
      {"only[]", "links/only/[]"},  {"without[]", "links/without/[]"}, {"switches[].nodes", "switches/[]/nodes"},
      {"symmetries", "symmetries"}, {"symmetries[]", "symmetries/[]"}, {"symmetries[].group", "symmetries/[]/group"},
  };
  static constexpr fields::Section kTopologySection{{}, nullptr, kTopology};
  static constexpr fields::Section kSketchSection{{}, nullptr, kSketch};
  static constexpr fields::Section kNothing{};
  places.add("", "", nullptr, kTopologySection);
  places.add("sketch", "/links", nullptr, kNothing);
  places.add("sketch", "", nullptr, kSketchSection);
}

SynthesisTopology read_synthesis_topology(const std::filesystem::path& file) { return from_file(file, topology_in); }

SynthesisSketch read_synthesis_sketch(const std::filesystem::path& file) { return from_file(file, sketch_in); }

}  // namespace photonrail
