// A pod that loses what it cannot place: refusals by shape, without a queue in between.
#include "core/field.hpp"
#include "photonrail/error.hpp"
#include "studies/slices/pods/fold_shape.hpp"
#include "studies/slices/pods/scheduling.hpp"
#include "studies/slices/pods/wiring.hpp"

#include <algorithm>
#include <map>

namespace photonrail::slices {

LossResult run_without_queue(const std::vector<SliceJob>& jobs, const PodSpec& spec, const AllocatorFactory& factory) {
  const auto allocator = factory.make(spec);
  Pod pod(spec);
  std::map<std::pair<std::uint32_t, Shape>, LossRow> rows;
  for (const SliceJob& job : jobs) {
    if (!job.request.shape)
      throw core::FieldError(core::field("jobs"), "a request has no shape", "shapes, such as [2, 4, 4]");
    const Shape shape = ascending(*job.request.shape);
    rows.try_emplace({shape.size(), shape}, LossRow{shape});
  }
  std::vector<Shape> sizes;
  for (const auto& [key, row] : rows) sizes.push_back(row.shape);
  std::multimap<Instant, Placement> running;
  LossResult result;
  double busy = 0.0;
  Instant before = jobs.empty() ? Instant{} : jobs.front().arrival;
  const Instant first = before;
  std::uint64_t with_idle = 0;
  const auto advance = [&](Instant now) {
    if (now < before) throw core::FieldError(core::field("jobs"), "are not in the order of their arrivals");
    busy += static_cast<double>((now - before).count()) * (pod.size() - pod.idle_count());
    before = now;
  };
  for (const SliceJob& job : jobs) {
    while (!running.empty() && running.begin()->first <= job.arrival) {
      advance(running.begin()->first);
      pod.release(running.begin()->second);
      running.erase(running.begin());
    }
    advance(job.arrival);
    if (pod.idle_count() > 0) {
      result.stranded += stranded_share(*allocator, pod, sizes);
      ++with_idle;
    }
    const Shape shape = ascending(*job.request.shape);
    LossRow& row = rows.at({shape.size(), shape});
    ++row.asked;
    SliceDecision decision = allocate(*allocator, pod, job.request);
    if (decision.placement) {
      pod.take(*decision.placement);
      running.emplace(job.arrival + job.duration, *std::move(decision.placement));
    } else {
      ++(decision.reason == RefusalReason::kResource ? row.refused_for_resource : row.refused_for_shape);
    }
  }
  for (const auto& [key, row] : rows) result.rows.push_back(row);
  result.utilisation = busy / (static_cast<double>(std::max<std::int64_t>(1, (before - first).count())) * pod.size());
  if (with_idle > 0) result.stranded /= static_cast<double>(with_idle);
  return result;
}

}  // namespace photonrail::slices
