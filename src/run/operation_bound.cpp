#include "run/operation_bound.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace photonrail::run {

using fabric::RailCrossing;

namespace {

constexpr std::size_t kMostTransfers = 1 << 16;

// An exact integer that the floating-point product missed by its last bits stays what it is.
Duration floor_picoseconds(double picoseconds) {
  return Duration{static_cast<std::int64_t>(std::floor(picoseconds + 1e-3))};
}

}  // namespace

Duration least_time(Bytes bytes, Bandwidth rate) {
  return floor_picoseconds(static_cast<double>(bytes.count) * (1e12 / rate.bytes_per_second));
}

// Whatever is there from some time on leaves after it, at the rate of all fibres at the most. And since everything is dark
// in the beginning, each peer costs one of the fibres a change.
Time FibreLoad::end(const BoundTerms& terms) {
  const Bandwidth all{terms.port_rate.bytes_per_second * terms.ports};
  std::sort(uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Time latest{};
  Bytes sum{};
  for (const auto& [from, bytes] : uses) {
    sum += bytes;
    latest = std::max(latest, from + least_time(sum, all));
  }
  if (terms.forwarded) return latest;
  const Duration changes = terms.dark * static_cast<std::int64_t>(peers.size());
  return std::max(latest, Time{} + (least_time(sum, terms.port_rate) + changes) / static_cast<std::int64_t>(terms.ports));
}

void OperationBound::begin(const TransferFloors& floors) {
  floors_ = &floors;
  loads_.clear();
  transfers_.clear();
  sends_ = 0;
}

std::vector<Transfer> OperationBound::take_transfers() {
  if (transfers_.size() > kMostTransfers) transfers_.clear();
  return std::exchange(transfers_, {});
}

Time OperationBound::end_of_loads() {
  Time end{};
  for (auto& [fibres, load] : loads_) end = std::max(end, load.end(terms_));
  return end;
}

void OperationBound::evaluate(const execution::Operation& op, Time start, std::vector<Part>& parts) {
  op_ = &op;
  parts_ = &parts;
  for (Part& part : parts) {
    part.begins = Time::never();
    part.ends = start;
  }
  prepare(start);
  const SendPlan& plan = op.plan();
  for (SendIndex i = 0; i < plan.initial_sends(); ++i) release(i);
  for (Member m = 0; m < op.members(); ++m) {
    for (std::uint32_t r = 0; r < rounds_.size(); ++r) {
      if (members_[r * op.members() + m].work == 0) continue;
      reach(r, m, start);
      break;
    }
  }
  while (!queue_.empty()) {
    const SendIndex next = queue_.back();
    queue_.pop_back();
    run(next);
  }
  for (Part& part : parts) part.begins = part.begins == Time::never() ? start : part.begins;
}

void OperationBound::prepare(Time start) {
  const SendPlan& plan = op_->plan();
  const std::size_t count = plan.send_count();
  const Member members = op_->members();
  rounds_.assign(op_->optical ? plan.rounds() : 1, {});
  members_.assign(rounds_.size() * members, {});
  when_.assign(count, start);
  waits_.assign(count, 0);
  links_.clear();
  queue_.clear();
  sends_ += count;
  for (std::size_t i = 0; i < count; ++i) {
    const Send send = plan.send(static_cast<SendIndex>(i));
    const std::uint32_t round = round_of(send);
    waits_[i] = plan.waits_for(static_cast<SendIndex>(i));
    ++members_[round * members + send.from].work;
    ++members_[round * members + send.to].work;
    if (send.from == send.to) continue;
    Link& link = links_.emplace_back();
    link.round = round;
    link.from = send.from;
    link.to = send.to;
    link.left = 1;
  }
  for (std::size_t p = 0; p < members_.size(); ++p) {
    if (members_[p].work > 0) ++rounds_[p / members].participants;
  }
  add_links();
}

// Every pair of a round once.
void OperationBound::add_links() {
  const auto key = [](const Link& link) { return std::tuple{link.round, link.from, link.to}; };
  std::sort(links_.begin(), links_.end(), [&](const Link& a, const Link& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < links_.size(); ++i) {
    if (key(links_[i]) == key(links_[kept])) {
      ++links_[kept].left;
    } else {
      links_[++kept] = links_[i];
    }
  }
  links_.resize(std::min(links_.size(), kept + 1));
  for (Link& link : links_) {
    link.crossing = fabric_.crossing(op_->gpus[link.from], op_->gpus[link.to]);
    link.way = way(op_->gpus[link.from], op_->gpus[link.to], link.crossing.has_value());
  }
  find_new_sources();
}

// A message that changes its rail inside the sender's server arrives over the circuit that other GPUs of that server use as
// well.
void OperationBound::find_new_sources() {
  std::set<std::tuple<std::uint32_t, Member, ServerIndex>> seen;
  for (Link& link : links_) {
    link.new_source = !link.crossing || seen.emplace(link.round, link.to, link.crossing->from).second;
  }
}

// As Fabric::route has it, over one circuit that has all ports of a GPU. A flow that stands for many sends (stream
// fidelity) has the latency of one of them here: a policy that serves pair by pair runs the sends themselves, some of which
// overlap.
OperationBound::Way OperationBound::way(GpuId from, GpuId to, bool crosses) const {
  const ClusterSpec& cluster = fabric_.spec();
  const std::uint32_t rails = cluster.gpus_per_server;
  const GpuId sender{crosses ? from.value / rails * rails + to.value % rails : to.value};  // leaves the scale-up fabric
  fabric::Fabric::ScaleUpWay inside{{}, cluster.scale_up.per_gpu};
  if (sender != from) inside = fabric_.scale_up_way(from, sender);
  if (!crosses) return {inside.latency, cluster.nic.message_overhead, inside.rate};
  const double rail = terms_.port_rate.bytes_per_second * terms_.ports;
  return {cluster.nic.latency + inside.latency,
          cluster.nic.message_overhead,
          {sender == from ? rail : std::min(rail, inside.rate.bytes_per_second)}};
}

// Returns true when the message leaves through the sender's own NIC; otherwise through that of a GPU of its server.
bool OperationBound::own_nic(const Link& link) const {
  const std::uint32_t rails = fabric_.spec().gpus_per_server;
  return op_->gpus[link.from].value % rails == op_->gpus[link.to].value % rails;
}

// Everything is dark in the beginning; and where all fibres were needed for others, one of them has to turn.
Time OperationBound::circuit_ready(const Link& link) const {
  Time ready = Time{} + terms_.dark;
  if (terms_.forwarded) return ready;
  if (own_nic(link)) {
    const auto turns = (*parts_)[link.from].history.transmit.turns(link.crossing->to, terms_.ports);
    if (turns) ready = std::max(ready, *turns + terms_.dark);
  }
  const auto turns = (*parts_)[link.to].history.receive.turns(link.crossing->from, terms_.ports);
  return turns ? std::max(ready, *turns + terms_.dark) : ready;
}

OperationBound::Link& OperationBound::link_of(std::uint32_t round, Member from, Member to) {
  const auto wanted = std::tuple{round, from, to};
  return *std::lower_bound(links_.begin(), links_.end(), wanted, [](const Link& link, const auto& key) {
    return std::tuple{link.round, link.from, link.to} < key;
  });
}

void OperationBound::reach(std::uint32_t round, Member, Time at) {
  RoundState& state = rounds_[round];
  state.start = std::max(state.start, at);
  if (++state.reached == state.participants) open(round);
}

void OperationBound::open(std::uint32_t round) {
  RoundState& state = rounds_[round];
  state.open = true;
  const auto first = std::lower_bound(links_.begin(), links_.end(), round,
                                      [](const Link& link, std::uint32_t r) { return link.round < r; });
  for (auto link = first; link != links_.end() && link->round == round; ++link) {
    const bool circuits = op_->optical && link->crossing.has_value();
    link->ready = circuits ? std::max(state.start, circuit_ready(*link)) : state.start;
  }
  queue_.insert(queue_.end(), state.parked.begin(), state.parked.end());
  state.parked.clear();
}

void OperationBound::release(SendIndex send) {
  RoundState& state = rounds_[round_of(op_->plan().send(send))];
  (state.open ? queue_ : state.parked).push_back(send);
}

void OperationBound::run(SendIndex index) {
  const SendPlan& plan = op_->plan();
  const Send send = plan.send(index);
  const Time arrival = deliver(send, index);
  std::vector<SendIndex> released = std::move(released_);
  released.clear();
  plan.released_by(index, released);
  for (const SendIndex next : released) {
    when_[next] = std::max(when_[next], arrival);
    if (--waits_[next] == 0) release(next);
  }
  released_ = std::move(released);
  const std::uint32_t round = round_of(send);
  for (const Member member : {send.from, send.to}) {
    MemberRound& of = members_[round * op_->members() + member];
    of.end = std::max(of.end, arrival);
    if (--of.work == 0) leave(round, member);
  }
}

// As a run that is simulated, one that is bounded does not go past the longest time.
Time OperationBound::within_longest(Time time) {
  if (time.since_start() > kLongest) fail_too_long(static_cast<double>(time.since_start().count()));
  return time;
}

// When the send arrives. The last one over a link knows when the link has carried all that it was given.
Time OperationBound::deliver(const Send& send, SendIndex index) {
  const std::uint32_t round = round_of(send);
  if (send.from == send.to) {
    const LocalStep step = op_->plan().step(index);
    const Time begin = std::max(when_[index], rounds_[round].start);
    return within_longest(begin + (step.kind == LocalStep::Kind::kTiles ? Duration{} : step.wait));
  }
  Link& link = link_of(round, send.from, send.to);
  const Time begin = std::max(when_[index], link.ready);
  const Time arrival = within_longest(begin + link.way.overhead + least_time(send.bytes, link.way.rate) + link.way.latency);
  for (const Member member : {send.from, send.to}) (*parts_)[member].begins = std::min((*parts_)[member].begins, begin);
  link.first = std::min(link.first, begin);
  link.last = std::max(link.last, arrival);
  link.bytes += send.bytes;
  if (--link.left == 0) close(link);
  return arrival;
}

TransferId OperationBound::id_of(const Link& link) const {
  const execution::OperationKey& key = op_->key;
  return {key.communicator, key.tag, key.match, key.iteration, link.round, link.from, link.to};
}

void OperationBound::close(Link& link) {
  const Time carried = link.first + link.way.overhead + least_time(link.bytes, link.way.rate) + link.way.latency;
  link.last = std::max(link.last, within_longest(carried));
  const bool on_circuits = link.crossing && op_->optical;
  const TransferId id = id_of(link);
  if (on_circuits && floors_ != nullptr && !floors_->empty()) {
    const auto floor = floors_->find(id);
    if (floor != floors_->end()) link.last = std::max(link.last, within_longest(floor->second + link.way.latency));
  }
  MemberRound& from = members_[link.round * op_->members() + link.from];
  MemberRound& to = members_[link.round * op_->members() + link.to];
  from.end = std::max(from.end, link.last);
  to.end = std::max(to.end, link.last);
  if (on_circuits) carry(link, id);
}

// Over circuits, whose fibres carry nothing else meanwhile.
void OperationBound::carry(const Link& link, const TransferId& id) {
  const RailCrossing& crossing = *link.crossing;
  const Time until = link.last - link.way.latency;  // what has left can arrive without its circuit
  for (const bool transmit : {true, false}) {
    const Fibres fibres{crossing.rail, transmit ? crossing.from : crossing.to, transmit};
    const ServerIndex peer = transmit ? crossing.to : crossing.from;
    FibreLoad& load = loads_[fibres];
    load.uses.emplace_back(link.first, link.bytes);
    load.peers.insert(peer);
    if (transfers_.size() <= kMostTransfers) transfers_.push_back({id, fibres, peer, link.first, until, link.bytes});
  }
  (*parts_)[link.to].history.receive.used(crossing.from, until, terms_.ports);
  count(members_[link.round * op_->members() + link.to].in, link, link.new_source);
  if (!own_nic(link)) return;
  (*parts_)[link.from].history.transmit.used(crossing.to, until, terms_.ports);
  count(members_[link.round * op_->members() + link.from].out, link, true);
}

void OperationBound::count(Share& share, const Link& link, bool new_peer) {
  share.first = std::min(share.first, link.first);
  share.bytes += link.bytes;
  share.latency = std::min(share.latency, link.way.latency);
  share.peers += new_peer ? 1 : 0;
}

// From its first byte on, a GPU's fibres are on one peer each; every further peer costs one of them a change.
Time OperationBound::least_end(const Share& share) const {
  if (share.peers < 2) return {};
  const std::int64_t turned = std::max<std::int64_t>(0, std::int64_t{share.peers} - terms_.ports);
  const Duration changes = terms_.forwarded ? Duration{} : terms_.dark * turned;
  const Duration busy = (least_time(share.bytes, terms_.port_rate) + changes) / static_cast<std::int64_t>(terms_.ports);
  return share.first + busy + share.latency;
}

// The member's sends and receives of the round are done.
void OperationBound::leave(std::uint32_t round, Member member) {
  MemberRound& of = members_[round * op_->members() + member];
  of.end = std::max({of.end, least_end(of.out), least_end(of.in)});
  Part& part = (*parts_)[member];
  part.ends = std::max(part.ends, of.end);
  for (std::uint32_t next = round + 1; next < rounds_.size(); ++next) {
    if (members_[next * op_->members() + member].work == 0) continue;
    reach(next, member, of.end);
    return;
  }
}

}  // namespace photonrail::run
