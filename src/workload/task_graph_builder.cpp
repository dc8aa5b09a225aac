#include "core/counted.hpp"
#include "photonrail/error.hpp"
#include "photonrail/task_graph.hpp"
#include "workload/call_check.hpp"
#include "workload/dependency_graph.hpp"
#include "workload/program_hash.hpp"
#include "workload/slot_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace photonrail {

using workload::CallIndex;
using workload::check_calls;
using workload::check_slots;
using workload::count_waits;
using workload::DependencyEdge;
using workload::describe_rank;
using workload::describe_task;
using workload::find_cycle;
using workload::hash_tasks;
using workload::index_calls;
using workload::make_successors;
using workload::number_calls;
using workload::Successors;

namespace {

std::string describe_cycle(const std::vector<TaskId>& cycle, const Program& program) {
  constexpr std::size_t kInFull = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(cycle.size(), kInFull); ++i) {
    text += describe_task(cycle[i], program.name(cycle[i])) + " -> ";
  }
  if (cycle.size() > kInFull) text += "(" + std::to_string(cycle.size() - kInFull) + " more) -> ";
  return text + describe_task(cycle.front(), program.name(cycle.front()));
}

/// Returns what is wrong with the first bad edge, or "".
std::string edge_problem(std::span<const DependencyEdge> edges, const Program& program) {
  const std::size_t tasks = program.tasks().size();
  const auto describe = [&](TaskId t) { return describe_task(t, t.index() < tasks ? program.name(t) : ""); };
  for (const auto& [before, after] : edges) {
    if (after.index() >= tasks) return describe(after) + " does not exist, but is to wait for " + describe(before);
    if (before.index() >= tasks) return describe(after) + " waits for " + describe(before) + ", which does not exist";
    if (before == after) return describe(after) + " waits for itself";
  }
  return {};
}

}  // namespace

// Room for a link each way to a neighbour of every rank, and as many groups: what is moved when it grows is twice in
// memory, and room that is never used is none of it.
TaskGraphBuilder::TaskGraphBuilder(std::size_t ranks) : program_of_(ranks, ProgramId::none()), slots_of_(ranks) {
  communicators_.reserve(3 * ranks);
  links_.reserve(2 * ranks);
}

CommunicatorId TaskGraphBuilder::add_communicator(std::string name, std::vector<RankId> members, Dimension dimension,
                                                  bool point_to_point) {
  const auto where = [&name] { return "communicator " + name; };
  if (members.empty()) throw ConfigError(where(), "has no members");
  std::vector<RankId> sorted;  // a group's members, or a copy of those of a link, where they do not ascend
  const bool ascend = std::is_sorted(members.begin(), members.end());
  if (!ascend) {
    sorted = members;
    std::sort(sorted.begin(), sorted.end());
  }
  const std::vector<RankId>& ascending = ascend ? members : sorted;
  if (ascending.back().index() >= program_of_.size()) {
    throw ConfigError(where(), describe_rank(ascending.back()) + " is not a rank of the job",
                      "it has " + core::counted(program_of_.size(), "rank"));
  }
  const auto twice = std::adjacent_find(ascending.begin(), ascending.end());
  if (twice != ascending.end()) throw ConfigError(where(), describe_rank(*twice) + " is a member twice");
  if (point_to_point && members.size() != 2) {
    throw ConfigError(where(), "is point to point with " + core::counted(members.size(), "member"), "sender and receiver");
  }
  if (!point_to_point && !ascend) members = std::move(sorted);
  communicators_.push_back({std::move(name), std::move(members), dimension, point_to_point});
  return CommunicatorId{communicators_.size() - 1};
}

// Links of neighbouring ranks over the same distance, which most jobs make one after another, are in neighbouring buckets.
std::uint32_t& TaskGraphBuilder::link_bucket(RankId from, RankId to) {
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio (Knuth, TAOCP 3, 6.4)
  const std::uint64_t distance = std::uint64_t{to.value} - from.value;
  const std::uint64_t bucket = from.value + ((distance * kSpread) >> 32);
  return link_buckets_[bucket & (link_buckets_.size() - 1)];
}

void TaskGraphBuilder::grow_link_buckets() {
  constexpr std::size_t kFirst = 64;
  link_buckets_.assign(std::max(kFirst, 2 * link_buckets_.size()), 0);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    std::uint32_t& bucket = link_bucket(links_[i].from, links_[i].to);
    links_[i].next = std::exchange(bucket, static_cast<std::uint32_t>(i + 1));
  }
}

CommunicatorId TaskGraphBuilder::link(RankId from, RankId to, Dimension dimension) {
  if (links_.size() >= link_buckets_.size()) grow_link_buckets();
  std::uint32_t& bucket = link_bucket(from, to);
  for (std::uint32_t at = bucket; at != 0; at = links_[at - 1].next) {
    if (links_[at - 1].from == from && links_[at - 1].to == to) return links_[at - 1].id;
  }
  std::string name = "link." + std::to_string(from.value) + ">" + std::to_string(to.value);
  const CommunicatorId id = add_communicator(std::move(name), {from, to}, dimension, true);
  links_.push_back({from, to, id, bucket});
  bucket = static_cast<std::uint32_t>(links_.size());
  return id;
}

ProgramId TaskGraphBuilder::add_program() {
  drafts_.emplace_back();
  return ProgramId{drafts_.size() - 1};
}

TaskGraphBuilder::Draft& TaskGraphBuilder::draft(ProgramId p) {
  if (p.index() >= drafts_.size()) throw ConfigError("program " + std::to_string(p.value), "does not exist");
  return drafts_[p.index()];
}

TaskId TaskGraphBuilder::add(ProgramId p, const Task& task, std::string_view name, std::span<const TaskId> after) {
  Draft& d = draft(p);
  const TaskId id{d.tasks.size()};
  const std::int64_t amount = task.time() ? task.time()->count() : task.size().count + task.memory().count;
  const bool sound = amount >= 0 && std::isfinite(task.flops) && task.flops >= 0.0;
  if (!sound) {
    throw ConfigError(describe(p) + ", " + describe_task(id, name),
                      "has size or time " + std::to_string(amount) + " and " + std::to_string(task.flops) + " FLOPs",
                      "neither can be negative or infinite");
  }
  if (d.names.size() + name.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw ConfigError(describe(p), "has more than 4 GiB of task names", "give shorter names, or none");
  }
  d.tasks.push_back(task);
  d.names += name;
  d.name_offsets.push_back(static_cast<std::uint32_t>(d.names.size()));
  for (const TaskId before : after) d.edges.emplace_back(before, id);
  return id;
}

std::uint32_t TaskGraphBuilder::slot_of(ProgramId p, TaskGroup group) {
  if (group.communicator().is_none()) return group.slot();
  Draft& d = draft(p);
  const auto [known, is_new] =
      d.slot_of.try_emplace(group.communicator().value, static_cast<std::uint32_t>(d.slots.size()));
  if (is_new) d.slots.push_back(group.communicator());
  return known->second;
}

TaskId TaskGraphBuilder::add_compute(ProgramId p, double flops, Bytes memory, std::string_view name,
                                     std::span<const TaskId> after, Stream stream) {
  return add(p, Task::compute(flops, memory, stream), name, after);
}

TaskId TaskGraphBuilder::add_demand_compute(ProgramId p, TaskGroup group, std::uint32_t demand, double flops,
                                            std::string_view name, std::span<const TaskId> after) {
  return add(p, Task::demand_compute(slot_of(p, group), demand, flops), name, after);
}

TaskId TaskGraphBuilder::add_delay(ProgramId p, Duration time, std::string_view name, std::span<const TaskId> after,
                                   Stream stream) {
  return add(p, Task::delay(time, stream), name, after);
}

TaskId TaskGraphBuilder::add_collective(ProgramId p, TaskGroup group, CollectiveOp op, Bytes size, std::string_view name,
                                        std::span<const TaskId> after, Member root) {
  return add(p, Task::collective(slot_of(p, group), op, size, root), name, after);
}

TaskId TaskGraphBuilder::add_all_to_all(ProgramId p, TaskGroup group, std::uint32_t demand, Bytes size,
                                        std::string_view name, std::span<const TaskId> after) {
  return add(p, Task::all_to_all(slot_of(p, group), demand, size), name, after);
}

TaskId TaskGraphBuilder::add_send(ProgramId p, TaskGroup group, Bytes size, std::uint32_t tag, std::string_view name,
                                  std::span<const TaskId> after) {
  return add(p, Task::send(slot_of(p, group), tag, size), name, after);
}

TaskId TaskGraphBuilder::add_receive(ProgramId p, TaskGroup group, Bytes size, std::uint32_t tag, std::string_view name,
                                     std::span<const TaskId> after) {
  return add(p, Task::receive(slot_of(p, group), tag, size), name, after);
}

std::uint32_t TaskGraphBuilder::add_shares(ProgramId p, std::vector<Program::Share> shares) {
  Draft& d = draft(p);
  d.shares.push_back(std::move(shares));
  return static_cast<std::uint32_t>(d.shares.size());
}

void TaskGraphBuilder::set_shares(ProgramId p, TaskId task, std::uint32_t number) {
  Draft& d = draft(p);
  if (d.shares_of.size() <= task.index()) d.shares_of.resize(task.index() + 1);
  d.shares_of[task.index()] = number;
}

void TaskGraphBuilder::add_dependency(ProgramId p, TaskId before, TaskId after) {
  draft(p).edges.emplace_back(before, after);
}

void TaskGraphBuilder::assign(RankId rank, ProgramId p, std::vector<CommunicatorId> slots) {
  if (rank.index() >= program_of_.size()) {
    throw ConfigError(describe_rank(rank), "is not a rank of the job",
                      "it has " + core::counted(program_of_.size(), "rank"));
  }
  if (!program_of_[rank.index()].is_none()) throw ConfigError(describe_rank(rank), "is given a program twice");
  draft(p);  // it must exist
  program_of_[rank.index()] = p;
  slots_of_[rank.index()] = std::move(slots);
}

void TaskGraphBuilder::assign(RankId rank, ProgramId p) { assign(rank, p, draft(p).slots); }

std::string TaskGraphBuilder::describe(ProgramId p) const {
  const auto rank = std::find(program_of_.begin(), program_of_.end(), p);
  const std::string program = "program " + std::to_string(p.value);
  if (rank == program_of_.end()) return program;
  return describe_rank(RankId{static_cast<std::size_t>(rank - program_of_.begin())}) + " (" + program + ")";
}

Program TaskGraphBuilder::finish_program(ProgramId p) {
  Draft& d = draft(p);
  Program program;
  program.tasks_ = std::move(d.tasks);
  if (!d.names.empty()) {
    program.names_ = std::move(d.names);
    program.name_offsets_ = std::move(d.name_offsets);
  }
  if (const std::string problem = edge_problem(d.edges, program); !problem.empty()) {
    throw ConfigError(describe(p), problem, "the program has " + core::counted(program.tasks_.size(), "task"));
  }
  program.shares_ = std::move(d.shares);
  program.shares_of_ = std::move(d.shares_of);
  Successors successors = make_successors(program.tasks_.size(), d.edges);
  d = {};
  if (const auto cycle = find_cycle(successors); !cycle.empty()) {
    throw ConfigError(describe(p), "tasks wait for each other: " + describe_cycle(cycle, program),
                      "dependencies must not form a cycle");
  }
  const auto waits = count_waits(successors);
  for (std::size_t t = 0; t < waits.size(); ++t) program.tasks_[t].waits = waits[t];
  program.offsets_ = std::move(successors.offsets);
  program.successors_ = std::move(successors.tasks);
  return program;
}

TaskGraph TaskGraphBuilder::build() && {
  TaskGraph graph;
  links_ = {};
  link_buckets_ = {};
  std::vector<ProgramId> shared;  // by draft
  std::multimap<std::uint64_t, ProgramId> by_hash;
  for (std::size_t p = 0; p < drafts_.size(); ++p) {
    Program program = finish_program(ProgramId{p});
    const auto [first, last] = by_hash.equal_range(hash_tasks(program));
    const auto same =
        std::find_if(first, last, [&](const auto& e) { return graph.programs_[e.second.index()] == program; });
    shared.push_back(same == last ? ProgramId{graph.programs_.size()} : same->second);
    if (same != last) continue;  // a trace repeats one program for many ranks
    by_hash.emplace(hash_tasks(program), shared.back());
    graph.programs_.push_back(std::move(program));
  }
  graph.slot_offsets_.push_back(0);
  std::size_t slots = 0;
  for (const std::vector<CommunicatorId>& of_rank : slots_of_) slots += of_rank.size();
  graph.slots_.reserve(slots);
  graph.slot_offsets_.reserve(program_of_.size() + 1);
  for (std::size_t r = 0; r < program_of_.size(); ++r) {
    if (program_of_[r].is_none()) throw ConfigError(describe_rank(RankId{r}), "has no program", "assign it one");
    graph.slots_.insert(graph.slots_.end(), slots_of_[r].begin(), slots_of_[r].end());
    graph.slot_offsets_.push_back(static_cast<std::uint32_t>(graph.slots_.size()));
  }
  slots_of_ = {};
  graph.program_of_.reserve(program_of_.size());
  for (const ProgramId p : program_of_) graph.program_of_.push_back(shared[p.index()]);
  graph.communicators_ = std::move(communicators_);
  graph.demands_ = std::move(demands_);
  graph.warnings_ = std::move(warnings_);

  const std::vector<std::uint32_t> slots_used = check_slots(graph);
  std::vector<CallIndex> index(graph.programs_.size());
  for (std::size_t p = 0; p < index.size(); ++p) {
    std::vector<Task>& tasks = graph.programs_[p].tasks_;
    index[p] = index_calls(tasks, slots_used[p]);
    number_calls(tasks, index[p]);
  }
  for (std::string& line : check_calls(graph, index)) graph.warnings_.push_back(std::move(line));
  return graph;
}

}  // namespace photonrail
