// The capacities that a capacity's bound flows cross, and how many of these flows cross each: a change of level is passed
// on once for each capacity, however many flows there are.
#pragma once

#include "network/flow.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::network {

/// A hash table with linear probing. The order of its entries depends on the calls alone, so that runs repeat.
class CrossingCounts {
 public:
  void add(CapacityId id);
  /// REQUIRES: as many add() of this capacity before.
  void remove(CapacityId id) { --entries_[find(id)].flows; }
  void clear() {
    entries_.clear();
    used_ = 0;
  }

  /// Calls `visit(capacity, flows)` for each capacity that some flow crosses.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.flows > 0) visit(entry.capacity, entry.flows);
    }
  }

 private:
  struct Entry {
    CapacityId capacity = kNone;  // kNone: never used
    std::uint32_t flows = 0;      // 0: may be crossed again, and is dropped when the table grows
  };

  // The entry of the capacity, or the unused one where it would be. REQUIRES: one is unused.
  [[nodiscard]] std::size_t find(CapacityId id) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = (id * std::uint32_t{2654435769}) >> shift_;
    while (entries_[at].capacity != id && entries_[at].capacity != kNone) at = (at + 1) & mask;
    return at;
  }
  void rebuild();

  std::vector<Entry> entries_;  // a power of two
  std::size_t used_ = 0;
  int shift_ = 0;
};

}  // namespace photonrail::network
