#include "network/crossing_counts.hpp"

#include <bit>
#include <utility>

namespace photonrail::network {

void CrossingCounts::add(CapacityId id) {
  if (2 * (used_ + 1) > entries_.size()) rebuild();
  Entry& entry = entries_[find(id)];
  if (entry.capacity == kNone) {
    entry.capacity = id;
    ++used_;
  }
  ++entry.flows;
}

// Room for twice the entries that count, and one more.
void CrossingCounts::rebuild() {
  std::size_t counting = 0;
  for_each([&](CapacityId, std::uint32_t) { ++counting; });
  const std::size_t size = std::bit_ceil(4 * (counting + 1));
  const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(size));
  shift_ = 32 - std::countr_zero(size);
  used_ = counting;
  for (const Entry& entry : old) {
    if (entry.flows > 0) entries_[find(entry.capacity)] = entry;
  }
}

}  // namespace photonrail::network
