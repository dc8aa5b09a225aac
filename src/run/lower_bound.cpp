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
      streams_(stream_orders(graph_, lanes_in_servers())),
      observers_(observers) {}

// A lane of a communicator runs one call at a time, of those whose members have all come the one of the lowest task.
std::vector<bool> LowerBound::lanes_in_servers() const {
  const ExecutorSpec& spec = job_.scenario.executor;
  std::vector<bool> lanes(graph_.communicators().size());
  if (spec.comm_lanes != CommLanes::kPerCommunicator || spec.concurrent != ConcurrentCollectives::kInTurn) return lanes;
  for (std::size_t op = 0; op < kCollectiveOpCount; ++op) {
    if (plans_.expects_straggler(static_cast<CollectiveOp>(op))) return lanes;  // it may begin without a member
  }
  for (std::size_t c = 0; c < lanes.size(); ++c)
    lanes[c] = !graph_.communicators()[c].point_to_point && !operations_.crosses(CommunicatorId{c});
  return lanes;
}

// A search through orders ends after as many evaluations as a job of its size is worth. Traffic that changes from step to
// step is made once.
void LowerBound::run(RunResult& result) {
  constexpr std::uint64_t kMostWork = 400'000;  // tasks and sends
  RelaxedRun free = relax({});
  const std::uint64_t work = pass_.tasks + bound_.sends() + 1;
  const BoundTerms terms = terms_of(job_);
  if (!terms.forwarded && graph_.demands() == nullptr && !free.transfers.empty()) {
    CircuitOrders orders(
        terms, [this](const TransferFloors& floors) { return relax(floors); }, kMostWork / work);
    const TransferFloors floors = orders.search(std::move(free));
    if (!floors.empty()) static_cast<void>(relax(floors));
  }
  report(result);
}

RelaxedRun LowerBound::relax(const TransferFloors& floors) {
  bound_.begin(floors);
  pass_ = {};
  pass_.timeline.emplace(graph_.ranks(), observers_, job_.scenario.storage_ranks);
  pass_.ranks.resize(graph_.ranks());
  pass_.iteration_ends.assign(job_.run.iterations, Time{});
  for (std::size_t r = 0; r < pass_.ranks.size(); ++r) begin_iteration(RankId{r}, Time{}, {});
  while (!pass_.ready.empty()) {
    const auto [rank, task] = pass_.ready.back();
    pass_.ready.pop_back();
    process(rank, task);
    ++pass_.tasks;
  }
  require_finished();
  Time& end = pass_.iteration_ends.back();
  end = std::max(end, bound_.end_of_loads());
  return {end, bound_.take_transfers()};
}

void LowerBound::report(RunResult& result) {
  const Time end = pass_.iteration_ends.back();
  execution::Accounts accounts = pass_.timeline->finish(end);
  result.makespan = end.since_start();
  result.ranks = std::move(accounts.ranks);
  result.traffic = accounts.traffic;
  result.windows = std::move(accounts.windows);
  for (std::size_t i = 0; i < pass_.iteration_ends.size(); ++i) {
    result.iterations.push_back(pass_.iteration_ends[i] - (i > 0 ? pass_.iteration_ends[i - 1] : Time{}));
  }
  result.choices = plans_.choices();
  result.choices.push_back("oracle: the result is a lower bound on the runs of all policies" +
                           std::string(job_.controller.parameters.flag("forwarding") || job_.cluster.rail.forwarding
                                           ? ""
                                           : " that send over one circuit at a time") +
                           ", and no run");
  result.reconfigurations.per_rail.assign(fabric_.optical() ? fabric_.rails() : 0, 0);
  result.folding.off = "a bound is made of every rank";
  result.engine.events = pass_.tasks;
  result.engine.sends = bound_.sends();
  pass_.timeline->notify_observers(job_.scenario, end);
}

void LowerBound::begin_iteration(RankId id, Time at, const NicHistory& history) {
  Rank& rank = pass_.ranks[id.index()];
  const std::span<const Task> tasks = graph_.program(id).tasks();
  while (tasks.empty() && rank.iteration < job_.run.iterations) ++rank.iteration;
  if (rank.iteration >= job_.run.iterations) return;
  const execution::StragglerInjector::Step step = compute_.stragglers.of(id, rank.iteration);
  rank.slowdown = step.slowdown;
  if (step.delay > Duration{}) {
    pass_.timeline->stall(id, at, at + step.delay);
    at += step.delay;
  }
  rank.tasks_left = tasks.size();
  rank.last = {at, history};
  rank.waits.clear();
  rank.pending.assign(tasks.size(), {});
  for (auto& computing : rank.computing) computing.clear();
  const StreamOrder& streams = streams_[graph_.program_of(id).index()];
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    rank.waits.push_back(tasks[t].waits + streams.waits(TaskId{t}));
    if (rank.waits.back() > 0) continue;
    rank.pending[t] = {at, history};
    pass_.ready.emplace_back(id, TaskId{t});
  }
}

void LowerBound::process(RankId id, TaskId task) {
  Pending pending = std::move(pass_.ranks[id.index()].pending[task.index()]);
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
  Rank& rank = pass_.ranks[id.index()];
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
  pass_.timeline->compute({begin, pending.ready, id, task, t.stream});
  complete(id, task, pending);
}

void LowerBound::arrive(RankId id, TaskId task, Pending&& pending) {
  const Task& t = graph_.program(id).task(task);
  const auto [op_id, member] = operations_.seat(id, t, pass_.ranks[id.index()].iteration);
  execution::Operation& op = operations_[op_id];
  if (pass_.meetings.size() <= op_id) pass_.meetings.resize(op_id + 1);
  if (op.arrival.arrived() == 0) {
    pass_.meetings[op_id].parts.assign(op.members(), {});
    pass_.meetings[op_id].arrivals.assign(op.members(), {});
  }
  operations_.arrivals().add(op, member, task, {});
  pass_.meetings[op_id].arrivals[member] = pending.ready;
  pass_.timeline->arrive(op, member, pending.ready);
  if (t.kind == TaskKind::kSend && t.size() <= job_.scenario.executor.buffered_send) {
    operations_.arrivals().finish_sender(op);
    complete(id, task, pending);
  }
  pass_.meetings[op_id].parts[member].history = std::move(pending.history);
  if (op.complete()) evaluate(op_id);
}

// An operation whose plan depends on the straggler, or begins without a member, is not analysed: no member is done before
// all have come.
void LowerBound::evaluate(execution::OpId id) {
  execution::Operation& op = operations_[id];
  std::vector<Part>& parts = pass_.meetings[id].parts;
  const std::vector<Time>& arrivals = pass_.meetings[id].arrivals;
  const Time start = *std::max_element(arrivals.begin(), arrivals.end());
  if (op.runnable != nullptr && op.runnable->late == 0) {
    bound_.evaluate(op, start, parts);
    pass_.timeline->traffic(op.dimension(), op.plan().wire_bytes(), op.copies);
  } else {
    for (Part& part : parts) part.begins = part.ends = start;
  }
  pass_.timeline->operation(op, start, parts);
  for (Member m = 0; m < op.members(); ++m) {
    if (op.arrival.sender_done() && m == 0) continue;
    complete(op.rank(m), op.arrival.task(m), {parts[m].ends, std::move(parts[m].history)});
  }
  operations_.retire(id);
}

void LowerBound::complete(RankId id, TaskId task, const Pending& done) {
  Rank& rank = pass_.ranks[id.index()];
  const std::uint32_t ports = job_.cluster.nic.ports;
  const auto release = [&](TaskId next) {
    Pending& pending = rank.pending[next.index()];
    pending.ready = std::max(pending.ready, done.ready);
    pending.history.merge(done.history, ports);
    if (--rank.waits[next.index()] == 0) pass_.ready.emplace_back(id, next);
  };
  for (const TaskId next : graph_.program(id).successors(task)) release(next);
  for (const TaskId next : streams_[graph_.program_of(id).index()].after(task)) release(next);
  rank.last.ready = std::max(rank.last.ready, done.ready);
  rank.last.history.merge(done.history, ports);
  if (--rank.tasks_left == 0) finish_iteration(id);
}

void LowerBound::finish_iteration(RankId id) {
  Rank& rank = pass_.ranks[id.index()];
  Time end = rank.last.ready;
  for (auto& computing : rank.computing) end = std::max(end, end_of(computing));
  Time& of_all = pass_.iteration_ends[rank.iteration];
  of_all = std::max(of_all, end);
  const std::uint32_t finished = rank.iteration++;
  pass_.timeline->iteration(id, finished, end);
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
