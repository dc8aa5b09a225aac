#include "photonrail/control/waiting.hpp"

namespace photonrail {

void RequestsByPort::reach(std::span<const ServerPair> pairs) {
  std::size_t positions = ports_.size();
  for (const ServerPair pair : pairs)
    positions = std::max(positions, std::max(pair.from, fibre_of(pair.to)) + std::size_t{1});
  ports_.resize(positions);
}

void RequestsByPort::insert(const CircuitRequest& request) {
  reach(request.pairs);
  const auto put = [&](Queue& queue) {
    if (std::find(queue.begin(), queue.end(), &request) != queue.end()) return;  // a pair before brought it
    queue.insert(std::upper_bound(queue.begin(), queue.end(), &request,
                                  [&](const auto* a, const auto* b) { return precedes_(*a, *b); }),
                 &request);
  };
  for (const ServerPair pair : request.pairs) {
    put(ports_[pair.from].senders);
    put(ports_[fibre_of(pair.to)].receivers);
  }
  change(request);
}

void RequestsByPort::erase(const CircuitRequest& request) {
  bool found = false;
  for (const ServerPair pair : request.pairs) {
    if (std::max(pair.from, fibre_of(pair.to)) >= ports_.size()) return;
    found =
        std::erase(ports_[pair.from].senders, &request) + std::erase(ports_[fibre_of(pair.to)].receivers, &request) > 0 ||
        found;
  }
  if (!found) return;
  if (is_changed_[request.id.value]) {
    is_changed_[request.id.value] = false;
    std::erase(changed_, &request);
  }
  for (const ServerPair pair : request.pairs) {
    change_all(ports_[pair.from].senders);
    change_all(ports_[fibre_of(pair.to)].receivers);
  }
}

void RequestsByPort::clear() {
  settle();
  for (Port& port : ports_) {
    port.senders.clear();
    port.receivers.clear();
  }
}

void RequestsByPort::change(const CircuitRequest& request) {
  if (is_changed_.size() <= request.id.value) is_changed_.resize(request.id.value + std::size_t{1}, false);
  if (is_changed_[request.id.value]) return;
  is_changed_[request.id.value] = true;
  changed_.push_back(&request);
}

void RequestsByPort::change_all(const Queue& queue) {
  for (const CircuitRequest* request : queue) change(*request);
}

void RequestsByPort::port_changed(PortId port, std::span<const PortView> transmit, std::span<const PortId> receive) {
  const auto sends = [this](PortId p) {
    if (!p.is_none() && p.index() < ports_.size()) change_all(ports_[p.index()].senders);
  };
  const auto receives = [this](PortId p) {
    if (!p.is_none() && fibre_of(p).index() < ports_.size()) change_all(ports_[fibre_of(p).index()].receivers);
  };
  sends(port);
  receives(port);
  receives(transmit[port.index()].peer);
  sends(receive[port.index()]);
}

void RequestsByPort::settle() {
  for (const CircuitRequest* request : changed_) is_changed_[request->id.value] = false;
  changed_.clear();
}

}  // namespace photonrail
