// Sizes whose time on one port of 50 GB/s is a round number.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>

namespace photonrail::test {

inline constexpr std::int64_t kMs = 50'000'000;        ///< bytes that take 1 ms
inline constexpr Duration kGiB{1'073'741'824LL * 20};  ///< what 1 GiB takes

}  // namespace photonrail::test
