#include "studies/slices/study.hpp"

#include "studies/run_study.hpp"

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

/// A decision, or a stream with its policy and its order.
using Answer = std::variant<DecisionOutcome, StreamOutcome>;

/// The points: the decisions, then the streams by policy and order.
class Answers : public studies::Study<Answer> {
 public:
  Answers(const AllocationStudy& study, const AllocatorRegistry& known, const std::function<double(double share)>& stretch,
          std::function<void(std::size_t)> ended)
      : study_(study), known_(known), stretch_(stretch), ended_(std::move(ended)) {}

  [[nodiscard]] std::vector<std::string> expand() const override {
    std::vector<std::string> names;
    for (const DecisionCase& one : study_.decisions) names.push_back(one.id);
    for (const std::string& policy : study_.policies) {
      if (study_.orders.empty()) names.push_back(policy);
      for (const QueueOrder order : study_.orders) names.push_back(policy + " " + name(order));
    }
    return names;
  }
  /// All alike, so that they run in their order: work_of() has the work of all.
  [[nodiscard]] studies::Estimate estimate(std::size_t) const override { return {}; }
  [[nodiscard]] Answer run(std::size_t point, const studies::Stop&) const override {
    if (point < study_.decisions.size()) return decided(study_.decisions[point]);
    const std::size_t stream = point - study_.decisions.size();
    const std::size_t orders = std::max<std::size_t>(1, study_.orders.size());
    const std::string& policy = study_.policies[stream / orders];
    const AllocatorFactory& factory = known_.find(policy);
    if (study_.orders.empty())
      return StreamOutcome{policy, "", {}, run_without_queue(study_.jobs, study_.schedule.pod, factory)};
    ScheduleSpec spec = study_.schedule;
    spec.order = study_.orders[stream % orders];
    if (stretch_) spec.stretch = stretch_;
    if (ended_) spec.progress = ended_;
    return StreamOutcome{policy, name(spec.order), schedule_jobs(study_.jobs, spec, factory), {}};
  }

 private:
  [[nodiscard]] DecisionOutcome decided(const DecisionCase& one) const {
    DecisionOutcome answer{decide(one, known_), {}};
    if (one.expected) answer.difference = difference(*one.expected, answer.decision);
    return answer;
  }

  const AllocationStudy& study_;
  const AllocatorRegistry& known_;
  const std::function<double(double share)>& stretch_;
  std::function<void(std::size_t)> ended_;  ///< jobs of the stream that runs; may be empty
};

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
  std::function<void(std::size_t)> told;
  if (progress) {
    told = [&](std::size_t ended) { progress(outcome.decisions.size() + outcome.streams.size() * jobs + ended, of); };
  }
  // In one thread: a stretch may simulate and remembers what it has simulated.
  studies::run_study(Answers(study, known, stretch, told), {}, {}, [&](std::size_t, Answer&& answer) {
    if (auto* const decision = std::get_if<DecisionOutcome>(&answer)) outcome.decisions.push_back(std::move(*decision));
    if (auto* const stream = std::get_if<StreamOutcome>(&answer)) outcome.streams.push_back(std::move(*stream));
    if (told) told(0);
  });
  return outcome;
}

}  // namespace photonrail::slices
