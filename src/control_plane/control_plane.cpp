#include "control_plane/control_plane.hpp"

#include "control_plane/pair_service.hpp"
#include "control_plane/round_service.hpp"

#include <algorithm>

namespace photonrail::control_plane {

namespace {

// Returns the terms of every rail; the jobs on it come with the rail.
ReconfigurationTerms switching_terms(const ControlContext& run) {
  const OpticalSwitchSpec& optical = run.fabric.spec().rail.optical;
  const Duration message = run.spec.control.messages.delay.typical();
  ReconfigurationTerms terms;
  terms.switching = optical.reconfiguration.typical();
  terms.link_up = optical.link_up;
  terms.command = run.spec.command + message;
  terms.acknowledgement = run.spec.acknowledgement + message;
  terms.whole_switch = optical.darkness == DarkScope::kSwitch;
  terms.settle = optical.settle;
  terms.batching = optical.batching;
  terms.command_gap = optical.command_gap;
  terms.longer = optical.reconfiguration.longest() - terms.switching;
  return terms;
}

}  // namespace

ControlPlane::ControlPlane(const ControlContext& run, folding::OrderAmbiguity* ambiguity)
    : run_(run),
      needs_(run.factory.needs_of(run.spec).with_ports(run.plant().nic_ports)),
      channel_(run.engine, run.spec, run.fabric.optical() ? run.fabric.rails() : 0, run.seed),
      board_(run, needs_, channel_, *this, ambiguity),
      switching_(switching_terms(run)) {
  if (run.fabric.optical()) agents_.resize(run.fabric.rails());
  for (std::uint32_t r = 0; r < agents_.size(); ++r) {
    if (!run.fabric.has_rail(RailId{r})) continue;
    // Where whole rails are folded, a rail's requests and GPUs are those of the job.
    folding::OrderAmbiguity* const of_ranks = run.factory.rank_symmetric ? ambiguity : nullptr;
    const RailAgent::Surroundings around{board_, channel_, *this, *this, switching_, of_ranks};
    agents_[r] = std::make_unique<RailAgent>(run, needs_, around, RailId{r});
  }
  if (needs_.by_pair()) {
    service_ = std::make_unique<PairService>(run, *this);
  } else {
    service_ = std::make_unique<RoundService>(run, *this);
  }
}

ControlPlane::~ControlPlane() = default;

template <class Visit>
void ControlPlane::each_agent(Visit&& visit) const {
  for (const std::unique_ptr<RailAgent>& agent : agents_) {
    if (agent != nullptr) visit(*agent);
  }
}

void ControlPlane::seat(std::span<const GpuId> gpu_of_rank) {
  each_agent([&](RailAgent& agent) { agent.seat(gpu_of_rank); });
}

void ControlPlane::begin() {
  if (!agents_.empty()) schedule_restarts();
  each_agent([](RailAgent& agent) { agent.begin(); });
}

void ControlPlane::end() {
  each_agent([](RailAgent& agent) { agent.end(); });
}

// No event is left and the job is not done. A policy that looks at the end of tasks gets another decision, as long as the
// last one had it send a command; then the rails are made to agree on one order of requests. If neither changes anything
// the job is stuck, and the run ends with who waits for what.
bool ControlPlane::stand_still() {
  std::uint64_t commands = 0;
  each_agent([&](const RailAgent& agent) { commands += agent.commands().size(); });
  if (!needs_.has(ViewPart::kTaskEvents) || commands == commands_at_standstill_) {
    // Two operations may each have the circuits of one rail and wait for those of another.
    if (agents_.size() < 2 || !board_.use_one_order()) return false;
    one_order_ = true;
  }
  commands_at_standstill_ = commands;
  stands_still_ = run_.engine.now();
  each_agent([](RailAgent& agent) { agent.stand_still(); });
  return true;
}

std::vector<std::string> ControlPlane::remarks(Duration makespan) const {
  std::vector<std::string> lines;
  for (std::size_t r = 0; r < agents_.size(); ++r) {
    const std::string said = agents_[r] != nullptr ? agents_[r]->remark(makespan) : "";
    if (!said.empty()) lines.push_back("rail " + std::to_string(r) + ": " + said);
  }
  return lines;
}

// Requests that are still on their way count too: the circuits of another operation may be the ones that they lack. Opening
// an operation takes its requests off the list, and lights no circuit: what a round lacks now it lacks then.
void ControlPlane::circuits_available(RailId rail) {
  std::vector<std::uint32_t> waiting;
  const fabric::RailRoutes& routes = run_.fabric.rail(rail).routes();
  for (const BlockedRequest& blocked : board_.blocked(rail)) {
    if (needs_.by_pair() || routes.may_lead({blocked.pair.from, blocked.pair.to})) waiting.push_back(blocked.slot);
  }
  for (const std::uint32_t slot : waiting) {
    const Request& request = board_[slot];
    if (request.open) service_->try_open(request.op, request.round);
  }
}

SharedView ControlPlane::shared_view(RailId rail) {
  if (needs_.has(ViewPart::kTaskEvents)) board_.mark_progress(rail, last_event_, stands_still_ == run_.engine.now());
  SharedView view;
  if (schedule_) view.schedule = schedule_->rail(rail);
  view.running = running_;
  view.one_order = one_order_;
  view.tasks_ended = tasks_ended_;
  return view;
}

// Only policies that look at progress are woken by it: all others decide when requests or circuits change.
void ControlPlane::task_ended(RankId rank) {
  ++tasks_ended_;
  if (!needs_.has(ViewPart::kTaskEvents)) return;
  if (last_event_.size() <= rank.index()) last_event_.resize(rank.index() + 1, Time{Duration{-1}});
  last_event_[rank.index()] = run_.engine.now();
  each_agent([](RailAgent& agent) { agent.task_ended(); });
}

void ControlPlane::set_progress(RankId rank, std::uint32_t iteration, std::size_t next) {
  if (schedule_) schedule_->set_progress(rank, iteration, next);
}

// Observers learn which request a circuit serves: the first in the order of the rail that wants the pair.
void ControlPlane::circuit_changed(RailId rail, Circuit circuit, CircuitState state) {
  if (run_.observers.empty()) return;
  CircuitEvent event;
  event.at = run_.engine.now();
  event.rail = rail;
  event.circuit = circuit;
  event.state = state;
  const std::uint32_t ports = run_.plant().nic_ports;
  const ServerPair pair{circuit.from.value / ports, circuit.to.value / ports};
  const auto serves = [&](const CircuitRequest& request) {
    if (!event.serves.is_none() || !board_[request.id.value].pairs.has(pair)) return;
    event.serves = request.communicator;
  };
  if (const RequestsByPort* by_port = board_.complete(rail).by_port()) {
    for (const CircuitRequest* request : by_port->senders(pair.from)) serves(*request);
  } else {
    for (const CircuitRequest& request : board_.complete(rail).views()) serves(request);
  }
  run_.observers.notify([&](Observer& observer) { observer.circuit(event); });
}

void ControlPlane::circuit_missed(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) {
  board_.circuit_missed(rail, static_cast<execution::OpId>(owner), {from, to});
}

void ControlPlane::circuit_back(RailId rail, std::uint64_t owner, std::uint32_t from, std::uint32_t to) {
  board_.circuit_back(rail, static_cast<execution::OpId>(owner), {from, to});
}

// Ranks whose bytes stand still for a fault that nothing has noticed are booked as blind, until the fault is. The list of a
// fault replaces the one before it.
void ControlPlane::light_lost(RailId rail, std::uint64_t fault, const std::vector<std::uint64_t>& owners) {
  std::vector<RankId>& ranks = blind_[{rail, fault}];
  for (const RankId rank : ranks) run_.accounting.blind_ended(rank, run_.engine.now());
  ranks.clear();
  for (const std::uint64_t owner : owners) {
    const execution::Operation& op = run_.operations[static_cast<execution::OpId>(owner)];
    for (Member m = 0; m < op.members(); ++m) {
      if (op.present(m)) ranks.push_back(op.rank(m));
    }
  }
  for (const RankId rank : ranks) run_.accounting.blind_began(rank, run_.engine.now());
}

void ControlPlane::summarize(std::span<const RailId> rail_image, ReconfigurationSummary& summary) const {
  if (agents_.empty()) return;
  for (const RailId rail : rail_image) {
    rail.is_none() ? summary.per_rail.push_back(0) : agents_[rail.index()]->commands().summarize(summary);
  }
  for (std::size_t r = 0; r < agents_.size(); ++r) {
    if (agents_[r] == nullptr) {
      if (rail_image.empty()) summary.per_rail.push_back(0);
      continue;
    }
    if (rail_image.empty()) agents_[r]->commands().summarize(summary);
    agents_[r]->commands().count_circuits(summary);
    summary.dark_port += run_.fabric.rail(RailId{r}).dark_port_time();
    if (const fabric::MeshAdmission* mesh = run_.fabric.rail(RailId{r}).mesh()) {
      if (!summary.blocking) summary.blocking.emplace();
      *summary.blocking += mesh->summary();
    }
  }
}

// ---- restarts: a controller that is down decides nothing and hears nothing. When it is back it has forgotten what it
// knew, and the ranks repeat what they still wait for. Switches keep their circuits; commands under way are carried out.

void ControlPlane::schedule_restarts() {
  const std::vector<ControllerRestart>& restarts = run_.spec.control.restarts;
  for (std::size_t i = 0; i < restarts.size(); ++i) {
    const Time down = run_.engine.now() + restarts[i].at;  // of a job that begins later: from then on
    run_.engine.schedule(down, engine::Phase::kFinish, engine::Action::to<&ControlPlane::go_down>(*this, i));
    run_.engine.schedule(down + restarts[i].down, engine::Phase::kFinish,
                         engine::Action::to<&ControlPlane::come_up>(*this, i));
  }
}

template <class Visit>
void ControlPlane::each_restarted(std::uint64_t restart, Visit&& visit) {
  for (std::size_t r = 0; r < agents_.size(); ++r) {
    if (agents_[r] == nullptr) continue;
    if (run_.spec.control.restarts[restart].rail.value_or(RailId{r}) == RailId{r}) visit(*agents_[r]);
  }
}

void ControlPlane::go_down(std::uint64_t restart) {
  each_restarted(restart, [](RailAgent& agent) { agent.go_down(); });
}

void ControlPlane::come_up(std::uint64_t restart) {
  each_restarted(restart, [](RailAgent& agent) { agent.come_up(); });
}

}  // namespace photonrail::control_plane
