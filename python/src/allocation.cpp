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
  std::string json;
  std::vector<std::pair<std::string, std::string>> streams;  // a name, and the jobs as CSV
  {
    const Unlocked unlock;
    std::vector<Override> set;
    for (const auto& [pointer, value] : overrides) set.push_back({pointer, value});
    const slices::AllocationStudy study =
        text ? slices::parse_study(*text, directory, path.string(), set) : slices::read_study(path, set);
    const slices::AllocationOutcome outcome = run_allocation(study, known);
    json = allocation_json(study, outcome);
    for (const slices::StreamOutcome& stream : outcome.streams) {
      streams.emplace_back(stream.policy + " " + stream.order,
                           stream.order.empty() ? std::string{} : allocation_jobs_csv(study, stream));
    }
  }
  py::dict d;
  d["json"] = json;
  d["jobs"] = streams;
  return d;
}

}  // namespace

void bind_allocation(py::module_& module) {
  module.def("allocate", &allocate, py::arg("path"), py::arg("text"), py::arg("directory"), py::arg("overrides"),
             py::arg("registries"));
}

}  // namespace photonrail::python
