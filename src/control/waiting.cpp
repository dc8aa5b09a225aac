#include "control/waiting.hpp"

#include "control/free_ports.hpp"

#include <algorithm>

namespace photonrail::control {

namespace {

// A fibre of the position that may be re-pointed.
bool can_send(const FabricView& view, ServerIndex position) {
  for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) {
    if (!is_fixed(view, view.transmit[view.port(position, p).index()])) return true;
  }
  return false;
}

bool can_receive(const FabricView& view, ServerIndex position) {
  for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) {
    const PortId port = view.port(position, p);
    if (view.transmit[port.index()].faulty) continue;
    const PortId source = view.receive[port.index()];
    if (source.is_none() || !is_fixed(view, view.transmit[source.index()])) return true;
  }
  return false;
}

}  // namespace

void Waiting::learn(const FabricView& view, const Places& places) {
  view_ = &view;
  places_ = &places;
  pairs_ = view.waiting;
  if (pairs_ != nullptr) return;
  read_ = {};
  for (const CircuitRequest& demand : view.requests) {
    if (!demand.blocking) continue;
    for (std::size_t p = 0; p < demand.pairs.size(); ++p) {
      read_.add(demand.id, demand.pairs[p], p < demand.bytes.size() ? demand.bytes[p] : Bytes{}, demand.complete);
    }
  }
  pairs_ = &read_;
}

std::optional<WaitingPair> Waiting::find(ServerPair pair) const {
  return places_->has(pair) ? pairs_->find(pair) : std::nullopt;
}

void Waiting::sort(std::vector<WaitingPair>& pairs) const {
  std::sort(pairs.begin(), pairs.end(), [this](const WaitingPair& a, const WaitingPair& b) {
    return places_->places(a.pair) < places_->places(b.pair);
  });
}

std::vector<WaitingPair> Waiting::all() const {
  std::vector<WaitingPair> pairs;
  for (std::uint32_t place = 0; place < places_->count(); ++place) {
    pairs_->each_from(places_->position(place), [&](const WaitingPair& w) {
      if (places_->has(w.pair.to)) pairs.push_back(w);
    });
  }
  sort(pairs);
  return pairs;
}

// Where few positions can receive, these are looked up one by one; the order is made afterwards.
void Waiting::add_servable(ServerIndex from, std::span<const std::uint8_t> receives, std::span<const ServerIndex> receivers,
                           std::vector<WaitingPair>& pairs) const {
  constexpr std::size_t kLookUp = 16;  // entries of a row that may be gone through in the time of a look-up
  if (kLookUp * receivers.size() < pairs_->receivers(from)) {
    for (const ServerIndex to : receivers) {
      if (const auto waiting = pairs_->find({from, to})) pairs.push_back(*waiting);
    }
    return;
  }
  pairs_->each_from(from, [&](const WaitingPair& w) {
    if (places_->has(w.pair.to) && receives[w.pair.to] != 0) pairs.push_back(w);
  });
}

std::vector<WaitingPair> Waiting::servable() const {
  const FabricView& view = *view_;
  std::vector<std::uint8_t> receives(view.positions, 0);  // bytes: looked up for each pair
  std::vector<ServerIndex> receivers;
  for (std::uint32_t place = 0; place < places_->count(); ++place) {
    const ServerIndex position = places_->position(place);
    if (pairs_->senders(position) == 0 || !can_receive(view, position)) continue;
    receives[position] = 1;
    receivers.push_back(position);
  }
  std::vector<WaitingPair> pairs;
  for (std::uint32_t place = 0; place < places_->count(); ++place) {
    const ServerIndex from = places_->position(place);
    if (pairs_->receivers(from) == 0) continue;
    if (!receivers.empty() && can_send(view, from)) add_servable(from, receives, receivers, pairs);
    for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) {
      const PortView& fibre = view.transmit[view.port(from, p).index()];
      const PortId peer = fibre.peer;
      if (peer.is_none() || (view.ports_per_gpu == 1 && is_fixed(view, fibre))) continue;  // the only port: no more for it
      if (const auto waiting = find({from, view.position(peer)})) pairs.push_back(*waiting);
    }
  }
  sort(pairs);
  const auto same = [](const WaitingPair& a, const WaitingPair& b) { return a.pair == b.pair; };
  pairs.erase(std::unique(pairs.begin(), pairs.end(), same), pairs.end());
  return pairs;
}

std::uint32_t Waiting::even_share() const {
  if (view_->ports_per_gpu == 1) return 1;
  std::uint32_t most = 1;
  if (places_->count() == view_->positions) {
    for (ServerIndex p = 0; p < view_->positions; ++p) most = std::max({most, pairs_->receivers(p), pairs_->senders(p)});
    return std::max(1u, view_->ports_per_gpu / most);
  }
  std::vector<std::uint32_t> senders(view_->positions, 0);
  for (std::uint32_t place = 0; place < places_->count(); ++place) {
    std::uint32_t receivers = 0;
    pairs_->each_from(places_->position(place), [&](const WaitingPair& w) {
      if (places_->has(w.pair.to)) most = std::max({most, ++receivers, ++senders[w.pair.to]});
    });
  }
  return std::max(1u, view_->ports_per_gpu / most);
}

}  // namespace photonrail::control
