// The best of each value of a free choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace photonrail::plan {

/// The best run with each value of a choice, or else the least bound of a candidate with it.
class BestOfValue {
 public:
  struct Of {
    double objective = 0.0;
    bool simulated = false;
    std::size_t job = 0;
    std::uint64_t run = 0;
  };

  void see(std::uint64_t value, const Of& candidate) {
    const auto [at, fresh] = of_.try_emplace(value, candidate);
    Of& best = at->second;
    const bool better = candidate.simulated && (!best.simulated || candidate.objective < best.objective);
    const bool lower = !candidate.simulated && !best.simulated && candidate.objective < best.objective;
    if (better || lower) best = candidate;
  }
  [[nodiscard]] const std::map<std::uint64_t, Of>& all() const { return of_; }

 private:
  std::map<std::uint64_t, Of> of_;
};

}  // namespace photonrail::plan
