// The "scale_up" section of "cluster": a crossbar, or the links of a torus or a ring.
#include "config/scenario_parts.hpp"
#include "photonrail/collective/scale_up.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace photonrail::config {

namespace {

constexpr std::uint32_t kMaxSide = 65'536;

std::vector<bool> read_wrap(const JsonReader& value, std::size_t sides) {
  if (!value.is_array()) return std::vector<bool>(sides, value.boolean());
  std::vector<bool> wraps;
  for (const JsonReader& one : value.elements()) wraps.push_back(one.boolean());
  return wraps;
}

void read_torus(JsonReader section, ScaleUpSpec& spec) {
  ScaleUpShape& shape = spec.shape;
  shape.kind = ScaleUpShape::Kind::kTorus;
  for (const JsonReader& side : section.child("sides", "[4, 4, 4]: they multiply to \"gpus_per_server\"").elements()) {
    shape.sides.push_back(side.count(1, kMaxSide));
  }
  const auto wrap = section.optional("wrap");
  shape.wraps = wrap ? read_wrap(*wrap, shape.sides.size()) : std::vector<bool>(shape.sides.size(), true);
  if (const auto v = section.optional("twisted")) shape.twisted = v->boolean();
  if (const auto v = section.optional("cube")) shape.block = v->count(1, kMaxSide);
  if (const auto v = section.optional("rail_rings")) shape.rail_rings = v->boolean();
  section.read_duration("face_latency", spec.face_latency);
  if (shape.block == 0 && spec.face_latency != Duration{}) {
    section.fail("\"face_latency\" is of the links between cubes", "give the side of one: \"cube\": 4");
  }
  section.finish();
}

ScaleUpLine line_of(const ProtocolCost& cost) {
  return {from_seconds(cost.step_us * 1e-6), Bandwidth::from_gb_per_s(1e3 / cost.us_per_megabyte)};
}

// What large messages of a measured fabric reach: the rate and the step of the protocol that moves whole chunks.
ScaleUpSpec measured_scale_up(std::string_view name) {
  const ScaleUpLine simple = line_of(scale_up_fabric(name).simple);
  return {simple.rate, simple.step};
}

// The protocols of its rings, and the launch of the one for small messages.
void add_measured_lines(std::string_view name, ScaleUpSpec& spec) {
  const ScaleUpFabric& fabric = scale_up_fabric(name);
  for (const ProtocolCost* cost : {&fabric.ll, &fabric.ll128, &fabric.simple}) {
    if (!cost->exists()) continue;
    spec.lines.push_back(line_of(*cost));
    spec.lines.back().rate = std::min(spec.lines.back().rate, spec.per_gpu);
  }
  spec.latency = from_seconds(fabric.ll.launch_us * 1e-6);
}

std::vector<ScaleUpLine> read_curve(const JsonReader& list) {
  std::vector<ScaleUpLine> lines;
  for (JsonReader item : list.elements()) {
    ScaleUpLine line;
    item.read_duration("step", line.step);
    line.rate = item.child("gb_per_s").bandwidth();
    item.finish();
    lines.push_back(line);
  }
  return lines;
}

// "flat", "measured" (of a preset; the default where nothing else is said), or the protocols themselves.
void read_curve_choice(JsonReader& section, const std::optional<std::string>& preset, bool own, ScaleUpSpec& spec) {
  const auto curve = section.optional("curve");
  if (curve && curve->is_array()) {
    spec.lines = read_curve(*curve);
    return;
  }
  const bool measured = curve ? curve->choice<bool>({{"measured", true}, {"flat", false}}) : preset.has_value() && !own;
  if (!measured) return;
  if (!preset || own) {
    curve->fail("there is no measured fabric with a rate or a latency of the file's own",
                "name one with \"preset\" and leave these out, or give the protocols");
  }
  add_measured_lines(*preset, spec);
}

void read_ring(JsonReader section, ScaleUpShape& shape) {
  shape.kind = ScaleUpShape::Kind::kRing;
  if (const auto v = section.optional("reach")) shape.reach = v->count(1, 64);
  if (const auto list = section.optional("bypassed")) {
    for (const JsonReader& gpu : list->elements()) shape.bypassed.push_back(gpu.count(0, kMaxSide - 1));
  }
  section.finish();
}

ScaleUpFault read_link_fault(JsonReader section) {
  constexpr std::uint32_t kMaxNumber = 1'000'000'000;
  ScaleUpFault fault;
  if (const auto v = section.optional("server")) fault.server = v->count(0, kMaxNumber);
  if (const auto v = section.optional("gpu")) fault.gpu = v->count(0, kMaxNumber);
  if (const auto v = section.optional("to")) {
    fault.to = v->count(0, kMaxNumber);
    if (!fault.gpu) v->fail("a link has two ends", "give the other one: \"gpu\"");
  }
  if (auto optical = section.optional("switch")) {
    fault.dimension = optical->child("dimension", "0, 1 or 2").count(0, 2);
    for (const JsonReader& place : optical->child("at", "the place on the face: [0, 3]").elements()) {
      fault.position.push_back(place.count(0, kMaxNumber));
    }
    optical->finish();
  }
  if (fault.gpu.has_value() == fault.dimension.has_value()) {
    section.fail("a fault is of a GPU's links or of an optical switch", "\"gpu\" (with \"to\" for one link) or \"switch\"");
  }
  if (const auto v = section.optional("rate")) fault.rate = v->number(0.0, 1.0);
  section.read_time("at", fault.at, "ms");
  fault.lasts = section.duration("lasts", "ms");
  section.finish();
  return fault;
}

}  // namespace

void read_scale_up(JsonReader section, ScaleUpSpec& spec) {
  if (section.is_string()) {
    spec = section.lookup(measured_scale_up);
    add_measured_lines(section.string(), spec);
    return;
  }
  std::optional<std::string> preset;
  if (const auto v = section.optional("preset")) {
    spec = v->lookup(measured_scale_up);
    preset = v->string();
  }
  const auto own_rate = section.optional("gb_per_s");
  if (own_rate) spec.per_gpu = own_rate->bandwidth();
  const Duration measured = spec.latency;
  section.read_duration("latency", spec.latency);
  const bool own = own_rate || spec.latency != measured || section.has("torus") || section.has("ring");
  read_curve_choice(section, preset, own, spec);
  const auto torus = section.optional("torus");
  const auto ring = section.optional("ring");
  if (torus && ring) section.fail("\"torus\" and \"ring\" exclude each other", "keep one of them");
  if (torus) read_torus(*torus, spec);
  if (ring) read_ring(*ring, spec.shape);
  if (const auto v = section.optional("pooled")) {
    spec.shape.pooled = v->boolean();
    if (!torus && !ring) v->fail("a crossbar has one port a GPU and nothing to divide", "give \"torus\" or \"ring\"");
  }
  if (const auto list = section.optional("faults")) {
    for (const JsonReader& fault : list->elements()) spec.faults.push_back(read_link_fault(fault));
    if (!torus && !ring) list->fail("a crossbar has no links between GPUs", "give \"torus\" or \"ring\"");
  }
  section.finish();
}

}  // namespace photonrail::config
