#include "execution/transfers.hpp"

#include "core/checked.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::execution {

using core::checked_product;
using fabric::Fabric;
using network::Network;
using network::Path;

Transfers::Transfers(const RunContext& run, CircuitService& circuits, MemberListener& members)
    : run_(run),
      circuits_(circuits),
      members_(members),
      gpus_(run.engine, run.gpus, run.accounting, run.stragglers, *this),
      proxies_(run.engine, *this),
      loads_(run.remembers_loads) {}

void Transfers::start(OpId id) {
  Operation& op = run_.operations[id];
  TransferProgress& transfer = op.transfer;
  const SendPlan& plan = op.plan();
  transfer.started = true;
  transfer.left = op.runnable->work;
  transfer.sends_to_go = plan.send_count();
  transfer.members_to_go = op.members();
  if (plan.most_waits() > 1) transfer.arrivals.assign(plan.send_count(), 0);
  // In a folded run a member stands for several ranks: traffic is counted for all of them, time for one.
  const std::size_t fold = op.gpus.size() / op.members();
  run_.accounting.traffic(op.dimension(), checked_product(plan.wire_bytes(), fold), op.copies,
                          checked_product(loads_.count(op, run_.fabric), fold));
  transfer.started_at = run_.engine.now();
  transfer.in_flight = 0;
  transfer.resting = transfer.together = false;
  const bool missing = !op.complete();
  if (const LockstepGroup* group = run_.group_of(op.key.communicator); group != nullptr && !missing) {
    run_.accounting.running_began(*group, op.dimension(), run_.engine.now());
  } else {
    for (Member m = 0; m < op.members(); ++m) {
      if (op.present(m)) began(op, m);
    }
  }
  if (!op.optical) {
    post_initial(id, op);
  } else {
    start_rounds(id, op);
  }
  // The start itself is one piece of work of every member: a member with nothing to send or receive is done now.
  if (op.runnable->stream) return;
  for (Member m = 0, members = op.members(); m < members; ++m) {
    if (op.present(m)) finish_work(id, op, m);
  }
  if (missing) rest(op);
}

// A late member enters an operation that is under way. Members that were at rest, since nothing could move without it, run
// again; then its own sends and those that waited for it are posted.
void Transfers::join(OpId id, Member member) {
  Operation& op = run_.operations[id];
  TransferProgress& transfer = op.transfer;
  for (Member m = 0; m < op.members(); ++m) {
    const bool was_resting = transfer.resting && op.present(m) && transfer.left[m] > 0;
    if (was_resting || m == member) began(op, m);
  }
  transfer.resting = false;
  if (op.optical) {
    enter_first(id, op, member);
  } else {
    const std::vector<SendIndex> parked = std::exchange(transfer.parked, {});
    for (const SendIndex i : parked) post(id, op, i);
  }
  const bool missing = !op.complete();
  finish_work(id, op, member);  // its start
  if (missing) rest(op);
}

void Transfers::began(const Operation& op, Member member) {
  run_.accounting.running_began(op.rank(member), op.dimension(), run_.engine.now());
  members_.exchange_began(op.rank(member), op.dimension());
}

void Transfers::ended(const Operation& op, Member member) {
  run_.accounting.running_ended(op.rank(member), op.dimension(), run_.engine.now());
  members_.exchange_ended(op.rank(member), op.dimension());
}

// When nothing can move until a missing member comes, the others wait for a peer.
void Transfers::rest(Operation& op) {
  TransferProgress& transfer = op.transfer;
  const auto goes_on = [](const RoundProgress& round) { return round.reached == round.participants; };
  if (transfer.resting || transfer.in_flight > 0) return;
  if (std::any_of(transfer.rounds.begin(), transfer.rounds.end(), goes_on)) return;
  transfer.resting = true;
  for (Member m = 0; m < op.members(); ++m) {
    if (!op.present(m) || transfer.left[m] == 0) continue;
    ended(op, m);
  }
}

// ---- rounds of circuits

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

// The books of a round are made when its first member, or a send of it, comes: few rounds are open at a time, and plans may
// have thousands. `work_left` counts the sends that a member sends or receives, so that it reaches zero when the member may
// leave for its next round; `sends_left` those that it sends, after which its circuits are no longer needed by it.
RoundProgress& Transfers::enter_round(Operation& op, std::uint32_t index) {
  for (RoundProgress& round : op.transfer.rounds) {
    if (round.index == index) return round;
  }
  RoundProgress& round = op.transfer.rounds.emplace_back();
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

// Circuits of the first round were requested when the member arrived; of each later round it asks as it enters. The round
// opens when all its participants are there and the service has its circuits.
void Transfers::reach(OpId id, Operation& op, std::uint32_t index, Member member) {
  if (index > 0) circuits_.request(id, index, member, op.arrival.task(member));
  RoundProgress& round = enter_round(op, index);
  if (++round.reached < round.participants) return;
  circuits_.enter(id, index);
}

// The member goes on to its next round, if it has another.
void Transfers::advance(OpId id, Operation& op, Member member, std::uint32_t after) {
  for (std::uint32_t r = after + 1; r < op.plan().rounds(); ++r) {
    if (!op.takes_part(member, r)) continue;
    reach(id, op, r, member);
    return;
  }
}

void Transfers::round_opened(OpId id, std::uint32_t index) {
  Operation& op = run_.operations[id];
  RoundProgress& round = enter_round(op, index);
  round.open = true;
  const std::vector<SendIndex> parked = std::exchange(round.parked, {});
  for (const SendIndex i : parked) post(id, op, i);
}

// ---- sends

namespace {

// Adds what one flow for all sends of a pair leaves out: between two steps of the plan passes what its pieces keep the link
// busy, or the time until the first of them has arrived, whichever is more (as in the cost of a ring).
void add_steps(const Network& network, const Operation& op, Path& path) {
  const RunnablePlan& plan = *op.runnable;
  // A piece occupies the link for its overhead, and arrives a latency later: a step of the plan takes the larger of sending
  // all pieces and of the first piece's arrival, less the bytes that leave behind it in the meantime. The first step is in
  // the flow itself.
  const double rate = network.rate_alone(path).bytes_per_second;
  const double sends = static_cast<double>(op.plan().send_count()) * plan.latency_sends;
  const double shard = rate > 0.0 ? static_cast<double>(op.plan().wire_bytes().count) / sends * 1e12 / rate : 0.0;
  const Duration leaving = core::checked_product(path.overhead, plan.pieces);
  const Duration arriving = path.latency + path.overhead;
  const double hidden = shard * (1.0 - 1.0 / plan.pieces);  // bytes of later pieces that leave while the first one travels
  const double step = std::max(static_cast<double>(leaving.count()), static_cast<double>(arriving.count()) - hidden);
  const Duration steps = core::checked_sum(round_up_picoseconds(step * (plan.latency_sends - 1)), leaving - path.overhead);
  path.latency = core::checked_sum(path.latency, steps);
}

// Inside a server the protocol goes by the size of the message: of a plan of unequal sends the mean one.
Duration protocol_latency(const Fabric& fabric, const Operation& op) {
  const std::int64_t steps = op.runnable->stream ? op.runnable->latency_sends : 1;
  const std::int64_t sends = std::max<std::int64_t>(static_cast<std::int64_t>(op.plan().send_count()) * steps, 1);
  return fabric.spec().scale_up.message_latency({op.plan().wire_bytes().count / sends});
}

}  // namespace

Path path_of(Fabric& fabric, const Operation& op, MemberPair pair, const std::optional<fabric::RailCrossing>& crossing,
             bool first) {
  std::optional<Path> path = fabric.route(op.gpus[pair.first], op.gpus[pair.second], crossing);
  PHOTONRAIL_CHECK(path.has_value());
  const bool by_size = fabric.inside_server(op.gpus[pair.first], op.gpus[pair.second]);
  if (by_size) path->latency = protocol_latency(fabric, op);
  if (op.runnable->stream) add_steps(fabric.network(), op, *path);
  if (by_size && (first || op.runnable->stream))
    path->latency = core::checked_sum(path->latency, fabric.spec().scale_up.latency);
  return *std::move(path);
}

fabric::Way way_of(Fabric& fabric, const Operation& op, MemberPair pair, bool first) {
  const auto crossing = fabric.crossing(op.gpus[pair.first], op.gpus[pair.second]);
  return {crossing, path_of(fabric, op, pair, crossing, first)};
}

// Without circuits, the ways of a plan that sends over its pairs again and again are found once. Others are found send by
// send.
void Transfers::make_links(Operation& op) {
  std::vector<Link>& links = op.transfer.links;
  links.clear();
  if (!op.runnable->pairs_again) return;
  const std::vector<MemberPair> pairs = op.plan().pairs(0);
  links.resize(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    links[p] = {pairs[p], way_of(run_.fabric, op, pairs[p]), run_.fabric.network().open_channel()};
  }
}

// Without circuits. What leaves together and is alone costs as much as one send.
void Transfers::post_initial(OpId id, Operation& op) {
  const SendPlan& plan = op.plan();
  if (const std::optional<PlanWays::Ways> ways = ways_.of(op, run_.fabric)) {
    op.transfer.together = true;
    op.transfer.in_flight = plan.send_count();
    circuits_.set_running(++running_);
    run_.fabric.post_parts(ways->path, plan.send(0).bytes, tag_of(id, 0), ways->standing);
    return;
  }
  make_links(op);
  run_.fabric.network().expect(plan.initial_sends());
  for (SendIndex i = 0; i < plan.initial_sends(); ++i) post(id, op, i);
}

void Transfers::post(OpId id, Operation& op, SendIndex i) {
  const Send send = op.plan().send(i);
  // A send waits, parked, for the circuits of its round, or, without circuits, for a member that is late.
  if (op.optical) {
    RoundProgress& round = enter_round(op, send.round);
    if (!round.open) {
      round.parked.push_back(i);
      return;
    }
  } else if (!op.complete() && !(op.present(send.from) && op.present(send.to))) {
    op.transfer.parked.push_back(i);
    return;
  }
  if (op.transfer.in_flight++ == 0) circuits_.set_running(++running_);
  const std::uint64_t tag = tag_of(id, i);
  if (send.from == send.to) {
    begin_step(op, send, tag);
  } else if (send.ordered) {
    proxies_.send(op.rank(send.from), tag);
  } else {
    leave(op, send, tag);
  }
}

// The first message of a pair inside a server pays for its start, and later ones follow it in the pipe: they differ in
// latency, and therefore in path.
void Transfers::leave(Operation& op, const Send& send, std::uint64_t tag) {
  if (op.optical) return circuits_.send(op_of(tag), send, tag);
  const MemberPair pair{send.from, send.to};
  const bool first = send_of(tag) < op.plan().initial_sends();
  if (op.transfer.links.empty()) {
    run_.fabric.post(Network::kNone, way_of(run_.fabric, op, pair, first).path, send.bytes, tag);
    return;
  }
  const Link& link = find_link(op.transfer.links, pair);
  if (first && run_.fabric.inside_server(op.gpus[pair.first], op.gpus[pair.second])) {
    run_.fabric.post(link.channel, path_of(run_.fabric, op, pair, link.way.crossing, true), send.bytes, tag);
    return;
  }
  run_.fabric.post(link.channel, link.way.path, send.bytes, tag);
}

void Transfers::launch(std::uint64_t tag) {
  Operation& op = run_.operations[op_of(tag)];
  leave(op, op.plan().send(send_of(tag)), tag);
}

void Transfers::begin_step(Operation& op, const Send& send, std::uint64_t tag) {
  const LocalStep step = op.plan().step(send_of(tag));
  const RankId rank = op.rank(send.from);
  switch (step.kind) {
    case LocalStep::Kind::kTiles:
      gpus_.compute(rank, op.key.iteration, step, tag);
      break;
    case LocalStep::Kind::kWait:
      run_.engine.schedule(run_.engine.now() + step.wait, engine::Phase::kFinish,
                           engine::Action::to<&Transfers::delivered>(*this, tag));
      break;
    case LocalStep::Kind::kFence:
      proxies_.fence(rank, tag, step.wait);
      break;
  }
}

void Transfers::delivered(std::uint64_t tag) {
  const OpId id = op_of(tag);
  Operation& op = run_.operations[id];
  TransferProgress& transfer = op.transfer;
  if (transfer.together) return delivered_together(tag, 1);
  // Releasing comes first: what this send frees leaves at this instant, before the end of a round or of the operation is
  // looked at. Each call below may post, and so append to the tables of the operation.
  const bool missing = !op.complete();  // then the operation does not end here
  if (--transfer.in_flight == 0) circuits_.set_running(--running_);
  release(id, op, send_of(tag));
  const Send send = op.plan().send(send_of(tag));
  if (send.ordered) proxies_.arrived(op.rank(send.from));
  if (op.optical) finish_send(id, op, enter_round(op, send.round), send);
  if (--transfer.sends_to_go == 0) {
    for (const Link& link : transfer.links) run_.fabric.close_channel(link.channel);
  }
  if (op.runnable->stream) {
    if (transfer.sends_to_go == 0) complete_all(id, op);
    return;
  }
  finish_work(id, op, send.from);
  finish_work(id, op, op.run_for(send.to));
  if (missing && !op.complete()) rest(op);
}

// Nothing waits for a send of a stream.
void Transfers::delivered_together(std::uint64_t tag, std::uint32_t messages) {
  const OpId id = op_of(tag);
  Operation& op = run_.operations[id];
  op.transfer.sends_to_go -= messages;
  op.transfer.in_flight -= messages;
  if (op.transfer.in_flight > 0) return;
  circuits_.set_running(--running_);
  complete_all(id, op);
}

// Releases what waited for the arrival of a send.
void Transfers::release(OpId id, Operation& op, SendIndex arrived) {
  const SendPlan& plan = op.plan();
  released_.clear();
  plan.released_by(arrived, released_);
  // Plans in which no send waits for two others, which is most, have no counters.
  const bool counted = plan.most_waits() > 1;
  for (const SendIndex next : released_) {
    if (counted && ++op.transfer.arrivals[next] < plan.waits_for(next)) continue;
    post(id, op, next);
  }
}

// `round` is gone after the erasure, and advance() may add rounds: nothing refers to it from there on.
void Transfers::finish_send(OpId id, Operation& op, RoundProgress& round, const Send& send) {
  const std::uint32_t index = round.index;
  const Member to = op.run_for(send.to);
  const bool sender_done = --round.sends_left[send.from] == 0;
  const bool from_done = --round.work_left[send.from] == 0;
  const bool to_done = --round.work_left[to] == 0;
  const bool round_done = --round.work == 0;
  circuits_.leave(id, send, sender_done, round_done);
  if (round_done) std::erase_if(op.transfer.rounds, [index](const RoundProgress& r) { return r.index == index; });
  if (from_done) advance(id, op, send.from, index);
  if (to_done) advance(id, op, to, index);
}

// The last member retires the operation in member_done(): `op` is not to be used afterwards.
void Transfers::finish_work(OpId id, Operation& op, Member member) {
  if (--op.transfer.left[member] > 0) return;
  ended(op, member);
  --op.transfer.members_to_go;
  members_.member_done(id, member);
}

// Stream fidelity: the members of a collective end together, with its last byte.
void Transfers::complete_all(OpId id, Operation& op) {
  const Member members = op.members();
  if (const LockstepGroup* group = run_.group_of(op.key.communicator)) {
    run_.accounting.running_ended(*group, op.dimension(), run_.engine.now());
    if (members_.all_done(id, *group)) return;
  } else {
    for (Member m = 0; m < members; ++m) ended(op, m);
  }
  for (Member m = 0; m < members; ++m) {
    --op.transfer.members_to_go;
    members_.member_done(id, m);
  }
}

}  // namespace photonrail::execution
