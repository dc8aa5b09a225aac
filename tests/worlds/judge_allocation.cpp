// Laws of slices: an accelerator is in one slice at a time and in none while its server is away, every job ends or is
// skipped, and times and shares add up.
#include "photonrail/simulate.hpp"
#include "studies/slices/study.hpp"
#include "worlds/family.hpp"
#include "worlds/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace photonrail::worlds {

namespace {

using slices::AllocationOutcome;
using slices::AllocationStudy;
using slices::Instant;
using slices::JobOutcome;
using slices::RunEnd;
using slices::ScheduleResult;
using slices::SliceRun;
using slices::Span;

bool is_share(double x) { return x >= 0.0 && x <= 1.0 + 1e-9; }

/// Spans of time by accelerator that may not overlap.
class Uses {
 public:
  explicit Uses(std::uint32_t accelerators) : spans_(accelerators) {}
  void add(std::uint32_t accelerator, Instant start, Instant end) { spans_.at(accelerator).emplace_back(start, end); }
  [[nodiscard]] bool overlap() {
    for (auto& spans : spans_) {
      std::sort(spans.begin(), spans.end());
      for (std::size_t i = 1; i < spans.size(); ++i) {
        if (spans[i].first < spans[i - 1].second) return true;
      }
    }
    return false;
  }

 private:
  std::vector<std::vector<std::pair<Instant, Instant>>> spans_;
};

std::string problem_of_slices(const AllocationStudy& study, const ScheduleResult& result) {
  const slices::PodSpec& pod = study.schedule.pod;
  Uses uses(pod.torus.size());
  for (const SliceRun& run : result.runs) {
    const std::set<std::uint32_t> distinct(run.slice.accelerators.begin(), run.slice.accelerators.end());
    if (distinct.size() != run.accelerators) return "a slice has an accelerator twice, or not all of its own";
    if (run.accelerators < study.jobs[run.job].request.accelerators) return "a slice is smaller than its job asked for";
    for (const std::uint32_t accelerator : distinct) uses.add(accelerator, run.start, run.end);
  }
  for (const slices::Outage& outage : result.outages) {
    for (const std::uint32_t accelerator : slices::server_of(pod, outage.server))
      uses.add(accelerator, outage.start, outage.end);
  }
  return uses.overlap() ? "an accelerator is in two slices at once, or in one while its server is away" : "";
}

// A job that ended: from its arrival to its end it waits in the queue or runs.
std::string problem_of_jobs(const AllocationStudy& study, const ScheduleResult& result) {
  std::vector<Span> running(study.jobs.size());
  std::vector<std::uint32_t> stops(study.jobs.size());
  Instant last{};
  for (const SliceRun& run : result.runs) {
    if (run.end < run.start || run.start < study.jobs[run.job].arrival) return "a run is earlier than it can be";
    running[run.job] += run.end - run.start;
    if (run.how != RunEnd::kDone) ++stops[run.job];
    last = std::max(last, run.end);
  }
  std::uint32_t skipped = 0;
  for (std::size_t j = 0; j < study.jobs.size(); ++j) {
    const JobOutcome& job = result.jobs[j];
    if (job.start.has_value() != job.end.has_value()) return "a job began and did not end";
    if (!job.end) {
      ++skipped;
      continue;
    }
    if (*job.end - study.jobs[j].arrival != job.waiting + running[j]) return "waiting and running do not add up";
    if (job.stops != stops[j]) return "the stops of a job are not those of its runs";
  }
  if (skipped != result.skipped) return "jobs that ended and jobs that were skipped are not all jobs";
  return last == result.makespan || result.runs.empty() ? "" : "the makespan is not the end of the last job";
}

// An empty pod refuses what is skipped; or a torus without optical switches has it longer than itself, and refused it once.
// The public allocator skips the latter under its Hilbert windows too, which ignore shapes.
std::string problem_of_skipped(const AllocationStudy& study, const std::string& policy, const ScheduleResult& result) {
  const slices::AllocatorRegistry known = slices::AllocatorRegistry::builtin();
  const slices::AllocatorFactory& factory = known.find(policy);
  const slices::PodSpec& spec = study.schedule.pod;
  if (study.schedule.failures.spares.count > 0) return "";  // of an empty pod without its spares
  const auto allocator = factory.make(spec);
  const auto longest = [](const slices::Shape& s) { return *std::max_element(s.sides.begin(), s.sides.end()); };
  for (std::size_t j = 0; j < study.jobs.size(); ++j) {
    if (result.jobs[j].end) continue;
    const slices::SliceRequest& request = study.jobs[j].request;
    const bool is_long = request.shape && longest(*request.shape) > longest(spec.torus);
    if (is_long && factory.fabric == slices::SliceFabric::kTorus) continue;
    if (allocate(*allocator, slices::Pod(spec), request).placement)
      return "a job is skipped that an empty pod has room for";
  }
  return "";
}

std::string problem_of_shares(const AllocationStudy& study, const ScheduleResult& result) {
  double busy = 0.0;
  for (const SliceRun& run : result.runs) busy += static_cast<double>((run.end - run.start).count()) * run.accelerators;
  const double all = static_cast<double>(result.makespan.count()) * study.schedule.pod.torus.size();
  if (all > 0.0 && std::abs(busy / all - result.utilisation) > 1e-6) return "the utilisation is not that of the runs";
  for (const double share : {result.utilisation, result.goodput, result.stranded, result.mean_share}) {
    if (!is_share(share)) return "a share is none";
  }
  return result.goodput > result.utilisation + 1e-9 ? "more goodput than utilisation" : "";
}

std::string problem_of(const AllocationStudy& study, const slices::StreamOutcome& stream) {
  if (stream.order.empty()) {
    std::uint64_t asked = 0;
    for (const slices::LossRow& row : stream.loss.rows) {
      asked += row.asked;
      if (row.refused_for_resource + row.refused_for_shape > row.asked) return "more requests were lost than there were";
    }
    if (asked != study.jobs.size()) return "the requests are not all jobs";
    return is_share(stream.loss.utilisation) && is_share(stream.loss.stranded) ? "" : "a share is none";
  }
  if (std::string text = problem_of_slices(study, stream.schedule); !text.empty()) return text;
  if (std::string text = problem_of_jobs(study, stream.schedule); !text.empty()) return text;
  if (std::string text = problem_of_skipped(study, stream.policy, stream.schedule); !text.empty()) return text;
  return problem_of_shares(study, stream.schedule);
}

std::string problem_of(const slices::DecisionCase& asked, const slices::SliceDecision& decision) {
  if (!decision.placement) {
    const bool few = asked.pod.idle_count() < asked.request.accelerators;
    const bool says_few = decision.reason == slices::RefusalReason::kResource;
    return few == says_few ? "" : "a refusal has the wrong reason";
  }
  const std::vector<std::uint32_t>& placed = decision.placement->accelerators;
  const std::set<std::uint32_t> distinct(placed.begin(), placed.end());
  if (distinct.size() != placed.size() || placed.size() < asked.request.accelerators) return "a placement is too small";
  const bool idle = std::all_of(placed.begin(), placed.end(), [&](std::uint32_t a) { return asked.pod.idle(a); });
  return idle ? "" : "a placement has accelerators that are not idle";
}

}  // namespace

Verdict judge_allocation(const World& world, const JudgeOptions&) {
  return ending_of([&](Verdict& verdict) {
    const AllocationStudy study = slices::parse_study(world.scenario.dump(), inputs(), "world.json");
    const AllocationOutcome outcome = run_allocation(study);
    verdict.laws = {"history", "books"};
    const std::string text = allocation_json(study, outcome);
    std::string problem;
    for (const slices::StreamOutcome& stream : outcome.streams) {
      if (problem.empty()) problem = problem_of(study, stream);
      if (!problem.empty() && verdict.detail.empty()) verdict.detail = stream.policy + " " + stream.order + ": " + problem;
    }
    for (std::size_t i = 0; i < outcome.decisions.size() && problem.empty(); ++i) {
      problem = problem_of(study.decisions[i], outcome.decisions[i].decision);
      if (!problem.empty()) verdict.detail = study.decisions[i].policy + ": " + problem;
    }
    if (problem.empty() && outcome.unexpected() > 0) problem = verdict.detail = "a decision is not the one that is right";
    if (problem.empty() && text.find("nan") != std::string::npos) {
      problem = verdict.detail = "the result has a number that is none";
    }
    if (!problem.empty()) verdict.symptom = "books";
    if (!verdict.symptom.empty()) return;
    ++verdict.runs;
    if (allocation_json(study, run_allocation(study)) == text) return;
    verdict.symptom = "history";
    verdict.detail = "two runs of one study differ";
  });
}

}  // namespace photonrail::worlds
