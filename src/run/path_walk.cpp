#include "run/path_walk.hpp"

#include <algorithm>

namespace photonrail::run {

using execution::Completion;
using execution::ComputationRecord;
using execution::MemberRecord;
using execution::OperationRecord;

namespace {

// The number of completions after an instant that are looked through for what began then.
constexpr std::ptrdiff_t kLookAhead = 64;

}  // namespace

const std::vector<Stretch>& PathWalk::from_end(Time end, Time until) {
  begin(end);
  if (history_.graph().ranks() > 0) walk(completed_now(history_.last_rank(), std::nullopt), until);
  return stretches_;
}

const std::vector<Stretch>& PathWalk::from_wait(RankId rank, Time at, Time until) {
  begin(at);
  const std::vector<Completion>& list = history_.completions(rank);
  auto c = std::lower_bound(list.begin(), list.end(), at, [](const Completion& done, Time t) { return done.at < t; });
  const auto last = list.end() - c > kLookAhead ? c + kLookAhead : list.end();
  c = std::find_if(c, last, [this](const Completion& next) { return went_on(next); });
  if (c != last) walk(wait_of(*c, rank), until);
  return stretches_;
}

void PathWalk::begin(Time at) {
  now_ = at;
  visited_.clear();
  stretches_.clear();
}

// A stretch that reaches back over the end of the walk is cut there.
void PathWalk::walk(Step at, Time until) {
  while (at && now_ > until) {
    pass({}, completion(*at).at);
    visited_.insert(*at);
    at = explain(*at);
  }
  pass({}, until);
  while (!stretches_.empty() && stretches_.back().end <= until) stretches_.pop_back();
  if (!stretches_.empty()) stretches_.back().begin = std::max(stretches_.back().begin, until);
}

void PathWalk::pass(Stretch stretch, Time until) {
  if (until >= now_) return;
  stretch.begin = until;
  stretch.end = now_;
  stretches_.push_back(stretch);
  now_ = until;
  visited_.clear();
}

// The operation, or the computation, of the rank goes on at this instant after a wait.
bool PathWalk::went_on(const Completion& c) const {
  if (c.is_computation()) return history_.computations()[c.record].start == now_;
  const OperationRecord& record = history_.operations()[c.record];
  const MemberRecord& member = record.members[c.member];
  if (member.started == Time::never() || member.arrived > now_) return false;
  return member.started == now_ || std::any_of(record.members.begin(), record.members.end(), [this](const MemberRecord& m) {
           return m.arrived == now_;  // it rested until one came that was late
         });
}

PathWalk::Step PathWalk::wait_of(const Completion& c, RankId rank) {
  if (c.is_computation()) {
    const ComputationRecord& record = history_.computations()[c.record];
    return cause({rank, record.task, record.iteration});
  }
  const OperationRecord& record = history_.operations()[c.record];
  return before_start(record, record.members[c.member]);
}

std::uint32_t PathWalk::iteration_of(Position p) const {
  const Completion& c = completion(p);
  return c.is_computation() ? history_.computations()[c.record].iteration
                            : history_.operations()[c.record].members[c.member].iteration;
}

PathWalk::Step PathWalk::explain(Position p) {
  const Completion& c = completion(p);
  if (!c.is_computation()) return explain_operation(history_.operations()[c.record], c);
  const ComputationRecord& record = history_.computations()[c.record];
  pass({.kind = PathPart::Kind::kComputation, .record = c.record}, record.start);
  return cause({record.rank, record.task, record.iteration});
}

// A member that was late waits for the operation from its own arrival on; the others from when the last that is needed
// came.
PathWalk::Step PathWalk::explain_operation(const OperationRecord& record, const Completion& done) {
  const MemberRecord& member = record.members[done.member];
  const TaskOfRank own{member.rank, member.task, member.iteration};
  const bool buffered = done.at == member.arrived && member.done != done.at;
  if (buffered) return cause(own);
  const bool late = record.started == Time::never() || member.arrived > record.started;
  take_operation(record, member, done.record, late ? member.arrived : record.started);
  if (late) return cause(own);
  return before_start(record, member);
}

// Finds what the operation waited for until this instant: the member that came last, or a lane.
PathWalk::Step PathWalk::before_start(const OperationRecord& record, const MemberRecord& member) {
  const MemberRecord* last = &member;
  for (const MemberRecord& other : record.members) {
    if (other.arrived <= now_ && other.arrived > last->arrived) last = &other;
  }
  if (last->arrived < now_) {
    if (const Step lane = lane_before(record)) return lane;
    pass({.kind = PathPart::Kind::kLane, .dimension = dimension(record)}, last->arrived);
  }
  return cause({last->rank, last->task, last->iteration});
}

// Waits for circuits come first, though rounds may wait in between.
void PathWalk::take_operation(const OperationRecord& record, const MemberRecord& member, std::uint32_t number, Time from) {
  if (from >= now_) return;
  Duration waited{};
  for (const auto& [begin, end] : member.waits) waited += std::max(Duration{}, std::min(end, now_) - std::max(begin, from));
  const Dimension d = dimension(record);
  const Duration running = now_ - from - waited;
  pass({.kind = PathPart::Kind::kCommunication, .record = number, .dimension = d}, now_ - running);
  if (waited == Duration{}) return;
  pass({.kind = PathPart::Kind::kCircuits, .dimension = d, .before = dimension_before(member.rank, from)}, from);
}

// Another operation that left the lane at this instant: of the same communicator, or of one of the ranks.
PathWalk::Step PathWalk::lane_before(const OperationRecord& record) const {
  Step other;
  for (const MemberRecord& member : record.members) {
    if (member.arrived == Time::never()) continue;
    const std::vector<Completion>& list = history_.completions(member.rank);
    auto at = std::upper_bound(list.begin(), list.end(), now_, [](Time t, const Completion& c) { return t < c.at; });
    while (at != list.begin() && std::prev(at)->at == now_) {
      --at;
      const Position p{member.rank, static_cast<std::uint32_t>(at - list.begin())};
      if (at->is_computation() || visited_.count(p) != 0) continue;
      const OperationRecord& done = history_.operations()[at->record];
      if (done.sequence == record.sequence) continue;
      if (done.communicator == record.communicator) return p;
      if (!other) other = p;
    }
  }
  return other;
}

const std::vector<TaskId>& PathWalk::predecessors(RankId rank, TaskId task) const {
  const Program& program = history_.graph().program(rank);
  const auto [at, fresh] = predecessors_.try_emplace(&program);
  if (fresh) {
    at->second.resize(program.tasks().size());
    for (std::size_t t = 0; t < program.tasks().size(); ++t) {
      for (const TaskId next : program.successors(TaskId{t})) at->second[next.index()].emplace_back(t);
    }
  }
  return at->second[task.index()];
}

// Through tasks that take no time, as operations of one member.
void PathWalk::completions_before(const TaskOfRank& task, std::vector<Position>& out) const {
  std::vector<TaskId> open{task.task};
  std::set<TaskId> seen;
  while (!open.empty()) {
    const TaskId at = open.back();
    open.pop_back();
    for (const TaskId before : predecessors(task.rank, at)) {
      if (!seen.insert(before).second) continue;
      if (const auto position = history_.position(task.rank, before, task.iteration)) {
        out.push_back({task.rank, *position});
      } else {
        open.push_back(before);
      }
    }
  }
}

// What the task waited for last: a task before it; the end of the iteration before; or what else its rank completed at this
// instant, as the computation before it on its stream, or the operation whose turn came first.
PathWalk::Step PathWalk::cause(const TaskOfRank& task) {
  std::vector<Position> before;
  completions_before(task, before);
  std::sort(before.begin(), before.end());
  for (auto p = before.rbegin(); p != before.rend(); ++p) {
    if (completion(*p).at == now_ && visited_.count(*p) == 0) return *p;
  }
  const Time began = history_.began(task.rank, task.iteration);
  if (began == now_) return task.iteration == 0 ? std::nullopt : completed_now(task.rank, task.iteration - 1);
  if (const Step now = completed_now(task.rank, task.iteration)) return now;
  const Step latest = latest_before(task.rank);
  if (before.empty() && (!latest || completion(*latest).at <= began)) {
    pass({.kind = PathPart::Kind::kComputation}, began);
    return task.iteration == 0 ? std::nullopt : completed_now(task.rank, task.iteration - 1);
  }
  return latest;
}

// The last completion of the rank at this instant, of an iteration if one is given.
PathWalk::Step PathWalk::completed_now(RankId rank, std::optional<std::uint32_t> iteration) const {
  const std::vector<Completion>& list = history_.completions(rank);
  auto at = std::upper_bound(list.begin(), list.end(), now_, [](Time t, const Completion& c) { return t < c.at; });
  while (at != list.begin() && std::prev(at)->at == now_) {
    --at;
    const Position p{rank, static_cast<std::uint32_t>(at - list.begin())};
    if (visited_.count(p) == 0 && (!iteration || iteration_of(p) == *iteration)) return p;
  }
  return std::nullopt;
}

PathWalk::Step PathWalk::latest_before(RankId rank) const {
  const std::vector<Completion>& list = history_.completions(rank);
  const auto at = std::lower_bound(list.begin(), list.end(), now_, [](const Completion& c, Time t) { return c.at < t; });
  if (at == list.begin()) return std::nullopt;
  return Position{rank, static_cast<std::uint32_t>(at - list.begin() - 1)};
}

// The dimension of the rank's last operation on a rail that was done by then.
std::optional<Dimension> PathWalk::dimension_before(RankId rank, Time at) const {
  const std::vector<Completion>& list = history_.completions(rank);
  auto c = std::upper_bound(list.begin(), list.end(), at, [](Time t, const Completion& done) { return t < done.at; });
  while (c != list.begin()) {
    --c;
    if (c->is_computation()) continue;
    const OperationRecord& record = history_.operations()[c->record];
    if (on_rails_[record.communicator.index()]) return dimension(record);
  }
  return std::nullopt;
}

}  // namespace photonrail::run
