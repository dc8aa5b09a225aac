#include "sim/control_plane.hpp"

#include "photonrail/error.hpp"
#include "sim/folding.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>

namespace photonrail {

ControlPlane::ControlPlane(Engine& engine, Fabric& fabric, Operations& operations, const ControllerSpec& spec,
                           const ControllerFactory& factory, const Watchers& watchers)
    : engine_(engine), fabric_(fabric), operations_(operations), spec_(spec), watchers_(watchers) {
  if (!fabric.optical()) return;
  const PlantSpec& plant = fabric.plant().spec();
  rails_.resize(fabric.rails());
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    rails_[r].controller = factory.make(spec, RailId{r}, plant.gpus_per_server, plant.nic_ports);
    rails_[r].transmit.resize(plant.rail_ports());
    rails_[r].receive.resize(plant.rail_ports(), PortId::none());
  }
}

void ControlPlane::begin(Transfers& transfers) {
  transfers_ = &transfers;
  for (std::size_t r = 0; r < rails_.size(); ++r) wake_controller(RailId{r}, {});
}

// ---- demands

void ControlPlane::ask(OpId op, std::uint32_t round, Member member, TaskId task) {
  const auto is_ours = [round](const OpenDemand& d) { return d.round == round; };
  std::vector<OpenDemand>& list = operations_[op].demands;
  if (std::none_of(list.begin(), list.end(), is_ours)) open_demands(op, round);
  for (const OpenDemand& d : list) {
    if (d.round != round) continue;
    Demand& demand = demands_[d.slot];
    demand.first_task = std::min(demand.first_task, task);
    demand.last_task = std::max(demand.last_task, task);
    send_request(d.slot, member);
  }
}

// One demand for each rail that the round crosses.
void ControlPlane::open_demands(OpId id, std::uint32_t round) {
  Operation& op = operations_[id];
  const SendPlan& plan = op.plan();
  std::map<RailId, std::vector<Pair>> pairs;
  for (const MemberPair& pair : plan.pairs(round)) {
    const auto crossing = fabric_.crossing(op.gpus[pair.first], op.gpus[pair.second]);
    if (crossing) pairs[crossing->rail].push_back({crossing->from, crossing->to});
  }
  std::uint32_t participants = 0;
  for (Member m = 0; m < op.members(); ++m) participants += op.takes_part(m, round) ? 1 : 0;
  for (auto& [rail, list] : pairs) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    const Demand& demand = take_demand(id, round, rail, std::move(list), participants);
    op.demands.push_back({round, demand.view.id.value});
  }
}

ControlPlane::Demand& ControlPlane::take_demand(OpId id, std::uint32_t round, RailId rail, std::vector<Pair> pairs,
                                                std::uint32_t members) {
  if (free_demands_.empty()) {
    free_demands_.push_back(static_cast<std::uint32_t>(demands_.size()));
    demands_.emplace_back();
  }
  const std::uint32_t slot = free_demands_.back();
  free_demands_.pop_back();
  const Operation& op = operations_[id];
  Demand& demand = demands_[slot];
  demand.pairs = std::move(pairs);
  demand.asked.assign(op.members(), false);
  demand.first_task = TaskId::none();
  demand.last_task = TaskId{};
  demand.rail = rail;
  demand.op = id;
  demand.round = round;
  demand.serial = next_serial_++;
  demand.open = true;
  demand.missed = false;
  demand.view = {};
  demand.view.id = DemandId{slot};
  demand.view.communicator = op.key.communicator;
  demand.view.dimension = op.dimension();
  demand.view.pairs = demand.pairs;
  demand.view.members = members;
  return demand;
}

void ControlPlane::send_request(std::uint32_t slot, Member member) {
  Demand& demand = demands_[slot];
  if (demand.asked[member]) return;
  demand.asked[member] = true;
  if (spec_.request == Duration{0} && spec_.service == Duration{0}) {
    count_request(demand);
    return;
  }
  if (free_messages_.empty()) {
    free_messages_.push_back(static_cast<std::uint32_t>(messages_.size()));
    messages_.emplace_back();
  }
  const std::uint32_t message = free_messages_.back();
  free_messages_.pop_back();
  messages_[message] = {slot, demand.serial, demand.rail};
  engine_.schedule(engine_.now() + spec_.request, Phase::kFinish,
                   Action::to<&ControlPlane::request_arrived>(*this, message));
}

void ControlPlane::request_arrived(std::uint64_t message) {
  Rail& rail = rails_[messages_[message].rail.index()];
  rail.service_free = std::max(rail.service_free, engine_.now()) + spec_.service;
  engine_.schedule(rail.service_free, Phase::kFinish, Action::to<&ControlPlane::request_served>(*this, message));
}

void ControlPlane::request_served(std::uint64_t message) {
  const Message m = messages_[message];
  free_messages_.push_back(static_cast<std::uint32_t>(message));
  Demand& demand = demands_[m.slot];
  if (demand.open && demand.serial == m.serial) count_request(demand);
}

void ControlPlane::count_request(Demand& demand) {
  DemandView& view = demand.view;
  Rail& rail = rails_[demand.rail.index()];
  if (view.asked == 0) view.since = engine_.now();
  ++view.asked;
  if (view.all_asked()) {
    view.complete = engine_.now();
    std::erase(rail.gathering, view.id.value);
    enlist(demand);
  } else if (view.asked == 1) {
    rail.gathering.push_back(view.id.value);
  }
  wake_controller(demand.rail, {engine_.now(), operations_[demand.op].cause.reconfigurations});
}

// Of demands complete at one instant, what the programs say of their order: the order of their events would be no reason.
bool ControlPlane::before(const Demand& a, const Demand& b) const {
  const auto key = [this](const Demand& d) {
    const OperationKey& op = operations_[d.op].key;
    return std::tuple{d.view.complete, op.iteration, d.first_task, d.last_task, op.tag, d.view.dimension, d.round};
  };
  return key(a) < key(b);
}

void ControlPlane::enlist(Demand& demand) {
  std::vector<std::uint32_t>& list = rails_[demand.rail.index()].complete;
  const auto place =
      std::upper_bound(list.begin(), list.end(), demand.view.id.value,
                       [this](std::uint32_t a, std::uint32_t b) { return before(demands_[a], demands_[b]); });
  for (auto tied = place; fabric_.folded() && tied != list.begin() && !before(demands_[*std::prev(tied)], demand); --tied) {
    const std::vector<Pair>& others = demands_[*std::prev(tied)].pairs;
    const bool meet = std::any_of(others.begin(), others.end(), [&](Pair other) {
      return std::any_of(demand.pairs.begin(), demand.pairs.end(),
                         [&](Pair own) { return own.from == other.from || own.to == other.to; });
    });
    if (meet) throw FoldingFailed{"two operations want one port at one instant, and the programs do not order them"};
  }
  list.insert(place, demand.view.id.value);
}

void ControlPlane::drop(Demand& demand) {
  Rail& rail = rails_[demand.rail.index()];
  const std::uint32_t slot = demand.view.id.value;
  std::erase(rail.complete, slot);
  std::erase(rail.gathering, slot);
  std::erase(rail.blocked, slot);
  demand.open = false;
  free_demands_.push_back(slot);
}

void ControlPlane::blocked(OpId id, std::uint32_t round) {
  for (const OpenDemand& d : operations_[id].demands) {
    if (d.round != round) continue;
    Demand& demand = demands_[d.slot];
    demand.view.blocking = true;
    rails_[demand.rail.index()].blocked.push_back(d.slot);
    wake_controller(demand.rail, operations_[id].cause);
  }
}

void ControlPlane::opened(OpId id, std::uint32_t round, std::optional<Duration> idle) {
  Operation& op = operations_[id];
  for (const OpenDemand& d : op.demands) {
    if (d.round != round) continue;
    Demand& demand = demands_[d.slot];
    if (idle) op.cause = later(op.cause, rails_[demand.rail.index()].lit_cause);
    wake_controller(demand.rail, op.cause);
    drop(demand);
  }
  std::erase_if(op.demands, [round](const OpenDemand& d) { return d.round == round; });
  if (idle && finishing_ != nullptr) {
    // The idle time ends now; what lies before the decision was a wait for ports, not for the switch.
    finishing_->exposed = std::max(finishing_->exposed, std::min(*idle, finishing_->usable - finishing_->decided));
  }
}

void ControlPlane::released(RailId rail, Cause cause) { wake_controller(rail, cause); }

// ---- decisions

void ControlPlane::wake_controller(RailId id, Cause cause) {
  Rail& rail = rails_[id.index()];
  rail.cause = later(rail.cause, cause);
  if (rail.decide_scheduled) return;
  rail.decide_scheduled = true;
  engine_.schedule(engine_.now(), Phase::kDecide, Action::to<&ControlPlane::decide>(*this, id.value));
}

void ControlPlane::sync_ports(RailId id) {
  Rail& rail = rails_[id.index()];
  const OpticalSwitch& crossbar = fabric_.rail(id).crossbar();
  fabric_.rail(id).take_touched(touched_);
  for (const PortId port : touched_) {
    const OpticalSwitch::Fibre& fibre = crossbar.transmit()[port.index()];
    rail.transmit[port.index()] = {fibre.peer, fibre.state == CircuitState::kLit, fibre.in_use > 0};
    rail.receive[port.index()] = crossbar.receive()[port.index()].peer;
  }
}

void ControlPlane::show(const std::vector<std::uint32_t>& slots, std::vector<DemandView>& out) const {
  out.clear();
  for (const std::uint32_t slot : slots) out.push_back(demands_[slot].view);
}

void ControlPlane::decide(std::uint64_t index) {
  const RailId id{index};
  Rail& rail = rails_[index];
  rail.decide_scheduled = false;
  sync_ports(id);
  show(rail.complete, shown_complete_);
  show(rail.gathering, shown_gathering_);
  FabricView view;
  view.now = engine_.now();
  view.rail = id;
  view.ports_per_gpu = fabric_.plant().spec().nic_ports;
  view.positions = fabric_.plant().spec().servers;
  view.transmit = rail.transmit;
  view.receive = rail.receive;
  view.demands = shown_complete_;
  view.gathering = shown_gathering_;
  const OpticalSwitchSpec& optical = fabric_.spec().rail.optical;
  view.reconfiguration = optical.reconfiguration.typical() + optical.link_up;
  const std::optional<CircuitPlan> plan = rail.controller->decide(view);
  if (!plan) return;
  std::optional<OpticalRail::Command> command;
  try {
    command = fabric_.rail(id).apply(*plan, spec_.command, spec_.acknowledgement);
  } catch (const ControllerError& error) {
    throw ControllerError("controller '" + spec_.name + "' on rail " + std::to_string(index) + " at " +
                          std::to_string(to_seconds(engine_.now())) + " s: " + error.what());
  }
  if (!command) return;
  PHOTONRAIL_CHECK(command->id == rail.commands.size());
  rail.commands.push_back(
      {engine_.now(), command->usable, Duration{0}, {command->usable, rail.cause.reconfigurations + 1}});
}

void ControlPlane::command_done(RailId id, std::uint32_t command) {
  Rail& rail = rails_[id.index()];
  rail.lit_cause = rail.commands[command].cause;
  finishing_ = &rail.commands[command];
  // Also those whose requests are still on their way: the circuits of another operation may be the ones that they lack.
  const std::vector<std::uint32_t> waiting = rail.blocked;  // opening an operation takes its demands off the list
  for (const std::uint32_t slot : waiting) {
    if (demands_[slot].open) transfers_->try_open(demands_[slot].op, demands_[slot].round);
  }
  finishing_ = nullptr;
  wake_controller(id, rail.lit_cause);
}

void ControlPlane::circuit_changed(RailId rail, Circuit circuit, CircuitState state) {
  if (watchers_.empty()) return;
  CircuitEvent event;
  event.at = engine_.now();
  event.rail = rail;
  event.circuit = circuit;
  event.state = state;
  const std::uint32_t ports = fabric_.plant().spec().nic_ports;
  const Pair pair{circuit.from.value / ports, circuit.to.value / ports};
  for (const std::uint32_t slot : rails_[rail.index()].complete) {
    const DemandView& view = demands_[slot].view;
    if (!std::binary_search(view.pairs.begin(), view.pairs.end(), pair)) continue;
    event.serves = view.communicator;
    break;
  }
  watchers_.tell([&](Observer& observer) { observer.circuit(event); });
}

// The operation had its circuit already; it wants it back, and nobody has to agree again.
void ControlPlane::circuit_missed(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) {
  Demand& demand = take_demand(static_cast<OpId>(owner), 0, rail, {{from, to}}, 1);
  demand.missed = true;
  demand.view.blocking = true;
  count_request(demand);
}

void ControlPlane::circuit_back(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) {
  for (const std::uint32_t slot : rails_[rail.index()].complete) {
    Demand& demand = demands_[slot];
    if (!demand.missed || demand.op != owner || demand.pairs.front() != Pair{from, to}) continue;
    drop(demand);
    return;
  }
}

void ControlPlane::summarize(std::span<const RailId> rail_image, ReconfigurationSummary& summary) const {
  if (rails_.empty()) return;
  const auto count = [&](RailId id) {
    const std::vector<CommandRecord>& commands = rails_[id.index()].commands;
    summary.per_rail.push_back(commands.size());
    summary.count += commands.size();
    for (const CommandRecord& command : commands) {
      summary.total += command.usable - command.decided;
      summary.exposed += command.exposed;
    }
  };
  for (const RailId rail : rail_image) rail.is_none() ? summary.per_rail.push_back(0) : count(rail);
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    if (rail_image.empty()) count(RailId{r});
    summary.dark_port += fabric_.rail(RailId{r}).dark_port_time();
  }
}

}  // namespace photonrail
