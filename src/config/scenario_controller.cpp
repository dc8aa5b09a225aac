// The "controller" section: its policy, and the keys of that policy.
#include "config/parameters.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/simulate.hpp"

#include <algorithm>
#include <deque>
#include <string_view>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;

constexpr Field kCircuitFields[] = {
    fields::count<&StaticCircuit::from>("from", 0, 4294967294.0, "The GPU that sends.").must(),
    fields::count<&StaticCircuit::to>("to", 0, 4294967294.0, "The GPU that receives.").must(),
    fields::count<&StaticCircuit::from_port>("from_port", 0, 4294967294.0, "A port of its NIC.").or_else("0"),
    fields::count<&StaticCircuit::to_port>("to_port", 0, 4294967294.0, "A port of its NIC.").or_else("0"),
};
constexpr Section kCircuit{kCircuitFields};
constexpr Field kCircuits = fields::parts<kCircuit, &ControllerSpec::circuits>("circuits", "The circuits that are lit.");

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

constexpr Field kRequiredCircuits[] = {kCircuits.must()};
constexpr Section kOwnCircuits{kRequiredCircuits};

// "circuits" too, where a policy takes them.
std::vector<Field> policy_fields(const Registries& known, std::deque<std::string>& texts) {
  ParameterFields all(texts);
  for (const ControllerFactory& factory : known.controllers.all()) {
    if (factory.takes_circuits) all.add(kCircuits.must(), factory.name, {});
    all.add(factory.parameters, factory.name);
  }
  return all.take();
}

std::vector<std::string> controller_words(const Registries& known) {
  std::vector<std::string> names;
  for (const ControllerFactory& factory : known.controllers.all()) names.push_back(factory.name);
  return names;
}

constexpr Field kControllerFields[] = {
    fields::known("name", fields::text_shape(controller_words),
                  "`photonrail list controllers`; `electrical` is for electrical rails, the others are for optical ones.")
        .must(),
    fields::include<kControlPlaneSection>().only_if("!name=electrical"),
};
constexpr Alias kControllerAliases[] = {{"circuits[]", "circuits/[]"},
                                        {"circuits[].from", "circuits/[]/from"},
                                        {"circuits[].from_port", "circuits/[]/from_port"},
                                        {"circuits[].to", "circuits/[]/to"},
                                        {"circuits[].to_port", "circuits/[]/to_port"},
                                        {"parameters.slot", "slot", "us"},
                                        {"parameters.*", "*"}};

}  // namespace

constexpr Section kControllerSection{kControllerFields, nullptr, kControllerAliases, policy_fields};

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
  if (factory.takes_circuits) fields::read_open(*section, kOwnCircuits, &spec);
  if (spec.name != kNoPolicy) read_control_plane(*section, directory, factory, spec);
  read_parameters(*section, factory.parameters, spec.parameters);
  section->finish();
  return spec;
}

}  // namespace photonrail::config
