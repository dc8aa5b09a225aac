// Controllers of plug-ins under supervision: what they do wrong is reported with the plug-in and the controller, also a
// decision that does not end, which nothing in the process could interrupt.
#pragma once

#include "photonrail/controller.hpp"

#include <string>

namespace photonrail::command {

/// The factory with controllers that are watched. `plugin`: what messages call the library.
[[nodiscard]] ControllerFactory watched(ControllerFactory factory, const std::string& plugin);

/// The time of the processor that one decision may take, 60 s unless it is set; ten times as much by the clock on the
/// wall. Beyond it the process ends with exit status 2. REQUIRES: before the first decision.
void set_decision_limit(double seconds);

}  // namespace photonrail::command
