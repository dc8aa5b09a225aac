// Studies of slices: `photonrail allocate`.
#include "bindings.hpp"

#include "photonrail/study/slices.hpp"

#include <optional>

namespace photonrail::python {

namespace {

// `text`: of a dict, whose paths are relative to `directory`; none: the file `path` itself.
py::dict allocate(const std::filesystem::path& path, const std::optional<std::string>& text,
                  const std::filesystem::path& directory, const std::vector<std::pair<std::string, std::string>>& overrides,
                  const Registries& known) {
  AllocationTexts result;
  {
    const Unlocked unlock;
    std::vector<Override> set;
    for (const auto& [pointer, value] : overrides) set.push_back({pointer, value});
    result = text ? run_allocation(*text, directory, path.string(), set, known) : run_allocation(path, set, known);
  }
  py::dict d;
  d["json"] = result.json;
  d["jobs"] = result.jobs;
  return d;
}

}  // namespace

void bind_allocation(py::module_& module) {
  module.def("allocate", &allocate, py::arg("path"), py::arg("text"), py::arg("directory"), py::arg("overrides"),
             py::arg("registries"));
}

}  // namespace photonrail::python
