// How much work a study of slices is: measured with every policy and order on pods of 128 to 4,096 accelerators, 20 to 95 %
// busy, with and without failures.
#include "studies/slices/study.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace photonrail::slices {

namespace {

constexpr double kMaxEvents = 5e6;       // of a stream, which ends with an error beyond
constexpr double kEvent = 1e-6;          // seconds, beside its questions
constexpr double kWasteDraw = 3e-9;      // seconds, of a place of a server
constexpr double kRoomOfSearches = 8.0;  // times as many accelerators in all boxes as in one, of a request without a shape
constexpr double kCloseTo = 0.05;        // of its accelerators that a pod keeps, however often servers fail

/// Seconds of a question for each accelerator of the pod, by what a policy searches: positions, windows or whole cubes.
double seconds_of_question(const std::string& policy, const ScheduleSpec& spec) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> kMeasured{
      {{"firstfit", 18e-9}, {"bestfit", 20e-9}, {"folding", 10e-9}, {"photonic", 5e-9}}};
  if (policy == "photonic" && spec.pod.fibres > 0) return 300e-9;  // ways around full boundaries are searched
  for (const auto& [name, seconds] : kMeasured) {
    if (policy == name) return seconds;
  }
  return 3e-9;
}

/// Questions of an event: a policy remembers what it refused, so that each request is asked for once, in the order
/// "scarcest shape" for each slice that fits, and in "backfill" for the start of the head.
double questions_of(QueueOrder order, double requests) {
  switch (order) {
    case QueueOrder::kFifo:
      return 1.0;
    case QueueOrder::kBackfill:
      return 1.0 + requests;
    case QueueOrder::kScarcestShape:
      return 1.0 + 6.0 * requests;
    case QueueOrder::kShortestService:
    case QueueOrder::kRandom:
      break;
  }
  return 1.0 + 0.25 * requests;
}

struct StreamWork {
  double jobs = 0.0;      ///< arrivals and ends
  double failures = 0.0;  ///< failures and repairs
  double requests = 1.0;  ///< unlike ones, a request without a shape counts for its boxes
};

StreamWork stream_of(const AllocationStudy& study) {
  const ScheduleSpec& spec = study.schedule;
  StreamWork stream;
  stream.jobs = 2.0 * static_cast<double>(study.jobs.size());
  std::set<std::tuple<std::uint32_t, bool, Coordinates>> unlike;
  double demand = 0.0;  // accelerator seconds
  double last = 0.0;
  stream.requests = 0.0;
  for (const SliceJob& job : study.jobs) {
    const double duration = static_cast<double>(job.duration.count()) / 1e6;
    const bool free = !job.request.shape;
    demand += duration * job.request.accelerators;
    last = std::max(last, static_cast<double>(job.arrival.count()) / 1e6 + duration);
    const auto sides = free ? Coordinates{} : job.request.shape->sides;
    if (unlike.insert({job.request.accelerators, free, sides}).second) stream.requests += free ? kRoomOfSearches : 1.0;
  }
  const double between = static_cast<double>(spec.failures.mean_between.count()) / 1e6;
  if (between <= 0.0) return stream;
  const double repair = static_cast<double>(spec.failures.mean_repair.count()) / 1e6;
  const double up = std::max(kCloseTo, between / (between + repair));
  const double servers = static_cast<double>(spec.pod.torus.size()) / spec.pod.server.size();
  const double span = std::max(last, demand / (up * spec.pod.torus.size()));
  stream.failures = std::min(kMaxEvents, 2.0 * span * servers / between);
  return stream;
}

void add_streams(const AllocationStudy& study, WorkEstimate& work) {
  if (study.jobs.empty()) return;
  const StreamWork stream = stream_of(study);
  const double accelerators = study.schedule.pod.torus.size();
  for (const std::string& policy : study.policies) {
    const double question = accelerators * seconds_of_question(policy, study.schedule);
    const auto add = [&](double questions, double failures) {
      const double event = kEvent + questions * question;
      const std::string levers = "/policies, /orders";
      work.add({"arrivals and ends of jobs", stream.jobs, stream.jobs * event, "fewer jobs, " + levers});
      work.add({"failures and repairs", failures, failures * event, "a longer /failures/mean_between_h, " + levers});
    };
    if (study.orders.empty()) add(1.0 + stream.requests, 0.0);
    for (const QueueOrder order : study.orders) add(questions_of(order, stream.requests), stream.failures);
  }
}

}  // namespace

WorkEstimate work_of(const AllocationStudy& study) {
  WorkEstimate work;
  const double decisions = static_cast<double>(study.decisions.size());
  double searched = 0.0;
  for (const DecisionCase& one : study.decisions) searched += one.pod.spec().torus.size() * 20e-9;
  work.add({"decisions", decisions, decisions * 5e-6 + searched, ""});
  add_streams(study, work);
  if (study.waste) {
    const WasteStudy& waste = *study.waste;
    const double draws = static_cast<double>(waste.faulty.size()) * static_cast<double>(waste.groups.size()) *
                         static_cast<double>(waste.domains.size()) * waste.placements * waste.servers;
    work.add({"places of faulty servers", draws, draws * kWasteDraw, "/waste/placements"});
  }
  return work;
}

}  // namespace photonrail::slices
