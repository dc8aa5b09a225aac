// The "scale_up" section of "cluster": a crossbar, or the links of a torus or a ring.
#include "collective/scale_up.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;

constexpr std::uint32_t kMaxSide = 65'536;

// Numbers of an array, in the range of its elements.
std::vector<std::uint32_t> counts_of(const Reading& at) {
  const Shape& element = *at.field.shape.element;
  std::vector<std::uint32_t> counts;
  for (const JsonReader& value : at.value.elements()) {
    counts.push_back(value.count(static_cast<std::uint32_t>(element.least), static_cast<std::uint32_t>(element.greatest)));
  }
  return counts;
}

std::vector<bool> read_wrap(const JsonReader& value, std::size_t sides) {
  if (!value.is_array()) return std::vector<bool>(sides, value.boolean());
  std::vector<bool> wraps;
  for (const JsonReader& one : value.elements()) wraps.push_back(one.boolean());
  return wraps;
}

constexpr Shape kSide = fields::whole_shape(1, kMaxSide);
constexpr Shape kFlag = fields::flag_shape();
constexpr Field kTorusFields[] = {
    fields::own(
        "sides", fields::list_shape(kSide),
        [](const Reading& at) {
          ScaleUpShape& shape = into<ScaleUpSpec>(at).shape;
          shape.sides = counts_of(at);
          if (!at.section.has("wrap")) shape.wraps.assign(shape.sides.size(), true);
        },
        "One to three sides, which multiply to `gpus_per_server`; GPUs are in row-major order.")
        .by("shape.sides")
        .must("[4, 4, 4]: they multiply to \"gpus_per_server\""),
    fields::own(
        "wrap", fields::either(fields::list_shape(kFlag), kFlag),
        [](const Reading& at) {
          ScaleUpShape& shape = into<ScaleUpSpec>(at).shape;
          shape.wraps = read_wrap(at.value, shape.sides.size());
        },
        "Which sides are closed.")
        .by("shape.wraps")
        .or_else("true"),
    fields::flag<&ScaleUpSpec::shape, &ScaleUpShape::twisted>(
        "twisted",
        "Sides k, k, 2k or k, 2k, 2k, k from 3 on: the links that close a side k are shifted by k along each side of 2k.")
        .by("shape.twisted")
        .or_else("false"),
    fields::count<&ScaleUpSpec::shape, &ScaleUpShape::block>(
        "cube", 1, kMaxSide, "Side of a cube: links between cubes, and those that close a side, are optical circuits.")
        .by("shape.block")
        .or_else("no cubes"),
    fields::flag<&ScaleUpSpec::shape, &ScaleUpShape::rail_rings>(
        "rail_rings",
        "Two sides, a `cube`, 1 or an odd number of cubes a side: each rail of a row or column of cubes is a ring of its "
        "own.")
        .by("shape.rail_rings")
        .or_else("false"),
    fields::time<&ScaleUpSpec::face_latency>("face_latency", "ns", "Added for each link between cubes.").or_else("0"),
};

void check_torus(const Reading& at) {
  const auto& spec = into<ScaleUpSpec>(at);
  if (spec.shape.block == 0 && spec.face_latency != Duration{}) {
    at.section.fail("\"face_latency\" is of the links between cubes", "give the side of one: \"cube\": 4");
  }
}

constexpr Section kTorus{kTorusFields, check_torus};

constexpr Shape kLinkLocalIndex = fields::whole_shape(0, kMaxSide - 1);
constexpr Field kRingFields[] = {
    fields::count<&ScaleUpSpec::shape, &ScaleUpShape::reach>("reach", 1, 64, "Fibres to this many next GPUs on both sides.")
        .by("shape.reach")
        .or_else("2"),
    fields::own(
        "bypassed", fields::list_shape(kLinkLocalIndex),
        [](const Reading& at) { into<ScaleUpSpec>(at).shape.bypassed = counts_of(at); },
        "GPUs that the ring skips; less than `reach` in a row, or one longer row, which leaves a line.")
        .by("shape.bypassed")
        .or_else("none"),
};
constexpr Section kRing{kRingFields};

constexpr Field kCurveFields[] = {
    fields::time<&ScaleUpLine::step>("step", "ns", "What a message of any size takes.").or_else("0"),
    fields::rate<&ScaleUpLine::rate>("gb_per_s", "What its bytes have.").by("rate").must(),
};
constexpr Section kCurve{kCurveFields};
constexpr Shape kCurveElement = fields::object_shape(kCurve);

constexpr double kMaxLinkNumber = 1e9;
constexpr Shape kPosition = fields::whole_shape(0, kMaxLinkNumber);
constexpr Field kFaceSwitchFields[] = {
    fields::count<&ScaleUpFault::dimension>("dimension", 0, 2, "The dimension of the faces.").must("0, 1 or 2"),
    fields::own(
        "at", fields::list_shape(kPosition), [](const Reading& at) { into<ScaleUpFault>(at).position = counts_of(at); },
        "The place of the face, the other dimensions in order.")
        .by("position")
        .must("the place on the face: [0, 3]"),
};
constexpr Section kFaceSwitch{kFaceSwitchFields};

void check_fault(const Reading& at) {
  const auto& fault = into<ScaleUpFault>(at);
  if (fault.gpu.has_value() != fault.dimension.has_value()) return;
  at.section.fail("a fault is of a GPU's links or of an optical switch",
                  "\"gpu\" (with \"to\" for one link) or \"switch\"");
}

constexpr Field kLinkFaultFields[] = {
    fields::count<&ScaleUpFault::server>("server", 0, kMaxLinkNumber, "The server.").or_else("every server"),
    fields::count<&ScaleUpFault::gpu>("gpu", 0, kMaxLinkNumber, "The GPU all of whose links fail, by its local index.")
        .or_else("of `gpu` and `switch` one is needed"),
    fields::own(
        "to", kPosition,
        [](const Reading& at) {
          auto& fault = into<ScaleUpFault>(at);
          fault.to = static_cast<std::uint32_t>(whole_of(at));
          if (!fault.gpu) at.value.fail("a link has two ends", "give the other one: \"gpu\"");
        },
        "The neighbour of `gpu` to which the link fails, in both directions.")
        .or_else("all"),
    fields::group<kFaceSwitch>("switch", "With `cube`: an optical switch of the faces of one dimension.").by("dimension"),
    fields::then(check_fault),
    fields::number<&ScaleUpFault::rate>("rate", 0.0, 1.0, "Of their rate that the links keep; below 1, and 0: they fail.")
        .or_else("0"),
    fields::time<&ScaleUpFault::at>("at", "ms", "When it begins.").or_else("0"),
    fields::time<&ScaleUpFault::lasts>("lasts", "ms", "How long it lasts.").or_else("to the end"),
};

constexpr Alias kFaultAliases[] = {{"position", "switch"}};
constexpr Section kLinkFault{kLinkFaultFields, nullptr, kFaultAliases};

ScaleUpLine line_of(const collective::ProtocolCost& cost) {
  return {from_seconds(cost.step_us * 1e-6), Bandwidth::from_gb_per_s(1e3 / cost.us_per_megabyte)};
}

// What large messages of a measured fabric reach: the rate and the step of the protocol that moves whole chunks.
ScaleUpSpec measured_scale_up(std::string_view name) {
  const ScaleUpLine simple = line_of(collective::scale_up_fabric(name).simple);
  return {simple.rate, simple.step};
}

// The protocols of its rings, and the launch of the one for small messages.
void add_measured_lines(std::string_view name, ScaleUpSpec& spec) {
  const collective::ScaleUpFabric& fabric = collective::scale_up_fabric(name);
  for (const collective::ProtocolCost* cost : {&fabric.ll, &fabric.ll128, &fabric.simple}) {
    if (!cost->exists()) continue;
    spec.lines.push_back(line_of(*cost));
    spec.lines.back().rate = std::min(spec.lines.back().rate, spec.per_gpu);
  }
  spec.latency = from_seconds(fabric.ll.launch_us * 1e-6);
}

// The measured fabric whose rate and latency stand; nothing where the file has its own.
std::optional<std::string> measured_fabric(const JsonReader& section, const ScaleUpSpec& spec) {
  const Json* const preset = section.json().find("preset");
  if (preset == nullptr || section.has("gb_per_s") || section.has("torus") || section.has("ring")) return std::nullopt;
  if (spec.latency != measured_scale_up(preset->string()).latency) return std::nullopt;
  return preset->string();
}

constexpr Word<bool> kCurveWords[] = {{"measured", true}, {"flat", false}};

// "flat", "measured", or the protocols themselves.
void store_curve(const Reading& at) {
  auto& spec = into<ScaleUpSpec>(at);
  if (at.value.is_array()) {
    for (const JsonReader& line : at.value.elements()) fields::read(line, kCurve, &spec.lines.emplace_back());
    return;
  }
  if (!fields::meaning<kCurveWords>(at.value)) return;
  const auto measured = measured_fabric(at.section, spec);
  if (!measured) {
    at.value.fail("there is no measured fabric with a rate or a latency of the file's own",
                  "name one with \"preset\" and leave these out, or give the protocols");
  }
  add_measured_lines(*measured, spec);
}

void need_links(const Reading& at, const char* problem) {
  if (!at.section.has("torus") && !at.section.has("ring")) at.value.fail(problem, "give \"torus\" or \"ring\"");
}

constexpr Shape kCurveName = fields::text_shape(fields::words_of<kCurveWords>);
constexpr Shape kFaultElement = fields::object_shape(kLinkFault);

constexpr Field kScaleUpFields[] = {
    fields::own(
        "preset", kScaleUpName, [](const Reading& at) { into<ScaleUpSpec>(at) = at.value.lookup(measured_scale_up); },
        "A measured fabric whose values the other keys change.")
        .or_else("none"),
    fields::rate<&ScaleUpSpec::per_gpu>("gb_per_s", "Per GPU; with `torus` or `ring` per link.")
        .by("per_gpu")
        .or_else("450"),
    fields::time<&ScaleUpSpec::latency>("latency", "ns", "GPU to GPU; with `torus` or `ring` of each link on the way.")
        .or_else("0"),
    fields::own("curve", fields::either(fields::list_shape(kCurveElement), kCurveName), store_curve,
                "Crossbar: a message takes the protocol that is fastest for its size, step + bytes / rate, and `latency`, "
                "then the launch, is of an exchange's first messages alone; `\"flat\"`: `latency` for every size.")
        .by("lines")
        .or_else("`\"measured\"` with a preset whose rate and latency stand, else `\"flat\"`"),
    fields::own(
        "torus", fields::object_shape(kTorus),
        [](const Reading& at) {
          if (at.section.has("ring")) at.section.fail("\"torus\" and \"ring\" exclude each other", "keep one of them");
          into<ScaleUpSpec>(at).shape.kind = ScaleUpShape::Kind::kTorus;
          fields::read(at.value, kTorus, at.into);
        },
        "Links between neighbours.")
        .by(".")
        .or_else("a crossbar"),
    fields::own(
        "ring", fields::object_shape(kRing),
        [](const Reading& at) {
          into<ScaleUpSpec>(at).shape.kind = ScaleUpShape::Kind::kRing;
          fields::read(at.value, kRing, at.into);
        },
        "A ring of the GPUs of a server, not with `torus`.")
        .by(".")
        .or_else("a crossbar"),
    fields::own(
        "pooled", fields::flag_shape(),
        [](const Reading& at) {
          into<ScaleUpSpec>(at).shape.pooled = at.value.boolean();
          need_links(at, "a crossbar has one port a GPU and nothing to divide");
        },
        "`gb_per_s` is all egress of a GPU, divided over the links that it has.")
        .or_else("false"),
    fields::own(
        "faults", fields::list_shape(kFaultElement),
        [](const Reading& at) {
          auto& faults = into<ScaleUpSpec>(at).faults;
          for (const JsonReader& fault : at.value.elements()) fields::read(fault, kLinkFault, &faults.emplace_back());
          need_links(at, "a crossbar has no links between GPUs");
        },
        "With `torus` or `ring`: links that fail, or are slow.")
        .or_else("none"),
};

// Without "curve" a preset whose values stand has its measured protocols.
void check_scale_up(const Reading& at) {
  auto& spec = into<ScaleUpSpec>(at);
  if (at.section.has("curve")) return;
  if (const auto measured = measured_fabric(at.section, spec)) add_measured_lines(*measured, spec);
}

constexpr Alias kScaleUpAliases[] = {{"shape", ""}};

}  // namespace

constexpr Section kScaleUpSection{kScaleUpFields, check_scale_up, kScaleUpAliases};

std::vector<std::string> scale_up_words(const Registries& /*known*/) {
  std::vector<std::string> words;
  for (const collective::ScaleUpFabric& fabric : collective::scale_up_fabrics()) words.emplace_back(fabric.name);
  return words;
}

void read_scale_up(JsonReader section, ScaleUpSpec& spec) {
  if (section.is_string()) {
    spec = section.lookup(measured_scale_up);
    add_measured_lines(section.string(), spec);
    return;
  }
  fields::read(std::move(section), kScaleUpSection, &spec);
}

}  // namespace photonrail::config
