// The axes of a sweep file: lists of choices, each a patch of the scenario with the parameters that name it.
#pragma once

#include "config/json_reader.hpp"
#include "photonrail/config.hpp"
#include "photonrail/sweep.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::sweep {

using config::Json;
using config::JsonReader;
using Parameters = std::vector<std::pair<std::string, Json>>;

/// Values of parameters, each with those that do; all must hold. A parameter that is absent is none of them.
struct Condition {
  std::map<std::string, std::vector<Json>> any_of;

  [[nodiscard]] bool holds(const Parameters& parameters) const;
};

struct Choice {
  Parameters parameters;
  std::vector<Override> patch;
};

struct Axis {
  std::vector<std::string> names;  ///< of its parameters
  std::vector<Choice> choices;     ///< in each, the parameters of `names` in that order
  Condition when;
};

/// `known`: the axes whose parameters may be named; `computed`: names of parameters whose values are not known.
[[nodiscard]] Condition read_condition(const JsonReader& section, const std::vector<Axis>& known,
                                       const std::vector<std::string>& computed = {});
/// `above`: the axes before it.
[[nodiscard]] Axis read_axis(JsonReader section, const std::vector<Axis>& above);

/// What a point changes in the base's file, each "/json/pointer=value".
[[nodiscard]] std::vector<std::string> overrides_of(const Sweep& sweep, const SweepPoint& point);
/// A JSON pointer that an axis may set.
[[nodiscard]] std::string read_pointer(const JsonReader& value);
/// The last key of a pointer.
[[nodiscard]] std::string last_key(const std::string& pointer);
/// The number as JSON: whole ones without a fraction.
[[nodiscard]] Json number_json(double x);
/// The same as text, with as few digits as give the number back. REQUIRES: finite.
[[nodiscard]] std::string number_text(double x);

}  // namespace photonrail::sweep
