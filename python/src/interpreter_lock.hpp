// The interpreter's lock, taken and given up so that a daemon thread inside C++ does not abort the process when the
// interpreter ends: the interpreter ends such a thread where it waits for the lock, and C++ cannot be unwound from there.
#pragma once

#include <pybind11/pybind11.h>

namespace photonrail::python {

namespace py = pybind11;

/// While it lives, the thread counts as one that runs Python. Its constructor never returns once the interpreter ends,
/// unless the thread is the one that ends it.
class InsidePython {
 public:
  InsidePython();
  ~InsidePython();
  InsidePython(const InsidePython&) = delete;
  InsidePython& operator=(const InsidePython&) = delete;
};

/// Holds the lock.
class Locked {
 private:
  InsidePython inside_;
  py::gil_scoped_acquire lock_;
};

/// Gives the lock up and takes it again.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    const InsidePython inside;
    PyEval_RestoreThread(state_);
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Registers with `atexit` what keeps threads out of an interpreter that ends.
void bind_end();

}  // namespace photonrail::python
