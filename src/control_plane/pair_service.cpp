#include "control_plane/pair_service.hpp"

#include "control_plane/missing_circuit.hpp"
#include "core/grown.hpp"
#include "execution/transfers.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace photonrail::control_plane {

using execution::Operation;
using execution::OpId;
using fabric::RailCrossing;

using State = OperationEvent::State;

void PairService::attach(execution::RoundListener& rounds, execution::LaneArbiter&) { listener_ = &rounds; }

void PairService::request(OpId op, std::uint32_t round, Member member, TaskId task) {
  plane_.board().ask(op, round, member, task);
}

PairService::Round* PairService::find(OpId op, std::uint32_t round) {
  if (op >= rounds_.size()) return nullptr;
  for (Round& r : rounds_[op]) {
    if (r.index == round) return &r;
  }
  return nullptr;
}

// Opening waits for the start phase, so that the controller decides before any operation takes circuits at this instant.
void PairService::enter(OpId op, std::uint32_t round) {
  if (to_open_.empty()) {
    run_.engine.schedule(run_.engine.now(), engine::Phase::kStart, engine::Action::to<&PairService::open_pending>(*this));
  }
  to_open_.emplace_back(op, round);
}

void PairService::open_pending(std::uint64_t) {
  const auto pending = std::exchange(to_open_, {});
  for (const auto& [id, index] : pending) open(id, index);
}

// The round needs no circuits as a whole: every pair begins as soon as its own circuit is lit. A pair inside a server never
// waits.
void PairService::open(OpId id, std::uint32_t index) {
  const Operation& op = run_.operations[id];
  Round& round = core::grown(rounds_, id).emplace_back();
  round.index = index;
  round.moving.assign(op.members(), 0);
  round.lacking.assign(op.members(), 0);
  round.waited_before.assign(op.members(), Duration{});
  for (const MemberPair& pair : op.plan().pairs(index)) {
    PairLink& link = round.links.emplace_back();
    link.pair = pair;
    link.channel = run_.fabric.network().open_channel();
    link.way.crossing = run_.fabric.crossing(op.gpus[pair.first], op.gpus[pair.second]);
    if (!link.way.crossing) link.way.path = path_of(run_.fabric, op, pair, std::nullopt);
  }
  make_rows(round);
  plane_.board().split_by_pair(id, index);
  // Later rounds go on where members already run.
  for (Member m = 0; index == 0 && m < op.members(); ++m) {
    if (op.present(m)) run_.observers.operation(op, m, State::kRunning, run_.engine.now());
  }
  listener_->round_opened(id, index);
  try_open(id, index);
}

// Links by rail and sender, receivers ascending: try_open() asks a rail which circuits a sender has and finds their links
// by a search, in place of asking for each of up to n^2 pairs whether its circuit is lit.
void PairService::make_rows(Round& round) {
  std::vector<std::tuple<RailId, std::uint32_t, std::uint32_t, std::uint32_t>> order;
  for (std::uint32_t i = 0; i < round.links.size(); ++i) {
    const auto& crossing = round.links[i].way.crossing;
    if (crossing) order.emplace_back(crossing->rail, crossing->from, crossing->to, i);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [rail, from, to, link] : order) {
    if (round.rows.empty() || round.rows.back().rail != rail || round.rows.back().from != from) {
      round.rows.push_back({rail, from, {}, 0});
    }
    round.rows.back().links.emplace_back(to, link);
    round.links[link].row = static_cast<std::uint32_t>(round.rows.size() - 1);
  }
}

// A send that waits is tried when the controller has seen it.
void PairService::send(OpId id, const Send& send, std::uint64_t tag) {
  Round& round = *find(id, send.round);
  PairLink& link = find_link(round.links, {send.from, send.to});
  // A circuit with bytes in flight is held already: further messages of its pair follow without a request.
  if (!link.way.crossing || link.on_way > 0) {
    ++link.on_way;
    count(id, round, link.pair, Count::kMoving, 1);
    run_.fabric.post(link.channel, link.way.path, send.bytes, tag);
    return;
  }
  if (link.parked.empty()) ++round.rows[link.row].parked;
  link.parked.push_back(tag);
  count(id, round, link.pair, Count::kLacking, 1);
  plane_.board().pair_waits(id, send.round, *link.way.crossing, send.bytes, send.from);
  if (offered_.empty()) {
    run_.engine.schedule(run_.engine.now(), engine::Phase::kStart, engine::Action::to<&PairService::try_offered>(*this));
  }
  // Many sends of a round come in a row; the round is tried once for all of them.
  if (offered_.empty() || offered_.back() != std::pair{id, send.round}) offered_.emplace_back(id, send.round);
}

void PairService::try_offered(std::uint64_t) {
  const auto offered = std::exchange(offered_, {});
  for (const auto& [id, round] : offered) {
    if (find(id, round) != nullptr) try_open(id, round);
  }
}

// Where messages may be forwarded, a pair can have a way without a circuit of its own, so that each parked link is tried.
void PairService::try_open(OpId id, std::uint32_t index) {
  Round& round = *find(id, index);
  if (forwards(round)) {
    for (PairLink& link : round.links) {
      if (!link.parked.empty()) hold(id, round, link);
    }
    return;
  }
  std::vector<std::uint32_t> served;  // links whose circuits can be used
  for (const Row& row : round.rows) {
    if (row.parked == 0) continue;
    run_.fabric.rail(row.rail).each_peer(row.from, [&](std::uint32_t to) {
      auto link = std::lower_bound(row.links.begin(), row.links.end(), std::pair{to, std::uint32_t{0}});
      for (; link != row.links.end() && link->first == to; ++link) served.push_back(link->second);
    });
  }
  // Holds are taken in the order of links and not of rails, so that the history does not depend on how rows lie.
  std::sort(served.begin(), served.end());
  for (const std::uint32_t link : served) {
    if (!round.links[link].parked.empty()) hold(id, round, round.links[link]);
  }
}

bool PairService::forwards(const Round& round) const {
  return std::any_of(round.rows.begin(), round.rows.end(),
                     [this](const Row& row) { return run_.fabric.rail(row.rail).forwards(); });
}

// All sends that wait for the pair go at once, on one hold. The accounts change before the requests and the requests before
// the posting: what the members waited is read while they still count as waiting, and a message that arrives at this
// instant must find the request served.
void PairService::hold(OpId id, Round& round, PairLink& link) {
  Operation& op = run_.operations[id];
  const RailCrossing crossing = *link.way.crossing;
  const auto hold = run_.fabric.rail(crossing.rail).hold(crossing.from, crossing.to, id);
  if (!hold) return;
  link.hold = *hold;
  link.held = true;
  link.way.path = path_of(run_.fabric, op, link.pair, crossing);
  const std::vector<std::uint64_t> tags = std::exchange(link.parked, {});
  --round.rows[link.row].parked;
  const auto sends = static_cast<std::uint32_t>(tags.size());
  Bytes bytes{};
  for (const std::uint64_t tag : tags) bytes.count += op.plan().send(execution::send_of(tag)).bytes.count;
  const auto waited = [&](Member m) {
    if (!round.waits(m)) return Duration{};
    return run_.accounting.reconfiguration_wait(op.rank(m), run_.engine.now()) - round.waited_before[m];
  };
  // A folded member stands for several ranks; the one that runs for the receiver has its accounts.
  const Duration idle = std::max(waited(link.pair.first), waited(op.run_for(link.pair.second)));
  link.on_way = sends;
  count(id, round, link.pair, Count::kMoving, static_cast<std::int32_t>(sends));
  count(id, round, link.pair, Count::kLacking, -static_cast<std::int32_t>(sends));
  RailAgent& agent = plane_.agent(crossing.rail);
  if (idle > Duration{0}) run_.operations.arrivals().wait_for(op, agent.lit_cause());
  agent.count_traffic(op.key.iteration, {crossing.from, crossing.to}, bytes);
  agent.served(op.dimension());
  agent.notify(op.cause.latest());
  agent.expose(idle);
  plane_.board().pair_served(id, round.index, crossing, sends, bytes);
  for (const std::uint64_t tag : tags) {
    run_.fabric.post(link.channel, link.way.path, op.plan().send(execution::send_of(tag)).bytes, tag);
  }
}

// A message that was posted behind the delivered send in the meantime keeps the circuit.
void PairService::leave(OpId id, const Send& send, bool sender_done, bool round_done) {
  Round& round = *find(id, send.round);
  if (send.from != send.to) {
    PairLink& link = find_link(round.links, {send.from, send.to});
    PHOTONRAIL_CHECK(link.on_way > 0);
    count(id, round, link.pair, Count::kMoving, -1);
    if (--link.on_way == 0 && link.held) {
      link.held = false;
      const RailId rail = link.way.crossing->rail;
      run_.fabric.rail(rail).release(link.hold);
      plane_.agent(rail).notify({run_.engine.now(), run_.operations[id].cause.reconfigurations()});
    }
  }
  // Channels of a sender are closed together, when none of its sends can follow.
  if (!sender_done) return;
  auto link = std::lower_bound(round.links.begin(), round.links.end(), send.from,
                               [](const PairLink& l, Member sender) { return l.pair.first < sender; });
  for (; link != round.links.end() && link->pair.first == send.from; ++link) {
    run_.fabric.network().close_channel(link->channel);
  }
  if (round_done) std::erase_if(rounds_[id], [&](const Round& r) { return r.index == send.round; });
}

// A member with sends that wait and none that move waits for circuits.
void PairService::count(OpId id, Round& round, MemberPair pair, Count which, std::int32_t change) {
  const Operation& op = run_.operations[id];
  const Time now = run_.engine.now();
  for (const Member m : {pair.first, op.run_for(pair.second)}) {
    const bool before = round.waits(m);
    std::uint32_t& counter = which == Count::kMoving ? round.moving[m] : round.lacking[m];
    counter = static_cast<std::uint32_t>(static_cast<std::int64_t>(counter) + change);
    if (round.waits(m) == before) continue;
    const RankId rank = op.rank(m);
    if (before) {
      run_.accounting.waiting_ended(rank, op.dimension(), now);
      run_.accounting.running_began(rank, op.dimension(), now);
    } else {
      run_.accounting.running_ended(rank, op.dimension(), now);
      run_.accounting.waiting_began(rank, op.dimension(), now);
      round.waited_before[m] = run_.accounting.reconfiguration_wait(rank, now);
    }
    run_.observers.operation(op, m, before ? State::kRunning : State::kWaitingForCircuits, now);
  }
}

// The job stands still: a parked pair lacks a circuit; a held one has it and waits for bytes that no circuit moves,
// which is so when the timetable that would light it stands still.
execution::MissingCircuits PairService::missing(OpId id) const {
  execution::MissingCircuits lack;
  if (id >= rounds_.size()) return lack;
  const Operation& op = run_.operations[id];
  for (const Round& round : rounds_[id]) {
    for (const PairLink& link : round.links) {
      if (link.parked.empty() && !link.held) continue;
      const std::string rotation = plane_.agent(link.way.crossing->rail).why_nothing_turns();
      if (!link.parked.empty()) {
        execution::MissingCircuits circuit = missing_circuit(run_, op, link);
        circuit.text += rotation;
        lack.keep_worse(std::move(circuit));
      } else if (!rotation.empty()) {
        lack.keep_worse({" waits for bytes that never arrive" + rotation});
      }
    }
  }
  return lack;
}

}  // namespace photonrail::control_plane
