#include "execution/executor.hpp"

#include "execution/deadlock_report.hpp"
#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::execution {

namespace {

// Ranks run as one where nothing looks at each of them.
LockstepGroups groups_of(const TaskGraph& graph, const ExecutorOptions& options, const RunContext& run) {
  const std::array<double, kDimensionCount>& shares = options.spec.sm_share;
  const bool shared = std::any_of(shares.begin(), shares.end(), [](double share) { return share > 0.0; });
  const bool looked_at = !run.observers.empty() || options.slack != nullptr || options.watch.watches();
  const bool folded = options.ambiguity != nullptr;
  if (folded || shared || looked_at || run.stragglers.has_failures()) return {};
  if (options.spec.comm_lanes != CommLanes::kPerCommunicator) return {};
  return {graph, run.operations, run.gpus};
}

RunContext with_groups(RunContext run, const LockstepGroups& groups) {
  run.lockstep = &groups;
  return run;
}

// The iteration of the rank, or the launch of its task.
std::uint32_t iteration_of(const RunContext& run, const RankProgress& progress, RankId rank, TaskId task) {
  if (run.launches == nullptr) [[likely]]
    return progress.iteration(rank);
  return run.launches->place(rank, task).launch->id.value;
}

Lanes lanes_of(const TaskGraph& graph, const ExecutorOptions& options) { return {graph, options.spec, options.ambiguity}; }

}  // namespace

Executor::Executor(const TaskGraph& graph, const ExecutorOptions& options, const RunContext& run, CircuitService& circuits)
    : graph_(graph),
      options_(options),
      groups_(groups_of(graph, options, run)),
      run_(with_groups(run, groups_)),
      circuits_(circuits),
      order_(graph, run.operations, circuits, options_.behaviour, options.profile),
      progress_(graph, options.profile.iterations, run_, *this),
      streams_(graph, options.spec, run_, *this),
      transfers_(run_, circuits, *this),
      starter_(run_, {streams_, transfers_, circuits, order_}, lanes_of(graph, options), options.behaviour.yields_lanes),
      lockstep_(graph, run_, {circuits, streams_, progress_, starter_, *this}),
      issued_(graph.ranks()) {
  circuits.attach(transfers_, starter_);
  ProgramListener& listener = *this;
  if (options.agent != nullptr) {
    launches_.emplace(*options.agent, *run_.launches, run_, listener, options.horizon,
                      AheadRequests{&circuits, &options_.behaviour});
  }
}

void Executor::begin() {
  began_ = run_.engine.now();
  launches_ ? launches_->begin() : progress_.begin();
}

// A buffered send may outlive its sender: it is over when its receive has got it.
bool Executor::finished() const {
  const bool ended = launches_ ? !launches_->end().empty() : progress_.unfinished_ranks() == 0;
  return ended && !run_.operations.any_live();
}

void Executor::iteration_began(RankId id, std::uint32_t iteration, double slowdown) {
  order_.begin_iteration(id, iteration);
  streams_.begin_iteration(id, iteration, slowdown);
}

void Executor::all_ranks_finished() {
  if (finished()) circuits_.job_ended();
}

// The first stay of a task: a computation goes to a stream, an operation of one rank has nothing to send and is over, and
// every other operation waits for its turn and for its peers.
void Executor::task_ready(RankId id, TaskId number, CriticalPathTag cause) {
  const Task& t = task_of(graph_, run_.launches, id, number);
  if (t.kind == TaskKind::kCompute) {
    streams_.enqueue(id, {number, cause}, t.stream);
  } else if (run_.operations.group_size(id, t, iteration_of(run_, progress_, id, number)) == 1) {
    complete_at_once(id, {number, cause});
  } else {
    reach(id, number, cause);
  }
}

void Executor::complete(RankId id, TaskId task, CriticalPathTag cause) {
  circuits_.task_ended(id);
  if (launches_) return launches_->complete(id, task, cause);
  options_.watch.completed(id, task, progress_.iteration(id), run_.engine.now());
  progress_.complete(id, task, cause);
}

// Ranks that run as one complete a task together only if exactly one task becomes ready on each of them by that: Lockstep
// refuses everything else, and then the members are notified one by one, in the order of their numbers, as if each had
// been simulated alone.
void Executor::computed_by_all(const LockstepGroup& group, TaskId task, CriticalPathTag cause) {
  if (lockstep_.complete(group, task, cause)) return;
  for (std::uint32_t m = 0; m < group.size; ++m) complete(group.rank(m), task, cause);
}

// Through an event, so that a long chain of such tasks does not nest.
void Executor::complete_at_once(RankId id, const ReadyTask& task) {
  at_once_.emplace_back(id, task);
  run_.engine.schedule(run_.engine.now(), engine::Phase::kFinish, engine::Action::to<&Executor::complete_now>(*this));
}

void Executor::complete_now(std::uint64_t) {
  const auto [rank, done] = at_once_.front();
  at_once_.pop_front();
  complete(rank, done.task, done.cause);
}

// Nothing in its program holds the operation up any more; a schedule may.
void Executor::reach(RankId id, TaskId task, CriticalPathTag cause) {
  if (!order_.takes_turns(id, task)) {
    arrive(id, task, cause);
    return;
  }
  order_.hold_back(id, {task, cause});
  // The task may be the one whose turn it is, and then those behind it in the schedule that were held back have theirs. An
  // operation that was held back is caused by the latest task that it waited for in this order, not by its predecessors.
  while (const std::optional<ReadyTask> next = order_.next_in_turn(id)) {
    CriticalPathTag& issued = issued_[id.index()];
    issued = later_of(issued, next->cause);
    arrive(id, next->task, issued);
  }
}

void Executor::arrive(RankId id, TaskId task, CriticalPathTag cause) {
  const Task& t = task_of(graph_, run_.launches, id, task);
  const auto [op_id, member] = run_.operations.seat(id, t, iteration_of(run_, progress_, id, task));
  Operation& op = run_.operations[op_id];
  ArrivalWriter& arrivals = run_.operations.arrivals();
  arrivals.add(op, member, task, {run_.engine.now(), cause.reconfigurations});
  if (options_.slack != nullptr) set_due(op, id, task);
  run_.observers.operation(op, member, OperationEvent::State::kArrived, run_.engine.now());
  request(op_id, member);
  // A buffered send is over for its sender when its bytes are in the buffer, which is now and whatever the receiver waited
  // for; the operation goes on without it.
  if (t.kind == TaskKind::kSend && t.size() <= options_.spec.buffered_send) {
    arrivals.finish_sender(op);
    // For the sender, whenever the receive comes.
    if (op.crosses && order_.records()) starter_.record_in_turn(id, task);
    complete_at_once(id, {task, {run_.engine.now(), cause.reconfigurations}});
  }
  if (op.complete()) arrivals.record_last(op, member);
  // An operation that is ready already starts, or has started, without this member (StragglAR).
  op.arrival.ready() ? join(op_id, member) : count_in(op_id, member);
}

// The lanes of a communicator inside a server wait for no circuits, and keep the order of the programs.
void Executor::set_due(Operation& op, RankId id, TaskId task) const {
  const SlackProfile::Times& times = options_.slack->times[id.index()][task.index()];
  const Time step = began_ + options_.slack->step * op.key.iteration;
  const bool orders_lanes = op.crosses || options_.spec.comm_lanes == CommLanes::kOne;
  run_.operations.arrivals().expect(op, step + times.start, step + times.due,
                                    options_.behaviour.earliest_due_first && orders_lanes);
}

void Executor::request(OpId id, Member member) {
  const Operation& op = run_.operations[id];
  if (!op.optical || op.runnable == nullptr || !op.takes_part(member, 0)) return;
  circuits_.request(id, 0, member, op.arrival.task(member));
}

// Another member is there. The operation is ready when all are that its plan does not start without.
void Executor::count_in(OpId id, Member member) {
  Operation& op = run_.operations[id];
  ArrivalWriter& arrivals = run_.operations.arrivals();
  if (!arrivals.count_in(op, member)) return;
  // No plan yet: it depends on which member is late, and that is known when one is missing. The members that are there ask
  // for circuits only now, since the plan says which.
  if (op.runnable == nullptr) {
    run_.operations.settle_straggler(id);
    const bool enough = arrivals.settle(op);
    for (Member m = 0; m < op.members(); ++m) {
      if (op.present(m)) request(id, m);
    }
    if (!enough) return;
  }
  arrivals.become_ready(op);
  starter_.enqueue(id);
}

// A member that the plan starts without has come to an operation that is ready or under way.
void Executor::join(OpId id, Member member) {
  const Operation& op = run_.operations[id];
  starter_.joined(id, member);
  if (!op.transfer.started) return;
  if (op.crosses && order_.records()) starter_.record_in_turn(op.rank(member), op.arrival.task(member));
  run_.observers.operation(op, member, OperationEvent::State::kRunning, run_.engine.now());
  transfers_.join(id, member);
}

void Executor::member_done(OpId id, Member member) {
  const Operation& op = run_.operations[id];
  const RankId rank = op.rank(member);
  const TaskId task = op.arrival.task(member);
  const Time now = run_.engine.now();
  // The operation may be retired below and its memory become another one, so that all that is needed of it is read first.
  const bool last = op.transfer.members_to_go == 0;
  const bool crosses = op.crosses;
  const CriticalPathTag cause{now, op.cause.reconfigurations()};
  run_.observers.operation(op, member, OperationEvent::State::kDone, now);
  if (crosses) run_.accounting.rail_ended(rank, op.dimension(), now);
  starter_.leave(id, member, last, cause);
  const bool completes = !(op.arrival.sender_done() && member == 0);
  const std::uint32_t iteration = progress_.iteration(rank);
  const bool this_iteration = op.key.iteration == iteration;  // a buffered send may outlive its own
  if (last && launches_) run_.launches->moved(rank, op.key.iteration, op.plan().wire_bytes());
  if (last) run_.accounting.operation_took(op.dimension(), now - op.transfer.started_at, op.copies);
  if (last) run_.operations.retire(id);
  // The order matters: the lanes are free, the operation is retired and the schedule has moved on before the completion
  // makes further tasks ready, which may want the lanes, the slot of the operation or the next place in the schedule.
  if (last && finished()) circuits_.job_ended();
  if (this_iteration && crosses) order_.complete(rank, task, iteration);
  if (completes) complete(rank, task, cause);
}

std::vector<std::string> Executor::stuck() const {
  if (!launches_) return DeadlockReport(graph_, run_, circuits_, order_).lines(progress_.unfinished_ranks());
  std::vector<std::string> lines = DeadlockReport(graph_, run_, circuits_, order_).lines(0);
  for (std::string& line : launches_->waiting()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace photonrail::execution
