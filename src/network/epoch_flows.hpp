// Crowds of flows within a stated accuracy. Of an exact crowd nearly every departure changes nearly every rate, so that the
// work grows with the square of the number of flows. Here those that end soon are taken together: in an epoch they get what
// they have left, at an even rate, and all other flows share the rest by max-min fair rates. No byte is lost and no
// capacity idles for it; only when inside an epoch a flow ends is estimated, at the rate that it had when the epoch began.
//
// Limits with accuracy a: an epoch is no longer than a times the age of each of its flows, up to ten times that where the
// level of a flow's bottleneck hardly changes in it and no flow arrives, and at most a share a of the flows that are being
// sent is in it. Below 2 / a flows none are taken together: the end of a crowd is exact.
#pragma once

#include "engine/engine.hpp"
#include "network/capacity_flows.hpp"
#include "network/departure_agenda.hpp"
#include "network/flow_table.hpp"
#include "network/level_solver.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::network {

class EpochFlows {
 public:
  /// All must outlive the object. `rates`: of the capacities, bytes per picosecond; `available`: without what epochs
  /// reserve, which the solver shares out.
  struct Parts {
    engine::Engine& engine;
    FlowTable& flows;
    CapacityFlows& lists;
    DepartureAgenda& agenda;
    LevelSolver& solver;
    const std::vector<double>& rates;
    std::vector<double>& available;
  };
  /// `departure`: called when flows end; it calls take_ended(). `accuracy` 0: no epochs. REQUIRES: 0 <= accuracy < 1.
  EpochFlows(const Parts& parts, const engine::Action& departure, double accuracy)
      : parts_(parts), departure_(departure), accuracy_(accuracy) {}
  EpochFlows(const EpochFlows&) = delete;  // events name it
  EpochFlows& operator=(const EpochFlows&) = delete;

  void resize(std::size_t capacities) {
    reserved_.resize(capacities);
    scratch_.resize(capacities);
  }
  /// The least number of flows of which some are taken together: below it everything is exact. REQUIRES: accuracy > 0.
  [[nodiscard]] std::size_t least_crowd() const { return static_cast<std::size_t>(std::ceil(kLeastFlows / accuracy_)); }

  /// Takes the flows that end soon from the solver, if they are enough for an epoch. REQUIRES: a departure, with no flow
  /// left that ends now.
  void begin();
  /// Appends the flows that end now.
  void take_ended(std::vector<FlowId>& leaving);
  /// A flow is about to come to the solver: the next epochs are not longer than the accuracy, and a longer one ends.
  void arrive(const Flow& flow);
  /// The flows of the epoch go back to the solver with what they have left, and nothing stays reserved.
  void dissolve();

  /// Returns true when no epoch reserves a part of the capacity.
  [[nodiscard]] bool none_on(CapacityId id) const { return reserved_[id] == 0.0; }
  /// Calls `visit(flow)` for each flow that has the capacity on its path and has not ended.
  template <class Visit>
  void for_each(CapacityId id, Visit&& visit) const {
    for (std::size_t i = next_; i < ends_.size(); ++i) {
      for (const Hop& hop : parts_.flows.hops_of(parts_.flows[ends_[i].flow])) {
        if (hop.capacity == id) visit(ends_[i].flow);
      }
    }
  }
  /// Bytes per picosecond, until its estimated end.
  [[nodiscard]] double rate(const Flow& flow) const;
  [[nodiscard]] double unsent(const Flow& flow) const;

  [[nodiscard]] std::uint64_t epochs() const { return epochs_; }
  [[nodiscard]] std::uint64_t flows() const { return flows_; }

 private:
  static constexpr std::size_t kLeastFlows = 2;  // of an epoch

  struct End {
    Time at;
    FlowId flow;
    Time came;  // Flow::begin before the epoch
  };

  [[nodiscard]] bool take_next();
  [[nodiscard]] double longest(CapacityId id, double level) const;
  void reserve(std::size_t first);
  void take_reserved();
  void spread(Time until);
  void set_reserved(CapacityId id, double rate);
  void give_back();
  void release();
  void end(std::uint64_t);
  void schedule_next_end();

  Parts parts_;
  engine::Action departure_;
  const double accuracy_;
  std::vector<double> reserved_;        // by capacity, bytes per picosecond until end_
  std::vector<double> scratch_;         // by capacity; 0 but while a method runs
  double most_longer_ = 1.0;            // than the accuracy times the age of a flow: the next epoch
  bool arrived_ = false;                // since the last epoch ended
  std::vector<CapacityId> with_share_;  // capacities of which a part is reserved
  Time end_{};
  engine::EventHandle end_event_{};
  std::vector<End> ends_;  // from next_ on: of the flows that have not ended, in order
  std::size_t next_ = 0;
  engine::EventHandle next_event_{};
  std::uint64_t epochs_ = 0;
  std::uint64_t flows_ = 0;
};

}  // namespace photonrail::network
