// What can be and differs from a candidate in one choice.
#include "studies/plan/space.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace photonrail::plan {

// Without a bound to look at, what is no training job is read whole.
bool Space::can_be(const JobCandidate& job, std::uint64_t run) const {
  const Base& base = bases_[job.job_values];
  if (base.refused) return false;
  if (!base.spec) {
    try {
      return parse_scenario(plan_.base, plan_.base_directory, plan_.name, patch(job, run), known_).infeasible().empty();
    } catch (const ConfigError&) {
      return false;
    }
  }
  const double ranks = static_cast<double>(job.shape.tp) * job.shape.cp * job.shape.pp;
  if (plan_.shapes && base.gpus / ranks != std::floor(base.gpus / ranks)) return false;
  Rejections rejections;
  std::vector<JobCandidate> jobs;
  StepBound bound(base.cluster, base.facts);
  JobCandidate examined = job;
  examine(base, spec_of(job), bound, examined, rejections, jobs);
  return !jobs.empty();
}

std::vector<ShapeNumbers> Space::shapes_around(const ShapeNumbers& shape) const {
  const ShapeSpace& space = *plan_.shapes;
  std::vector<ShapeNumbers> list;
  const auto set = [&](std::uint32_t ShapeNumbers::*part, std::uint32_t value) {
    list.push_back(shape);
    list.back().*part = value;
  };
  const auto next = [&](const std::vector<std::uint32_t>& values, std::uint32_t ShapeNumbers::*part) {
    const std::uint32_t own = shape.*part;
    std::optional<std::uint32_t> below;
    std::optional<std::uint32_t> above;
    for (const std::uint32_t value : values) {
      if (value < own) below = std::max(value, below.value_or(value));
      if (value > own) above = std::min(value, above.value_or(value));
    }
    for (const auto& value : {below, above}) {
      if (value) set(part, *value);
    }
  };
  next(space.tp, &ShapeNumbers::tp);
  next(space.cp, &ShapeNumbers::cp);
  next(space.pp, &ShapeNumbers::pp);
  next(space.ep, &ShapeNumbers::ep);
  next(space.virtual_stages, &ShapeNumbers::virtual_stages);
  next(space.micro_batch, &ShapeNumbers::micro_batch);
  for (std::uint32_t i = 0; i < space.sharding.size(); ++i) {
    if (i != shape.sharding) set(&ShapeNumbers::sharding, i);
  }
  for (std::uint32_t i = 0; i < space.recompute.size(); ++i) {
    if (i != shape.recompute) set(&ShapeNumbers::recompute, i);
  }
  return list;
}

std::vector<PlanValue> Space::around(const JobCandidate& job, std::uint64_t run) const {
  std::vector<PlanValue> list{{"the best", patch(job, run)}};
  if (plan_.shapes) {
    for (const ShapeNumbers& shape : shapes_around(job.shape)) {
      JobCandidate other = job;
      other.shape = shape;
      if (can_be(other, run)) list.push_back({shape_label(other), patch(other, run)});
    }
  }
  for (std::size_t a = 0; a < plan_.axes.size(); ++a) {
    std::uint64_t stride = 1;
    for (std::size_t b = a + 1; b < plan_.axes.size(); ++b) {
      if (changes_job_[b] == changes_job_[a]) stride *= plan_.axes[b].values.size();
    }
    const std::uint64_t own = value_of(a, job.job_values, run);
    for (std::uint64_t v = 0; v < plan_.axes[a].values.size(); ++v) {
      JobCandidate other = job;
      std::uint64_t other_run = run;
      if (changes_job_[a]) {
        other.job_values = static_cast<std::uint32_t>(job.job_values + (v - own) * stride);
      } else {
        other_run = run + (v - own) * stride;
      }
      if (v == own || !can_be(other, other_run)) continue;
      list.push_back({plan_.axes[a].name + " " + plan_.axes[a].values[v].label, patch(other, other_run)});
    }
  }
  return list;
}

}  // namespace photonrail::plan
