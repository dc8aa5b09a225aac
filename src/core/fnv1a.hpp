// A hash that is the same on every machine and in every version.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace photonrail::core {

inline constexpr std::uint64_t kFnv1aStart = 0xcbf29ce484222325ULL;

/// FNV-1a, 64 bits (Fowler, Noll, Vo). To hash several texts as one, give the hash of the first as `hash`.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = kFnv1aStart) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

/// 16 hexadecimal digits.
[[nodiscard]] inline std::string hex(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace photonrail::core
