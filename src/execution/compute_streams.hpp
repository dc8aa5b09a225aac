// The compute streams of the ranks: each runs one computation at a time, of those that are ready the lowest task first.
#pragma once

#include "execution/critical_path.hpp"
#include "execution/run_context.hpp"
#include "photonrail/execution.hpp"
#include "photonrail/task_graph.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace photonrail::execution {

/// Implemented by Executor.
class ComputeListener {
 public:
  virtual ~ComputeListener() = default;
  /// A computation may start on an idle stream: start_ready() is to be called in the start phase of this instant.
  virtual void streams_pending() = 0;
  virtual void computed(RankId rank, TaskId task, CriticalPathTag cause) = 0;
  /// All ranks of the group computed the task.
  virtual void computed_by_all(const LockstepGroup& group, TaskId task, CriticalPathTag cause) = 0;
};

class ComputeStreams {
 public:
  /// All must outlive the object.
  ComputeStreams(const TaskGraph& graph, const ExecutorSpec& spec, const RunContext& run, ComputeListener& listener);

  /// From now on the rank is in this iteration, and its GPU computations take `slowdown` times as long.
  void begin_iteration(RankId id, std::uint32_t iteration, double slowdown);
  void enqueue(RankId id, const ReadyTask& task, Stream stream);
  /// The same task on the GPUs of all ranks of the group, at one instant. REQUIRES: no GPU fails, ExecutorSpec::sm_share is
  /// 0, and the task takes equally long on all that are equally slow.
  void enqueue(const LockstepGroup& group, const ReadyTask& task);
  /// An exchange of the rank has bytes on their way from now on, or no more: with ExecutorSpec::sm_share the computation
  /// that runs on its GPU goes on more slowly, or faster.
  void exchange_began(RankId id, Dimension d) { exchange_changed(id, d, 1); }
  void exchange_ended(RankId id, Dimension d) { exchange_changed(id, d, -1); }
  /// Starts what may start, rank by rank in the order in which they came to have something.
  void start_ready();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct alignas(64) ComputeStream {
    Time started{};
    TaskId running = TaskId::none();
    std::uint32_t reconfigurations = 0;  // of the cause of what runs
    CriticalPathTag freed;               // idle since
    ReadyTask next{TaskId::none(), {}};  // the lowest task that is ready
    bool more = false;                   // others are, in more_ready_

    [[nodiscard]] bool busy() const { return !running.is_none(); }
    [[nodiscard]] bool has_next() const { return !next.task.is_none(); }
  };
  struct Rank {
    double slowdown = 1.0;
    std::uint32_t iteration = 0;
    bool pending = false;
    bool together =
        false;  // the first rank of its LockstepGroup has the GPU's stream of this one, and its place in pending_
  };

  /// The streaming multiprocessors of a rank's GPU.
  struct Multiprocessors {
    std::array<std::uint16_t, kDimensionCount> exchanges{};  // in progress, by Dimension
    double taken = 0.0;                                      // share that these hold
    Time end{};                                              // of the computation that runs
    engine::EventHandle finish{};                            // ... names nothing where none runs
  };

  void exchange_changed(RankId id, Dimension d, int by);
  void want_start(RankId id);
  void start(RankId id, Stream which);
  void finish_at(Time end, std::uint64_t rank_and_stream);
  void finish_all(std::uint64_t batch);
  void finish(std::uint64_t rank_and_stream);
  void start_all(const LockstepGroup& group);
  void finish_on_all(const LockstepGroup& group);
  [[nodiscard]] bool join(const LockstepGroup& group);
  void part(const LockstepGroup& group);
  [[nodiscard]] ComputeStream& at(RankId id, Stream which) { return streams_[static_cast<std::size_t>(which)][id.index()]; }
  [[nodiscard]] std::vector<ReadyTask>& more_ready(RankId id, Stream which);
  void take_next(RankId id, Stream which, ComputeStream& stream);
  [[nodiscard]] Duration time_of(RankId id, const Task& task, Stream which) const;

  const TaskGraph& graph_;
  RunContext run_;
  ComputeListener& listener_;
  std::array<double, kDimensionCount> sm_share_;
  std::vector<Rank> ranks_;
  std::array<std::vector<ComputeStream>, kStreamCount> streams_;              // each by rank
  std::array<std::vector<std::vector<ReadyTask>>, kStreamCount> more_ready_;  // by rank: heaps; empty until one is needed
  std::vector<std::vector<std::uint64_t>> batches_;  // ranks and streams that end by one event, in order
  std::vector<std::uint32_t> free_batches_;
  std::vector<std::uint64_t> ending_;             // scratch
  std::vector<Multiprocessors> multiprocessors_;  // by rank; empty where no exchange takes any
  std::vector<RankId> pending_;                   // ranks with a computation that may start
  std::vector<RankId> starting_;
  std::uint32_t last_batch_ = kNone;  // of the last start of this instant, by start_ready(); nothing was scheduled since
  Time last_end_{};
};

}  // namespace photonrail::execution
