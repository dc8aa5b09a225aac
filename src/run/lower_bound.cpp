#include "run/lower_bound.hpp"

#include "photonrail/error.hpp"
#include "run/cost_model.hpp"

#include <algorithm>
#include <string>

namespace photonrail::run {

namespace {

Duration least(const DelayDistribution& delay) {
  switch (delay.kind) {
    case DelayDistribution::Kind::kConstant:
    case DelayDistribution::Kind::kUniform:
      return delay.a;
    case DelayDistribution::Kind::kEmpirical:
      return *std::min_element(delay.samples.begin(), delay.samples.end());
    default:
      return {};
  }
}

BoundTerms terms_of(const BoundedJob& job) {
  const OpticalSwitchSpec& optical = job.cluster.rail.optical;
  const ControllerSpec& controller = job.controller;
  BoundTerms terms;
  terms.ports = job.cluster.nic.ports;
  terms.port_rate = job.cluster.nic.per_port;
  terms.forwarded = job.cluster.rail.forwarding || controller.parameters.flag("forwarding");
  terms.dark = reconfiguration(optical, least(optical.reconfiguration), controller);
  return terms;
}

// The computations one after another, each from its beginning on: the latest of all ends is the least.
Time end_of(std::vector<std::pair<Time, Duration>>& computing) {
  std::sort(computing.begin(), computing.end());
  Time end{};
  for (const auto& [from, length] : computing) end = std::max(end, from) + length;
  return end;
}

}  // namespace

LowerBound::LowerBound(const BoundedJob& job, const Registries& registries, std::span<Observer* const> observers)
    : job_(job),
      graph_(job.scenario.graph),
      placement_(folding::MemberPlacement::of(job.scenario.graph, job.scenario.gpu_of_rank)),
      fabric_(engine_, job.cluster, {job.run.seed}, nullptr, job.scenario.gpu_of_rank),
      algorithms_(job.scenario.collectives, registries.collectives),
      plans_(algorithms_, graph_.demands(),
             {.fidelity = job.run.fidelity,
              .seed = job.run.seed,
              .costs = cost_model(job.scenario.cluster, job.scenario.controller)}),
      operations_(graph_, placement_, fabric_, plans_, nullptr),
      compute_(job.cluster, job.scenario.gpu_of_rank, job.stragglers, job.run.seed),
      bound_(fabric_, terms_of(job)),
      timeline_(graph_.ranks(), observers, job.scenario.storage_ranks),
      ranks_(graph_.ranks()),
      iteration_ends_(job.run.iterations, Time{}) {}

void LowerBound::run(RunResult& result) {
  timeline_.begin(job_.scenario);
  for (std::size_t r = 0; r < ranks_.size(); ++r) begin_iteration(RankId{r}, Time{}, {});
  std::uint64_t done = 0;
  while (!ready_.empty()) {
    const auto [rank, task] = ready_.back();
    ready_.pop_back();
    process(rank, task);
    ++done;
  }
  require_finished();
  Time& end = iteration_ends_.back();
  end = std::max(end, bound_.end_of_loads());
  execution::Accounts accounts = timeline_.finish(end);
  result.makespan = end.since_start();
  result.ranks = std::move(accounts.ranks);
  result.traffic = accounts.traffic;
  result.windows = std::move(accounts.windows);
  for (std::size_t i = 0; i < iteration_ends_.size(); ++i) {
    result.iterations.push_back(iteration_ends_[i] - (i > 0 ? iteration_ends_[i - 1] : Time{}));
  }
  result.choices = plans_.choices();
  result.choices.push_back("oracle: the result is a lower bound on the runs of all policies" +
                           std::string(job_.controller.parameters.flag("forwarding") || job_.cluster.rail.forwarding
                                           ? ""
                                           : " that send over one circuit at a time") +
                           ", and no run");
  result.reconfigurations.per_rail.assign(fabric_.optical() ? fabric_.rails() : 0, 0);
  result.folding.off = "a bound is made of every rank";
  result.engine.events = done;
  result.engine.sends = bound_.sends();
  timeline_.notify_observers(end);
}

void LowerBound::begin_iteration(RankId id, Time at, const NicHistory& history) {
  Rank& rank = ranks_[id.index()];
  const std::span<const Task> tasks = graph_.program(id).tasks();
  while (tasks.empty() && rank.iteration < job_.run.iterations) ++rank.iteration;
  if (rank.iteration >= job_.run.iterations) return;
  const execution::StragglerInjector::Step step = compute_.stragglers.of(id, rank.iteration);
  rank.slowdown = step.slowdown;
  if (step.delay > Duration{}) {
    timeline_.stall(id, at, at + step.delay);
    at += step.delay;
  }
  rank.tasks_left = tasks.size();
  rank.last = {at, history};
  rank.waits.clear();
  rank.pending.assign(tasks.size(), {});
  for (auto& computing : rank.computing) computing.clear();
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    rank.waits.push_back(tasks[t].waits);
    if (tasks[t].waits > 0) continue;
    rank.pending[t] = {at, history};
    ready_.emplace_back(id, TaskId{t});
  }
}

void LowerBound::process(RankId id, TaskId task) {
  Pending pending = std::move(ranks_[id.index()].pending[task.index()]);
  const Task& t = graph_.program(id).task(task);
  if (t.kind == TaskKind::kCompute) {
    compute(id, task, std::move(pending));
  } else if (operations_.group_size(id, t, 0) == 1) {
    complete(id, task, pending);
  } else {
    arrive(id, task, std::move(pending));
  }
}

void LowerBound::compute(RankId id, TaskId task, Pending&& pending) {
  Rank& rank = ranks_[id.index()];
  const Task& t = graph_.program(id).task(task);
  const double flops = t.demand() == 0 ? t.flops : operations_.flops(id, t, rank.iteration);
  Duration time = t.time() ? *t.time() : compute_.gpus.of(id).compute_time(flops, t.memory());
  if (rank.slowdown != 1.0 && t.stream == Stream::kGpu) {
    time = round_up_picoseconds(static_cast<double>(time.count()) * rank.slowdown);
  }
  if (time > kLongest) fail_too_long(static_cast<double>(time.count()));
  rank.computing[static_cast<std::size_t>(t.stream)].emplace_back(pending.ready, time);
  const Time begin = pending.ready;
  pending.ready += time;
  timeline_.compute({begin, pending.ready, id, task, t.stream});
  complete(id, task, pending);
}

void LowerBound::arrive(RankId id, TaskId task, Pending&& pending) {
  const Task& t = graph_.program(id).task(task);
  const auto [op_id, member] = operations_.seat(id, t, ranks_[id.index()].iteration);
  execution::Operation& op = operations_[op_id];
  if (meetings_.size() <= op_id) meetings_.resize(op_id + 1);
  if (op.arrival.arrived() == 0) {
    meetings_[op_id].parts.assign(op.members(), {});
    meetings_[op_id].arrivals.assign(op.members(), {});
  }
  op.arrival.add(member, task);
  meetings_[op_id].arrivals[member] = pending.ready;
  timeline_.arrive(op, member, pending.ready);
  if (t.kind == TaskKind::kSend && t.size() <= job_.scenario.executor.buffered_send) {
    op.arrival.finish_sender();
    complete(id, task, pending);
  }
  meetings_[op_id].parts[member].history = std::move(pending.history);
  if (op.complete()) evaluate(op_id);
}

// An operation whose plan depends on the straggler, or begins without a member, is not analysed: no member is done before
// all have come.
void LowerBound::evaluate(execution::OpId id) {
  execution::Operation& op = operations_[id];
  std::vector<Part>& parts = meetings_[id].parts;
  const std::vector<Time>& arrivals = meetings_[id].arrivals;
  const Time start = *std::max_element(arrivals.begin(), arrivals.end());
  if (op.runnable != nullptr && op.runnable->late == 0) {
    bound_.evaluate(op, start, parts);
    timeline_.traffic(op.dimension(), op.plan().wire_bytes(), op.copies);
  } else {
    for (Part& part : parts) part.begins = part.ends = start;
  }
  timeline_.operation(op, start, parts);
  for (Member m = 0; m < op.members(); ++m) {
    if (op.arrival.sender_done() && m == 0) continue;
    complete(op.rank(m), op.arrival.task(m), {parts[m].ends, std::move(parts[m].history)});
  }
  operations_.retire(id);
}

void LowerBound::complete(RankId id, TaskId task, const Pending& done) {
  Rank& rank = ranks_[id.index()];
  const std::uint32_t ports = job_.cluster.nic.ports;
  for (const TaskId next : graph_.program(id).successors(task)) {
    Pending& pending = rank.pending[next.index()];
    pending.ready = std::max(pending.ready, done.ready);
    pending.history.merge(done.history, ports);
    if (--rank.waits[next.index()] == 0) ready_.emplace_back(id, next);
  }
  rank.last.ready = std::max(rank.last.ready, done.ready);
  rank.last.history.merge(done.history, ports);
  if (--rank.tasks_left == 0) finish_iteration(id);
}

void LowerBound::finish_iteration(RankId id) {
  Rank& rank = ranks_[id.index()];
  Time end = rank.last.ready;
  for (auto& computing : rank.computing) end = std::max(end, end_of(computing));
  Time& of_all = iteration_ends_[rank.iteration];
  of_all = std::max(of_all, end);
  const std::uint32_t finished = rank.iteration++;
  timeline_.iteration(id, finished, end);
  const NicHistory history = std::move(rank.last.history);
  begin_iteration(id, end, history);
}

void LowerBound::require_finished() {
  std::vector<std::string> stuck;
  for (const execution::OpId id : operations_.live()) {
    const execution::Operation& op = operations_[id];
    std::string missing;
    for (Member m = 0; m < op.members(); ++m) {
      if (!op.present(m)) missing += (missing.empty() ? "" : ", ") + std::to_string(op.rank(m).value);
    }
    stuck.push_back(std::string(name(op.op)) + " of group '" + op.communicator->name +
                    "' waits for ranks that never come: " + missing);
  }
  if (!stuck.empty()) throw DeadlockError(std::move(stuck));
}

}  // namespace photonrail::run
