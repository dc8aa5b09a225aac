// Threads over points, within a bound on memory.
#pragma once

#include "studies/study.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace photonrail::studies {

/// A point that is to be run.
struct PendingPoint {
  std::size_t point = 0;
  Estimate estimate{};
};

struct Pool {
  std::uint32_t threads = 1;  ///< 0: as many as cores
  /// Of estimates in flight; a point that needs more on its own runs alone.
  std::uint64_t memory_bytes = std::numeric_limits<std::uint64_t>::max();
  Stop stop = [] { return false; };

  /// Calls `work` for each point, those of the most work first; of equal ones the first of `points`. What it returns keeps
  /// the result and is called by one thread at a time. What either throws ends the others and comes out, but for Stopped.
  void run(std::vector<PendingPoint> points,
           const std::function<std::function<void()>(std::size_t point, const Stop& stop)>& work) const;
};

}  // namespace photonrail::studies
