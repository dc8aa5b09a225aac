// Controllers that tests write on the spot.
#pragma once

#include "photonrail/simulate.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace photonrail::test {

using Script = std::function<Decision(const FabricView&)>;

struct ScriptedRun {
  const Script* script = nullptr;
  PolicyNeeds needs;
};

/// The factory takes plain functions, so that the script of the run is found through here: one run at a time.
inline ScriptedRun& scripted_run() {
  thread_local ScriptedRun run;
  return run;
}

class Scripted : public Controller {
 public:
  explicit Scripted(const Script& script) : script_(script) {}
  Decision decide(const FabricView& view) override { return script_(view); }

 private:
  const Script& script_;
};

/// A scenario under a controller "scripted" with these needs.
inline RunResult run_scripted(const PolicyNeeds& needs, Scenario scenario, const Script& script) {
  Registries registries;
  ControllerFactory factory;
  factory.name = "scripted";
  factory.summary = "as the test says";
  factory.make = [](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<Controller> {
    return std::make_unique<Scripted>(*scripted_run().script);
  };
  factory.needs = [](const ControllerSpec&) { return scripted_run().needs; };
  registries.controllers.add(std::move(factory));
  scenario.controller.name = "scripted";
  scripted_run() = {&script, needs};
  return simulate(scenario, {}, registries);
}

inline RunResult run_scripted(Scenario scenario, const Script& script) {
  return run_scripted(PolicyNeeds{}, std::move(scenario), script);
}

}  // namespace photonrail::test
