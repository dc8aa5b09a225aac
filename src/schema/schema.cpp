#include "fields/schema.hpp"
#include "config/sections.hpp"
#include "fields/pages.hpp"
#include "fields/typed.hpp"
#include "formats/synthesis/topology_and_sketch.hpp"
#include "report/result_json.hpp"
#include "schema/schema.hpp"
#include "studies/plan/reader.hpp"
#include "studies/rows/rows_fields.hpp"
#include "studies/slices/reader.hpp"
#include "studies/sweep/sweep_fields.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace photonrail {

namespace {

using json::Json;

/// A format and the table of its keys.
struct Format {
  const char* name;
  const char* title;
  const fields::Section& section;
};

constexpr Format kFormats[] = {{"scenario", "photonrail.scenario/1", config::kScenarioSection},
                               {"sweep", "photonrail.sweep/1", sweep::kSweepSection},
                               {"graph", "photonrail.graph/1", config::kGraphSection},
                               {"model", "photonrail.model/1", config::kModelFileSection},
                               {"catalogue", "photonrail.catalogue/1", config::kCatalogueSection},
                               {"allocation", "photonrail.allocation/1", slices::kAllocationSection},
                               {"plan", "photonrail.plan/1", plan::kPlanSection},
                               {"rows", "photonrail.rows/1", rows::kRowsSection},
                               {"topology", "photonrail.topology/1", formats::synthesis::kTopologySection},
                               {"sketch", "photonrail.sketch/1", formats::synthesis::kSketchSection},
                               {"result", "photonrail.result/1", report::kResultKeys}};

Json schema_of(const Format& format, const Registries& known) {
  return fields::schema(fields::object_shape(format.section), format.title, known);
}

const Format& format_of(std::string_view name) {
  const auto at = std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& f) { return f.name == name; });
  if (at != std::end(kFormats)) return *at;
  throw ConfigError("", "there is no format \"" + std::string(name) + "\"", suggest(name, schema_formats()));
}

/// A line of a page behind which a table of keys stands.
struct Marker {
  std::string format;
  std::string pointer;
};

constexpr std::string_view kApart = "apart";  // in place of a format: another page has these keys
constexpr std::string_view kTableEnd = "<!-- /keys -->";

std::optional<Marker> marker_of(std::string_view line) {
  constexpr std::string_view kBegin = "<!-- keys ";
  constexpr std::string_view kEnd = " -->";
  if (!line.starts_with(kBegin) || !line.ends_with(kEnd)) return std::nullopt;
  line = line.substr(kBegin.size(), line.size() - kBegin.size() - kEnd.size());
  const std::size_t blank = std::min(line.find(' '), line.size());
  return Marker{std::string(line.substr(0, blank)), std::string(line.substr(std::min(blank + 1, line.size())))};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The base of a sweep is a scenario, or its path. Nothing of it is required: the points may add what it lacks, and months
// of a job with given steps need neither a cluster nor a workload.
void describe_base(Json& schema, const Registries& known) {
  Json path = Json::object();
  path["type"] = "string";
  Json scenario = Json::object();
  const Json whole = schema_of(kFormats[0], known);
  for (const auto& [key, value] : whole.members()) {
    if (key != "required" && key != "allOf") scenario[key] = value;
  }
  scenario["$id"] = "photonrail.scenario/1";  // so that its own references begin here
  Json& base = schema["properties"]["base"];
  base["anyOf"] = Json(std::vector<Json>{path, std::move(scenario)});
}

}  // namespace

const std::vector<std::string>& schema_formats() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Format& format : kFormats) all.emplace_back(format.name);
    return all;
  }();
  return names;
}

std::string json_schema(std::string_view format, const Registries& known) {
  Json schema = schema_of(format_of(format), known);
  if (format == "sweep") describe_base(schema, known);
  return schema.dump(2) + "\n";
}

std::vector<std::string> keys_of_scenario(const Registries& known) {
  return fields::pointers_of_keys(config::kScenarioSection, known);
}

std::string python_types(const Registries& known) {
  return "# Made by `photonrail schema --python` from the tables of keys. Not edited by hand.\n"
         "import dataclasses\n"
         "from typing import Any, Dict, List, Optional, Union\n\n"
         "from ._section import Section\n" +
         fields::python_classes(config::kScenarioSection, "Scenario", known);
}

std::string page_with_keys(std::string_view page, const Registries& known) {
  const std::vector<std::string> lines = lines_of(page);
  std::vector<std::string> apart;  // what has a table of its own is left out of the others
  for (const std::string& line : lines) {
    if (const auto marker = marker_of(line)) apart.push_back(marker->pointer);
  }
  std::string text;
  bool in_table = false;
  for (const std::string& line : lines) {
    if (line == kTableEnd) in_table = false;
    if (!in_table) text += line + "\n";
    const auto marker = marker_of(line);
    if (!marker || marker->format == kApart) continue;
    in_table = true;
    text += "\n" + fields::table_of_keys(format_of(marker->format).section, marker->pointer, apart, known) + "\n";
  }
  return text;
}

}  // namespace photonrail
