#include "network/shared_flows.hpp"

namespace photonrail::network {

SharedFlows::SharedFlows(const Parts& parts, const engine::Action& departure, std::uint8_t max_visits)
    : engine_(parts.engine),
      flows_(parts.flows),
      lists_(parts.engine, parts.flows),
      agenda_(parts.engine, departure),
      solver_({parts.engine, parts.flows, lists_, agenda_, parts.rates}, max_visits) {}

void SharedFlows::resize(std::size_t capacities) {
  lists_.resize(capacities);
  agenda_.resize(capacities);
  solver_.resize(capacities);
}

const std::vector<FlowId>& SharedFlows::take_leaving() {
  agenda_.begin_departure();
  leaving_.clear();
  for (CapacityId id = agenda_.due(); id != kNone; id = agenda_.due()) {
    const std::vector<BoundFlow>& bound = lists_.bound(id);
    do {
      leaving_.push_back(flows_.hop(bound.front().slot).flow);
      solver_.remove(leaving_.back());
    } while (!bound.empty() && lists_.first_end(id, solver_.level(id)) <= engine_.now());
    agenda_.remove(id);
  }
  return leaving_;
}

}  // namespace photonrail::network
