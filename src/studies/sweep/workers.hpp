// Threads over points, within a bound on memory.
#pragma once

#include "studies/sweep/points.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace photonrail::sweep {

struct Job {
  std::uint32_t point = 0;
  Estimate estimate{};
};

struct Workers {
  std::uint32_t threads = 1;
  std::uint64_t memory_bytes = 0;  ///< of estimates in flight; a point that needs more on its own runs alone
  Stop stop = [] { return false; };

  /// Runs the jobs, those of the most work first, and gives each record to `keep`, one at a time. What `keep` throws ends
  /// the others and comes out.
  void run(const PointRunner& points, std::vector<Job> jobs, const std::function<void(const Record&)>& keep) const;
};

}  // namespace photonrail::sweep
