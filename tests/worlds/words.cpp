#include "worlds/words.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace photonrail::worlds {

namespace {

// Objects whose keys are data.
constexpr std::array<std::string_view, 6> kMaps{"/placement/sizes",
                                                "/workload/collective/arrival_delay_time",
                                                "/workload/graph/communicators",
                                                "/workload/training/operators/precision_of",
                                                "/workload/training/operators/unlike",
                                                "/workload/training/operators/unlike/{}/precision_of"};

// Strings that are data: names, paths, and what names are given to.
constexpr std::array<std::string_view, 16> kTexts{
    "/schema",  "/name",   "/why",  "/id",      "/after",  "/communicator", "/file",    "/csv",
    "/pattern", "/origin", "/idle", "/sources", "/prefix", "/files",        "/without", "/calibration/source"};

// Sections that each of several jobs may have.
constexpr std::array<std::string_view, 6> kOfJobs{"workload", "placement",   "controller",
                                                  "executor", "collectives", "stragglers"};

template <class List>
bool is_in(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::string below(const std::string& at, const std::string& key) {
  if (is_in(kMaps, at)) return at + "/{}";
  const std::string place = at == "/jobs" && is_in(kOfJobs, key) ? "" : at;
  return place + "/" + without_unit(key);
}

bool is_text(const std::string& at) {
  if (at == "/controller/name") return false;
  return std::any_of(kTexts.begin(), kTexts.end(), [&](std::string_view end) { return at.ends_with(end); });
}

void list(const Json& value, const std::string& at, Words& words) {
  if (value.is_string() && !is_text(at)) words.insert(at + "=" + value.get<std::string>());
  if (!value.is_structured()) return;
  for (const auto& [key, inner] : value.items()) {
    const std::string place = value.is_array() ? at : below(at, key);
    words.insert(place);
    list(inner, place, words);
  }
}

void list_schema(const Json& schema, const std::string& at, Words& words) {
  if (!schema.is_object()) return;
  if (schema.contains("enum") && !is_text(at)) {
    for (const Json& word : schema["enum"]) words.insert(at + "=" + word.get<std::string>());
  }
  if (schema.contains("anyOf")) {
    for (const Json& one : schema["anyOf"]) list_schema(one, at, words);
  }
  if (schema.contains("items")) list_schema(schema["items"], at, words);
  if (schema.contains("properties")) {
    for (const auto& [key, value] : schema["properties"].items()) {
      if (key == "$schema") continue;
      const std::string place = at + "/" + without_unit(key);
      if (!value.contains("$ref")) words.insert(place);
      list_schema(value, place, words);
    }
  }
  if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object()) {
    words.insert(at + "/{}");
    list_schema(schema["additionalProperties"], at + "/{}", words);
  }
}

}  // namespace

std::string without_unit(const std::string& key) {
  if (key.ends_with("_per_s")) return key;
  for (const std::string_view unit : {"_ps", "_ns", "_us", "_ms", "_s", "_h", "_d", "_days"}) {
    if (key.ends_with(unit)) return key.substr(0, key.size() - unit.size()) + "_time";
  }
  return key;
}

std::string word_at(const std::vector<std::string>& path) {
  std::string at;
  for (const std::string& key : path) at = below(at, key);
  return at;
}

bool is_of_jobs(std::string_view section) { return is_in(kOfJobs, section); }

Words words_of(const Json& file) {
  Words words;
  list(file, "", words);
  return words;
}

std::vector<Words> words_by_job(const Json& scenario) {
  if (!scenario.contains("jobs")) return {words_of(scenario)};
  std::vector<Words> all;
  for (const Json& job : scenario["jobs"]) {
    Json alone = scenario;
    alone["jobs"] = Json::array({job});
    for (const auto& [key, section] : job.items()) alone.erase(key);  // of its own, in place of the file's
    all.push_back(words_of(alone));
  }
  return all;
}

Words words_of_schema(const Json& schema) {
  Words words;
  list_schema(schema, "", words);
  return words;
}

}  // namespace photonrail::worlds
