#include "sim/runner.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

Runner::Runner(const Scenario& scenario, const RunSpec& run, std::span<Observer* const> observers,
               const Registries& registries)
    : scenario_(scenario),
      run_(run),
      observers_(observers),
      registries_(registries),
      factory_(registries.controllers.find(scenario.controller.name)),
      controller_(factory_.complete(scenario.controller)),
      needs_(factory_.needs_of(controller_)) {}

void Runner::run(RunResult& result) {
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

std::unique_ptr<Simulation> Runner::share(const Tenancy& tenancy) {
  if (follows_a_schedule()) shared_schedule_ = profile_unfolded();
  return std::make_unique<Simulation>(scenario_, nullptr, scenario_.cluster, controller_, needs_, run_, registries_,
                                      scenario_.stragglers, shared_schedule_ ? &*shared_schedule_ : nullptr, nullptr,
                                      observers_, &tenancy);
}

std::optional<Folding> Runner::try_fold(std::string& off) const {
  const bool watched = std::any_of(observers_.begin(), observers_.end(),
                                   [](const Observer* observer) { return observer->needs_every_rank(); });
  try {
    if (!run_.folding) throw FoldingFailed{"the scenario says so"};
    if (!scenario_.stragglers.empty()) throw FoldingFailed{"some ranks are late or slow"};
    if (watched) throw FoldingFailed{"an observer wants to be told of every rank"};
    return fold(scenario_, scenario_.cluster, scenario_.controller, registries_);
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

void Runner::run_unfolded(RunResult& result) const {
  std::optional<Schedule> schedule;
  if (follows_a_schedule()) schedule = profile_unfolded();
  run_as(nullptr, schedule ? &*schedule : nullptr, result);
}

void Runner::run_as(const Folding* folding, const Schedule* schedule, RunResult& result) const {
  Simulation simulation(scenario_, folding, scenario_.cluster, controller_, needs_, run_, registries_, scenario_.stragglers,
                        schedule, nullptr, observers_);
  simulation.run();
  simulation.report(result);
}

// What the shim's profiling run sees: the order in which each rank's rail operations start on electrical rails when
// nobody is late.
Schedule Runner::profile(const Folding* folding) const {
  const ClusterSpec cluster = electrical();
  RunSpec run = run_;
  run.iterations = 1;
  run.fidelity = Fidelity::kStream;
  Schedule order;
  Simulation(scenario_, folding, cluster, ControllerSpec{}, PolicyNeeds{}, run, registries_, {}, nullptr, &order, {}).run();
  return order;
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
