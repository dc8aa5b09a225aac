#include "control_plane/round_service.hpp"

#include "control_plane/missing_circuit.hpp"
#include "core/counted.hpp"
#include "core/grown.hpp"
#include "execution/transfers.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace photonrail::control_plane {

using execution::CriticalPathTag;
using execution::Operation;
using execution::OpId;
using network::Network;

using State = OperationEvent::State;

void RoundService::attach(execution::RoundListener& rounds, execution::LaneArbiter& lanes) {
  listener_ = &rounds;
  lanes_ = &lanes;
}

void RoundService::request(OpId op, std::uint32_t round, Member member, TaskId task) {
  plane_.board().ask(op, round, member, task);
}

RoundService::Round* RoundService::find(OpId op, std::uint32_t round) {
  if (op >= rounds_.size()) return nullptr;
  for (Round& r : rounds_[op]) {
    if (r.index == round) return &r;
  }
  return nullptr;
}

// Opening waits for the start phase, so that the controller decides before any operation takes circuits at this instant.
void RoundService::enter(OpId op, std::uint32_t round) {
  if (to_open_.empty()) {
    run_.engine.schedule(run_.engine.now(), engine::Phase::kStart, engine::Action::to<&RoundService::open_pending>(*this));
  }
  to_open_.emplace_back(op, round);
  Round& entered = core::grown(rounds_, op).emplace_back();
  entered.index = round;
  const auto add = [&entered](MemberPair pair, const std::optional<fabric::RailCrossing>& crossing) {
    HeldLink& link = entered.links.emplace_back();
    link.pair = pair;
    link.way.crossing = crossing;
  };
  // The board keeps the crossings of rounds that it was asked for, so that they are found once.
  if (const RoundLinks* const kept = plane_.board().round_links(op, round)) {
    entered.links.reserve(kept->crossings.size());
    for (const RoundLinks::Crossing& crossing : kept->crossings) add(crossing.pair, crossing.over);
    return;
  }
  const Operation& of = run_.operations[op];
  for (const MemberPair& pair : of.plan().pairs(round)) {
    add(pair, run_.fabric.crossing(of.gpus[pair.first], of.gpus[pair.second]));
  }
}

void RoundService::open_pending(std::uint64_t) {
  const auto pending = std::exchange(to_open_, {});
  for (const auto& [id, index] : pending) {
    const Operation& op = run_.operations[id];
    Round& round = *find(id, index);
    // An operation without its lane takes no circuits: it would keep them dark for the one that has the lane.
    if (lanes_->may_take_circuits(id) && hold(id, round)) {
      open(id, round, std::nullopt);
    } else {
      begin_waiting(id, op, round);
    }
  }
}

void RoundService::retry(OpId op) { try_open(op, 0); }

void RoundService::try_open(OpId id, std::uint32_t index) {
  const Operation& op = run_.operations[id];
  Round& round = *find(id, index);
  PHOTONRAIL_CHECK(round.waiting);
  if (!lanes_->may_take_circuits(id) || !hold(id, round)) return;
  open(id, round, end_waiting(op, round));
}

// The wait is accounted for before the board is notified: the controller that decides on it may end it at this instant.
void RoundService::begin_waiting(OpId id, const Operation& op, Round& round) {
  const std::vector<std::uint32_t>& work_left = op.round(round.index)->work_left;
  const Time now = run_.engine.now();
  round.waiting = true;
  round.waited_before.resize(op.members());
  for (Member m = 0; m < op.members(); ++m) {
    // Members without a send in this round do not wait for its circuits.
    if (work_left[m] == 0) continue;
    run_.accounting.running_ended(op.rank(m), op.dimension(), now);
    run_.accounting.waiting_began(op.rank(m), op.dimension(), now);
    round.waited_before[m] = run_.accounting.reconfiguration_wait(op.rank(m), now);
  }
  plane_.board().block(id, round.index);
  for (Member m = 0; m < op.members(); ++m) {
    if (work_left[m] > 0) run_.observers.operation(op, m, State::kWaitingForCircuits, now);
  }
  lanes_->lacks_circuits(id);
}

// Returns how long the member that waited most had nothing else to do meanwhile.
Duration RoundService::end_waiting(const Operation& op, const Round& round) {
  const std::vector<std::uint32_t>& work_left = op.round(round.index)->work_left;
  const Time now = run_.engine.now();
  Duration idle{};
  for (Member m = 0; m < op.members(); ++m) {
    if (work_left[m] == 0) continue;
    idle = std::max(idle, run_.accounting.reconfiguration_wait(op.rank(m), now) - round.waited_before[m]);
    run_.accounting.waiting_ended(op.rank(m), op.dimension(), now);
    run_.accounting.running_began(op.rank(m), op.dimension(), now);
  }
  return idle;
}

// All circuits of the round, or none.
// Withdrawn holds leave no trace: a controller that looks for progress must not take an attempt for a use.
bool RoundService::hold(OpId id, Round& round) {
  for (HeldLink& link : round.links) {
    const auto& crossing = link.way.crossing;
    if (!crossing) continue;
    const auto hold = run_.fabric.rail(crossing->rail).hold(crossing->from, crossing->to, id);
    if (!hold) {
      withdraw(round);
      return false;
    }
    link.held = true;
    link.hold = *hold;
  }
  return true;
}

void RoundService::withdraw(Round& round) {
  for (HeldLink& link : round.links) {
    if (!std::exchange(link.held, false)) continue;
    run_.fabric.rail(link.way.crossing->rail).withdraw(link.hold);
  }
}

// `idle`: of end_waiting(), or nothing when the circuits were there at once.
void RoundService::open(OpId id, Round& round, std::optional<Duration> idle) {
  Operation& op = run_.operations[id];
  round.waiting = false;
  // The operation waited for these circuits, so that what lit them is on its critical path.
  if (idle) {  // of all rails before one of them hears of it: they come in no order that is the same of a folded run
    for (const HeldLink& link : round.links) {
      if (link.way.crossing) run_.operations.arrivals().wait_for(op, plane_.agent(link.way.crossing->rail).lit_cause());
    }
  }
  plane_.board().serve(id, round.index, [&](const Request& request) {
    RailAgent& agent = plane_.agent(request.rail);
    const std::span<const ServerPair> pairs = request.pairs.pairs();
    for (std::size_t p = 0; p < pairs.size() && !request.pairs.bytes().empty(); ++p) {
      agent.count_traffic(op.key.iteration, pairs[p], request.pairs.bytes()[p]);
    }
    agent.served(op.dimension());
    agent.notify(op.cause.latest());
    if (idle) agent.expose(*idle, &request.pairs);
  });
  lanes_->has_circuits(id);
  const std::vector<std::uint32_t>& work_left = op.round(round.index)->work_left;
  for (Member m = 0; m < op.members(); ++m) {
    if (!op.present(m) || !(round.index == 0 || (idle && work_left[m] > 0))) continue;
    run_.observers.operation(op, m, State::kRunning, run_.engine.now());
  }
  // Several sends of a pair go one after another on a channel; a pair with one send needs none.
  const bool channels = op.round(round.index)->work > round.links.size();
  for (HeldLink& link : round.links) {
    link.way.path = path_of(run_.fabric, op, link.pair, link.way.crossing);
    if (channels) link.channel = run_.fabric.network().open_channel();
  }
  listener_->round_opened(id, round.index);
}

void RoundService::send(OpId id, const Send& send, std::uint64_t tag) {
  const HeldLink& link = find_link(find(id, send.round)->links, {send.from, send.to});
  run_.fabric.post(link.channel, link.way.path, send.bytes, tag);
}

// Circuits go back when a member's last send over them is delivered.
void RoundService::leave(OpId id, const Send& send, bool sender_done, bool round_done) {
  if (!sender_done) return;
  std::vector<HeldLink>& links = find(id, send.round)->links;
  auto link = std::lower_bound(links.begin(), links.end(), send.from,
                               [](const HeldLink& l, Member from) { return l.pair.first < from; });
  // A request that these circuits serve next inherits the reconfigurations behind this operation.
  const std::uint32_t reconfigurations = run_.operations[id].cause.reconfigurations();
  for (; link != links.end() && link->pair.first == send.from; ++link) {
    if (link->channel != Network::kNone) run_.fabric.network().close_channel(link->channel);
    if (!std::exchange(link->held, false)) continue;
    const RailId rail = link->way.crossing->rail;
    run_.fabric.rail(rail).release(link->hold);
    plane_.agent(rail).notify({run_.engine.now(), reconfigurations});
  }
  if (round_done) std::erase_if(rounds_[id], [&](const Round& r) { return r.index == send.round; });
}

// The job stands still. Reasons from the worst: the round can never be served, circuits are missing, or only the lane is.
execution::MissingCircuits RoundService::missing(OpId id) const {
  if (id >= rounds_.size()) return {};
  const Operation& op = run_.operations[id];
  for (const Round& round : rounds_[id]) {
    if (!round.waiting) continue;
    if (std::string text = too_many_circuits(op, round); !text.empty()) return {std::move(text), true};
    execution::MissingCircuits lack;
    for (const HeldLink& link : round.links) {
      if (run_.fabric.route(op.gpus[link.pair.first], op.gpus[link.pair.second], link.way.crossing)) continue;
      lack.keep_worse(missing_circuit(run_, op, link));
    }
    if (!lack.text.empty()) return lack;
    return {" waits for its communication lane"};  // its circuits are there, and another operation has the lane
  }
  return {};
}

namespace {

/// Holds what a round wants at one place: a rail, a server, and whether circuits lead to it.
struct Wanted {
  std::set<std::uint32_t> servers;  ///< at the other ends
  std::set<Member> members;         ///< at this end
};

std::string list_ranks(const Operation& op, const std::set<Member>& members) {
  std::string text = members.size() == 1 ? "rank " : "ranks ";
  std::size_t listed = 0;
  for (const Member m : members) {
    if (listed == 8) return text + " and " + std::to_string(members.size() - listed) + " more";
    text += (listed++ == 0 ? "" : ", ") + std::to_string(op.rank(m).value);
  }
  return text;
}

}  // namespace

// The round wants more circuits out of a server, or into one, than a GPU of it has ports on a rail.
std::string RoundService::too_many_circuits(const Operation& op, const Round& round) const {
  const std::uint32_t ports = run_.plant().nic_ports;
  std::map<std::tuple<RailId, std::uint32_t, bool>, Wanted> wanted;
  for (const HeldLink& link : round.links) {
    const auto& crossing = link.way.crossing;
    if (!crossing) continue;
    // A port has a transmit and a receive side, so that circuits out and in are counted apart.
    for (const bool out : {true, false}) {
      Wanted& at = wanted[{crossing->rail, out ? crossing->from : crossing->to, !out}];
      at.servers.insert(out ? crossing->to : crossing->from);
      at.members.insert(out ? link.pair.first : link.pair.second);
    }
  }
  for (const auto& [place, at] : wanted) {
    if (at.servers.size() <= ports) continue;
    const auto& [rail, server, receives] = place;
    const bool one = at.members.size() == 1;
    const std::string number = core::counted(ports, "port");
    return " wants " + core::counted(at.servers.size(), "circuit") + " at once " + (receives ? "to " : "from ") +
           list_ranks(op, at.members) +
           (one ? ", which has " + number
                : ", and server " + std::to_string(server) + " has " + number + " on rail " + std::to_string(rail.value)) +
           ": choose an algorithm that sends in matchings, " + (one ? "" : "another placement, ") +
           "or a controller that serves pairs one by one";
  }
  return "";
}

}  // namespace photonrail::control_plane
