// Numbers as text, by the formats of printf(): what messages and keys of files show stays the same to the last digit.
#pragma once

#include <cstdio>
#include <string>

namespace photonrail::core {

/// printed("%.4g", 0.25). REQUIRES: the format has one conversion, of a double, and its text fits in 400 characters.
[[nodiscard]] inline std::string printed(const char* format, double value) {
  char text[400];  // the longest double takes 317 as "%.6f"
  const int length = std::snprintf(text, sizeof text, format, value);
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace photonrail::core
