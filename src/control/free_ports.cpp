#include "control/free_ports.hpp"

#include <optional>

namespace photonrail {

void FreePorts::begin(const FabricView& view, std::span<const Time> last_use) {
  view_ = &view;
  last_use_ = last_use;
  claimed_transmit_.assign(view.transmit.size(), false);
  claimed_receive_.assign(view.transmit.size(), false);
}

std::uint32_t FreePorts::keep(ServerPair pair, std::uint32_t wanted) {
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
bool FreePorts::join(ServerPair pair, std::vector<Circuit>& connect) {
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

bool FreePorts::serve_all(std::span<const ServerPair> pairs, std::uint32_t wanted, std::vector<Circuit>& connect) {
  const std::size_t before = connect.size();
  // With fewer circuits for a pair that has several, another may get its first.
  for (; wanted > 1; --wanted) {
    const std::vector<bool> transmit = claimed_transmit_;
    const std::vector<bool> receive = claimed_receive_;
    if (try_all(pairs, wanted, connect)) return true;
    connect.resize(before);
    claimed_transmit_ = transmit;
    claimed_receive_ = receive;
  }
  if (try_all(pairs, 1, connect)) return true;
  connect.resize(before);
  reserve(pairs);
  return false;
}

// Circuits that carry another operation's bytes are waited for; with fewer ports than wanted it goes on with those.
bool FreePorts::try_all(std::span<const ServerPair> pairs, std::uint32_t wanted, std::vector<Circuit>& connect) {
  have_.clear();  // what one pair has already is not taken for another
  for (const ServerPair pair : pairs) have_.push_back(keep(pair, wanted));
  for (std::uint32_t want = 1; want <= wanted; ++want) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (have_[i] < want && join(pairs[i], connect)) ++have_[i];
      if (have_[i] == 0) return false;
    }
  }
  return true;
}

void FreePorts::reserve(std::span<const ServerPair> pairs) {
  for (const ServerPair pair : pairs) {
    for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
      claimed_transmit_[view_->port(pair.from, p).index()] = true;
      claimed_receive_[view_->port(pair.to, p).index()] = true;
    }
  }
}

PortId FreePorts::free_transmit(ServerIndex position, std::uint32_t plane) const {
  PortId best = PortId::none();
  for (std::uint32_t p = plane; p < view_->ports_per_gpu; p += view_->planes) {
    const PortId port = view_->port(position, p);
    const PortView& fibre = view_->transmit[port.index()];
    if (claimed_transmit_[port.index()] || busy(fibre)) continue;
    if (fibre.peer.is_none()) return port;
    if (best.is_none() || last_use(port) < last_use(best)) best = port;
  }
  return best;
}

PortId FreePorts::free_receive(ServerIndex position, std::uint32_t plane) const {
  PortId best = PortId::none();
  for (std::uint32_t p = plane; p < view_->ports_per_gpu; p += view_->planes) {
    const PortId port = view_->port(position, p);
    const PortId source = view_->receive[port.index()];
    if (claimed_receive_[port.index()] || view_->transmit[port.index()].faulty) continue;
    if (source.is_none()) return port;
    if (busy(view_->transmit[source.index()])) continue;
    if (best.is_none() || last_use(source) < last_use(view_->receive[best.index()])) best = port;
  }
  return best;
}

void FreePorts::claim(Circuit circuit) {
  claimed_transmit_[circuit.from.index()] = true;
  claimed_receive_[circuit.to.index()] = true;
}

}  // namespace photonrail
