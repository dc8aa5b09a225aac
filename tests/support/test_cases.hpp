// How many cases a property is examined with: few in the gate, as many as PHOTONRAIL_TEST_CASES says in the night.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace photonrail::test {

/// PHOTONRAIL_TEST_CASES where it is a number above 0, else `usual`.
inline std::uint64_t test_cases(std::uint64_t usual) {
  const char* given = std::getenv("PHOTONRAIL_TEST_CASES");
  const std::uint64_t cases = given == nullptr ? 0 : std::strtoull(given, nullptr, 10);
  return cases > 0 ? cases : usual;
}

/// The number of the first case, for a night in pieces: PHOTONRAIL_TEST_SEED, or 0.
inline std::uint64_t first_case() {
  const char* given = std::getenv("PHOTONRAIL_TEST_SEED");
  return given == nullptr ? 0 : std::strtoull(given, nullptr, 10);
}

}  // namespace photonrail::test
