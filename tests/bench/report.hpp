// What every benchmark says besides its time.
#pragma once

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdint>

namespace photonrail::bench {

/// The peak of the process so far, not of the benchmark: run one benchmark alone (--benchmark_filter) to learn its memory.
inline double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// `items` in all iterations together.
inline void report(benchmark::State& state, std::uint64_t items) {
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.counters["peak_rss_mb"] = peak_rss_mb();
}

}  // namespace photonrail::bench
