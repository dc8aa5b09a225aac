// The part of ControlPlane that knows who waits for which circuits.
#include "photonrail/error.hpp"
#include "control_plane/control_plane.hpp"
#include "folding/folding.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>

namespace photonrail {

void ControlPlane::ask(OpId op, std::uint32_t round, Member member, TaskId task) {
  const auto is_ours = [round](const OpenDemand& d) { return d.round == round; };
  std::vector<OpenDemand>& list = operations_[op].demands;
  if (std::none_of(list.begin(), list.end(), is_ours)) open_demands(op, round);
  for (const OpenDemand& d : list) {
    if (d.round != round) continue;
    Demand& demand = demands_[d.slot];
    demand.first_task = std::min(demand.first_task, task);
    demand.last_task = std::max(demand.last_task, task);
    demand.view.expected = operations_[op].expected;
    demand.view.due = operations_[op].due;
    send_request(d.slot, member);
  }
}

// What a round wants of each rail that it crosses.
std::map<RailId, ControlPlane::RailRound> ControlPlane::circuits_of(const Operation& op, std::uint32_t round) const {
  const std::vector<MemberPair> pairs = op.plan().pairs(round);
  std::map<RailId, std::vector<PairTraffic>> parts;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto crossing = fabric_.crossing(op.gpus[pairs[p].first], op.gpus[pairs[p].second]);
    if (!crossing) continue;
    const Bytes bytes = weighs_ ? op.runnable->pair_bytes[round][p] : Bytes{};
    parts[crossing->rail].push_back({{crossing->from, crossing->to}, bytes});
  }
  std::map<RailId, RailRound> rounds;
  for (auto& [rail, list] : parts) {
    std::sort(list.begin(), list.end(), [](const PairTraffic& a, const PairTraffic& b) { return a.pair < b.pair; });
    RailRound& of = rounds[rail];
    for (const PairTraffic& part : list) {
      const bool again = !of.pairs.empty() && of.pairs.back() == part.pair;
      if (!again) of.pairs.push_back(part.pair);
      if (!weighs_) continue;
      if (!again) of.bytes.emplace_back();
      of.bytes.back().count += part.bytes.count;
    }
  }
  return rounds;
}

// One demand for each rail that the round crosses.
void ControlPlane::open_demands(OpId id, std::uint32_t round) {
  Operation& op = operations_[id];
  std::uint32_t participants = 0;
  for (Member m = 0; m < op.members(); ++m) participants += op.takes_part(m, round) ? 1 : 0;
  for (auto& [rail, circuits] : circuits_of(op, round)) {
    Demand& demand = take_demand(id, round, rail, participants);
    demand.pairs = std::move(circuits.pairs);
    demand.bytes = std::move(circuits.bytes);
    if (needs_.rounds) show_next_rounds(demand);
    refresh(demand);
    op.demands.push_back({round, demand.view.id.value});
  }
}

void ControlPlane::show_next_rounds(Demand& demand) {
  const Operation& op = operations_[demand.op];
  for (std::uint32_t round = demand.round + 1; round < op.plan().rounds(); ++round) {
    std::map<RailId, RailRound> circuits = circuits_of(op, round);
    const RailRound& of = demand.later_of.emplace_back(std::move(circuits[demand.rail]));
    demand.next.push_back({of.pairs, of.bytes});
  }
}

ControlPlane::Demand& ControlPlane::take_demand(OpId id, std::uint32_t round, RailId rail, std::uint32_t members) {
  if (free_demands_.empty()) {
    free_demands_.push_back(static_cast<std::uint32_t>(demands_.size()));
    demands_.emplace_back();
  }
  const std::uint32_t slot = free_demands_.back();
  free_demands_.pop_back();
  const Operation& op = operations_[id];
  Demand& demand = demands_[slot];
  demand.pairs.clear();
  demand.bytes.clear();
  demand.since.clear();
  demand.parked.clear();
  demand.next.clear();
  demand.later_of.clear();
  demand.askers.clear();
  demand.asked.assign(op.members(), false);
  demand.first_task = TaskId::none();
  demand.last_task = TaskId{};
  demand.rail = rail;
  demand.op = id;
  demand.round = round;
  demand.serial = next_serial_++;
  demand.open = true;
  demand.missed = demand.by_pair = false;
  demand.view = {};
  demand.view.id = RequestId{slot};
  demand.view.communicator = op.key.communicator;
  demand.view.dimension = op.dimension();
  demand.view.op = op.op;
  demand.view.round = round;
  demand.view.iteration = op.key.iteration;
  demand.view.members = members;
  return demand;
}

// Shows what the demand has become.
void ControlPlane::refresh(Demand& demand) {
  CircuitRequest& view = demand.view;
  view.pairs = demand.pairs;
  view.bytes = demand.bytes;
  view.next = demand.next;
  view.askers = demand.askers;
  Rail& rail = rails_[demand.rail.index()];
  view.all_asked() ? rail.complete.update(view) : rail.gathering.update(view);
}

void ControlPlane::send_request(std::uint32_t slot, Member member) {
  Demand& demand = demands_[slot];
  if (demand.asked[member]) return;
  demand.asked[member] = true;
  if (rails_[demand.rail.index()].down > 0) return;  // it is asked again
  messages_.request(demand.rail, operations_[demand.op].rank(member), slot, demand.serial);
}

// The demand may have been met before the request arrived, and its slot serve another.
void ControlPlane::request_served(std::uint32_t slot, std::uint32_t serial, RankId from, bool by_root) {
  Demand& demand = demands_[slot];
  if (!demand.open || demand.serial != serial) return;
  if (messages_.hierarchical() && !by_root && demand.view.asked + 1 == demand.view.members) {
    messages_.ask_root(demand.rail, from, slot, serial);
  } else {
    count_request(demand, from);
  }
}

void ControlPlane::count_request(Demand& demand, RankId from) {
  CircuitRequest& view = demand.view;
  Rail& rail = rails_[demand.rail.index()];
  if (view.asked == 0) view.since = engine_.now();
  ++view.asked;
  demand.askers.push_back({from, engine_.now()});
  view.askers = demand.askers;
  if (view.all_asked()) {
    view.complete = engine_.now();
    rail.gathering.erase(view.id.value);
    enlist(demand);
  } else if (view.asked == 1) {
    rail.gathering.push_back(view);
  } else {
    rail.gathering.update(view);
  }
  stir(demand.rail, {engine_.now(), operations_[demand.op].cause.reconfigurations});
}

// What an operation under way lost comes first: others may wait for the circuits that it still holds. Of demands complete
// at one instant, what the programs say of their order: the order of their events would be no reason.
bool ControlPlane::before(const Demand& a, const Demand& b) const {
  const auto key = [this](const Demand& d) {
    const OperationKey& op = operations_[d.op].key;
    return std::tuple{!d.missed,   d.view.complete, op.iteration,     d.first_task,
                      d.last_task, op.tag,          d.view.dimension, d.round};
  };
  return key(a) < key(b);
}

void ControlPlane::enlist(Demand& demand) {
  RequestList& list = rails_[demand.rail.index()].complete;
  const std::vector<std::uint32_t>& slots = list.slots();
  const auto place =
      std::upper_bound(slots.begin(), slots.end(), demand.view.id.value,
                       [this](std::uint32_t a, std::uint32_t b) { return before(demands_[a], demands_[b]); });
  for (auto tied = place; fabric_.folded() && tied != slots.begin() && !before(demands_[*std::prev(tied)], demand);
       --tied) {
    const std::vector<ServerPair>& others = demands_[*std::prev(tied)].pairs;
    const bool meet = std::any_of(others.begin(), others.end(), [&](ServerPair other) {
      return std::any_of(demand.pairs.begin(), demand.pairs.end(),
                         [&](ServerPair own) { return own.from == other.from || own.to == other.to; });
    });
    if (meet) throw FoldingFailed{"two operations want one port at one instant, and the programs do not order them"};
  }
  list.insert(static_cast<std::size_t>(place - slots.begin()), demand.view);
}

void ControlPlane::drop(Demand& demand) {
  Rail& rail = rails_[demand.rail.index()];
  const std::uint32_t slot = demand.view.id.value;
  rail.complete.erase(slot);
  rail.gathering.erase(slot);
  std::erase(rail.blocked, slot);
  engine_.cancel(demand.alarm);
  demand.alarm = {};
  demand.open = false;
  free_demands_.push_back(slot);
}

void ControlPlane::block(Demand& demand) {
  demand.view.blocking = true;
  refresh(demand);
  rails_[demand.rail.index()].blocked.push_back(demand.view.id.value);
  arm(demand, engine_.now());
}

void ControlPlane::blocked(OpId id, std::uint32_t round) {
  for (const OpenDemand& d : operations_[id].demands) {
    if (d.round != round) continue;
    block(demands_[d.slot]);
    stir(demands_[d.slot].rail, operations_[id].cause);
  }
}

void ControlPlane::opened(OpId id, std::uint32_t round, std::optional<Duration> idle) {
  Operation& op = operations_[id];
  for (const OpenDemand& d : op.demands) {
    if (d.round != round) continue;
    Demand& demand = demands_[d.slot];
    Rail& rail = rails_[demand.rail.index()];
    if (idle) op.cause = later_of(op.cause, rail.lit_cause);
    for (std::size_t p = 0; needs_.traffic && p < demand.pairs.size(); ++p) {
      rail.traffic.add(op.key.iteration, demand.pairs[p], demand.bytes[p]);
    }
    stir(demand.rail, op.cause);
    drop(demand);
  }
  std::erase_if(op.demands, [round](const OpenDemand& d) { return d.round == round; });
  if (idle) expose(*idle);
}

// The idle time ends now; what lies before the decision was a wait for ports, not for the switch.
void ControlPlane::expose(Duration idle) {
  if (finishing_ == nullptr) return;
  finishing_->exposed = std::max(finishing_->exposed, std::min(idle, finishing_->usable - finishing_->decided));
}

// ---- pair by pair

ControlPlane::Demand* ControlPlane::find_demand(OpId op, std::uint32_t round, RailId rail) {
  for (const OpenDemand& d : operations_[op].demands) {
    if (d.round == round && demands_[d.slot].rail == rail) return &demands_[d.slot];
  }
  return nullptr;
}

// From now on its demands are what waits.
void ControlPlane::opened_by_pair(OpId id, std::uint32_t round) {
  for (const OpenDemand& d : operations_[id].demands) {
    if (d.round != round) continue;
    Demand& demand = demands_[d.slot];
    demand.by_pair = true;
    demand.pairs.clear();
    demand.bytes.clear();
    refresh(demand);
  }
}

// No member has to ask again for what the operation asked for already.
void ControlPlane::pair_waits(OpId id, std::uint32_t round, MemberPair members, Bytes bytes) {
  Operation& op = operations_[id];
  const RailCrossing crossing = *fabric_.crossing(op.gpus[members.first], op.gpus[members.second]);
  Demand* demand = find_demand(id, round, crossing.rail);
  if (demand == nullptr) {
    demand = &take_demand(id, round, crossing.rail, 1);
    demand->by_pair = true;
    op.demands.push_back({round, demand->view.id.value});
    for (const TaskId task : op.tasks) {
      if (task.is_none()) continue;
      demand->first_task = std::min(demand->first_task, task);
      demand->last_task = std::max(demand->last_task, task);
    }
    count_request(*demand, op.rank(members.first));
  }
  const ServerPair pair{crossing.from, crossing.to};
  const auto place = std::lower_bound(demand->pairs.begin(), demand->pairs.end(), pair);
  const auto index = place - demand->pairs.begin();
  if (place == demand->pairs.end() || *place != pair) {
    demand->pairs.insert(place, pair);
    demand->bytes.insert(demand->bytes.begin() + index, bytes);
    demand->since.insert(demand->since.begin() + index, engine_.now());
    demand->parked.insert(demand->parked.begin() + index, 1);
  } else {
    demand->bytes[static_cast<std::size_t>(index)].count += bytes.count;
    ++demand->parked[static_cast<std::size_t>(index)];
  }
  if (demand->view.blocking) {
    refresh(*demand);
  } else {
    block(*demand);
  }
  stir(crossing.rail, op.cause);
}

void ControlPlane::pair_served(OpId id, std::uint32_t round, MemberPair members, const Parked& parked, Duration idle) {
  Operation& op = operations_[id];
  const RailCrossing crossing = *fabric_.crossing(op.gpus[members.first], op.gpus[members.second]);
  Rail& rail = rails_[crossing.rail.index()];
  const ServerPair pair{crossing.from, crossing.to};
  if (idle > Duration{0}) op.cause = later_of(op.cause, rail.lit_cause);
  if (needs_.traffic) rail.traffic.add(op.key.iteration, pair, parked.bytes);
  stir(crossing.rail, op.cause);
  expose(idle);
  Demand* demand = find_demand(id, round, crossing.rail);
  PHOTONRAIL_CHECK(demand != nullptr);
  const auto index = std::lower_bound(demand->pairs.begin(), demand->pairs.end(), pair) - demand->pairs.begin();
  const auto i = static_cast<std::size_t>(index);
  PHOTONRAIL_CHECK(i < demand->pairs.size() && demand->pairs[i] == pair && demand->parked[i] >= parked.sends);
  demand->bytes[i].count -= parked.bytes.count;
  demand->parked[i] -= parked.sends;
  // Members on other rails may use the same circuits; what they have for them waits on its own.
  if (demand->parked[i] > 0) return refresh(*demand);
  demand->pairs.erase(demand->pairs.begin() + index);
  demand->bytes.erase(demand->bytes.begin() + index);
  demand->since.erase(demand->since.begin() + index);
  demand->parked.erase(demand->parked.begin() + index);
  if (!demand->pairs.empty()) return refresh(*demand);
  const std::uint32_t slot = demand->view.id.value;
  drop(*demand);
  std::erase_if(op.demands, [slot](const OpenDemand& d) { return d.slot == slot; });
}

// ---- circuits that were taken away

ControlPlane::Demand* ControlPlane::find_missed(OpId op, RailId rail) {
  for (const std::uint32_t slot : rails_[rail.index()].complete.slots()) {
    if (demands_[slot].missed && demands_[slot].op == op) return &demands_[slot];
  }
  return nullptr;
}

// The operation had its circuits already; it wants them back, and nobody has to agree again. All that it lacks on a rail is
// one demand, so that no pair is given the ports that another needs.
void ControlPlane::circuit_missed(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) {
  const auto op = static_cast<OpId>(owner);
  Demand* demand = find_missed(op, rail);
  const bool fresh = demand == nullptr;
  if (fresh) {
    demand = &take_demand(op, 0, rail, 1);
    demand->missed = true;
    demand->view.blocking = true;
  }
  const ServerPair pair{from, to};
  const auto index = std::lower_bound(demand->pairs.begin(), demand->pairs.end(), pair) - demand->pairs.begin();
  const auto i = static_cast<std::size_t>(index);
  if (i < demand->pairs.size() && demand->pairs[i] == pair) {
    ++demand->parked[i];  // another holder of the same circuits
    return;
  }
  demand->pairs.insert(demand->pairs.begin() + index, pair);
  demand->parked.insert(demand->parked.begin() + index, 1);
  if (weighs_) demand->bytes.insert(demand->bytes.begin() + index, fabric_.rail(rail).bytes_left(from, to));
  refresh(*demand);
  if (!fresh) return stir(rail, {engine_.now(), operations_[op].cause.reconfigurations});
  count_request(*demand, operations_[op].rank(0));
  arm(*demand, engine_.now());
}

void ControlPlane::circuit_back(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) {
  Demand* demand = find_missed(static_cast<OpId>(owner), rail);
  if (demand == nullptr) return;
  const ServerPair pair{from, to};
  const auto index = std::lower_bound(demand->pairs.begin(), demand->pairs.end(), pair) - demand->pairs.begin();
  const auto i = static_cast<std::size_t>(index);
  if (i == demand->pairs.size() || demand->pairs[i] != pair || --demand->parked[i] > 0) return;
  demand->pairs.erase(demand->pairs.begin() + index);
  demand->parked.erase(demand->parked.begin() + index);
  if (weighs_) demand->bytes.erase(demand->bytes.begin() + index);
  if (demand->pairs.empty()) {
    drop(*demand);
  } else {
    refresh(*demand);
  }
}

// ---- starvation

void ControlPlane::arm(Demand& demand, Time since) {
  if (spec_.starvation == Duration{0}) return;
  engine_.cancel(demand.alarm);
  demand.alarm = engine_.schedule(since + spec_.starvation, Phase::kSettle,
                                  Action::to<&ControlPlane::starved>(*this, demand.view.id.value));
}

void ControlPlane::starved(std::uint64_t slot) {
  Demand& demand = demands_[slot];
  demand.alarm = {};
  if (!demand.since.empty()) {
    const Time oldest = *std::min_element(demand.since.begin(), demand.since.end());
    if (oldest + spec_.starvation > engine_.now()) return arm(demand, oldest);
  }
  throw ControllerError("controller '" + spec_.name + "' on rail " + std::to_string(demand.rail.value) + " at " +
                        std::to_string(to_seconds(engine_.now())) + " s: " + name_demand(demand) +
                        " has waited for its circuits longer than the " + std::to_string(to_seconds(spec_.starvation)) +
                        " s of /controller/starvation");
}

std::string ControlPlane::name_demand(const Demand& demand) const {
  const Operation& op = operations_[demand.op];
  std::string text = std::string(name(op.op)) + " of group '" + op.communicator->name + "'";
  if (demand.pairs.empty()) return text;
  const auto oldest =
      demand.since.empty() ? 0 : std::min_element(demand.since.begin(), demand.since.end()) - demand.since.begin();
  const ServerPair pair = demand.pairs[static_cast<std::size_t>(oldest)];
  return text + " (server " + std::to_string(pair.from) + " to " + std::to_string(pair.to) +
         (demand.pairs.size() > 1 ? " and " + std::to_string(demand.pairs.size() - 1) + " more)" : ")");
}

}  // namespace photonrail
