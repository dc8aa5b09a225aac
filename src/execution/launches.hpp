// Carries out what an agent launches, and tells it what ended: the only writer of the launches. It stands in the place of
// RankProgress where the workload decides while the run goes on.
#pragma once

#include "execution/launch_table.hpp"
#include "execution/rank_progress.hpp"
#include "execution/run_context.hpp"
#include "photonrail/accounting.hpp"
#include "photonrail/workload/agent.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace photonrail::execution {

class Launches final : public WorkSink {
 public:
  /// All must outlive the object. `horizon`: RunSpec's.
  Launches(WorkloadAgent& agent, LaunchTable& table, const RunContext& run, ProgramListener& listener,
           std::optional<Time> horizon);
  Launches(const Launches&) = delete;  // events name it
  Launches& operator=(const Launches&) = delete;

  void begin();
  /// A task of a launch is complete.
  void complete(RankId rank, TaskId number, CriticalPathTag cause);
  /// An operation of a launch has sent all of its bytes.
  void moved(RankId rank, std::uint32_t launch, Bytes bytes);

  /// The agent is finished, and no launch is open.
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] const std::vector<Time>& end() const { return end_; }
  [[nodiscard]] std::uint64_t tasks_done() const { return tasks_done_; }
  [[nodiscard]] std::uint64_t tasks() const { return tasks_; }
  [[nodiscard]] CriticalPathTag last_cause() const { return last_cause_; }
  [[nodiscard]] std::vector<LaunchTotals> totals() const { return totals_; }
  /// What holds up the launches and the agent, for DeadlockReport.
  [[nodiscard]] std::vector<std::string> waiting() const;

  LaunchId launch(const Fragment& fragment, LaunchLabel label) override;
  LaunchId open(const Fragment& fragment, LaunchLabel label) override;
  void enter(LaunchId launch, RankId rank) override;
  LaunchId compute(std::span<const RankId> ranks, Duration time, LaunchLabel label, Stream stream) override;
  LaunchId collective(std::span<const RankId> ranks, CollectiveOp op, Bytes size, Dimension dimension,
                      LaunchLabel label) override;
  LaunchId send(RankId from, RankId to, Bytes size, LaunchLabel label, Dimension dimension) override;
  void wake_at(Time at, std::uint64_t token) override;
  [[nodiscard]] Time now() const override { return run_.engine.now(); }
  [[nodiscard]] std::size_t ranks() const override { return table_.ranks(); }

 private:
  struct Told {
    WorkEvent event;
    CriticalPathTag cause;
  };
  struct Timer {
    Time at{};
    std::uint64_t sequence = 0;
    std::uint64_t token = 0;
    std::uint32_t reconfigurations = 0;  // of what set it

    [[nodiscard]] friend bool operator>(const Timer& a, const Timer& b) {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
  };

  [[nodiscard]] LaunchedGraph& graph_of(const Fragment& fragment);
  [[nodiscard]] std::unique_ptr<LaunchedGraph> compile(const Fragment& fragment);
  [[nodiscard]] CommunicatorId intern(const GroupKey& key);
  void drop_idle_graphs();
  void check_ranks(std::span<const RankId> ranks);
  void check_call(LaunchLabel label) const;
  [[nodiscard]] Launch& open_graph(const Fragment& fragment, LaunchLabel label);
  LaunchId launch_tasks(std::span<const RankId> ranks, LaunchLabel label, const Task& first, const Task& others,
                        CommunicatorId group);
  void announce(Launch& launch, LaunchLabel label);
  LaunchId enter_all(Launch& launch);
  void enter_part(Launch& launch, std::uint32_t part);
  void release(Launch& launch, std::uint32_t part);
  void end_stall(std::uint64_t slot_and_part);
  void end_part(Launch& launch, std::uint32_t part);
  void end_launch(Launch& launch);
  void observe(const Launch& launch, bool done) const;
  void tell(const WorkEvent& event, CriticalPathTag cause);
  void tell_all();
  void tell_one(const WorkEvent& event);
  void end_if_done();
  void set_wake();
  void wake(std::uint64_t);
  void reach_horizon(std::uint64_t);
  [[nodiscard]] std::string describe(const Launch& launch) const;

  WorkloadAgent& agent_;
  LaunchTable& table_;
  RunContext run_;
  ProgramListener& listener_;
  const std::optional<Time> horizon_;
  const bool hears_ranks_;
  const std::vector<std::string> kinds_;
  std::vector<LaunchTotals> totals_;  // by kind
  std::unordered_map<const TaskGraph*, std::vector<std::unique_ptr<LaunchedGraph>>> graphs_;
  std::size_t graph_count_ = 0;
  std::vector<std::uint32_t> rank_seen_;  // by rank: the last check that met it
  std::uint32_t check_ = 0;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::uint64_t timer_sequence_ = 0;
  engine::EventHandle wake_{};  // of the next timer
  Time wake_time_{};
  engine::EventHandle at_horizon_{};
  std::deque<Told> to_tell_;
  CriticalPathTag cause_{};  // of the event that the agent is told of
  bool telling_ = false;
  Time told_at_{};
  std::uint64_t told_now_ = 0;  // events at this instant
  bool ended_ = false;
  std::vector<Time> end_;  // one, once it ended
  std::uint64_t tasks_ = 0;
  std::uint64_t tasks_done_ = 0;
  CriticalPathTag last_cause_{};
};

}  // namespace photonrail::execution
