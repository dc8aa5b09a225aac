#include "execution/launches.hpp"

#include "core/counted.hpp"
#include "core/printed.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::execution {

namespace {

constexpr std::size_t kMaxWaitingLines = 16;

void observe(const RunContext& run, const Launch& launch, bool done) {
  if (run.observers.empty()) return;
  std::vector<RankId> ranks;
  for (const LaunchPart& part : launch.parts) ranks.push_back(part.rank);
  LaunchEvent event{run.engine.now(), launch.id.value, run.launches->totals()[launch.label.kind].kind, ranks};
  event.opened = launch.opened;
  if (launch.graph != nullptr) {
    event.graph = launch.graph->graph;
  } else {
    event.tasks = launch.own;
  }
  run.observers.notify([&](Observer& observer) { done ? observer.launch_done(event) : observer.launched(event); });
}

void note_opened(const RunContext& run, Launch& launch, LaunchLabel label) {
  launch.label = label;
  launch.opened = run.engine.now();
  run.launches->list(launch);
  ++run.launches->totals()[label.kind].count;
  observe(run, launch, false);
}

struct Instant {
  Time now{};        // of the job
  Duration began{};  // the job
  CriticalPathTag cause{};
};

// The agent is told of launches whose ranks have all asked for circuits ahead, in the order in which the last of them did.
// Returns true when there are some.
bool add_announced(Announcements& announcements, AgentVoice& voice, const Instant& at) {
  const std::vector<const Launch*> asked = announcements.take_asked();
  for (const Launch* launch : asked) {
    voice.add(
        {WorkEvent::Kind::kAnnounced, at.now, launch->id, RankId::none(), launch->label.token, launch->opened - at.began},
        at.cause);
  }
  return !asked.empty();
}

}  // namespace

Launches::Launches(WorkloadAgent& agent, LaunchTable& table, const RunContext& run, ProgramListener& listener,
                   std::optional<Time> horizon, AheadRequests ahead)
    : agent_(agent),
      table_(table),
      run_(run),
      listener_(listener),
      horizon_(horizon),
      announcements_(table, run_.operations, ahead),
      hears_ranks_(agent.hears_ranks()),
      graphs_(table, run_),
      timers_(run.engine, engine::Action::to<&Launches::wake>(*this)),
      voice_(agent, *this) {
  for (const std::string& kind : agent.kinds()) table_.totals().push_back({.kind = kind});
}

void Launches::begin() {
  began_ = run_.engine.now();
  if (horizon_) {
    at_horizon_ = run_.engine.schedule(std::max(*horizon_, run_.engine.now()), engine::Phase::kSettle,
                                       engine::Action::to<&Launches::reach_horizon>(*this));
  }
  voice_.add({.kind = WorkEvent::Kind::kBegin, .now = now()}, {});
  tell_all();
}

// ---- what the agent calls

void Launches::check_call(LaunchLabel label) const {
  if (!voice_.speaks()) fail_workload("calls its sink when it is told of no event");
  const std::size_t kinds = table_.totals().size();
  if (label.kind < kinds) return;
  fail_workload("launches something of kind " + std::to_string(label.kind) + ", and names " + core::counted(kinds, "kind"),
                "a kind is an index into kinds()");
}

Launch& Launches::open_graph(const Fragment& fragment, LaunchLabel label) {
  check_call(label);
  LaunchedGraph& graph = graphs_.of(fragment);
  Launch& launch = table_.open(graph.ranks.size(), graph.longest);
  launch.graph = &graph;
  ++graph.users;
  launch.joins.resize(graph.counters.size());
  // The graph keeps how many predecessors a task has; each launch counts its own down, since launches of a graph overlap.
  for (std::size_t j = 0; j < launch.joins.size(); ++j) launch.joins[j] = {graph.counters[j], {}};
  for (std::size_t part = 0; part < graph.ranks.size(); ++part) {
    launch.parts[part].rank = graph.ranks[part];
    launch.parts[part].tasks_left = static_cast<std::uint32_t>(launch.tasks_of(part));
    tasks_.of += launch.parts[part].tasks_left;
  }
  note_opened(run_, launch, label);
  return launch;
}

// A launch of one task a rank needs no graph: the task lies in the launch itself, and its memory ends with it.
// REQUIRES: label and ranks were checked.
LaunchId Launches::launch_tasks(std::span<const RankId> ranks, LaunchLabel label, const Task& first, const Task& others,
                                CommunicatorId group) {
  Launch& launch = table_.open(ranks.size(), 1);
  launch.graph = nullptr;
  launch.own = {first, others};
  launch.group = group;
  for (std::size_t part = 0; part < ranks.size(); ++part) {
    launch.parts[part].rank = ranks[part];
    launch.parts[part].tasks_left = 1;
  }
  tasks_.of += ranks.size();
  note_opened(run_, launch, label);
  return enter_all(launch);
}

LaunchId Launches::launch(const Fragment& fragment, LaunchLabel label) { return enter_all(open_graph(fragment, label)); }

LaunchId Launches::open(const Fragment& fragment, LaunchLabel label) { return open_graph(fragment, label).id; }

LaunchTable::Place Launches::before_entry(LaunchId id, RankId rank, const char* does) const {
  check_call({});
  const LaunchTable::Place place = rank.index() < table_.ranks() ? table_.place(rank, id) : LaunchTable::Place{};
  const std::string what = "rank " + std::to_string(rank.value) + " " + does + " launch " + std::to_string(id.value);
  if (place.launch == nullptr) fail_workload(what + ", which is not open or not on that rank");
  if (place.launch->parts[place.part].entered) fail_workload(what + ", and has entered it before");
  return place;
}

void Launches::enter(LaunchId id, RankId rank) {
  const LaunchTable::Place place = before_entry(id, rank, "enters");
  enter_part(*place.launch, place.part);
}

// Where the rank has messages before the launch, its requests go out behind them.
void Launches::announce(LaunchId id, RankId rank) {
  const auto [launch, part] = before_entry(id, rank, "announces");
  announcements_.announce(*launch, part);
  add_announced(announcements_, voice_, {now(), began_.since_start(), voice_.cause()});
}

LaunchId Launches::compute(std::span<const RankId> ranks, Duration time, LaunchLabel label, Stream stream) {
  check_call(label);
  graphs_.check_ranks(ranks);
  if (time < Duration{}) fail_workload("launches a computation of negative time");
  const Task task = Task::delay(time, stream);
  return launch_tasks(ranks, label, task, task, CommunicatorId::none());
}

LaunchId Launches::collective(std::span<const RankId> ranks, CollectiveOp op, Bytes size, Dimension dimension,
                              LaunchLabel label) {
  check_call(label);
  graphs_.check_ranks(ranks);
  if (size < Bytes{}) fail_workload("launches a collective of negative size");
  // A communicator is known by its members in ascending order, so that equal groups are one.
  std::vector<RankId> ascending;
  if (!std::is_sorted(ranks.begin(), ranks.end())) {
    ascending.assign(ranks.begin(), ranks.end());
    std::sort(ascending.begin(), ascending.end());
    ranks = ascending;
  }
  const Task task = Task::collective(0, op, size);
  return launch_tasks(ranks, label, task, task, graphs_.group({.members = ranks, .dimension = dimension}));
}

LaunchId Launches::send(RankId from, RankId to, Bytes size, LaunchLabel label, Dimension dimension) {
  const std::array<RankId, 2> ends{from, to};
  check_call(label);
  graphs_.check_ranks(ends);
  if (size < Bytes{}) fail_workload("launches a message of negative size");
  const CommunicatorId link = graphs_.group({.members = ends, .dimension = dimension, .point_to_point = true});
  return launch_tasks(ends, label, Task::send(0, 0, size), Task::receive(0, 0, size), link);
}

// What a rank does may end the launch only after all have entered it: the launch is not another one before.
LaunchId Launches::enter_all(Launch& launch) {
  const LaunchId id = launch.id;
  for (std::uint32_t part = 0; part < launch.parts.size(); ++part) enter_part(launch, part);
  return id;
}

// ---- ranks in launches

void Launches::enter_part(Launch& launch, std::uint32_t part) {
  LaunchPart& entered = launch.parts[part];
  entered.entered = true;
  announcements_.entered(launch, part);
  entered.last = voice_.cause();
  // The rank is idle between launches: the accounts move that part of its wait for peers to `idle`.
  table_.idle().work_began(entered.rank, run_.accounting.peer_wait(entered.rank, run_.engine.now()));
  if (entered.tasks_left == 0) return end_part(launch, part);
  // A launch is the iteration of a straggler, as a training step is that of a job that repeats it.
  const StragglerInjector::Step step = run_.stragglers.of(entered.rank, launch.id.value);
  entered.slowdown = step.slowdown;
  if (step.delay == Duration{}) return release(launch, part);
  run_.accounting.compute_began(entered.rank, run_.engine.now());
  const std::uint64_t argument = std::uint64_t{launch.slot} << 32 | part;
  run_.engine.schedule(run_.engine.now() + step.delay, engine::Phase::kFinish,
                       engine::Action::to<&Launches::end_stall>(*this, argument));
}

// The rank was held up at its entry.
void Launches::end_stall(std::uint64_t slot_and_part) {
  Launch& launch = table_.at(static_cast<std::uint32_t>(slot_and_part >> 32));
  const auto part = static_cast<std::uint32_t>(slot_and_part & 0xffffffff);
  LaunchPart& held = launch.parts[part];
  run_.accounting.compute_ended(held.rank, run_.engine.now());
  held.last.at = run_.engine.now();
  release(launch, part);
}

// The first tasks are ready. One of them may be over at once, and the launch with it: the graph stays until all were.
void Launches::release(Launch& launch, std::uint32_t part) {
  const RankId rank = launch.parts[part].rank;
  const CriticalPathTag cause = launch.parts[part].last;
  if (launch.graph == nullptr) return listener_.task_ready(rank, launch.first, cause);
  LaunchedGraph& graph = *launch.graph;
  const std::size_t first = launch.first.index();
  ++graph.users;
  for (const TaskId task : graph.joins[graph.graph->program_of(RankId{part}).index()].first) {
    listener_.task_ready(rank, TaskId{first + task.index()}, cause);
  }
  --graph.users;
}

void Launches::complete(RankId rank, TaskId number, CriticalPathTag cause) {
  const auto [found, part] = table_.place(rank, number);
  Launch& launch = *found;
  ++tasks_.done;
  announcements_.completed(launch, part, launch.local(number));
  // The message may have been the last before launches that its rank has announced.
  const bool announced = add_announced(announcements_, voice_, {now(), began_.since_start(), cause});
  if (launch.graph != nullptr) {
    const TaskId task = launch.local(number);
    const Program& program = launch.program(part);
    const ProgramJoins& joins = launch.graph->joins[launch.graph->graph->program_of(RankId{part}).index()];
    for (const TaskId next : program.successors(task)) {
      // Most tasks have one predecessor and need no counter.
      if (program.task(next).waits == 1) {
        listener_.task_ready(rank, launch.number(next), cause);
        continue;
      }
      JoinCounter& counter = launch.joins[launch.graph->joins_at[part] + joins.number[next.index()]];
      counter.cause = later_of(counter.cause, cause);
      if (--counter.waits == 0) listener_.task_ready(rank, launch.number(next), counter.cause);
    }
  }
  LaunchPart& of_rank = launch.parts[part];
  of_rank.last = later_of(of_rank.last, cause);
  if (--of_rank.tasks_left == 0) end_part(launch, part);
  if (announced) tell_all();
}

void Launches::end_part(Launch& launch, std::uint32_t part) {
  const LaunchPart& done = launch.parts[part];
  table_.idle().work_ended(done.rank, run_.accounting.peer_wait(done.rank, run_.engine.now()));
  // The critical path ends with whatever ended last, in this launch and in the whole run.
  last_cause_ = later_of(last_cause_, done.last);
  launch.last = later_of(launch.last, done.last);
  if (hears_ranks_) {
    voice_.add(
        {WorkEvent::Kind::kRankDone, now(), launch.id, done.rank, launch.label.token, launch.opened - began_.since_start()},
        done.last);
  }
  if (--launch.ranks_left == 0) end_launch(launch);
  tell_all();
}

void Launches::end_launch(Launch& launch) {
  LaunchTotals& totals = table_.totals()[launch.label.kind];
  const Duration took = run_.engine.now() - launch.opened;
  totals.time += took;
  totals.longest = std::max(totals.longest, took);
  observe(run_, launch, true);
  voice_.add({WorkEvent::Kind::kLaunchDone, now(), launch.id, RankId::none(), launch.label.token,
              launch.opened - began_.since_start()},
             launch.last);
  if (launch.graph != nullptr) --launch.graph->users;
  table_.close(launch);
}

// ---- the agent is told

// What ends while the agent is in a call is told after it.
void Launches::tell_all() {
  if (!end_.empty() || voice_.speaks()) return;
  voice_.tell_all();
  if (table_.open_launches() > 0 || !agent_.finished()) return;
  // Timers and the horizon are events too: what is left of them would keep the run from ending.
  end_.push_back(run_.engine.now());
  timers_.cancel();
  run_.engine.cancel(at_horizon_);
  listener_.all_ranks_finished();
}

// ---- timers

void Launches::wake_at(Time at, std::uint64_t token) {
  check_call({});
  if (at < now()) fail_workload("sets a timer for " + core::seconds_text(at) + ", and it is " + core::seconds_text(now()));
  // A time beyond the clock's range means never; the sum with the begin of the job would wrap around.
  const bool ever = at.since_start() < Time::never() - began_;
  timers_.add(ever ? at + began_.since_start() : Time::never(), token, voice_.cause().reconfigurations);
}

// Timers that the agent sets for this instant in its answers are another event, behind what ends meanwhile.
void Launches::wake(std::uint64_t) {
  while (const std::optional<LaunchTimers::Timer> timer = timers_.take()) {
    voice_.add({.kind = WorkEvent::Kind::kTimer, .now = now(), .token = timer->token},
               {run_.engine.now(), timer->reconfigurations});
  }
  tell_all();
}

// ---- runs that do not end

void Launches::reach_horizon(std::uint64_t) {
  std::vector<std::string> lines = waiting();
  lines.insert(lines.begin(), "the workload has not ended at its horizon of " + core::seconds_text(run_.engine.now()));
  throw DeadlockError(std::move(lines));
}

std::vector<std::string> Launches::waiting() const {
  std::vector<std::string> lines;
  for (const Launch* launch : table_.all()) {
    if (lines.size() == kMaxWaitingLines) break;
    std::string outside;
    std::size_t inside = 0;
    for (const LaunchPart& part : launch->parts) {
      if (!part.entered) outside += (outside.empty() ? " " : ", ") + std::to_string(part.rank.value);
      if (part.entered && part.tasks_left > 0) ++inside;
    }
    std::string line = "launch " + std::to_string(launch->id.value) + " (" + table_.totals()[launch->label.kind].kind +
                       ") of " + core::seconds_text(launch->opened) + ": " + core::counted(inside, "rank") + " of " +
                       std::to_string(launch->parts.size()) + " in it";
    if (!outside.empty()) line += "; never entered by rank" + outside;
    lines.push_back(std::move(line));
  }
  if (!agent_.finished() && table_.open_launches() == 0) {
    lines.push_back("the workload has launched nothing more, and is not finished");
  }
  for (std::string& line : agent_.waiting()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace photonrail::execution
