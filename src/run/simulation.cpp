#include "run/simulation.hpp"

#include "photonrail/error.hpp"
#include "run/cost_model.hpp"

namespace photonrail {

namespace {

constexpr std::uint64_t kEventsBetweenProgress = 65536;

/// Messages may go over circuits of other pairs, and share them with what these send.
bool forwards(const ClusterSpec& cluster, const PolicyNeeds& needs) {
  if (cluster.rail.kind != RailKind::kOptical) return false;
  return needs.hops > 1 || (needs.hops == 0 && cluster.rail.forwarding);
}

/// A collective that is served pair by pair, or shares circuits, is not one flow a pair.
RunSpec fidelity_for(RunSpec run, const ClusterSpec& cluster, const PolicyNeeds& needs) {
  const bool per_pair = cluster.rail.kind == RailKind::kOptical && needs.per_pair;
  if (per_pair || forwards(cluster, needs)) run.fidelity = Fidelity::kExact;
  return run;
}

}  // namespace

Simulation::Simulation(const Scenario& scenario, const Folding* folding, const ClusterSpec& cluster,
                       const ControllerSpec& controller, const PolicyNeeds& needs, const RunSpec& run,
                       const Registries& registries, std::span<const StragglerSpec> stragglers, const Schedule* schedule,
                       Schedule* profile, std::span<Observer* const> observers, const SlackProfile* foresight,
                       const SharedJobContext* tenancy)
    : scenario_(scenario),
      folding_(folding),
      tenancy_(tenancy),
      graph_(folding != nullptr ? folding->graph : scenario.graph),
      roster_(folding != nullptr ? folding->roster : MemberPlacement::of(scenario.graph, scenario.gpu_of_rank)),
      everybody_(observers),
      watchers_(folding != nullptr ? std::span<Observer* const>{} : observers),
      engine_(tenancy != nullptr ? tenancy->engine : own_engine_.emplace()),
      fabric_(tenancy != nullptr ? Fabric(engine_, cluster, tenancy->fabric, tenancy->job, scenario.gpu_of_rank)
                                 : Fabric(engine_, cluster, run.seed, folding != nullptr ? &folding->plant : nullptr,
                                        scenario.gpu_of_rank)),
      plans_(scenario.collectives, fidelity_for(run, cluster, needs), registries.collectives, scenario.graph.demands(),
             cost_model(scenario.cluster, scenario.controller)),
      operations_(graph_, roster_, fabric_, plans_),
      recorder_(graph_.ranks()),
      straggling_(stragglers, graph_.ranks(), run.seed),
      control_(engine_, fabric_, operations_, controller, registries.controllers.find(controller.name), watchers_,
               run.seed),
      transfers_(engine_, fabric_, operations_, recorder_, straggling_),
      executor_(graph_, scenario.executor, run.iterations,
                {engine_, fabric_, operations_, transfers_, control_, recorder_, watchers_, straggling_}, needs.shim,
                schedule, profile) {
  exact_ = run.fidelity == Fidelity::kStream && forwards(cluster, needs);
  fabric_.attach(transfers_, control_);
  transfers_.attach(executor_);
  if (!fabric_.optical()) return;
  if (folding == nullptr) control_.seat(scenario.gpu_of_rank);
  if (needs.per_pair) transfers_.serve_by_pair();
  if (needs.weighs()) plans_.weigh();
  if (foresight != nullptr) executor_.foresee(*foresight);
  if (needs.schedule) control_.know(known_.emplace(graph_, operations_, fabric_, gpu_of_rank(), *schedule));
}

void Simulation::begin_at(Time start) {
  start_ = start;
  if (start == engine_.now()) return begin(0);
  engine_.schedule(start, Phase::kFinish, Action::to<&Simulation::begin>(*this));
}

void Simulation::begin(std::uint64_t) {
  control_.begin(transfers_);
  executor_.begin();
}

void Simulation::run() {
  everybody_.notify([this](Observer& observer) { observer.begin(scenario_); });
  begin_at(engine_.now());
  do {
    while (engine_.run(kEventsBetweenProgress) > 0) {
      everybody_.notify([this](Observer& o) { o.progress(tasks_done(), tasks(), engine_.now()); });
    }
  } while (!finished() && stand_still());
  if (!finished()) throw DeadlockError(stuck());
}

void Simulation::report(RunResult& result) {
  const std::vector<Time>& ends = executor_.iteration_ends();
  const Folding unfolded;
  const Folding& folding = folding_ != nullptr ? *folding_ : unfolded;
  recorder_.finish(ends.back(), folding.class_of_rank, result);
  result.start = start_;
  result.makespan -= start_;
  for (RankTime& rank : result.ranks) rank.peer_wait -= start_;  // until then it had nothing to do
  for (std::size_t i = 0; i < ends.size(); ++i) result.iterations.push_back(ends[i] - (i > 0 ? ends[i - 1] : start_));
  control_.summarize(folding.rail_image, result.reconfigurations);
  result.choices = plans_.choices();
  if (exact_)
    result.choices.emplace_back("fidelity: every send is simulated, because messages may be forwarded over other GPUs");
  for (const std::string& line : control_.remarks(result.makespan)) result.warnings.push_back(line);
  result.reconfigurations.critical_path = executor_.last_cause().reconfigurations;
  if (tenancy_ == nullptr) {
    result.engine.events = engine_.events_run();
    result.engine.sends = fabric_.network().messages();
  }
  everybody_.notify([&ends](Observer& observer) { observer.end(ends.back()); });
}

std::vector<GpuId> Simulation::gpu_of_rank() const {
  std::vector<GpuId> gpus = scenario_.gpu_of_rank;
  if (folding_ == nullptr) return gpus;
  for (std::size_t r = gpus.size(); r-- > 0;) gpus[folding_->class_of_rank[r]] = scenario_.gpu_of_rank[r];
  return gpus;
}

}  // namespace photonrail
