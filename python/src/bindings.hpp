// The parts of the module photonrail._native. Times cross the border as whole picoseconds (int), never as floats.
#pragma once

#include "interpreter_lock.hpp"
#include "photonrail/simulate.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::python {

namespace py = pybind11;

/// A Python object that C++ may copy and drop without the interpreter's lock.
class SharedObject {
 public:
  SharedObject() = default;
  explicit SharedObject(py::object object)
      : object_(new py::object(std::move(object)), [](py::object* held) {
          const Locked lock;
          delete held;
        }) {}

  /// REQUIRES: the lock.
  [[nodiscard]] const py::object& get() const { return *object_; }

 private:
  std::shared_ptr<py::object> object_;
};

/// What Python gave as a value of C++. Raises TypeError that begins with `what`: "send 3: to", and says what is `wanted`.
template <class Value>
Value given(py::handle value, const std::string& what, const std::string& wanted) {
  try {
    return value.cast<Value>();
  } catch (const py::cast_error&) {
    throw py::type_error(what + " is " + py::repr(value).cast<std::string>() + "; it must be " + wanted);
  }
}
inline std::uint32_t given_count(py::handle value, const std::string& what) {
  return given<std::uint32_t>(value, what, "a whole number, not negative");
}

/// The items of a list, tuple or another iterable that is no text.
std::vector<py::object> given_list(py::handle value, const std::string& what);
/// The two items of a pair. Raises TypeError for another number of them.
std::pair<std::uint32_t, std::uint32_t> given_pair(py::handle value, const std::string& what, const char* wanted);

/// A numpy array with these values.
template <class Value>
py::array_t<Value> array_of(const std::vector<Value>& values) {
  return py::array_t<Value>(static_cast<py::ssize_t>(values.size()), values.data());
}

void bind_errors(py::module_& module);
void bind_runs(py::module_& module);
void bind_policies(py::module_& module);
void bind_agents(py::module_& module);
void bind_collectives(py::module_& module);
void bind_studies(py::module_& module);
void bind_allocation(py::module_& module);
void bind_figures(py::module_& module);

}  // namespace photonrail::python
