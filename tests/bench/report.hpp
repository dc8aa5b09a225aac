// What every benchmark says besides its time.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace photonrail::bench {

/// The peak of the process so far, not of the benchmark: run one benchmark alone (--benchmark_filter) to learn its memory.
/// Linux: getrusage() would count the program that started this one too. 0 elsewhere.
inline double peak_rss_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024.0;  // kB
  }
  return 0.0;
}

/// `items` in all iterations together.
inline void report(benchmark::State& state, std::uint64_t items) {
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.counters["peak_rss_mb"] = peak_rss_mb();
}

}  // namespace photonrail::bench
