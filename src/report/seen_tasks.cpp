#include "report/seen_tasks.hpp"

#include <algorithm>

namespace photonrail::report {

namespace {

RankId place_of(const SeenLaunch& launch, RankId rank) {
  const auto found = std::find(launch.ranks.begin(), launch.ranks.end(), rank);
  return RankId{static_cast<std::size_t>(found - launch.ranks.begin())};
}

}  // namespace

void SeenTasks::begin(const TaskGraph& graph) {
  graph_ = graph;
  groups_.clear();
  launches_.clear();
}

void SeenTasks::launched(const LaunchEvent& event) {
  SeenLaunch& launch = launches_[event.launch];
  launch.kind = event.kind;
  launch.graph = event.graph;
  std::copy_n(event.tasks.begin(), std::min(event.tasks.size(), launch.tasks.size()), launch.tasks.begin());
  launch.ranks.assign(event.ranks.begin(), event.ranks.end());
  launch.opened = event.opened;
}

const Task& SeenTasks::task(RankId rank, TaskId task, std::uint32_t launch) const {
  if (launch == kNoLaunch) return graph_.program(rank).task(task);
  const SeenLaunch& of = launches_.at(launch);
  const RankId place = place_of(of, rank);
  if (of.graph == nullptr) return of.tasks[place.index() == 0 ? 0 : 1];
  return of.graph->program(place).task(task);
}

std::string SeenTasks::label(RankId rank, TaskId task, std::uint32_t launch, std::string_view fallback) const {
  if (launch == kNoLaunch) {
    const std::string_view given = graph_.program(rank).name(task);
    return std::string(given.empty() ? fallback : given);
  }
  const SeenLaunch& of = launches_.at(launch);
  if (of.graph == nullptr) return of.kind;
  const std::string_view given = of.graph->program(place_of(of, rank)).name(task);
  return given.empty() ? of.kind : std::string(given);
}

const Communicator& SeenTasks::group(CommunicatorId id) const {
  const auto found = groups_.find(id);
  return found != groups_.end() ? found->second : graph_.communicators()[id.index()];
}

}  // namespace photonrail::report
