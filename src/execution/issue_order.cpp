#include "execution/issue_order.hpp"

#include <algorithm>

namespace photonrail::execution {

IssueOrder::IssueOrder(const TaskGraph& graph, OperationTable& operations, CircuitService& circuits,
                       const RankBehaviour& behaviour, const ProfileUse& profile)
    : graph_(graph),
      operations_(operations),
      circuits_(circuits),
      behaviour_(behaviour),
      profile_(profile),
      ranks_(profile.followed != nullptr ? graph.ranks() : 0) {
  if (records()) profile_.recorded->resize(graph.ranks());
}

void IssueOrder::begin_iteration(RankId id, std::uint32_t iteration) {
  if (profile_.followed == nullptr) return;
  Rank& rank = ranks_[id.index()];
  rank.turn = rank.frontier = 0;
  rank.complete.assign(graph_.program(id).tasks().size(), false);
  circuits_.set_progress(id, iteration, 0);
  announce_next(id, iteration);
}

bool IssueOrder::follows(RankId id, TaskId task) const {
  return profile_.followed != nullptr && operations_.crosses(id, graph_.program(id).task(task));
}

// A rank issues its rail operations strictly in the order of the profiling run, even where a later one is ready sooner: the
// shim of Opus holds an operation back until its turn, so that a request that was sent ahead never names the wrong phase.
std::optional<ReadyTask> IssueOrder::next_in_turn(RankId id) {
  Rank& rank = ranks_[id.index()];
  const std::vector<ScheduledTask>& order = (*profile_.followed)[id.index()];
  if (rank.turn == order.size()) return std::nullopt;
  const auto found = std::find_if(rank.held_back.begin(), rank.held_back.end(),
                                  [&](const ReadyTask& held) { return held.task == order[rank.turn].task; });
  if (found == rank.held_back.end()) return std::nullopt;
  const ReadyTask next = *found;
  rank.held_back.erase(found);
  ++rank.turn;
  return next;
}

std::span<const ReadyTask> IssueOrder::held_back(RankId id) const {
  if (profile_.followed == nullptr) return {};
  return ranks_[id.index()].held_back;
}

// `frontier` is the first operation of the order that is not complete: operations that overlap may complete out of order,
// and the request for what comes next goes out only when everything before it is complete.
void IssueOrder::complete(RankId id, TaskId task, std::uint32_t iteration) {
  if (!follows(id, task)) return;
  Rank& rank = ranks_[id.index()];
  rank.complete[task.index()] = true;
  const std::vector<ScheduledTask>& order = (*profile_.followed)[id.index()];
  const std::size_t before = rank.frontier;
  while (rank.frontier < order.size() && rank.complete[order[rank.frontier].task.index()]) ++rank.frontier;
  if (rank.frontier == before) return;
  circuits_.set_progress(id, iteration, rank.frontier);
  announce_next(id, iteration);
}

// Asks for what the order says comes next, which may be in the next iteration.
void IssueOrder::announce_next(RankId id, std::uint32_t iteration) {
  const std::vector<ScheduledTask>& order = (*profile_.followed)[id.index()];
  if (behaviour_.announces.empty() || !behaviour_.announces[id.index()] || order.empty()) return;
  const std::size_t frontier = ranks_[id.index()].frontier;
  if (frontier < order.size()) {
    announce(id, order[frontier].task, iteration);
  } else if (iteration + 1 < profile_.iterations) {
    announce(id, order.front().task, iteration + 1);
  }
}

// Asks for circuits of an operation that the rank has not reached. The seat exists, or is made: the peers find the same
// one.
void IssueOrder::announce(RankId id, TaskId task, std::uint32_t iteration) {
  const auto [op_id, member] = operations_.seat(id, graph_.program(id).task(task), iteration);
  const Operation& op = operations_[op_id];
  if (op.present(member)) return;      // it arrived, and asked
  if (op.runnable == nullptr) return;  // its circuits depend on the straggler
  if (op.takes_part(member, 0)) circuits_.request(op_id, 0, member, task);
}

}  // namespace photonrail::execution
