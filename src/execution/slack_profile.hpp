// The profile is what a run on electrical rails says of each task: when it began, and by when it must be over so that a
// step takes no longer than it did there.
#pragma once

#include "execution/tail_bound.hpp"
#include "photonrail/observer.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace photonrail::execution {

struct SlackProfile {
  struct Times {
    Duration start{};
    Duration due{};
  };
  std::vector<std::vector<Times>> times;  ///< by rank and task, since the step began
  Duration step{};                        ///< how long it took
};

/// Watches the profiling run, of one step.
class SlackRecorder : public Observer {
 public:
  /// `graph` must outlive the object.
  explicit SlackRecorder(const TaskGraph& graph);

  void compute(const ComputeEvent& event) override;
  void operation(const OperationEvent& event) override;
  void iteration(RankId, std::uint32_t, Time at) override { end_ = std::max(end_, at); }

  /// Backward through what happened: a piece of work must be over when the first that waits for it has to begin. On a
  /// compute stream what ran next waits as well; for the end of the step everything does.
  [[nodiscard]] SlackProfile profile() const;

  /// Holds what no other run of the step does in less time.
  struct LeastTimes {
    std::function<Duration(RankId, const Task&)> operation;  ///< from when all members are there to the end of any
    std::function<Duration(const Task&, Duration)> compute;  ///< of a computation that took so long here
    Bytes buffered{};                                        ///< ExecutorSpec::buffered_send
  };
  /// Backward through dependencies alone: other runs may order a stream otherwise.
  [[nodiscard]] TailBound tail(const LeastTimes& least) const;

 private:
  struct Piece {
    Time start{};
    Time finish{};
    std::vector<std::pair<RankId, TaskId>> tasks;
    std::size_t next = kNone;  // on its compute stream
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  void add(std::size_t piece, RankId rank, TaskId task);
  [[nodiscard]] std::vector<std::size_t> latest_first() const;

  using ByTask = std::vector<std::vector<Duration>>;
  [[nodiscard]] ByTask by_task() const;
  [[nodiscard]] Duration after(RankId rank, TaskId task, const ByTask& before) const;
  void bound(const Piece& piece, const LeastTimes& least, ByTask& before, ByTask& after_all) const;

  const TaskGraph& graph_;
  std::vector<Piece> pieces_;                       // computations in the order of their ends, operations of their starts
  std::vector<std::vector<std::size_t>> piece_of_;  // by rank and task
  std::vector<std::size_t> last_;                   // by rank and stream: its last computation
  std::map<std::uint32_t, std::size_t> running_;    // operations by sequence
  Time end_{};
};

}  // namespace photonrail::execution
