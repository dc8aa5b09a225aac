// Conditions on the parameters of a sweep: "when" of an axis, and "exclude".
#pragma once

#include "config/json_reader.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::sweep {

using json::Json;
using json::JsonReader;
using Parameters = std::vector<std::pair<std::string, Json>>;

/// Values of one parameter, found in logarithmic time: a sweep looks them up for each of its points.
class ValueSet {
 public:
  void add(Json value);
  [[nodiscard]] bool contains(const Json& value) const;
  /// Values in the order in which they were added; of many, those first and "...".
  [[nodiscard]] std::string list() const;

 private:
  std::map<std::string, std::vector<Json>> by_key_;  // equal values have equal keys
  std::vector<std::string> first_;                   // as they are listed
  bool more_ = false;
};

/// Values of parameters, each with those that do; all must hold. A parameter that is absent is none of them.
struct Condition {
  std::map<std::string, ValueSet> any_of;

  [[nodiscard]] bool holds(const Parameters& parameters) const;
};

/// The parameters that a condition may name, with the values that they take.
class KnownParameters {
 public:
  void add(const std::string& name, const Json& value) { values_[name].add(value); }
  /// A parameter whose values are not known.
  void add_computed(const std::string& name) { computed_.insert(name); }

  /// Throws ConfigError when a name or value is not known.
  [[nodiscard]] Condition read(const JsonReader& section) const;

 private:
  [[nodiscard]] std::vector<std::string> names() const;

  std::map<std::string, ValueSet> values_;
  std::set<std::string> computed_;
};

}  // namespace photonrail::sweep
