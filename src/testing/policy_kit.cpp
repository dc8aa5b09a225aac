#include "photonrail/testing/policy_kit.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <set>

namespace photonrail::testing {

RailView::RailView(std::uint32_t positions, std::uint32_t ports_per_gpu)
    : transmit_(std::size_t{positions} * ports_per_gpu), receive_(std::size_t{positions} * ports_per_gpu, PortId::none()) {
  view_.positions = positions;
  view_.ports_per_gpu = ports_per_gpu;
}

RailView& RailView::circuit(ServerPair pair, bool lit, bool in_use) {
  for (std::uint32_t a = 0; a < view_.ports_per_gpu; ++a) {
    const PortId from = view_.port(pair.from, a);
    if (!transmit_[from.index()].peer.is_none()) continue;
    for (std::uint32_t b = 0; b < view_.ports_per_gpu; ++b) {
      const PortId to = view_.port(pair.to, b);
      if (!receive_[to.index()].is_none()) continue;
      transmit_[from.index()] = {to, lit, in_use};
      receive_[to.index()] = from;
      return *this;
    }
  }
  throw InternalError("RailView: no free port for the circuit");
}

void RailView::take(PortId from) {
  PortView& fibre = transmit_[from.index()];
  if (fibre.peer.is_none()) return;
  receive_[fibre.peer.index()] = PortId::none();
  fibre = {};
}

RailView& RailView::dark(ServerPair pair) {
  for (std::uint32_t p = 0; p < view_.ports_per_gpu; ++p) {
    const PortId from = view_.port(pair.from, p);
    const PortId peer = transmit_[from.index()].peer;
    if (!peer.is_none() && view_.position(peer) == pair.to) take(from);
  }
  return *this;
}

RailView& RailView::demand(std::vector<ServerPair> pairs, Dimension dimension, const DemandOptions& options) {
  std::sort(pairs.begin(), pairs.end());
  pairs_.push_back(std::move(pairs));
  CircuitRequest demand;
  demand.id = RequestId{next_demand_};
  demand.communicator = CommunicatorId{next_demand_++};
  demand.dimension = dimension;
  demand.pairs = pairs_.back();
  bytes_.push_back(options.bytes);
  demand.bytes = bytes_.back();
  demand.members = options.members;
  demand.asked = options.asked;
  demand.since = options.since;
  demand.complete = options.since;
  demand.blocking = options.blocking;
  (demand.all_asked() ? demands_ : gathering_).push_back(demand);
  return *this;
}

RailView& RailView::clear_demands() {
  demands_.clear();
  gathering_.clear();
  pairs_.clear();
  bytes_.clear();
  return *this;
}

RailView& RailView::at(Time now) {
  view_.now = now;
  return *this;
}

RailView& RailView::reconfiguration(Duration delay) {
  view_.reconfiguration = {.switching = delay};
  return *this;
}

const FabricView& RailView::view() {
  view_.transmit = transmit_;
  view_.receive = receive_;
  view_.requests = demands_;
  view_.partial_requests = gathering_;
  return view_;
}

CircuitPlan RailView::plan(const std::vector<ServerPair>& pairs) const {
  CircuitPlan plan;
  for (const ServerPair pair : pairs) plan.connect.push_back({view_.port(pair.from, 0), view_.port(pair.to, 0)});
  return plan;
}

RailView& RailView::apply(const CircuitPlan& plan) {
  connect(plan, true);
  return *this;
}

RailView& RailView::begin(const CircuitPlan& plan) {
  connect(plan, false);
  return *this;
}

RailView& RailView::light() {
  for (PortView& fibre : transmit_) fibre.lit = !fibre.peer.is_none();
  return *this;
}

PortView* RailView::find(ServerPair pair, bool in_use) {
  for (std::uint32_t p = 0; p < view_.ports_per_gpu; ++p) {
    PortView& fibre = transmit_[view_.port(pair.from, p).index()];
    if (fibre.lit && fibre.in_use == in_use && view_.position(fibre.peer) == pair.to) return &fibre;
  }
  return nullptr;
}

bool RailView::hold(ServerPair pair) {
  PortView* fibre = find(pair, false);
  if (fibre == nullptr) return false;
  fibre->in_use = true;
  return true;
}

RailView& RailView::release(ServerPair pair) {
  PortView* fibre = find(pair, true);
  if (fibre == nullptr) throw InternalError("RailView: no circuit of the pair is in use");
  fibre->in_use = false;
  return *this;
}

void RailView::connect(const CircuitPlan& plan, bool lit) {
  for (const PortId from : plan.disconnect) take(from);
  for (const Circuit circuit : plan.connect) {
    if (transmit_[circuit.from.index()].peer == circuit.to) continue;
    take(circuit.from);
    if (!receive_[circuit.to.index()].is_none()) take(receive_[circuit.to.index()]);
    transmit_[circuit.from.index()] = {circuit.to, lit, false};
    receive_[circuit.to.index()] = circuit.from;
  }
}

namespace {

std::string text(Circuit c) { return std::to_string(c.from.value) + " -> " + std::to_string(c.to.value); }

}  // namespace

std::string matching_problem(const FabricView& view, const CircuitPlan& plan) {
  std::set<PortId> from;
  std::set<PortId> to;
  for (const Circuit circuit : plan.connect) {
    if (circuit.from.index() >= view.transmit.size() || circuit.to.index() >= view.transmit.size()) {
      return "the circuit " + text(circuit) + " names a port that the rail does not have";
    }
    if (view.position(circuit.from) == view.position(circuit.to))
      return "the circuit " + text(circuit) + " joins a GPU to itself";
    if (!from.insert(circuit.from).second)
      return "two circuits take the transmit fibre of port " + std::to_string(circuit.from.value);
    if (!to.insert(circuit.to).second)
      return "two circuits take the receive fibre of port " + std::to_string(circuit.to.value);
  }
  for (const PortId port : plan.disconnect) {
    if (port.index() >= view.transmit.size()) return "port " + std::to_string(port.value) + " to disconnect does not exist";
    if (!from.insert(port).second) return "port " + std::to_string(port.value) + " is both connected and disconnected";
  }
  return "";
}

std::string teardown_problem(const FabricView& view, const CircuitPlan& plan) {
  for (const Circuit circuit : darkened_by(view, plan)) {
    if (view.transmit[circuit.from.index()].in_use) return "the circuit " + text(circuit) + " is in use and would go dark";
  }
  return "";
}

std::vector<Circuit> darkened_by(const FabricView& view, const CircuitPlan& plan) {
  std::vector<Circuit> lost;
  const auto lose = [&](PortId from) {
    if (from.index() >= view.transmit.size() || view.transmit[from.index()].peer.is_none()) return;
    lost.push_back({from, view.transmit[from.index()].peer});
  };
  for (const Circuit circuit : plan.connect) {
    if (circuit.from.index() >= view.transmit.size() || circuit.to.index() >= view.receive.size()) continue;
    if (view.transmit[circuit.from.index()].peer == circuit.to) continue;
    lose(circuit.from);
    lose(view.receive[circuit.to.index()]);
  }
  for (const PortId port : plan.disconnect) lose(port);
  std::sort(lost.begin(), lost.end());
  lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
  return lost;
}

std::string check_plan(const FabricView& view, const CircuitPlan& plan) {
  const std::string problem = matching_problem(view, plan);
  return problem.empty() ? teardown_problem(view, plan) : problem;
}

}  // namespace photonrail::testing
