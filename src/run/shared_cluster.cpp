#include "run/shared_cluster.hpp"

#include "core/checked.hpp"
#include "core/field.hpp"
#include "execution/mean.hpp"
#include "execution/observer_list.hpp"
#include "execution/time_accounting.hpp"
#include "photonrail/error.hpp"
#include "photonrail/workload/agent.hpp"
#include "run/decided_workload.hpp"
#include "run/foldable.hpp"
#include "run/plausibility.hpp"
#include "run/rehearsals.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace photonrail::run {

using core::checked_sum;
using fabric::SharedFabric;
using topology::Plant;

namespace {

/// All jobs as one, to look at: ranks and communicators one job after another.
Scenario side_by_side(const Scenario& scenario) {
  Scenario all = scenario;
  std::vector<const TaskGraph*> graphs;
  std::vector<std::string> names;
  for (const JobSpec& job : scenario.jobs) {
    graphs.push_back(&job.graph);
    names.push_back(job.name);
    all.gpu_of_rank.insert(all.gpu_of_rank.end(), job.gpu_of_rank.begin(), job.gpu_of_rank.end());
  }
  all.graph = TaskGraph::side_by_side(graphs, names);
  all.run.iterations = 1;
  for (const JobSpec& job : scenario.jobs) all.run.iterations = std::max(all.run.iterations, job.run.iterations);
  return all;
}

/// Tells observers of one job's ranks, communicators and operations by their numbers among all jobs.
class JobObserver : public Observer {
 public:
  JobObserver(std::span<Observer* const> observers, const Scenario& all, std::size_t job)
      : observers_(observers), job_(job), jobs_(all.jobs.size()), decided_(all.jobs[job].workload != nullptr) {
    for (std::size_t j = 0; j < jobs_; ++j) {
      const TaskGraph& graph = all.jobs[j].graph;
      if (j < job) ranks_ += graph.ranks();
      if (j < job) communicators_ += graph.communicators().size();
      all_communicators_ += graph.communicators().size();
    }
  }

  void compute(const ComputeEvent& event) override {
    ComputeEvent told = event;
    told.rank = among_all(event.rank);
    told.launch = launch_among_all(event.launch);
    notify([&](Observer& observer) { observer.compute(told); });
  }
  void operation(const OperationEvent& event) override {
    OperationEvent told = event;
    told.rank = among_all(event.rank);
    told.communicator = among_all(event.communicator);
    told.launch = launch_among_all(event.launch);
    told.sequence = static_cast<std::uint32_t>(event.sequence * jobs_ + job_);
    notify([&](Observer& observer) { observer.operation(told); });
  }
  void circuit(const CircuitEvent& event) override {
    CircuitEvent told = event;
    if (!event.serves.is_none()) told.serves = among_all(event.serves);
    notify([&](Observer& observer) { observer.circuit(told); });
  }
  void communicator(CommunicatorId id, const Communicator& group) override {
    Communicator told = group;
    for (RankId& member : told.members) member = among_all(member);
    notify([&](Observer& observer) { observer.communicator(among_all(id), told); });
  }
  void launched(const LaunchEvent& event) override {
    notify_launch(event, [](Observer& observer, const LaunchEvent& told) { observer.launched(told); });
  }
  void launch_done(const LaunchEvent& event) override {
    notify_launch(event, [](Observer& observer, const LaunchEvent& told) { observer.launch_done(told); });
  }
  void iteration(RankId rank, std::uint32_t finished, Time at) override {
    notify([&](Observer& observer) { observer.iteration(among_all(rank), finished, at); });
  }

 private:
  [[nodiscard]] RankId among_all(RankId rank) const { return RankId{ranks_ + rank.index()}; }
  // Communicators of launches come behind those of all graphs, in turn.
  [[nodiscard]] CommunicatorId among_all(CommunicatorId id) const {
    return CommunicatorId{decided_ ? all_communicators_ + id.index() * jobs_ + job_ : communicators_ + id.index()};
  }
  [[nodiscard]] std::uint32_t launch_among_all(std::uint32_t launch) const {
    return launch == kNoLaunch ? launch : static_cast<std::uint32_t>(launch * jobs_ + job_);
  }
  template <class Tell>
  void notify_launch(const LaunchEvent& event, Tell&& tell) {
    std::vector<RankId> ranks;
    for (const RankId rank : event.ranks) ranks.push_back(among_all(rank));
    LaunchEvent told = event;
    told.launch = launch_among_all(event.launch);
    told.ranks = ranks;
    notify([&](Observer& observer) { tell(observer, told); });
  }
  template <class Tell>
  void notify(Tell&& notify) {
    for (Observer* observer : observers_) notify(*observer);
  }

  std::span<Observer* const> observers_;
  std::size_t job_;
  std::size_t jobs_;
  bool decided_;                       // an agent decides the job's workload
  std::size_t ranks_ = 0;              // of the jobs before
  std::size_t communicators_ = 0;      // of the jobs before
  std::size_t all_communicators_ = 0;  // of the graphs of all jobs
};

// A job without a controller of its own has that of the whole scenario.
core::Field holder_of_controller(const Scenario& scenario, std::size_t job) {
  const bool own = scenario.jobs[job].controller.describe() != scenario.controller.describe();
  return own ? core::field("jobs[]", job) : core::Field();
}

std::vector<Scenario> each_alone(const Scenario& scenario) {
  std::vector<Scenario> jobs;
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) jobs.push_back(scenario.alone(j));
  return jobs;
}

std::vector<GpuId> gpus_of(const Scenario& scenario) {
  std::vector<GpuId> gpus;
  for (const JobSpec& job : scenario.jobs) gpus.insert(gpus.end(), job.gpu_of_rank.begin(), job.gpu_of_rank.end());
  return gpus;
}

/// The jobs in motion.
class Jobs {
 public:
  /// `alone`: each_alone() of the scenario. All must outlive the object.
  Jobs(const Scenario& scenario, std::span<const Scenario> alone, std::span<Observer* const> observers,
       const Registries& registries)
      : scenario_(scenario),
        alone_(alone),
        observers_(observers),
        registries_(registries),
        plant_(scenario.cluster.plant()),
        shared_(engine_, scenario.cluster, plant_, {scenario.run.seed, scenario.run.network_accuracy}, gpus_of(scenario)),
        watched_(execution::watch_ranks(observers)) {
    jobs_.reserve(scenario.jobs.size());
    std::vector<std::span<const GpuId>> gpus;
    for (const JobSpec& job : scenario.jobs) gpus.emplace_back(job.gpu_of_rank);
    shared_.seat(gpus);
  }

  /// Rehearses and profiles each job alone, and builds it beside the others.
  void prepare() {
    for (std::size_t j = 0; j < alone_.size(); ++j) {
      const Scenario& job = alone_[j];
      Job& made =
          *jobs_.emplace_back(std::make_unique<Job>(Job{JobObserver(observers_, scenario_, j), {}, {}, {}, {}, {}}));
      made.observer_list.assign(watched_ ? 1 : 0, &made.observer);
      made.context.emplace(
          SharedJobContext{engine_, shared_, static_cast<std::uint32_t>(j), holder_of_controller(scenario_, j)});
      const JobRun of_job{job, registries_, job.run, made.observer_list};
      made.caches.emplace(of_job);
      const ControllerSpec controller = Rehearsals(of_job, *made.caches).choose_confirmed().controller;
      made.runner.emplace(of_job, controller, *made.caches);
      made.simulation = made.runner->share(*made.context);
    }
  }

  void run() {
    if (watched_) shown_ = side_by_side(scenario_);
    for (Observer* observer : observers_) observer->begin(watched_ ? shown_ : scenario_);
    for (std::size_t j = 0; j < jobs_.size(); ++j) jobs_[j]->simulation->begin_at(scenario_.jobs[j].start);
    do {
      while (engine_.run(kEventsBetweenProgress) > 0) tell_progress();
    } while (stand_still());
    std::vector<std::string> stuck;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (jobs_[j]->simulation->finished()) continue;
      for (const std::string& line : jobs_[j]->simulation->stuck()) stuck.push_back(scenario_.jobs[j].name + ": " + line);
    }
    if (!stuck.empty()) throw DeadlockError(std::move(stuck));
  }

  void report(RunResult& result) {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      RunResult& of = result.jobs.emplace_back();
      of.name = alone_[j].name;
      of.seed = alone_[j].run.seed;
      of.warnings = job_warnings(alone_[j], scenario_.cluster);
      describe(alone_[j], registries_, of);
      of.folding.ranks = of.folding.classes = alone_[j].graph.ranks();
      of.folding.off = "several jobs share the cluster";
      jobs_[j]->simulation->report(of);
      result.makespan = std::max(result.makespan, (of.start + of.makespan).since_start());
    }
    result.engine.events = engine_.events_run();
    result.engine.sends = shared_.network().messages();
    result.engine.network_accuracy = scenario_.run.network_accuracy;
    result.engine.epochs = shared_.network().epochs().epochs();
    result.engine.flows_in_epochs = shared_.network().epochs().flows();
    for (Observer* observer : observers_) observer->end(Time{result.makespan});
  }

 private:
  struct Job {
    JobObserver observer;
    std::vector<Observer*> observer_list;
    std::optional<SharedJobContext> context;
    std::optional<RunCaches> caches;
    std::optional<Runner> runner;
    std::unique_ptr<Simulation> simulation;
  };

  // Returns true when some job that is not done has controllers that look again.
  bool stand_still() {
    bool again = false;
    for (const auto& job : jobs_) again |= !job->simulation->finished() && job->simulation->stand_still();
    return again;
  }

  void tell_progress() {
    std::uint64_t done = 0;
    std::uint64_t of = 0;
    for (const auto& job : jobs_) {
      done += job->simulation->tasks_done();
      of += job->simulation->tasks();
    }
    for (Observer* observer : observers_) observer->progress(done, of, engine_.now());
  }

  const Scenario& scenario_;
  std::span<const Scenario> alone_;
  std::span<Observer* const> observers_;
  const Registries& registries_;
  engine::Engine engine_;
  const Plant plant_;
  SharedFabric shared_;
  bool watched_;
  Scenario shown_;  // what the observers were told of at the beginning, until they are told of the end
  std::vector<std::unique_ptr<Job>> jobs_;
};

void add(const ReconfigurationSummary& of, ReconfigurationSummary& sum) {
  sum.count += of.count;
  sum.per_rail.resize(std::max(sum.per_rail.size(), of.per_rail.size()));
  for (std::size_t r = 0; r < of.per_rail.size(); ++r) sum.per_rail[r] += of.per_rail[r];
  sum.dark_port += of.dark_port;
  sum.total += of.total;
  sum.exposed += of.exposed;
  sum.circuits += of.circuits;
  if (of.blocking) {
    if (!sum.blocking) sum.blocking.emplace();
    *sum.blocking += *of.blocking;
  }
  for (const auto& [change, totals] : of.by_change) {
    CommandTotals& all = sum.by_change[change];
    all.count += totals.count;
    all.circuits += totals.circuits;
    all.total += totals.total;
    all.exposed += totals.exposed;
  }
}

// Weighs by the capacity of all ranks, over the whole run.
void add_utilisation(const RunResult& job, const RunResult& all, std::size_t ranks, std::optional<Utilisation>& sum) {
  if (!job.utilisation || all.makespan <= Duration{}) return;
  const double share = static_cast<double>(job.ranks.size()) / static_cast<double>(ranks) * to_seconds(job.makespan) /
                       to_seconds(all.makespan);
  Utilisation& into = sum ? *sum : sum.emplace();
  into.rail_ports += share * job.utilisation->rail_ports;
  into.scale_up += share * job.utilisation->scale_up;
  into.switching += share * job.utilisation->switching;
}

// Sums up what the jobs say, as far as it is so of all together.
void sum_up(RunResult& result) {
  std::size_t ranks = 0;
  result.folding = {};
  for (const RunResult& job : result.jobs) {
    ranks += job.ranks.size();
    result.folding.ranks += job.folding.ranks;
    result.folding.classes += job.folding.classes;
  }
  if (result.folding.classes == result.folding.ranks) result.folding.off = result.jobs.front().folding.off;
  std::vector<execution::Mean> busy(kDimensionCount, execution::Mean(ranks));
  std::vector<execution::Mean> exposed = busy;
  std::vector<execution::Mean> waited = busy;
  Bytes all_bytes{};
  for (const RunResult& job : result.jobs) {
    for (RankTime rank : job.ranks) {
      // Before its job began, and after it was over.
      (job.launches.empty() ? rank.peer_wait : rank.idle) += result.makespan - job.makespan;
      result.ranks.push_back(rank);
    }
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      all_bytes = checked_sum(all_bytes, job.traffic[d].bytes);
      result.traffic[d].bytes += job.traffic[d].bytes;
      result.traffic[d].operations += job.traffic[d].operations;
      busy[d].add(job.traffic[d].busy, static_cast<std::int64_t>(job.ranks.size()));
      exposed[d].add(job.traffic[d].exposed, static_cast<std::int64_t>(job.ranks.size()));
      waited[d].add(job.traffic[d].reconfiguration_wait, static_cast<std::int64_t>(job.ranks.size()));
    }
    for (const auto& [dimension, times] : job.operation_times) result.operation_times[dimension].merge(times);
    for (const auto& [dimension, times] : job.circuit_waits) result.circuit_waits[dimension].merge(times);
    add_utilisation(job, result, ranks, result.utilisation);
    add(job.reconfigurations, result.reconfigurations);
    if (job.start + job.makespan == Time{result.makespan}) {
      result.reconfigurations.critical_path = job.reconfigurations.critical_path;
    }
    for (const auto& [change, lengths] : job.windows) {
      std::vector<WindowCount>& all = result.windows[change];
      all.insert(all.end(), lengths.begin(), lengths.end());
    }
    for (const std::string& line : job.warnings) result.warnings.push_back(job.name + ": " + line);
    for (const std::string& line : job.choices) result.choices.push_back(job.name + ": " + line);
  }
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    result.traffic[d].busy = busy[d].value();
    result.traffic[d].exposed = exposed[d].value();
    result.traffic[d].reconfiguration_wait = waited[d].value();
  }
  for (auto& [change, lengths] : result.windows) execution::merge_equal(lengths);
}

// Bounds and runs cannot share a cluster.
bool are_bounds(const Scenario& scenario, const Registries& registries) {
  std::size_t bounds = 0;
  for (const JobSpec& job : scenario.jobs) bounds += registries.controllers.find(job.controller.name).bound ? 1 : 0;
  if (bounds == 0 || bounds == scenario.jobs.size()) return bounds > 0;
  throw core::FieldError(core::field("controller.name"),
                         "some jobs have a bound in place of a policy, and others have a policy",
                         "give all of them the bound, or none");
}

void check_each_decided(std::span<const Scenario> alone, const Registries& registries) {
  for (std::size_t j = 0; j < alone.size(); ++j) {
    const Scenario& job = alone[j];
    if (job.workload == nullptr) continue;
    const auto agent = job.workload->make(job, job.run.seed);
    core::check_member(core::field("jobs[]", j), [&] { check_decided(job, *agent, registries); });
  }
}

/// Tells the observers of a run how far it is, and nothing else.
class ProgressObserver : public Observer {
 public:
  explicit ProgressObserver(std::span<Observer* const> observers) : observers_(observers) {}

  [[nodiscard]] bool needs_every_rank() const override { return false; }
  void progress(std::uint64_t done, std::uint64_t of, Time simulated) override {
    for (Observer* observer : observers_) observer->progress(done, of, simulated);
  }

 private:
  std::span<Observer* const> observers_;
};

// Jobs meet at capacities of the network, at switches and at controllers. On servers of their own they do not where what a
// folding asks of rails and policies holds: ports are the only capacities, a switch serves each port by itself, and no
// request waits for another's controller. Each job then runs as if it were alone, from its start on.
bool are_apart(std::span<const Scenario> alone, std::span<Observer* const> observers, const Registries& registries) {
  if (execution::watch_ranks(observers)) return false;
  std::vector<bool> taken(alone.front().cluster.servers, false);
  for (const Scenario& job : alone) {
    if (job.workload != nullptr || !job.run.folding || job.run.network_accuracy > 0.0) return false;
    if (job.start != Time{} && !job.stragglers.empty()) return false;  // some begin at a time of the cluster
    const ControllerFactory& factory = registries.controllers.find(job.controller.name);
    const ControllerSpec controller = factory.complete(job.controller);
    if (!why_not_foldable(seen_by(job.cluster, job.gpu_of_rank), controller, factory, job.graph.ranks()).empty())
      return false;
    std::vector<bool> own(taken.size(), false);
    for (const GpuId gpu : job.gpu_of_rank) {
      const std::size_t server = gpu.index() / job.cluster.gpus_per_server;
      if (server >= own.size() || taken[server]) return false;
      own[server] = true;
    }
    for (std::size_t s = 0; s < own.size(); ++s) taken[s] = taken[s] || own[s];
  }
  return true;
}

// For jobs that are apart; and for bounds, since one that holds for a job that is alone holds for it among others. False:
// no event of a job was left and its controllers had another look, which among others they have when no job has one left.
bool run_each_alone(std::span<const Scenario> alone, std::span<Observer* const> observers, const Registries& registries,
                    RunResult& result) {
  ProgressObserver progress(observers);
  Observer* const told = &progress;
  bool stood_still = false;
  for (const Scenario& job : alone) {
    RunResult& of = result.jobs.emplace_back();
    of.name = job.name;
    of.seed = job.run.seed;
    of.warnings = job_warnings(job, job.cluster);
    describe(job, registries, of);
    RunSpec run = job.run;
    run.critical_path = false;  // jobs that share a cluster have no path of their own
    run_job({job, registries, run, {&told, 1}, nullptr, nullptr, &stood_still}, of);
    of.start = job.start;
    of.alone = of.makespan;
    result.makespan = std::max(result.makespan, (of.start + of.makespan).since_start());
    result.engine.events += of.engine.events;
    result.engine.sends += of.engine.sends;
  }
  sum_up(result);
  return !stood_still;
}

// False: the jobs meet, or one of them stands still. What the error says is then said of all jobs together.
bool run_apart(const Scenario& scenario, std::span<const Scenario> alone, std::span<Observer* const> observers,
               const Registries& registries, RunResult& result) {
  if (!are_apart(alone, observers, registries)) return false;
  for (Observer* observer : observers) observer->begin(scenario);
  RunResult apart = result;
  try {
    if (!run_each_alone(alone, observers, registries, apart)) return false;
  } catch (const DeadlockError&) {
    return false;
  } catch (const ControllerError&) {
    return false;
  } catch (const core::FieldError&) {
    return false;
  }
  for (Observer* observer : observers) observer->end(Time{apart.makespan});
  result = std::move(apart);
  return true;
}

}  // namespace

void run_jobs(const Scenario& scenario, std::span<Observer* const> observers, const Registries& registries,
              RunResult& result) {
  const std::vector<Scenario> alone = each_alone(scenario);
  const bool bounds = are_bounds(scenario, registries);
  check_each_decided(alone, registries);
  if (bounds) {
    (void)run_each_alone(alone, {}, registries, result);
    return;
  }
  if (run_apart(scenario, alone, observers, registries, result)) return;
  Jobs jobs(scenario, alone, observers, registries);
  jobs.prepare();
  jobs.run();
  jobs.report(result);
  for (std::size_t j = 0; j < alone.size(); ++j) {
    RunResult without_others;
    run_job({alone[j], registries, alone[j].run}, without_others);
    result.jobs[j].alone = without_others.makespan;
  }
  sum_up(result);
}

}  // namespace photonrail::run
