// The components of this build. Each is a room that no other one includes or links: what asks for one declares a function,
// which has its body here. A component is taken out by its line in this file.
#include "astra/section.hpp"
#include "config/scenario_sources.hpp"
#include "fabric/blocking_switch.hpp"
#include "pip/rail_mesh.hpp"

#include <memory>

namespace photonrail {

std::span<const config::ScenarioSource> config::scenario_sources() {
  static constexpr ScenarioSource kSources[] = {{"astra", &astra::scenario_of_section}};
  return kSources;
}

std::unique_ptr<fabric::BlockingSwitch> fabric::make_blocking_switch(const PipMeshSpec& spec, std::uint32_t ports) {
  return std::make_unique<pip::RailMesh>(spec, ports);
}

}  // namespace photonrail
