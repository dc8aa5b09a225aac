#include "control/outlook.hpp"

#include <algorithm>

namespace photonrail::control {

bool joined(const FabricView& view, ServerPair pair) {
  for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) {
    const PortId peer = view.transmit[view.port(pair.from, p).index()].peer;
    if (!peer.is_none() && view.position(peer) == pair.to) return true;
  }
  return false;
}

namespace {

// A view written by hand may have no rate.
Duration time_of(const FabricView& view, Bytes bytes) {
  return view.port_rate.bytes_per_second > 0 ? transfer_time(bytes, view.port_rate) : Duration{};
}

}  // namespace

Duration service_time(const FabricView& view, const CircuitRequest& demand) {
  Bytes most{};
  for (const Bytes bytes : demand.bytes) most = std::max(most, bytes);
  return time_of(view, most);
}

ServiceEstimate::ServiceEstimate(const FabricView& view)
    : view_(view), transmit_free_(view.transmit.size(), view.now), receive_free_(view.transmit.size(), view.now) {
  source_.assign(view.receive.begin(), view.receive.end());
  for (std::size_t p = 0; p < view.transmit.size(); ++p) {
    const PortView& fibre = view.transmit[p];
    peer_.push_back(fibre.peer);
    if (fibre.peer.is_none()) continue;
    const Duration left = fibre.lit ? time_of(view, fibre.bytes_left) : view.reconfiguration.total();
    transmit_free_[p] = receive_free_[fibre.peer.index()] = view.now + left;
  }
}

PortId ServiceEstimate::circuit(ServerPair pair) const {
  for (std::uint32_t p = 0; p < view_.ports_per_gpu; ++p) {
    const PortId from = view_.port(pair.from, p);
    if (!peer_[from.index()].is_none() && view_.position(peer_[from.index()]) == pair.to) return from;
  }
  return PortId::none();
}

PortId ServiceEstimate::earliest(const std::vector<Time>& free, ServerIndex position) const {
  PortId best = view_.port(position, 0);
  for (std::uint32_t p = 1; p < view_.ports_per_gpu; ++p) {
    const PortId port = view_.port(position, p);
    if (free[port.index()] < free[best.index()]) best = port;
  }
  return best;
}

void ServiceEstimate::join(PortId from, PortId to) {
  if (!peer_[from.index()].is_none()) source_[peer_[from.index()].index()] = PortId::none();
  if (!source_[to.index()].is_none()) peer_[source_[to.index()].index()] = PortId::none();
  peer_[from.index()] = to;
  source_[to.index()] = from;
}

Time ServiceEstimate::serve(const CircuitRequest& demand, Time ready) {
  Time start = std::max(ready, view_.now);
  std::vector<PortId> used;
  for (const ServerPair pair : demand.pairs) {
    PortId from = circuit(pair);
    Duration change{};
    if (from.is_none()) {
      from = earliest(transmit_free_, pair.from);
      join(from, earliest(receive_free_, pair.to));
      change = view_.reconfiguration.total();
    }
    used.push_back(from);
    const PortId to = peer_[from.index()];
    start = std::max(start, std::max(transmit_free_[from.index()], receive_free_[to.index()]) + change);
  }
  const Time end = start + service_time(view_, demand);
  for (const PortId from : used) {
    transmit_free_[from.index()] = end;
    if (!peer_[from.index()].is_none()) receive_free_[peer_[from.index()].index()] = end;
  }
  return end;
}

}  // namespace photonrail::control
