#include "photonrail/testing/policy_kit.hpp"

#include <memory>
#include <string>
#include <utility>

namespace photonrail::testing {

namespace {

// A port of the position whose fibre `taken` says nothing about; the first when there is none.
template <class Taken>
PortId free_port(const FabricView& view, ServerIndex position, Taken&& taken) {
  for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) {
    if (!taken(view.port(position, p))) return view.port(position, p);
  }
  return view.port(position, 0);
}

CircuitPlan circuits_for(const FabricView& view, const std::vector<ServerPair>& pairs) {
  CircuitPlan plan;
  for (const ServerPair pair : pairs) {
    const auto named = [&](PortId Circuit::*end, PortId port) {
      for (const Circuit& circuit : plan.connect) {
        if (circuit.*end == port) return true;
      }
      return false;
    };
    const PortId from = free_port(view, pair.from, [&](PortId port) {
      return !view.transmit[port.index()].peer.is_none() || named(&Circuit::from, port);
    });
    const PortId to = free_port(
        view, pair.to, [&](PortId port) { return !view.receive[port.index()].is_none() || named(&Circuit::to, port); });
    plan.connect.push_back({from, to});
  }
  return plan;
}

}  // namespace

ScriptedController& ScriptedController::connect_at(Time at, std::vector<ServerPair> pairs) {
  lines_.push_back({at, [pairs = std::move(pairs)](const FabricView& view) { return circuits_for(view, pairs); }});
  return *this;
}

ScriptedController& ScriptedController::disconnect(std::vector<ServerPair> pairs) {
  return answer([pairs = std::move(pairs)](const FabricView& view) {
    CircuitPlan plan;
    for (const ServerPair pair : pairs) {
      for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) {
        const PortId peer = view.transmit[view.port(pair.from, p).index()].peer;
        if (!peer.is_none() && view.position(peer) == pair.to) plan.disconnect.push_back(view.port(pair.from, p));
      }
    }
    return plan;
  });
}

ScriptedController& ScriptedController::keep() {
  return answer([](const FabricView&) { return Decision{}; });
}

ScriptedController& ScriptedController::answer(std::function<Decision(const FabricView&)> line) {
  lines_.push_back({Time{}, std::move(line)});
  return *this;
}

Decision ScriptedController::decide(const FabricView& view) {
  Decision decision;
  if (next_ < lines_.size() && lines_[next_].from <= view.now) decision = lines_[next_++].answer(view);
  if (!decision.ask_again && next_ < lines_.size() && lines_[next_].from > view.now)
    decision.ask_again = lines_[next_].from;
  return decision;
}

ControllerFactory ScriptedController::factory(std::string name) const {
  const auto make = [script = *this](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) {
    return std::make_unique<ScriptedController>(script);
  };
  return {.name = std::move(name), .summary = "answers from a script", .make = make};
}

}  // namespace photonrail::testing
