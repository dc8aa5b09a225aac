// What every benchmark says besides its time.
#pragma once

#include "run/peak_memory.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>

namespace photonrail::bench {

/// `items` in all iterations together. The peak is of the process so far, not of the benchmark: run one benchmark alone
/// (--benchmark_filter) to learn its memory.
inline void report(benchmark::State& state, std::uint64_t items) {
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.counters["peak_rss_mb"] = run::peak_rss_mb();
}

}  // namespace photonrail::bench
