// Controllers that tests write on the spot.
#pragma once

#include "photonrail/simulate.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace photonrail::test {

using Script = std::function<Decision(const FabricView&)>;

/// The factory takes a plain function, so that the script of the run is found through a pointer: one run at a time.
inline const Script*& script_of_run() {
  thread_local const Script* script = nullptr;
  return script;
}

class Scripted : public Controller {
 public:
  explicit Scripted(const Script& script) : script_(script) {}
  Decision decide(const FabricView& view) override { return script_(view); }

 private:
  const Script& script_;
};

/// A scenario under a controller "scripted" with these needs.
template <PolicyNeeds kNeeds = PolicyNeeds{}>
RunResult run_scripted(Scenario scenario, const Script& script) {
  Registries registries;
  ControllerFactory factory;
  factory.name = "scripted";
  factory.summary = "as the test says";
  factory.make = [](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<Controller> {
    return std::make_unique<Scripted>(*script_of_run());
  };
  factory.needs = [](const ControllerSpec&) { return kNeeds; };
  registries.controllers.add(std::move(factory));
  scenario.controller.name = "scripted";
  script_of_run() = &script;
  return simulate(scenario, {}, registries);
}

}  // namespace photonrail::test
