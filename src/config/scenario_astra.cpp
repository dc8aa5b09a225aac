// The section "astra" of a scenario: ASTRA-sim's inputs give every section that the scenario does not.
#include "config/scenario_astra.hpp"

#include "config/scenario_parts.hpp"
#include "formats/astra/scenario.hpp"

namespace photonrail::config {

namespace {

// What the scenario says stays; objects are filled up key by key.
void fill_up(Json& into, Json&& from) {
  for (auto& [key, value] : from.members()) {
    Json* const known = into.find(key);
    if (known == nullptr) {
      into.insert(key, Json(value));
    } else if (known->is_object() && value.is_object()) {
      fill_up(*known, Json(value));
    }
  }
}

std::filesystem::path astra_path(JsonReader& section, std::string_view key, const std::filesystem::path& directory) {
  return read_path(section.child(key, "a path"), directory);
}

}  // namespace

Json expand_astra(const Json& root, const std::filesystem::path& directory) {
  JsonReader section(*root.find("astra"), "/astra");
  AstraOptions options;
  options.system = astra_path(section, "system", directory);
  options.network = astra_path(section, "network", directory);
  options.workload = astra_path(section, "workload", directory);
  if (const auto v = section.optional("comm_groups")) options.comm_groups = read_path(*v, directory);
  if (const auto v = section.optional("remote_memory")) options.remote_memory = read_path(*v, directory);
  section.finish();
  Json scenario = formats::astra::scenario_of(options, {});
  Json without = Json::object();
  for (const auto& [key, value] : root.members()) {
    if (key != "astra") without.insert(key, value);
  }
  fill_up(without, std::move(scenario));
  return without;
}

}  // namespace photonrail::config
