#include "control_plane/rail_agent.hpp"

#include "control/waiting_reader.hpp"
#include "control_plane/request_order.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace photonrail::control_plane {

using execution::CriticalPathTag;
using fabric::Fabric;

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

// The controller has decided. What it wants to change it may want again, should that not come about.
void settle(RequestsByPort& by_port, const Decision& decision, const PortMirror& ports) {
  by_port.settle();
  for (const Step& step : decision.steps) {
    for (const Circuit circuit : step.plan.connect) by_port.port_changed(circuit.from, ports.transmit(), ports.receive());
  }
}

// As served_by(), by the index of ports; nothing where requests of several dimensions want the circuits.
std::optional<Dimension> served_by_port(const CircuitPlan& change, const RequestsByPort& by_port) {
  std::optional<Dimension> dimension;
  for (const Circuit c : change.connect) {
    const ServerPair pair{c.from.value, c.to.value};
    for (const CircuitRequest* request : by_port.senders(pair.from)) {
      if (!std::binary_search(request->pairs.begin(), request->pairs.end(), pair)) continue;
      if (dimension && *dimension != request->dimension) return std::nullopt;
      dimension = request->dimension;
      break;
    }
  }
  return dimension;
}

// The decisions of a controller lead nowhere. On a switch that blocks, circuits of one plan may take the room from each
// other.
[[noreturn]] void fail_fruitless(const ControlContext& run, RailId rail, const std::string& what) {
  if (!run.fabric.spec().rail.optical.pip) throw ControllerError(what);
  throw DeadlockError({"rail " + std::to_string(rail.value) + ": controller '" + run.spec.name + "' " + what +
                       "; it wants more circuits at once than the switch's mesh has room for"});
}

// The dimension of the first request, in the order of the board, that the circuits are for.
std::optional<Dimension> served_by(const CircuitPlan& change, const RequestBoard& board, RailId rail, std::uint32_t ports) {
  if (const RequestsByPort* by_port = board.complete(rail).by_port()) {
    if (const std::optional<Dimension> dimension = served_by_port(change, *by_port)) return dimension;
  }
  for (const CircuitRequest* request : in_order(board, rail)) {
    const bool served = std::any_of(change.connect.begin(), change.connect.end(), [&](Circuit c) {
      return board[request->id.value].pairs.has({c.from.value / ports, c.to.value / ports});
    });
    if (served) return request->dimension;
  }
  return std::nullopt;
}

// In a folded run, of all the cluster's rails that this one stands for.
std::uint64_t circuits_in(const CircuitPlan& change, const Fabric& fabric, RailId rail, std::uint32_t ports) {
  std::uint64_t circuits = 0;
  for (const Circuit& c : change.connect) circuits += fabric.copies(rail, c.from.value / ports);
  return circuits;
}

// Returns what operations wait for, in the order in which policies that serve requests by age take them. Pairs that are
// served one by one are of use alone, and so are circuits that other pairs of the round are forwarded over.
std::vector<std::vector<fabric::Hop>> claims_of(const RequestBoard& board, RailId rail, bool alone) {
  std::vector<std::vector<fabric::Hop>> claims;
  const auto add = [&](const CircuitRequest& request) {
    if (!alone) claims.emplace_back();
    board[request.id.value].pairs.each([&](ServerPair pair, Bytes) {
      if (alone) claims.emplace_back();
      claims.back().push_back({pair.from, pair.to});
    });
  };
  const std::vector<const CircuitRequest*> requests = in_order(board, rail);
  for (const bool blocking : {true, false}) {
    for (const CircuitRequest* request : requests) {
      if (request->all_asked() && request->blocking == blocking) add(*request);
    }
  }
  for (const CircuitRequest* request : requests) {
    if (!request->all_asked()) add(*request);
  }
  return claims;
}

}  // namespace

RailAgent::RailAgent(const ControlContext& run, const PolicyNeeds& needs, const Surroundings& around, RailId id)
    : run_(run),
      needs_(needs),
      around_(around),
      id_(id),
      rail_(run.fabric.rail(id)),
      controller_(make_controller()),
      sequencer_(run.engine, rail_, around.channel, id),
      ports_(rail_, run.plant(), needs.has(ViewPart::kBytes)) {
  rail_.routes().set_hops(needs.hops);
  // Every pair has its turn: a send that took a longer way would keep the circuits of others from theirs.
  if (needs.by_pair() && needs.hops == 0) rail_.routes().forward_around_faults_only();
  if (needs.while_switching == WhileSwitching::kWait) rail_.routes().wait_for_direct();
}

void RailAgent::seat(std::span<const GpuId> gpu_of_rank) { ports_.seat(gpu_of_rank, run_.fabric.plant(), id_); }

void RailAgent::begin() {
  presence_.begun = true;
  wake({});
}

void RailAgent::end() {
  presence_.ended = run_.engine.now();
  run_.engine.cancel(wakes_.timer);
  wakes_.timer = {};
  if (fabric::MeshAdmission* mesh = rail_.mesh()) {
    mesh->set_claims({});
    mesh->notify_others();
  }
}

// Before begin() and after end() the job has nothing to decide, though ports fail and other jobs darken the switch.
bool RailAgent::is_running() const {
  return presence_.begun && (!presence_.ended || *presence_.ended == run_.engine.now());
}

std::unique_ptr<Controller> RailAgent::make_controller() const {
  auto controller = run_.factory.make(run_.spec, id_, run_.plant().gpus_per_server, run_.plant().nic_ports);
  if (controller == nullptr)
    throw ControllerError("controller \"" + run_.factory.name + "\": ControllerFactory::make returned no controller");
  return controller;
}

void RailAgent::notify(CriticalPathTag cause) {
  sequencer_.wake();
  wakes_.fruitless = 0;
  wake(cause);
}

// However many events of an instant want a decision, there is one, in the phase kDecide behind them.
void RailAgent::wake(CriticalPathTag cause) {
  if (!is_running()) return;
  cause_ = later_of(cause_, cause);
  if (wakes_.decide_scheduled) return;
  wakes_.decide_scheduled = true;
  run_.engine.schedule(run_.engine.now(), engine::Phase::kDecide, engine::Action::to<&RailAgent::decide>(*this));
}

void RailAgent::task_ended() {
  if (!around_.board.complete(id_).empty()) wake(cause_);
}

// Steps of the last decision whose time has come go first, since the view must show what they changed. Circuits that a
// fault took, or that had no room, are made again last: what the controller decided now goes before them.
void RailAgent::decide(std::uint64_t) {
  wakes_.decide_scheduled = false;
  // A controller that restarts, or whose job has no port on the rail, decides nothing.
  if (is_down() || ports_.foreign() || !is_running()) return;
  const bool drained = rail_.drains();
  const CriticalPathTag heard = around_.board.cause_of_counted(id_);
  if (cause_.at == heard.at) cause_ = later_of(cause_, heard);
  const SharedView shared = around_.views.shared_view(id_);
  if (fabric::MeshAdmission* mesh = rail_.mesh())
    mesh->set_claims(claims_of(around_.board, id_, needs_.by_pair() || rail_.forwards()));
  try {
    require_time_passes(shared.tasks_ended);
    sequencer_.proceed(issued_);
    log_issued();
    consult(shared);
    log_issued();
    sequencer_.restore(issued_);
    log_issued();
  } catch (const ControllerError& error) {
    throw ControllerError("controller '" + run_.spec.name + "' on rail " + std::to_string(id_.value) + " at " +
                          std::to_string(to_seconds(run_.engine.now())) + " s: " + error.what());
  } catch (const core::FieldError& error) {
    if (run_.holder.pattern.empty()) throw;
    throw error.in(run_.holder);
  }
  set_timer();
  if (drained && !rail_.drains()) around_.retry.circuits_available(id_);
}

// With delays of 0, what a controller does may wake it again in the same instant: that must come to an end.
void RailAgent::require_time_passes(std::uint64_t tasks_ended) {
  const std::uint64_t progress = rail_.holds().uses() + tasks_ended;
  if (fruitless_.decided_at != run_.engine.now() || progress != fruitless_.progress_seen) fruitless_.decisions = 0;
  fruitless_.decided_at = run_.engine.now();
  fruitless_.progress_seen = progress;
  if (++fruitless_.decisions <= kMaxFruitless) return;
  fail_fruitless(
      run_, id_,
      "decided " + std::to_string(kMaxFruitless) + " times while no time passed and no operation got hold of a circuit");
}

// Spans over state that is kept up to date: showing the view costs the same however large the rail is. A part that the
// policy did not ask for throws when it is read, so that a policy cannot depend on what it does not declare.
FabricView RailAgent::view(const SharedView& shared) const {
  const ClusterSpec& cluster = run_.fabric.spec();
  FabricView view;
  view.now = run_.engine.now();
  view.rail = id_;
  view.ports_per_gpu = run_.plant().nic_ports;
  view.positions = run_.plant().servers;
  view.transmit = ports_.transmit();
  view.receive = ports_.receive();
  view.running = shared.running;
  view.requests = around_.board.complete(id_).views();
  view.partial_requests = around_.board.partial(id_).views();
  view.schedule = needs_.has(ViewPart::kSchedule) ? ViewList<RankSchedule>(shared.schedule)
                                                  : ViewList<RankSchedule>::unasked(ViewPart::kSchedule);
  view.traffic = view.traffic_now = ViewList<PairTraffic>::unasked(ViewPart::kTraffic);
  if (needs_.has(ViewPart::kTraffic)) {
    view.traffic = traffic_.past();
    view.traffic_now = traffic_.now();
  }
  view.hop_latency = cluster.nic.latency;
  view.port_rate = cluster.nic.per_port;
  view.planes = cluster.rail.planes;
  view.one_order = shared.one_order;
  view.own = ports_.own();
  if (needs_.by_pair()) view.waiting = &around_.board.complete(id_).waiting();
  view.by_port = around_.board.complete(id_).by_port();
  view.reconfiguration = around_.switching;
  view.reconfiguration.jobs = rail_.jobs();
  return view;
}

void RailAgent::consult(const SharedView& shared) {
  around_.board.list_pairs(id_, dynamic_cast<const control::WaitingReader*>(controller_.get()) == nullptr);
  ports_.sync();
  RequestsByPort* by_port = around_.board.complete(id_).by_port();
  for (const PortId port : ports_.touched()) {
    if (by_port != nullptr) by_port->port_changed(port, ports_.transmit(), ports_.receive());
  }
  const FabricView shown = view(shared);
  Decision decision = controller_->decide(shown);
  if (by_port != nullptr) settle(*by_port, decision, ports_);
  if (around_.ambiguity != nullptr && frees_for_equal(decision, shown, around_.board, run_.operations))
    around_.ambiguity->report(
        "an operation gives up circuits to GPUs where another takes some, and the programs do not order them");
  if (decision.timetable) require_slots(*decision.timetable, shown.reconfiguration);
  wakes_.ask_again = decision.ask_again;
  sequencer_.take(std::move(decision), issued_);
}

// Commands that went out. One whose circuits are never taken is no fault; thousands in a row would go on for ever.
void RailAgent::log_issued() {
  const std::uint32_t ports = run_.plant().nic_ports;
  for (PlanSequencer::Issued& issued : issued_) {
    PHOTONRAIL_CHECK(issued.command.id == commands_.size());
    CircuitPlan& change = issued.command.change;
    commands_.add(issued.decided, issued.command.usable, cause_,
                  {issued.rotation ? std::nullopt : served_by(change, around_.board, id_, ports),
                   circuits_in(change, run_.fabric, id_, ports), std::move(change.connect)});
    const std::uint64_t uses = rail_.holds().uses();
    fruitless_.commands = issued.rotation || uses != fruitless_.uses_seen ? 0 : fruitless_.commands + 1;
    fruitless_.uses_seen = uses;
    if (fruitless_.commands < kMaxFruitless) continue;
    const RequestList& waiting = around_.board.complete(id_);
    const auto first = [&]() -> const Request& { return around_.board[in_order(around_.board, id_).front()->id.value]; };
    fail_fruitless(run_, id_,
                   "re-pointed circuits " + std::to_string(kMaxFruitless) +
                       " times in a row while no operation could use them" +
                       (waiting.empty() ? "" : ": " + describe(first(), run_.operations[first().op]) + " waits"));
  }
  issued_.clear();
}

// The controller is not asked again while nothing is going on, nor for ever while nothing comes of it: the job may be
// stuck.
void RailAgent::set_timer() {
  // Bytes whose circuit went dark under them wait for it as requests do.
  const bool awaited = !around_.board.blocked(id_).empty() || rail_.holds().held();
  std::optional<Time> at = sequencer_.next(awaited);
  // Bytes that stand still on links inside servers may go on when these change: see ring().
  const fabric::LinkFaults* const links = run_.fabric.shared().link_faults();
  if (!at && awaited && sequencer_.rotates() && links != nullptr) at = links->next_change(run_.engine.now());
  const bool idle = around_.board.complete(id_).empty() && around_.board.partial(id_).empty() && !rail_.holds().held();
  if (wakes_.ask_again && !idle && wakes_.fruitless < kMaxFruitless) {
    const Time again = std::max(*wakes_.ask_again, run_.engine.now() + Duration{1});
    at = at ? std::min(*at, again) : again;
  }
  if (wakes_.timer && at && *at == wakes_.at) return;
  run_.engine.cancel(wakes_.timer);
  wakes_.timer = {};
  if (!at || presence_.ended) return;
  wakes_.at = std::max(*at, run_.engine.now());
  wakes_.timer = run_.engine.schedule(wakes_.at, engine::Phase::kFinish, engine::Action::to<&RailAgent::ring>(*this));
}

std::string RailAgent::why_nothing_turns() const {
  if (!sequencer_.rotates() || sequencer_.next(true)) return "";
  return "; the timetable of rail " + std::to_string(id_.value) +
         " stands still, since no bytes moved over its circuits for " + std::to_string(PlanSequencer::kTurnsInVain) +
         " turns";
}

void RailAgent::ring(std::uint64_t) {
  wakes_.timer = {};
  if (!sequencer_.next(true)) sequencer_.wake();
  ++wakes_.fruitless;
  wake({run_.engine.now(), cause_.reconfigurations});
}

// Operations that waited for these circuits take them first, and the controller decides afterwards on what is left.
void RailAgent::command_done(std::uint32_t command) {
  commands_.begin_finish(command, run_.engine.now());
  sequencer_.done(command);
  around_.retry.circuits_available(id_);
  commands_.end_finish();
  wake(commands_.lit_cause());
}

void RailAgent::rail_changed() {
  around_.retry.circuits_available(id_);
  notify({run_.engine.now(), commands_.lit_cause().reconfigurations});
}

void RailAgent::light_back() {
  around_.retry.circuits_available(id_);
  wake({run_.engine.now(), commands_.lit_cause().reconfigurations});
}

void RailAgent::count_traffic(std::uint32_t iteration, ServerPair pair, Bytes bytes) {
  if (needs_.has(ViewPart::kTraffic)) traffic_.add(iteration, pair, bytes);
}

// What waited on several rails opens with the last of them. A command of this rail that was done in the same instant,
// though before, held it up as much, and so that the order of rails within an instant says nothing it is exposed as much.
void RailAgent::expose(Duration idle, const PairQueue* pairs) {
  if (pairs == nullptr) return commands_.expose(idle);
  const std::uint32_t ports = run_.plant().nic_ports;
  commands_.expose(idle, run_.engine.now(), [&](Circuit c) {
    return pairs->has({c.from.value / ports, c.to.value / ports});
  });
}

void RailAgent::go_down() {
  ++presence_.down;
  around_.channel.forget(id_);
}

// A new controller object: it has forgotten everything, as a process does that restarts.
void RailAgent::come_up() {
  if (--presence_.down > 0) return;
  controller_ = make_controller();
  sequencer_.forget();
  wakes_.ask_again.reset();
  rail_.undrain();
  around_.board.repeat(id_);
  around_.retry.circuits_available(id_);
  wake({});
}

}  // namespace photonrail::control_plane
