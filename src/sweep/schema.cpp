#include "json/schema.hpp"

#include "config/scenario_parts.hpp"
#include "photonrail/study/schema.hpp"
#include "sweep/schema_examples.hpp"

#include <algorithm>

namespace photonrail {

namespace {

using json::Json;
using json::JsonReader;
using json::ReadObserver;

/// How a format is read, and what the exploration begins with.
struct Format {
  std::string name;
  std::string title;
  json::ReadFunction read;
  std::span<const char* const> examples;
  std::vector<json::SamePlace> same{};
};

std::vector<json::SamePlace> sections_of_jobs() {
  std::vector<json::SamePlace> same;
  for (const char* key : {"workload", "placement", "controller", "executor", "collectives", "stragglers"}) {
    same.push_back({"/jobs/[]/" + std::string(key), "/" + std::string(key)});
  }
  return same;
}

// The places of the examples' files: there are none.
const std::filesystem::path kNoFolder = "/nonexistent";

std::vector<Format> described_formats(const Registries& known) {
  return {{"scenario", "photonrail.scenario/1",
           [&known](const Json& root, ReadObserver& observer) {
             static_cast<void>(config::read_scenario_json(root, kNoFolder, known, nullptr, &observer));
           },
           sweep::scenario_examples(), sections_of_jobs()},
          {"sweep", "photonrail.sweep/1",
           [](const Json& root, ReadObserver& observer) { sweep::read_sweep_json(root, kNoFolder, observer); },
           sweep::sweep_examples()},
          {"graph", "photonrail.graph/1",
           [](const Json& root, ReadObserver& observer) {
             static_cast<void>(config::read_graph(JsonReader(root, {}, &observer)));
           },
           sweep::graph_examples()},
          {"model", "photonrail.model/1",
           [](const Json& root, ReadObserver& observer) {
             static_cast<void>(config::read_model_file(JsonReader(root, {}, &observer), "model"));
           },
           sweep::model_examples()},
          {"catalogue", "photonrail.catalogue/1",
           [](const Json& root, ReadObserver& observer) {
             static_cast<void>(config::read_catalogue_file(JsonReader(root, {}, &observer), "catalogue"));
           },
           sweep::catalogue_examples()}};
}

Json schema_of(const Format& format) {
  std::vector<Json> examples;
  for (const char* text : format.examples) examples.push_back(json::parse_json(text, format.name + " example"));
  return json::to_schema(json::explore(format.read, examples, format.same), format.same, format.title);
}

// What the reader of a sweep takes as it is: the base, a scenario that is read when the points are made, and the values
// of conditions, which are any.
void describe_raw_values(Json& schema, const Registries& known) {
  Json& properties = schema["properties"];
  properties["axes"]["items"]["properties"]["when"]["additionalProperties"] = Json::object();
  properties["exclude"]["items"]["additionalProperties"] = Json::object();
  Json path = Json::object();
  path["type"] = "string";
  Json scenario = schema_of(described_formats(known).front());
  scenario["$id"] = "photonrail.scenario/1";  // so that its own references begin here
  properties["base"] = Json::object();
  properties["base"]["anyOf"] = Json(std::vector<Json>{path, std::move(scenario)});
}

}  // namespace

const std::vector<std::string>& schema_formats() {
  static const std::vector<std::string> names{"scenario", "sweep", "graph", "model", "catalogue", "result"};
  return names;
}

std::string json_schema(std::string_view format, const Registries& known) {
  if (format == "result") return sweep::result_schema();
  const std::vector<Format> all = described_formats(known);
  const auto at = std::find_if(all.begin(), all.end(), [&](const Format& f) { return f.name == format; });
  if (at == all.end()) {
    throw ConfigError("", "there is no format \"" + std::string(format) + "\"", suggest(format, schema_formats()));
  }
  Json schema = schema_of(*at);
  if (format == "sweep") describe_raw_values(schema, known);
  return schema.dump(2) + "\n";
}

}  // namespace photonrail
