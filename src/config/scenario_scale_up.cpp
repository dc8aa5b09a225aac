// The "scale_up" section of "cluster": a crossbar, or the links of a torus or a ring.
#include "config/scenario_parts.hpp"
#include "photonrail/collective/scale_up.hpp"

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

// What large messages of a measured fabric reach: the rate and the step of the protocol that moves whole chunks.
ScaleUpSpec measured_scale_up(std::string_view name) {
  const ProtocolCost& simple = scale_up_fabric(name).simple;
  return {Bandwidth::from_gb_per_s(1e3 / simple.us_per_megabyte), from_seconds(simple.step_us * 1e-6)};
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
    return;
  }
  if (const auto v = section.optional("preset")) spec = v->lookup(measured_scale_up);
  if (const auto v = section.optional("gb_per_s")) spec.per_gpu = v->bandwidth();
  section.read_duration("latency", spec.latency);
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
