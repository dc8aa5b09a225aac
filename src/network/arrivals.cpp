#include "network/arrivals.hpp"

namespace photonrail::network {

void Arrivals::leave(FlowId id, Group& group) {
  Flow& flow = flows_[id];
  const Time arrival = engine_.now() + flow.overhead + flow.latency;
  flow.state = FlowState::kArriving;
  flow.next = kNone;
  if (group.last != kNone && arrival == group.arrival) {
    flows_[group.last].next = id;
  } else {
    engine_.schedule(arrival, engine::Phase::kFinish, engine::Action::to<&Arrivals::deliver_all>(*this, id));
  }
  group = {id, arrival};
}

void Arrivals::deliver_all(std::uint64_t first) {
  for (auto id = static_cast<FlowId>(first); id != kNone;) {
    const FlowId next = flows_[id].next;
    deliver(id);
    id = next;
  }
}

}  // namespace photonrail::network
