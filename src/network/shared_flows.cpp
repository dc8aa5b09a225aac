#include "network/shared_flows.hpp"

#include <utility>

namespace photonrail::network {

SharedFlows::SharedFlows(const Parts& parts, const Departures& departures, double accuracy, std::uint8_t max_visits)
    : engine_(parts.engine),
      flows_(parts.flows),
      rates_(parts.rates),
      exact_(accuracy <= 0.0),
      lists_(parts.engine, parts.flows),
      agenda_(parts.engine, departures.leaving),
      solver_({parts.engine, parts.flows, lists_, agenda_, available_}, max_visits),
      epochs_({parts.engine, parts.flows, lists_, agenda_, solver_, rates_, available_}, departures.ended, accuracy) {
  if (!exact_) solver_.expect_crowds(epochs_.least_crowd());
}

void SharedFlows::resize(std::size_t capacities) {
  available_.resize(capacities);
  lists_.resize(capacities);
  agenda_.resize(capacities);
  solver_.resize(capacities);
  epochs_.resize(capacities);
}

// An epoch that is dissolved has told the solver of the new rate.
void SharedFlows::change_rate(CapacityId id) {
  if (!epochs_.none_on(id)) epochs_.dissolve();
  solver_.change_rate(id, rates_[id] - std::exchange(available_[id], rates_[id]));
}

void SharedFlows::add(FlowId id) {
  flows_[id].begin = engine_.now();
  if (!exact_) epochs_.arrive(flows_[id]);
  solver_.add(id);
}

// A departure or an epoch at this instant may come before the solver does: both rely on the agenda.
void SharedFlows::withdraw(FlowId id) {
  if (flows_[id].bottleneck == kNone) solver_.settle();
  flows_[id].remaining = unsent(flows_[id]);
  const CapacityId capacity = flows_.hop(flows_[id].bottleneck).capacity;
  solver_.remove(id);
  const bool none = lists_.bound(capacity).empty();
  agenda_.set(capacity, none ? Time::never() : lists_.first_end(capacity, solver_.level(capacity)));
}

// The agenda names capacities whose first flow ends now; of each, all flows that end at this instant leave. The solver
// works once for all of them, at the end of the instant.
const std::vector<FlowId>& SharedFlows::take_leaving() {
  agenda_.begin_departure();
  leaving_.clear();
  for (CapacityId id = agenda_.due(); id != kNone; id = agenda_.due()) {
    const std::vector<BoundFlow>& bound = lists_.bound(id);
    do {
      leaving_.push_back(flows_.hop(bound.front().slot).flow);
      solver_.remove(leaving_.back());
    } while (!bound.empty() && lists_.first_end(id, solver_.level(id)) <= engine_.now());
    // An epoch asks for the next end before the solver does.
    if (exact_ || bound.empty()) {
      agenda_.remove(id);
    } else {
      agenda_.set(id, lists_.first_end(id, solver_.level(id)));
    }
  }
  if (!exact_) epochs_.begin();
  return leaving_;
}

const std::vector<FlowId>& SharedFlows::take_ended() {
  leaving_.clear();
  epochs_.take_ended(leaving_);
  return leaving_;
}

double SharedFlows::unsent(const Flow& flow) const {
  if (flow.state == FlowState::kEnding) return epochs_.unsent(flow);
  return flow.bottleneck == kNone ? flow.remaining : lists_.unsent(flow.bottleneck, rate(flow));
}

}  // namespace photonrail::network
