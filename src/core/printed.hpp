// Numbers as text, by the formats of printf(): what messages and keys of files show stays the same to the last digit.
#pragma once

#include "photonrail/units.hpp"

#include <concepts>
#include <cstdio>
#include <string>

namespace photonrail::core {

/// printed("%.4g", 0.25). REQUIRES: the format has a conversion for each value, and its text fits in 400 characters.
template <std::same_as<double>... Values>
[[nodiscard]] std::string printed(const char* format, Values... values) {
  char text[400];  // the longest double takes 317 as "%.6f"
  const int length = std::snprintf(text, sizeof text, format, values...);
  return {text, static_cast<std::size_t>(length)};
}
/// Seconds with six decimals: what sentences about instants have.
[[nodiscard]] inline std::string seconds_text(Duration time) { return std::to_string(to_seconds(time)) + " s"; }
[[nodiscard]] inline std::string seconds_text(Time at) { return seconds_text(at.since_start()); }

}  // namespace photonrail::core
