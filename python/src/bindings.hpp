// The parts of the module photonrail._native. Times cross the border as whole picoseconds (int), never as floats.
#pragma once

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
          const py::gil_scoped_acquire lock;
          delete held;
        }) {}

  /// REQUIRES: the lock.
  [[nodiscard]] const py::object& get() const { return *object_; }

 private:
  std::shared_ptr<py::object> object_;
};

/// A numpy array with these values.
template <class Value>
py::array_t<Value> array_of(const std::vector<Value>& values) {
  return py::array_t<Value>(static_cast<py::ssize_t>(values.size()), values.data());
}

void bind_errors(py::module_& module);
void bind_runs(py::module_& module);
void bind_policies(py::module_& module);
void bind_collectives(py::module_& module);
void bind_studies(py::module_& module);
void bind_allocation(py::module_& module);

}  // namespace photonrail::python
