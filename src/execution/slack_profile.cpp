#include "execution/slack_profile.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace photonrail::execution {

SlackRecorder::SlackRecorder(const TaskGraph& graph) : graph_(graph), last_(kStreamCount * graph.ranks(), kNone) {
  for (std::size_t r = 0; r < graph.ranks(); ++r) piece_of_.emplace_back(graph.program(RankId{r}).tasks().size(), kNone);
}

void SlackRecorder::add(std::size_t piece, RankId rank, TaskId task) {
  piece_of_[rank.index()][task.index()] = piece;
  pieces_[piece].tasks.emplace_back(rank, task);
}

void SlackRecorder::compute(const ComputeEvent& event) {
  std::size_t& last = last_[kStreamCount * event.rank.index() + static_cast<std::size_t>(event.stream)];
  if (last != kNone) pieces_[last].next = pieces_.size();
  last = pieces_.size();
  pieces_.push_back({event.start, event.finish, {}});
  add(last, event.rank, event.task);
}

void SlackRecorder::operation(const OperationEvent& event) {
  using enum OperationEvent::State;
  if (event.state != kRunning && event.state != kDone) return;
  auto found = running_.find(event.sequence);
  if (found == running_.end()) {
    found = running_.emplace(event.sequence, pieces_.size()).first;
    pieces_.push_back({event.at, event.at, {}});
  }
  if (event.state == kRunning) add(found->second, event.rank, event.task);
  pieces_[found->second].finish = event.at;
}

// Tasks that began later come first; of two that began at one instant, the one that waits for the other comes first.
std::vector<std::size_t> SlackRecorder::latest_first() const {
  std::vector<std::size_t> order(pieces_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return std::tuple(pieces_[a].start, pieces_[a].finish, a) > std::tuple(pieces_[b].start, pieces_[b].finish, b);
  });
  return order;
}

// The backward pass of the critical path method (Kelley and Walker 1959): a piece of work is due when the earliest of what
// follows it must start, at its recorded length. It follows in the program, or on the same stream. Pieces are visited from
// the latest on, so that everything that follows has its due time already.
SlackProfile SlackRecorder::profile() const {
  std::vector<Time> due(pieces_.size(), end_);
  const auto latest_start = [&](std::size_t p) { return due[p] - (pieces_[p].finish - pieces_[p].start); };
  for (const std::size_t p : latest_first()) {
    const Piece& piece = pieces_[p];
    if (piece.next != kNone) due[p] = std::min(due[p], latest_start(piece.next));
    for (const auto& [rank, task] : piece.tasks) {
      for (const TaskId next : graph_.program(rank).successors(task)) {
        const std::size_t after = piece_of_[rank.index()][next.index()];
        if (after != kNone) due[p] = std::min(due[p], latest_start(after));
      }
    }
  }
  SlackProfile known;
  known.step = end_.since_start();
  for (const std::vector<std::size_t>& of_rank : piece_of_) {
    std::vector<SlackProfile::Times>& times = known.times.emplace_back();
    for (const std::size_t p : of_rank) {
      times.push_back(p == kNone ? SlackProfile::Times{Duration{}, known.step}
                                 : SlackProfile::Times{pieces_[p].start.since_start(), due[p].since_start()});
    }
  }
  return known;
}

SlackRecorder::ByTask SlackRecorder::by_task() const {
  ByTask times;
  for (const std::vector<std::size_t>& of_rank : piece_of_) times.emplace_back(of_rank.size());
  return times;
}

// A task without a piece, in a group of one, takes no time.
Duration SlackRecorder::after(RankId rank, TaskId task, const ByTask& before) const {
  Duration longest{};
  for (const TaskId next : graph_.program(rank).successors(task)) {
    const bool has_piece = piece_of_[rank.index()][next.index()] != kNone;
    longest = std::max(longest, has_piece ? before[rank.index()][next.index()] : after(rank, next, before));
  }
  return longest;
}

// A buffered send is over for its sender when it comes; what it sends reaches its receiver once that has come, too.
void SlackRecorder::bound(const Piece& piece, const LeastTimes& least, ByTask& before, ByTask& after_all) const {
  const auto buffered = [&](const Task& t) {
    return (t.kind == TaskKind::kSend || t.kind == TaskKind::kReceive) && t.size() <= least.buffered;
  };
  Duration longest{};
  Duration of_receiver{};
  for (const auto& [rank, task] : piece.tasks) {
    const Duration own = after(rank, task, before);
    after_all[rank.index()][task.index()] = own;
    longest = std::max(longest, own);
    if (graph_.program(rank).task(task).kind == TaskKind::kReceive) of_receiver = own;
  }
  for (const auto& [rank, task] : piece.tasks) {
    const Task& t = graph_.program(rank).task(task);
    const Duration own = after_all[rank.index()][task.index()];
    Duration& from = before[rank.index()][task.index()];
    if (t.kind == TaskKind::kCompute) {
      from = own + least.compute(t, piece.finish - piece.start);
    } else if (buffered(t)) {
      const Duration arrives = least.operation(rank, t) + of_receiver;
      from = t.kind == TaskKind::kSend ? std::max(own, arrives) : arrives;
    } else {
      from = longest + least.operation(rank, t);
    }
  }
}

// The same pass with the least time of each task in place of the recorded one: no run of the job can take less from a task
// to the end of its step. A rehearsal that is too late by this bound has lost. The bound of a step is the least over ranks,
// because ranks need not be in the same step.
TailBound SlackRecorder::tail(const LeastTimes& least) const {
  TailBound tail{by_task(), Duration::max()};
  ByTask before = by_task();
  for (const std::size_t p : latest_first()) bound(pieces_[p], least, before, tail.after);
  for (std::size_t r = 0; r < before.size(); ++r) {
    Duration step{};
    for (const Duration from : before[r]) step = std::max(step, from);
    tail.step = std::min(tail.step, step);
  }
  return tail;
}

}  // namespace photonrail::execution
