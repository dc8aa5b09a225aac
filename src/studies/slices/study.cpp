#include "photonrail/study/slices/study.hpp"

#include <algorithm>

namespace photonrail::slices {

const char* name(QueueOrder order) {
  switch (order) {
    case QueueOrder::kFifo:
      return "fifo";
    case QueueOrder::kBackfill:
      return "backfill";
    case QueueOrder::kShortestService:
      return "srsf";
    case QueueOrder::kScarcestShape:
      return "irs";
    case QueueOrder::kRandom:
      return "random";
  }
  return "";
}

std::string difference(const DecisionCase::Expected& expected, const SliceDecision& decision) {
  if (!expected.placed) {
    if (decision.placement) return "placed, but a refusal is expected";
    if (!expected.refusal || decision.reason == *expected.refusal) return "";
    return decision.reason == RefusalReason::kResource ? "refused for resource, not for shape"
                                                       : "refused for shape, not for resource";
  }
  if (!decision.placement) return "refused, but a placement is expected";
  const Placement& slice = *decision.placement;
  if (expected.shape && slice.shape.sides != expected.shape->sides) {
    return "placed as " + slice.shape.text() + ", not as " + expected.shape->text();
  }
  std::vector<std::uint32_t> ours = slice.accelerators;
  std::sort(ours.begin(), ours.end());
  return expected.accelerators.empty() || ours == expected.accelerators ? "" : "placed on other accelerators";
}

namespace {

SliceDecision decide(const DecisionCase& one, const AllocatorRegistry& known) {
  if (one.policy == DecisionCase::kUnknownPolicy) {
    return {{}, one.request.accelerators > one.pod.idle_count() ? RefusalReason::kResource : RefusalReason::kShape};
  }
  return allocate(*known.find(one.policy).make(one.pod.spec()), one.pod, one.request);
}

}  // namespace

std::size_t AllocationOutcome::unexpected() const {
  return static_cast<std::size_t>(std::count_if(decisions.begin(), decisions.end(),
                                                [](const DecisionOutcome& one) { return !one.difference.empty(); }));
}

AllocationOutcome carry_out(const AllocationStudy& study, const AllocatorRegistry& known,
                            const std::function<double(double share)>& stretch, const StudyProgress& progress) {
  AllocationOutcome outcome;
  const std::size_t jobs = std::max<std::size_t>(1, study.jobs.size());  // of a stream
  const std::size_t of =
      study.decisions.size() + study.policies.size() * std::max<std::size_t>(1, study.orders.size()) * jobs;
  const auto told = [&](std::size_t ended = 0) {
    if (progress) progress(outcome.decisions.size() + outcome.streams.size() * jobs + ended, of);
  };
  for (const DecisionCase& one : study.decisions) {
    DecisionOutcome answer{decide(one, known), {}};
    if (one.expected) answer.difference = difference(*one.expected, answer.decision);
    outcome.decisions.push_back(std::move(answer));
    told();
  }
  for (const std::string& policy : study.policies) {
    const AllocatorFactory& factory = known.find(policy);
    if (study.orders.empty()) {
      outcome.streams.push_back({policy, "", {}, run_without_queue(study.jobs, study.schedule.pod, factory)});
      told();
    }
    for (const QueueOrder order : study.orders) {
      ScheduleSpec spec = study.schedule;
      spec.order = order;
      if (stretch) spec.stretch = stretch;
      if (progress) spec.progress = told;
      outcome.streams.push_back({policy, name(order), schedule_jobs(study.jobs, spec, factory), {}});
      told();
    }
  }
  return outcome;
}

}  // namespace photonrail::slices
