#include "run/runner.hpp"

#include "photonrail/error.hpp"
#include "run/lower_bound.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace photonrail {

Runner::Runner(const Scenario& scenario, const RunSpec& run, std::span<Observer* const> observers,
               const Registries& registries)
    : Runner(scenario, run, rehearse(scenario, run, registries), false, observers, registries) {}

Runner::Runner(const Scenario& scenario, const RunSpec& run, Chosen chosen, bool rehearsal,
               std::span<Observer* const> observers, const Registries& registries)
    : scenario_(scenario),
      run_(run),
      observers_(observers),
      registries_(registries),
      factory_(registries.controllers.find(chosen.spec.name)),
      chosen_(std::move(chosen)),
      controller_(factory_.complete(chosen_.spec)),
      needs_(factory_.needs_of(controller_).with_ports(scenario.cluster.nic.ports)),
      rehearsal_(rehearsal),
      cluster_(scenario.cluster) {
  DelayDistribution& delay = cluster_.rail.optical.reconfiguration;
  if (rehearsal) delay = DelayDistribution::constant(delay.typical());
}

// Tries the specifications that the scenario's policy wants to choose from; its own when it wants none. A try that cannot
// finish is none.
Runner::Chosen Runner::rehearse(const Scenario& scenario, const RunSpec& run, const Registries& registries) {
  const ControllerFactory& factory = registries.controllers.find(scenario.controller.name);
  if (factory.rehearse == nullptr || scenario.cluster.rail.kind != RailKind::kOptical) return {scenario.controller, {}};
  std::optional<std::size_t> best;
  Duration shortest{};
  std::vector<ControllerSpec> specs = factory.rehearse(factory.complete(scenario.controller));
  std::erase_if(specs, [&](const ControllerSpec& spec) { return !registries.controllers.knows(spec.name); });
  for (std::size_t i = 0; i < specs.size(); ++i) {
    try {
      RunResult trial;
      Runner(scenario, run, {specs[i], {}}, true, {}, registries).run(trial);
      if (best && trial.makespan >= shortest) continue;
      best = i;
      shortest = trial.makespan;
    } catch (const DeadlockError&) {
    } catch (const ControllerError&) {
    }
  }
  if (!best) return {scenario.controller, {}};
  return {specs[*best], factory.name + " rehearsed " + std::to_string(specs.size()) + " ways and took number " +
                            std::to_string(*best + 1) + ", " + specs[*best].describe()};
}

void Runner::run(RunResult& result) {
  result.folding.ranks = result.folding.classes = scenario_.graph.ranks();
  if (factory_.bound) {
    return LowerBound({scenario_, cluster_, controller_, run_, scenario_.stragglers}, registries_, observers_).run(result);
  }
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

std::unique_ptr<Simulation> Runner::share(const SharedJobContext& tenancy) {
  if (follows_a_schedule()) shared_schedule_ = profile_unfolded();
  shared_foresight_ = foresee();
  return std::make_unique<Simulation>(scenario_, nullptr, cluster_, controller_, needs_, run_, registries_,
                                      scenario_.stragglers, shared_schedule_ ? &*shared_schedule_ : nullptr, nullptr,
                                      observers_, shared_foresight_ ? &*shared_foresight_ : nullptr, &tenancy);
}

std::optional<Folding> Runner::try_fold(std::string& off) const {
  const bool watched = std::any_of(observers_.begin(), observers_.end(),
                                   [](const Observer* observer) { return observer->needs_every_rank(); });
  try {
    if (!run_.folding) throw FoldingFailed{"the scenario says so"};
    if (!scenario_.stragglers.empty()) throw FoldingFailed{"some ranks are late or slow"};
    if (watched) throw FoldingFailed{"an observer wants to be told of every rank"};
    return fold(scenario_, cluster_, controller_, registries_);
  } catch (FoldingFailed& failed) {
    off = std::move(failed.why);
    return std::nullopt;
  }
}

// What is wrong with a job is said of its own ranks: the run is made again for that.
bool Runner::run_folded(const Folding& folding, RunResult& result) const {
  try {
    std::optional<Schedule> schedule;
    if (follows_a_schedule()) schedule = profile(&folding);
    run_as(&folding, schedule ? &*schedule : nullptr, nullptr, result);
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

void Runner::run_unfolded(RunResult& result) const {
  std::optional<Schedule> schedule;
  if (follows_a_schedule()) schedule = profile_unfolded();
  const std::optional<SlackProfile> foresight = foresee();
  run_as(nullptr, schedule ? &*schedule : nullptr, foresight ? &*foresight : nullptr, result);
}

void Runner::run_as(const Folding* folding, const Schedule* schedule, const SlackProfile* foresight,
                    RunResult& result) const {
  const std::span<const StragglerSpec> late =
      rehearsal_ ? std::span<const StragglerSpec>{} : std::span<const StragglerSpec>{scenario_.stragglers};
  Simulation simulation(scenario_, folding, cluster_, controller_, needs_, run_, registries_, late, schedule, nullptr,
                        observers_, foresight);
  simulation.run();
  simulation.report(result);
  if (!chosen_.how.empty()) result.choices.insert(result.choices.begin(), chosen_.how);
}

// What the shim's profiling run sees: the order in which each rank's rail operations start on electrical rails when
// nobody is late.
Schedule Runner::profile(const Folding* folding) const {
  Schedule order;
  run_profile(folding, &order, {});
  return order;
}

std::optional<SlackProfile> Runner::foresee() const {
  if (!needs_.foresight || scenario_.cluster.rail.kind != RailKind::kOptical) return std::nullopt;
  SlackRecorder recorder(scenario_.graph);
  Observer* const observers[] = {&recorder};
  run_profile(nullptr, nullptr, observers);
  return recorder.foresight();
}

void Runner::run_profile(const Folding* folding, Schedule* order, std::span<Observer* const> observers) const {
  const ClusterSpec cluster = electrical();
  RunSpec run = run_;
  run.iterations = 1;
  run.fidelity = Fidelity::kStream;
  Simulation(scenario_, folding, cluster, ControllerSpec{}, PolicyNeeds{}, run, registries_, {}, nullptr, order, observers)
      .run();
}

// Electrical rails may fold where those of the scenario do not.
Schedule Runner::profile_unfolded() const {
  if (!run_.folding) return profile(nullptr);
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

bool Runner::follows_a_schedule() const {
  const bool wanted = needs_.shim.announces_any() || needs_.shim.scheduled || needs_.schedule;
  return scenario_.cluster.rail.kind == RailKind::kOptical && wanted;
}

ClusterSpec Runner::electrical() const {
  ClusterSpec cluster = scenario_.cluster;
  cluster.rail = RailSpec{};
  cluster.rail.switch_radix = std::max(2u, cluster.plant().rail_ports());
  return cluster;
}

}  // namespace photonrail
