#include "execution/rank_progress.hpp"

#include <algorithm>

namespace photonrail::execution {

RankProgress::RankProgress(const TaskGraph& graph, std::uint32_t iterations, const RunContext& run,
                           ProgramListener& listener)
    : graph_(graph),
      iterations_(iterations),
      run_(run),
      listener_(listener),
      ranks_(graph.ranks()),
      iteration_ends_(iterations, Time{}) {
  joins_.reserve(graph.programs().size());
  for (const Program& program : graph.programs()) joins_.push_back(ProgramJoins::of(program));
  std::size_t waits = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    ranks_[r].waits_at = waits;
    waits += joins(RankId{r}).waits.size();
  }
  // Counters of all ranks lie in one array. A task with one predecessor needs none: its completion makes it ready.
  waits_.resize(waits);
}

void RankProgress::begin() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    graph_.program(RankId{r}).tasks().empty() ? finish_iteration(RankId{r}, {}) : begin_iteration(RankId{r}, {});
  }
}

void RankProgress::begin_iteration(RankId id, CriticalPathTag cause) {
  Rank& rank = ranks_[id.index()];
  rank.tasks_left = static_cast<std::uint32_t>(graph_.program(id).tasks().size());
  const std::vector<std::uint32_t>& waits = joins(id).waits;
  std::copy(waits.begin(), waits.end(), waits_.begin() + static_cast<std::ptrdiff_t>(rank.waits_at));
  const StragglerInjector::Step step = run_.stragglers.of(id, rank.iteration);
  listener_.iteration_began(id, rank.iteration, step.slowdown);
  if (step.delay == Duration{}) return release_first(id, cause);
  const Time now = run_.engine.now();
  run_.accounting.compute_began(id, now);
  // An event carries one number: the rank below, the critical path's reconfigurations above.
  const std::uint64_t argument = std::uint64_t{cause.reconfigurations} << 32 | id.value;
  run_.engine.schedule(now + step.delay, engine::Phase::kFinish,
                       engine::Action::to<&RankProgress::end_stall>(*this, argument));
}

// The rank was held up at the start of its iteration.
void RankProgress::end_stall(std::uint64_t reconfigurations_and_rank) {
  const RankId id{reconfigurations_and_rank & 0xffffffff};
  const Time now = run_.engine.now();
  run_.accounting.compute_ended(id, now);
  release_first(id, {now, static_cast<std::uint32_t>(reconfigurations_and_rank >> 32)});
}

void RankProgress::release_first(RankId id, CriticalPathTag cause) {
  for (const TaskId task : joins(id).first) listener_.task_ready(id, task, cause);
}

void RankProgress::finish_iteration(RankId id, CriticalPathTag cause) {
  Rank& rank = ranks_[id.index()];
  const Time now = run_.engine.now();
  last_cause_ = later_of(last_cause_, cause);
  // A rank without tasks passes through its remaining iterations at once, in a loop in place of a recursion.
  do {
    iteration_ends_[rank.iteration] = std::max(iteration_ends_[rank.iteration], now);
    run_.observers.notify([&](Observer& observer) { observer.iteration(id, rank.iteration, now); });
  } while (++rank.iteration < iterations_ && graph_.program(id).tasks().empty());
  if (rank.iteration < iterations_) {
    begin_iteration(id, cause);
  } else {
    if (++finished_ == ranks_.size()) listener_.all_ranks_finished();
  }
}

// The one place where a completed task is taken off the counters of its successors, for a rank and for a group that runs as
// one. `ready` is called in the order of the successors, which is ascending by task.
template <class Ready>
void RankProgress::advance(Rank& rank, RankId id, TaskId task, CriticalPathTag cause, Ready&& ready) {
  const Program& program = graph_.program(id);
  for (const TaskId next : program.successors(task)) {
    if (program.task(next).waits == 1) {
      ready(next, cause);
    } else {
      const bool last = --waits_[rank.waits_at + joins(id).number[next.index()]] == 0;
      const CriticalPathTag joined = join(rank, next, cause, last);
      if (last) ready(next, joined);
    }
  }
  rank.last = later_of(rank.last, cause);
  --rank.tasks_left;
}

void RankProgress::complete(RankId id, TaskId task, CriticalPathTag cause) {
  Rank& rank = ranks_[id.index()];
  if (rank.together) part_group(run_.lockstep->of(id));
  ++tasks_done_;
  advance(rank, id, task, cause, [&](TaskId next, CriticalPathTag joined) { listener_.task_ready(id, next, joined); });
  if (rank.tasks_left == 0) finish_iteration(id, rank.last);
}

// ---- groups that run as one

// Answers without changing anything, because the caller may still decide to go on rank by rank. The last task of an
// iteration is refused: the ends of iterations are events of single ranks.
std::optional<TaskId> RankProgress::next_of_all(const LockstepGroup& group, TaskId task) {
  if (!join_group(group)) return std::nullopt;
  const Rank& rank = ranks_[group.first.index()];
  if (rank.tasks_left == 1) return std::nullopt;
  const Program& program = graph_.program(group.first);
  TaskId ready = TaskId::none();
  for (const TaskId next : program.successors(task)) {
    const bool waits = program.task(next).waits > 1 && waits_[rank.waits_at + joins(group.first).number[next.index()]] > 1;
    if (waits) continue;
    if (!ready.is_none()) return std::nullopt;
    ready = next;
  }
  return ready;
}

CriticalPathTag RankProgress::complete_on_all(const LockstepGroup& group, TaskId task, CriticalPathTag cause) {
  tasks_done_ += group.size;
  CriticalPathTag of_next = cause;
  advance(ranks_[group.first.index()], group.first, task, cause, [&](TaskId, CriticalPathTag joined) { of_next = joined; });
  return of_next;
}

std::span<std::uint32_t> RankProgress::waits_of(RankId id) {
  return {waits_.data() + ranks_[id.index()].waits_at, joins(id).waits.size()};
}

// History before this instant decides nothing any more, see later_of() and join().
bool RankProgress::are_alike(const Rank& a, const Rank& b) const {
  const Time now = run_.engine.now();
  const auto alike = [now](CriticalPathTag x, CriticalPathTag y) {
    return (x.at < now && y.at < now) || (x.at == y.at && x.reconfigurations == y.reconfigurations);
  };
  const auto joins_now = [now](const Rank& r) { return !r.joining.task.is_none() && r.joining.cause.at == now; };
  if (a.iteration != b.iteration || a.tasks_left != b.tasks_left || !alike(a.last, b.last)) return false;
  if (!joins_now(a) && !joins_now(b)) return true;
  return joins_now(a) && joins_now(b) && !a.joining_more && !b.joining_more && a.joining.task == b.joining.task &&
         a.joining.cause.reconfigurations == b.joining.cause.reconfigurations;
}

// Only the first rank of a group that runs as one is kept up to date. Members may join when their counters are equal and
// their histories can no longer make a difference.
bool RankProgress::join_group(const LockstepGroup& group) {
  Rank& first = ranks_[group.first.index()];
  if (first.together) return true;
  const std::span<const std::uint32_t> waits = waits_of(group.first);
  for (std::uint32_t m = 1; m < group.size; ++m) {
    if (!are_alike(first, ranks_[group.rank(m).index()])) return false;
    if (!std::equal(waits.begin(), waits.end(), waits_of(group.rank(m)).begin())) return false;
  }
  for (std::uint32_t m = 0; m < group.size; ++m) ranks_[group.rank(m).index()].together = true;
  return true;
}

// Each member gets the state of the first; the place of its counters stays its own.
void RankProgress::part_group(const LockstepGroup& group) {
  Rank& first = ranks_[group.first.index()];
  first.together = false;
  const std::span<const std::uint32_t> waits = waits_of(group.first);
  for (std::uint32_t m = 1; m < group.size; ++m) {
    Rank& rank = ranks_[group.rank(m).index()];
    const std::size_t waits_at = rank.waits_at;
    rank = first;
    rank.waits_at = waits_at;
    std::copy(waits.begin(), waits.end(), waits_of(group.rank(m)).begin());
    if (first.joining_more) more_joining(rank) = more_joining(first);
  }
}

// Returns what a task waited for last, when several of its predecessors complete at one instant: the one with the longest
// history, not the one whose event came last.
CriticalPathTag RankProgress::join(Rank& rank, TaskId next, CriticalPathTag cause, bool last) {
  if (!rank.joining.task.is_none() && rank.joining.cause.at != cause.at) {
    rank.joining.task = TaskId::none();
    rank.joining_more = false;
  }
  if (!last) {
    if (rank.joining.task.is_none()) {
      rank.joining = {next, cause};
    } else {
      std::vector<ReadyTask>& more = more_joining(rank);
      if (!rank.joining_more) more.clear();
      rank.joining_more = true;
      more.push_back({next, cause});
    }
    return cause;
  }
  if (rank.joining.task == next) cause = later_of(cause, rank.joining.cause);
  if (!rank.joining_more) return cause;
  for (const ReadyTask& before : more_joining(rank)) {
    if (before.task == next) cause = later_of(cause, before.cause);
  }
  return cause;
}

std::vector<ReadyTask>& RankProgress::more_joining(const Rank& rank) {
  if (more_joining_.empty()) more_joining_.resize(ranks_.size());
  return more_joining_[static_cast<std::size_t>(&rank - ranks_.data())];
}

}  // namespace photonrail::execution
