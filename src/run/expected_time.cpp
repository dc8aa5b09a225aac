#include "run/expected_time.hpp"

#include "collective/algorithm_table.hpp"
#include "control/decision_work.hpp"
#include "folding/folding.hpp"
#include "run/foldable.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

namespace photonrail::run {

namespace {

// Measured: training jobs of 64 to 1,024 GPUs under Opus with every rank, late by draws or not, stream and exact: 0.04 to
// 0.08 us a task and its operation; exact all-reduce among 512, half a million sends: 0.08 s; rings that are served pair by
// pair: 0.3 to 0.9 us a send. control::DecisionWork has what members that exchange with each other cost a policy.
constexpr double kSecondsASend = 0.1e-6;
constexpr double kSecondsAPair = 0.5e-6;  // of a send that is served pair by pair
constexpr double kSecondsATask = 0.09e-6;
constexpr double kSecondsATaskMade = 0.9e-6;  // of each program, when the graph is made
constexpr double kSecondsARank = 3e-6;        // to make the graph and to fold it: ranks share programs
constexpr double kOpenSends = 0.05;           // share of sends between stages that are open beside other operations
constexpr double kSmall = 0.002;              // seconds: less is not worth a closer look, even for many points

/// Describes how operations run.
struct OperationWork {
  bool by_send = false;  ///< every send of a collective
  bool by_pair = false;  ///< over circuits or ways of its own; tp is taken to stay inside servers
  control::DecisionWork decisions{.send_s = 0.0};
};

/// Returns what the policy's decisions for a send of the operation cost.
double seconds_to_decide(const OperationWork& work, const Communicator& group, bool ring) {
  if (ring || group.point_to_point || group.dimension == Dimension::kTp) return 0.0;
  return work.decisions.send_s * std::pow(static_cast<double>(group.members.size()) / 64.0, work.decisions.growth);
}

/// Returns what operations of one group cost because those of others of the rank may be open at the same time.
double seconds_of_backlog(const Scenario& job, RankId rank, const OperationWork& work) {
  if (work.decisions.backlog_s == 0.0) return 0.0;
  std::map<CommunicatorId, double> calls;
  double all = 0.0;
  for (const Task& task : job.graph.program(rank).tasks()) {
    if (task.kind == TaskKind::kCompute) continue;
    const CommunicatorId id = job.graph.communicator(rank, task.slot);
    const Communicator& group = job.graph.communicators()[id.index()];
    if (group.dimension == Dimension::kTp) continue;
    const double share = group.point_to_point ? kOpenSends : 1.0;
    calls[id] += share;
    all += share;
  }
  double pairs = 0.0;
  for (const auto& [id, count] : calls) pairs += count * (all - count);
  return work.decisions.backlog_s * pairs * job.cluster.servers;
}

/// Returns what one step of a rank comes to.
double seconds_of_step(const Scenario& job, RankId rank, OperationWork work) {
  const TaskGraph& graph = job.graph;
  double seconds = 0.0;
  for (const Task& task : graph.program(rank).tasks()) {
    seconds += kSecondsATask;
    if (task.kind == TaskKind::kCompute) continue;
    double sends = 1.0;
    bool ring = true;
    const Communicator& group = graph.communicators()[graph.communicator(rank, task.slot).index()];
    if (task.kind == TaskKind::kCollective) {
      const auto members = static_cast<double>(group.members.size());
      ring = job.collectives.algorithm[static_cast<std::size_t>(task.op)] == "ring";
      if (work.by_send || !ring)
        sends = members * (task.op == CollectiveOp::kAllReduce ? 2.0 : 1.0) * job.collectives.chunks;
    }
    const bool by_pair = work.by_pair && group.dimension != Dimension::kTp;
    seconds += sends * ((by_pair ? kSecondsAPair : kSecondsASend) + seconds_to_decide(work, group, ring));
  }
  return seconds + seconds_of_backlog(job, rank, work);
}

/// Returns the seconds of one step of all ranks.
double seconds_of_job(const Scenario& job, OperationWork work) {
  std::vector<std::optional<double>> of_program(job.graph.programs().size());
  double sum = 0.0;
  for (std::uint32_t r = 0; r < job.graph.ranks(); ++r) {
    auto& known = of_program[job.graph.program_of(RankId{r}).index()];
    if (!known) known = seconds_of_step(job, RankId{r}, work);
    sum += *known;
  }
  return sum;
}

double folded_share(const Scenario& job, const Registries& registries, bool rehearsal) {
  const ControllerFactory& factory = registries.controllers.find(job.controller.name);
  if (!job.run.folding || !are_fixed(job.stragglers)) return 1.0;
  if (!why_not_foldable(job.cluster, job.controller, factory, rehearsal).empty()) return 1.0;
  const collective::AlgorithmTable algorithms(job.collectives, registries.collectives);
  const std::vector<std::uint32_t> labels =
      with_gpu_models(straggler_labels(job.stragglers, job.graph.ranks()), job.cluster, job.gpu_of_rank);
  const bool whole_rails = folds_whole_rails(job.cluster, factory, rehearsal);
  const folding::FoldingAttempt attempt =
      folding::fold({job.graph, job.gpu_of_rank, job.cluster, algorithms, labels, whole_rails});
  if (!attempt.folding) return 1.0;
  return static_cast<double>(attempt.folding->graph.ranks()) / static_cast<double>(job.graph.ranks());
}

double expected_of_job(const Scenario& job, const Registries& registries) {
  const ControllerFactory& factory = registries.controllers.find(job.controller.name);
  const bool optical = job.cluster.rail.kind == RailKind::kOptical;
  const PolicyNeeds needs = factory.bound ? PolicyNeeds{} : factory.needs_of(factory.complete(job.controller));
  const bool by_pair = optical && needs.by_pair();
  const bool each = by_pair || (optical && needs.hops > 0);  // policies that forward run send by send too
  OperationWork work{.by_send = job.run.fidelity == Fidelity::kExact || each, .by_pair = each};
  if (optical && !factory.bound) work.decisions = control::decision_work(factory.name);
  const double step = seconds_of_job(job, work);
  double graph = static_cast<double>(job.graph.ranks()) * kSecondsARank;
  for (const Program& program : job.graph.programs())
    graph += static_cast<double>(program.tasks().size()) * kSecondsATaskMade;
  const double rehearsals = optical && factory.rehearse != nullptr
                                ? static_cast<double>(factory.rehearse(factory.complete(job.controller)).size())
                                : 0.0;
  const double steps = job.run.iterations;
  const double all = graph + step * (steps * (1.0 + rehearsals) + 1.0);
  if (all < kSmall) return all;
  const double share = folded_share(job, registries, false);
  const double rehearsed = rehearsals > 0.0 ? folded_share(job, registries, true) : 1.0;
  const bool slack = needs.has(ViewPart::kDueTimes);
  const bool order = needs.has(ViewPart::kSchedule) || needs.ranks.order == OperationOrder::kScheduled;
  const double profiles = optical && (slack || order) ? 1.0 : 0.0;
  return graph + step * (steps * (share + rehearsals * rehearsed) + profiles * std::min(share, rehearsed));
}

}  // namespace

double expected_seconds(const Scenario& scenario, const Registries& registries) {
  if (scenario.jobs.empty()) return expected_of_job(scenario, registries);
  double sum = 0.0;
  for (const Scenario& job : scenario.jobs) sum += 2.0 * expected_of_job(job, registries);  // together, and each alone
  return sum;
}

}  // namespace photonrail::run
