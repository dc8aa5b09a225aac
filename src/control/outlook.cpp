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
    : view_(&view), transmit_free_(view.transmit.size(), view.now), receive_free_(view.transmit.size(), view.now) {
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
  for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
    const PortId from = view_->port(pair.from, p);
    if (!peer_[from.index()].is_none() && view_->position(peer_[from.index()]) == pair.to) return from;
  }
  return PortId::none();
}

PortId ServiceEstimate::earliest(const std::vector<Time>& free, ServerIndex position) const {
  PortId best = view_->port(position, 0);
  for (std::uint32_t p = 1; p < view_->ports_per_gpu; ++p) {
    const PortId port = view_->port(position, p);
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

Time ServiceEstimate::serve(const ExpectedRequest& demand) {
  Time start = std::max(demand.ready, view_->now);
  used_.clear();
  for (const ServerPair pair : demand.request->pairs) {
    PortId from = circuit(pair);
    Duration change{};
    if (from.is_none()) {
      from = earliest(transmit_free_, pair.from);
      join(from, earliest(receive_free_, pair.to));
      change = view_->reconfiguration.total();
    }
    used_.push_back(from);
    const PortId to = peer_[from.index()];
    start = std::max(start, std::max(transmit_free_[from.index()], receive_free_[to.index()]) + change);
  }
  const Time end = start + demand.service;
  for (const PortId from : used_) {
    transmit_free_[from.index()] = end;
    if (!peer_[from.index()].is_none()) receive_free_[peer_[from.index()].index()] = end;
  }
  return end;
}

void ServiceSequences::begin(const FabricView& view) {
  view_ = &view;
  estimate_.reset();
}

ExpectedRequests ServiceSequences::rivals_of(const ExpectedRequest& demand, const ExpectedRequests& lit) {
  needed_.clear();
  needed_.add(demand.request->pairs);
  ExpectedRequests rivals;
  for (const ExpectedRequest* other : lit) {
    if (needed_.conflict(other->request->pairs)) rivals.push_back(other);
  }
  return rivals;
}

ExpectedRequests ServiceSequences::batch_of(const ExpectedRequest& demand, const ExpectedRequests& unlit) {
  needed_.clear();
  needed_.add(demand.request->pairs);
  ExpectedRequests batch{&demand};
  for (const ExpectedRequest* other : unlit) {
    if (other == &demand || needed_.conflict(other->request->pairs)) continue;
    needed_.add(other->request->pairs);
    batch.push_back(other);
  }
  return batch;
}

bool ServiceSequences::is_best_first(const ExpectedRequest& demand, const ExpectedRequests& rivals,
                                     const ExpectedRequests& unlit) {
  if (!estimate_) estimate_.emplace(*view_);
  const ExpectedRequests batch = batch_of(demand, unlit);
  const Lateness now = best_after(0, rivals, batch, {Duration::max(), Duration::max()});
  for (std::size_t first = 1; first < 2 * rivals.size(); first *= 2) {
    if (best_after(std::min(first, rivals.size()), rivals, batch, now) <= now) return false;
  }
  return true;
}

// The least lateness when so many rivals are served before the batch, if that is not more than `limit`.
ServiceSequences::Lateness ServiceSequences::best_after(std::size_t first, const ExpectedRequests& rivals,
                                                        const ExpectedRequests& batch, const Lateness& limit) {
  Lateness best = lateness(first, rivals, batch.size(), batch, limit);
  for (std::size_t second = 1; second < batch.size(); second *= 2) {
    best = std::min(best, lateness(first, rivals, second, batch, std::min(best, limit)));
  }
  return best;
}

// What is late never becomes less by demands that are served later: the estimate ends where it exceeds `limit`.
ServiceSequences::Lateness ServiceSequences::lateness(std::size_t first, const ExpectedRequests& rivals, std::size_t second,
                                                      const ExpectedRequests& batch, const Lateness& limit) {
  trial_ = *estimate_;
  Lateness sum{Duration::min(), Duration{}};
  const auto serve = [&](const ExpectedRequests& demands, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && sum <= limit; ++i) {
      const Duration late = trial_->serve(*demands[i]) - demands[i]->request->due;
      sum.first = std::max(sum.first, late);
      sum.second += std::max(late, Duration{});
    }
  };
  serve(rivals, 0, first);
  serve(batch, 0, second);
  serve(rivals, first, rivals.size());
  serve(batch, second, batch.size());
  return sum;
}

}  // namespace photonrail::control
