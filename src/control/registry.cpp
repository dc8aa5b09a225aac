#include "control/builtin.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

namespace {

// The claims that each policy keeps in the worlds of tests/worlds; docs/policies.md lists which policy breaks which claim.
PolicyClaims claims_of(std::string_view policy) {
  struct Row {
    std::string_view policy;
    PolicyClaims claims;
  };
  static constexpr bool kYes = true;
  static constexpr bool kNo = false;
  static constexpr Row kRows[] = {{"electrical", {kYes, kYes, kYes, kYes}}, {"opus", {kYes, kNo, kYes, kYes}}};
  for (const Row& row : kRows) {
    if (row.policy == policy) return row.claims;
  }
  return {};
}

}  // namespace

std::string PolicyClaims::describe() const {
  std::string text;
  const auto add = [&](bool claimed, const char* what) {
    if (claimed) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(faster_ports, "faster ports");
  add(more_ports, "more ports");
  add(shorter_delay, "a shorter delay");
  if (!text.empty()) text = "not slower with " + text;
  if (server_names) text += (text.empty() ? "" : "; ") + std::string("the same under renamed servers");
  return text;
}

ControllerRegistry ControllerRegistry::builtin() {
  ControllerRegistry registry;
  registry.add(
      {"electrical", "electrical rail switches: every port reaches every port, nothing to decide", make_electrical, true});
  registry.add({"static", "circuits given by the scenario, lit once", make_static});
  registry.add({"opus",
                "re-points circuits at phase boundaries, on demand or provisioned (arXiv 2602.12521)",
                make_opus,
                true,
                opus_needs,
                {},
                true});
  registry.add(opus_artifact_factory());
  registry.add(oracle_factory());
  registry.add(coalesce_factory());
  registry.add(static_split_factory());
  registry.add(topoopt_factory());
  registry.add(rotor_factory());
  registry.add(max_weight_factory());
  registry.add(mixnet_factory());
  registry.add(bvn_factory());
  registry.add(solstice_factory());
  registry.add(harvest_factory());
  registry.add(lru_factory());
  for (ControllerFactory& factory : registry.factories_) factory.claims = claims_of(factory.name);
  return registry;
}

bool ControllerRegistry::knows(std::string_view name) const {
  return std::any_of(factories_.begin(), factories_.end(), [&](const ControllerFactory& f) { return f.name == name; });
}

const ControllerFactory& ControllerRegistry::find(std::string_view name) const {
  std::vector<std::string> known;
  for (const ControllerFactory& factory : factories_) {
    if (factory.name == name) return factory;
    known.push_back(factory.name);
  }
  throw ConfigError("/controller/name", "there is no controller '" + std::string(name) + "'", suggest(name, known));
}

}  // namespace photonrail
