// Do the parts of a scenario fit each other?
#include "photonrail/scenario.hpp"

#include "collective/algorithm_table.hpp"
#include "core/field.hpp"
#include "photonrail/workload/agent.hpp"
#include "run/control_check.hpp"
#include "run/rate_search.hpp"
#include "run/scenario_check.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace photonrail {

namespace {

using core::field;
using core::FieldError;

std::string number(std::uint64_t n) { return std::to_string(n); }

std::string gpus_of(const ClusterSpec& cluster) {
  return number(cluster.servers) + " servers x " + number(cluster.gpus_per_server) + " GPUs = " + number(cluster.gpus());
}

void check_placement(const JobSpec& job, const ClusterSpec& cluster) {
  const std::size_t ranks = job.graph.ranks();
  if (ranks == 0) throw FieldError(field("graph"), "has no ranks");
  if (job.storage_ranks >= ranks) throw FieldError(field("graph"), "all of its ranks are hosts of storage");
  if (ranks > cluster.gpus()) {
    throw FieldError(field("graph"), number(ranks) + " ranks do not fit the cluster: " + gpus_of(cluster),
                     "raise {cluster.servers}, or use fewer ranks");
  }
  if (job.gpu_of_rank.size() != ranks) {
    throw FieldError(field("gpu_of_rank"),
                     "places " + number(job.gpu_of_rank.size()) + " ranks, but the workload has " + number(ranks));
  }
  const auto where = [](std::size_t r) { return field("gpu_of_rank[]", r); };
  std::unordered_map<std::uint32_t, RankId> rank_of;  // by GPU; unused where the GPUs ascend
  const std::vector<GpuId>& gpus = job.gpu_of_rank;
  const bool ascend = std::adjacent_find(gpus.begin(), gpus.end(), std::greater_equal<>()) == gpus.end();
  for (std::size_t r = 0; r < ranks; ++r) {
    const GpuId gpu = gpus[r];
    if (gpu.value >= cluster.gpus()) {
      throw FieldError(where(r), "there is no GPU " + number(gpu.value) + ": " + gpus_of(cluster),
                       "GPUs are numbered from 0: server x gpus_per_server + local index");
    }
    const std::vector<std::uint32_t>& bypassed = cluster.scale_up.shape.bypassed;
    if (std::binary_search(bypassed.begin(), bypassed.end(), gpu.value % cluster.gpus_per_server)) {
      throw FieldError(where(r), "the ring inside the server bypasses GPU " + number(gpu.value),
                       "place ranks on GPUs that are not in {cluster.scale_up.shape.bypassed}");
    }
    if (ascend) continue;
    const auto [owner, free] = rank_of.try_emplace(gpu.value, RankId{r});
    if (!free) {
      throw FieldError(where(r), "GPU " + number(gpu.value) + " runs rank " + number(owner->second.value) + " already",
                       "give every rank a GPU of its own");
    }
  }
}

void check_idle(const JobSpec& job) {
  if (job.workload == nullptr || job.graph.task_count() == 0) return;
  throw FieldError(field("graph"), "has tasks, and the workload " + job.workload->name() + " launches its own",
                   "use idle_graph() of the ranks");
}

// A circuit joins two GPUs of one rail, and a fibre is in one circuit at the most.
void check_circuits(const JobSpec& job, const ClusterSpec& cluster) {
  std::set<std::pair<GpuId, std::uint32_t>> transmit;
  std::set<std::pair<GpuId, std::uint32_t>> receive;
  for (std::size_t i = 0; i < job.controller.circuits.size(); ++i) {
    const StaticCircuit& c = job.controller.circuits[i];
    const core::Field where = field("controller.circuits[]", i);
    struct End {
      core::Field gpu_field, port_field;
      GpuId gpu;
      std::uint32_t port;
    };
    for (const auto& [gpu_field, port_field, gpu, port] :
         {End{field("controller.circuits[].from", i), field("controller.circuits[].from_port", i), c.from, c.from_port},
          End{field("controller.circuits[].to", i), field("controller.circuits[].to_port", i), c.to, c.to_port}}) {
      if (gpu.value >= cluster.gpus()) {
        throw FieldError(gpu_field, "there is no GPU " + number(gpu.value) + ": " + gpus_of(cluster));
      }
      if (port >= cluster.nic.ports) {
        throw FieldError(port_field,
                         "there is no port " + number(port) + ": a GPU has " + number(cluster.nic.ports) + " (from 0)",
                         "raise {cluster.nic.ports}");
      }
    }
    if (c.from == c.to) throw FieldError(where, "joins GPU " + number(c.from.value) + " to itself");
    if (c.from.value % cluster.gpus_per_server != c.to.value % cluster.gpus_per_server) {
      throw FieldError(where, "GPUs " + number(c.from.value) + " and " + number(c.to.value) + " are on different rails",
                       "a rail joins the GPUs of one local index: gpu % gpus_per_server");
    }
    if (c.from_port % cluster.rail.planes != c.to_port % cluster.rail.planes) {
      throw FieldError(where, "ports " + number(c.from_port) + " and " + number(c.to_port) + " are on different planes",
                       "a circuit joins ports of one plane: port % {cluster.rail.planes}");
    }
    if (!transmit.emplace(c.from, c.from_port).second || !receive.emplace(c.to, c.to_port).second) {
      throw FieldError(where, "a fibre of it is in an earlier circuit already",
                       "a port sends on one circuit and receives on one");
    }
  }
}

void check_controller(const JobSpec& job, const ClusterSpec& cluster) {
  const ControllerSpec& controller = job.controller;
  const bool optical = cluster.rail.kind == RailKind::kOptical;
  if (optical && controller.name == kNoPolicy) {
    throw FieldError(field("controller.name"), "the electrical controller would never light a circuit of the optical rails",
                     "name another controller, or set {cluster.rail.kind} to electrical");
  }
  if (!optical && controller.name != kNoPolicy) {
    throw FieldError(field("controller.name"),
                     "electrical rails have no circuits for the " + controller.name + " controller",
                     "use the electrical controller, or set {cluster.rail.kind} to optical");
  }
  for (const auto& [where, delay] : {std::pair{field("controller.request"), controller.request},
                                     std::pair{field("controller.service"), controller.service},
                                     std::pair{field("controller.command"), controller.command},
                                     std::pair{field("controller.acknowledgement"), controller.acknowledgement},
                                     std::pair{field("controller.starvation"), controller.starvation}}) {
    if (delay < Duration{}) throw FieldError(where, "must not be negative");
  }
  core::check_member(field("controller.control"),
                     [&] { run::check_control_plane(controller.control, cluster.gpus_per_server, job.graph.ranks()); });
  if (!controller.circuits.empty()) check_circuits(job, cluster);
}

void check_numbers(const JobSpec& job) {
  if (job.executor.buffered_send < Bytes{}) throw FieldError(field("executor.buffered_send"), "must not be negative");
  for (const double share : job.executor.sm_share) {
    if (share >= 0.0 && share <= kMaxSmShare) continue;
    throw FieldError(field("executor.sm_share"), "must be a share from 0 to 0.9", "20 of 132 multiprocessors are 0.152");
  }
  if (job.collectives.chunks == 0) throw FieldError(field("collectives.chunks"), "must be at least 1");
  const CollectiveSpec& collectives = job.collectives;
  if (collectives.straggler == StragglerChoice::kKnown && collectives.straggler_rank.index() >= job.graph.ranks()) {
    throw FieldError(field("collectives.straggler_rank"), "there is no rank " + number(collectives.straggler_rank.value),
                     "ranks are 0 to " + number(job.graph.ranks() - 1));
  }
  if (job.run.iterations == 0) throw FieldError(field("run.iterations"), "must be at least 1");
  if (!(job.run.network_accuracy >= 0.0 && job.run.network_accuracy <= RunSpec::kMaxNetworkAccuracy)) {
    throw FieldError(field("run.network_accuracy"), "must be from 0 to 0.1", "0 is exact");
  }
}

void check_gpu_failure(const StragglerSpec& straggler, std::size_t i) {
  if (!straggler.at) {
    if (!straggler.stops && !straggler.lasts) return;
    throw FieldError(field("stragglers[].at", i), "is missing", "a failure that stops a GPU, or lasts, begins at a time");
  }
  if (*straggler.at < Time{} || straggler.lasts.value_or(Duration{}) < Duration{}) {
    throw FieldError(field("stragglers[].at", i), "must not be negative");
  }
  if (straggler.whom == StragglerSpec::Whom::kOneAtRandom) {
    throw FieldError(field("stragglers[].at", i), "is of ranks that are known", "list them, or take all");
  }
  if (straggler.delay.a != Duration{} || straggler.delay.kind != DelayDistribution::Kind::kConstant ||
      !straggler.trace.empty()) {
    throw FieldError(field("stragglers[].delay", i), "is of steps, and this is a failure at a time", "give one of the two");
  }
  if (straggler.detection < Duration{} || (straggler.lasts && straggler.detection > *straggler.lasts)) {
    throw FieldError(field("stragglers[].detection", i), "is not from 0 to the end of the failure",
                     "a failure that is over before it is detected needs no \"detection\"");
  }
  if (straggler.detection > Duration{} && !straggler.stops) {
    throw FieldError(field("stragglers[].detection", i), "is of a GPU that stops", "remove it");
  }
  if (straggler.stops && straggler.slowdown != 1.0) {
    throw FieldError(field("stragglers[].slowdown", i), "is of a GPU that computes, and this one stops",
                     "give one of the two");
  }
}

void check_stragglers(const JobSpec& job) {
  for (std::size_t i = 0; i < job.stragglers.size(); ++i) {
    const StragglerSpec& straggler = job.stragglers[i];
    for (std::size_t r = 0; r < straggler.ranks.size(); ++r) {
      if (straggler.ranks[r].index() < job.graph.ranks()) continue;
      throw FieldError(field("stragglers[].ranks[]", i, r), "there is no rank " + number(straggler.ranks[r].value),
                       "ranks are 0 to " + number(job.graph.ranks() - 1));
    }
    if (!(straggler.slowdown >= 1.0 && straggler.slowdown <= 1e6)) {
      throw FieldError(field("stragglers[].slowdown", i), "must be between 1 and 1e6");
    }
    check_gpu_failure(straggler, i);
    const bool negative =
        std::any_of(straggler.trace.begin(), straggler.trace.end(), [](Duration delay) { return delay < Duration{}; });
    if (negative || straggler.delay.a < Duration{} || straggler.delay.b < Duration{}) {
      throw FieldError(field("stragglers[].delay", i), "must not be negative");
    }
  }
}

using Use = std::tuple<CollectiveOp, Member, bool>;  // an operation among so many members; whether it follows a demand

bool can(const CollectiveAlgorithm& algorithm, const Use& use) {
  const auto& [op, members, demand] = use;
  return algorithm.supports(op, members) && (algorithm.takes_demand() || !demand);
}

// Every use in the graph. Programs are read once, whatever the number of ranks that share them.
std::set<Use> uses_of(const TaskGraph& graph) {
  std::vector<std::set<std::tuple<std::uint32_t, CollectiveOp, bool>>> calls;  // by program: slot, operation, demand
  for (const Program& program : graph.programs()) {
    auto& of = calls.emplace_back();
    for (const Task& task : program.tasks()) {
      if (task.kind == TaskKind::kCollective) of.emplace(task.slot, task.op, task.demand() != 0);
    }
  }
  std::set<Use> uses;
  Use last{CollectiveOp::kSend, 0, false};
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    const RankId rank{r};
    for (const auto& [slot, op, demand] : calls[graph.program_of(rank).index()]) {
      const Communicator& group = graph.communicators()[graph.communicator(rank, slot).index()];
      const Use use{op, static_cast<Member>(group.members.size()), demand};
      if (use != last) uses.insert(use);
      last = use;
    }
  }
  return uses;
}

// A name that is not built in is the caller's own: simulate() looks it up in the registries that it is given.
void check_algorithms(const JobSpec& job) {
  const CollectiveRegistry known = CollectiveRegistry::builtin();
  for (const Use& use : uses_of(job.graph)) {
    const auto& [op, members, demand] = use;
    const std::string& wanted = job.collectives.algorithm[static_cast<std::size_t>(op)];
    const CollectiveAlgorithm* found = job.collectives.find_own(wanted);
    for (const auto& algorithm : known.all()) {
      if (found == nullptr && algorithm->name() == wanted) found = algorithm.get();
    }
    if (members < 2 || found == nullptr || can(*found, use)) continue;
    std::string able;
    for (const auto& algorithm : known.all()) {
      if (can(*algorithm, use)) able += (able.empty() ? "" : ", ") + std::string(algorithm->name());
    }
    throw FieldError(collective::algorithm_field(op),
                     wanted + " cannot do " + std::string(name(op)) + " among " + number(members) + " members" +
                         (demand ? " with uneven demand" : ""),
                     able.empty() ? "no built-in algorithm can" : "these can: " + able);
  }
}

using JobOfGpu = std::unordered_map<std::uint32_t, std::size_t>;

// One job against the others.
void check_among(const Scenario& all, std::size_t index, JobOfGpu& job_of_gpu) {
  const JobSpec& job = all.jobs[index];
  if (job.start < Time{}) throw FieldError(field("jobs[].start", index), "must not be negative");
  for (std::size_t other = 0; other < index; ++other) {
    if (all.jobs[other].name != job.name) continue;
    throw FieldError(field("jobs[].name", index), "job " + number(other) + " is called " + job.name + " already");
  }
  for (std::size_t r = 0; r < job.gpu_of_rank.size(); ++r) {
    const auto [owner, free] = job_of_gpu.try_emplace(job.gpu_of_rank[r].value, index);
    if (!free) {
      throw FieldError(field("jobs[]", index),
                       "rank " + number(r) + " is on GPU " + number(job.gpu_of_rank[r].value) + ", which runs job " +
                           all.jobs[owner->second].name,
                       "give the jobs different \"servers\", or GPUs by \"placement\"");
    }
  }
}

void check_every_job(const Scenario& all) {
  for (std::size_t j = 0; j < all.jobs.size(); ++j) {
    core::check_member(field("jobs[]", j), [&] { run::check_job(all.jobs[j], all.cluster); });
  }
}

}  // namespace

void run::check_job(const JobSpec& job, const ClusterSpec& cluster) {
  check_idle(job);
  check_placement(job, cluster);
  check_controller(job, cluster);
  check_numbers(job);
  check_stragglers(job);
  check_algorithms(job);
}

void run::check_jobs(const Scenario& all) {
  constexpr std::size_t kMaxJobs = 255;
  if (all.jobs.size() > kMaxJobs)
    throw FieldError(field("jobs"), "has " + number(all.jobs.size()) + " jobs", "at most 255");
  if (all.graph.ranks() > 0) throw FieldError(field("graph"), "belongs to a job where there are several");
  JobOfGpu job_of_gpu;
  for (std::size_t j = 0; j < all.jobs.size(); ++j) {
    check_among(all, j, job_of_gpu);
    if (searches_rate(all.jobs[j]))
      throw FieldError(field("jobs"), "has a job that searches its greatest rate, which is of one job alone",
                       "remove \"find_rate\" of its workload");
  }
}

RunSpec run::run_of_job(const Scenario& all, std::size_t job) {
  RunSpec run = all.jobs[job].run;
  run.fidelity = all.run.fidelity;
  run.folding = all.run.folding;
  run.network_accuracy = all.run.network_accuracy;
  return run;
}

void Scenario::validate() const {
  core::check_member(field("cluster"), [&] { cluster.validate(); });
  if (pricing) core::check_member(field("pricing"), [&] { pricing->validate(); });
  if (jobs.empty()) return run::check_job(*this, cluster);
  check_every_job(*this);
  run::check_jobs(*this);
}

Scenario Scenario::alone(std::size_t job) const {
  Scenario one;
  static_cast<JobSpec&>(one) = jobs[job];
  one.cluster = cluster;
  one.run = run::run_of_job(*this, job);
  return one;
}

}  // namespace photonrail
