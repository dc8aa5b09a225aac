#include "run/expected_time.hpp"

#include "collective/algorithm_table.hpp"
#include "control/decision_work.hpp"
#include "folding/folding.hpp"
#include "photonrail/workload/agent.hpp"
#include "run/decided_workload.hpp"
#include "run/equal_steps.hpp"
#include "run/foldable.hpp"
#include "run/scenario_check.hpp"

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
constexpr double kSecondsASend = 0.15e-6;
constexpr double kSecondsAPair = 0.5e-6;     // of a send that is served pair by pair
constexpr double kSecondsAtOnce = 1.5e-6;    // of a send beside those to all other members: they share their ports
constexpr double kSecondsALink = 5e-6;       // of such a send over the links of a shape inside a server
constexpr double kSecondsUnlike = 60e-6;     // of a send at once with others of unlike bytes, among 256
constexpr double kSecondsUneven = 0.7e-6;    // of a send whose bytes a traffic matrix says
constexpr double kSecondsAMatched = 0.1e-6;  // of a collective, each two members of each member: matchings are searched
constexpr double kSecondsALight = 0.2e-3;    // of a send over a mesh with a budget: each state of it is followed
constexpr double kSecondsATask = 0.15e-6;
constexpr double kSecondsFolded = 0.7e-6;          // of a task or send of a class: ranks in lockstep are cheaper
constexpr double kSecondsATaskMade = 0.9e-6;       // of each program, when the graph is made
constexpr double kSecondsARank = 3e-6;             // to make the graph and to fold it: ranks share programs
constexpr double kGrowthWithPorts = 1.5;           // exponent by which decisions about pairs grow with the ports of a NIC
constexpr double kOpenSends = 0.05;                // share of sends between stages that are open beside other operations
constexpr double kSecondsACircuitTurned = 1.5e-6;  // of a slot of a rotation, each circuit
constexpr double kFreeSlot = 100e-6;               // seconds: of a rotation whose circuits cost nothing
constexpr std::int64_t kLeastUnevenShard = 100;    // bytes: rings of smaller shards run send by send

/// A job, the cluster that it is on, and how it is run there.
struct PlacedJob {
  const JobSpec& spec;
  const ClusterSpec& cluster;
  const RunSpec& run;
};

/// Tasks and sends that are simulated, and what they come to.
struct StepWork {
  double count = 0.0;
  double seconds = 0.0;
};

/// Describes how operations run.
struct OperationWork {
  bool by_send = false;  ///< every send of a collective
  bool by_pair = false;  ///< over circuits or ways of its own; tp is taken to stay inside servers
  control::DecisionWork decisions{.send_s = 0.0};
};

/// Returns what the policy's decisions for a send of the operation cost.
double seconds_to_decide(const PlacedJob& job, const OperationWork& work, const Communicator& group, bool ring) {
  const NicSpec& nic = job.cluster.nic;
  const bool routed = work.by_pair && job.cluster.rail.optical.pip.has_value();
  if (routed && nic.optical_budget_db > 0.0) return kSecondsALight;
  if (ring || group.point_to_point || group.dimension == Dimension::kTp) return 0.0;
  const double of_one_port =
      work.decisions.send_s * std::pow(static_cast<double>(group.members.size()) / 64.0, work.decisions.growth);
  return work.by_pair ? of_one_port * std::pow(nic.ports, kGrowthWithPorts) : of_one_port;
}

/// Returns what a send costs the network.
double seconds_of_send(const PlacedJob& job, const Task& task, const Communicator& group, const OperationWork& work) {
  const bool in_server = group.dimension == Dimension::kTp;
  double seconds = work.by_pair && !in_server ? kSecondsAPair : kSecondsASend;
  if (task.kind != TaskKind::kCollective) return seconds;
  const std::string& algorithm = job.spec.collectives.algorithm[static_cast<std::size_t>(task.op)];
  const bool at_once = algorithm == "direct" || (algorithm == "auto" && task.op == CollectiveOp::kAllToAll);
  if (task.demand() != 0) seconds = std::max(seconds, kSecondsUneven);
  const bool alike = task.demand() == 0 || job.run.network_accuracy > 0.0;
  if (at_once && !work.by_pair && !alike) {
    const double share = static_cast<double>(group.members.size()) / 256.0;  // every departure changes nearly every rate
    seconds = std::max(seconds, kSecondsUnlike * share * share);
  }
  if (at_once && !work.by_pair)
    seconds = std::max(seconds, job.cluster.scale_up.shape.crossbar() ? kSecondsAtOnce : kSecondsALink);
  if (algorithm == "birkhoff" || algorithm == "greedy_matchings")
    seconds += kSecondsAMatched * static_cast<double>(group.members.size());
  return seconds;
}

/// Returns what operations of one group cost because those of others of the rank may be open at the same time.
double seconds_of_backlog(const PlacedJob& job, RankId rank, const OperationWork& work) {
  if (work.decisions.backlog_s == 0.0) return 0.0;
  std::map<CommunicatorId, double> calls;
  double all = 0.0;
  for (const Task& task : job.spec.graph.program(rank).tasks()) {
    if (task.kind == TaskKind::kCompute) continue;
    const CommunicatorId id = job.spec.graph.communicator(rank, task.slot);
    const Communicator& group = job.spec.graph.communicators()[id.index()];
    if (group.dimension == Dimension::kTp) continue;
    const double share = group.point_to_point ? kOpenSends : 1.0;
    calls[id] += share;
    all += share;
  }
  double pairs = 0.0;
  for (const auto& [id, count] : calls) pairs += count * (all - count);
  return work.decisions.backlog_s * pairs * job.cluster.servers;
}

/// Returns the sends that a rank simulates of a collective: one, where a ring is a stream.
double sends_of(const PlacedJob& job, const Task& task, double members, bool ring, const OperationWork& work) {
  const double shards = members * job.spec.collectives.chunks;
  const bool in_crumbs = task.size().count > 0 && static_cast<double>(task.size().count) / shards < kLeastUnevenShard;
  if (ring && !work.by_send && !in_crumbs) return 1.0;
  return shards * (task.op == CollectiveOp::kAllReduce ? 2.0 : 1.0);
}

/// Returns what one step of a rank comes to.
StepWork step_of_rank(const PlacedJob& job, RankId rank, const OperationWork& work) {
  const TaskGraph& graph = job.spec.graph;
  StepWork sum;
  for (const Task& task : graph.program(rank).tasks()) {
    ++sum.count;
    sum.seconds += kSecondsATask;
    if (task.kind == TaskKind::kCompute) continue;
    const Communicator& group = graph.communicators()[graph.communicator(rank, task.slot).index()];
    const bool collective = task.kind == TaskKind::kCollective;
    const bool ring = !collective || job.spec.collectives.algorithm[static_cast<std::size_t>(task.op)] == "ring";
    const double sends = collective ? sends_of(job, task, static_cast<double>(group.members.size()), ring, work) : 1.0;
    sum.count += sends;
    sum.seconds += sends * (seconds_of_send(job, task, group, work) + seconds_to_decide(job, work, group, ring));
  }
  sum.seconds += seconds_of_backlog(job, rank, work);
  return sum;
}

/// Returns what one step of all ranks comes to.
StepWork step_of_job(const PlacedJob& job, const OperationWork& work) {
  std::vector<std::optional<StepWork>> of_program(job.spec.graph.programs().size());
  StepWork sum;
  for (std::uint32_t r = 0; r < job.spec.graph.ranks(); ++r) {
    auto& known = of_program[job.spec.graph.program_of(RankId{r}).index()];
    if (!known) known = step_of_rank(job, RankId{r}, work);
    sum.count += known->count;
    sum.seconds += known->seconds;
  }
  return sum;
}

/// Returns how long the longest rank takes when each pair of it is lit for its part of a turn only: a rotation goes on for
/// so long. Computations count where their time is given.
double seconds_of_turning(const PlacedJob& job) {
  const NicSpec& nic = job.cluster.nic;
  double longest = 0.0;
  for (const Program& program : job.spec.graph.programs()) {
    double seconds = 0.0;
    for (const Task& task : program.tasks()) {
      if (const auto time = task.time()) seconds += to_seconds(*time);
      seconds += static_cast<double>(task.size().count) / (nic.per_port.bytes_per_second * nic.ports);
    }
    longest = std::max(longest, seconds);
  }
  return longest;
}

/// Returns the slots of a rotation, which turns whatever is asked, in one step.
StepWork slots_of(const PlacedJob& job, const ControllerFactory& factory) {
  const ControllerSpec spec = factory.complete(job.spec.controller);
  const OpticalSwitchSpec& ocs = job.cluster.rail.optical;
  const double dark = to_seconds(ocs.typical() + ocs.batching);
  const double own = to_seconds(spec.parameters.duration("slot"));
  const double by_duty = dark > 0.0 ? dark / (1.0 - spec.parameters.number("duty")) : kFreeSlot;
  const double slot = own > 0.0 ? own : by_duty;
  // At least one turn; a byte waits for its pair's slots, which are one of n - 1.
  const double places = job.cluster.servers;
  const double pairs = std::max(1.0, (places - 1.0) / job.cluster.nic.ports);
  const double slots = pairs + pairs * seconds_of_turning(job) / slot;
  const double circuits = places * job.cluster.nic.ports * job.cluster.gpus_per_server;
  return {slots * circuits, slots * circuits * kSecondsACircuitTurned};
}

/// Returns the classes of ranks over the ranks, when the job is folded by ranks or by whole rails.
double share_of_classes(const PlacedJob& job, const Registries& registries, bool whole_rails) {
  const collective::AlgorithmTable algorithms(job.spec.collectives, registries.collectives);
  const std::vector<std::uint32_t> labels =
      with_gpu_models(straggler_labels(job.spec.stragglers, job.spec.graph.ranks()), job.cluster, job.spec.gpu_of_rank);
  const folding::FoldingAttempt attempt =
      folding::fold({job.spec.graph, job.spec.gpu_of_rank, job.cluster, algorithms, labels, whole_rails});
  if (!attempt.folding) return 1.0;
  return static_cast<double>(attempt.folding->graph.ranks()) / static_cast<double>(job.spec.graph.ranks());
}

double folded_share(const PlacedJob& job, const Registries& registries, bool rehearsal) {
  const ControllerFactory& factory = registries.controllers.find(job.spec.controller.name);
  if (!job.run.folding || !are_fixed(job.spec.stragglers)) return 1.0;
  if (!why_not_foldable(job.cluster, job.spec.controller, factory, job.spec.graph.ranks(), rehearsal).empty()) return 1.0;
  const bool whole_rails = folds_whole_rails(job.cluster, factory, rehearsal);
  const double share = share_of_classes(job, registries, whole_rails);
  const bool may_fold_rails = rehearsal && !whole_rails && factory.rail_symmetric;
  return may_fold_rails && share == 1.0 ? share_of_classes(job, registries, true) : share;
}

/// The runs of a job's graph that its policy needs, beside the steps that are asked for.
WorkEstimate work_of_job(const PlacedJob& job, const Registries& registries, double close_look_s) {
  const ControllerFactory& factory = registries.controllers.find(job.spec.controller.name);
  const bool optical = job.cluster.rail.kind == RailKind::kOptical;
  const PolicyNeeds needs = factory.bound ? PolicyNeeds{} : factory.needs_of(factory.complete(job.spec.controller));
  const bool by_pair = optical && needs.by_pair();
  const bool each = by_pair || (optical && needs.hops > 0);  // policies that forward run send by send too
  OperationWork work{.by_send = job.run.fidelity == Fidelity::kExact || each, .by_pair = each};
  if (optical && !factory.bound) work.decisions = control::decision_work(factory.name);
  StepWork step = step_of_job(job, work);
  WorkEstimate sum;
  const auto add = [&](double times) { sum.add({kOperations, step.count * times, step.seconds * times}); };
  double graph = static_cast<double>(job.spec.graph.ranks()) * kSecondsARank;
  for (const Program& program : job.spec.graph.programs())
    graph += static_cast<double>(program.tasks().size()) * kSecondsATaskMade;
  sum.add({kRanks, static_cast<double>(job.spec.graph.ranks()), graph});
  if (job.spec.workload != nullptr) sum.add(job.spec.workload->work());
  const double rehearsals = optical && factory.rehearse != nullptr
                                ? static_cast<double>(factory.rehearse(factory.complete(job.spec.controller)).size())
                                : 0.0;
  const double steps = steps_to_run(job.spec, job.cluster, job.run, registries);
  if (work.decisions.turns) {
    const StepWork turns = slots_of(job, factory);
    sum.add({kCircuitsTurned, steps * turns.count, steps * turns.seconds});
  }
  const double unfolded = steps * (1.0 + rehearsals) + 1.0;
  if (graph + step.seconds * unfolded < close_look_s) {
    add(unfolded);
    return sum;
  }
  const double share = folded_share(job, registries, false);
  const double rehearsed = rehearsals > 0.0 ? folded_share(job, registries, true) : 1.0;
  const bool slack = needs.has(ViewPart::kDueTimes);
  const bool order = needs.has(ViewPart::kSchedule) || needs.ranks.order == OperationOrder::kScheduled;
  const double profiles = optical && (slack || order) ? 1.0 : 0.0;
  step.seconds = share < 1.0 ? std::max(step.seconds, kSecondsFolded * step.count) : step.seconds;
  add(steps * (share + rehearsals * rehearsed) + profiles * std::min(share, rehearsed));
  return sum;
}

}  // namespace

WorkEstimate expected_work(const Scenario& scenario, const Registries& registries, double close_look_s) {
  if (const std::optional<Scenario> fixed = with_known_futures(scenario))
    return expected_work(*fixed, registries, close_look_s);
  if (scenario.jobs.empty()) return work_of_job({scenario, scenario.cluster, scenario.run}, registries, close_look_s);
  WorkEstimate sum;
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
    const RunSpec run = run_of_job(scenario, j);
    sum.add(work_of_job({scenario.jobs[j], scenario.cluster, run}, registries, close_look_s), 2.0);  // together, and alone
  }
  return sum;
}

}  // namespace photonrail::run
