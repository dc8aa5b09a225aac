// What a launcher needs of run_sweep().
#pragma once

#include "photonrail/study/sweep.hpp"

#include <cstdint>

namespace photonrail::sweep {

/// Makes the folder ready for processes that run shards: earlier shards are merged, the points that are missing are
/// checked with the names of `known`, and results.jsonl says what is there. Returns how many are missing.
std::uint64_t prepare_for_shards(const Sweep& sweep, const SweepOptions& options, const Registries& known);

}  // namespace photonrail::sweep
