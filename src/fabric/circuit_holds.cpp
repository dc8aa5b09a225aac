#include "fabric/circuit_holds.hpp"

#include <algorithm>

namespace photonrail::fabric {

CircuitHolds::Id CircuitHolds::take_id() {
  if (free_.empty()) {
    holds_.emplace_back();
    return static_cast<Id>(holds_.size() - 1);
  }
  const Id id = free_.back();
  free_.pop_back();
  return id;
}

// A hold is what keeps circuits from being torn down while bytes may move over them: a way of one hop, or of several where
// messages are forwarded. `uses_` counts holds for ever, by which the control plane sees that a circuit was of use.
CircuitHolds::Id CircuitHolds::hold(std::span<const Hop> way, std::uint64_t owner) {
  const Id id = take_id();
  ++uses_;
  Hold& hold = holds_[id];
  hold.owner = owner;
  hold.hops.assign(way.begin(), way.end());
  for (const Hop hop : hold.hops) {
    links_.add_user(hop);
    use_ports(hop, hold);
  }
  return id;
}

// The hold takes part in all circuits of the hop that are lit now.
void CircuitHolds::use_ports(Hop hop, Hold& hold) {
  for (std::uint32_t p = circuits_.first_port(hop.from); p < circuits_.first_port(hop.from + 1); ++p) {
    if (!circuits_.usable(p) || circuits_.peer_server(p) != hop.to) continue;
    circuits_.use(PortId{p});
    circuits_.touch(PortId{p});
    hold.ports.push_back(PortId{p});
  }
}

void CircuitHolds::release(Id id) { give_back(id, true); }

void CircuitHolds::give_back(Id id, bool used) {
  Hold& hold = holds_[id];
  for (const PortId port : hold.ports) {
    circuits_.release(port, used);
    circuits_.touch(port);
  }
  for (const Hop hop : hold.hops) {
    links_.remove_user(hop);
    if (std::erase(hold.missed, hop) > 0) notifier_.back(hold.owner, hop);
    if (links_.find(hop)->width == 0) links_.refresh(hop.from);
  }
  hold.hops.clear();
  hold.ports.clear();
  free_.push_back(id);
}

void CircuitHolds::withdraw(Id id) {
  give_back(id, false);
  --uses_;
}

Bytes CircuitHolds::bytes_left() const {
  Bytes left{};
  for (const Hold& hold : holds_) {
    for (const Hop hop : hold.hops) left.count += links_.bytes_left(hop).count;
  }
  return left;
}

// Circuits that go dark under their holders: the ports are given back now, before the crossbar changes, and miss() tells
// the owners afterwards which hops they are without.
void CircuitHolds::detach(std::span<const Circuit> darkened) {
  for (const Circuit circuit : darkened) {
    if (circuits_.crossbar().transmit()[circuit.from.index()].in_use == 0) continue;
    for (Hold& hold : holds_) {
      const auto found = std::find(hold.ports.begin(), hold.ports.end(), circuit.from);
      if (found == hold.ports.end()) continue;
      circuits_.release(circuit.from, true);
      hold.ports.erase(found);
    }
  }
}

template <class Visit>
void CircuitHolds::each_holder(Hop hop, Visit&& visit) {
  for (Hold& hold : holds_) {
    if (std::find(hold.hops.begin(), hold.hops.end(), hop) != hold.hops.end()) visit(hold);
  }
}

void CircuitHolds::add_owners(Hop hop, std::vector<std::uint64_t>& owners) const {
  for (const Hold& hold : holds_) {
    if (std::find(hold.hops.begin(), hold.hops.end(), hop) != hold.hops.end()) owners.push_back(hold.owner);
  }
}

// A hop may have several circuits. Only an owner that is left without any is notified, and only once until it has one
// again.
void CircuitHolds::miss(std::span<const Circuit> darkened) {
  std::vector<Hop> hops;
  for (const Circuit circuit : darkened) hops.push_back(circuits_.hop(circuit));
  std::sort(hops.begin(), hops.end());
  hops.erase(std::unique(hops.begin(), hops.end()), hops.end());
  for (const Hop hop : hops) {
    const Link* link = links_.find(hop);
    if (link == nullptr) continue;
    each_holder(hop, [&](Hold& hold) {
      if (has_port(hold, hop)) return;  // others are left, be they dark with their switch
      if (link->width > 0) return use_ports(hop, hold);
      if (std::find(hold.missed.begin(), hold.missed.end(), hop) != hold.missed.end()) return;
      hold.missed.push_back(hop);
      notifier_.missed(hold.owner, hop);
    });
  }
}

void CircuitHolds::reattach(Hop hop) {
  if (links_.find(hop)->width == 0) return;
  each_holder(hop, [&](Hold& hold) {
    if (!has_port(hold, hop)) use_ports(hop, hold);
    if (std::erase(hold.missed, hop) > 0) notifier_.back(hold.owner, hop);
  });
}

bool CircuitHolds::has_port(const Hold& hold, Hop hop) const {
  return std::any_of(hold.ports.begin(), hold.ports.end(), [&](PortId port) {
    return circuits_.server(port) == hop.from && circuits_.peer_server(port.value) == hop.to;
  });
}

}  // namespace photonrail::fabric
