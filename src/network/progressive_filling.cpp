#include "network/progressive_filling.hpp"

#include <algorithm>

namespace photonrail::network {

// The textbook algorithm (Bertsekas and Gallager, Data Networks, 6.5.2): all rates rise together, and the capacity that is
// full at the lowest level freezes its flows there. Keys in the heap are lower bounds, because freezing a flow below the
// level of a capacity leaves it more for the others: a key that is out of date is put back with its present value.
void ProgressiveFilling::run() {
  begin();
  while (!next_.empty()) {
    const auto [lowest, id] = next_.front();
    const Filled& filled = filled_[id];
    const double level = rates_[id] > 0.0 && filled.to_freeze > 0 ? std::max(0.0, filled.left) / filled.to_freeze : lowest;
    if (level > lowest) {  // others have frozen flows of it below since: its turn comes later
      engine::heap_replace_first(next_, {level, id});
      continue;
    }
    engine::heap_pop(next_);
    if (filled.to_freeze > 0) freeze(id, level);
  }
}

void ProgressiveFilling::begin() {
  next_.clear();
  moved_.clear();
  filled_.assign(rates_.size(), {});
  for (CapacityId id = 0; id < rates_.size(); ++id) {
    filled_[id].left = rates_[id];
    if (lists_.empty(id)) continue;
    filled_[id].to_freeze = static_cast<std::uint32_t>(lists_.bound(id).size() + lists_.others(id).size());
    next_.push_back({std::max(0.0, rates_[id]) / filled_[id].to_freeze, id});
  }
  std::sort(next_.begin(), next_.end());  // which makes it a heap
}

inline void ProgressiveFilling::take(CapacityId id, double level) {
  Filled& filled = filled_[id];
  filled.left -= level;
  filled.fastest = std::max(filled.fastest, level);
  --filled.to_freeze;
}

// All flows that are frozen nowhere yet.
void ProgressiveFilling::freeze(CapacityId id, double level) {
  filled_[id].level = level;
  filled_[id].to_freeze = 0;
  for (const BoundFlow& b : lists_.bound(id)) {
    if (b.other == kNone) {
      static_cast<void>(freeze_path(id, b.slot, level));
    } else if (filled_[b.other].level == kUnlimited) {
      take(b.other, level);
    }
  }
  freeze_others(id, level);
}

void ProgressiveFilling::freeze_others(CapacityId id, double level) {
  const bool pairs = lists_.only_pairs();
  for (const CrossingFlow& c : lists_.others(id)) {
    if (!pairs || c.bottleneck == kNone) {
      if (freeze_path(id, c.slot, level)) moved_.push_back(c.slot);
    } else if (filled_[c.bottleneck].level == kUnlimited) {
      take(c.bottleneck, level);
      moved_.push_back(c.slot);
    }
  }
}

// False: the flow is frozen at another capacity.
bool ProgressiveFilling::freeze_path(CapacityId id, HopSlot slot, double level) {
  const auto path = flows_.hops_of(flows_[flows_.hop(slot).flow]);
  for (const Hop& hop : path) {
    if (hop.capacity != id && filled_[hop.capacity].level != kUnlimited) return false;
  }
  for (const Hop& hop : path) {
    if (hop.capacity != id) take(hop.capacity, level);
  }
  return true;
}

}  // namespace photonrail::network
