#include "control_plane/rail_agent.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace photonrail::control_plane {

using execution::CriticalPathTag;

namespace {

void require_slots(const Timetable& timetable, Duration reconfiguration) {
  if (!timetable.rounds.empty() && timetable.slot > reconfiguration) return;
  throw ControllerError("a timetable needs rounds, and slots that are longer than a reconfiguration: they take " +
                        std::to_string(to_seconds(timetable.slot)) + " s, re-pointing " +
                        std::to_string(to_seconds(reconfiguration)) + " s");
}

}  // namespace

RailAgent::RailAgent(const ControlContext& run, const PolicyNeeds& needs, const Surroundings& around, RailId id)
    : run_(run),
      needs_(needs),
      around_(around),
      id_(id),
      rail_(run.fabric.rail(id)),
      controller_(make_controller()),
      sequencer_(make_sequencer()),
      ports_(rail_, run.plant(), needs.bytes) {
  rail_.set_hops(needs.hops);
}

std::unique_ptr<Controller> RailAgent::make_controller() const {
  return run_.factory.make(run_.spec, id_, run_.plant().gpus_per_server, run_.plant().nic_ports);
}

std::unique_ptr<PlanSequencer> RailAgent::make_sequencer() {
  return std::make_unique<PlanSequencer>(run_.engine, rail_, around_.channel, id_);
}

void RailAgent::notify(CriticalPathTag cause) {
  sequencer_->wake();
  wakes_.fruitless = 0;
  wake(cause);
}

void RailAgent::wake(CriticalPathTag cause) {
  cause_ = later_of(cause_, cause);
  if (wakes_.decide_scheduled) return;
  wakes_.decide_scheduled = true;
  run_.engine.schedule(run_.engine.now(), Phase::kDecide, Action::to<&RailAgent::decide>(*this));
}

void RailAgent::task_ended() {
  if (!around_.board.complete(id_).empty()) wake(cause_);
}

void RailAgent::decide(std::uint64_t) {
  wakes_.decide_scheduled = false;
  if (is_down()) return;
  const bool drained = rail_.drains();
  try {
    sequencer_->proceed(issued_);
    log_issued();
    consult();
    log_issued();
  } catch (const ControllerError& error) {
    throw ControllerError("controller '" + run_.spec.name + "' on rail " + std::to_string(id_.value) + " at " +
                          std::to_string(to_seconds(run_.engine.now())) + " s: " + error.what());
  }
  set_timer();
  if (drained && !rail_.drains()) around_.retry.circuits_available(id_);
}

FabricView RailAgent::view() {
  const SharedView shared = around_.views.shared_view(id_);
  const ClusterSpec& cluster = run_.fabric.spec();
  const OpticalSwitchSpec& optical = cluster.rail.optical;
  FabricView view;
  view.now = run_.engine.now();
  view.rail = id_;
  view.ports_per_gpu = run_.plant().nic_ports;
  view.positions = run_.plant().servers;
  view.transmit = ports_.transmit();
  view.receive = ports_.receive();
  view.running = shared.running;
  view.demands = around_.board.complete(id_).views();
  view.gathering = around_.board.partial(id_).views();
  view.schedule = shared.schedule;
  if (needs_.traffic) {
    view.traffic = traffic_.past();
    view.traffic_now = traffic_.now();
  }
  view.hop_latency = cluster.nic.latency;
  view.port_rate = cluster.nic.per_port;
  view.planes = cluster.rail.planes;
  view.own = ports_.own();
  view.reconfiguration = {optical.reconfiguration.typical(),      optical.link_up, run_.spec.command,
                          run_.spec.acknowledgement,
                          optical.darkness == DarkScope::kSwitch, optical.settle};
  return view;
}

void RailAgent::consult() {
  ports_.sync();
  const FabricView shown = view();
  Decision decision = controller_->decide(shown);
  if (decision.timetable) require_slots(*decision.timetable, shown.reconfiguration.total());
  wakes_.ask_again = decision.ask_again;
  sequencer_->take(std::move(decision), issued_);
}

// Commands that went out. One whose circuits are never taken is no fault; thousands in a row would go on for ever.
void RailAgent::log_issued() {
  for (const PlanSequencer::Issued& issued : issued_) {
    PHOTONRAIL_CHECK(issued.command.id == commands_.size());
    commands_.add(issued.decided, issued.command.usable, cause_);
    const std::uint64_t uses = rail_.uses();
    fruitless_.commands = issued.rotation || uses != fruitless_.uses_seen ? 0 : fruitless_.commands + 1;
    fruitless_.uses_seen = uses;
    if (fruitless_.commands < kMaxFruitless) continue;
    const RequestList& waiting = around_.board.complete(id_);
    throw ControllerError("re-pointed circuits " + std::to_string(kMaxFruitless) +
                          " times in a row while no operation could use them" +
                          (waiting.empty() ? "" : ": " + around_.board.describe(waiting.slots().front()) + " waits"));
  }
  issued_.clear();
}

// The controller is not asked again while nothing is going on, nor for ever while nothing comes of it: the job may be stuck.
void RailAgent::set_timer() {
  std::optional<Time> at = sequencer_->next();
  const bool idle = around_.board.complete(id_).empty() && around_.board.partial(id_).empty() && !rail_.held();
  if (wakes_.ask_again && !idle && wakes_.fruitless < kMaxFruitless) {
    const Time again = std::max(*wakes_.ask_again, run_.engine.now() + Duration{1});
    at = at ? std::min(*at, again) : again;
  }
  if (wakes_.timer && at && *at == wakes_.at) return;
  run_.engine.cancel(wakes_.timer);
  wakes_.timer = {};
  if (!at) return;
  wakes_.at = std::max(*at, run_.engine.now());
  wakes_.timer = run_.engine.schedule(wakes_.at, Phase::kFinish, Action::to<&RailAgent::ring>(*this));
}

void RailAgent::ring(std::uint64_t) {
  wakes_.timer = {};
  ++wakes_.fruitless;
  wake({run_.engine.now(), cause_.reconfigurations});
}

void RailAgent::command_done(std::uint32_t command) {
  commands_.begin_finish(command, run_.engine.now());
  sequencer_->done(command);
  around_.retry.circuits_available(id_);
  commands_.end_finish();
  wake(commands_.lit_cause());
}

void RailAgent::rail_changed() {
  around_.retry.circuits_available(id_);
  notify({run_.engine.now(), commands_.lit_cause().reconfigurations});
}

void RailAgent::count_traffic(std::uint32_t iteration, ServerPair pair, Bytes bytes) {
  if (needs_.traffic) traffic_.add(iteration, pair, bytes);
}

void RailAgent::go_down() {
  ++down_;
  around_.channel.forget(id_);
}

void RailAgent::come_up() {
  if (--down_ > 0) return;
  controller_ = make_controller();
  sequencer_ = make_sequencer();
  wakes_.ask_again.reset();
  rail_.undrain();
  around_.board.repeat(id_);
  around_.retry.circuits_available(id_);
  wake({});
}

}  // namespace photonrail::control_plane
