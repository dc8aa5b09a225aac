// The tables for a run of one policy: it, and electrical rails to compare with or to profile on.
#pragma once

#include "photonrail/simulate.hpp"

namespace photonrail::testing {

[[nodiscard]] inline Registries only_electrical_and(const ControllerFactory& factory) {
  Registries known;
  known.controllers = {};
  const ControllerFactory electrical = ControllerRegistry::builtin().find(kNoPolicy);
  if (factory.name != electrical.name) known.controllers.add(electrical);
  known.controllers.add(factory);
  return known;
}

}  // namespace photonrail::testing
