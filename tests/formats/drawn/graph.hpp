// A task graph as a drawer expects it, and its comparison with the one that a reader gives.
#pragma once

#include "formats/drawn/drawn.hpp"
#include "photonrail/task_graph.hpp"

#include <optional>
#include <tuple>

namespace photonrail::test::drawn {

struct ExpectedGroup {
  std::string name;  ///< of a link: not compared
  std::vector<std::uint32_t> members;
  Dimension dimension = Dimension::kOther;
  bool link = false;

  friend bool operator<(const ExpectedGroup& a, const ExpectedGroup& b) {
    return std::tie(a.link, a.name, a.members) < std::tie(b.link, b.name, b.members);
  }
};

struct ExpectedTask {
  std::string name;
  TaskKind kind = TaskKind::kCompute;
  Stream stream = Stream::kGpu;
  std::optional<std::int64_t> picoseconds;  ///< of a computation with a time
  double flops = 0.0;
  std::int64_t memory = 0;
  CollectiveOp op = CollectiveOp::kSend;
  std::int64_t bytes = 0;
  std::uint32_t tag = 0;
  std::uint32_t root = 0;  ///< its place in the group
  ExpectedGroup group;     ///< of communication
  std::set<std::size_t> after;
};

inline ExpectedTask expected_delay(std::string name, std::int64_t picoseconds, Stream stream) {
  ExpectedTask task;
  task.name = std::move(name);
  task.picoseconds = picoseconds;
  task.stream = stream;
  return task;
}

inline ExpectedGroup group_of(const Communicator& c) {
  ExpectedGroup group{c.point_to_point ? "" : c.name, {}, c.dimension, c.point_to_point};
  for (const RankId rank : c.members) group.members.push_back(rank.value);
  return group;
}

inline void compare_groups(const std::string& what, const ExpectedGroup& truth, const ExpectedGroup& read,
                           Differences& found) {
  if (!truth.link) found.compare(what + " group", truth.name, read.name);
  found.compare(what + " members", truth.members, read.members);
  found.compare(what + " dimension", std::string(name(truth.dimension)), std::string(name(read.dimension)));
  found.compare(what + " is a link", truth.link, read.link);
}

/// Compares everything that a graph says of a task but its place.
inline void compare_task(const std::string& what, const ExpectedTask& truth, const TaskGraph& graph, RankId rank,
                         const Task& read, std::string_view read_name, Differences& found) {
  found.compare(what + " name", truth.name, std::string(read_name));
  found.compare(what + " kind", static_cast<int>(truth.kind), static_cast<int>(read.kind));
  if (truth.kind != read.kind) return;
  if (truth.kind == TaskKind::kCompute) {
    found.compare(what + " stream", static_cast<int>(truth.stream), static_cast<int>(read.stream));
    found.compare(what + " has a time", truth.picoseconds.has_value(), read.time().has_value());
    if (truth.picoseconds && read.time()) found.compare(what + " ps", *truth.picoseconds, read.time()->count());
    found.compare(what + " FLOPs", truth.flops, read.flops);
    found.compare(what + " memory", truth.memory, read.memory().count);
    return;
  }
  found.compare(what + " operation", static_cast<int>(truth.op), static_cast<int>(read.op));
  found.compare(what + " bytes", truth.bytes, read.size().count);
  found.compare(what + " tag", truth.tag, read.tag);
  found.compare(what + " root", truth.root, read.root());
  compare_groups(what, truth.group, group_of(graph.communicators()[graph.communicator(rank, read.slot).index()]), found);
}

/// Compares all ranks: tasks in their order, what each waits for, and which calls meet: those with the same index among
/// the calls of a rank with the same communicator and tag.
inline void compare_graph(const std::vector<std::vector<ExpectedTask>>& truth, const TaskGraph& graph, Differences& found) {
  found.compare("ranks", truth.size(), graph.ranks());
  if (truth.size() != graph.ranks()) return;
  for (std::size_t r = 0; r < truth.size(); ++r) {
    const Program& program = graph.program(RankId{r});
    const std::string of_rank = "rank " + std::to_string(r);
    found.compare(of_rank + " tasks", truth[r].size(), program.tasks().size());
    if (truth[r].size() != program.tasks().size()) return;
    std::vector<std::set<std::size_t>> after(truth[r].size());
    for (std::size_t t = 0; t < after.size(); ++t) {
      for (const TaskId next : program.successors(TaskId{t})) after[next.index()].insert(t);
    }
    std::map<std::pair<ExpectedGroup, std::uint32_t>, std::uint32_t> calls;
    for (std::size_t t = 0; t < truth[r].size(); ++t) {
      const ExpectedTask& task = truth[r][t];
      const Task& read = program.task(TaskId{t});
      const std::string what = of_rank + " task " + std::to_string(t);
      compare_task(what, task, graph, RankId{r}, read, program.name(TaskId{t}), found);
      found.compare(what + " waits for", task.after, after[t]);
      found.compare(what + " waits", task.after.size(), std::size_t{read.waits});
      if (task.kind == TaskKind::kCompute) continue;
      found.compare(what + " index", calls[std::pair(task.group, task.tag)]++, read.match);
    }
  }
}

/// All communicators, whether calls use them or not.
inline void compare_communicators(const std::set<ExpectedGroup>& truth, const TaskGraph& graph, Differences& found) {
  std::set<ExpectedGroup> read;
  for (const Communicator& c : graph.communicators()) read.insert(group_of(c));
  found.compare("communicators", truth.size(), read.size());
  found.compare("communicators with their repetitions", truth.size(), graph.communicators().size());
  for (const ExpectedGroup& group : truth) {
    const auto at = read.find(group);
    if (at == read.end()) {
      found.add("communicator " + group.name + " is not there");
    } else {
      compare_groups("communicator", group, *at, found);
    }
  }
}

}  // namespace photonrail::test::drawn
