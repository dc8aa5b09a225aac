// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): every bit of the result depends on every bit of `x`.
#pragma once

#include <cstdint>

namespace photonrail::core {

inline constexpr std::uint64_t kMix64Step = 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio

[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace photonrail::core
