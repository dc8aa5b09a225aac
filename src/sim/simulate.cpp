#include "photonrail/simulate.hpp"

#include "photonrail/error.hpp"
#include "sim/control_plane.hpp"
#include "sim/cost_model.hpp"
#include "sim/executor.hpp"
#include "sim/folding.hpp"
#include "sim/foresight.hpp"
#include "sim/operation.hpp"
#include "sim/plan_cache.hpp"
#include "sim/recorder.hpp"
#include "sim/straggling.hpp"
#include "sim/transfers.hpp"
#include "sim/watchers.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace photonrail {

namespace {

constexpr std::uint64_t kEventsBetweenProgress = 65536;

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// What is served pair by pair is not one flow.
RunSpec fidelity_for(RunSpec run, const ClusterSpec& cluster, const PolicyNeeds& needs) {
  if (cluster.rail.kind == RailKind::kOptical && needs.per_pair) run.fidelity = Fidelity::kExact;
  return run;
}

// One run: builds the objects, lets the engine go, and reads the books.
class Simulation {
 public:
  /// `folding`: null, or the smaller job that is run in place of the scenario's.
  Simulation(const Scenario& scenario, const Folding* folding, const ClusterSpec& cluster, const ControllerSpec& controller,
             const PolicyNeeds& needs, const RunSpec& run, const Registries& registries,
             std::span<const StragglerSpec> stragglers, const Schedule* schedule, Schedule* profile,
             std::span<Observer* const> observers, const Foresight* foresight = nullptr)
      : scenario_(scenario),
        folding_(folding),
        graph_(folding != nullptr ? folding->graph : scenario.graph),
        roster_(folding != nullptr ? folding->roster : Roster::of(scenario.graph, scenario.gpu_of_rank)),
        everybody_(observers),
        watchers_(folding != nullptr ? std::span<Observer* const>{} : observers),
        fabric_(engine_, cluster, run.seed, folding != nullptr ? &folding->plant : nullptr),
        plans_(scenario.collectives, fidelity_for(run, cluster, needs), registries.collectives, scenario.graph.demands(),
               cost_model(scenario.cluster, scenario.controller)),
        operations_(graph_, roster_, fabric_, plans_),
        recorder_(graph_.ranks()),
        straggling_(stragglers, graph_.ranks(), run.seed),
        control_(engine_, fabric_, operations_, controller, registries.controllers.find(controller.name), watchers_),
        transfers_(engine_, fabric_, operations_, recorder_, straggling_),
        executor_(graph_, scenario.executor, run.iterations,
                  {engine_, fabric_, operations_, transfers_, control_, recorder_, watchers_, straggling_}, needs.shim,
                  schedule, profile) {
    fabric_.attach(transfers_, control_);
    transfers_.attach(executor_);
    if (!fabric_.optical()) return;
    if (needs.per_pair) transfers_.serve_by_pair();
    if (needs.weighs()) plans_.weigh();
    if (foresight != nullptr) executor_.foresee(*foresight);
    if (needs.schedule) control_.know(known_.emplace(graph_, operations_, fabric_, gpu_of_rank(), *schedule));
  }

  void run() {
    everybody_.tell([this](Observer& observer) { observer.begin(scenario_); });
    control_.begin(transfers_);
    executor_.begin();
    while (engine_.run(kEventsBetweenProgress) > 0) {
      everybody_.tell([this](Observer& o) { o.progress(executor_.tasks_done(), executor_.tasks(), engine_.now()); });
    }
    if (!executor_.finished()) throw DeadlockError(executor_.stuck());
  }

  void report(RunResult& result) {
    const std::vector<Time>& ends = executor_.iteration_ends();
    const Time makespan = ends.back();
    const Folding unfolded;
    const Folding& folding = folding_ != nullptr ? *folding_ : unfolded;
    recorder_.finish(makespan, folding.class_of_rank, result);
    for (std::size_t i = 0; i < ends.size(); ++i) result.iterations.push_back(ends[i] - (i > 0 ? ends[i - 1] : Time{0}));
    control_.summarize(folding.rail_image, result.reconfigurations);
    result.choices = plans_.choices();
    result.reconfigurations.critical_path = executor_.last_cause().reconfigurations;
    result.engine.events = engine_.events_run();
    result.engine.sends = fabric_.network().messages();
    everybody_.tell([makespan](Observer& observer) { observer.end(makespan); });
  }

 private:
  // Of the ranks that are run.
  [[nodiscard]] std::vector<GpuId> gpu_of_rank() const {
    std::vector<GpuId> gpus = scenario_.gpu_of_rank;
    if (folding_ == nullptr) return gpus;
    for (std::size_t r = gpus.size(); r-- > 0;) gpus[folding_->class_of_rank[r]] = scenario_.gpu_of_rank[r];
    return gpus;
  }

  const Scenario& scenario_;
  const Folding* folding_;
  const TaskGraph& graph_;
  const Roster roster_;
  Watchers everybody_;
  Watchers watchers_;  // who is told of ranks and circuits
  Engine engine_;
  Fabric fabric_;
  PlanCache plans_;
  Operations operations_;
  Recorder recorder_;
  Straggling straggling_;
  ControlPlane control_;
  Transfers transfers_;
  Executor executor_;
  std::optional<KnownSchedule> known_;
};

/// Runs a scenario, folded or not.
class Runner {
 public:
  /// A rehearsal runs with another controller than the scenario's, typical reconfigurations, and nobody late.
  Runner(const Scenario& scenario, const ControllerSpec& controller, bool rehearsal, std::span<Observer* const> observers,
         const Registries& registries)
      : scenario_(scenario),
        observers_(observers),
        registries_(registries),
        factory_(registries.controllers.find(controller.name)),
        controller_(factory_.complete(controller)),
        needs_(factory_.needs_of(controller_)),
        cluster_(scenario.cluster),
        rehearsal_(rehearsal) {
    DelayDistribution& delay = cluster_.rail.optical.reconfiguration;
    if (rehearsal) delay = DelayDistribution::constant(delay.typical());
  }

  void run(RunResult& result) {
    result.folding.ranks = result.folding.classes = scenario_.graph.ranks();
    if (const std::optional<Folding> folding = try_fold(result.folding.off)) {
      RunResult folded = result;
      if (run_folded(*folding, folded)) {
        result = std::move(folded);
        result.folding.classes = folding->graph.ranks();
        return;
      }
      result.folding.off = folded.folding.off;
    }
    run_unfolded(result);
  }

 private:
  std::optional<Folding> try_fold(std::string& off) const {
    const bool watched = std::any_of(observers_.begin(), observers_.end(),
                                     [](const Observer* observer) { return observer->needs_every_rank(); });
    try {
      if (!scenario_.run.folding) throw FoldingFailed{"the scenario says so"};
      if (!scenario_.stragglers.empty()) throw FoldingFailed{"some ranks are late or slow"};
      if (watched) throw FoldingFailed{"an observer wants to be told of every rank"};
      return fold(scenario_, cluster_, controller_, registries_);
    } catch (FoldingFailed& failed) {
      off = std::move(failed.why);
      return std::nullopt;
    }
  }

  // What is wrong with a job is said of its own ranks: the run is made again for that.
  bool run_folded(const Folding& folding, RunResult& result) const {
    try {
      std::optional<Schedule> schedule;
      if (follows_a_schedule()) schedule = profile(&folding);
      run_as(&folding, schedule ? &*schedule : nullptr, result);
      return true;
    } catch (FoldingFailed& failed) {
      result.folding.off = std::move(failed.why);
    } catch (const DeadlockError&) {
      result.folding.off = "the job cannot finish";
    } catch (const ControllerError&) {
      result.folding.off = "the controller is in error";
    }
    return false;
  }

  void run_unfolded(RunResult& result) const {
    std::optional<Schedule> schedule;
    if (follows_a_schedule()) schedule = profile_unfolded();
    std::optional<Foresight> foresight;
    if (needs_.foresight && scenario_.cluster.rail.kind == RailKind::kOptical) foresight = foresee();
    run_as(nullptr, schedule ? &*schedule : nullptr, result, foresight ? &*foresight : nullptr);
  }

  void run_as(const Folding* folding, const Schedule* schedule, RunResult& result,
              const Foresight* foresight = nullptr) const {
    const std::span<const StragglerSpec> late =
        rehearsal_ ? std::span<const StragglerSpec>{} : std::span<const StragglerSpec>{scenario_.stragglers};
    Simulation simulation(scenario_, folding, cluster_, controller_, needs_, scenario_.run, registries_, late, schedule,
                          nullptr, observers_, foresight);
    simulation.run();
    simulation.report(result);
  }

  // What the shim's profiling run sees: the order in which each rank's rail operations start on electrical rails when
  // nobody is late.
  Schedule profile(const Folding* folding) const {
    Schedule order;
    run_profile(folding, &order, {});
    return order;
  }

  Foresight foresee() const {
    ForesightRecorder recorder(scenario_.graph);
    Observer* const observers[] = {&recorder};
    run_profile(nullptr, nullptr, observers);
    return recorder.foresight();
  }

  void run_profile(const Folding* folding, Schedule* order, std::span<Observer* const> observers) const {
    const ClusterSpec cluster = electrical();
    RunSpec run = scenario_.run;
    run.iterations = 1;
    run.fidelity = Fidelity::kStream;
    Simulation(scenario_, folding, cluster, ControllerSpec{}, PolicyNeeds{}, run, registries_, {}, nullptr, order, observers)
        .run();
  }

  // Electrical rails may fold where those of the scenario do not.
  Schedule profile_unfolded() const {
    if (!scenario_.run.folding) return profile(nullptr);
    try {
      const Folding folding = fold(scenario_, electrical(), ControllerSpec{}, registries_);
      const Schedule of_class = profile(&folding);
      Schedule order;
      for (const std::uint32_t c : folding.class_of_rank) order.push_back(of_class[c]);
      return order;
    } catch (const FoldingFailed&) {
    } catch (const DeadlockError&) {
    }
    return profile(nullptr);
  }

  [[nodiscard]] bool follows_a_schedule() const {
    const bool wanted = needs_.shim.announce || needs_.shim.scheduled || needs_.schedule;
    return scenario_.cluster.rail.kind == RailKind::kOptical && wanted;
  }

  [[nodiscard]] ClusterSpec electrical() const {
    ClusterSpec cluster = scenario_.cluster;
    cluster.rail = RailSpec{};
    cluster.rail.switch_radix = std::max(2u, cluster.plant().rail_ports());
    return cluster;
  }

  const Scenario& scenario_;
  std::span<Observer* const> observers_;
  const Registries& registries_;
  const ControllerFactory& factory_;
  const ControllerSpec controller_;
  const PolicyNeeds needs_;
  ClusterSpec cluster_;
  bool rehearsal_;
};

/// Tries the specifications that the scenario's policy wants to choose from; its own when it wants none. A try that cannot
/// finish is none.
ControllerSpec rehearse(const Scenario& scenario, const Registries& registries, std::vector<std::string>& choices) {
  const ControllerFactory& factory = registries.controllers.find(scenario.controller.name);
  if (factory.rehearse == nullptr || scenario.cluster.rail.kind != RailKind::kOptical) return scenario.controller;
  std::optional<std::size_t> best;
  Duration shortest{};
  const std::vector<ControllerSpec> specs = factory.rehearse(factory.complete(scenario.controller));
  for (std::size_t i = 0; i < specs.size(); ++i) {
    try {
      RunResult trial;
      Runner(scenario, specs[i], true, {}, registries).run(trial);
      if (best && trial.makespan >= shortest) continue;
      best = i;
      shortest = trial.makespan;
    } catch (const DeadlockError&) {
    } catch (const ControllerError&) {
    }
  }
  if (!best) return scenario.controller;
  choices.push_back(factory.name + " rehearsed " + std::to_string(specs.size()) + " ways and took number " +
                    std::to_string(*best + 1) + ", " + specs[*best].describe());
  return specs[*best];
}

}  // namespace

RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers) {
  return simulate(scenario, observers, Registries{});
}

RunResult simulate(const Scenario& scenario, std::span<Observer* const> observers, const Registries& registries) {
  scenario.validate();
  const auto started = std::chrono::steady_clock::now();
  RunResult result;
  result.name = scenario.name;
  result.seed = scenario.run.seed;
  result.warnings = scenario.graph.warnings();
  std::vector<std::string> choices;
  const ControllerSpec controller = rehearse(scenario, registries, choices);
  Runner(scenario, controller, false, observers, registries).run(result);
  result.choices.insert(result.choices.begin(), choices.begin(), choices.end());
  result.engine.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  result.engine.peak_rss_mb = peak_rss_mb();
  return result;
}

}  // namespace photonrail
