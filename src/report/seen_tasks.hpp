// The tasks and groups that the events of a run name: of the scenario's graph, and of the launches of an agent.
#pragma once

#include "photonrail/observer.hpp"
#include "photonrail/task_graph.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::report {

/// A launch, from its beginning to its end.
struct SeenLaunch {
  std::string kind;
  std::shared_ptr<const TaskGraph> graph;  ///< null: one task on each rank
  std::array<Task, 2> tasks{};             ///< without a graph
  std::vector<RankId> ranks;
  Time opened{};
  Time done = Time::never();
};

class SeenTasks {
 public:
  void begin(const TaskGraph& graph);
  void communicator(CommunicatorId id, const Communicator& group) { groups_.emplace(id, group); }
  void launched(const LaunchEvent& event);
  void launch_done(const LaunchEvent& event) { launches_.at(event.launch).done = event.at; }

  [[nodiscard]] std::size_t ranks() const { return graph_.ranks(); }
  /// `launch`: of the event; kNoLaunch: none.
  [[nodiscard]] const Task& task(RankId rank, TaskId task, std::uint32_t launch) const;
  /// The name of the task, the kind of its launch, or `fallback`.
  [[nodiscard]] std::string label(RankId rank, TaskId task, std::uint32_t launch, std::string_view fallback) const;
  [[nodiscard]] const Communicator& group(CommunicatorId id) const;
  [[nodiscard]] const std::map<std::uint32_t, SeenLaunch>& launches() const { return launches_; }

 private:
  TaskGraph graph_;
  std::map<CommunicatorId, Communicator> groups_;
  std::map<std::uint32_t, SeenLaunch> launches_;
};

}  // namespace photonrail::report
