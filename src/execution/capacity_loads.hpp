// Counts the bytes of operations by the capacities that they cross: which leave their server, and how much each port and
// uplink carries. The loads follow from plans and placements, so that no message is looked at.
#pragma once

#include "execution/operation.hpp"
#include "fabric/fabric.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace photonrail::execution {

/// One capacity, and the bytes that leave over it.
struct CapacityLoad {
  fabric::Place place;
  double bytes = 0.0;
};

class CapacityLoads {
 public:
  /// `remembers`: load_of() will be asked.
  explicit CapacityLoads(bool remembers = false) : remembers_(remembers) {}

  /// Counts a start of the operation. Returns the bytes between servers of the plan as it is run: of a folded group its
  /// part. Forwarded bytes count once.
  Bytes count(const Operation& op, const fabric::Fabric& fabric);

  /// The loads of one operation, ascending by place, of its whole group. REQUIRES: it has started, and the object
  /// remembers.
  [[nodiscard]] const std::vector<CapacityLoad>& load_of(std::uint32_t sequence) const;
  /// The loads of all operations that have started, ascending by place: of uplinks and links between sites alone, unless
  /// the object remembers.
  [[nodiscard]] std::vector<CapacityLoad> totals() const;
  /// The bytes of one operation over one uplink, in what a member of it sends on average, at most.
  [[nodiscard]] double members_over_an_uplink() const { return members_over_an_uplink_; }

 private:
  struct Entry {
    Bytes rail{};
    std::uint64_t starts = 0;
    std::uint32_t loads = 0;  // in loads_
  };
  [[nodiscard]] std::vector<CapacityLoad> measure(const Operation& op, const fabric::Fabric& fabric) const;
  [[nodiscard]] Entry enter(const Operation& op, const fabric::Fabric& fabric);

  bool remembers_;
  double members_over_an_uplink_ = 0.0;
  // Plans of calls without a traffic matrix live as long as the run.
  std::map<std::pair<const RunnablePlan*, CommunicatorId>, Entry> known_;
  std::vector<std::vector<CapacityLoad>> loads_{{}};  // the first: of what carries nothing that is looked at
  std::map<fabric::Place, double> uneven_;            // of operations with a traffic matrix
  std::vector<std::uint32_t> loads_of_;               // by sequence: in loads_
};

}  // namespace photonrail::execution
