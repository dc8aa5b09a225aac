#include "execution/transfers.hpp"

#include "core/checked.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

void Transfers::start(OpId id) {
  Operation& op = operations_[id];
  const SendPlan& plan = op.plan();
  op.state = Operation::State::kStarted;
  op.left.assign(op.members(), 1);
  for (std::uint32_t r = 0; r < plan.rounds(); ++r) {
    for (Member m = 0; m < op.members(); ++m) op.left[m] += plan.sends_from(m, r) + plan.sends_to(m, r);
  }
  op.sends_to_go = plan.send_count();
  op.members_to_go = op.members();
  if (plan.most_waits() > 1) op.arrivals.assign(plan.send_count(), 0);
  const std::size_t fold = op.gpus.size() / op.members();
  recorder_.traffic(op.dimension(), checked_product(plan.wire_bytes(), fold), op.copies);
  op.in_flight = 0;
  op.resting = false;
  const bool missing = !op.complete();
  for (Member m = 0; m < op.members(); ++m) {
    if (op.present(m)) recorder_.running_began(op.rank(m), op.dimension(), engine_.now());
  }
  if (!op.optical) {
    make_links(op);
    fabric_.network().expect(plan.initial_sends());
    for (SendIndex i = 0; i < plan.initial_sends(); ++i) post(id, op, i);
  } else {
    start_rounds(id, op);
  }
  // The start itself was one piece of work of every member: who has nothing to send or receive is done now.
  if (op.runnable->stream) return;
  for (Member m = 0, members = op.members(); m < members; ++m) {
    if (op.present(m)) finish_work(id, op, m);
  }
  if (missing) rest(op);
}

void Transfers::join(OpId id, Member member) {
  Operation& op = operations_[id];
  for (Member m = 0; m < op.members(); ++m) {
    const bool was_resting = op.resting && op.present(m) && op.left[m] > 0;
    if (was_resting || m == member) recorder_.running_began(op.rank(m), op.dimension(), engine_.now());
  }
  op.resting = false;
  if (op.optical) {
    enter_first(id, op, member);
  } else {
    const std::vector<SendIndex> parked = std::move(op.parked);
    op.parked.clear();
    for (const SendIndex i : parked) post(id, op, i);
  }
  const bool missing = !op.complete();
  finish_work(id, op, member);  // its start
  if (missing) rest(op);
}

// When nothing can move until a missing member comes, the others wait for a peer.
void Transfers::rest(Operation& op) {
  const auto goes_on = [](const Round& round) { return round.reached == round.participants; };
  if (op.resting || op.in_flight > 0 || std::any_of(op.rounds.begin(), op.rounds.end(), goes_on)) return;
  op.resting = true;
  for (Member m = 0; m < op.members(); ++m) {
    if (op.present(m) && op.left[m] > 0) recorder_.running_ended(op.rank(m), op.dimension(), engine_.now());
  }
}

// Every member enters the first round that it takes part in.
void Transfers::start_rounds(OpId id, Operation& op) {
  const SendPlan& plan = op.plan();
  for (SendIndex i = 0; i < plan.initial_sends(); ++i) enter_round(op, plan.send(i).round).parked.push_back(i);
  for (Member m = 0; m < op.members(); ++m) {
    if (op.present(m)) enter_first(id, op, m);
  }
}

void Transfers::enter_first(OpId id, Operation& op, Member member) {
  if (op.takes_part(member, 0)) {
    reach(id, op, 0, member);
  } else {
    advance(id, op, member, 0);
  }
}

// ---- rounds of circuits

Round& Transfers::enter_round(Operation& op, std::uint32_t index) {
  if (Round* found = op.round(index)) return *found;
  Round& round = op.rounds.emplace_back();
  const SendPlan& plan = op.plan();
  round.index = index;
  round.sends_left.resize(op.members());
  round.work_left.resize(op.members());
  for (Member m = 0; m < op.members(); ++m) {
    round.sends_left[m] = plan.sends_from(m, index);
    round.work_left[m] = round.sends_left[m] + plan.sends_to(m, index);
    round.work += round.sends_left[m];
    if (round.work_left[m] > 0) ++round.participants;
  }
  return round;
}

void Transfers::reach(OpId id, Operation& op, std::uint32_t index, Member member) {
  if (index > 0) listener_->round_reached(id, index, member);
  Round& round = enter_round(op, index);
  if (++round.reached < round.participants) return;
  // Opening waits for the start phase, so that the controller decides before anybody takes circuits at this instant.
  if (to_open_.empty()) engine_.schedule(engine_.now(), Phase::kStart, Action::to<&Transfers::open_pending>(*this));
  to_open_.emplace_back(id, index);
}

// The member goes on to its next round, if it has another.
void Transfers::advance(OpId id, Operation& op, Member member, std::uint32_t after) {
  for (std::uint32_t r = after + 1; r < op.plan().rounds(); ++r) {
    if (!op.takes_part(member, r)) continue;
    reach(id, op, r, member);
    return;
  }
}

void Transfers::open_pending(std::uint64_t) {
  const std::vector<std::pair<OpId, std::uint32_t>> pending = std::move(to_open_);
  to_open_.clear();
  for (const auto& [id, index] : pending) {
    Operation& op = operations_[id];
    Round& round = *op.round(index);
    if (by_pair_) {
      open_by_pair(id, op, round);
    } else if (listener_->may_open(id) && hold_circuits(id, op, round)) {
      listener_->round_opened(id, index, std::nullopt);
      open(id, op, round);
    } else {
      begin_waiting(op, round);
      listener_->round_blocked(id, index);
    }
  }
}

void Transfers::begin_waiting(Operation& op, Round& round) {
  round.waiting = true;
  round.waited_before.resize(op.members());
  for (Member m = 0; m < op.members(); ++m) {
    if (round.work_left[m] == 0) continue;
    recorder_.running_ended(op.rank(m), op.dimension(), engine_.now());
    recorder_.waiting_began(op.rank(m), engine_.now());
    round.waited_before[m] = recorder_.reconfiguration_wait(op.rank(m), engine_.now());
  }
}

bool Transfers::try_open(OpId id, std::uint32_t index) {
  Operation& op = operations_[id];
  Round& round = *op.round(index);
  PHOTONRAIL_CHECK(round.waiting);
  if (!listener_->may_open(id)) return false;
  if (!hold_circuits(id, op, round)) return false;
  round.waiting = false;
  Duration idle{};
  for (Member m = 0; m < op.members(); ++m) {
    if (round.work_left[m] == 0) continue;
    idle = std::max(idle, recorder_.reconfiguration_wait(op.rank(m), engine_.now()) - round.waited_before[m]);
    recorder_.waiting_ended(op.rank(m), engine_.now());
    recorder_.running_began(op.rank(m), op.dimension(), engine_.now());
  }
  listener_->round_opened(id, index, idle);
  open(id, op, round);
  return true;
}

// All circuits of the round, or none.
bool Transfers::hold_circuits(OpId id, Operation& op, Round& round) {
  round.links.clear();
  for (const MemberPair& pair : op.plan().pairs(round.index)) {
    Link& link = round.links.emplace_back();
    link.pair = pair;
    const auto crossing = fabric_.crossing(op.gpus[pair.first], op.gpus[pair.second]);
    if (!crossing) continue;
    const auto hold = fabric_.rail(crossing->rail).hold(crossing->from, crossing->to, id);
    if (!hold) {
      for (const Link& held : round.links) {
        if (held.held) fabric_.rail(held.rail).release(held.hold);
      }
      round.links.clear();
      return false;
    }
    link.rail = crossing->rail;
    link.hold = *hold;
    link.held = true;
  }
  return true;
}

void Transfers::open(OpId id, Operation& op, Round& round) {
  round.open = true;
  const bool channels = round.work > round.links.size();
  for (Link& link : round.links) {
    link.path = path_of(op, link.pair);
    if (channels) link.channel = fabric_.network().open_channel();
  }
  const std::vector<SendIndex> parked = std::move(round.parked);
  round.parked.clear();
  for (const SendIndex i : parked) post(id, op, i);
}

// ---- sends

Path Transfers::path_of(const Operation& op, MemberPair pair) const {
  std::optional<Path> path = fabric_.route(op.gpus[pair.first], op.gpus[pair.second]);
  PHOTONRAIL_CHECK(path.has_value());
  if (op.runnable->stream) add_steps(op, *path);
  return *std::move(path);
}

// What one flow for all sends of a pair leaves out: between two steps of the plan passes what its pieces keep the link
// busy, or the time until the first of them has arrived, whichever is more (as in the cost of a ring).
void Transfers::add_steps(const Operation& op, Path& path) const {
  const RunnablePlan& plan = *op.runnable;
  const double rate = fabric_.network().rate_alone(path).bytes_per_second;
  const double sends = static_cast<double>(op.plan().send_count()) * plan.latency_sends;
  const double shard = rate > 0.0 ? static_cast<double>(op.plan().wire_bytes().count) / sends * 1e12 / rate : 0.0;
  const Duration leaving = path.overhead * plan.pieces;
  const Duration arriving = path.latency + path.overhead;
  const double hidden = shard * (1.0 - 1.0 / plan.pieces);  // bytes of later pieces that leave while the first one travels
  const double step = std::max(static_cast<double>(leaving.count()), static_cast<double>(arriving.count()) - hidden);
  path.latency += round_up_picoseconds(step * (plan.latency_sends - 1)) + leaving - path.overhead;
}

// Without circuits, the ways of a plan that sends over its pairs again and again are found once. Others are found send by
// send.
void Transfers::make_links(Operation& op) {
  op.links.clear();
  const SendPlan& plan = op.plan();
  if (plan.rounds() > 1 || plan.send_count() == 1) return;
  const std::vector<MemberPair> pairs = plan.pairs(0);
  if (plan.send_count() == pairs.size()) return;
  op.links.resize(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    op.links[p].pair = pairs[p];
    op.links[p].path = path_of(op, pairs[p]);
    op.links[p].channel = fabric_.network().open_channel();
  }
}

Link& Transfers::find(std::vector<Link>& links, Member from, Member to) {
  // In a ring, and in most plans with one destination a member, the link of a member stands at its number.
  if (from < links.size() && links[from].pair == MemberPair{from, to}) return links[from];
  return *std::lower_bound(links.begin(), links.end(), MemberPair{from, to},
                           [](const Link& link, MemberPair pair) { return link.pair < pair; });
}

void Transfers::post(OpId id, Operation& op, SendIndex i) {
  const Send send = op.plan().send(i);
  const std::uint64_t tag = (static_cast<std::uint64_t>(id) << kTagOpShift) | i;
  if (op.optical) {
    Round& round = enter_round(op, send.round);
    if (!round.open) {
      round.parked.push_back(i);
      return;
    }
  } else if (!op.complete() && !(op.present(send.from) && op.present(send.to))) {
    op.parked.push_back(i);
    return;
  }
  if (op.in_flight++ == 0) ++running_;
  if (send.from == send.to) {
    begin_step(op, send, tag);
  } else if (send.ordered) {
    proxies_.send(op.rank(send.from), tag);
  } else {
    leave(op, send, tag);
  }
}

void Transfers::leave(Operation& op, const Send& send, std::uint64_t tag) {
  if (by_pair_ && op.optical) return offer(static_cast<OpId>(tag >> kTagOpShift), op, send, tag);
  std::vector<Link>& links = op.optical ? op.round(send.round)->links : op.links;
  if (links.empty()) {
    fabric_.post(Network::kNone, path_of(op, {send.from, send.to}), send.bytes, tag);
    return;
  }
  const Link& link = find(links, send.from, send.to);
  fabric_.post(link.channel, link.path, send.bytes, tag);
}

void Transfers::launch(std::uint64_t tag) {
  Operation& op = operations_[static_cast<OpId>(tag >> kTagOpShift)];
  leave(op, op.plan().send(static_cast<SendIndex>(tag)), tag);
}

void Transfers::begin_step(Operation& op, const Send& send, std::uint64_t tag) {
  const LocalStep step = op.plan().step(static_cast<SendIndex>(tag));
  const RankId rank = op.rank(send.from);
  switch (step.kind) {
    case LocalStep::Kind::kTiles:
      processors_.compute(rank, op.key.iteration, step, tag);
      break;
    case LocalStep::Kind::kWait:
      engine_.schedule(engine_.now() + step.wait, Phase::kFinish, Action::to<&Transfers::delivered>(*this, tag));
      break;
    case LocalStep::Kind::kFence:
      proxies_.fence(rank, tag, step.wait);
      break;
  }
}

void Transfers::delivered(std::uint64_t tag) {
  const auto id = static_cast<OpId>(tag >> kTagOpShift);
  const auto i = static_cast<SendIndex>(tag);
  Operation& op = operations_[id];
  const bool missing = !op.complete();  // then the operation does not end here
  if (--op.in_flight == 0) --running_;
  release(id, op, i);
  const Send send = op.plan().send(i);
  if (send.ordered) proxies_.arrived(op.rank(send.from));
  if (op.optical) finish_send(id, op, *op.round(send.round), send);
  if (--op.sends_to_go == 0) {
    for (const Link& link : op.links) fabric_.network().close_channel(link.channel);
  }
  if (op.runnable->stream) {
    if (op.sends_to_go == 0) complete_all(id, op);
    return;
  }
  finish_work(id, op, send.from);
  finish_work(id, op, op.run_for(send.to));
  if (missing && !op.complete()) rest(op);
}

// Lets go what waited for the arrival of a send.
void Transfers::release(OpId id, Operation& op, SendIndex arrived) {
  const SendPlan& plan = op.plan();
  released_.clear();
  plan.released_by(arrived, released_);
  const bool counted = plan.most_waits() > 1;
  for (const SendIndex next : released_) {
    if (counted && ++op.arrivals[next] < plan.waits_for(next)) continue;
    post(id, op, next);
  }
}

// The books of an optical round: circuits go back when a member's last send over them is delivered.
void Transfers::finish_send(OpId id, Operation& op, Round& round, const Send& send) {
  const std::uint32_t index = round.index;
  if (by_pair_ && send.from != send.to) leave_pair(id, op, round, send);
  if (--round.sends_left[send.from] == 0) {
    auto first = std::lower_bound(round.links.begin(), round.links.end(), send.from,
                                  [](const Link& link, Member from) { return link.pair.first < from; });
    for (; first != round.links.end() && first->pair.first == send.from; ++first) {
      Link& link = *first;
      if (link.channel != Network::kNone) fabric_.network().close_channel(link.channel);
      if (!link.held) continue;
      link.held = false;
      fabric_.rail(link.rail).release(link.hold);
      listener_->circuits_released(link.rail, id);
    }
  }
  const bool from_done = --round.work_left[send.from] == 0;
  const Member to = op.run_for(send.to);
  const bool to_done = --round.work_left[to] == 0;
  if (--round.work == 0) std::erase_if(op.rounds, [index](const Round& r) { return r.index == index; });
  if (from_done) advance(id, op, send.from, index);
  if (to_done) advance(id, op, to, index);
}

void Transfers::finish_work(OpId id, Operation& op, Member member) {
  if (--op.left[member] > 0) return;
  recorder_.running_ended(op.rank(member), op.dimension(), engine_.now());
  --op.members_to_go;
  listener_->member_done(id, member);
}

// Stream fidelity: the members of a collective end together, with its last byte.
void Transfers::complete_all(OpId id, Operation& op) {
  const Member members = op.members();
  for (Member m = 0; m < members; ++m) recorder_.running_ended(op.rank(m), op.dimension(), engine_.now());
  for (Member m = 0; m < members; ++m) {
    --op.members_to_go;
    listener_->member_done(id, m);
  }
}

}  // namespace photonrail
