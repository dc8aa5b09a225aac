// photonrail.topology/1 and photonrail.sketch/1.
#include "formats/synthesis/topology_and_sketch.hpp"
#include "formats/input_file.hpp"
#include "json/file_kind.hpp"
#include "json/in_file.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"

#include <limits>

namespace photonrail {

namespace {

using fields::Field;
using fields::Reading;
using json::Json;
using json::JsonReader;
using synthesis::SketchSwitch;
using synthesis::SketchSymmetry;
using synthesis::SwitchPolicy;
using synthesis::SynthesisLink;
using synthesis::SynthesisSketch;
using synthesis::SynthesisTopology;

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

constexpr fields::Shape kNode = fields::whole_shape(0, kMaxNodeNumber);
constexpr fields::Shape kPair = fields::list_shape(kNode);
constexpr fields::Shape kPairs = fields::list_shape(kPair);

/// A line of "links": one link, or two that are the way there and back.
struct LinkEntry {
  SynthesisLink link{};
  bool both_ways = false;
};

template <auto... Path>
constexpr Field node_field(std::string_view key, std::string_view doc) {
  return fields::count<Path...>(key, 0, kMaxNodeNumber, doc).must();
}

constexpr Field kLinkFields[] = {
    node_field<&LinkEntry::link, &SynthesisLink::from>("from", "The node that sends."),
    node_field<&LinkEntry::link, &SynthesisLink::to>("to", "The node that receives; at most one link from one to another."),
    fields::rate<&LinkEntry::link, &SynthesisLink::rate>("gb_per_s", "Its rate.").must(),
    fields::time<&LinkEntry::link, &SynthesisLink::latency>("latency", "ns",
                                                            "A message holds the link for it and for its bytes.")
        .or_else("0"),
    fields::flag<&LinkEntry::both_ways>("both_ways", "Also the link back.").or_else("false"),
};
constexpr fields::Section kLink{kLinkFields};

/// A topology, and the line of the file that each of its links is of.
struct TopologyEntry {
  SynthesisTopology topology{};
  std::vector<std::size_t> line_of_link{};
};

void store_links(const Reading& at) {
  auto& entry = *static_cast<TopologyEntry*>(at.into);
  std::size_t line = 0;
  for (const JsonReader& element : at.value.elements()) {
    LinkEntry of;
    fields::read(element, kLink, &of);
    entry.topology.links.push_back(of.link);
    std::swap(of.link.from, of.link.to);
    if (of.both_ways) entry.topology.links.push_back(of.link);
    entry.line_of_link.resize(entry.topology.links.size(), line++);
  }
}

constexpr Field kTopologyFields[] = {
    fields::known("schema", fields::text_shape(), "`\"photonrail.topology/1\"`.").must(),
    fields::count<&TopologyEntry::topology, &SynthesisTopology::nodes>("nodes", 2, kMaxNodeNumber, "At most 4096.").must(),
    fields::count<&TopologyEntry::topology, &SynthesisTopology::send_ports>("send_ports", 1, kMaxPorts,
                                                                            "Messages that a node sends at a time.")
        .or_else("no limit"),
    fields::count<&TopologyEntry::topology, &SynthesisTopology::receive_ports>("receive_ports", 1, kMaxPorts,
                                                                               "Messages that a node receives at a time.")
        .or_else("no limit"),
    fields::own("links", fields::list_shape(fields::kObjectOf<kLink>), store_links, "The links.").must(),
};

SynthesisTopology topology_in(const Json& root) {
  JsonReader top(root);
  json::require_schema(top, "photonrail.topology/1");
  TopologyEntry entry;
  fields::read(top, formats::synthesis::kTopologySection, &entry);
  try {
    entry.topology.validate();
  } catch (const core::FieldError& e) {
    core::Field field = e.field();
    if (!field.indices.empty()) field.indices.front() = entry.line_of_link[field.indices.front()];
    fields::Places places;
    formats::synthesis::add_places(places);
    throw places.located({field, e.problem_pattern(), e.hint_pattern()});
  }
  return entry.topology;
}

constexpr fields::Word<SwitchPolicy> kConnections[] = {{"fewest", SwitchPolicy::kFewestConnections},
                                                       {"most", SwitchPolicy::kMaxConnections}};
constexpr Field kSketchSwitchFields[] = {
    fields::own(
        "nodes", fields::list_shape(kNode),
        [](const Reading& at) {
          for (const JsonReader& value : at.value.elements())
            static_cast<SketchSwitch*>(at.into)->nodes.push_back(node(value));
        },
        "Links among them are connections of one switch.")
        .must(),
    fields::word<kConnections, &SketchSwitch::policy>(
        "connections",
        "A connection that is in use goes before a new one, or after; with `fewest` a node opens another only when nothing "
        "else can move.")
        .must(),
};
constexpr fields::Section kSketchSwitch{kSketchSwitchFields};

constexpr Field kSymmetryFields[] = {
    fields::count<&SketchSymmetry::offset>("offset", 0, kMaxNodeNumber / 2,
                                           "The plan stays the same when node r of a group becomes r + offset.")
        .must(),
    fields::count<&SketchSymmetry::group>("group", 1, kMaxNodeNumber / 2,
                                          "Neighbours that the offset goes around; the links must have this symmetry too.")
        .must(),
};
constexpr fields::Section kSymmetry{kSymmetryFields};

constexpr Field kSketchLinkFields[] = {
    fields::own(
        "only", kPairs, [](const Reading& at) { static_cast<SynthesisSketch*>(at.into)->only = pairs(at.value); },
        "Pairs `[from, to]`: these links and no others.")
        .or_else("all"),
    fields::own(
        "without", kPairs, [](const Reading& at) { static_cast<SynthesisSketch*>(at.into)->without = pairs(at.value); },
        "Pairs `[from, to]`: not these.")
        .or_else("none"),
};
constexpr fields::Section kSketchLinks{kSketchLinkFields};

constexpr Field kSketchFields[] = {
    fields::known("schema", fields::text_shape(), "`\"photonrail.sketch/1\"`.").must(),
    fields::group<kSketchLinks>("links", "Links that the search may use."),
    fields::parts<kSketchSwitch, &SynthesisSketch::switches>("switches", "Links that are connections of a switch.")
        .or_else("none"),
    fields::parts<kSymmetry, &SynthesisSketch::symmetries>("symmetries", "What the plan does not change under.")
        .or_else("none"),
};

SynthesisSketch sketch_in(const Json& root) {
  JsonReader top(root);
  json::require_schema(top, "photonrail.sketch/1");
  SynthesisSketch sketch;
  fields::read(top, formats::synthesis::kSketchSection, &sketch);
  return sketch;
}

}  // namespace

namespace formats::synthesis {

constexpr fields::Section kTopologySection{kTopologyFields};
constexpr fields::Section kSketchSection{kSketchFields};

void add_places(fields::Places& places) {
  static constexpr fields::Section kNothing{};
  places.add("", "", nullptr, kTopologySection);
  places.add("sketch", "/links", nullptr, kNothing);
  places.add("sketch", "", nullptr, kSketchSection);
}

SynthesisTopology read_synthesis_topology(const std::filesystem::path& file) {
  return json::in_file(read_file(file), file.string(), topology_in);
}

SynthesisSketch read_synthesis_sketch(const std::filesystem::path& file) {
  return json::in_file(read_file(file), file.string(), sketch_in);
}

}  // namespace formats::synthesis

}  // namespace photonrail
