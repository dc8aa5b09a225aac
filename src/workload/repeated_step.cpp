#include "workload/agents.hpp"

#include <numeric>
#include <utility>

namespace photonrail::workload {

namespace {

Fragment on_every_rank(const std::shared_ptr<const TaskGraph>& graph) {
  Fragment fragment{graph, {}};
  for (std::size_t r = 0; r < graph->ranks(); ++r) fragment.ranks.emplace_back(r);
  return fragment;
}

}  // namespace

LaunchedSteps::LaunchedSteps(Fragment fragment, std::uint32_t steps, LaunchLabel label)
    : fragment_(std::move(fragment)), steps_(steps), label_(label) {
  for (const RankId rank : fragment_.ranks) step_of_.emplace(rank, 0);
}

void LaunchedSteps::begin(WorkSink& sink) { static_cast<void>(sink.launch(fragment_, label_)); }

void LaunchedSteps::rank_done(RankId rank, WorkSink& sink) {
  const std::uint32_t step = ++step_of_.at(rank);
  if (step == steps_) {
    ++ranks_done_;
    return;
  }
  const auto [found, first] = open_.try_emplace(step);
  if (first) found->second = {sink.open(fragment_, label_), fragment_.ranks.size()};
  const LaunchId launch = found->second.launch;
  if (--found->second.ranks_left == 0) open_.erase(found);
  sink.enter(launch, rank);
}

RepeatedStep::RepeatedStep(std::shared_ptr<const TaskGraph> graph, std::uint32_t steps, bool hidden)
    : future_{std::move(graph), steps}, hidden_(hidden), launched_(on_every_rank(future_.graph), steps, {}) {}

void RepeatedStep::on(const WorkEvent& event, WorkSink& sink) {
  if (event.kind == WorkEvent::Kind::kBegin) launched_.begin(sink);
  if (event.kind == WorkEvent::Kind::kRankDone) launched_.rank_done(event.rank, sink);
}

std::optional<KnownFuture> RepeatedStep::known_future() const { return hidden_ ? std::nullopt : std::optional(future_); }

}  // namespace photonrail::workload
