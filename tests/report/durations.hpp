#pragma once

#include "photonrail/units.hpp"

#include <cstdint>

namespace photonrail::test {

constexpr Duration us(std::int64_t n) { return Duration{n * 1'000'000}; }

}  // namespace photonrail::test
