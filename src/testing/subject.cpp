#include "photonrail/testing/laws.hpp"

#include "testing/setting_text.hpp"

#include <ostream>
#include <utility>

namespace photonrail::testing {

namespace {

ControllerSpec named(const std::string& name) {
  ControllerSpec spec;
  spec.name = name;
  return spec;
}

// Returns the default settings, and those with every word and flag of its own parameters once.
std::vector<ControllerSpec> settings_of(const ControllerFactory& factory) {
  std::vector<ControllerSpec> settings{named(factory.name)};
  for (const ControllerParameter& parameter : factory.parameters) {
    const auto add = [&](ParameterValue value) {
      if (value == parameter.initial) return;
      settings.push_back(named(factory.name));
      settings.back().parameters.set(parameter.key, std::move(value));
    };
    if (parameter.kind == ControllerParameter::Kind::kFlag) {
      add(0.0);
      add(1.0);
    }
    for (const std::string& word : parameter.words) add(word);
  }
  return settings;
}

void on_electrical_rails(Scenario& scenario) {
  scenario.cluster.rail = RailSpec{};
  scenario.controller = ControllerSpec{};
}

// A ring over each rail, so that each server reaches every other by forwarding.
void on_rings(Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  scenario.cluster.rail.forwarding = true;
  for (std::uint32_t gpu = 0; gpu < cluster.gpus(); ++gpu) {
    const std::uint32_t next = (gpu + cluster.gpus_per_server) % cluster.gpus();
    if (next != gpu) scenario.controller.circuits.push_back({GpuId{gpu}, GpuId{next}});
  }
}

}  // namespace

PolicyUnderTest::PolicyUnderTest(ControllerFactory policy) : PolicyUnderTest(policy, {named(policy.name)}) {}

PolicyUnderTest::PolicyUnderTest(ControllerFactory policy, std::vector<ControllerSpec> in_settings)
    : factory(std::move(policy)), settings(std::move(in_settings)) {}

std::vector<PolicyUnderTest> subjects_of(const ControllerRegistry& registry) {
  std::vector<PolicyUnderTest> subjects;
  for (const ControllerFactory& factory : registry.all()) {
    if (factory.bound) continue;  // no policy
    PolicyUnderTest& subject = subjects.emplace_back(factory, settings_of(factory));
    if (factory.name == kNoPolicy) subject.fit = on_electrical_rails;
    if (factory.takes_circuits) subject.fit = on_rings;
    if (factory.examine != nullptr) factory.examine(subject.settings);
  }
  return subjects;
}

Scenario under(const PolicyUnderTest& subject, const ControllerSpec& setting, Scenario scenario) {
  const ControllerSpec delays = std::exchange(scenario.controller, setting);
  scenario.controller.request = delays.request;
  scenario.controller.service = delays.service;
  scenario.controller.command = delays.command;
  scenario.controller.acknowledgement = delays.acknowledgement;
  if (subject.fit) subject.fit(scenario);
  return scenario;
}

std::ostream& operator<<(std::ostream& out, const PolicyUnderTest& subject) { return out << subject.factory.name; }

}  // namespace photonrail::testing
