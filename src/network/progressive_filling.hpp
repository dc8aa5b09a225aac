// Fills the max-min fair levels of all capacities anew (progressive filling; Bertsekas and Gallager, Data Networks,
// section 6.5): the capacity that is full first freezes its flows at its level, and what they take is gone for the others.
// It goes through each flow once for each capacity on its path, in the order of memory where paths have two.
#pragma once

#include "engine/rank_heap.hpp"
#include "network/capacity_flows.hpp"
#include "network/flow_table.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace photonrail::network {

/// A capacity, and the level at which it may become a bottleneck.
struct LevelCandidate {
  double level;
  CapacityId capacity;

  // The bits of a double that is not negative order like it.
  [[nodiscard]] engine::Rank rank() const {
    return (static_cast<engine::Rank>(std::bit_cast<std::uint64_t>(level)) << 64) | capacity;
  }
  [[nodiscard]] static LevelCandidate of(engine::Rank rank) {
    return {std::bit_cast<double>(static_cast<std::uint64_t>(rank >> 64)), static_cast<CapacityId>(rank)};
  }
  bool operator<(const LevelCandidate& b) const { return rank() < b.rank(); }
};

class ProgressiveFilling {
 public:
  struct Filled {
    double left = 0.0;          ///< of the rate, by the flows that are frozen elsewhere
    double level = kUnlimited;  ///< of the flows that are frozen here; kUnlimited: none is
    double fastest = 0.0;       ///< of the flows that are frozen elsewhere
    std::uint32_t to_freeze = 0;
  };

  /// All must outlive the object. `rates`: of the capacities, bytes per picosecond.
  ProgressiveFilling(const FlowTable& flows, const CapacityFlows& lists, const std::vector<double>& rates)
      : flows_(flows), lists_(lists), rates_(rates) {}

  /// Solves the levels of all flows of the lists. O(flows on paths of two), and more for longer ones.
  void run();

  [[nodiscard]] const Filled& operator[](CapacityId id) const { return filled_[id]; }
  /// Returns, of the flows that are frozen at another capacity than their bottleneck, the hop where they are.
  [[nodiscard]] const std::vector<HopSlot>& moved() const { return moved_; }

 private:
  void begin();
  void freeze(CapacityId id, double level);
  void freeze_others(CapacityId id, double level);
  [[nodiscard]] bool freeze_path(CapacityId id, HopSlot slot, double level);
  void take(CapacityId id, double level);

  const FlowTable& flows_;
  const CapacityFlows& lists_;
  const std::vector<double>& rates_;
  std::vector<Filled> filled_;  // by capacity
  std::vector<LevelCandidate> next_;
  std::vector<HopSlot> moved_;
};

}  // namespace photonrail::network
