// Small jobs for tests.
#pragma once

#include "photonrail/testing/fuzz.hpp"
#include "photonrail/testing/tiny_job.hpp"

#include <cstdint>

namespace photonrail::test {

using Job = testing::TinyJob;

inline constexpr std::int64_t kMegabyte = 1'000'000;  // 20 us at 50 GB/s

inline Duration us(double x) { return Duration{static_cast<std::int64_t>(x * 1e6)}; }
inline Duration ms(double x) { return us(x * 1000); }

/// The four parts of every rank add up to the makespan, to the picosecond.
inline bool books_balance(const RunResult& result) { return testing::books_problem(result).empty(); }

}  // namespace photonrail::test
