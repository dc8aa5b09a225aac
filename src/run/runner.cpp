#include "run/runner.hpp"

#include "photonrail/error.hpp"
#include "run/foldable.hpp"
#include "run/lower_bound.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace photonrail::run {

namespace {

bool is_watched(std::span<Observer* const> observers) {
  return std::any_of(observers.begin(), observers.end(),
                     [](const Observer* observer) { return observer->needs_every_rank(); });
}

RunSpec without_folding(RunSpec run) {
  run.folding = false;
  return run;
}

// Speeds come last: what a straggler draws depends on its number.
std::vector<StragglerSpec> stragglers_of(const Scenario& scenario, bool rehearsal) {
  std::vector<StragglerSpec> list;
  if (!rehearsal) list = scenario.stragglers;
  for (StragglerSpec& speed : gpu_speeds(scenario.cluster, scenario.gpu_of_rank)) list.push_back(std::move(speed));
  return list;
}

}  // namespace

Runner::Runner(const Scenario& scenario, const RunSpec& run, std::span<Observer* const> observers,
               const Registries& registries)
    : Runner(scenario, run, rehearse(scenario, run, registries, check_of(scenario, observers)), false, registries) {
  observers_ = observers;
}

std::unique_ptr<Runner> Runner::for_sharing(const Scenario& scenario, const RunSpec& run,
                                            std::span<Observer* const> observers, const Registries& registries) {
  Chosen chosen = rehearse(scenario, run, registries, Check::kRehearsal);
  std::unique_ptr<Runner> runner(new Runner(scenario, run, std::move(chosen), false, registries));
  runner->observers_ = observers;
  return runner;
}

Runner::Runner(const Scenario& scenario, const RunSpec& run, Chosen chosen, bool rehearsal, const Registries& registries)
    : scenario_(scenario),
      run_(run),
      registries_(registries),
      factory_(registries.controllers.find(chosen.spec.name)),
      chosen_(std::move(chosen)),
      controller_(factory_.complete(chosen_.spec)),
      needs_(factory_.needs_of(controller_).with_ports(scenario.cluster.nic.ports)),
      rehearsal_(rehearsal),
      stragglers_(stragglers_of(scenario, rehearsal)),
      cluster_(scenario.cluster),
      known_(chosen_.known) {
  DelayDistribution& delay = cluster_.rail.optical.reconfiguration;
  if (rehearsal) delay = DelayDistribution::constant(delay.typical());
}

// Tries the specifications that the scenario's policy wants to choose from; its own when it wants none. A try that cannot
// finish is none.
//
// A rehearsal may be of the folded job, although a policy that rehearses need not treat equal ranks equally (`symmetric`):
// it ranks the ways, and the run itself is of every rank. That the folded rehearsal tells the truth is checked where it
// matters, on the way that it chose: if that takes another time with every rank, all ways are rehearsed with every rank.
// Where the run differs from such a rehearsal in nothing, it is the check.
Runner::Chosen Runner::rehearse(const Scenario& scenario, const RunSpec& run, const Registries& registries, Check check) {
  const ControllerFactory& factory = registries.controllers.find(scenario.controller.name);
  if (factory.rehearse == nullptr || scenario.cluster.rail.kind != RailKind::kOptical) return {scenario.controller, {}};
  std::vector<ControllerSpec> specs = factory.rehearse(factory.complete(scenario.controller));
  std::erase_if(specs, [&](const ControllerSpec& spec) { return !registries.controllers.knows(spec.name); });
  Rehearsals all{scenario, run, registries, {}};
  std::optional<Rehearsal> best = all.best_of(specs);
  std::optional<Duration> expected;
  if (best && best->folded && !registries.controllers.find(best->spec.name).rank_symmetric) {
    all.run.folding = false;
    if (check == Check::kRun) {
      expected = best->makespan;
    } else if (all.makespan_of(best->spec) != best->makespan) {
      best = all.best_of(specs);
    }
  }
  all.known.order = nullptr;  // of ranks without stragglers, which fold otherwise than with them
  if (!best) return {scenario.controller, {}, all.known};
  return {best->spec,
          factory.name + " rehearsed " + std::to_string(specs.size()) + " ways and took number " +
              std::to_string(best->number) + ", " + best->spec.describe(),
          all.known, expected};
}

Runner::Check Runner::check_of(const Scenario& scenario, std::span<Observer* const> observers) {
  const bool drawn = scenario.cluster.rail.optical.reconfiguration.kind != DelayDistribution::Kind::kConstant;
  const bool differs = drawn || !scenario.stragglers.empty() || is_watched(observers);
  return differs ? Check::kRehearsal : Check::kRun;
}

std::optional<Runner::Rehearsal> Runner::Rehearsals::best_of(const std::vector<ControllerSpec>& specs) {
  std::optional<Rehearsal> best;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    RunResult trial;
    const std::optional<Time> give_up = best ? std::optional(Time{} + best->makespan) : std::nullopt;
    const std::optional<Duration> makespan = makespan_of(specs[i], give_up, &trial);
    if (!makespan || (best && *makespan >= best->makespan)) continue;
    best = Rehearsal{specs[i], i + 1, *makespan, trial.folding.classes < trial.folding.ranks};
  }
  return best;
}

std::optional<Duration> Runner::Rehearsals::makespan_of(const ControllerSpec& spec, std::optional<Time> give_up,
                                                        RunResult* result) {
  RunResult own;
  RunResult& trial = result != nullptr ? *result : own;
  try {
    Runner runner(scenario, run, {spec, {}, known, {}, give_up}, true, registries);
    runner.run(trial);
    known = runner.known_;
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
  const folding::FoldingAttempt attempt = try_fold();
  result.folding.off = attempt.why_not;
  if (attempt.folding) {
    RunResult folded = result;
    if (run_folded(*attempt.folding, folded)) {
      result = std::move(folded);
      result.folding.classes = attempt.folding->graph.ranks();
      return;
    }
    result.folding.off = folded.folding.off;
  }
  if (run_confirms(result)) return;
  const RunSpec every_rank = without_folding(run_);
  Runner again(scenario_, run_, rehearse(scenario_, every_rank, registries_, Check::kRehearsal), false, registries_);
  again.observers_ = observers_;
  again.run(result);
}

// Every rank is run. False: it contradicts the folded rehearsal that chose the way, and `result` is as before.
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
  if (tried.makespan != *chosen_.expected) return false;
  result = std::move(tried);
  return true;
}

std::unique_ptr<Simulation> Runner::share(const SharedJobContext& context) {
  shared_profile_ = profile();
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

folding::FoldingAttempt Runner::try_fold() const {
  if (!run_.folding) return {std::nullopt, "the scenario says so"};
  if (run_.network_accuracy > 0.0) return {std::nullopt, "the network is not exact: fewer flows would have other errors"};
  if (!are_fixed(scenario_.stragglers)) return {std::nullopt, "some ranks are late or slow at random"};
  if (is_watched(observers_)) return {std::nullopt, "an observer wants to be told of every rank"};
  const std::span<const StragglerSpec> stragglers = setup().stragglers;
  return fold_on(cluster_, controller_, straggler_labels(stragglers, scenario_.graph.ranks()));
}

folding::FoldingAttempt Runner::fold_on(const ClusterSpec& cluster, const ControllerSpec& controller,
                                        std::span<const std::uint32_t> labels) const {
  std::string why = why_not_foldable(cluster, controller, registries_.controllers.find(controller.name), rehearsal_);
  if (!why.empty()) return {std::nullopt, std::move(why)};
  const collective::AlgorithmTable algorithms(scenario_.collectives, registries_.collectives);
  const std::vector<std::uint32_t> alike = with_gpu_models(labels, cluster, scenario_.gpu_of_rank);
  return folding::fold({scenario_.graph, scenario_.gpu_of_rank, cluster, algorithms, alike});
}

// What is wrong with a job is said of its own ranks: the run is made again for that.
bool Runner::run_folded(const folding::Folding& folding, RunResult& result) const {
  try {
    Profile profile;
    if (follows_a_schedule()) profile.order = order_of_classes(folding, result.folding.off);
    if (follows_a_schedule() && !profile.order) return false;
    if (wants_slack()) profile.slack = slack_of_classes(folding);
    JobSetup job = setup();
    const std::vector<StragglerSpec> stragglers = folded_stragglers(job.stragglers, folding.class_of_rank);
    job.stragglers = stragglers;
    job.folding = &folding;
    job.profile = &profile;
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
  const Profile wanted = profile();
  JobSetup job = setup();
  job.profile = &wanted;
  Simulation simulation(job);
  simulation.run();
  finish(simulation, result);
}

void Runner::finish(Simulation& simulation, RunResult& result) const {
  simulation.report(result);
  if (!chosen_.how.empty()) result.choices.insert(result.choices.begin(), chosen_.how);
}

// ---- profiling runs

Profile Runner::profile() const {
  Profile profile;
  if (follows_a_schedule()) profile.order = profile_order_unfolded();
  if (wants_slack()) profile.slack = profile_slack();
  return profile;
}

bool Runner::wants_slack() const {
  return needs_.has(ViewPart::kDueTimes) && scenario_.cluster.rail.kind == RailKind::kOptical;
}

// Ranks of one class have the same times.
execution::SlackProfile Runner::slack_of_classes(const folding::Folding& folding) const {
  const execution::SlackProfile& of_ranks = profile_slack();
  execution::SlackProfile of_classes;
  of_classes.step = of_ranks.step;
  of_classes.times.resize(folding.graph.ranks());
  for (std::size_t r = folding.class_of_rank.size(); r-- > 0;) {
    of_classes.times[folding.class_of_rank[r]] = of_ranks.times[r];
  }
  return of_classes;
}

namespace {

RunSpec profiling_run(RunSpec run) {
  run.iterations = 1;
  run.fidelity = Fidelity::kStream;
  return run;
}

}  // namespace

std::optional<execution::Schedule> Runner::profile_order(const folding::Folding* folding, std::string& why_not) const {
  const ClusterSpec cluster = electrical();
  const ControllerSpec controller;
  execution::Schedule order;
  JobSetup job{.scenario = scenario_, .registries = registries_, .cluster = cluster, .controller = controller};
  job.run = profiling_run(run_);
  job.folding = folding;
  job.recorded = &order;
  Simulation simulation(job);
  simulation.run();
  if (!simulation.ambiguity().found()) return order;
  why_not = simulation.ambiguity().why();
  return std::nullopt;
}

// Once for all rehearsals: which ranks fold depends on the job and its cluster, and not on the way that is rehearsed.
std::optional<execution::Schedule> Runner::order_of_classes(const folding::Folding& folding, std::string& why_not) const {
  if (known_.order == nullptr) {
    std::optional<execution::Schedule> order = profile_order(&folding, why_not);
    if (!order) return std::nullopt;
    known_.order = std::make_shared<const execution::Schedule>(*std::move(order));
  }
  return *known_.order;
}

// Electrical rails may fold where those of the scenario do not.
execution::Schedule Runner::profile_order_unfolded() const {
  std::string why_not;
  if (!run_.folding) return *profile_order(nullptr, why_not);
  try {
    const folding::FoldingAttempt attempt = fold_on(electrical(), ControllerSpec{});
    const auto of_class = attempt.folding ? profile_order(&*attempt.folding, why_not) : std::nullopt;
    if (of_class) {
      execution::Schedule order;
      for (const std::uint32_t c : attempt.folding->class_of_rank) order.push_back((*of_class)[c]);
      return order;
    }
  } catch (const DeadlockError&) {
  }
  return *profile_order(nullptr, why_not);
}

// Once for all rehearsals and the run: it depends on the job and its electrical rails alone.
const execution::SlackProfile& Runner::profile_slack() const {
  if (known_.slack != nullptr) return *known_.slack;
  std::optional<execution::SlackProfile> slack = profile_slack_folded();
  if (!slack) slack = record_slack(nullptr);
  known_.slack = std::make_shared<const execution::SlackProfile>(*std::move(slack));
  return *known_.slack;
}

// Equal ranks have equal times. None: the electrical run does not fold.
std::optional<execution::SlackProfile> Runner::profile_slack_folded() const {
  if (!run_.folding) return std::nullopt;
  try {
    const folding::FoldingAttempt attempt = fold_on(electrical(), ControllerSpec{});
    if (!attempt.folding) return std::nullopt;
    std::optional<execution::SlackProfile> of_class = record_slack(&*attempt.folding);
    if (!of_class) return std::nullopt;
    execution::SlackProfile slack;
    slack.step = of_class->step;
    for (const std::uint32_t c : attempt.folding->class_of_rank) slack.times.push_back(of_class->times[c]);
    return slack;
  } catch (const DeadlockError&) {
    return std::nullopt;  // what is wrong is said of the job's own ranks
  }
}

// None: the folded run is ambiguous.
std::optional<execution::SlackProfile> Runner::record_slack(const folding::Folding* folding) const {
  const ClusterSpec cluster = electrical();
  const ControllerSpec controller;
  execution::SlackRecorder recorder(folding != nullptr ? folding->graph : scenario_.graph);
  Observer* const observers[] = {&recorder};
  JobSetup job{.scenario = scenario_, .registries = registries_, .cluster = cluster, .controller = controller};
  job.run = profiling_run(run_);
  job.observers = observers;
  job.folding = folding;
  job.shows_classes = true;
  Simulation simulation(job);
  simulation.run();
  if (simulation.ambiguity().found()) return std::nullopt;
  return recorder.foresight();
}

bool Runner::follows_a_schedule() const {
  const bool wanted =
      needs_.ranks.announces_any() || needs_.ranks.order == OperationOrder::kScheduled || needs_.has(ViewPart::kSchedule);
  return scenario_.cluster.rail.kind == RailKind::kOptical && wanted;
}

ClusterSpec Runner::electrical() const {
  ClusterSpec cluster = scenario_.cluster;
  cluster.rail = RailSpec{};
  cluster.rail.switch_radix = std::max(2u, cluster.plant().rail_ports());
  return cluster;
}

}  // namespace photonrail::run
