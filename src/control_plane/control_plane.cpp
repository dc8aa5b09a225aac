#include "control_plane/control_plane.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace photonrail {

namespace {

std::string micros(Duration time) { return std::to_string(to_seconds(time) * 1e6) + " us"; }

void require_slots(const Timetable& timetable, const ReconfigurationTerms& terms) {
  if (timetable.rounds.empty()) throw ControllerError("a timetable needs rounds");
  if (timetable.slot >= terms.shortest_slot()) return;
  throw ControllerError("the slots of a timetable must be longer than a reconfiguration: they take " +
                        micros(timetable.slot) + ", re-pointing " + micros(terms.total()) + ", collecting commands " +
                        micros(terms.batching) + ", and " + micros(terms.command_gap) +
                        " go by between two commands to a switch, which " + std::to_string(terms.jobs) +
                        (terms.jobs == 1 ? " job sends" : " jobs send"));
}

}  // namespace

ControlPlane::ControlPlane(Engine& engine, Fabric& fabric, OperationTable& operations, const ControllerSpec& spec,
                           const ControllerFactory& factory, const ObserverList& watchers, std::uint64_t seed)
    : engine_(engine),
      fabric_(fabric),
      operations_(operations),
      spec_(spec),
      factory_(factory),
      watchers_(watchers),
      messages_(engine, spec, fabric.optical() ? fabric.rails() : 0, seed),
      needs_(factory.needs_of(spec).with_ports(fabric.plant().spec().nic_ports)),
      weighs_(needs_.weighs()) {
  messages_.attach(*this);
  if (!fabric.optical()) return;
  const PlantSpec& plant = fabric.plant().spec();
  rails_.resize(fabric.rails());
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    if (!fabric.has_rail(RailId{r})) continue;
    Rail& rail = rails_[r];
    rail.controller = factory.make(spec, RailId{r}, plant.gpus_per_server, plant.nic_ports);
    rail.driver = std::make_unique<PlanSequencer>(engine, fabric.rail(RailId{r}), messages_, RailId{r});
    rail.transmit.resize(plant.rail_ports());
    rail.receive.resize(plant.rail_ports(), PortId::none());
    fabric.rail(RailId{r}).set_hops(needs_.hops);
    // Every pair has its turn: a send that took a longer way would keep the circuits of others from theirs.
    if (needs_.per_pair && needs_.hops == 0) fabric.rail(RailId{r}).forward_around_faults_only();
    if (needs_.direct) fabric.rail(RailId{r}).wait_for_direct();
  }
}

void ControlPlane::seat(std::span<const GpuId> gpu_of_rank) {
  const Plant& plant = fabric_.plant();
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    if (!fabric_.has_rail(RailId{r})) continue;
    const std::vector<bool>& allowed = fabric_.rail(RailId{r}).servers();
    std::vector<bool> listed(plant.spec().servers, false);
    for (const bool on_rail : {true, false}) {
      for (const GpuId gpu : gpu_of_rank) {
        const ServerIndex server = plant.server_of(gpu);
        if (listed[server] || (on_rail && plant.local_of(gpu) != r) || (!allowed.empty() && !allowed[server])) continue;
        listed[server] = true;
        rails_[r].own.push_back(server);
      }
    }
    rails_[r].foreign = rails_[r].own.empty();
  }
}

void ControlPlane::begin(Transfers& transfers) {
  transfers_ = &transfers;
  if (!rails_.empty()) schedule_restarts();
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    if (fabric_.has_rail(RailId{r})) wake_controller(RailId{r}, {});
  }
}

void ControlPlane::end() {
  ended_ = engine_.now();
  for (Rail& rail : rails_) {
    engine_.cancel(rail.timer);
    rail.timer = {};
  }
}

void ControlPlane::released(RailId rail, CriticalPathTag cause) { stir(rail, cause); }

void ControlPlane::stir(RailId id, CriticalPathTag cause) {
  rails_[id.index()].driver->stir();
  rails_[id.index()].fruitless_wakes = 0;
  wake_controller(id, cause);
}

// Before begin() and after end() the job has nothing to decide, though ports fail and other jobs darken the switch.
void ControlPlane::wake_controller(RailId id, CriticalPathTag cause) {
  if (!running()) return;
  Rail& rail = rails_[id.index()];
  rail.cause = later_of(rail.cause, cause);
  if (rail.decide_scheduled) return;
  rail.decide_scheduled = true;
  engine_.schedule(engine_.now(), Phase::kDecide, Action::to<&ControlPlane::decide>(*this, id.value));
}

void ControlPlane::sync_ports(RailId id) {
  Rail& rail = rails_[id.index()];
  OpticalRail& optical = fabric_.rail(id);
  const OpticalSwitch& crossbar = optical.crossbar();
  optical.take_touched(touched_);
  for (const PortId port : touched_) {
    const OpticalSwitch::Fibre& fibre = crossbar.transmit()[port.index()];
    rail.transmit[port.index()] = {fibre.peer, optical.is_lit(port),   fibre.in_use > 0, optical.draining(port),
                                   {},         optical.is_faulty(port)};
    rail.receive[port.index()] = crossbar.receive()[port.index()].peer;
  }
  if (!needs_.bytes) return;
  for (std::uint32_t p = 0; p < rail.transmit.size(); ++p) {
    PortView& fibre = rail.transmit[p];
    const std::uint32_t ports = fabric_.plant().spec().nic_ports;
    fibre.bytes_left = fibre.in_use ? optical.bytes_left(p / ports, fibre.peer.value / ports) : Bytes{};
  }
}

void ControlPlane::decide(std::uint64_t index) {
  const RailId id{index};
  Rail& rail = rails_[index];
  rail.decide_scheduled = false;
  if (rail.down > 0 || rail.foreign || !running()) return;
  const bool drained = fabric_.rail(id).drains();
  try {
    require_time_passes(id, rail);
    rail.driver->proceed(issued_);
    note(id, rail);
    consult(id, rail);
    note(id, rail);
    rail.driver->restore(issued_);
    note(id, rail);
  } catch (const ControllerError& error) {
    throw ControllerError("controller '" + spec_.name + "' on rail " + std::to_string(index) + " at " +
                          std::to_string(to_seconds(engine_.now())) + " s: " + error.what());
  }
  set_timer(id, rail);
  if (drained && !fabric_.rail(id).drains()) retry_blocked(id);
}

void ControlPlane::consult(RailId id, Rail& rail) {
  sync_ports(id);
  FabricView view;
  view.now = engine_.now();
  view.rail = id;
  view.ports_per_gpu = fabric_.plant().spec().nic_ports;
  view.positions = fabric_.plant().spec().servers;
  view.transmit = rail.transmit;
  view.receive = rail.receive;
  if (needs_.events) mark_stirred(rail);
  view.running = transfers_->running();
  view.demands = rail.complete.views();
  view.gathering = rail.gathering.views();
  if (needs_.schedule && known_ != nullptr) view.schedule = known_->rail(id);
  if (needs_.traffic) {
    view.traffic = rail.traffic.past();
    view.traffic_now = rail.traffic.now();
  }
  view.hop_latency = fabric_.spec().nic.latency;
  view.port_rate = fabric_.spec().nic.per_port;
  const OpticalSwitchSpec& optical = fabric_.spec().rail.optical;
  view.planes = fabric_.spec().rail.planes;
  view.own = rail.own;
  view.reconfiguration = {optical.reconfiguration.typical(),
                          optical.link_up,
                          spec_.command,
                          spec_.acknowledgement,
                          optical.darkness == DarkScope::kSwitch,
                          optical.settle,
                          optical.batching,
                          optical.command_gap,
                          fabric_.rail(id).jobs()};
  Decision decision = rail.controller->decide(view);
  if (decision.timetable) require_slots(*decision.timetable, view.reconfiguration);
  rail.ask_again = decision.ask_again;
  rail.driver->take(std::move(decision), issued_);
}

void ControlPlane::task_ended(RankId rank) {
  ++tasks_ended_;
  if (!needs_.events) return;
  if (last_event_.size() <= rank.index()) last_event_.resize(rank.index() + 1, Time{-1});
  last_event_[rank.index()] = engine_.now();
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    if (!rails_[r].complete.empty()) wake_controller(RailId{r}, rails_[r].cause);
  }
}

void ControlPlane::mark_stirred(Rail& rail) {
  for (const std::uint32_t slot : rail.complete.slots()) {
    Demand& demand = demands_[slot];
    const bool stirred = stands_still_ == engine_.now() || std::any_of(demand.askers.begin(), demand.askers.end(), [this](const Requester& asker) {
      return asker.rank.index() < last_event_.size() && last_event_[asker.rank.index()] == engine_.now();
    });
    if (stirred == demand.view.stirred) continue;
    demand.view.stirred = stirred;
    refresh(demand);
  }
}

bool ControlPlane::stand_still() {
  if (!needs_.events) return false;
  std::uint64_t commands = 0;
  for (const Rail& rail : rails_) commands += rail.commands.size();
  if (commands == commands_at_standstill_) return false;
  commands_at_standstill_ = commands;
  stands_still_ = engine_.now();
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    if (fabric_.has_rail(RailId{r})) wake_controller(RailId{r}, rails_[r].cause);
  }
  return true;
}

std::vector<std::string> ControlPlane::remarks(Duration makespan) const {
  std::vector<std::string> lines;
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    if (rails_[r].controller == nullptr) continue;
    const std::string said = rails_[r].controller->remark(makespan);
    if (!said.empty()) lines.push_back("rail " + std::to_string(r) + ": " + said);
  }
  return lines;
}

// With delays of 0, what a controller does may wake it again in the same instant: that must come to an end.
void ControlPlane::require_time_passes(RailId id, Rail& rail) {
  const std::uint64_t progress = fabric_.rail(id).uses() + tasks_ended_;
  if (rail.decided_at != engine_.now() || progress != rail.progress_seen) rail.fruitless_decisions = 0;
  rail.decided_at = engine_.now();
  rail.progress_seen = progress;
  if (++rail.fruitless_decisions <= kMaxFruitless) return;
  throw ControllerError("decided " + std::to_string(kMaxFruitless) +
                        " times while no time passed and no operation got hold of a circuit");
}

// Commands that went out. One whose circuits nobody takes is no fault; thousands in a row would go on for ever.
void ControlPlane::note(RailId id, Rail& rail) {
  for (const PlanSequencer::Issued& issued : issued_) {
    PHOTONRAIL_CHECK(issued.command.id == rail.commands.size());
    const std::optional<Time> usable = issued.command.usable;
    const CriticalPathTag cause{usable.value_or(Time{}), rail.cause.reconfigurations + 1};
    rail.commands.push_back({issued.decided, cause.at, usable.has_value(), Duration{0}, cause});
    const std::uint64_t uses = fabric_.rail(id).uses();
    rail.fruitless = issued.rotation || uses != rail.uses_seen ? 0 : rail.fruitless + 1;
    rail.uses_seen = uses;
    if (rail.fruitless < kMaxFruitless) continue;
    throw ControllerError(
        "re-pointed circuits " + std::to_string(kMaxFruitless) + " times in a row while nobody could use them" +
        (rail.complete.empty() ? "" : ": " + name_demand(demands_[rail.complete.slots().front()]) + " waits"));
  }
  issued_.clear();
}

// Nobody is asked again while nothing is going on, or for ever while nothing comes of it: the job may be stuck.
void ControlPlane::set_timer(RailId id, Rail& rail) {
  std::optional<Time> at = rail.driver->next(!rail.blocked.empty());
  const bool idle = rail.complete.empty() && rail.gathering.empty() && !fabric_.rail(id).held();
  if (rail.ask_again && !idle && rail.fruitless_wakes < kMaxFruitless) {
    const Time again = std::max(*rail.ask_again, engine_.now() + Duration{1});
    at = at ? std::min(*at, again) : again;
  }
  if (rail.timer && at && *at == rail.timer_at) return;
  engine_.cancel(rail.timer);
  rail.timer = {};
  if (!at || ended_) return;
  rail.timer_at = std::max(*at, engine_.now());
  rail.timer = engine_.schedule(rail.timer_at, Phase::kFinish, Action::to<&ControlPlane::timer_rang>(*this, id.value));
}

void ControlPlane::timer_rang(std::uint64_t index) {
  rails_[index].timer = {};
  ++rails_[index].fruitless_wakes;
  wake_controller(RailId{index}, {engine_.now(), rails_[index].cause.reconfigurations});
}

// Also those whose requests are still on their way: the circuits of another operation may be the ones that they lack.
void ControlPlane::retry_blocked(RailId id) {
  const std::vector<std::uint32_t> waiting =
      rails_[id.index()].blocked;  // opening an operation takes its demands off the list
  for (const std::uint32_t slot : waiting) {
    const Demand& demand = demands_[slot];
    if (!demand.open) continue;
    if (demand.by_pair) {
      transfers_->try_pairs(demand.op, demand.round);
    } else {
      transfers_->try_open(demand.op, demand.round);
    }
  }
}

void ControlPlane::command_done(RailId id, std::uint32_t command) {
  Rail& rail = rails_[id.index()];
  finishing_ = &rail.commands[command];
  if (!finishing_->timed) finishing_->usable = finishing_->cause.at = engine_.now();
  rail.lit_cause = finishing_->cause;
  rail.driver->done(command);
  retry_blocked(id);
  finishing_ = nullptr;
  wake_controller(id, rail.lit_cause);
}

void ControlPlane::rail_changed(RailId id) {
  retry_blocked(id);
  stir(id, {engine_.now(), rails_[id.index()].lit_cause.reconfigurations});
}

// Unlike a fault it is no news for a timetable that stands still: its own commands bring it about.
void ControlPlane::light_back(RailId id) {
  retry_blocked(id);
  wake_controller(id, {engine_.now(), rails_[id.index()].lit_cause.reconfigurations});
}

void ControlPlane::circuit_changed(RailId rail, Circuit circuit, CircuitState state) {
  if (watchers_.empty()) return;
  CircuitEvent event;
  event.at = engine_.now();
  event.rail = rail;
  event.circuit = circuit;
  event.state = state;
  const std::uint32_t ports = fabric_.plant().spec().nic_ports;
  const ServerPair pair{circuit.from.value / ports, circuit.to.value / ports};
  for (const CircuitRequest& view : rails_[rail.index()].complete.views()) {
    if (!std::binary_search(view.pairs.begin(), view.pairs.end(), pair)) continue;
    event.serves = view.communicator;
    break;
  }
  watchers_.notify([&](Observer& observer) { observer.circuit(event); });
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
    if (fabric_.has_rail(RailId{r})) summary.dark_port += fabric_.rail(RailId{r}).dark_port_time();
  }
}

}  // namespace photonrail
