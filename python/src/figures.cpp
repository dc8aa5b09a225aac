// The page's figures: its script, and what a folder of results gives it to draw.
#include "bindings.hpp"

#include "report/page.hpp"

namespace photonrail::python {

namespace {

std::string folder_figures(const std::filesystem::path& folder, const std::string& figure, const std::string& format,
                           const std::map<std::string, std::string>& choices) {
  const Unlocked unlock;
  report::PageChoices chosen;
  chosen.figure = figure;
  for (const auto& [key, value] : choices) {
    if (key == "metric") chosen.metric = value;
    if (key == "against") chosen.against = value;
    if (key == "series") chosen.series = value;
    if (key == "baseline") chosen.baseline = value;
    if (key == "log") chosen.log = value;
    if (key == "title") chosen.title = value;
  }
  return report::to_figures_program(report::read_page_data(folder, chosen), format);
}

std::string document_figures(const std::string& document, const std::string& format) {
  report::PageData data;
  data.document = document;
  return report::to_figures_program(data, format);
}

}  // namespace

void bind_figures(py::module_& module) {
  module.def("folder_figures", &folder_figures, py::arg("folder"), py::arg("figure"), py::arg("format"),
             py::arg("choices"));
  module.def("document_figures", &document_figures, py::arg("document"), py::arg("format"));
}

}  // namespace photonrail::python
