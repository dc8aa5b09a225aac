// Small clusters with small jobs: verbs instead of builder calls. And a hash of the history of a run.
//
//     TinyJob job(4);                                      // four servers of one GPU, 50 GB/s
//     const auto dp = job.group({0, 1, 2, 3});
//     job.compute(0, 1ms).collective(dp, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 400'000'000);
//     const RunResult result = job.optical(10ms, "opus").run();
#pragma once

#include "photonrail/observer.hpp"
#include "photonrail/simulate.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace photonrail::testing {

/// A job of a few ranks, one program each; rank r sits on GPU r, and each task waits for the rank's previous one. Without
/// latencies, at exact fidelity, on electrical rails until optical() says otherwise.
class TinyJob {
 public:
  /// REQUIRES: gpus_per_server divides ranks.
  explicit TinyJob(std::size_t ranks, std::uint32_t gpus_per_server = 1);

  /// Circuits that take `delay` to switch, under the controller of that name.
  TinyJob& optical(Duration delay, const std::string& controller = "opus");

  /// A communicator of these ranks, its members in this order.
  CommunicatorId group(const std::vector<std::size_t>& members, Dimension d = Dimension::kDp);

  TinyJob& compute(std::size_t rank, Duration time);
  TinyJob& collective(CommunicatorId group, const std::vector<std::size_t>& members, CollectiveOp op, std::int64_t bytes);
  /// Numbered from 1; `demands` must be set.
  TinyJob& all_to_all(CommunicatorId group, const std::vector<std::size_t>& members, std::uint32_t demand);
  TinyJob& demands(std::shared_ptr<const TrafficSource> source);
  /// REQUIRES of both: a receive for each send, of equal bytes and tag.
  TinyJob& send(std::size_t from, std::size_t to, std::int64_t bytes, std::uint32_t tag = 0);
  TinyJob& receive(std::size_t from, std::size_t to, std::int64_t bytes, std::uint32_t tag = 0);
  /// The rank's next task waits for nothing.
  TinyJob& detach(std::size_t rank);

  /// Ends the building; the scenario is complete.
  TinyJob& build();
  /// Builds it, unless that is done, and runs it.
  RunResult run(std::span<Observer* const> observers = {});
  RunResult run(std::span<Observer* const> observers, const Registries& known);

  Scenario scenario;

 private:
  [[nodiscard]] std::vector<TaskId> last(std::size_t rank) const;
  TinyJob& done(std::size_t rank, TaskId task);

  TaskGraphBuilder builder_;
  std::vector<ProgramId> programs_;
  std::vector<TaskId> last_;
};

/// A hash of all notifications of an observer, in order: two runs with equal hashes had the same history.
class HistoryHash : public Observer {
 public:
  void compute(const ComputeEvent& event) override;
  void operation(const OperationEvent& event) override;
  void circuit(const CircuitEvent& event) override;
  void iteration(RankId rank, std::uint32_t finished, Time at) override;
  void end(Time makespan) override;

  [[nodiscard]] std::uint64_t value() const { return hash_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  void mix(std::uint64_t word);

  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::uint64_t events_ = 0;
};

}  // namespace photonrail::testing
