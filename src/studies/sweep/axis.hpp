// The axes of a sweep file: lists of choices, each a patch of the scenario with the parameters that name it.
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/study/sweep.hpp"
#include "studies/sweep/condition.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::sweep {

struct Choice {
  Parameters parameters;
  std::vector<Override> patch;
};

struct Axis {
  std::vector<std::string> names;  ///< of its parameters
  std::vector<Choice> choices;     ///< in each, the parameters of `names` in that order
  Condition when;
};

/// `above`: the parameters of the axes before it.
[[nodiscard]] Axis read_axis(JsonReader section, const KnownParameters& above);

/// What a point changes in the base's file, each "/json/pointer=value".
[[nodiscard]] std::vector<std::string> overrides_of(const Sweep& sweep, const SweepPoint& point);
/// A JSON pointer that an axis may set.
[[nodiscard]] std::string read_pointer(const JsonReader& value);
/// What a parameter that sets the pointer is called where its axis does not say: the last key, with the key before it where
/// that is a column of every table.
[[nodiscard]] std::string parameter_name(const std::string& pointer);
/// Whether every table of a sweep has such a column, so that no parameter can be called so.
[[nodiscard]] bool is_column_of_tables(std::string_view name);
/// The number as JSON: whole ones without a fraction.
[[nodiscard]] Json number_json(double x);
/// The same as text, with as few digits as give the number back. REQUIRES: finite.
[[nodiscard]] std::string number_text(double x);

}  // namespace photonrail::sweep
