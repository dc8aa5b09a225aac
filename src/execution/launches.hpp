// Carries out what an agent launches, and tells it what ended: the only writer of the launches. It stands in the place of
// RankProgress where the workload decides while the run goes on.
#pragma once

#include "execution/agent_voice.hpp"
#include "execution/announcements.hpp"
#include "execution/launch_table.hpp"
#include "execution/launch_timers.hpp"
#include "execution/launched_graphs.hpp"
#include "execution/rank_progress.hpp"
#include "execution/run_context.hpp"
#include "photonrail/workload/agent.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::execution {

class Launches final : public WorkSink {
 public:
  /// All must outlive the object. `horizon`: RunSpec's.
  Launches(WorkloadAgent& agent, LaunchTable& table, const RunContext& run, ProgramListener& listener,
           std::optional<Time> horizon, AheadRequests ahead = {});
  Launches(const Launches&) = delete;  // events name it
  Launches& operator=(const Launches&) = delete;

  void begin();
  /// A task of a launch is complete.
  void complete(RankId rank, TaskId number, CriticalPathTag cause);

  /// One, when the agent was finished and no launch was open; none before.
  [[nodiscard]] const std::vector<Time>& end() const { return end_; }
  struct TaskCount {
    std::uint64_t done = 0;
    std::uint64_t of = 0;  ///< launched until now
  };
  [[nodiscard]] TaskCount tasks() const { return tasks_; }
  [[nodiscard]] CriticalPathTag last_cause() const { return last_cause_; }
  /// What holds up the launches and the agent, for DeadlockReport.
  [[nodiscard]] std::vector<std::string> waiting() const;

  LaunchId launch(const Fragment& fragment, LaunchLabel label) override;
  LaunchId open(const Fragment& fragment, LaunchLabel label) override;
  void enter(LaunchId launch, RankId rank) override;
  void announce(LaunchId launch, RankId rank) override;
  LaunchId compute(std::span<const RankId> ranks, Duration time, LaunchLabel label, Stream stream) override;
  LaunchId collective(std::span<const RankId> ranks, CollectiveOp op, Bytes size, Dimension dimension,
                      LaunchLabel label) override;
  LaunchId send(RankId from, RankId to, Bytes size, LaunchLabel label, Dimension dimension) override;
  void wake_at(Time at, std::uint64_t token) override;
  /// The agent's clock begins with its job, so that a job does the same whenever it starts.
  [[nodiscard]] Time now() const override { return run_.engine.now() - began_.since_start(); }
  [[nodiscard]] std::size_t ranks() const override { return table_.ranks(); }

 private:
  void check_call(LaunchLabel label) const;
  [[nodiscard]] Launch& open_graph(const Fragment& fragment, LaunchLabel label);
  LaunchId launch_tasks(std::span<const RankId> ranks, LaunchLabel label, const Task& first, const Task& others,
                        CommunicatorId group);
  LaunchId enter_all(Launch& launch);
  [[nodiscard]] LaunchTable::Place before_entry(LaunchId launch, RankId rank, const char* does) const;
  void enter_part(Launch& launch, std::uint32_t part);
  void release(Launch& launch, std::uint32_t part);
  void end_stall(std::uint64_t slot_and_part);
  void end_part(Launch& launch, std::uint32_t part);
  void end_launch(Launch& launch);
  void tell_all();
  void wake(std::uint64_t);
  void reach_horizon(std::uint64_t);

  WorkloadAgent& agent_;
  LaunchTable& table_;
  RunContext run_;
  ProgramListener& listener_;
  const std::optional<Time> horizon_;
  Announcements announcements_;
  const bool hears_ranks_;
  LaunchedGraphs graphs_;
  LaunchTimers timers_;
  AgentVoice voice_;
  engine::EventHandle at_horizon_{};
  Time began_{};           // the job
  std::vector<Time> end_;  // one, once it ended
  TaskCount tasks_;
  CriticalPathTag last_cause_{};
};

}  // namespace photonrail::execution
