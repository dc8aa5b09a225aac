#include "config/scenario_sources.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace photonrail::config {

namespace {

// The scenario keeps what it says; objects are filled up key by key.
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

}  // namespace

const ScenarioSource* source_of(const Json& root) {
  const auto sources = scenario_sources();
  const auto at =
      std::find_if(sources.begin(), sources.end(), [&](const auto& source) { return root.contains(source.key); });
  return at == sources.end() ? nullptr : &*at;
}

Json expand(const ScenarioSource& source, const Json& root, const std::filesystem::path& directory) {
  JsonReader section(*root.find(source.key), "/" + std::string(source.key));
  Json scenario = source.scenario(section, directory);
  Json without = Json::object();
  for (const auto& [key, value] : root.members()) {
    if (key != source.key) without.insert(key, value);
  }
  fill_up(without, std::move(scenario));
  return without;
}

}  // namespace photonrail::config
