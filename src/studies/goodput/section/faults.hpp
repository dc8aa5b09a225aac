// Files of recorded faults.
#pragma once

#include "photonrail/study/goodput/spec.hpp"

#include <filesystem>
#include <vector>

namespace photonrail::goodput {

/// CSV with a head line that has the columns server, start_day, end_day and, where there is one, class; or a JSON list of
/// objects with these keys. In ascending start. Throws ConfigError with FILE:LINE or the entry.
[[nodiscard]] std::vector<TraceFault> read_faults(const std::filesystem::path& file);

}  // namespace photonrail::goodput
