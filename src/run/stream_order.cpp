#include "run/stream_order.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace photonrail::run {

namespace {

constexpr std::size_t kWindow = 32;  // earlier computations of a stream that are looked at
constexpr std::size_t kBits = 64;
constexpr std::size_t kMostTasks = 1 << 14;  // of a program that is looked at

/// For each task those that are over when it begins, by its program and by the order of its stream.
class Before {
 public:
  explicit Before(std::size_t tasks) : words_((tasks + kBits - 1) / kBits), sets_(tasks * words_) {}

  [[nodiscard]] bool has(TaskId of, TaskId task) const {
    return (sets_[of.index() * words_ + task.index() / kBits] >> (task.index() % kBits) & 1) != 0;
  }
  /// `task` and all that is before it.
  void add(TaskId of, TaskId task) {
    for (std::size_t w = 0; w < words_; ++w) sets_[of.index() * words_ + w] |= sets_[task.index() * words_ + w];
    sets_[of.index() * words_ + task.index() / kBits] |= std::uint64_t{1} << (task.index() % kBits);
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> sets_;
};

std::vector<std::vector<TaskId>> predecessors(const Program& program) {
  std::vector<std::vector<TaskId>> of(program.tasks().size());
  for (std::size_t t = 0; t < of.size(); ++t) {
    for (const TaskId next : program.successors(TaskId{t})) of[next.index()].push_back(TaskId{t});
  }
  return of;
}

// Each task after those that it waits for.
std::vector<TaskId> in_order(const Program& program) {
  std::vector<TaskId> order;
  std::vector<std::uint32_t> waits;
  for (const Task& task : program.tasks()) {
    if (task.waits == 0) order.emplace_back(waits.size());
    waits.push_back(task.waits);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const TaskId next : program.successors(order[i])) {
      if (--waits[next.index()] == 0) order.push_back(next);
    }
  }
  return order;
}

}  // namespace

StreamOrder::StreamOrder(const Program& program, const std::vector<bool>& lanes)
    : offsets_(program.tasks().size() + 1), waits_(program.tasks().size()) {
  const std::size_t tasks = program.tasks().size();
  if (tasks > kMostTasks) return;
  Before before(tasks);
  const std::vector<std::vector<TaskId>> waited_for = predecessors(program);
  std::vector<std::vector<TaskId>> seen(kStreamCount + lanes.size());  // by stream and by slot, ascending
  std::vector<std::pair<TaskId, TaskId>> found;
  for (const TaskId task : in_order(program)) {
    for (const TaskId other : waited_for[task.index()]) before.add(task, other);
    const Task& t = program.task(task);
    const bool computes = t.kind == TaskKind::kCompute;
    if (!computes && (t.kind != TaskKind::kCollective || !lanes[t.slot])) continue;
    std::vector<TaskId>& list = seen[computes ? static_cast<std::size_t>(t.stream) : kStreamCount + t.slot];
    const auto place = std::lower_bound(list.begin(), list.end(), task);
    const auto first = place - std::min<std::ptrdiff_t>(kWindow, place - list.begin());
    for (auto at = place; at != first;) {
      const TaskId other = *--at;
      const std::vector<TaskId>& its = waited_for[other.index()];
      const bool is_ready = std::all_of(its.begin(), its.end(), [&](TaskId one) { return before.has(task, one); });
      if (before.has(task, other) || !is_ready) continue;
      before.add(task, other);
      found.emplace_back(other, task);
      if (!computes) calls_.push_back({t.slot, program.task(other).match, t.match});
    }
    list.insert(place, task);
  }
  std::sort(calls_.begin(), calls_.end());
  std::sort(found.begin(), found.end());
  for (const auto& [earlier, later] : found) {
    after_.push_back(later);
    ++offsets_[earlier.index() + 1];
    ++waits_[later.index()];
  }
  for (std::size_t t = 0; t < tasks; ++t) offsets_[t + 1] += offsets_[t];
}

namespace {

using Lanes = std::vector<std::vector<bool>>;  // by program and slot

Lanes lanes_of(const TaskGraph& graph, const std::vector<bool>& in_server) {
  Lanes lanes(graph.programs().size());
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    const std::span<const CommunicatorId> slots = graph.slots(RankId{r});
    std::vector<bool>& of = lanes[graph.program_of(RankId{r}).index()];
    if (of.empty()) of.assign(slots.size(), true);
    for (std::size_t s = 0; s < slots.size(); ++s) of[s] = of[s] && in_server[slots[s].index()];
  }
  return lanes;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> calls_of(const StreamOrder& order, std::uint32_t slot) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls;
  const auto& all = order.calls();
  for (auto at = std::lower_bound(all.begin(), all.end(), CallOrder{slot, 0, 0}); at != all.end() && at->slot == slot; ++at)
    calls.emplace_back(at->first, at->second);
  return calls;
}

/// Closes the lanes of programs that have one communicator but order its calls otherwise.
bool close_unlike(const TaskGraph& graph, const std::vector<StreamOrder>& orders, Lanes& lanes) {
  std::vector<std::pair<std::size_t, std::uint32_t>> first(graph.communicators().size(), {0, 0});
  std::vector<bool> known(first.size());
  bool closed = false;
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    const std::span<const CommunicatorId> slots = graph.slots(RankId{r});
    const std::size_t program = graph.program_of(RankId{r}).index();
    for (std::uint32_t s = 0; s < slots.size(); ++s) {
      const std::size_t c = slots[s].index();
      if (!known[c]) first[c] = {program, s};
      known[c] = true;
      const auto [other, slot] = first[c];
      const bool open = lanes[program][s] || lanes[other][slot];
      if (!open || (program == other && s == slot)) continue;
      const bool alike =
          lanes[program][s] == lanes[other][slot] && calls_of(orders[program], s) == calls_of(orders[other], slot);
      if (alike) continue;
      lanes[program][s] = lanes[other][slot] = false;
      closed = true;
    }
  }
  return closed;
}

}  // namespace

std::vector<StreamOrder> stream_orders(const TaskGraph& graph, const std::vector<bool>& in_server) {
  Lanes lanes = lanes_of(graph, in_server);
  for (;;) {
    std::vector<StreamOrder> orders;
    for (std::size_t p = 0; p < graph.programs().size(); ++p) orders.emplace_back(graph.programs()[p], lanes[p]);
    if (!close_unlike(graph, orders, lanes)) return orders;
  }
}

}  // namespace photonrail::run
