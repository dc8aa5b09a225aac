#include "parameters.hpp"

namespace photonrail::python {

ControllerParameter parameter_of(const std::string& key, const py::object& initial) {
  constexpr double kMost = 1e18;
  const std::string summary = "of a part in Python";
  if (py::isinstance<py::bool_>(initial)) return ControllerParameter::flag(key, initial.cast<bool>(), summary);
  if (py::isinstance<py::int_>(initial))
    return ControllerParameter::count(key, given_count(initial, "parameter " + key), 0, UINT32_MAX, summary);
  if (py::isinstance<py::float_>(initial))
    return ControllerParameter::number(key, initial.cast<double>(), -kMost, kMost, summary);
  const bool words = py::isinstance<py::list>(initial) || py::isinstance<py::tuple>(initial);
  if (words && py::len(initial) > 0)
    return ControllerParameter::word(key, given<std::vector<std::string>>(initial, "parameter " + key, "a list of words"),
                                     summary);
  throw py::type_error("parameter " + key + " is " + py::repr(initial).cast<std::string>() +
                       "; its default must be True, False, a number, or a list of words");
}

py::dict arguments_of(const std::vector<ControllerParameter>& parameters, const ParameterValues& values) {
  py::dict arguments;
  for (const ControllerParameter& parameter : parameters) {
    const py::str key(parameter.key);
    switch (parameter.kind) {
      case ControllerParameter::Kind::kFlag:
        arguments[key] = values.flag(parameter.key);
        break;
      case ControllerParameter::Kind::kCount:
        arguments[key] = values.count(parameter.key);
        break;
      case ControllerParameter::Kind::kWord:
        arguments[key] = values.word(parameter.key);
        break;
      default:
        arguments[key] = values.number(parameter.key);
    }
  }
  return arguments;
}

}  // namespace photonrail::python
