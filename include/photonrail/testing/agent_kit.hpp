// Examines the agent of a workload: without a cluster, where the test says when a launch ends, and on small clusters, under
// laws that every agent obeys.
//
//     AgentKit kit(agent, 8);
//     kit.begin();
//     EXPECT_EQ(kit.open().size(), 1u);
//     kit.end(kit.open().front().id, ms(3));
#pragma once

#include "photonrail/scenario.hpp"
#include "photonrail/workload/agent.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace photonrail::testing {

/// A launch that the agent has made.
struct AgentCall {
  enum class Kind : std::uint8_t { kGraph, kCompute, kCollective, kSend };
  Kind kind = Kind::kGraph;
  LaunchId id;
  LaunchLabel label;
  std::vector<RankId> ranks;
  std::vector<RankId> entered{};             ///< by WorkSink::enter(), or all at once
  Time at{};                                 ///< of the call
  Duration time{};                           ///< kCompute
  Bytes size{};                              ///< kCollective, kSend
  std::shared_ptr<const TaskGraph> graph{};  ///< kGraph
};

/// Stands in the place of a run. The agent must outlive it.
class AgentKit {
 public:
  AgentKit(WorkloadAgent& agent, std::size_t ranks);
  ~AgentKit();
  AgentKit(const AgentKit&) = delete;
  AgentKit& operator=(const AgentKit&) = delete;

  void begin();
  /// Ends a launch: the agent is told of its ranks, where it hears them, and of it. Timers that come before are told first.
  /// REQUIRES: the launch is open, all of its ranks have entered it, and the time has not passed.
  void end(LaunchId launch, Time at);
  /// The next timer is told; false: none is set.
  bool wake();
  /// Goes on until nothing is open and no timer is set, or the agent is finished: each launch takes as long as `takes`
  /// says, and launches share nothing. Returns the time of the end.
  Time run(const std::function<Duration(const AgentCall&)>& takes);

  [[nodiscard]] Time now() const;
  /// The open launches, the oldest first.
  [[nodiscard]] const std::vector<AgentCall>& open() const;
  /// All that was launched so far.
  [[nodiscard]] std::uint32_t launched() const;

 private:
  class Sink;
  std::unique_ptr<Sink> sink_;
};

/// The first law that the agent of a workload breaks in `scenario`, or "": the run ends, or names what it waits for; what
/// was launched has ended; the parts of the time of every rank add up to the makespan; and the same seed has the same
/// history. The scenario's own graph and workload are replaced.
[[nodiscard]] std::string agent_problem(const Workload& workload, Scenario scenario);

/// The same on `cases` drawn clusters for a job of `ranks`: servers of several sizes, latencies, electrical rails, and
/// circuits under policies that need no known schedule. Says the cluster, too.
[[nodiscard]] std::string fuzz_agent(const Workload& workload, std::size_t ranks, std::uint32_t cases = 100,
                                     std::uint64_t seed = 1);

/// An agent that does everything at random, for whoever changes the kernel: launches of graphs and of tasks, ranks that
/// enter late, timers, also for the present instant. It ends after `launches`.
[[nodiscard]] std::unique_ptr<Workload> random_workload(std::uint64_t seed, std::uint32_t launches);

}  // namespace photonrail::testing
