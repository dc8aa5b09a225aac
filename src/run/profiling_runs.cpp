#include "run/profiling_runs.hpp"

#include "photonrail/error.hpp"
#include "run/foldable.hpp"
#include "run/least_times.hpp"
#include "run/simulation.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace photonrail::run {

namespace {

RunSpec profiling_run(RunSpec run) {
  run.iterations = 1;
  run.fidelity = Fidelity::kStream;
  run.critical_path = false;
  return run;
}

}  // namespace

ClusterSpec on_electrical_rails(const ClusterSpec& cluster) {
  ClusterSpec electrical = cluster;
  electrical.rail = RailSpec{};
  electrical.rail.switch_radix = std::max(2u, electrical.plant().rail_ports());
  return electrical;
}

ProfilingRuns::ProfilingRuns(const Scenario& scenario, const RunSpec& run, const Registries& registries,
                             std::span<Observer* const> observers)
    : scenario_(scenario), run_(profiling_run(run)), registries_(registries), heartbeat_(observers) {}

bool ProfilingRuns::has(Wanted wanted) const {
  if (!recorded_) return false;
  return (!wanted.order || recorded_->profile.order) && (!wanted.slack || recorded_->profile.slack) &&
         (!wanted.tail || recorded_->tail_tried);
}

Profile ProfilingRuns::of_ranks(Wanted wanted) {
  if (!wanted.any()) return {};
  std::string why_not;
  if (!has(wanted) && !record_folded(wanted)) record(nullptr, wanted, why_not);
  if (!recorded_->row_of_rank.empty()) return rows(recorded_->row_of_rank, wanted);
  std::vector<std::uint32_t> every_rank(scenario_.graph.ranks());
  std::iota(every_rank.begin(), every_rank.end(), 0u);
  return rows(every_rank, wanted);
}

// Where equal ranks were told apart by their numbers, the profile of a rank is not that of its class.
std::optional<Profile> ProfilingRuns::of_classes(const folding::Folding& folding, bool whole_rails, Wanted wanted,
                                                 std::string& why_not) {
  if (!wanted.any()) return Profile{};
  const bool known = has(wanted) && !recorded_->row_of_rank.empty();
  const bool recorded = known || (whole_rails && record_folded(wanted));
  if (!recorded && !record(&folding, wanted, why_not)) return std::nullopt;
  std::vector<std::uint32_t> of(folding.graph.ranks());
  for (std::size_t r = folding.class_of_rank.size(); r-- > 0;) of[folding.class_of_rank[r]] = recorded_->row_of_rank[r];
  return rows(of, wanted);
}

// Electrical rails may fold where those of the scenario do not.
bool ProfilingRuns::record_folded(Wanted wanted) {
  if (!run_.folding) return false;
  const ClusterSpec cluster = on_electrical_rails(scenario_.cluster);
  const ControllerSpec controller;
  if (!why_not_foldable(cluster, controller, registries_.controllers.find(controller.name), scenario_.graph.ranks())
           .empty())
    return false;
  const collective::AlgorithmTable algorithms(scenario_.collectives, registries_.collectives);
  const std::vector<std::uint32_t> models = with_gpu_models({}, cluster, scenario_.gpu_of_rank);
  const folding::FoldingAttempt attempt =
      folding::fold({scenario_.graph, scenario_.gpu_of_rank, cluster, algorithms, models});
  std::string why_not;
  try {
    return attempt.folding && record(&*attempt.folding, wanted, why_not);
  } catch (const DeadlockError&) {
    return false;  // what is wrong is said of the job's own ranks
  }
}

bool ProfilingRuns::record(const folding::Folding* folding, Wanted wanted, std::string& why_not) {
  if (recorded_) wanted = {true, wanted.slack || recorded_->profile.slack, wanted.tail || recorded_->tail_tried};
  const ClusterSpec cluster = on_electrical_rails(scenario_.cluster);
  const ControllerSpec controller;
  execution::Schedule order;
  execution::SlackRecorder recorder(folding != nullptr ? folding->graph : scenario_.graph);
  std::vector<Observer*> observers(heartbeat_.list().begin(), heartbeat_.list().end());
  JobSetup job{.scenario = scenario_, .registries = registries_, .cluster = cluster, .controller = controller};
  job.run = run_;
  job.folding = folding;
  job.recorded.order = &order;
  job.shows_classes = wanted.slack || wanted.tail;
  if (job.shows_classes) observers.push_back(&recorder);
  job.observers = observers;
  Simulation simulation(job);
  simulation.run();
  if (simulation.ambiguity().found()) {
    why_not = simulation.ambiguity().why();
    return false;
  }
  Recorded& recorded = recorded_.emplace(Recorded{});  // clang 14 makes none from nothing here
  if (folding != nullptr) recorded.row_of_rank = folding->class_of_rank;
  recorded.profile.order = std::move(order);
  if (wanted.slack) recorded.profile.slack = recorder.profile();
  recorded.tail_tried = wanted.tail;
  if (wanted.tail && folding != nullptr) {
    recorded.profile.tail = tail_bound(recorder, scenario_, registries_, *folding);
  }
  return true;
}

Profile ProfilingRuns::rows(const std::vector<std::uint32_t>& of, Wanted wanted) const {
  Profile profile;
  if (wanted.order) {
    profile.order.emplace().reserve(of.size());
    for (const std::uint32_t row : of) profile.order->push_back((*recorded_->profile.order)[row]);
  }
  if (wanted.slack) {
    const execution::SlackProfile& slack = *recorded_->profile.slack;
    profile.slack.emplace().step = slack.step;
    profile.slack->times.reserve(of.size());
    for (const std::uint32_t row : of) profile.slack->times.push_back(slack.times[row]);
  }
  if (wanted.tail && recorded_->profile.tail) {
    const execution::TailBound& tail = *recorded_->profile.tail;
    profile.tail.emplace().step = tail.step;
    for (const std::uint32_t row : of) profile.tail->after.push_back(tail.after[row]);
  }
  return profile;
}

}  // namespace photonrail::run
