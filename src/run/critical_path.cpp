#include "run/critical_path.hpp"

#include "run/operation_places.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace photonrail {

std::string_view name(Place place) {
  switch (place) {
    case Place::kScaleUp:
      return "scale_up";
    case Place::kPort:
      return "port";
    case Place::kLeafUplink:
      return "leaf_uplink";
    case Place::kPodUplink:
      return "pod_uplink";
    case Place::kSiteLink:
      return "site_link";
    case Place::kLatency:
      break;
  }
  return "latency";
}

std::string PathPart::label() const {
  const auto word = [](const std::optional<Dimension>& d) { return d ? std::string(name(*d)) : std::string("begin"); };
  switch (kind) {
    case Kind::kComputation:
      return what.empty() ? "computation" : "computation: " + what;
    case Kind::kCommunication:
      return word(dimension) + " over " + std::string(name(*place));
    case Kind::kCircuits:
      return "circuits: " + word(before) + " -> " + word(dimension);
    case Kind::kLane:
      return "lane: " + word(dimension);
    case Kind::kUnexplained:
      break;
  }
  return "unexplained";
}

Duration CriticalPath::total() const {
  return std::accumulate(parts.begin(), parts.end(), Duration{},
                         [](Duration sum, const PathPart& part) { return sum + part.time; });
}

namespace run {

using execution::Completion;
using execution::ComputationRecord;
using execution::MemberRecord;
using execution::OperationRecord;
using execution::RunHistory;

namespace {

constexpr const char* kLateStart = "late start of a rank";

// The common beginning of the names of like computations: up to the first digit.
std::string common_name(std::string_view name) {
  const auto digit = std::find_if(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  std::string text(name.begin(), digit);
  while (!text.empty() && (std::ispunct(static_cast<unsigned char>(text.back())) != 0 || text.back() == ' '))
    text.pop_back();
  return text;
}

// A stretch of an operation, whose place is found when all are known.
struct Exchange {
  std::uint32_t operation = 0;
  Duration time{};
};

class PathWalk {
 public:
  explicit PathWalk(const PathSources& sources) : sources_(sources), history_(sources.history) {}

  void walk(Time end);
  [[nodiscard]] CriticalPath path() const;

 private:
  struct Position {
    RankId rank;
    std::uint32_t at = 0;
    friend auto operator<=>(const Position&, const Position&) = default;
  };
  /// A task of a rank, in one of its iterations.
  struct TaskOfRank {
    RankId rank;
    TaskId task;
    std::uint32_t iteration = 0;
  };
  using Step = std::optional<Position>;

  void pass(PathPart part, Time until);
  [[nodiscard]] const Completion& completion(Position p) const { return history_.completions(p.rank)[p.at]; }
  [[nodiscard]] std::uint32_t iteration_of(Position p) const;
  Step explain(Position p);
  Step explain_operation(const OperationRecord& record, const Completion& done);
  void take_operation(const OperationRecord& record, const MemberRecord& member, std::uint32_t number, Time from);
  Step lane_before(const OperationRecord& record) const;
  Step cause(const TaskOfRank& task);
  Step completed_now(RankId rank, std::optional<std::uint32_t> iteration) const;
  Step latest_before(RankId rank) const;
  void completions_before(const TaskOfRank& task, std::vector<Position>& out) const;
  [[nodiscard]] const std::vector<TaskId>& predecessors(RankId rank, TaskId task) const;
  [[nodiscard]] std::optional<Dimension> dimension_before(RankId rank, Time at) const;
  [[nodiscard]] Dimension dimension(const OperationRecord& record) const {
    return history_.graph().communicators()[record.communicator.index()].dimension;
  }

  const PathSources& sources_;
  const RunHistory& history_;
  Time now_{};
  std::set<Position> visited_;  // at this instant, so that the walk ends
  std::vector<PathPart> stretches_;
  std::vector<Exchange> exchanges_;
  mutable std::map<const Program*, std::vector<std::vector<TaskId>>> predecessors_;
};

void PathWalk::pass(PathPart part, Time until) {
  if (until >= now_) return;
  part.time = now_ - until;
  part.stretches = 1;
  stretches_.push_back(std::move(part));
  now_ = until;
  visited_.clear();
}

std::uint32_t PathWalk::iteration_of(Position p) const {
  const Completion& c = completion(p);
  return c.is_computation() ? history_.computations()[c.record].iteration
                            : history_.operations()[c.record].members[c.member].iteration;
}

void PathWalk::walk(Time end) {
  now_ = end;
  if (history_.graph().ranks() == 0) return;
  Step at = completed_now(history_.last_rank(), std::nullopt);
  while (at) {
    pass({.kind = PathPart::Kind::kUnexplained}, completion(*at).at);
    visited_.insert(*at);
    at = explain(*at);
  }
  pass({.kind = PathPart::Kind::kUnexplained}, Time{});
}

PathWalk::Step PathWalk::explain(Position p) {
  const Completion& c = completion(p);
  if (!c.is_computation()) return explain_operation(history_.operations()[c.record], c);
  const ComputationRecord& record = history_.computations()[c.record];
  const Program& program = history_.graph().program(record.rank);
  pass({.kind = PathPart::Kind::kComputation, .what = common_name(program.name(record.task))}, record.start);
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
  const MemberRecord* last = &member;
  for (const MemberRecord& other : record.members) {
    if (other.arrived <= record.started && other.arrived > last->arrived) last = &other;
  }
  if (last->arrived < record.started) {
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
  if (running > Duration{}) {
    exchanges_.push_back({number, running});
    now_ -= running;
    visited_.clear();
  }
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
    pass({.kind = PathPart::Kind::kComputation, .what = kLateStart}, began);
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
    if (sources_.operations.crosses(record.communicator)) return dimension(record);
  }
  return std::nullopt;
}

// ---- stretches of one kind together

using PathKey =
    std::tuple<PathPart::Kind, std::string, std::optional<Dimension>, std::optional<Dimension>, std::optional<Place>>;

struct PathSums {
  std::map<PathKey, PathPart> parts;

  void add(PathPart part) {
    const auto [at, fresh] = parts.try_emplace({part.kind, part.what, part.dimension, part.before, part.place}, part);
    if (fresh) return;
    at->second.time += part.time;
    at->second.stretches += part.stretches;
  }
};

/// The use of a capacity by operations on the path.
struct PathUse {
  double busy_s = 0.0;
  double seconds = 0.0;
  Duration time{};
  Place place = Place::kLatency;
};

CriticalPath PathWalk::path() const {
  PathSums sums;
  for (const PathPart& stretch : stretches_) sums.add(stretch);
  std::vector<std::uint32_t> asked;
  for (const Exchange& exchange : exchanges_) asked.push_back(exchange.operation);
  const OperationPlaces places(history_, sources_.loads, sources_.fabric, asked);
  std::map<fabric::Place, PathUse> uses;
  for (const Exchange& exchange : exchanges_) {
    const OperationPlaces::Found found = places.find(exchange.operation, exchange.time);
    sums.add({.kind = PathPart::Kind::kCommunication,
              .dimension = dimension(history_.operations()[exchange.operation]),
              .place = found.place,
              .time = exchange.time,
              .stretches = 1});
    if (found.place == Place::kLatency) continue;
    PathUse& use = uses[found.capacity];
    use.busy_s += found.utilisation * to_seconds(exchange.time);
    use.seconds += to_seconds(exchange.time);
    use.time += exchange.time;
    use.place = found.place;
  }
  CriticalPath path;
  for (const auto& [key, part] : sums.parts) path.parts.push_back(part);
  std::stable_sort(path.parts.begin(), path.parts.end(),
                   [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
  const auto most = std::max_element(uses.begin(), uses.end(),
                                     [](const auto& a, const auto& b) { return a.second.busy_s < b.second.busy_s; });
  if (most != uses.end()) {
    const PathUse& use = most->second;
    path.busiest = {use.place, places.name_of(most->first), use.busy_s / use.seconds, use.time};
  }
  return path;
}

}  // namespace

CriticalPath critical_path(const PathSources& sources, Time end) {
  PathWalk walk(sources);
  walk.walk(end);
  return walk.path();
}

}  // namespace run

}  // namespace photonrail
