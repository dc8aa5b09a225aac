// Servers or racks that are held back for jobs that a failure stops.
#pragma once

#include "studies/slices/pods/scheduling.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::slices {

class SparePool {
 public:
  SparePool(const PodSpec& pod, const Spares& spares);

  /// Takes units that are idle as a whole from `pod` until there are as many spares as wanted.
  void top_up(Pod& pod);
  /// Makes all spares idle in `pod`.
  void lend(Pod& pod) const;
  /// Units that have one of these accelerators are spares no more, and idle in `pod`.
  void give_up(Pod& pod, std::span<const std::uint32_t> accelerators);
  [[nodiscard]] bool empty() const { return units_.empty(); }

 private:
  struct Unit {
    std::vector<std::uint32_t> accelerators{};
    std::uint32_t domain = 0;  // in which spares are counted: the rack, or 0
    bool held = false;
  };

  std::vector<Unit> units_;             // servers or racks; none without spares
  std::vector<std::uint32_t> unit_of_;  // by accelerator
  std::vector<std::uint32_t> missing_;  // spares that are not held, by domain
  std::uint32_t all_missing_ = 0;
};

/// An idle pod but for its spares.
[[nodiscard]] Pod without_spares(const PodSpec& pod, const Spares& spares);

}  // namespace photonrail::slices
