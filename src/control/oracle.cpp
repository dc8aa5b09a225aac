// Oracle: knows the whole schedule, and lights every circuit as early as its two fibres can have it. A bound for policies that
// keep the order of the profiling run: with the order of operations given, no circuit could be there sooner.
//
// A fibre's future is the sequence of the pairs that its rank's operations will use. A circuit is joined as soon as it is
// what both of its fibres are to do next (with more ports: among the next that find a port); nobody has to ask, and the
// circuits of an operation come one by one.
//
// Leaves out: another order than the profiling run's (coalesce looks for one); circuits that nobody knows before the
// operation is there (demands, stragglers), which are lit when it asks.
#include "control/builtin.hpp"

#include <algorithm>
#include <vector>

namespace photonrail {

namespace {

class Oracle : public Controller {
 public:
  Decision decide(const FabricView& view) override {
    view_ = &view;
    wanted_out_.assign(view.positions, {});
    wanted_in_.assign(view.positions, {});
    for (const CircuitRequest& demand : view.demands) {
      if (demand.blocking) want(demand.pairs);
    }
    for (const RankSchedule& rank : view.schedule) look_ahead(rank);
    taken_.assign(view.transmit.size(), false);
    given_.assign(view.transmit.size(), false);
    CircuitPlan plan;
    for (ServerIndex from = 0; from < view.positions; ++from) {
      for (const ServerIndex to : wanted_out_[from]) {
        if (has(wanted_in_[to], from)) join({from, to}, plan);
      }
    }
    if (plan.connect.empty()) return std::nullopt;
    return plan;
  }

 private:
  using Peers = std::vector<ServerIndex>;

  [[nodiscard]] static bool has(const Peers& peers, ServerIndex peer) {
    return std::find(peers.begin(), peers.end(), peer) != peers.end();
  }

  void add(Peers& peers, ServerIndex peer) const {
    if (peers.size() < view_->ports_per_gpu && !has(peers, peer)) peers.push_back(peer);
  }

  void want(std::span<const ServerPair> pairs) {
    for (const ServerPair pair : pairs) {
      add(wanted_out_[pair.from], pair.to);
      add(wanted_in_[pair.to], pair.from);
    }
  }

  // The rank's own fibres only: what the others do next is in their schedules. After the last operation of a step comes the
  // first of the next.
  void look_ahead(const RankSchedule& rank) {
    const std::size_t count = rank.operations.size();
    Peers& out = wanted_out_[rank.position];
    Peers& in = wanted_in_[rank.position];
    for (std::size_t i = 0; i < count && (out.size() < view_->ports_per_gpu || in.size() < view_->ports_per_gpu); ++i) {
      for (const ServerPair pair : rank.operations[(rank.next + i) % count].pairs) {
        if (pair.from == rank.position) add(out, pair.to);
        if (pair.to == rank.position) add(in, pair.from);
      }
    }
  }

  void join(ServerPair pair, CircuitPlan& plan) {
    if (view_->ports_per_gpu == 1 && made(pair)) return;
    const PortId from = transmit_for(pair);
    const PortId to = receive_for(pair);
    if (from.is_none() || to.is_none() || made(pair)) return;
    taken_[from.index()] = given_[to.index()] = true;
    plan.connect.push_back({from, to});
  }

  [[nodiscard]] bool made(ServerPair pair) const {
    for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
      const PortId peer = view_->transmit[view_->port(pair.from, p).index()].peer;
      if (!peer.is_none() && view_->position(peer) == pair.to) return true;
    }
    return false;
  }

  [[nodiscard]] bool is_free(PortId from) const {
    const PortView& fibre = view_->transmit[from.index()];
    return !fibre.in_use && (fibre.peer.is_none() || fibre.lit);
  }

  // A fibre whose circuit is not among those that are wanted.
  [[nodiscard]] PortId transmit_for(ServerPair pair) const {
    for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
      const PortId port = view_->port(pair.from, p);
      const PortId peer = view_->transmit[port.index()].peer;
      if (taken_[port.index()] || !is_free(port)) continue;
      if (peer.is_none() || !has(wanted_out_[pair.from], view_->position(peer))) return port;
    }
    return PortId::none();
  }

  [[nodiscard]] PortId receive_for(ServerPair pair) const {
    for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
      const PortId port = view_->port(pair.to, p);
      const PortId source = view_->receive[port.index()];
      if (given_[port.index()] || (!source.is_none() && !is_free(source))) continue;
      if (source.is_none() || !has(wanted_in_[pair.to], view_->position(source))) return port;
    }
    return PortId::none();
  }

  const FabricView* view_ = nullptr;
  std::vector<Peers> wanted_out_;  // by position: to whom it sends next
  std::vector<Peers> wanted_in_;   // ... from whom it receives next
  std::vector<bool> taken_;        // by port: its transmit fibre is in the plan
  std::vector<bool> given_;        // ... its receive fibre
};

std::unique_ptr<Controller> make_oracle(const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<Oracle>();
}

PolicyNeeds oracle_needs(const ControllerSpec&) {
  PolicyNeeds needs;
  needs.shim.scheduled = true;
  needs.schedule = true;
  return needs;
}

}  // namespace

ControllerFactory oracle_factory() {
  ControllerFactory factory;
  factory.name = "oracle";
  factory.summary = "knows the schedule, and lights each circuit as soon as its fibres have done what comes before: a bound";
  factory.make = make_oracle;
  factory.needs = oracle_needs;
  return factory;
}

}  // namespace photonrail
