// A build without components, in which every other room links (photonrail_link_rooms).
#include "config/scenario_sources.hpp"
#include "fabric/blocking_switch.hpp"

namespace photonrail {

std::span<const config::ScenarioSource> config::scenario_sources() { return {}; }

std::unique_ptr<fabric::BlockingSwitch> fabric::make_blocking_switch(const PipMeshSpec&, std::uint32_t) { return nullptr; }

}  // namespace photonrail
