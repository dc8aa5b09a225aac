// Errors, and the module itself.
#include "bindings.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/version.hpp"

namespace photonrail::python {

namespace {

// Kept for the life of the process: an exception may be raised while the interpreter ends.
PyObject* g_config_error = nullptr;
PyObject* g_deadlock_error = nullptr;
PyObject* g_controller_error = nullptr;

PyObject* new_error(py::module_& module, const char* name, const char* text, py::handle base) {
  const std::string full = std::string("photonrail.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), text, base.ptr(), nullptr);
  module.attr(name) = py::reinterpret_borrow<py::object>(type);
  return type;
}

void raise(PyObject* type, const std::exception& error, const std::vector<std::pair<const char*, py::object>>& attributes) {
  const py::object value = py::reinterpret_borrow<py::object>(type)(file_words(error));
  for (const auto& [name, attribute] : attributes) value.attr(name) = attribute;
  PyErr_SetObject(type, value.ptr());
}

}  // namespace

void bind_errors(py::module_& module) {
  PyObject* base = new_error(module, "Error", "What photonrail raises.", PyExc_Exception);
  g_config_error =
      new_error(module, "ConfigError",
                "Bad input: `where` it is (file, JSON pointer, field), `what` is wrong, `hint`: what would do.", base);
  g_deadlock_error =
      new_error(module, "DeadlockError", "The simulated job cannot finish: `stuck` has a line for each rank.", base);
  g_controller_error = new_error(module, "ControllerError", "A policy asked for what no switch can do.", base);
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const ConfigError& e) {
      raise(g_config_error, e,
            {{"where", py::str(e.where())}, {"what", py::str(e.problem())}, {"hint", py::str(e.hint())}});
    } catch (const DeadlockError& e) {
      raise(g_deadlock_error, e, {{"stuck", py::cast(e.stuck())}});
    } catch (const ControllerError& e) {
      raise(g_controller_error, e, {});
    }
  });
}

std::vector<py::object> given_list(py::handle value, const std::string& what) {
  const bool is_text =
      py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value) || py::isinstance<py::dict>(value);
  if (is_text || !py::isinstance<py::iterable>(value))
    throw py::type_error(what + " is " + py::repr(value).cast<std::string>() + "; it must be a list");
  std::vector<py::object> items;
  for (const py::handle item : value) items.push_back(py::reinterpret_borrow<py::object>(item));
  return items;
}

std::pair<std::uint32_t, std::uint32_t> given_pair(py::handle value, const std::string& what, const char* wanted) {
  const std::vector<py::object> items = given_list(value, what);
  if (items.size() != 2)
    throw py::type_error(what + " is " + py::repr(value).cast<std::string>() + "; it must be a pair, " + wanted);
  return {given_count(items[0], what), given_count(items[1], what)};
}

}  // namespace photonrail::python

PYBIND11_MODULE(_native, module) {
  using namespace photonrail::python;
  module.doc() = "photonrail's C++ library. Use the package photonrail.";
  module.attr("__version__") = std::string(photonrail::version());
  bind_end();
  bind_errors(module);
  bind_policies(module);
  bind_collectives(module);
  bind_agents(module);
  bind_runs(module);
  bind_studies(module);
  bind_allocation(module);
  bind_figures(module);
}
