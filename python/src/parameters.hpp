// The keys of a scenario that a part written in Python has of its own.
#pragma once

#include "bindings.hpp"

#include "photonrail/control/parameter.hpp"

#include <string>
#include <vector>

namespace photonrail::python {

/// True or False is a flag, a whole number a count, a number a number, and a list of words a word, of which the first is
/// the default.
[[nodiscard]] ControllerParameter parameter_of(const std::string& key, const py::object& initial);

/// The values of a scenario as keyword arguments of the class.
[[nodiscard]] py::dict arguments_of(const std::vector<ControllerParameter>& parameters, const ParameterValues& values);

}  // namespace photonrail::python
