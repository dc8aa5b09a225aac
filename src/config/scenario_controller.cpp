// The "controller" section: its policy, and the keys of that policy.
#include "config/scenario_parts.hpp"
#include "photonrail/controller.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace photonrail::config {

namespace {

constexpr std::uint32_t kMaxGpus = std::numeric_limits<std::uint32_t>::max() - 1;

std::vector<StaticCircuit> read_circuits(const JsonReader& list) {
  std::vector<StaticCircuit> circuits;
  for (JsonReader entry : list.elements()) {
    StaticCircuit circuit;
    circuit.from = GpuId{entry.child("from").count(0, kMaxGpus)};
    circuit.to = GpuId{entry.child("to").count(0, kMaxGpus)};
    if (const auto v = entry.optional("from_port")) circuit.from_port = v->count(0, kMaxGpus);
    if (const auto v = entry.optional("to_port")) circuit.to_port = v->count(0, kMaxGpus);
    entry.finish();
    circuits.push_back(circuit);
  }
  return circuits;
}

bool has_key(const ControllerFactory& factory, std::string_view key) {
  if (key == "circuits") return factory.takes_circuits;
  const std::string_view stem = json::stem_of_duration(key);
  return std::any_of(factory.parameters.begin(), factory.parameters.end(), [&](const ControllerParameter& parameter) {
    return parameter.key == (parameter.kind == ControllerParameter::Kind::kDuration ? stem : key);
  });
}

// A key of other controllers is refused by name, rather than called unknown.
void refuse_elsewhere(const JsonReader& section, const ControllerFactory& factory, const ControllerRegistry& known) {
  for (const auto& [key, value] : section.json().members()) {
    if (has_key(factory, key)) continue;
    std::vector<std::string> owners;
    for (const ControllerFactory& other : known.all()) {
      if (has_key(other, key)) owners.push_back(other.name);
    }
    if (owners.empty()) continue;
    std::string names = owners.front();
    for (std::size_t i = 1; i < owners.size(); ++i) names += ", " + owners[i];
    section.refuse(key, "the " + factory.name + " controller has no such key",
                   "only " + names + (owners.size() == 1 ? " has it" : " have it"));
  }
}

// For a hint.
std::string example(const ControllerRegistry& known) {
  const ControllerFactory* factory = known.first_that_decides();
  return factory == nullptr ? "its name" : "for example {\"name\": \"" + factory->name + "\"}";
}

// The keys that the policy has of its own.
void read_parameters(JsonReader& section, const ControllerFactory& factory, ControllerSpec& spec) {
  using enum ControllerParameter::Kind;
  for (const ControllerParameter& parameter : factory.parameters) {
    if (parameter.kind == kDuration) {
      Duration time = std::get<Duration>(parameter.initial);
      section.read_duration(parameter.key, time, "us");
      spec.parameters.set(parameter.key, time);
      continue;
    }
    const auto v = section.optional(parameter.key);
    if (!v) continue;
    ParameterValue value;
    if (parameter.kind == kWord) {
      value = v->word(parameter.words);
    } else if (parameter.kind == kFlag) {
      value = v->boolean() ? 1.0 : 0.0;
    } else {
      value = v->number_of_range(parameter.least, parameter.greatest, parameter.kind == kCount);
    }
    if (const std::string problem = parameter.problem(value); !problem.empty()) v->fail(problem, parameter.summary);
    spec.parameters.set(parameter.key, std::move(value));
  }
}

}  // namespace

ControllerSpec read_controller(std::optional<JsonReader> section, RailKind rails, const std::filesystem::path& directory,
                               const ControllerRegistry& known) {
  ControllerSpec spec;
  if (!section) {
    if (rails == RailKind::kElectrical) return spec;
    throw ConfigError("/controller", "missing: optical rails need a controller", example(known));
  }
  const JsonReader name = section->child("name");
  spec.name = name.lookup([&](const std::string& word) { return known.find(word).name; });
  const ControllerFactory& factory = known.find(spec.name);
  refuse_elsewhere(*section, factory, known);
  if (factory.takes_circuits) spec.circuits = read_circuits(section->child("circuits"));
  if (spec.name != kNoPolicy) read_control_plane(*section, directory, factory, spec);
  read_parameters(*section, factory, spec);
  section->finish();
  return spec;
}

}  // namespace photonrail::config
