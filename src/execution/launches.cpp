#include "execution/launches.hpp"

#include "core/counted.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

namespace photonrail::execution {

namespace {

constexpr std::size_t kIdleGraphs = 256;
constexpr std::uint64_t kMaxToldAtOneInstant = std::uint64_t{1} << 22;
constexpr std::size_t kMaxWaitingLines = 16;

[[noreturn]] void fail(const std::string& what, const std::string& hint = {}) { throw ConfigError("workload", what, hint); }

std::string time_text(Time at) { return std::to_string(to_seconds(at)) + " s"; }

std::vector<LaunchTotals> totals_of(const std::vector<std::string>& kinds) {
  std::vector<LaunchTotals> totals(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) totals[i].kind = kinds[i];
  return totals;
}

}  // namespace

Launches::Launches(WorkloadAgent& agent, LaunchTable& table, const RunContext& run, ProgramListener& listener,
                   std::optional<Time> horizon)
    : agent_(agent),
      table_(table),
      run_(run),
      listener_(listener),
      horizon_(horizon),
      hears_ranks_(agent.hears_ranks()),
      kinds_(agent.kinds()),
      totals_(totals_of(kinds_)),
      rank_seen_(table.ranks()) {}

void Launches::begin() {
  if (horizon_) {
    at_horizon_ = run_.engine.schedule(std::max(*horizon_, now()), engine::Phase::kSettle,
                                       engine::Action::to<&Launches::reach_horizon>(*this));
  }
  tell({.kind = WorkEvent::Kind::kBegin}, {});
}

// ---- what the agent calls

void Launches::check_call(LaunchLabel label) const {
  if (!telling_) fail("calls its sink when it is told of no event");
  if (label.kind < kinds_.size()) return;
  fail("launches something of kind " + std::to_string(label.kind) + ", and names " + core::counted(kinds_.size(), "kind"),
       "a kind is an index into kinds()");
}

void Launches::check_ranks(std::span<const RankId> ranks) {
  if (ranks.empty()) fail("launches something on no rank");
  ++check_;
  for (const RankId rank : ranks) {
    if (rank.index() >= rank_seen_.size()) {
      fail("launches something on rank " + std::to_string(rank.value) + ", which its job does not have",
           "it has " + core::counted(rank_seen_.size(), "rank"));
    }
    if (std::exchange(rank_seen_[rank.index()], check_) == check_) {
      fail("launches something twice on rank " + std::to_string(rank.value));
    }
  }
}

// Graphs that are launched again and again are looked up by their address, which they keep while they are here.
LaunchedGraph& Launches::graph_of(const Fragment& fragment) {
  if (fragment.graph == nullptr) fail("launches a fragment without a graph");
  std::vector<std::unique_ptr<LaunchedGraph>>& known = graphs_[fragment.graph.get()];
  for (const auto& graph : known) {
    if (graph->ranks == fragment.ranks) return *graph;
  }
  std::unique_ptr<LaunchedGraph> made = compile(fragment);
  drop_idle_graphs();
  ++graph_count_;
  return *graphs_[fragment.graph.get()].emplace_back(std::move(made));
}

std::unique_ptr<LaunchedGraph> Launches::compile(const Fragment& fragment) {
  const TaskGraph& graph = *fragment.graph;
  if (fragment.ranks.size() != graph.ranks()) {
    fail("launches a graph of " + core::counted(graph.ranks(), "rank") + " on " +
             core::counted(fragment.ranks.size(), "rank"),
         "a fragment names a rank of the job for each rank of its graph");
  }
  check_ranks(fragment.ranks);
  if (graph.demands() != nullptr) {
    fail("launches a graph with traffic matrices, which are of a graph that is known before the run",
         "give each all-to-all its size, or say that the future is known");
  }
  auto made = std::make_unique<LaunchedGraph>();
  made->graph = fragment.graph;
  made->ranks = fragment.ranks;
  std::set<CommunicatorId> named;
  std::vector<RankId> members;
  for (const Communicator& communicator : graph.communicators()) {
    members.clear();
    for (const RankId member : communicator.members) members.push_back(fragment.ranks[member.index()]);
    if (!communicator.point_to_point) std::sort(members.begin(), members.end());
    GroupKey key{communicator.name, members, communicator.dimension, communicator.point_to_point};
    while (!named.insert(intern(key)).second) ++key.ordinal;
    made->communicators.push_back(intern(key));
  }
  for (const Program& program : graph.programs()) made->joins.push_back(ProgramJoins::of(program));
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    const std::vector<std::uint32_t>& waits = made->joins[graph.program_of(RankId{r}).index()].waits;
    made->joins_at.push_back(static_cast<std::uint32_t>(made->counters.size()));
    made->counters.insert(made->counters.end(), waits.begin(), waits.end());
    made->longest = std::max(made->longest, static_cast<std::uint32_t>(graph.program(RankId{r}).tasks().size()));
  }
  return made;
}

CommunicatorId Launches::intern(const GroupKey& key) {
  const auto [id, is_new] = table_.groups().find_or_add(key);
  if (!is_new) return id;
  run_.operations.add_group(id);
  run_.observers.notify([&](Observer& observer) { observer.communicator(id, table_.groups()[id]); });
  return id;
}

// An agent that makes a new graph for each launch does not fill the memory with them.
void Launches::drop_idle_graphs() {
  if (graph_count_ < kIdleGraphs + 2 * table_.open_launches()) return;
  graph_count_ = 0;
  for (auto& [graph, known] : graphs_) {
    std::erase_if(known, [](const auto& of_ranks) { return of_ranks->users == 0; });
    graph_count_ += known.size();
  }
  std::erase_if(graphs_, [](const auto& entry) { return entry.second.empty(); });
}

Launch& Launches::open_graph(const Fragment& fragment, LaunchLabel label) {
  check_call(label);
  LaunchedGraph& graph = graph_of(fragment);
  Launch& launch = table_.open(graph.ranks.size(), graph.longest);
  launch.graph = &graph;
  ++graph.users;
  launch.joins.resize(graph.counters.size());
  for (std::size_t j = 0; j < launch.joins.size(); ++j) launch.joins[j] = {graph.counters[j], {}};
  for (std::size_t part = 0; part < graph.ranks.size(); ++part) {
    launch.parts[part].rank = graph.ranks[part];
    launch.parts[part].tasks_left = static_cast<std::uint32_t>(launch.tasks_of(part));
    tasks_ += launch.parts[part].tasks_left;
  }
  announce(launch, label);
  return launch;
}

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
  tasks_ += ranks.size();
  announce(launch, label);
  return enter_all(launch);
}

void Launches::announce(Launch& launch, LaunchLabel label) {
  launch.label = label;
  launch.opened = now();
  table_.list(launch);
  ++totals_[label.kind].count;
  if (!run_.observers.empty()) observe(launch, false);
}

void Launches::observe(const Launch& launch, bool done) const {
  std::vector<RankId> ranks;
  for (const LaunchPart& part : launch.parts) ranks.push_back(part.rank);
  LaunchEvent event{now(), launch.id.value, kinds_[launch.label.kind], ranks};
  event.opened = launch.opened;
  if (launch.graph != nullptr) {
    event.graph = launch.graph->graph;
  } else {
    event.tasks = launch.own;
  }
  run_.observers.notify([&](Observer& observer) { done ? observer.launch_done(event) : observer.launched(event); });
}

LaunchId Launches::launch(const Fragment& fragment, LaunchLabel label) { return enter_all(open_graph(fragment, label)); }

LaunchId Launches::open(const Fragment& fragment, LaunchLabel label) { return open_graph(fragment, label).id; }

void Launches::enter(LaunchId id, RankId rank) {
  check_call({});
  const LaunchTable::Place place = rank.index() < table_.ranks() ? table_.place(rank, id) : LaunchTable::Place{};
  const std::string what = "rank " + std::to_string(rank.value) + " enters launch " + std::to_string(id.value);
  if (place.launch == nullptr) fail(what + ", which is not open or not on that rank");
  if (place.launch->parts[place.part].entered) fail(what + " twice");
  enter_part(*place.launch, place.part);
}

LaunchId Launches::compute(std::span<const RankId> ranks, Duration time, LaunchLabel label, Stream stream) {
  check_call(label);
  check_ranks(ranks);
  if (time < Duration{}) fail("launches a computation of negative time");
  const Task task = Task::delay(time, stream);
  return launch_tasks(ranks, label, task, task, CommunicatorId::none());
}

LaunchId Launches::collective(std::span<const RankId> ranks, CollectiveOp op, Bytes size, Dimension dimension,
                              LaunchLabel label) {
  check_call(label);
  check_ranks(ranks);
  if (size < Bytes{}) fail("launches a collective of negative size");
  std::vector<RankId> ascending;
  if (!std::is_sorted(ranks.begin(), ranks.end())) {
    ascending.assign(ranks.begin(), ranks.end());
    std::sort(ascending.begin(), ascending.end());
    ranks = ascending;
  }
  const Task task = Task::collective(0, op, size);
  return launch_tasks(ranks, label, task, task, intern({.members = ranks, .dimension = dimension}));
}

LaunchId Launches::send(RankId from, RankId to, Bytes size, LaunchLabel label, Dimension dimension) {
  const std::array<RankId, 2> ends{from, to};
  check_call(label);
  check_ranks(ends);
  if (size < Bytes{}) fail("launches a message of negative size");
  const CommunicatorId link = intern({.members = ends, .dimension = dimension, .point_to_point = true});
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
  entered.last = cause_;
  run_.accounting.work_began(entered.rank, now());
  if (entered.tasks_left == 0) return end_part(launch, part);
  const StragglerInjector::Step step = run_.stragglers.of(entered.rank, launch.id.value);
  entered.slowdown = step.slowdown;
  if (step.delay == Duration{}) return release(launch, part);
  run_.accounting.compute_began(entered.rank, now());
  const std::uint64_t argument = std::uint64_t{launch.slot} << 32 | part;
  run_.engine.schedule(now() + step.delay, engine::Phase::kFinish,
                       engine::Action::to<&Launches::end_stall>(*this, argument));
}

// The rank was held up at its entry.
void Launches::end_stall(std::uint64_t slot_and_part) {
  Launch& launch = table_.at(static_cast<std::uint32_t>(slot_and_part >> 32));
  const auto part = static_cast<std::uint32_t>(slot_and_part & 0xffffffff);
  LaunchPart& held = launch.parts[part];
  run_.accounting.compute_ended(held.rank, now());
  held.last.at = now();
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
  ++tasks_done_;
  if (launch.graph != nullptr) {
    const TaskId task = launch.local(number);
    const Program& program = launch.program(part);
    const ProgramJoins& joins = launch.graph->joins[launch.graph->graph->program_of(RankId{part}).index()];
    for (const TaskId next : program.successors(task)) {
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
}

void Launches::moved(RankId rank, std::uint32_t launch, Bytes bytes) {
  const LaunchTable::Place place = table_.place(rank, LaunchId{launch});
  if (place.launch != nullptr) totals_[place.launch->label.kind].bytes += bytes;
}

void Launches::end_part(Launch& launch, std::uint32_t part) {
  const LaunchPart& done = launch.parts[part];
  run_.accounting.work_ended(done.rank, now());
  last_cause_ = later_of(last_cause_, done.last);
  launch.last = later_of(launch.last, done.last);
  if (hears_ranks_) {
    to_tell_.push_back(
        {{WorkEvent::Kind::kRankDone, now(), launch.id, done.rank, launch.label.token, launch.opened}, done.last});
  }
  if (--launch.ranks_left == 0) end_launch(launch);
  tell_all();
}

void Launches::end_launch(Launch& launch) {
  LaunchTotals& totals = totals_[launch.label.kind];
  const Duration took = now() - launch.opened;
  totals.time += took;
  totals.longest = std::max(totals.longest, took);
  if (!run_.observers.empty()) observe(launch, true);
  to_tell_.push_back(
      {{WorkEvent::Kind::kLaunchDone, now(), launch.id, RankId::none(), launch.label.token, launch.opened}, launch.last});
  if (launch.graph != nullptr) --launch.graph->users;
  table_.close(launch);
}

// ---- the agent is told

void Launches::tell(const WorkEvent& event, CriticalPathTag cause) {
  to_tell_.push_back({event, cause});
  to_tell_.back().event.now = now();
  tell_all();
}

// One event after another: what ends while the agent is in a call is told after it.
void Launches::tell_all() {
  if (telling_ || ended_) return;
  telling_ = true;
  while (!to_tell_.empty()) {
    const Told told = to_tell_.front();
    to_tell_.pop_front();
    cause_ = told.cause;
    tell_one(told.event);
  }
  telling_ = false;
  cause_ = {};
  end_if_done();
}

void Launches::tell_one(const WorkEvent& event) {
  told_now_ = event.now == told_at_ ? told_now_ + 1 : 1;
  told_at_ = event.now;
  if (told_now_ > kMaxToldAtOneInstant) {
    throw DeadlockError({"the workload was told of " + std::to_string(kMaxToldAtOneInstant) + " ends at " +
                         time_text(event.now) + ", and time does not pass"});
  }
  try {
    agent_.on(event, *this);
  } catch (const Error&) {
    throw;
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& error) {
    fail(std::string("its agent failed at ") + time_text(event.now) + ": " + error.what());
  }
}

void Launches::end_if_done() {
  if (ended_ || table_.open_launches() > 0 || !agent_.finished()) return;
  ended_ = true;
  end_.push_back(now());
  run_.engine.cancel(wake_);
  run_.engine.cancel(at_horizon_);
  listener_.all_ranks_finished();
}

// ---- timers

void Launches::wake_at(Time at, std::uint64_t token) {
  check_call({});
  if (at < now()) fail("sets a timer for " + time_text(at) + ", and it is " + time_text(now()));
  timers_.push({at, timer_sequence_++, token, cause_.reconfigurations});
  set_wake();
}

// Of all timers only the next is an event of the engine.
void Launches::set_wake() {
  if (timers_.empty()) return;
  const Time next = timers_.top().at;
  if (wake_ && wake_time_ <= next) return;
  if (wake_) run_.engine.cancel(wake_);
  wake_time_ = next;
  wake_ = run_.engine.schedule(next, engine::Phase::kFinish, engine::Action::to<&Launches::wake>(*this));
}

// Timers that the agent sets for this instant in its answers are another event, behind what ends meanwhile.
void Launches::wake(std::uint64_t) {
  wake_ = {};
  while (!timers_.empty() && timers_.top().at == now()) {
    const Timer& timer = timers_.top();
    to_tell_.push_back({{WorkEvent::Kind::kTimer, now(), LaunchId::none(), RankId::none(), timer.token, {}},
                        {now(), timer.reconfigurations}});
    timers_.pop();
  }
  set_wake();
  tell_all();
}

// ---- runs that do not end

void Launches::reach_horizon(std::uint64_t) {
  std::vector<std::string> lines = waiting();
  lines.insert(lines.begin(), "the workload has not ended at its horizon of " + time_text(now()));
  throw DeadlockError(std::move(lines));
}

std::string Launches::describe(const Launch& launch) const {
  return "launch " + std::to_string(launch.id.value) + " (" + kinds_[launch.label.kind] + ")";
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
    std::string line = describe(*launch) + " of " + time_text(launch->opened) + ": " + core::counted(inside, "rank") +
                       " of " + std::to_string(launch->parts.size()) + " in it";
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
