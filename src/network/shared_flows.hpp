// Flows that share capacities: their max-min fair rates, and when the next of them ends.
#pragma once

#include "engine/engine.hpp"
#include "network/capacity_flows.hpp"
#include "network/departure_agenda.hpp"
#include "network/epoch_flows.hpp"
#include "network/flow_table.hpp"
#include "network/level_solver.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::network {

class SharedFlows {
 public:
  /// Holds what shared flows are built from. All must outlive the object. `rates`: of the capacities, bytes per picosecond.
  struct Parts {
    engine::Engine& engine;
    FlowTable& flows;
    const std::vector<double>& rates;
  };
  /// The interface calls take_leaving() and take_ended(): when flows end, and in an epoch.
  struct Departures {
    engine::Action leaving;
    engine::Action ended;
  };
  /// `accuracy`: EpochFlows; `max_visits`: LevelSolver.
  SharedFlows(const Parts& parts, const Departures& departures, double accuracy, std::uint8_t max_visits);
  SharedFlows(const SharedFlows&) = delete;  // its parts know each other
  SharedFlows& operator=(const SharedFlows&) = delete;

  void resize(std::size_t capacities);
  /// `rates` have another rate of the capacity than they had when this was called for it before.
  void change_rate(CapacityId id);

  /// The flow takes its share within this instant, and ends when its `remaining` bytes are sent.
  void add(FlowId id);
  /// Takes the flow out; what it has left is its `remaining`. REQUIRES: it is shared, and settle() in this instant.
  void withdraw(FlowId id);
  /// Takes the flows that end now from their capacities. Valid until the next call of this or take_ended().
  [[nodiscard]] const std::vector<FlowId>& take_leaving();
  /// The flows of an epoch that end now.
  [[nodiscard]] const std::vector<FlowId>& take_ended();

  /// Returns true when no shared flow has the capacity on its path.
  [[nodiscard]] bool none_on(CapacityId id) const { return lists_.empty(id) && (exact_ || epochs_.none_on(id)); }
  /// Calls `visit(flow)` for each flow that has the capacity on its path.
  template <class Visit>
  void for_each(CapacityId id, Visit&& visit) const {
    for (const BoundFlow& flow : lists_.bound(id)) visit(flows_.hop(flow.slot).flow);
    for (const CrossingFlow& flow : lists_.others(id)) visit(flows_.hop(flow.slot).flow);
    epochs_.for_each(id, visit);
  }
  /// Bytes that the flow has left.
  [[nodiscard]] double unsent(const Flow& flow) const;
  /// Bytes per picosecond. REQUIRES: solved since it was added.
  [[nodiscard]] double rate(const Flow& flow) const {
    if (flow.state == FlowState::kEnding) return epochs_.rate(flow);
    return solver_.level(flows_.hop(flow.bottleneck).capacity);
  }

  /// Solves now. Otherwise this happens at the end of the instant of a change.
  void settle() { solver_.settle(); }
  [[nodiscard]] std::uint64_t flows_solved() const { return solver_.flows_solved(); }
  [[nodiscard]] const EpochFlows& epochs() const { return epochs_; }

 private:
  const engine::Engine& engine_;
  FlowTable& flows_;
  const std::vector<double>& rates_;
  std::vector<double> available_;  // the rates without what epochs reserve
  const bool exact_;
  CapacityFlows lists_;
  DepartureAgenda agenda_;
  LevelSolver solver_;
  EpochFlows epochs_;
  std::vector<FlowId> leaving_;
};

}  // namespace photonrail::network
