// What results of three runs, each longer by the same number of steps, say of one that is longer still.
#pragma once

#include "photonrail/result.hpp"
#include "run/job_setup.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace photonrail::run {

/// A run's result, and the sums that its means are of.
struct StepsResult {
  RunResult result;
  StepRecord record{};
};

/// Makes `runs[2]` the result of a run that is longer by `times` the difference of two of them. `period`: steps of that
/// difference, which repeat up to step `steady`. Returns false when a number does not grow alike, or does not fit 64 bits.
[[nodiscard]] bool grow(const std::array<StepsResult*, 3>& runs, std::int64_t times, std::uint32_t period,
                        std::size_t steady);

}  // namespace photonrail::run
