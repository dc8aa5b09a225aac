// Parts of plug-ins under supervision: what they do wrong is reported with the plug-in and the part, also a call that does
// not end, which nothing in the process could interrupt.
#pragma once

#include "photonrail/simulate.hpp"

#include <string>

namespace photonrail::command {

/// The factory with parts that are watched. `plugin`: what messages call the library.
[[nodiscard]] ControllerFactory watched(ControllerFactory factory, const std::string& plugin);
[[nodiscard]] AgentFactory watched(AgentFactory factory, const std::string& plugin);
[[nodiscard]] SchedulerFactory watched(SchedulerFactory factory, const std::string& plugin);

}  // namespace photonrail::command
