#include "studies/sweep/condition.hpp"

#include "studies/sweep/axis.hpp"

#include <algorithm>

namespace photonrail::sweep {

namespace {

constexpr std::size_t kListed = 20;  // values in a message

// Of arrays and objects, which are rare as values and may equal each other in many spellings, all have one key.
std::string key_of(const Json& value) {
  if (value.is_number()) return number_text(value.number());
  if (value.is_string()) return '"' + value.string();
  return value.is_array() || value.is_object() ? "[" : value.canonical();
}

}  // namespace

void ValueSet::add(Json value) {
  if (contains(value)) return;
  if (first_.size() < kListed) {
    first_.push_back(value.canonical());
  } else {
    more_ = true;
  }
  by_key_[key_of(value)].push_back(std::move(value));
}

bool ValueSet::contains(const Json& value) const {
  const auto at = by_key_.find(key_of(value));
  return at != by_key_.end() && std::find(at->second.begin(), at->second.end(), value) != at->second.end();
}

std::string ValueSet::list() const {
  std::string text;
  for (const std::string& value : first_) text += (text.empty() ? "" : ", ") + value;
  return more_ ? text + ", ..." : text;
}

bool Condition::holds(const Parameters& parameters) const {
  return std::all_of(any_of.begin(), any_of.end(), [&](const auto& entry) {
    const auto at =
        std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.first == entry.first; });
    return at != parameters.end() && entry.second.contains(at->second);
  });
}

std::vector<std::string> KnownParameters::names() const {
  std::vector<std::string> names(computed_.begin(), computed_.end());
  for (const auto& [name, values] : values_) names.push_back(name);
  return names;
}

Condition KnownParameters::read(const JsonReader& section) const {
  Condition condition;
  for (const auto& [name, value] : section.members()) {
    const auto values = values_.find(name);
    if (values == values_.end() && !computed_.contains(name)) {
      const auto known = names();
      value.fail("no such parameter", known.empty() ? "there is none above" : suggest(name, known));
    }
    ValueSet& wanted = condition.any_of[name];
    const auto want = [&, &name = name, &value = value](const Json& one) {  // clang 14 captures bindings by name alone
      if (values != values_.end() && !values->second.contains(one))
        value.fail(name + " is never " + one.canonical(), "its values: " + values->second.list());
      wanted.add(one);
    };
    if (value.is_array()) {
      for (const JsonReader& one : value.elements()) want(one.json());
      if (value.json().empty()) value.fail("is empty", "at least one value");
    } else {
      want(value.json());
    }
  }
  return condition;
}

}  // namespace photonrail::sweep
