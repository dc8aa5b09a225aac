// What the time of a job's computations rests on, for people.
#pragma once

#include "photonrail/result.hpp"

#include <string>

namespace photonrail {

/// A table of classes of operators by source, in per cent of all GPU time, and the costliest operators. A training job that
/// was not timed operator by operator gets a line that says so, any other workload nothing; several jobs in turn.
[[nodiscard]] std::string operators_text(const RunResult& result);

}  // namespace photonrail
