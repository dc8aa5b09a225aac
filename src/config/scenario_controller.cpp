// The "controller" section: its policy, and the keys of that policy.
#include "config/scenario_parts.hpp"
#include "photonrail/controller.hpp"

#include <algorithm>
#include <limits>
#include <map>

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

// A key of other controllers is refused by name, rather than called unknown.
void refuse_elsewhere(const JsonReader& section, const ControllerFactory& factory, const ControllerRegistry& known) {
  std::map<std::string, std::string> owners;  // of keys that this one has not
  for (const ControllerFactory& other : known.all()) {
    const auto add = [&](const std::string& key) {
      std::string& names = owners[key];
      names += (names.empty() ? "" : ", ") + other.name;
    };
    if (other.takes_circuits && !factory.takes_circuits) add("circuits");
    for (const ControllerParameter& parameter : other.parameters) {
      if (factory.has(parameter.key)) continue;
      if (parameter.kind != ControllerParameter::Kind::kDuration) {
        add(parameter.key);
        continue;
      }
      for (const char* unit : {"_ps", "_ns", "_us", "_ms", "_s"}) add(parameter.key + unit);
    }
  }
  for (const auto& [key, names] : owners) {
    section.refuse(key, "the " + factory.name + " controller has no such key",
                   "only " + names + (names.find(',') == std::string::npos ? " has it" : " have it"));
  }
}

// For a hint: the first that decides something and takes no list of circuits.
std::string example(const ControllerRegistry& known) {
  for (const ControllerFactory& factory : known.all()) {
    if (factory.name != kNoPolicy && !factory.takes_circuits) return "for example {\"name\": \"" + factory.name + "\"}";
  }
  return "its name";
}

std::string word_of(const JsonReader& reader, const std::vector<std::string>& words) {
  const std::string word = reader.string();
  if (std::find(words.begin(), words.end(), word) == words.end()) {
    reader.fail("unknown value \"" + word + '"', suggest(word, words));
  }
  return word;
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
      value = word_of(*v, parameter.words);
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
