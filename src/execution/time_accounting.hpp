// The accounting of a run: where each rank's time goes, traffic by dimension, windows between phases.
#pragma once

#include "execution/lockstep_groups.hpp"
#include "execution/mean.hpp"
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

/// The means over ranks that are in DimensionTraffic, with their sums.
struct TrafficMeans {
  Mean busy{};
  Mean exposed{};
  Mean waited{};

  void report(DimensionTraffic& traffic) const;
};

/// The intervals of a run in which a rank waited for peers, ascending, by rank.
using PeerWaitLog = std::vector<std::vector<std::pair<Time, Time>>>;

/// Holds what a run's accounting comes to.
struct Accounts {
  std::vector<RankTime> ranks;
  std::array<DimensionTraffic, kDimensionCount> traffic{};
  std::array<TrafficMeans, kDimensionCount> means{};  ///< that `traffic` has
  std::map<std::pair<Dimension, Dimension>, std::vector<WindowCount>> windows;
  std::map<Dimension, DurationHistogram> operation_times;
  std::map<Dimension, DurationHistogram> circuit_waits;
  Bytes rail_bytes{};  ///< of the bytes on the wire, those between servers
};

class TimeAccounting {
 public:
  /// `class_of_rank`: in a folded run, which of the ranks run here stands for each rank of the job; otherwise empty. It
  /// must outlive the object. `uncounted`: so many ranks at the end of the job are in no accounts of ranks, and in no mean.
  /// `peer_waits`: gets each interval of waiting for peers, and must outlive the object; then no groups may run as one.
  explicit TimeAccounting(std::size_t ranks, std::span<const std::uint32_t> class_of_rank = {}, std::size_t uncounted = 0,
                          PeerWaitLog* peer_waits = nullptr);

  void compute_began(RankId rank, Time now) { ++settle(rank, now).computing; }
  void compute_ended(RankId rank, Time now) { --settle(rank, now).computing; }

  /// Begins a computation of all ranks of a group at once. Ranks that do the same from then on have one clock, until
  /// something of one of them alone changes.
  void compute_began(const LockstepGroup& group, Time now) {
    change(group, now, [](Clock& clock) { ++clock.computing; });
  }
  void compute_ended(const LockstepGroup& group, Time now) {
    change(group, now, [](Clock& clock) { --clock.computing; });
  }
  void running_began(const LockstepGroup& group, Dimension d, Time now) {
    change(group, now, [d](Clock& clock) { clock.begin_running(d); });
  }
  void running_ended(const LockstepGroup& group, Dimension d, Time now) {
    change(group, now, [d](Clock& clock) { clock.end_running(d); });
  }

  /// Books a part of the computing that just ended as detection: the GPU stood still, and nothing knew it.
  void undetected(RankId rank, Duration length) {
    clocks_[rank.index()].time.compute -= length;
    clocks_[rank.index()].time.detection += length;
  }
  /// Light of an operation of the rank is gone, and the control plane does not know it.
  void blind_began(RankId rank, Time now) { ++settle(rank, now).blind; }
  void blind_ended(RankId rank, Time now) { --settle(rank, now).blind; }

  /// An operation of the rank has bytes on their way.
  void running_began(RankId rank, Dimension d, Time now) { settle(rank, now).begin_running(d); }
  void running_ended(RankId rank, Dimension d, Time now) { settle(rank, now).end_running(d); }

  /// An operation of the rank lacks only its circuits.
  void waiting_began(RankId rank, Dimension d, Time now);
  void waiting_ended(RankId rank, Dimension d, Time now);

  /// Returns what the rank has waited for circuits so far.
  [[nodiscard]] Duration reconfiguration_wait(RankId rank, Time now) { return settle(rank, now).time.reconfiguration_wait; }

  /// The same of peers; a rank that has nothing to do waits for them.
  [[nodiscard]] Duration peer_wait(RankId rank, Time now) { return settle(rank, now).time.peer_wait; }

  /// Every member of a rail operation has reached it; its end on this rank.
  void rail_ready(RankId rank, Dimension d, Time now);
  void rail_ended(RankId rank, Dimension d, Time now);

  /// `copies` operations with so many bytes on the wire each, `rail_bytes` of them between servers.
  void traffic(Dimension d, Bytes wire_bytes, std::uint64_t copies = 1, Bytes rail_bytes = {});
  /// Records the duration of `copies` operations.
  void operation_took(Dimension d, Duration time, std::uint64_t copies) { operation_times_[d].add(time, copies); }

  /// The accounts at the end of the run. REQUIRES: nothing runs any more.
  [[nodiscard]] Accounts finish(Time makespan);

 private:
  static constexpr std::uint32_t kAlone = ~std::uint32_t{0};
  [[nodiscard]] static constexpr std::uint32_t bit(Dimension d) { return 1u << static_cast<unsigned>(d); }

  struct Activity {
    Duration busy{};
    Duration exposed{};
    Duration waited{};
    std::uint32_t running = 0;
    std::uint32_t waiting = 0;
  };
  // RankTime but for what is idle, which only an agent's workload has.
  struct Times {
    Duration compute{};
    Duration exposed_communication{};
    Duration reconfiguration_wait{};
    Duration peer_wait{};
    Duration detection{};

    [[nodiscard]] RankTime rank_time() const {
      return {compute, exposed_communication, reconfiguration_wait, peer_wait, detection};
    }
  };
  // With many ranks each event finds its ranks' clocks outside of the cache: what a change touches lies in two lines.
  struct alignas(64) Clock {
    Time last{};
    Times time;
    std::uint32_t computing = 0;
    std::uint32_t blind = 0;
    std::uint16_t running_in = 0;  // dimensions, by bit, with an operation that runs
    std::uint16_t waiting_in = 0;  // ... that waits
    std::uint32_t group = kAlone;  // into group_clocks_: the clock that runs in place of this one
    std::array<Activity, kDimensionCount> activities{};
    std::array<Time, kDimensionCount> waiting_since{};
    Time rail_end{};
    std::uint32_t rail_operations = 0;  // ready and not ended
    Dimension rail_dimension = Dimension::kOther;
    bool rail_used = false;

    [[nodiscard]] Activity& at(Dimension d) { return activities[static_cast<std::size_t>(d)]; }
    void begin_running(Dimension d) {
      ++at(d).running;
      running_in = static_cast<std::uint16_t>(running_in | bit(d));
    }
    void end_running(Dimension d) {
      if (--at(d).running == 0) running_in = static_cast<std::uint16_t>(running_in & ~bit(d));
    }
    /// Returns true when the same runs and waits.
    [[nodiscard]] bool does_as(const Clock& other) const;
    /// Does what `other` does, from its last change on.
    void do_as(const Clock& other);
    void add_times_of(const Clock& other);
  };
  // The clock of a group: what its ranks did since they run as one.
  struct GroupClock {
    Clock clock;
    LockstepGroup group;
  };
  /// Windows between two dimensions, equal ones together now and then: memory follows different lengths, not iterations.
  struct WindowTally {
    std::vector<WindowCount> counts;
    std::size_t merge_at = 256;

    void add(Duration length, std::uint64_t count);
  };

  template <class Change>
  void change(const LockstepGroup& group, Time now, Change&& change) {
    if (Clock* clock = clock_of(group, now)) return change(*clock);
    for (std::uint32_t m = 0; m < group.size; ++m) change(settle(group.rank(m), now));
  }
  static Clock& pass(Clock& clock, Time now);
  Clock& settle(RankId rank, Time now);
  [[nodiscard]] Clock* clock_of(const LockstepGroup& group, Time now);
  [[nodiscard]] bool join(const LockstepGroup& group, Time now);
  void part(GroupClock& group, Time now);
  void count_windows(Accounts& accounts);
  void mean_traffic(std::size_t ranks, Accounts& accounts) const;

  std::vector<Clock> clocks_;
  std::vector<GroupClock> group_clocks_;  // by LockstepGroup::index
  std::span<const std::uint32_t> class_of_rank_;
  std::vector<std::int64_t> copies_;  // by clock: ranks of the job that it stands for
  std::size_t uncounted_;
  PeerWaitLog* peer_waits_;                                                        // null: not kept
  std::array<std::array<WindowTally, kDimensionCount>, kDimensionCount> windows_;  // by dimension before, after
  std::map<Dimension, DurationHistogram> operation_times_;
  std::map<Dimension, DurationHistogram> circuit_waits_;
  Bytes rail_bytes_{};
  std::array<DimensionTraffic, kDimensionCount> traffic_{};
  Bytes all_bytes_{};  // of all dimensions: what fits, fits each of them
};

}  // namespace photonrail::execution
