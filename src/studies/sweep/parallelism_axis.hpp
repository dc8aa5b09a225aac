// The axis of all factorisations of the GPUs of a cluster into the dimensions of parallelism of a training job.
#pragma once

#include "studies/sweep/axis.hpp"

#include <filesystem>

namespace photonrail::sweep {

/// `value`: "all". Choices: each tp (within a server), cp, pp and dp whose product is the number of GPUs of the base's
/// cluster, and with which the base's job is a valid one; the rest of its parallelism stays. Throws ConfigError: the base
/// is no training job, or no factorisation is valid.
[[nodiscard]] Axis read_parallelism_axis(const JsonReader& value, const Json& base, const std::filesystem::path& directory);

}  // namespace photonrail::sweep
