// Which of the jobs that wait starts next.
#include "photonrail/error.hpp"
#include "studies/slices/pods/pod_schedule.hpp"

#include <algorithm>

namespace photonrail::slices {

double PodSchedule::key_of(std::uint32_t job) {
  switch (spec_.order) {
    case QueueOrder::kFifo:
    case QueueOrder::kBackfill:
      return static_cast<double>(jobs_[job].arrival.count());
    case QueueOrder::kRandom:
      return result_.jobs[job].stops == 0 ? random_.uniform() : progress_[job].key;
    case QueueOrder::kShortestService:
    case QueueOrder::kScarcestShape:
      break;
  }
  return static_cast<double>(progress_[job].remaining.count()) * jobs_[job].request.accelerators;
}

void PodSchedule::fill() {
  blocked_.reset();
  switch (spec_.order) {
    case QueueOrder::kFifo:
    case QueueOrder::kBackfill:
      fill_in_order();
      break;
    case QueueOrder::kShortestService:
    case QueueOrder::kRandom:
      fill_by_group();
      break;
    case QueueOrder::kScarcestShape:
      fill_scarcest();
      break;
  }
  if (const auto first = first_of_queue(true)) blocked_ = allocator_.refusal(RequestKey(jobs_[*first].request));
}

bool PodSchedule::serve(std::uint32_t job) {
  SliceDecision decision = allocator_.decide(pod_, jobs_[job].request);
  if (decision.placement) {
    start(job, *std::move(decision.placement));
    return true;
  }
  const SliceRequest& request = jobs_[job].request;
  const bool may_skip = spec_.impossible == ImpossibleJobs::kSkip || ends_.empty();
  if (!allocator_.too_long(request) && !(may_skip && allocator_.never(request))) return false;
  // Where shapes are ignored one that is too long may have run, and was stopped: it waits for room again.
  const RequestKey key(request);
  const std::size_t skipped = queue_.remove_if(key, [this](std::uint32_t of) { return !result_.jobs[of].start; });
  result_.skipped += static_cast<std::uint32_t>(skipped);
  if (skipped > 0) allocator_.forget(key);  // so that later jobs of its kind are asked for, and skipped
  return skipped > 0;
}

std::optional<std::uint32_t> PodSchedule::first_of_queue(bool with_refused) const {
  const JobQueue::Entry* first = nullptr;
  for (const auto& [request, group] : queue_.groups()) {
    if (!with_refused && allocator_.refusal(request)) continue;
    if (first == nullptr || *group.begin() < *first) first = &*group.begin();
  }
  return first == nullptr ? std::nullopt : std::optional(first->second);
}

void PodSchedule::fill_in_order() {
  while (const auto head = first_of_queue(true)) {
    if (serve(*head)) continue;
    if (spec_.order == QueueOrder::kBackfill) backfill(*head);
    return;
  }
}

/// The end of a running job after which the head fits, if nothing else starts. More releases never hurt, so that the number
/// of ends is searched by halving.
Instant PodSchedule::head_start(std::uint32_t head) const {
  std::vector<std::pair<Instant, std::uint32_t>> ends(ends_.begin(), ends_.end());
  const auto fits_after = [&](std::size_t count) {
    Pod later = pod_;
    for (std::size_t i = 0; i < count; ++i) later.release(progress_[ends[i].second].slice);
    return allocator_.try_in(later, jobs_[head].request).has_value();
  };
  if (ends.empty() || !fits_after(ends.size())) return Instant::max();  // the head waits for repairs
  std::size_t low = 1;
  std::size_t high = ends.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    fits_after(middle) ? high = middle : low = middle + 1;
  }
  return ends[low - 1].first;
}

void PodSchedule::backfill(std::uint32_t head) {
  if (queue_.groups().size() == 1) return;  // all want what the head does not get
  if (!head_start_) head_start_ = head_start(head);
  const auto ends_in_time = [&](const JobQueue::Entry& entry) {
    const Span overhead = spec_.reconfiguration + (result_.jobs[entry.second].start ? spec_.failures.restart : Span{});
    return *head_start_ == Instant::max() || now_ + overhead + progress_[entry.second].remaining <= *head_start_;
  };
  while (true) {
    const JobQueue::Entry* next = nullptr;
    for (const auto& [request, group] : queue_.groups()) {
      if (allocator_.refusal(request)) continue;
      const auto entry = std::find_if(group.begin(), group.end(), ends_in_time);
      if (entry != group.end() && (next == nullptr || *entry < *next)) next = &*entry;
    }
    if (next == nullptr) return;
    serve(next->second);
  }
}

void PodSchedule::fill_by_group() {
  while (const auto next = first_of_queue(false)) {
    if (!serve(*next) && spec_.preempt) preempt_for(*next);
  }
}

/// Stops running jobs that would have more service left than `job`, both counted alike as what the queue would have of
/// them, so that no two jobs stop each other in turn. The smallest slices that are as large as the job's come first, then
/// smaller ones, the largest first; of equal ones those with most left.
bool PodSchedule::preempt_for(std::uint32_t job) {
  constexpr std::size_t kMaxVictims = 64;
  const std::uint32_t wanted = jobs_[job].request.accelerators;
  const double own = key_of(job);
  struct Victim {
    std::uint32_t job = 0;
    std::uint32_t accelerators = 0;
    double left = 0.0;
  };
  std::vector<Victim> victims;
  for (const auto& [end, running] : ends_) {
    const std::uint32_t accelerators = jobs_[running].request.accelerators;
    const double left = static_cast<double>(left_if_stopped(running).count()) * accelerators;
    if (left > own) victims.push_back({running, accelerators, left});
  }
  if (victims.empty()) return false;
  std::stable_sort(victims.begin(), victims.end(), [&](const Victim& a, const Victim& b) {
    const bool a_fits = a.accelerators >= wanted;
    if (a_fits != (b.accelerators >= wanted)) return a_fits;
    if (a.accelerators != b.accelerators) return (a.accelerators < b.accelerators) == a_fits;
    return a.left > b.left;
  });
  if (victims.size() > kMaxVictims) victims.resize(kMaxVictims);
  // More releases never hurt: where all of them are not enough, as when most servers are down, that is asked once.
  Pod later = pod_;
  for (const Victim& victim : victims) later.release(progress_[victim.job].slice);
  if (later.idle_count() < wanted || !allocator_.try_in(later, jobs_[job].request)) return false;
  later = pod_;
  std::optional<Placement> slice;
  std::vector<std::uint32_t> stopped;
  for (auto victim = victims.begin(); victim != victims.end() && !slice; ++victim) {
    stopped.push_back(victim->job);
    later.release(progress_[victim->job].slice);
    if (later.idle_count() >= wanted) slice = allocator_.try_in(later, jobs_[job].request);
  }
  if (!slice) return false;
  for (std::size_t i = 0; i + 1 < stopped.size();) {  // those whose room is not needed run on
    later.take(progress_[stopped[i]].slice);
    if (auto without = allocator_.try_in(later, jobs_[job].request)) {
      slice = std::move(without);
      stopped.erase(stopped.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      later.release(progress_[stopped[i++]].slice);
    }
  }
  for (const std::uint32_t victim : stopped) stop(victim, RunEnd::kPreemption);
  start(job, *std::move(slice));
  return true;
}

/// Accelerators of slices of that request that the pod has room for now.
double PodSchedule::supply_of(const RequestKey& request) const {
  constexpr std::uint32_t kMaxSlices = 64;
  SliceRequest wanted{request.accelerators, {}};
  if (request.has_shape) wanted.shape = request.shape;
  Pod left = pod_;
  std::uint32_t slices = 0;
  while (slices < kMaxSlices) {
    const auto slice = allocator_.try_in(left, wanted);
    if (!slice) break;
    left.take(*slice);
    ++slices;
  }
  return static_cast<double>(slices) * request.accelerators;
}

/// Venn's order: shapes with the least supply first; but from the most plentiful on, a shape goes before a scarcer one
/// while it has more jobs for each accelerator of its supply.
void PodSchedule::fill_scarcest() {
  struct Candidate {
    RequestKey request;
    double supply;
    double pressure;
  };
  std::vector<Candidate> order;
  for (const auto& [request, group] : queue_.groups()) {
    if (allocator_.refusal(request)) continue;
    const double supply = std::max(supply_of(request), 1.0);
    order.push_back({request, supply, static_cast<double>(group.size()) / supply});
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.supply < b.supply; });
  for (std::size_t i = order.size(); i-- > 1;) {
    for (std::size_t j = i; j > 0 && order[j].pressure > order[j - 1].pressure; --j) std::swap(order[j], order[j - 1]);
  }
  for (const Candidate& candidate : order) {
    while (true) {
      const auto group = queue_.groups().find(candidate.request);
      if (group == queue_.groups().end() || !serve(group->second.begin()->second)) break;
    }
  }
}

}  // namespace photonrail::slices
