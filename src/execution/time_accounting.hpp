// The accounting of a run: where each rank's time goes, traffic by dimension, windows between phases.
#pragma once

#include "photonrail/accounting.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace photonrail::execution {

/// Sorts windows by their length, each length once.
void merge_equal(std::vector<WindowCount>& windows);

/// What a run's accounting comes to.
struct Accounts {
  std::vector<RankTime> ranks;
  std::array<DimensionTraffic, kDimensionCount> traffic{};
  std::map<std::pair<Dimension, Dimension>, std::vector<WindowCount>> windows;
};

class TimeAccounting {
 public:
  explicit TimeAccounting(std::size_t ranks) : clocks_(ranks) {}

  void compute_began(RankId rank, Time now) { ++settle(rank, now).computing; }
  void compute_ended(RankId rank, Time now) { --settle(rank, now).computing; }

  /// An operation of the rank has bytes on their way.
  void running_began(RankId rank, Dimension d, Time now) { ++settle(rank, now).running[static_cast<std::size_t>(d)]; }
  void running_ended(RankId rank, Dimension d, Time now) { --settle(rank, now).running[static_cast<std::size_t>(d)]; }

  /// An operation of the rank lacks only its circuits.
  void waiting_began(RankId rank, Time now) { ++settle(rank, now).waiting; }
  void waiting_ended(RankId rank, Time now) { --settle(rank, now).waiting; }

  /// What the rank has waited for circuits so far.
  [[nodiscard]] Duration reconfiguration_wait(RankId rank, Time now) { return settle(rank, now).time.reconfiguration_wait; }

  /// Every member of a rail operation has reached it; its end on this rank.
  void rail_ready(RankId rank, Dimension d, Time now);
  void rail_ended(RankId rank, Dimension d, Time now);

  /// `copies` operations with so many bytes on the wire each.
  void traffic(Dimension d, Bytes wire_bytes, std::uint64_t copies = 1);

  /// The accounts at the end of the run. `class_of_rank`: in a folded run, which of the ranks run here stands for each rank
  /// of the job; otherwise empty. REQUIRES: nothing runs any more.
  [[nodiscard]] Accounts finish(Time makespan, std::span<const std::uint32_t> class_of_rank);

 private:
  struct Clock {
    Time last{};
    std::uint32_t computing = 0;
    std::uint32_t waiting = 0;
    std::array<std::uint32_t, kDimensionCount> running{};
    RankTime time;
    std::array<Duration, kDimensionCount> busy{};
    std::array<Duration, kDimensionCount> exposed{};
    Time rail_end{};
    Dimension rail_dimension = Dimension::kOther;
    std::uint32_t rail_operations = 0;  // ready and not ended
    bool rail_used = false;
    std::vector<std::pair<std::pair<Dimension, Dimension>, Duration>> windows;
  };

  Clock& settle(RankId rank, Time now);
  void count_windows(std::span<const std::int64_t> copies, Accounts& accounts) const;
  void mean_traffic(std::span<const std::int64_t> copies, std::size_t ranks, Accounts& accounts) const;

  std::vector<Clock> clocks_;
  std::array<DimensionTraffic, kDimensionCount> traffic_{};
  Bytes all_bytes_{};  // of all dimensions: what fits, fits each of them
};

}  // namespace photonrail::execution
