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
};

class ComputeStreams {
 public:
  /// All must outlive the object.
  ComputeStreams(const TaskGraph& graph, const ExecutorSpec& spec, const RunContext& run, ComputeListener& listener);

  /// From now on the rank is in this iteration, and its GPU computations take `slowdown` times as long.
  void begin_iteration(RankId id, std::uint32_t iteration, double slowdown);
  void enqueue(RankId id, const ReadyTask& task, Stream stream);
  /// An exchange of the rank has bytes on their way from now on, or no more: with ExecutorSpec::sm_share the computation
  /// that runs on its GPU goes on more slowly, or faster.
  void exchange_began(RankId id, Dimension d) { exchange_changed(id, d, 1); }
  void exchange_ended(RankId id, Dimension d) { exchange_changed(id, d, -1); }
  /// Starts what may start, rank by rank in the order in which they came to have something.
  void start_ready();

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct ComputeStream {
    bool busy = false;
    CriticalPathTag freed;
    Time started{};
    ReadyTask running;
    std::uint64_t with_it = kNone;  // the next stream that ends by the same event
    std::vector<ReadyTask> ready;   // heap, lowest task first
  };
  struct Rank {
    ComputeStream streams[kStreamCount];
    double slowdown = 1.0;
    std::uint32_t iteration = 0;
    bool pending = false;
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
  void finish_all(std::uint64_t first);
  void finish(std::uint64_t rank_and_stream);
  [[nodiscard]] ComputeStream& at(std::uint64_t rank_and_stream);
  [[nodiscard]] Duration time_of(RankId id, const Task& task, Stream which) const;

  const TaskGraph& graph_;
  RunContext run_;
  ComputeListener& listener_;
  std::array<double, kDimensionCount> sm_share_;
  std::vector<Rank> ranks_;
  std::vector<Multiprocessors> multiprocessors_;  // by rank; empty where no exchange takes any
  std::vector<RankId> pending_;                   // ranks with a computation that may start
  std::vector<RankId> starting_;
  std::uint64_t last_started_ = kNone;  // in this instant, by start_ready(); nothing was scheduled since
  Time last_end_{};
};

}  // namespace photonrail::execution
