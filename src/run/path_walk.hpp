// The walk over the history of a run, backward from an instant, each time to what was waited for last.
#pragma once

#include "execution/run_history.hpp"
#include "photonrail/study/explanation.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace photonrail::run {

/// A stretch of the chain of causes, all of it one thing.
struct Stretch {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  PathPart::Kind kind = PathPart::Kind::kUnexplained;
  Time begin{};
  Time end{};
  /// Into computations() or operations() of the history; kNone: a rank began its iteration late, or nothing is known.
  std::uint32_t record = kNone;
  std::optional<Dimension> dimension{};
  std::optional<Dimension> before{};

  [[nodiscard]] Duration time() const { return end - begin; }
};

class PathWalk {
 public:
  /// `history` must outlive the walk. `on_rails`: for each communicator of its graph, whether its operations cross a rail.
  PathWalk(const execution::RunHistory& history, std::vector<bool> on_rails)
      : history_(history), on_rails_(std::move(on_rails)) {}

  /// Returns what ended the run at `end`, back to `until`: stretches from the last to the first, without gaps.
  [[nodiscard]] const std::vector<Stretch>& from_end(Time end, Time until = {});
  /// Returns what a rank waited for that went on at `at`; empty where nothing of it began then.
  [[nodiscard]] const std::vector<Stretch>& from_wait(RankId rank, Time at, Time until);

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

  void begin(Time at);
  void walk(Step from, Time until);
  void pass(Stretch stretch, Time until);
  [[nodiscard]] const execution::Completion& completion(Position p) const { return history_.completions(p.rank)[p.at]; }
  [[nodiscard]] std::uint32_t iteration_of(Position p) const;
  Step explain(Position p);
  Step explain_operation(const execution::OperationRecord& record, const execution::Completion& done);
  void take_operation(const execution::OperationRecord& record, const execution::MemberRecord& member, std::uint32_t number,
                      Time from);
  Step before_start(const execution::OperationRecord& record, const execution::MemberRecord& member);
  Step lane_before(const execution::OperationRecord& record) const;
  [[nodiscard]] bool went_on(const execution::Completion& c) const;
  Step wait_of(const execution::Completion& c, RankId rank);
  Step cause(const TaskOfRank& task);
  Step completed_now(RankId rank, std::optional<std::uint32_t> iteration) const;
  Step latest_before(RankId rank) const;
  void completions_before(const TaskOfRank& task, std::vector<Position>& out) const;
  [[nodiscard]] const std::vector<TaskId>& predecessors(RankId rank, TaskId task) const;
  [[nodiscard]] std::optional<Dimension> dimension_before(RankId rank, Time at) const;
  [[nodiscard]] Dimension dimension(const execution::OperationRecord& record) const {
    return history_.graph().communicators()[record.communicator.index()].dimension;
  }

  const execution::RunHistory& history_;
  const std::vector<bool> on_rails_;
  Time now_{};
  std::set<Position> visited_;  // at this instant, so that the walk ends
  std::vector<Stretch> stretches_;
  mutable std::map<const Program*, std::vector<std::vector<TaskId>>> predecessors_;
};

}  // namespace photonrail::run
