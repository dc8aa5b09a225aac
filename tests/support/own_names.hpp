// A controller and a collective that the library does not know, as a user would bring them.
#pragma once

#include "photonrail/simulate.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace photonrail::test {

/// Lights the circuits of the first request that blocks its members, once, `hold` after that request.
class LightsOnce : public Controller {
 public:
  explicit LightsOnce(Duration hold) : hold_(hold) {}

  Decision decide(const FabricView& view) override {
    if (lit_ || view.requests.empty() || !view.requests.front().blocking) return std::nullopt;
    lit_ = true;
    Step step{.when = When::kAt, .at = view.now + hold_};
    for (const ServerPair& pair : view.requests.front().pairs) {
      step.plan.connect.push_back({view.port(pair.from, 0), view.port(pair.to, 0)});
    }
    return step;
  }

 private:
  Duration hold_;
  bool lit_ = false;
};

/// A ring under another name.
class OwnRing : public CollectiveAlgorithm {
 public:
  std::string_view name() const override { return "own_ring"; }
  std::string_view summary() const override { return "a ring of the caller"; }
  bool supports(CollectiveOp op, Member) const override { return op == CollectiveOp::kAllReduce; }
  std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    return CollectiveRegistry::builtin().find("ring").expand(call);
  }
};

/// The built-in names, "lights_once" with its key hold_us, and "own_ring".
inline Registries own_names() {
  Registries known;
  known.controllers.add({.name = "lights_once",
                         .summary = "circuits of the first request, lit once",
                         .make = [](const ControllerSpec& spec, auto&&...) -> std::unique_ptr<Controller> {
                           return std::make_unique<LightsOnce>(spec.parameters.duration("hold"));
                         },
                         .parameters = {ControllerParameter::duration("hold", {}, "from the request to the switch")}});
  known.collectives.add(std::make_unique<OwnRing>());
  return known;
}

}  // namespace photonrail::test
