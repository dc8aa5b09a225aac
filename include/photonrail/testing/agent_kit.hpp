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
#include "photonrail/workload/registry.hpp"
#include "photonrail/workload/scheduling.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
  std::vector<RankId> announced{};           ///< by WorkSink::announce()
  Time at{};                                 ///< of the call, or of the last that entered
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
/// circuits under `policies`, which must need no known schedule. Says the cluster, too.
[[nodiscard]] std::string fuzz_agent(const Workload& workload, std::size_t ranks, std::uint32_t cases = 100,
                                     std::uint64_t seed = 1, std::span<const std::string> policies = {});

/// An agent that does everything at random, for whoever changes the kernel: launches of graphs and of tasks, ranks that
/// enter late, timers, also for the present instant. It ends after `launches`.
[[nodiscard]] std::unique_ptr<Workload> random_workload(std::uint64_t seed, std::uint32_t launches);

// ---- Schedulers of engines that serve requests.
//
//     QueueView queue;
//     queue.running({.prompt = 100, .generated = 3, .output = 10, .computed = 102, .blocks = 7}).waiting({.prompt = 50});
//     EXPECT_EQ(policy.decide(queue.view()).run.size(), 1u);

/// Writes a view in verbs. It must outlive its view().
class QueueView {
 public:
  QueueView& running(const RequestView& request) {
    running_.push_back(request);
    return *this;
  }
  QueueView& waiting(const RequestView& request) {
    waiting_.push_back(request);
    return *this;
  }
  /// The view of `engine`, or of one with 1000 free blocks, with these requests.
  [[nodiscard]] EngineView view(EngineView engine) const {
    engine.running = running_;
    engine.waiting = waiting_;
    return engine;
  }
  [[nodiscard]] EngineView view() const {
    EngineView engine;
    engine.free_blocks = engine.total_blocks = 1000;
    return view(engine);
  }

 private:
  std::vector<RequestView> running_;
  std::vector<RequestView> waiting_;
};

/// The first law that the scheduler breaks on `cases` small engines with requests that are drawn from the seed, some of
/// which begin alike and share blocks, or "":
/// every decision can be carried out, equal views have equal decisions, every request is finished, and its blocks are given
/// back.
[[nodiscard]] std::string scheduler_problem(const SchedulingPolicy& policy, std::uint32_t cases = 40,
                                            std::uint64_t seed = 1);

/// What a scheduler breaks, and where.
struct SchedulerFinding {
  std::string problem;   ///< "": nothing
  std::string scenario;  ///< a file that repeats it, without what it does not need
};
/// The same laws in `cases` drawn scenarios, in which small clusters serve requests under the scheduler of this name:
/// engines in one pool or apart, circuits, sessions, common prefixes, failures. And: requests that came have finished or
/// were refused, KV that was sent has arrived, all times add up, and a second run is the same.
[[nodiscard]] SchedulerFinding fuzz_scheduler(const SchedulerRegistry& known, std::string_view name,
                                              std::uint32_t cases = 100, std::uint64_t seed = 1);

}  // namespace photonrail::testing
