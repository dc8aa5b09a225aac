// Of its own, and optimised: every shipped file is held against schemas of thousands of keys.
#include "support/json_schema.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace photonrail::test {
namespace {

using nlohmann::json;

std::string of_keyword(const json& root, const json& schema, const std::string& keyword, const json& what,
                       const json& value, const std::string& at);

bool is_of(const std::string& type, const json& value) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number();
  if (type == "null") return value.is_null();
  if (type != "integer") throw std::runtime_error("unknown type " + type);
  return value.is_number() && std::floor(value.get<double>()) == value.get<double>();
}

std::string problem(const json& root, const json& schema, const json& value, const std::string& at) {
  const json& own_root = schema.contains("$id") ? schema : root;
  for (const auto& [keyword, what] : schema.items()) {
    const std::string found = of_keyword(own_root, schema, keyword, what, value, at);
    if (!found.empty()) return found;
  }
  return {};
}

std::string of_required(const json& keys, const json& value, const std::string& at) {
  if (!value.is_object()) return {};
  for (const json& key : keys) {
    if (!value.contains(key.get<std::string>())) return at + "/" + key.get<std::string>() + " is missing";
  }
  return {};
}

std::string of_members(const json& root, const json& schema, const std::string& keyword, const json& value,
                       const std::string& at) {
  if (!value.is_object()) return {};
  for (const auto& [key, member] : value.items()) {
    const bool listed = schema.contains("properties") && schema["properties"].contains(key);
    if (listed != (keyword == "properties")) continue;
    const json& of = listed ? schema["properties"][key] : schema["additionalProperties"];
    if (of.is_boolean()) {
      if (!of.get<bool>()) return at + "/" + key + " is no key";
      continue;
    }
    if (std::string found = problem(root, of, member, at + "/" + key); !found.empty()) return found;
  }
  return {};
}

std::string of_items(const json& root, const json& schema, const json& value, const std::string& at) {
  if (!value.is_array()) return {};
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (std::string found = problem(root, schema, value[i], at + "/" + std::to_string(i)); !found.empty()) return found;
  }
  return {};
}

std::string of_any(const json& root, const json& list, const json& value, const std::string& at) {
  std::string last;
  for (const json& one : list) {
    last = problem(root, one, value, at);
    if (last.empty()) return {};
  }
  return last;
}

std::string of_keyword(const json& root, const json& schema, const std::string& keyword, const json& what,
                       const json& value, const std::string& at) {
  const auto number = [&] { return value.is_number() ? value.get<double>() : std::nan(""); };
  if (keyword == "$ref") return problem(root, root.at(json::json_pointer(what.get<std::string>().substr(1))), value, at);
  if (keyword == "type") return is_of(what, value) ? "" : at + " is no " + what.get<std::string>();
  if (keyword == "enum")
    return std::find(what.begin(), what.end(), value) != what.end() ? "" : at + " is none of the words";
  if (keyword == "minimum") return number() < what.get<double>() ? at + " is too small" : "";
  if (keyword == "exclusiveMinimum") return number() <= what.get<double>() ? at + " is too small" : "";
  if (keyword == "maximum") return number() > what.get<double>() ? at + " is too large" : "";
  if (keyword == "required") return of_required(what, value, at);
  if (keyword == "properties" || keyword == "additionalProperties") return of_members(root, schema, keyword, value, at);
  if (keyword == "items") return of_items(root, what, value, at);
  if (keyword == "anyOf") return of_any(root, what, value, at);
  if (keyword == "allOf") {
    for (const json& one : what) {
      if (std::string found = problem(root, one, value, at); !found.empty()) return found;
    }
    return {};
  }
  if (keyword == "not") return problem(root, what, value, at).empty() ? at + " is what it must not be" : "";
  if (keyword == "if") {
    return problem(root, what, value, at).empty() ? problem(root, schema.at("then"), value, at) : std::string{};
  }
  for (const char* silent : {"then", "$defs", "$schema", "$id", "title", "description", "examples"}) {
    if (keyword == silent) return {};
  }
  throw std::runtime_error("unknown keyword " + keyword);
}

}  // namespace

std::string JsonSchema::problem(const json& value) const { return test::problem(root_, root_, value, ""); }

}  // namespace photonrail::test
