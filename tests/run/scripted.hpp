// Controllers that tests write on the spot.
#pragma once

#include "photonrail/simulate.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace photonrail::test {

using Script = std::function<Decision(const FabricView&)>;

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
  registries.controllers.add({.name = "scripted",
                              .summary = "as the test says",
                              .make = [&script](auto&&...) { return std::make_unique<Scripted>(script); },
                              .needs = [needs](const ControllerSpec&) { return needs; }});
  scenario.controller.name = "scripted";
  return simulate(scenario, {}, registries);
}

inline RunResult run_scripted(Scenario scenario, const Script& script) {
  return run_scripted(PolicyNeeds{}, std::move(scenario), script);
}

}  // namespace photonrail::test
