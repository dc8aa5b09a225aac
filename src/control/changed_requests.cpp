#include "control/changed_requests.hpp"

#include "control/free_ports.hpp"
#include "photonrail/control/waiting.hpp"

#include <algorithm>
#include <span>

namespace photonrail::control {

namespace {

// Returns true when a request of the queue has its turn before this one: those that block first, then by order.
bool is_claimed_before(std::span<const CircuitRequest* const> queue, const CircuitRequest& request) {
  bool before = true;
  for (const CircuitRequest* other : queue) {
    if (other == &request) {
      if (request.blocking) return false;
      before = false;
    } else if (other->blocking || (before && !request.blocking)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void ChangedRequests::learn_own(const FabricView& view) {
  if (learned_) return;
  learned_ = true;
  sends_.resize(view.transmit.size());
  receives_.resize(view.transmit.size());
  if (view.own.empty() || view.own.size() == view.transmit.size()) return;
  foreign_.assign(view.transmit.size(), true);
  for (const ServerIndex position : view.own) foreign_[position] = false;
}

void ChangedRequests::serve(const FabricView& view, std::vector<Circuit>& connect) {
  learn_own(view);
  served_.clear();
  for (const CircuitRequest* request : view.by_port->changed()) {
    if (serve(view, *request) && !joined_.empty()) served_.push_back({request, joined_});
  }
  if (served_.size() > 1) sort_by_turn(view);
  for (const Served& served : served_) connect.insert(connect.end(), served.circuits.begin(), served.circuits.end());
}

void ChangedRequests::sort_by_turn(const FabricView& view) {
  std::sort(served_.begin(), served_.end(), [&](const Served& a, const Served& b) {
    if (a.request->blocking != b.request->blocking) return a.request->blocking;
    return view.by_port->precedes(*a.request, *b.request);
  });
}

// As FreePorts::serve_all() of one circuit a pair: first the circuits that are there, then those that are missing. False:
// not every pair can have one.
bool ChangedRequests::serve(const FabricView& view, const CircuitRequest& request) {
  joined_.clear();
  have_.clear();
  for (const ServerPair pair : request.pairs) have_.push_back(keep(view, request, pair));
  bool all = true;
  for (std::size_t i = 0; i < have_.size() && all; ++i) all = have_[i] || join(view, request, request.pairs[i]);
  for (const ServerPair pair : request.pairs) sends_[pair.from] = receives_[fibre_of(pair.to)] = false;
  return all;
}

// A circuit in use serves the request too.
bool ChangedRequests::keep(const FabricView& view, const CircuitRequest& request, ServerPair pair) {
  const PortView& fibre = view.transmit[pair.from];
  if (fibre.peer != PortId{pair.to} || !(fibre.in_use || may_send(view, request, pair.from))) return false;
  sends_[pair.from] = receives_[fibre_of(pair.to)] = true;
  return true;
}

bool ChangedRequests::join(const FabricView& view, const CircuitRequest& request, ServerPair pair) {
  if (is_fixed(view, view.transmit[pair.from]) || !may_send(view, request, pair.from)) return false;
  const ServerIndex to = fibre_of(pair.to);
  const PortId source = view.receive[to];
  if (view.transmit[to].faulty || (!source.is_none() && is_fixed(view, view.transmit[source.index()]))) return false;
  if (!may_receive(view, request, to)) return false;
  sends_[pair.from] = receives_[fibre_of(pair.to)] = true;
  joined_.push_back({PortId{pair.from}, PortId{pair.to}});
  return true;
}

bool ChangedRequests::may_send(const FabricView& view, const CircuitRequest& request, ServerIndex from) const {
  if (sends_[from] || (!foreign_.empty() && foreign_[from])) return false;
  return !is_claimed_before(view.by_port->senders(from), request);
}

bool ChangedRequests::may_receive(const FabricView& view, const CircuitRequest& request, ServerIndex to) const {
  if (receives_[to] || (!foreign_.empty() && foreign_[to])) return false;
  return !is_claimed_before(view.by_port->receivers(to), request);
}

}  // namespace photonrail::control
