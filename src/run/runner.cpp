#include "run/runner.hpp"

#include "execution/observer_list.hpp"
#include "photonrail/error.hpp"
#include "run/foldable.hpp"
#include "run/lower_bound.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace photonrail::run {

namespace {

// Speeds come last: what a straggler draws depends on its number.
std::vector<StragglerSpec> stragglers_of(const Scenario& scenario, bool rehearsal) {
  std::vector<StragglerSpec> list;
  if (!rehearsal) list = scenario.stragglers;
  for (StragglerSpec& speed : gpu_speeds(scenario.cluster, scenario.gpu_of_rank)) list.push_back(std::move(speed));
  return list;
}

// Others stop the sooner, the better the first is. The second way of Coalesce, with patience, is most often good.
std::vector<std::size_t> likely_first(std::size_t ways) {
  std::vector<std::size_t> order(ways);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (ways > 1) std::swap(order[0], order[1]);
  return order;
}

}  // namespace

Runner::Runner(const Scenario& scenario, const RunSpec& run, std::span<Observer* const> observers,
               const Registries& registries)
    : Runner(scenario, run, rehearse(scenario, run, registries, check_of(scenario, observers)), Stage::kRun, registries) {
  observers_ = observers;
}

std::unique_ptr<Runner> Runner::for_sharing(const Scenario& scenario, const RunSpec& run,
                                            std::span<Observer* const> observers, const Registries& registries) {
  Chosen chosen = rehearse(scenario, run, registries, Check::kRehearsal);
  std::unique_ptr<Runner> runner(new Runner(scenario, run, std::move(chosen), Stage::kRun, registries));
  runner->observers_ = observers;
  return runner;
}

Runner::Runner(const Scenario& scenario, const RunSpec& run, Chosen chosen, Stage stage, const Registries& registries)
    : scenario_(scenario),
      run_(run),
      registries_(registries),
      factory_(registries.controllers.find(chosen.spec.name)),
      chosen_(std::move(chosen)),
      controller_(factory_.complete(chosen_.spec)),
      needs_(factory_.needs_of(controller_).with_ports(scenario.cluster.nic.ports)),
      stage_(stage),
      stragglers_(stragglers_of(scenario, stage != Stage::kRun)),
      cluster_(scenario.cluster),
      known_(chosen_.known != nullptr ? chosen_.known : know(scenario, run, registries)) {
  DelayDistribution& delay = cluster_.rail.optical.reconfiguration;
  if (stage != Stage::kRun) delay = DelayDistribution::constant(delay.typical());
}

// Tries the specifications that the scenario's policy wants to choose from; its own when it wants none. A try that cannot
// finish is none.
//
// A rehearsal may be of the job folded by ranks, although a policy that rehearses need not treat equal ranks equally: it
// ranks the ways, and the run itself is of whole rails, or of every rank. That such a rehearsal tells the truth is checked
// where it matters, on the way that it chose: if that takes another time exactly, all ways are rehearsed exactly. Where the
// run differs from such a rehearsal in nothing, it is the check.
Runner::Chosen Runner::rehearse(const Scenario& scenario, const RunSpec& run, const Registries& registries, Check check) {
  const ControllerFactory& factory = registries.controllers.find(scenario.controller.name);
  if (factory.rehearse == nullptr || scenario.cluster.rail.kind != RailKind::kOptical) return {scenario.controller, {}};
  std::vector<ControllerSpec> specs = factory.rehearse(factory.complete(scenario.controller));
  std::erase_if(specs, [&](const ControllerSpec& spec) { return !registries.controllers.knows(spec.name); });
  Rehearsals all{scenario, run, registries, check == Check::kAllExact ? Stage::kExactRehearsal : Stage::kRehearsal,
                 know(scenario, run, registries)};
  std::optional<Rehearsal> best = all.best_of(specs);
  std::optional<Duration> expected;
  if (best && !best->exact) {
    all.stage = Stage::kExactRehearsal;
    if (check == Check::kRun) {
      expected = best->makespan;
    } else if (all.makespan_of(best->spec) != best->makespan) {
      best = all.best_of(specs);
    }
  }
  if (!best) return {scenario.controller, {}, all.known};
  return {best->spec,
          factory.name + " rehearsed " + std::to_string(specs.size()) + " ways and took number " +
              std::to_string(best->number) + ", " + best->spec.describe(),
          all.known, expected};
}

std::shared_ptr<Runner::Known> Runner::know(const Scenario& scenario, const RunSpec& run, const Registries& registries) {
  return std::make_shared<Known>(Known{{scenario, run, registries}, {scenario, registries}});
}

Runner::Check Runner::check_of(const Scenario& scenario, std::span<Observer* const> observers) {
  const bool drawn = scenario.cluster.rail.optical.reconfiguration.kind != DelayDistribution::Kind::kConstant;
  const bool differs = drawn || !scenario.stragglers.empty() || execution::watch_ranks(observers);
  return differs ? Check::kRehearsal : Check::kRun;
}

// Returns the best way, and of equal ones the first of the list, in whatever order they are tried. So a way that is listed
// before the best so far wins with the same end, and one that is listed behind it has to end before it.
std::optional<Runner::Rehearsal> Runner::Rehearsals::best_of(const std::vector<ControllerSpec>& specs) {
  std::optional<Rehearsal> best;
  for (const std::size_t i : likely_first(specs.size())) {
    RunResult trial;
    std::optional<Time> latest;
    if (best) latest = Time{} + best->makespan - (i + 1 < best->number ? Duration{} : Duration{1});
    const std::optional<Duration> makespan = makespan_of(specs[i], latest, &trial);
    if (!makespan || (latest && Time{} + *makespan > *latest)) continue;
    const bool folded = trial.folding.classes < trial.folding.ranks;
    const bool exact =
        !folded || stage == Stage::kExactRehearsal || registries.controllers.find(specs[i].name).rank_symmetric;
    best = Rehearsal{specs[i], i + 1, *makespan, exact};
  }
  return best;
}

std::optional<Duration> Runner::Rehearsals::makespan_of(const ControllerSpec& spec, std::optional<Time> give_up,
                                                        RunResult* result) {
  RunResult own;
  RunResult& trial = result != nullptr ? *result : own;
  try {
    Runner runner(scenario, run, {spec, {}, known, {}, give_up}, stage, registries);
    runner.run(trial);
    return trial.makespan;
  } catch (const GaveUp&) {
  } catch (const DeadlockError&) {
  } catch (const ControllerError&) {
  }
  return std::nullopt;
}

void Runner::run(RunResult& result) {
  result.folding.ranks = result.folding.classes = scenario_.graph.ranks();
  if (factory_.bound) {
    return LowerBound({scenario_, cluster_, controller_, run_, stragglers_}, registries_, observers_).run(result);
  }
  if (const folding::Folding* folding = try_fold(result.folding.off); folding != nullptr) {
    RunResult folded = result;
    if (run_folded(*folding, folded)) {
      if (!is_expected(folded)) return run_otherwise(result);
      result = std::move(folded);
      result.folding.classes = folding->graph.ranks();
      return;
    }
    result.folding.off = folded.folding.off;
  }
  if (!run_confirms(result)) run_otherwise(result);
}

bool Runner::is_expected(const RunResult& result) const {
  return result.makespan == chosen_.expected.value_or(result.makespan);
}

// The way that was chosen is not as good as its rehearsal.
void Runner::run_otherwise(RunResult& result) const {
  Runner again(scenario_, run_, rehearse(scenario_, run_, registries_, Check::kAllExact), Stage::kRun, registries_);
  again.observers_ = observers_;
  again.run(result);
}

// Every rank is run. False: it contradicts the rehearsal that chose the way, and `result` is as before.
bool Runner::run_confirms(RunResult& result) const {
  if (!chosen_.expected) {
    run_unfolded(result);
    return true;
  }
  RunResult tried = result;
  try {
    run_unfolded(tried);
  } catch (const DeadlockError&) {
    return false;
  } catch (const ControllerError&) {
    return false;
  }
  if (!is_expected(tried)) return false;
  result = std::move(tried);
  return true;
}

std::unique_ptr<Simulation> Runner::share(const SharedJobContext& context) {
  shared_profile_ = known_->profiles.of_ranks(wanted());
  JobSetup job = setup();
  job.profile = &*shared_profile_;
  job.shared = &context;
  return std::make_unique<Simulation>(job);
}

JobSetup Runner::setup() const {
  JobSetup job{.scenario = scenario_, .registries = registries_, .cluster = cluster_, .controller = controller_};
  job.needs = needs_;
  job.run = run_;
  job.observers = observers_;
  job.stragglers = stragglers_;
  job.give_up = chosen_.give_up;
  return job;
}

const folding::Folding* Runner::try_fold(std::string& why_not) const {
  const bool as_symmetric = stage_ == Stage::kRehearsal;
  if (!run_.folding) {
    why_not = "the scenario says so";
  } else if (run_.network_accuracy > 0.0) {
    why_not = "the network is not exact: fewer flows would have other errors";
  } else if (!are_fixed(scenario_.stragglers)) {
    why_not = "some ranks are late or slow at random";
  } else if (execution::watch_ranks(observers_)) {
    why_not = "an observer wants to be told of every rank";
  } else {
    why_not = why_not_foldable(cluster_, controller_, factory_, as_symmetric);
  }
  if (!why_not.empty()) return nullptr;
  const std::vector<std::uint32_t> labels = straggler_labels(stragglers_, scenario_.graph.ranks());
  const folding::FoldingAttempt& attempt = known_->foldings.fold(labels, folds_whole());
  why_not = attempt.why_not;
  return attempt.folding ? &*attempt.folding : nullptr;
}

bool Runner::folds_whole() const { return folds_whole_rails(cluster_, factory_, stage_ == Stage::kRehearsal); }

// An error of a job is said of its own ranks: the run is made again for that.
bool Runner::run_folded(const folding::Folding& folding, RunResult& result) const {
  try {
    const std::optional<Profile> profile =
        known_->profiles.of_classes(folding, folds_whole(), wanted(), result.folding.off);
    if (!profile) return false;
    JobSetup job = setup();
    const std::vector<StragglerSpec> stragglers = folded_stragglers(job.stragglers, folding.class_of_rank);
    job.stragglers = stragglers;
    job.folding = &folding;
    job.profile = &*profile;
    Simulation simulation(job);
    simulation.run();
    result.folding.off = simulation.ambiguity().why();
    if (simulation.ambiguity().found()) return false;
    finish(simulation, result);
    return true;
  } catch (const DeadlockError&) {
    result.folding.off = "the job cannot finish";
  } catch (const ControllerError&) {
    result.folding.off = "the controller is in error";
  }
  return false;
}

void Runner::run_unfolded(RunResult& result) const {
  const Profile profile = known_->profiles.of_ranks(wanted());
  JobSetup job = setup();
  job.profile = &profile;
  Simulation simulation(job);
  simulation.run();
  finish(simulation, result);
}

void Runner::finish(Simulation& simulation, RunResult& result) const {
  simulation.report(result);
  if (!chosen_.how.empty()) result.choices.insert(result.choices.begin(), chosen_.how);
}

ProfilingRuns::Wanted Runner::wanted() const {
  if (scenario_.cluster.rail.kind != RailKind::kOptical) return {};
  return {.order = needs_.ranks.announces_any() || needs_.ranks.order == OperationOrder::kScheduled ||
                   needs_.has(ViewPart::kSchedule),
          .slack = needs_.has(ViewPart::kDueTimes),
          .tail = stage_ != Stage::kRun};
}

}  // namespace photonrail::run
