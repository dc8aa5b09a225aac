// Agents that come with the library: a step that is repeated, and jobs that arrive and wait for free ranks.
#pragma once

#include "photonrail/workload/agent.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::workload {

/// Launches one fragment a number of times. Each rank begins its next step when it has ended one, as the ranks of a job do.
/// For agents that hear ranks.
class LaunchedSteps {
 public:
  LaunchedSteps(Fragment fragment, std::uint32_t steps, LaunchLabel label);

  void begin(WorkSink& sink);
  /// The rank, of the job, has ended its program of a step.
  void rank_done(RankId rank, WorkSink& sink);
  [[nodiscard]] bool done() const { return ranks_done_ == fragment_.ranks.size(); }

 private:
  struct Open {
    LaunchId launch;
    std::size_t ranks_left = 0;
  };

  Fragment fragment_;
  std::uint32_t steps_;
  LaunchLabel label_;
  std::map<std::uint32_t, Open> open_;       // by step: some ranks have not begun it
  std::map<RankId, std::uint32_t> step_of_;  // by rank: the step that it is in
  std::size_t ranks_done_ = 0;
};

/// The job that repeats one step. `hidden`: it does not say that its future is known, and decides step by step.
class RepeatedStep final : public WorkloadAgent {
 public:
  RepeatedStep(std::shared_ptr<const TaskGraph> graph, std::uint32_t steps, bool hidden = false);

  void on(const WorkEvent& event, WorkSink& sink) override;
  [[nodiscard]] bool finished() const override { return launched_.done(); }
  [[nodiscard]] std::vector<std::string> kinds() const override { return {"step"}; }
  [[nodiscard]] bool hears_ranks() const override { return true; }
  [[nodiscard]] std::optional<KnownFuture> known_future() const override;

 private:
  KnownFuture future_;
  bool hidden_;
  LaunchedSteps launched_;
};

/// A job that arrives.
struct ArrivingJob {
  Time at{};
  std::shared_ptr<const TaskGraph> graph;
  std::uint32_t steps = 1;
};

/// When an arrived job ran, and where.
struct ArrivedJob {
  Time at{};
  Time began = Time::never();
  Time ended = Time::never();
  std::vector<RankId> ranks{};
};

/// The ranks that a job gets; none: it must wait. A pure function of how many it wants and which are free, by rank.
using JobPlacement = std::function<std::vector<RankId>(std::size_t wanted, const std::vector<bool>& free)>;
/// The lowest free ranks.
[[nodiscard]] std::vector<RankId> lowest_free_ranks(std::size_t wanted, const std::vector<bool>& free);
/// The lowest servers of `ranks_per_server` ranks each that are wholly free.
[[nodiscard]] JobPlacement whole_servers(std::size_t ranks_per_server);

/// Jobs that arrive at given times and run on free ranks. Those that find too few wait, first come, first served.
class Arrivals final : public WorkloadAgent {
 public:
  /// `jobs` ascend by time.
  explicit Arrivals(std::vector<ArrivingJob> jobs, JobPlacement placement = lowest_free_ranks);

  void on(const WorkEvent& event, WorkSink& sink) override;
  [[nodiscard]] bool finished() const override { return ended_ == jobs_.size(); }
  [[nodiscard]] std::vector<std::string> waiting() const override;
  [[nodiscard]] std::vector<std::string> kinds() const override { return {"step of a job"}; }
  [[nodiscard]] bool hears_ranks() const override { return true; }
  /// By job.
  [[nodiscard]] const std::vector<ArrivedJob>& records() const { return records_; }

 private:
  void arrive(Time now, WorkSink& sink);
  void place_waiting(Time now, WorkSink& sink);

  std::vector<ArrivingJob> jobs_;
  JobPlacement placement_;
  std::vector<ArrivedJob> records_;
  std::vector<std::optional<LaunchedSteps>> running_;  // by job
  std::deque<std::size_t> queue_;
  std::vector<bool> free_;
  std::size_t arrived_ = 0;
  std::size_t ended_ = 0;
};

/// Times of a Poisson process, `per_s` on average, drawn from the stream "arrivals" of the seed.
[[nodiscard]] std::vector<Time> poisson_arrivals(double per_s, std::size_t count, std::uint64_t seed);

}  // namespace photonrail::workload
