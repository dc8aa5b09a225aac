// Values for every parameter of a policy, or of another part that a scenario names.
#pragma once

#include "photonrail/control/parameter.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace photonrail::control {

/// The values with every parameter set. Throws core::FieldError, `pattern` with the key in place of its '*', for a key that
/// `owner`, "the lru controller", has not, and for a value that cannot be.
[[nodiscard]] ParameterValues complete_parameters(const std::vector<ControllerParameter>& parameters,
                                                  const ParameterValues& values, const std::string& owner,
                                                  std::string_view pattern);

}  // namespace photonrail::control
