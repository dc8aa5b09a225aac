#include "control/free_ports.hpp"

#include "control/port_colouring.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace photonrail::control {

namespace {

constexpr std::uint32_t kFewPorts = 4;  // their circuits are counted at each question

}  // namespace

std::uint32_t even_share(const FabricView& view, std::span<const ServerPair> pairs) {
  if (view.ports_per_gpu == 1) return 1;
  std::map<ServerIndex, std::uint32_t> sends;
  std::map<ServerIndex, std::uint32_t> receives;
  std::uint32_t most = 1;
  for (const ServerPair pair : pairs) most = std::max({most, ++sends[pair.from], ++receives[pair.to]});
  return std::max(1u, view.ports_per_gpu / most);
}

bool pays(const FabricView& view, Bytes bytes, std::uint32_t circuits) {
  if (circuits < 2 || view.port_rate.bytes_per_second <= 0) return false;
  const double narrow = static_cast<double>(bytes.count) / view.port_rate.bytes_per_second;
  return narrow - narrow / circuits > to_seconds(view.reconfiguration.total());
}

void FreePorts::begin(const FabricView& view, std::span<const Time> last_use) {
  view_ = &view;
  last_use_ = last_use;
  const std::size_t ports = view.transmit.size();
  const bool all = view.own.size() * view.ports_per_gpu == ports;  // no position is there twice
  state_.transmit.assign(ports, !all && !view.own.empty());
  for (const ServerIndex position : all ? std::span<const ServerIndex>{} : view.own) {
    for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) state_.transmit[view.port(position, p).index()] = false;
  }
  state_.receive = state_.transmit;
  state_.planned.assign(ports, PortId::none());
  state_.broken.assign(ports, 0);
  leads_.assign(view.ports_per_gpu > kFewPorts ? view.positions : 0, {});
}

void FreePorts::restore(State saved) {
  state_ = std::move(saved);
  leads_.assign(leads_.size(), {});
}

bool FreePorts::leads(PortId from, ServerIndex to) const {
  const PortView& fibre = view_->transmit[from.index()];
  return !fibre.peer.is_none() && view_->position(fibre.peer) == to;
}

std::uint32_t FreePorts::keep(ServerPair pair, std::uint32_t wanted) {
  std::uint32_t have = 0;
  for (std::uint32_t p = 0; p < view_->ports_per_gpu && have < wanted; ++p) {
    const PortId from = view_->port(pair.from, p);
    const PortView& fibre = view_->transmit[from.index()];
    if (!leads(from, pair.to)) continue;
    if (state_.transmit[from.index()] && !fibre.in_use) continue;  // an older demand takes it away
    claim({from, fibre.peer});
    ++have;
  }
  return have;
}

bool FreePorts::join(ServerPair pair, std::vector<Circuit>& connect) {
  constexpr int kAnyLoss = 4;
  return join(pair, kAnyLoss, connect);
}

// On the plane where the least is taken from others; the first among equals.
bool FreePorts::join(ServerPair pair, int most_loss, std::vector<Circuit>& connect) {
  std::optional<Circuit> best;
  int least = 0;
  for (std::uint32_t plane = 0; plane < view_->planes; ++plane) {
    const PortId from = free_transmit(pair.from, plane);
    const PortId to = free_receive(pair.to, plane);
    if (from.is_none() || to.is_none()) continue;
    const int taken = loss(from) + loss(view_->receive[to.index()]);
    if (taken > most_loss || (best && taken >= least)) continue;
    best = {from, to};
    least = taken;
  }
  if (!best) return false;
  plan(*best, connect);
  return true;
}

// With one port a GPU a port's number is its position, and there is nothing to choose.
bool FreePorts::serve_one(ServerPair pair, std::vector<Circuit>& connect) {
  const PortId from{pair.from};
  const PortId to{pair.to};
  const PortView& fibre = view_->transmit[from.index()];
  if (fibre.peer == to && (!state_.transmit[from.index()] || fibre.in_use)) {
    claim({from, to});
    return true;
  }
  if (can_send(from) && can_receive(to)) {
    plan({from, to}, connect);
    return true;
  }
  claim({from, to});
  return false;
}

bool FreePorts::serve_all(std::span<const ServerPair> pairs, std::uint32_t wanted, std::vector<Circuit>& connect) {
  if (view_->ports_per_gpu == 1 && wanted == 1 && pairs.size() == 1) return serve_one(pairs.front(), connect);
  const std::size_t before = connect.size();
  // With fewer circuits for a pair that has several, another may get its first.
  for (; wanted > 1; --wanted) {
    const State saved = state_;
    if (try_all(pairs, wanted, connect)) return true;
    connect.resize(before);
    restore(saved);
  }
  std::optional<State> saved;
  if (view_->planes > 1) saved = state_;
  if (try_all(pairs, 1, connect)) return true;
  unplan(before, connect);
  if (saved) {
    restore(*std::move(saved));
    if (by_port(pairs, connect)) return true;
  }
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

// One pair after the other may end in ports of different planes at either end; over ports of equal numbers all find a
// plane. Changes nothing when it fails.
bool FreePorts::by_port(std::span<const ServerPair> pairs, std::vector<Circuit>& connect) {
  const auto ports = static_cast<std::uint32_t>(view_->transmit.size());
  std::vector<bool> transmit(ports);
  std::vector<bool> receive(ports);
  for (std::uint32_t p = 0; p < ports; ++p) {
    transmit[p] = can_send(PortId{p});
    receive[p] = can_receive(PortId{p});
  }
  PortColouring colouring(view_->ports_per_gpu, std::move(transmit), std::move(receive));
  for (const ServerPair pair : pairs) {
    bool there = false;
    std::optional<std::uint32_t> preferred;
    for (std::uint32_t p = 0; p < view_->ports_per_gpu && !there; ++p) {
      const PortId from = view_->port(pair.from, p);
      if (!leads(from, pair.to)) continue;
      const PortView& fibre = view_->transmit[from.index()];
      there = busy(fibre) && (fibre.in_use || !state_.transmit[from.index()]);
      if (fibre.peer == view_->port(pair.to, p)) preferred = p;
    }
    if (!there && !colouring.add(pair, preferred)) return false;
  }
  for (std::size_t i = 0; i < colouring.pairs(); ++i) {
    const Circuit circuit = colouring.circuit(i);
    if (view_->transmit[circuit.from.index()].peer == circuit.to) {
      claim(circuit);
    } else {
      plan(circuit, connect);
    }
  }
  return true;
}

void FreePorts::reserve(std::span<const ServerPair> pairs) {
  for (const ServerPair pair : pairs) {
    for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
      state_.transmit[view_->port(pair.from, p).index()] = true;
      state_.receive[view_->port(pair.to, p).index()] = true;
    }
  }
}

void FreePorts::widen(std::span<const ServerPair> pairs, std::uint32_t wanted, bool take, std::vector<Circuit>& connect) {
  for (const ServerPair pair : pairs) (void)keep(pair, wanted);
  for (std::uint32_t want = 2; want <= wanted; ++want) {
    for (const ServerPair pair : pairs) {
      const std::uint32_t have = circuits(pair);
      if (have == 0 || have >= want) continue;
      if (!join(pair, 0, connect) && take) (void)join(pair, connect);
    }
  }
}

void FreePorts::widen(std::span<const PairTraffic> waiting, std::uint32_t share, std::vector<Circuit>& connect) {
  if (view_->ports_per_gpu == 1) return;
  std::vector<ServerPair> pairs;
  for (const PairTraffic& w : waiting) pairs.push_back(w.pair);
  std::vector<ServerPair> worth;
  for (const PairTraffic& w : waiting) {
    if (pays(*view_, w.bytes, share)) worth.push_back(w.pair);
  }
  widen(pairs, view_->ports_per_gpu, false, connect);
  widen(worth, share, true, connect);
}

void FreePorts::count_circuits(ServerIndex from) const {
  Leads& leads = leads_[from];
  leads.known = true;
  leads.to.clear();
  for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
    const PortId port = view_->port(from, p);
    const PortId planned = state_.planned[port.index()];
    const PortId peer =
        !planned.is_none() || state_.broken[port.index()] > 0 ? planned : view_->transmit[port.index()].peer;
    if (peer.is_none()) continue;
    const ServerIndex to = view_->position(peer);
    const auto found =
        std::find_if(leads.to.begin(), leads.to.end(), [to](const Leads::To& t) { return t.position == to; });
    if (found == leads.to.end()) {
      leads.to.push_back({to, 1});
    } else {
      ++found->circuits;
    }
  }
}

std::uint32_t FreePorts::circuits(ServerPair pair) const {
  if (!leads_.empty()) {
    if (!leads_[pair.from].known) count_circuits(pair.from);
    for (const Leads::To& to : leads_[pair.from].to) {
      if (to.position == pair.to) return to.circuits;
    }
    return 0;
  }
  std::uint32_t count = 0;
  for (std::uint32_t p = 0; p < view_->ports_per_gpu; ++p) {
    const PortId from = view_->port(pair.from, p);
    const PortId planned = state_.planned[from.index()];
    const bool stays = state_.broken[from.index()] == 0 && leads(from, pair.to);
    if (planned.is_none() ? stays : view_->position(planned) == pair.to) ++count;
  }
  return count;
}

int FreePorts::loss(PortId from) const {
  if (from.is_none() || state_.broken[from.index()] > 0) return 0;
  const PortView& fibre = view_->transmit[from.index()];
  if (fibre.peer.is_none()) return 0;
  return circuits({view_->position(from), view_->position(fibre.peer)}) > 1 ? 1 : 2;
}

bool FreePorts::can_send(PortId port) const {
  return !state_.transmit[port.index()] && !busy(view_->transmit[port.index()]);
}

bool FreePorts::can_receive(PortId port) const {
  if (state_.receive[port.index()] || view_->transmit[port.index()].faulty) return false;
  const PortId source = view_->receive[port.index()];
  return source.is_none() || !busy(view_->transmit[source.index()]);
}

// Chooses the one of two circuits to be taken, by the transmit sides where they begin or none.
bool FreePorts::better(PortId from, PortId than) const {
  const int loses = loss(from);
  const int other = loss(than);
  return loses != other ? loses < other : loses > 0 && last_use(from) < last_use(than);
}

PortId FreePorts::free_transmit(ServerIndex position, std::uint32_t plane) const {
  PortId best = PortId::none();
  for (std::uint32_t p = plane; p < view_->ports_per_gpu; p += view_->planes) {
    const PortId port = view_->port(position, p);
    if (can_send(port) && (best.is_none() || better(port, best))) best = port;
  }
  return best;
}

PortId FreePorts::free_receive(ServerIndex position, std::uint32_t plane) const {
  PortId best = PortId::none();
  for (std::uint32_t p = plane; p < view_->ports_per_gpu; p += view_->planes) {
    const PortId port = view_->port(position, p);
    if (!can_receive(port)) continue;
    if (best.is_none() || better(view_->receive[port.index()], view_->receive[best.index()])) best = port;
  }
  return best;
}

void FreePorts::claim(Circuit circuit) {
  state_.transmit[circuit.from.index()] = true;
  state_.receive[circuit.to.index()] = true;
}

void FreePorts::plan(Circuit circuit, std::vector<Circuit>& connect) {
  claim(circuit);
  connect.push_back(circuit);
  state_.planned[circuit.from.index()] = circuit.to;
  if (!view_->transmit[circuit.from.index()].peer.is_none()) ++state_.broken[circuit.from.index()];
  const PortId source = view_->receive[circuit.to.index()];
  if (!source.is_none()) ++state_.broken[source.index()];
  forget_circuits(circuit.from);
  if (!source.is_none()) forget_circuits(source);
}

// Ports that the plan claimed stay claimed.
void FreePorts::unplan(std::size_t before, std::vector<Circuit>& connect) {
  for (; connect.size() > before; connect.pop_back()) {
    const Circuit circuit = connect.back();
    state_.planned[circuit.from.index()] = PortId::none();
    if (!view_->transmit[circuit.from.index()].peer.is_none()) --state_.broken[circuit.from.index()];
    const PortId source = view_->receive[circuit.to.index()];
    if (!source.is_none()) --state_.broken[source.index()];
    forget_circuits(circuit.from);
    if (!source.is_none()) forget_circuits(source);
  }
}

}  // namespace photonrail::control
