// A hash as text.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace photonrail::sweep {

/// 16 hexadecimal digits.
[[nodiscard]] inline std::string hex(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace photonrail::sweep
