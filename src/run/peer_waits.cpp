#include "run/peer_waits.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

namespace photonrail::run {

using execution::ComputationRecord;
using execution::RunHistory;

namespace {

Duration& of(PeerWaits& waits, WaitCause cause) { return waits[static_cast<std::size_t>(cause)]; }

// Ranks that groups of any dimension but pipelines join are of one stage.
class Stages {
 public:
  explicit Stages(const TaskGraph& graph) : of_(graph.ranks()) {
    std::iota(of_.begin(), of_.end(), std::uint32_t{0});
    for (const Communicator& group : graph.communicators()) {
      if (group.dimension == Dimension::kPp) pipeline_ = true;
      const bool joins = group.dimension == Dimension::kTp || group.dimension == Dimension::kCp ||
                         group.dimension == Dimension::kEp || group.dimension == Dimension::kDp;
      for (std::size_t m = 1; joins && m < group.members.size(); ++m)
        of_[root(group.members[m].value)] = root(group.members[0].value);
    }
    for (std::uint32_t r = 0; r < of_.size(); ++r) of_[r] = root(r);
  }

  [[nodiscard]] bool differ(RankId a, RankId b) const { return pipeline_ && of_[a.index()] != of_[b.index()]; }

 private:
  std::uint32_t root(std::uint32_t r) {
    while (of_[r] != r) r = of_[r] = of_[of_[r]];
    return r;
  }

  std::vector<std::uint32_t> of_;  // a rank that stands for the stage
  bool pipeline_ = false;
};

class WaitCauses {
 public:
  explicit WaitCauses(const RunHistory& history) : history_(history), stages_(history.graph()) {
    for (const ComputationRecord& record : history.computations()) {
      const auto [at, fresh] = least_.try_emplace(key(record), record.finish - record.start);
      if (!fresh) at->second = std::min(at->second, record.finish - record.start);
    }
  }

  void add(RankId waiting, const Stretch& stretch, PeerWaits& waits) const {
    switch (stretch.kind) {
      case PathPart::Kind::kComputation:
        return add_computation(waiting, stretch, waits);
      case PathPart::Kind::kCommunication:
        of(waits, WaitCause::kData) += stretch.time();
        return;
      case PathPart::Kind::kCircuits:
        of(waits, WaitCause::kCircuits) += stretch.time();
        return;
      case PathPart::Kind::kLane:
        of(waits, WaitCause::kLane) += stretch.time();
        return;
      case PathPart::Kind::kUnexplained:
        of(waits, WaitCause::kOther) += stretch.time();
    }
  }

 private:
  using Key = std::tuple<ProgramId, TaskId, std::uint32_t>;
  [[nodiscard]] Key key(const ComputationRecord& record) const {
    return {history_.graph().program_of(record.rank), record.task, record.iteration};
  }

  // What another stage computes beyond the least time of ranks that do the same is charged to a straggler.
  void add_computation(RankId waiting, const Stretch& stretch, PeerWaits& waits) const {
    if (stretch.record == Stretch::kNone) {
      of(waits, WaitCause::kStraggler) += stretch.time();
      return;
    }
    const ComputationRecord& record = history_.computations()[stretch.record];
    const bool uneven = history_.graph().program(record.rank).task(record.task).demand() > 0;
    const WaitCause longer = uneven ? WaitCause::kExperts : WaitCause::kStraggler;
    if (record.rank == waiting) {
      of(waits, WaitCause::kOther) += stretch.time();
    } else if (!stages_.differ(waiting, record.rank)) {
      of(waits, longer) += stretch.time();
    } else {
      const Time usual = record.start + least_.at(key(record));
      const Duration bubble = std::max(Duration{}, std::min(stretch.end, usual) - stretch.begin);
      of(waits, WaitCause::kBubble) += bubble;
      of(waits, longer) += stretch.time() - bubble;
    }
  }

  const RunHistory& history_;
  const Stages stages_;
  std::map<Key, Duration> least_;  // of ranks that do the same
};

}  // namespace

std::vector<PeerWaits> peer_waits(const RunHistory& history, PathWalk& walk, const execution::PeerWaitLog& log, Time end) {
  const WaitCauses causes(history);
  std::vector<PeerWaits> all(log.size());
  std::optional<std::vector<Stretch>> last;  // what the end of the run waited for
  for (std::size_t r = 0; r < log.size(); ++r) {
    const RankId rank{r};
    for (const auto& [from, until] : log[r]) {
      Duration left = until - from;
      if (until == end && !last) last = walk.from_end(end);
      for (const Stretch& whole : until == end ? *last : walk.from_wait(rank, until, from)) {
        Stretch stretch = whole;
        stretch.begin = std::max(stretch.begin, from);
        if (stretch.end <= stretch.begin) break;
        causes.add(rank, stretch, all[r]);
        left -= stretch.time();
      }
      of(all[r], WaitCause::kOther) += left;
    }
  }
  return all;
}

}  // namespace photonrail::run
