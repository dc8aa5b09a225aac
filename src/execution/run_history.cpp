#include "execution/run_history.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::execution {

RunHistory::RunHistory(const TaskGraph& graph, Bytes buffered, std::uint32_t iterations)
    : graph_(graph), buffered_(buffered), completed_(graph.ranks()), iteration_ends_(graph.ranks()) {
  offsets_.reserve(graph.ranks());
  for (std::size_t r = 0; r < graph.ranks(); ++r) {
    offsets_.push_back(tasks_);
    tasks_ += graph.program(RankId{r}).tasks().size();
  }
  positions_.assign(tasks_ * iterations, kNone);
}

void RunHistory::complete(RankId rank, TaskId task, std::uint32_t iteration, Completion completion) {
  std::vector<Completion>& list = completed_[rank.index()];
  positions_[tasks_ * iteration + offsets_[rank.index()] + task.index()] = static_cast<std::uint32_t>(list.size());
  list.push_back(completion);
}

std::optional<std::uint32_t> RunHistory::position(RankId rank, TaskId task, std::uint32_t iteration) const {
  const std::uint32_t at = positions_[tasks_ * iteration + offsets_[rank.index()] + task.index()];
  return at == kNone ? std::nullopt : std::optional(at);
}

void RunHistory::compute(const ComputeEvent& event) {
  const auto iteration = static_cast<std::uint32_t>(iteration_ends_[event.rank.index()].size());
  const auto record = static_cast<std::uint32_t>(computations_.size());
  computations_.push_back({event.start, event.finish, event.rank, event.task, iteration});
  complete(event.rank, event.task, iteration, {event.finish, record});
}

bool RunHistory::is_buffered(RankId rank, TaskId task) const {
  const Task& t = graph_.program(rank).task(task);
  return t.kind == TaskKind::kSend && t.size() <= buffered_;
}

namespace {

// Members ascend, but for those of a pair and of a folded group.
std::uint32_t member_of(const Communicator& communicator, RankId rank) {
  const std::vector<RankId>& members = communicator.members;
  auto found = std::lower_bound(members.begin(), members.end(), rank);
  if (found == members.end() || *found != rank) found = std::find(members.begin(), members.end(), rank);
  PHOTONRAIL_CHECK(found != members.end());
  return static_cast<std::uint32_t>(found - members.begin());
}

}  // namespace

void RunHistory::operation(const OperationEvent& event) {
  using enum OperationEvent::State;
  const Communicator& communicator = graph_.communicators()[event.communicator.index()];
  const auto [open, fresh] = open_.try_emplace(event.sequence, static_cast<std::uint32_t>(operations_.size()));
  const std::uint32_t number = open->second;
  if (fresh) {
    operations_.push_back({.sequence = event.sequence, .communicator = event.communicator});
    operations_.back().members.resize(communicator.members.size());
  }
  OperationRecord& record = operations_[number];
  const std::uint32_t m = member_of(communicator, event.rank);
  MemberRecord& member = record.members[m];
  const bool buffered = is_buffered(event.rank, event.task);
  if (event.state == kArrived) {
    member.rank = event.rank;
    member.task = event.task;
    member.iteration = static_cast<std::uint32_t>(iteration_ends_[event.rank.index()].size());
    member.arrived = event.at;
    if (buffered) complete(event.rank, event.task, member.iteration, {event.at, number, m});
    return;
  }
  change(record, member, event);
  if (event.state != kDone) return;
  if (!buffered) complete(event.rank, event.task, member.iteration, {event.at, number, m});
  if (++record.done == record.members.size()) open_.erase(open);
}

void RunHistory::change(OperationRecord& record, MemberRecord& member, const OperationEvent& event) {
  using enum OperationEvent::State;
  if (member.started == Time::never()) member.started = event.at;
  if (event.state != kDone) record.started = std::min(record.started, event.at);
  if (event.state == kWaitingForCircuits) {
    member.waits_since = event.at;
    return;
  }
  if (member.waits_since != Time::never()) member.waits.emplace_back(member.waits_since, event.at);
  member.waits_since = Time::never();
  if (event.state == kDone) member.done = event.at;
}

void RunHistory::iteration(RankId rank, std::uint32_t, Time at) { iteration_ends_[rank.index()].push_back(at); }

RankId RunHistory::last_rank() const {
  std::size_t last = 0;
  const auto end = [this](std::size_t r) { return iteration_ends_[r].empty() ? Time{} : iteration_ends_[r].back(); };
  for (std::size_t r = 1; r < iteration_ends_.size(); ++r) {
    if (end(r) > end(last)) last = r;
  }
  return RankId{last};
}

}  // namespace photonrail::execution
