// Questions to allocators, with what is expected of the answers.
#include "config/allocation/parts.hpp"
#include "config/scenario_parts.hpp"
#include "core/counted.hpp"
#include "json/file_text.hpp"

#include <algorithm>

namespace photonrail::config {

namespace {

using allocation::DecisionCase;
using allocation::Pod;
using allocation::PodSpec;
using allocation::RefusalReason;
using allocation::Shape;

/// Hexadecimal, the most significant bit first: accelerators in row-major order, 1 is idle.
Pod read_idle(const JsonReader& value, const PodSpec& spec) {
  Pod pod(spec);
  const std::string map = value.string();
  const std::size_t digits = (std::size_t{pod.size()} + 3) / 4;
  if (map.size() != digits) {
    value.fail("has " + core::counted(map.size(), "digit"), core::counted(digits, "hexadecimal digit"));
  }
  std::vector<std::uint32_t> busy;
  for (std::uint32_t a = 0; a < pod.size(); ++a) {
    const char c = map[a / 4];
    const auto digit = std::string_view("0123456789abcdef0123456789ABCDEF").find(c);
    if (digit == std::string_view::npos) value.fail(std::string("'") + c + "' is no hexadecimal digit");
    if ((digit % 16 >> (3 - a % 4) & 1U) == 0) busy.push_back(a);
  }
  pod.take(busy);
  return pod;
}

DecisionCase::Expected read_expected(JsonReader section, const Shape& torus) {
  DecisionCase::Expected expected;
  const bool admit = section.child("decision").choice<bool>({{"admit", true}, {"reject", false}});
  expected.placed = admit;
  // Simulators write a null where there is no reason, above all with what they admit.
  const Json* const reason = section.json().find("reason");
  if (reason != nullptr && (!admit || reason->is_null())) {
    const JsonReader value = section.child("reason");
    if (!reason->is_null()) {
      expected.refusal =
          value.choice<RefusalReason>({{"resource", RefusalReason::kResource}, {"shape", RefusalReason::kShape}});
    }
  }
  if (const auto v = section.optional("shape")) expected.shape = read_shape(*v);
  static_cast<void>(section.optional("nodes"));  // the size of the shape
  if (const auto places = section.optional("placement")) {
    for (const JsonReader& place : places->elements()) {
      allocation::Coordinates at{};
      const auto coordinates = place.elements();
      if (coordinates.size() != torus.dimensions) place.fail("has not the dimensions of the torus");
      for (std::size_t d = 0; d < coordinates.size(); ++d) at[d] = coordinates[d].count(0, torus[d] - 1);
      expected.accelerators.push_back(torus.index(at));
    }
    std::sort(expected.accelerators.begin(), expected.accelerators.end());
  }
  section.finish();
  return expected;
}

DecisionCase read_case(JsonReader section, const allocation::AllocatorRegistry& known) {
  DecisionCase one;
  if (const auto v = section.optional("id")) one.id = v->string();
  static_cast<void>(section.optional("origin"));
  PodSpec spec;
  spec.torus = read_shape(section.child("dims", "sides of the torus"));
  read_pod_parts(section, spec);
  const JsonReader policy = section.child("policy");
  one.policy = policy.string();
  if (one.policy != DecisionCase::kUnknownPolicy) one.policy = read_policy(policy, known, spec);
  const auto shape = section.optional("job_shape");
  const auto accelerators = section.optional("accelerators");
  if (shape.has_value() == accelerators.has_value()) section.fail("wants a job_shape or a number of accelerators");
  one.request = shape ? allocation::SliceRequest::box(read_shape(*shape, spec.torus))
                      : allocation::SliceRequest::count(accelerators->count(1, allocation::kMaxAccelerators));
  one.pod = read_idle(section.child("idle", "a hexadecimal map"), spec);
  if (const auto v = section.optional("idle_count"); v && v->count(0, one.pod.size()) != one.pod.idle_count()) {
    v->fail("is not what the map has: " + std::to_string(one.pod.idle_count()));
  }
  if (const auto v = section.optional("expect")) one.expected = read_expected(*v, spec.torus);
  section.finish();
  return one;
}

}  // namespace

std::vector<DecisionCase> read_decisions(const JsonReader& value, const std::filesystem::path& directory,
                                         const allocation::AllocatorRegistry& known) {
  std::vector<DecisionCase> cases;
  if (value.is_array()) {
    for (const JsonReader& entry : value.elements()) cases.push_back(read_case(entry, known));
    return cases;
  }
  JsonReader section = value;
  const std::filesystem::path file = read_path(section.child("file", "a file with \"cases\""), directory);
  section.finish();
  const Json root = parse_json(json::file_text(file), file.string());
  try {
    JsonReader top(root);
    for (const JsonReader& entry : top.child("cases").elements()) cases.push_back(read_case(entry, known));
  } catch (const ConfigError& e) {
    throw e.inside(file.string());
  }
  return cases;
}

}  // namespace photonrail::config
