// Solves the max-min fair rates of shared flows (progressive filling; Bertsekas and Gallager, Data Networks, section 6.5).
// An allocation is max-min fair exactly when every flow has a bottleneck, a full capacity on which no flow is faster. So a
// capacity has a level, the rate of all flows whose bottleneck it is, and the levels are what is solved: once an instant,
// and only those that a change reaches.
//
// A capacity is at rest when its bound flows, all at its level, take what the flows that are bound elsewhere leave of its
// rate; none of those is faster than the level. Capacities that are not are solved one by one, the lowest level first, as
// progressive filling would fill them: what is below is final, what is above adapts. A capacity that is solved changes what
// it leaves to those that its bound flows cross, and takes over the flows that would be faster; those capacities are solved
// in their turn, until all are at rest, or until it pays to fill all anew (ProgressiveFilling). Work is done for
// the flows whose rate changes, and a few operations for each; flows of long paths that cross the same capacity count there
// as one (CrossingCounts).
#pragma once

#include "engine/engine.hpp"
#include "network/capacity_flows.hpp"
#include "network/departure_agenda.hpp"
#include "network/flow_table.hpp"
#include "network/progressive_filling.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace photonrail::network {

class LevelSolver {
 public:
  /// Holds what the solver reads and changes. All must outlive it. `rates`: of the capacities, bytes per picosecond.
  struct Parts {
    engine::Engine& engine;
    FlowTable& flows;
    CapacityFlows& lists;
    DepartureAgenda& agenda;
    const std::vector<double>& rates;
  };
  /// `max_visits`: how often a capacity is adapted in one solve; beyond that all levels are filled anew.
  /// REQUIRES: max_visits < 255.
  LevelSolver(const Parts& parts, std::uint8_t max_visits)
      : parts_(parts), max_visits_(max_visits), filling_(parts.flows, parts.lists, parts.rates) {}

  void resize(std::size_t capacities) { shares_.resize(capacities); }
  /// Number of flows from which on a solve that changes half of the capacities, or has gone through as many flows as there
  /// are, is made anew. That may change the last bits of a rate.
  void expect_crowds(std::size_t least_crowd) { least_crowd_ = least_crowd; }

  /// The flow takes its share within this instant.
  void add(FlowId id);
  /// The flow has left. REQUIRES: it has been solved.
  void remove(FlowId id);
  /// The rate of the capacity has grown by `more` bytes per picosecond, or shrunk.
  void change_rate(CapacityId id, double more);
  /// Solves now. Otherwise it does so at the end of the instant of a change.
  void settle();

  /// The rate of the capacity's bound flows, bytes per picosecond; kUnlimited: it limits no flow.
  [[nodiscard]] double level(CapacityId id) const { return shares_[id].level; }
  /// Returns what flows that left since the last solve have freed for the bound flows of the capacity, bytes per
  /// picosecond.
  [[nodiscard]] double unused(CapacityId id) const {
    return shares_[id].left - shares_[id].level * static_cast<double>(parts_.lists.bound(id).size());
  }
  /// The number of flows that share.
  [[nodiscard]] std::size_t flows() const { return flows_; }
  [[nodiscard]] std::uint64_t flows_solved() const { return flows_solved_; }

 private:
  // Holds what the solver needs of a capacity, apart and small, because it goes through many of them for each change.
  struct Share {
    double left = 0.0;              // of the rate, by the flows that are bound elsewhere
    double level = kUnlimited;      // the rate of the bound flows; kUnlimited: it limits no flow
    double fastest = 0.0;           // none of the flows that are bound elsewhere is faster
    std::uint32_t open = 0;         // flows without a bottleneck
    std::uint8_t visits = 0;        // by the present solve
    std::uint8_t since_summed = 0;  // visits since `left` was summed up
    bool queued = false;            // to be solved

    // Returns true when a change of `left` may change a level. A capacity that limits no flow begins to when `left` becomes
    // negative.
    [[nodiscard]] bool upset() const { return level != kUnlimited || left < 0.0; }
  };
  struct Joiner {
    double rate;
    HopSlot slot;
  };

  struct Change {
    CapacityId capacity;
    double level;
    double more;  // than its level before
  };

  void touch(CapacityId id);
  void enqueue(CapacityId id);
  void settle_event(std::uint64_t) { settle(); }
  void visit(CapacityId id, double key);
  [[nodiscard]] bool at_rest(CapacityId id) const;
  [[nodiscard]] double least_level(CapacityId id) const;
  [[nodiscard]] double solve(CapacityId id, double least);
  void gather(CapacityId id, double least);
  void set_level(CapacityId id, double level);
  [[nodiscard]] double take(Share* shares, CapacityId crossed, double level, double more);
  void pass_on_each(const Change& change);
  void pass_on_counted(const Change& change, const CrossingCounts& crossings);
  [[nodiscard]] HopSlot slowest(const Flow& flow) const;
  void rebind(HopSlot to);
  void unbind(HopSlot slot);
  [[nodiscard]] double remaining(HopSlot slot);
  [[nodiscard]] std::uint64_t work_before_filling() const;
  void fill();
  void move(HopSlot to);

  Parts parts_;
  std::uint8_t max_visits_;
  std::vector<Share> shares_;
  std::vector<LevelCandidate> candidates_;  // a heap while it is being solved
  bool solving_ = false;
  std::size_t least_crowd_ = std::numeric_limits<std::size_t>::max();
  std::uint64_t fill_above_ = 0;  // flows_solved_ by which the present solve should have come to rest
  bool settle_scheduled_ = false;
  std::vector<CapacityId> visited_;
  std::vector<Joiner> joiners_;
  std::vector<HopSlot> leavers_;
  std::vector<CapacityId> slower_;
  ProgressiveFilling filling_;
  std::size_t flows_ = 0;
  std::uint64_t flows_solved_ = 0;
};

}  // namespace photonrail::network
