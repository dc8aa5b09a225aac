#include "rl/refit_launches.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace photonrail::rl {

std::vector<std::shared_ptr<const TaskGraph>> refit_graphs(const RlSpec& spec) {
  const auto traffic = std::make_shared<const collective::RefitTraffic>(refit_spec(spec));
  const std::uint32_t ranks = traffic->spec().members();
  const std::uint32_t parts = spec.refit.overlap ? traffic->spec().training.pp : 1;
  std::vector<RankId> all;
  for (std::uint32_t r = 0; r < ranks; ++r) all.emplace_back(r);
  std::vector<std::shared_ptr<const TaskGraph>> graphs;
  for (std::uint32_t part = 0; part < parts; ++part) {
    TaskGraphBuilder builder(ranks);
    builder.set_demands(traffic);
    // A lane each: those of several stages that are ready share the rails.
    const CommunicatorId group = builder.add_communicator("refit " + std::to_string(part), all, Dimension::kRefit);
    const ProgramId p = builder.add_program();
    const std::uint32_t demand = parts == 1 ? 1 : 2 + part;
    builder.add_all_to_all(p, 0, demand, Bytes{traffic->spec().bytes().count / ranks / parts}, "refit");
    for (const RankId rank : all) builder.assign(rank, p, {group});
    graphs.push_back(std::make_shared<const TaskGraph>(std::move(builder).build()));
  }
  return graphs;
}

void RefitLaunches::open(LaunchLabel label, WorkSink& sink) {
  if (is_open()) return;
  std::vector<RankId> all;
  for (std::uint32_t r = 0; r < spec_->ranks(); ++r) all.emplace_back(r);
  for (const auto& graph : graphs_) {
    open_.push_back({sink.open({graph, all}, label), static_cast<std::uint32_t>(spec_->training.ranks() / graphs_.size())});
  }
  engines_announced_ = false;
  announce(0, spec_->training.ranks(), sink);
  // Engines that send nothing leave the rails alone.
  if (!spec_->generation.flows) engines_stand(sink);
}

void RefitLaunches::engines_stand(WorkSink& sink) {
  if (!is_open() || std::exchange(engines_announced_, true)) return;
  announce(spec_->training.ranks(), spec_->ranks() - spec_->training.ranks(), sink);
}

void RefitLaunches::announce(std::uint32_t first, std::uint32_t ranks, WorkSink& sink) {
  for (const Open& part : open_) {
    for (std::uint32_t r = first; r < first + ranks && !part.entered; ++r) sink.announce(part.launch, RankId{r});
  }
}

void RefitLaunches::trained(RankId rank) {
  if (!is_open()) return;  // of a mini-batch that is not the last
  --open_[rank.index() * open_.size() / spec_->training.ranks()].untrained;
}

bool RefitLaunches::begun() const {
  return std::any_of(open_.begin(), open_.end(), [](const Open& part) { return part.entered; });
}

bool RefitLaunches::waits(LaunchId launch) const {
  return std::any_of(open_.begin(), open_.end(),
                     [launch](const Open& part) { return part.launch == launch && !part.entered; });
}

void RefitLaunches::enter_trained(WorkSink& sink) {
  for (Open& part : open_) {
    if (part.untrained == 0) enter(part, sink);
  }
}

void RefitLaunches::enter_all(WorkSink& sink) {
  for (Open& part : open_) enter(part, sink);
  open_.clear();
}

void RefitLaunches::enter(Open& part, WorkSink& sink) {
  if (part.entered) return;
  if (!begun()) running_ = static_cast<std::uint32_t>(open_.size());
  part.entered = true;
  for (std::uint32_t r = 0; r < spec_->ranks(); ++r) sink.enter(part.launch, RankId{r});
}

}  // namespace photonrail::rl
