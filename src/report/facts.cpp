#include "report/facts.hpp"

#include <algorithm>
#include <string_view>

namespace photonrail::report {

namespace {

using json::Json;

constexpr std::size_t kMaxText = 160;  // of a single value: a matrix says little in a line

std::string text_of(const Json& value) {
  std::string text = value.is_string() ? value.string() : value.canonical();
  if (text.size() <= kMaxText) return text;
  if (value.is_array()) return "[" + std::to_string(value.size()) + " entries]";
  std::size_t end = kMaxText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not within a character
  return text.substr(0, end) + " ...";
}

class Topic {
 public:
  explicit Topic(const std::set<std::string>& varied) : varied_(varied) {}

  // Each value with its keys before it: "gpu preset h200".
  void add(const Json& value, const std::string& pointer, const std::string& keys) {
    if (varied_.count(pointer) > 0) return say(keys.empty() ? "varied" : keys + " varied");
    if (!value.is_object()) return say(keys + (keys.empty() ? "" : " ") + text_of(value));
    const Json* const name = value.find("name");
    for (const auto& [key, inner] : value.members()) {
      // A result's "policy" is the name with the parameters that follow it one by one.
      if (key == "policy" && name != nullptr && text_of(inner).starts_with(text_of(*name))) continue;
      if ((inner.is_array() || inner.is_object()) && inner.empty()) continue;
      add(inner, json::join_pointer(pointer, key), keys.empty() ? key : keys + " " + key);
    }
  }

  // Keys below the pointer that are varied and are not in the scenario itself.
  void add_absent(const Json& scenario, const std::string& pointer) {
    for (const std::string& changed : varied_) {
      if (!changed.starts_with(pointer + "/") || json::find_at(scenario, changed) != nullptr || covered(changed)) continue;
      std::string keys = changed.substr(pointer.size() + 1);
      std::replace(keys.begin(), keys.end(), '/', ' ');
      say(keys + " varied");
    }
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  // A pointer above this one may be varied too.
  [[nodiscard]] bool covered(std::string_view pointer) const {
    for (std::size_t end = pointer.rfind('/'); end != 0 && end != std::string_view::npos;
         end = pointer.rfind('/', end - 1)) {
      if (varied_.count(std::string(pointer.substr(0, end))) > 0) return true;
    }
    return false;
  }
  void say(const std::string& part) { text_ += (text_.empty() ? "" : ", ") + part; }

  const std::set<std::string>& varied_;
  std::string text_;
};

}  // namespace

Json facts_of(const Json& scenario, const std::set<std::string>& varied) {
  Json facts = Json::array();
  if (!scenario.is_object()) return facts;
  for (const auto& [key, value] : scenario.members()) {
    if (key == "schema" || key == "name" || key == "why" || key == "$schema") continue;
    const std::string pointer = json::join_pointer("", key);
    if (value.is_array() && value.empty() && varied.count(pointer) == 0) continue;
    Topic topic(varied);
    topic.add(value, pointer, "");
    if (varied.count(pointer) == 0) topic.add_absent(scenario, pointer);
    if (!topic.text().empty()) facts.push_back({{"topic", key}, {"text", topic.text()}});
  }
  for (const std::string& pointer : varied) {  // a part that the scenario does not have at all
    const std::string key = json::split_pointer(pointer).empty() ? "" : json::split_pointer(pointer).front();
    const auto same = [&](const Json& fact) { return fact.find("topic")->string() == key; };
    if (key.empty() || scenario.contains(key) || std::any_of(facts.elements().begin(), facts.elements().end(), same))
      continue;
    facts.push_back({{"topic", key}, {"text", "varied"}});
  }
  return facts;
}

}  // namespace photonrail::report
