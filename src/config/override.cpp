#include "config/scenario_parts.hpp"
#include "photonrail/config.hpp"

#include <algorithm>

namespace photonrail {

Override Override::parse(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    throw ConfigError("--set " + std::string(text), "no '='", "write /json/pointer=value");
  }
  Override result{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  if (!result.pointer.starts_with('/')) {
    throw ConfigError("--set " + std::string(text), "the pointer must begin with '/'", "for example /cluster/servers=4");
  }
  return result;
}

namespace config {

namespace {

Json override_value(const Override& set) {
  if (auto value = json::parse_if_json(set.value)) return *std::move(value);
  // What begins like JSON and is none is a slip, not a bare string.
  if (set.value.find_first_of("{[\"") == 0) throw ConfigError(set.pointer, "the value of --set is broken JSON", set.value);
  return set.value;
}

// The place below `at` that `key` names. Objects get the key when they lack it; `pointer` is where `at` is.
Json& step(Json& at, const std::string& key, const std::string& pointer, const Override& set) {
  if (at.is_object()) return at[key];
  if (!at.is_array()) {
    const std::string hint = at.is_string()
                                 ? "set " + pointer + " to an object, for example {\"preset\": " + at.dump() + ", ...}"
                                 : "set " + pointer + " to an object first";
    throw ConfigError(set.pointer, "--set cannot go below " + pointer + ", which is " + describe(at), hint);
  }
  const std::size_t index = json::index_of(key, at.size());
  if (index == at.size()) {
    throw ConfigError(set.pointer, "--set: " + pointer + " is an array of " + std::to_string(at.size()) +
                                       " and has no element \"" + key + "\"");
  }
  return at.elements()[index];
}

// The same duration in another unit goes: a file that has reconfiguration_ms can be given reconfiguration_us.
void drop_other_units(Json& object, std::string_view key) {
  const std::string_view stem = json::stem_of_duration(key);
  if (stem.empty() || !object.is_object()) return;
  const auto other = [&](const Json::Member& m) { return m.key != key && json::stem_of_duration(m.key) == stem; };
  if (std::none_of(object.members().begin(), object.members().end(), other)) return;
  Json kept = Json::object();
  for (const Json::Member& member : object.members()) {
    if (!other(member)) kept.insert(member.key, member.value);
  }
  object = std::move(kept);
}

}  // namespace

void apply_overrides(Json& root, std::span<const Override> overrides) {
  for (const Override& set : overrides) {
    if (!set.pointer.starts_with('/')) throw ConfigError(set.pointer, "the pointer of --set must begin with '/'");
    Json value = override_value(set);
    Json* at = &root;
    std::string pointer;
    for (const std::string& key : json::split_pointer(set.pointer)) {
      if (at->is_null()) *at = Json::object();  // made by the step before
      drop_other_units(*at, key);
      at = &step(*at, key, pointer.empty() ? "the top" : pointer, set);
      pointer = join_pointer(pointer, key);
    }
    *at = std::move(value);
  }
}

}  // namespace config

}  // namespace photonrail
