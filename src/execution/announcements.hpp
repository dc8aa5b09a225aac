// Ranks that say which launch they will enter next: as IssueOrder does for a known schedule, the requests for its circuits
// go out when the last message before it is complete on the rank.
#pragma once

#include "execution/circuit_service.hpp"
#include "execution/launch_table.hpp"
#include "execution/operation_table.hpp"
#include "execution/schedule.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace photonrail::execution {

/// Where requests go that ranks send ahead of their operations.
struct AheadRequests {
  CircuitService* circuits = nullptr;        ///< null: none are sent
  const RankBehaviour* behaviour = nullptr;  ///< says whose
};

class Announcements {
 public:
  /// All must outlive the object.
  Announcements(LaunchTable& table, OperationTable& operations, AheadRequests ahead)
      : table_(table), operations_(operations), ahead_(ahead) {}

  /// The rank of the part will enter the launch, which is open.
  void announce(Launch& launch, std::uint32_t part);
  /// It does: its messages are before those of what it announces from now on.
  void entered(Launch& launch, std::uint32_t part) {
    if (ahead_.circuits != nullptr) count(launch, part);
  }
  /// A task of the part is complete.
  void completed(Launch& launch, std::uint32_t part, TaskId local) {
    if (ahead_.circuits != nullptr) uncount(launch, part, local);
  }
  /// Launches whose ranks have all asked, once each. REQUIRES: called before another is closed.
  [[nodiscard]] std::vector<const Launch*> take_asked() { return std::exchange(asked_, {}); }

 private:
  struct Rank {
    std::uint32_t messages = 0;       // of launches that it has entered, over rails and not complete
    std::vector<LaunchId> announced;  // for when there are none
  };

  [[nodiscard]] bool announces(RankId rank) const;
  [[nodiscard]] bool crosses(const Launch& launch, std::uint32_t part, TaskId local) const;
  void count(Launch& launch, std::uint32_t part);
  void uncount(Launch& launch, std::uint32_t part, TaskId local);
  void request(Launch& launch, std::uint32_t part);

  LaunchTable& table_;
  OperationTable& operations_;
  const AheadRequests ahead_;
  std::vector<Rank> ranks_;  // of the job; none before one announces
  std::vector<const Launch*> asked_;
};

}  // namespace photonrail::execution
