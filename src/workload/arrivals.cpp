#include "photonrail/core/random.hpp"
#include "workload/agents.hpp"

#include <utility>

namespace photonrail::workload {

std::vector<RankId> lowest_free_ranks(std::size_t wanted, const std::vector<bool>& free) {
  std::vector<RankId> ranks;
  for (std::size_t r = 0; r < free.size() && ranks.size() < wanted; ++r) {
    if (free[r]) ranks.emplace_back(r);
  }
  return ranks.size() == wanted ? ranks : std::vector<RankId>{};
}

JobPlacement whole_servers(std::size_t ranks_per_server) {
  return [ranks_per_server](std::size_t wanted, const std::vector<bool>& free) {
    std::vector<RankId> ranks;
    for (std::size_t first = 0; first + ranks_per_server <= free.size() && ranks.size() < wanted;
         first += ranks_per_server) {
      bool whole = true;
      for (std::size_t r = first; r < first + ranks_per_server; ++r) whole = whole && free[r];
      for (std::size_t r = first; whole && r < first + ranks_per_server && ranks.size() < wanted; ++r)
        ranks.emplace_back(r);
    }
    return ranks.size() == wanted ? ranks : std::vector<RankId>{};
  };
}

Arrivals::Arrivals(std::vector<ArrivingJob> jobs, JobPlacement placement)
    : jobs_(std::move(jobs)), placement_(std::move(placement)), records_(jobs_.size()), running_(jobs_.size()) {
  for (std::size_t j = 0; j < jobs_.size(); ++j) records_[j].at = jobs_[j].at;
}

// One timer at a time: the next arrival.
void Arrivals::on(const WorkEvent& event, WorkSink& sink) {
  using enum WorkEvent::Kind;
  if (event.kind == kBegin) free_.assign(sink.ranks(), true);
  if (event.kind == kRankDone) {
    const std::size_t job = event.token;
    running_[job]->rank_done(event.rank, sink);
    if (!running_[job]->done()) return;
    running_[job].reset();
    records_[job].ended = event.now;
    ++ended_;
    for (const RankId rank : records_[job].ranks) free_[rank.index()] = true;
    return place_waiting(event.now, sink);
  }
  if (event.kind != kLaunchDone) arrive(event.now, sink);
}

void Arrivals::arrive(Time now, WorkSink& sink) {
  while (arrived_ < jobs_.size() && jobs_[arrived_].at <= now) queue_.push_back(arrived_++);
  if (arrived_ < jobs_.size()) sink.wake_at(jobs_[arrived_].at);
  place_waiting(now, sink);
}

// The first of the queue keeps later jobs waiting until it fits.
void Arrivals::place_waiting(Time now, WorkSink& sink) {
  while (!queue_.empty()) {
    const std::size_t job = queue_.front();
    const std::vector<RankId> ranks = placement_(jobs_[job].graph->ranks(), free_);
    if (ranks.empty()) return;
    queue_.pop_front();
    for (const RankId rank : ranks) free_[rank.index()] = false;
    records_[job].began = now;
    records_[job].ranks = ranks;
    running_[job].emplace(Fragment{jobs_[job].graph, ranks}, jobs_[job].steps, LaunchLabel{0, job});
    running_[job]->begin(sink);
  }
}

std::vector<std::string> Arrivals::waiting() const {
  std::vector<std::string> lines;
  for (const std::size_t job : queue_) {
    if (lines.size() == 8) break;
    lines.push_back("job " + std::to_string(job) + " waits for " + std::to_string(jobs_[job].graph->ranks()) +
                    " ranks that its placement accepts");
  }
  return lines;
}

std::vector<Time> poisson_arrivals(double per_s, std::size_t count, std::uint64_t seed) {
  RandomStream random(seed, "arrivals");
  std::vector<Time> times;
  double at = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    at += random.exponential() / per_s;
    times.push_back(Time{} + round_up_picoseconds(at * 1e12));
  }
  return times;
}

}  // namespace photonrail::workload
