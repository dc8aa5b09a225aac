// A controller's settings as text.
#pragma once

#include "photonrail/controller.hpp"

#include <string>

namespace photonrail::testing {

/// The "controller" section of a scenario file. `factory` knows which parameters are flags.
[[nodiscard]] std::string setting_json(const ControllerSpec& spec, const ControllerFactory& factory);

}  // namespace photonrail::testing
