#include "execution/executor.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

namespace {

bool later_task(const ReadyTask& a, const ReadyTask& b) { return a.task > b.task; }

}  // namespace

Executor::Executor(const TaskGraph& graph, const ExecutorSpec& spec, std::uint32_t iterations, const Parts& parts,
                   ShimPolicy shim, const Schedule* schedule, Schedule* profile)
    : graph_(graph),
      spec_(spec),
      iterations_(iterations),
      parts_(parts),
      shim_(shim),
      order_(graph, iterations, parts.operations, parts.control, shim, schedule, profile),
      lanes_(graph, spec, parts.fabric.folded()),
      ranks_(graph.ranks()),
      iteration_ends_(iterations, Time{0}) {}

void Executor::begin() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    graph_.program(RankId{r}).tasks().empty() ? finish_iteration(RankId{r}, {}) : begin_iteration(RankId{r}, {});
  }
}

// A buffered send may outlive its sender: it is over when its receive has got it.
bool Executor::finished() const { return ranks_finished_ == ranks_.size() && parts_.operations.live().empty(); }

void Executor::begin_iteration(RankId id, CriticalPathTag cause) {
  Rank& rank = ranks_[id.index()];
  const Program& program = graph_.program(id);
  rank.tasks_left = program.tasks().size();
  rank.waits.clear();
  for (const Task& task : program.tasks()) rank.waits.push_back(task.waits);
  order_.begin_iteration(id, rank.iteration);
  const StragglerInjector::Step step = parts_.straggling.of(id, rank.iteration);
  rank.slowdown = step.slowdown;
  if (step.delay == Duration{}) return release_first(id, cause);
  const Time now = parts_.engine.now();
  parts_.recorder.compute_began(id, now);
  const std::uint64_t argument = std::uint64_t{cause.reconfigurations} << 32 | id.value;
  parts_.engine.schedule(now + step.delay, Phase::kFinish, Action::to<&Executor::end_stall>(*this, argument));
}

// The rank was held up at the start of its iteration.
void Executor::end_stall(std::uint64_t reconfigurations_and_rank) {
  const RankId id{reconfigurations_and_rank & 0xffffffff};
  const Time now = parts_.engine.now();
  parts_.recorder.compute_ended(id, now);
  release_first(id, {now, static_cast<std::uint32_t>(reconfigurations_and_rank >> 32)});
}

void Executor::release_first(RankId id, CriticalPathTag cause) {
  const Program& program = graph_.program(id);
  for (std::size_t t = 0; t < program.tasks().size(); ++t) {
    if (program.tasks()[t].waits == 0) ready(id, TaskId{t}, cause);
  }
}

void Executor::finish_iteration(RankId id, CriticalPathTag cause) {
  Rank& rank = ranks_[id.index()];
  const Time now = parts_.engine.now();
  last_cause_ = later_of(last_cause_, cause);
  do {
    iteration_ends_[rank.iteration] = std::max(iteration_ends_[rank.iteration], now);
    parts_.watchers.notify([&](Observer& observer) { observer.iteration(id, rank.iteration, now); });
  } while (++rank.iteration < iterations_ && graph_.program(id).tasks().empty());
  if (rank.iteration < iterations_) {
    begin_iteration(id, cause);
  } else {
    ++ranks_finished_;
    if (finished()) parts_.control.end();
  }
}

// ---- tasks

void Executor::ready(RankId id, TaskId task, CriticalPathTag cause) {
  const Task& t = graph_.program(id).task(task);
  if (t.kind != TaskKind::kCompute) {
    parts_.operations.group_size(id, t) == 1 ? complete_at_once(id, {task, cause}) : reach(id, task, cause);
    return;
  }
  ComputeStream& stream = ranks_[id.index()].streams[static_cast<std::size_t>(t.stream)];
  stream.ready.push_back({task, cause});
  std::push_heap(stream.ready.begin(), stream.ready.end(), later_task);
  if (stream.busy || ranks_[id.index()].start_pending) return;
  ranks_[id.index()].start_pending = true;
  to_start_.push_back(id);
  schedule_start();
}

void Executor::complete(RankId id, TaskId task, CriticalPathTag cause) {
  parts_.control.task_ended(id);
  Rank& rank = ranks_[id.index()];
  ++tasks_done_;
  const Program& program = graph_.program(id);
  for (const TaskId next : program.successors(task)) {
    // Most tasks wait for one other: their counters, which are every rank's own, stay out of the cache.
    if (program.task(next).waits == 1) {
      ready(id, next, cause);
    } else {
      const bool last = --rank.waits[next.index()] == 0;
      const CriticalPathTag joined = join(rank, next, cause, last);
      if (last) ready(id, next, joined);
    }
  }
  rank.last = later_of(rank.last, cause);
  if (--rank.tasks_left == 0) finish_iteration(id, rank.last);
}

// What a task waited for last, when several of its predecessors complete at one instant: whichever has the longer history,
// not whichever event came last.
CriticalPathTag Executor::join(Rank& rank, TaskId next, CriticalPathTag cause, bool last) {
  std::vector<ReadyTask>& joining = rank.joining;
  if (!joining.empty() && joining.front().cause.at != cause.at) joining.clear();
  if (!last) {
    joining.push_back({next, cause});
    return cause;
  }
  for (const ReadyTask& before : joining) {
    if (before.task == next) cause = later_of(cause, before.cause);
  }
  return cause;
}

// Through an event, so that a long chain of such tasks does not nest.
void Executor::complete_at_once(RankId id, const ReadyTask& task) {
  at_once_.emplace_back(id, task);
  parts_.engine.schedule(parts_.engine.now(), Phase::kFinish, Action::to<&Executor::complete_now>(*this));
}

void Executor::complete_now(std::uint64_t) {
  const auto [rank, done] = at_once_.front();
  at_once_.pop_front();
  complete(rank, done.task, done.cause);
}

void Executor::schedule_start() {
  if (start_scheduled_) return;
  start_scheduled_ = true;
  parts_.engine.schedule(parts_.engine.now(), Phase::kStart, Action::to<&Executor::start_all>(*this));
}

// Everything that became ready at this instant is known: starts it, lowest ids first.
void Executor::start_all(std::uint64_t) {
  start_scheduled_ = false;
  enter_books();
  const std::vector<RankId> ranks = std::move(to_start_);
  to_start_.clear();
  for (const RankId id : ranks) {
    ranks_[id.index()].start_pending = false;
    start_compute(id, Stream::kGpu);
    start_compute(id, Stream::kHost);
  }
  const Lanes::Ready* before = nullptr;
  const std::vector<Lanes::Ready> candidates = lanes_.candidates();
  for (const Lanes::Ready& candidate : candidates) {
    if (before != nullptr && !before->same_to_programs(candidate)) record_started();
    before = &candidate;
    if (parts_.operations[candidate.op].state == Operation::State::kStarted) {
      if (parts_.operations[candidate.op].yielded) (void)parts_.transfers.try_open(candidate.op, 0);
      continue;
    }
    if (lanes_.take(candidate, parts_.operations[candidate.op])) start_operation(candidate.op);
  }
  record_started();
}

// Of operations that the programs do not order, each rank's in the order of its own tasks.
void Executor::record_started() {
  std::sort(started_.begin(), started_.end());
  for (const auto& [rank, task] : started_) order_.record(rank, task, parts_.engine.now());
  started_.clear();
}

// What starts for one rank when that rank comes to it is recorded with all that it comes to at this instant.
void Executor::record_in_turn(RankId id, TaskId task) {
  came_.emplace_back(id, task);
  schedule_start();
}

// What became ready or was sent at this instant, in the order of the programs.
void Executor::enter_books() {
  std::sort(came_.begin(), came_.end());
  for (const auto& [rank, task] : came_) order_.record(rank, task, parts_.engine.now());
  came_.clear();
  std::sort(fresh_.begin(), fresh_.end());
  for (const Lanes::Ready& ready : fresh_) {
    const Operation& op = parts_.operations[ready.op];
    for (Member m = 0; m < op.members(); ++m) {
      if (op.present(m)) parts_.recorder.rail_ready(op.rank(m), op.dimension(), parts_.engine.now());
    }
  }
  fresh_.clear();
}

void Executor::start_compute(RankId id, Stream which) {
  ComputeStream& stream = ranks_[id.index()].streams[static_cast<std::size_t>(which)];
  if (stream.busy || stream.ready.empty()) return;
  std::pop_heap(stream.ready.begin(), stream.ready.end(), later_task);
  stream.running = stream.ready.back();
  stream.ready.pop_back();
  stream.running.cause = later_of(stream.running.cause, stream.freed);
  stream.busy = true;
  stream.started = parts_.engine.now();
  const Task& task = graph_.program(id).task(stream.running.task);
  const double flops = task.demand() == 0 ? task.flops : parts_.operations.flops(id, task, ranks_[id.index()].iteration);
  Duration time = task.fixed ? Duration{task.amount} : parts_.fabric.compute_time(flops, Bytes{task.amount});
  const double slowdown = ranks_[id.index()].slowdown;
  if (slowdown != 1.0 && which == Stream::kGpu) time = round_up_picoseconds(static_cast<double>(time.count()) * slowdown);
  if (time > kLongest) fail_too_long(static_cast<double>(time.count()));
  parts_.recorder.compute_began(id, stream.started);
  const std::uint64_t argument = (static_cast<std::uint64_t>(id.value) << 1) | static_cast<std::uint64_t>(which);
  parts_.engine.schedule(stream.started + time, Phase::kFinish, Action::to<&Executor::finish_compute>(*this, argument));
}

void Executor::finish_compute(std::uint64_t rank_and_stream) {
  const RankId id{rank_and_stream >> 1};
  Rank& rank = ranks_[id.index()];
  ComputeStream& stream = rank.streams[rank_and_stream & 1];
  const Time now = parts_.engine.now();
  const TaskId task = stream.running.task;
  const CriticalPathTag cause{now, stream.running.cause.reconfigurations};
  stream.busy = false;
  stream.freed = cause;
  parts_.recorder.compute_ended(id, now);
  parts_.watchers.notify([&](Observer& observer) {
    observer.compute({stream.started, now, id, task, static_cast<Stream>(rank_and_stream & 1)});
  });
  if (!stream.ready.empty() && !rank.start_pending) {
    rank.start_pending = true;
    to_start_.push_back(id);
    schedule_start();
  }
  complete(id, task, cause);
}

// ---- operations

// Nothing in its program holds the operation up any more; a schedule may.
void Executor::reach(RankId id, TaskId task, CriticalPathTag cause) {
  if (!order_.takes_turns(id, task)) {
    arrive(id, task, cause);
    return;
  }
  order_.hold_back(id, {task, cause});
  while (const std::optional<ReadyTask> next = order_.next_in_turn(id)) {
    CriticalPathTag& issued = ranks_[id.index()].issued;
    issued = later_of(issued, next->cause);
    arrive(id, next->task, issued);
  }
}

void Executor::arrive(RankId id, TaskId task, CriticalPathTag cause) {
  const Task& t = graph_.program(id).task(task);
  const auto [op_id, member] = parts_.operations.seat(id, t, ranks_[id.index()].iteration);
  Operation& op = parts_.operations[op_id];
  PHOTONRAIL_CHECK(op.tasks[member].is_none());
  op.tasks[member] = task;
  ++op.arrived;
  op.cause = later_of(op.cause, {parts_.engine.now(), cause.reconfigurations});
  if (foresight_ != nullptr) look_ahead(op, id, task);
  notify(op_id, member, OperationEvent::State::kArrived);
  ask(op_id, member);
  if (t.kind == TaskKind::kSend && t.amount <= spec_.buffered_send.count) {
    op.sender_done = true;
    if (op.crosses && order_.records()) record_in_turn(id, task);  // for the sender, whenever the receive comes
    complete_at_once(id, {task, op.cause});
  }
  if (op.complete()) parts_.operations.record_last_arrival(op_id, member);
  op.state == Operation::State::kGathering ? count_in(op_id, member) : join(op_id, member);
}

void Executor::look_ahead(Operation& op, RankId id, TaskId task) const {
  const SlackProfile::Times& times = foresight_->times[id.index()][task.index()];
  const Duration steps = foresight_->step * op.key.iteration;
  op.expected = std::max(op.expected, times.start + steps);
  op.due = std::min(op.due, times.due + steps);
  if (shim_.by_due) op.lane_due = op.due;
}

void Executor::ask(OpId id, Member member) {
  const Operation& op = parts_.operations[id];
  if (!op.optical || op.runnable == nullptr || !op.takes_part(member, 0)) return;
  parts_.control.ask(id, 0, member, op.tasks[member]);
}

// Another member is there. The operation is ready when all are whom its plan does not start without.
void Executor::count_in(OpId id, Member member) {
  Operation& op = parts_.operations[id];
  if (!op.starts_without(member)) --op.needed;
  if (op.needed > 0) return;
  if (op.runnable == nullptr) {
    parts_.operations.settle_straggler(id);
    for (Member m = 0; m < op.members(); ++m) {
      if (op.present(m)) ask(id, m);
    }
    if (op.needed > 0) return;
  }
  op.state = Operation::State::kReady;
  if (op.crosses) fresh_.push_back(Lanes::key(id, op));
  lanes_.enqueue(id, op);
  schedule_start();
}

// A member that the plan starts without has come to an operation that is ready or under way.
void Executor::join(OpId id, Member member) {
  Operation& op = parts_.operations[id];
  const bool in_books = std::none_of(fresh_.begin(), fresh_.end(), [id](const Lanes::Ready& r) { return r.op == id; });
  if (op.crosses && in_books) parts_.recorder.rail_ready(op.rank(member), op.dimension(), parts_.engine.now());
  if (op.state != Operation::State::kStarted) return;
  if (op.crosses && order_.records()) record_in_turn(op.rank(member), op.tasks[member]);
  notify(id, member, OperationEvent::State::kRunning);
  parts_.transfers.join(id, member);
}

void Executor::start_operation(OpId id) {
  Operation& op = parts_.operations[id];
  if (op.crosses && order_.records()) {
    for (Member m = op.sender_done ? 1 : 0; m < op.members(); ++m) {
      if (op.present(m)) started_.emplace_back(op.rank(m), op.tasks[m]);
    }
  }
  if (!op.optical || op.plan().send_count() == 0) {
    for (Member m = 0; m < op.members(); ++m) {
      if (op.present(m)) notify(id, m, OperationEvent::State::kRunning);
    }
  }
  parts_.transfers.start(id);
}

void Executor::member_done(OpId id, Member member) {
  Operation& op = parts_.operations[id];
  const RankId rank = op.rank(member);
  const TaskId task = op.tasks[member];
  const Time now = parts_.engine.now();
  const bool last = op.members_to_go == 0;
  const CriticalPathTag cause{now, op.cause.reconfigurations};
  notify(id, member, OperationEvent::State::kDone);
  if (op.crosses) parts_.recorder.rail_ended(rank, op.dimension(), now);
  lanes_.leave(op, member, last, cause);
  if (lanes_.has_candidates()) schedule_start();
  const bool completes = !(op.sender_done && member == 0);
  const std::uint32_t iteration = ranks_[rank.index()].iteration;
  const bool this_iteration = op.key.iteration == iteration;  // a buffered send may outlive its own
  if (last) parts_.operations.retire(id);
  if (last && finished()) parts_.control.end();
  if (this_iteration) order_.complete(rank, task, iteration);
  if (completes) complete(rank, task, cause);
}

// ---- circuits

void Executor::round_reached(OpId id, std::uint32_t round, Member member) {
  parts_.control.ask(id, round, member, parts_.operations[id].tasks[member]);
}

bool Executor::may_open(OpId id) {
  const Operation& op = parts_.operations[id];
  return !op.yielded || lanes_.are_free(Lanes::key(id, op), op);
}

void Executor::round_opened(OpId id, std::uint32_t round, std::optional<Duration> idle) {
  parts_.control.opened(id, round, idle);
  Operation& op = parts_.operations[id];
  if (op.yielded) PHOTONRAIL_CHECK(lanes_.take(Lanes::key(id, op), op));
  op.yielded = false;
  for (Member m = 0; m < op.members(); ++m) {
    if (!op.present(m)) continue;
    if (round == 0 || (idle && op.round(round)->work_left[m] > 0)) notify(id, m, OperationEvent::State::kRunning);
  }
}

void Executor::round_blocked(OpId id, std::uint32_t round) {
  parts_.control.blocked(id, round);
  Operation& op = parts_.operations[id];
  for (Member m = 0; m < op.members(); ++m) {
    if (op.round(round)->work_left[m] > 0) notify(id, m, OperationEvent::State::kWaitingForCircuits);
  }
  const bool begun = op.sends_to_go < op.plan().send_count() ||
                     std::any_of(op.rounds.begin(), op.rounds.end(), [](const Round& r) { return r.open; });
  if (!shim_.patient || begun || op.yielded) return;
  op.yielded = true;
  lanes_.yield(id, op);
  schedule_start();
}

void Executor::round_opened_by_pair(OpId id, std::uint32_t round) {
  parts_.control.opened_by_pair(id, round);
  Operation& op = parts_.operations[id];
  for (Member m = 0; round == 0 && m < op.members(); ++m) {
    if (op.present(m)) notify(id, m, OperationEvent::State::kRunning);
  }
}

void Executor::pair_waits(OpId id, std::uint32_t round, MemberPair pair, Bytes bytes) {
  parts_.control.pair_waits(id, round, pair, bytes);
}

void Executor::pair_served(OpId id, std::uint32_t round, MemberPair pair, const Parked& parked, Duration idle) {
  parts_.control.pair_served(id, round, pair, parked, idle);
}

void Executor::member_waits(OpId id, Member member, bool waits) {
  notify(id, member, waits ? OperationEvent::State::kWaitingForCircuits : OperationEvent::State::kRunning);
}

void Executor::circuits_released(RailId rail, OpId op) {
  parts_.control.released(rail, {parts_.engine.now(), parts_.operations[op].cause.reconfigurations});
}

void Executor::notify(OpId id, Member member, OperationEvent::State state) const {
  if (parts_.watchers.empty()) return;
  const Operation& op = parts_.operations[id];
  OperationEvent event;
  event.at = parts_.engine.now();
  event.sequence = op.sequence;
  event.communicator = op.key.communicator;
  event.op = op.op;
  event.rank = op.rank(member);
  event.task = op.tasks[member];
  event.state = state;
  parts_.watchers.notify([&](Observer& observer) { observer.operation(event); });
}

}  // namespace photonrail
