// Opus (arXiv 2507.08119 and 2602.12521): re-points the circuits of a rail when every member of a group has asked. Demands
// are served in the order in which they became complete, those that hold up their members before those that were announced;
// a demand that cannot be served yet keeps the ports that it needs from younger ones, so that none starves. Circuits in use
// are never touched, circuits that nobody asks for stay as they are.
//
// The asking (on demand, or announced one phase ahead) is the ranks' part: ShimPolicy, carried out by the simulation.
//
// Leaves out: the published prototype's time-outs, and its one-bit-a-stage topologies: circuits change one by one here, so
// that two groups on disjoint ports never wait for each other.
#include "control/builtin.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace photonrail {

namespace {

class Opus : public Controller {
 public:
  Decision decide(const FabricView& view) override {
    view_ = &view;
    claimed_transmit_.assign(view.transmit.size(), false);
    claimed_receive_.assign(view.receive.size(), false);
    plan_ = {};
    for (const bool blocking : {true, false}) {
      for (const DemandView& demand : view.demands) {
        if (demand.blocking == blocking) serve(demand);
      }
    }
    if (plan_.connect.empty()) return std::nullopt;
    return plan_;
  }

 private:
  // Ports in parallel for each pair: all that the GPU with the most partners can give each of them.
  [[nodiscard]] std::uint32_t width(std::span<const Pair> pairs) {
    if (view_->ports_per_gpu == 1) return 1;
    degree_.resize(2 * std::size_t{view_->positions});
    std::uint32_t most = 1;
    for (const Pair pair : pairs) most = std::max({most, ++degree_[pair.from], ++degree_[view_->positions + pair.to]});
    for (const Pair pair : pairs) degree_[pair.from] = degree_[view_->positions + pair.to] = 0;
    return std::max(1u, view_->ports_per_gpu / most);
  }

  void serve(const DemandView& demand) {
    const std::uint32_t wanted = width(demand.pairs);
    std::vector<Circuit> connect;
    std::vector<std::uint32_t> have;  // what one pair has already is not taken for another
    for (const Pair pair : demand.pairs) have.push_back(claim_existing(pair, wanted));
    bool possible = true;
    for (std::size_t i = 0; i < have.size(); ++i) {
      while (have[i] < wanted && join(demand.pairs[i], connect)) ++have[i];
      // Circuits that carry another operation's bytes are waited for; with fewer ports than wanted it goes on with those.
      if (have[i] == 0) possible = false;
    }
    if (possible) {
      plan_.connect.insert(plan_.connect.end(), connect.begin(), connect.end());
    } else {
      reserve(demand.pairs);
    }
  }

  std::uint32_t claim_existing(Pair pair, std::uint32_t wanted) {
    std::uint32_t have = 0;
    for (std::uint32_t p = 0; p < view_->ports_per_gpu && have < wanted; ++p) {
      const PortId from = view_->port(pair.from, p);
      const PortView& fibre = view_->transmit[from.index()];
      if (fibre.peer.is_none() || view_->position(fibre.peer) != pair.to) continue;
      if (claimed_transmit_[from.index()] && !fibre.in_use) continue;  // an older demand takes it away
      claim({from, fibre.peer});
      ++have;
    }
    return have;
  }

  // On the plane where the fewest fibres are taken from others; the first among equals.
  bool join(Pair pair, std::vector<Circuit>& connect) {
    std::optional<Circuit> best;
    int least = 0;
    for (std::uint32_t plane = 0; plane < view_->planes; ++plane) {
      const PortId from = free_transmit(pair.from, plane);
      const PortId to = free_receive(pair.to, plane);
      if (from.is_none() || to.is_none()) continue;
      const int taken = !view_->transmit[from.index()].peer.is_none() + !view_->receive[to.index()].is_none();
      if (best && taken >= least) continue;
      best = {from, to};
      least = taken;
    }
    if (!best) return false;
    claim(*best);
    connect.push_back(*best);
    return true;
  }

  // A port whose fibre may be taken: nobody older wants it, it carries nothing and is not on its way; dark ones first.
  [[nodiscard]] PortId free_transmit(Position position, std::uint32_t plane) const {
    PortId best = PortId::none();
    for (std::uint32_t p = plane; p < view_->ports_per_gpu; p += view_->planes) {
      const PortId port = view_->port(position, p);
      const PortView& fibre = view_->transmit[port.index()];
      if (claimed_transmit_[port.index()] || busy(fibre)) continue;
      if (fibre.peer.is_none()) return port;
      if (best.is_none()) best = port;
    }
    return best;
  }

  [[nodiscard]] PortId free_receive(Position position, std::uint32_t plane) const {
    PortId best = PortId::none();
    for (std::uint32_t p = plane; p < view_->ports_per_gpu; p += view_->planes) {
      const PortId port = view_->port(position, p);
      const PortId source = view_->receive[port.index()];
      if (claimed_receive_[port.index()] || view_->transmit[port.index()].faulty) continue;
      if (source.is_none()) return port;
      if (!busy(view_->transmit[source.index()]) && best.is_none()) best = port;
    }
    return best;
  }

  // Not to be taken: it carries bytes, is on its way, or cannot be re-pointed at either end.
  [[nodiscard]] bool busy(const PortView& fibre) const {
    if (fibre.in_use || fibre.faulty) return true;
    return !fibre.peer.is_none() && (!fibre.lit || view_->transmit[fibre.peer.index()].faulty);
  }

  void claim(Circuit circuit) {
    claimed_transmit_[circuit.from.index()] = true;
    claimed_receive_[circuit.to.index()] = true;
  }

  // Nobody younger may take a fibre of these GPUs: they are needed as soon as they are free.
  void reserve(std::span<const Pair> pairs) {
    for (const Pair pair : pairs) {
      for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
        claimed_transmit_[view_->port(pair.from, p).index()] = true;
        claimed_receive_[view_->port(pair.to, p).index()] = true;
      }
    }
  }

  const FabricView* view_ = nullptr;
  CircuitPlan plan_;
  std::vector<bool> claimed_transmit_;
  std::vector<bool> claimed_receive_;
  std::vector<std::uint32_t>
      degree_;  // by position: partners to send to, then partners to receive from; all 0 between calls
};

}  // namespace

std::unique_ptr<Controller> make_opus(const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<Opus>();
}

PolicyNeeds opus_needs(const ControllerSpec& spec) {
  return {.shim = {spec.mode == OpusMode::kProvisioned, spec.order == OperationOrder::kScheduled}};
}

}  // namespace photonrail
