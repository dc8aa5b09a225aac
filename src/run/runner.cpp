#include "run/runner.hpp"

#include "execution/observer_list.hpp"
#include "photonrail/error.hpp"
#include "run/agent_of_job.hpp"
#include "run/foldable.hpp"
#include "run/lower_bound.hpp"

#include <cstdint>
#include <utility>

namespace photonrail::run {

namespace {

// Speeds come last: what a straggler draws depends on its number.
std::vector<StragglerSpec> stragglers_of(const Scenario& scenario, bool rehearsal) {
  std::vector<StragglerSpec> list;
  if (!rehearsal) list = scenario.stragglers;
  for (StragglerSpec& speed : gpu_speeds(scenario.cluster, scenario.gpu_of_rank)) list.push_back(std::move(speed));
  return list;
}

ClusterSpec cluster_of(const Scenario& scenario, bool rehearsal) {
  ClusterSpec cluster = scenario.cluster;
  DelayDistribution& delay = cluster.rail.optical.reconfiguration;
  if (rehearsal) delay = DelayDistribution::constant(delay.typical());
  return cluster;
}

}  // namespace

Runner::Runner(const JobRun& job, const ControllerSpec& controller, RunCaches& caches,
               const std::optional<RehearsalRun>& rehearsal)
    : job_(job),
      factory_(job.registries.controllers.find(controller.name)),
      controller_(factory_.complete(controller)),
      needs_(factory_.needs_of(controller_).with_ports(job.scenario.cluster.nic.ports)),
      rehearsal_(rehearsal),
      stragglers_(stragglers_of(job.scenario, rehearsal.has_value())),
      cluster_(cluster_of(job.scenario, rehearsal.has_value())),
      seen_(seen_by(cluster_, job.scenario.gpu_of_rank)),
      caches_(caches) {}

void Runner::run(RunResult& result) const {
  result.folding.ranks = result.folding.classes = job_.scenario.graph.ranks();
  if (decided()) return run_decided(result);
  if (factory_.bound) {
    const BoundedJob bounded{job_.scenario, cluster_, controller_, job_.run, stragglers_};
    return LowerBound(bounded, job_.registries, job_.observers).run(result);
  }
  const bool whole_rails = folds_whole_rails(cluster_, factory_, as_symmetric());
  if (run_folded(whole_rails, result)) return;
  if (as_symmetric() && !whole_rails && factory_.rail_symmetric && run_folded(true, result)) return;
  run_unfolded(result);
}

std::unique_ptr<Simulation> Runner::share(const SharedJobContext& context) {
  JobSetup job = setup(cluster_);
  job.shared = &context;
  if (decided()) {
    shared_agent_ =
        agent_of_job(job_.scenario.workload->make(job_.scenario, job_.run.seed), context.job, job_.scenario.name);
    job.agent = shared_agent_.get();
    return std::make_unique<Simulation>(job);
  }
  shared_profile_ = caches_.profiles.of_ranks(wanted());
  job.profile = &*shared_profile_;
  return std::make_unique<Simulation>(job);
}

JobSetup Runner::setup(const ClusterSpec& cluster) const {
  JobSetup job{.scenario = job_.scenario, .registries = job_.registries, .cluster = cluster, .controller = controller_};
  job.needs = needs_;
  if (decided()) job.needs.ranks.order = OperationOrder::kFree;  // there is no schedule to follow
  job.run = job_.run;
  if (rehearsal_) job.run.critical_path = false;
  job.observers = job_.observers;
  job.recorded.steps = job_.steps;
  if (!rehearsal_) job.recorded.stood_still = job_.stood_still;
  job.stragglers = stragglers_;
  if (rehearsal_) job.give_up = rehearsal_->give_up;
  return job;
}

const folding::Folding* Runner::try_fold(bool whole_rails, std::string& why_not) const {
  if (!job_.run.folding) {
    why_not = "the scenario says so";
  } else if (job_.run.network_accuracy > 0.0) {
    why_not = "the network is not exact: fewer flows would have other errors";
  } else if (!are_fixed(job_.scenario.stragglers)) {
    why_not = "some ranks are late or slow at random";
  } else if (execution::watch_ranks(job_.observers)) {
    why_not = "an observer wants to be told of every rank";
  } else {
    why_not = why_not_foldable(seen_, controller_, factory_, job_.scenario.graph.ranks(), as_symmetric());
  }
  if (!why_not.empty()) return nullptr;
  const std::vector<std::uint32_t> labels = straggler_labels(stragglers_, job_.scenario.graph.ranks());
  const bool sheets = !whole_rails && may_have_sheets(cluster_, factory_);
  const folding::FoldingAttempt& attempt = caches_.foldings.fold(labels, whole_rails, sheets);
  why_not = attempt.why_not;
  return attempt.folding ? &*attempt.folding : nullptr;
}

void Runner::run_decided(RunResult& result) const {
  result.folding.off = "the workload decides while the run goes on";
  const std::unique_ptr<WorkloadAgent> own =
      job_.agent == nullptr ? job_.scenario.workload->make(job_.scenario, job_.run.seed) : nullptr;
  JobSetup job = setup(cluster_);
  job.agent = own != nullptr ? own.get() : job_.agent;
  Simulation simulation(job);
  simulation.run();
  simulation.report(result);
}

// An error of a job is said of its own ranks: the run is made again for that.
bool Runner::run_folded(bool whole_rails, RunResult& result) const {
  const folding::Folding* const folding = try_fold(whole_rails, result.folding.off);
  if (folding == nullptr) return false;
  try {
    const std::optional<Profile> profile = caches_.profiles.of_classes(*folding, whole_rails, wanted(), result.folding.off);
    if (!profile) return false;
    JobSetup job = setup(seen_);
    const std::vector<StragglerSpec> stragglers = folded_stragglers(job.stragglers, folding->class_of_rank);
    job.stragglers = stragglers;
    job.folding = folding;
    job.profile = &*profile;
    Simulation simulation(job);
    simulation.run();
    result.folding.off = simulation.ambiguity().why();
    if (simulation.ambiguity().found()) return false;
    simulation.report(result);
    result.folding.classes = folding->graph.ranks();
    return true;
  } catch (const DeadlockError&) {
    result.folding.off = "the job cannot finish";
  } catch (const ControllerError&) {
    result.folding.off = "the controller is in error";
  }
  return false;
}

void Runner::run_unfolded(RunResult& result) const {
  const Profile profile = caches_.profiles.of_ranks(wanted());
  JobSetup job = setup(cluster_);
  job.profile = &profile;
  Simulation simulation(job);
  simulation.run();
  simulation.report(result);
}

ProfilingRuns::Wanted Runner::wanted() const {
  if (job_.scenario.cluster.rail.kind != RailKind::kOptical) return {};
  return {.order = needs_.ranks.announces_any() || needs_.ranks.order == OperationOrder::kScheduled ||
                   needs_.has(ViewPart::kSchedule),
          .slack = needs_.has(ViewPart::kDueTimes),
          .tail = rehearsal_.has_value()};
}

}  // namespace photonrail::run
