// The numbers of a study of slices as columns of a table.
#include "studies/slices/report.hpp"

#include <algorithm>

namespace photonrail::slices {

namespace {

using Numbers = std::vector<std::pair<std::string, double>>;

double span_s(Span span) { return static_cast<double>(span.count()) / 1e6; }

void add_queue(Numbers& numbers, const ScheduleResult& r, const std::string& suffix) {
  const std::pair<const char*, double> values[] = {{"utilisation", r.utilisation},
                                                   {"goodput", r.goodput},
                                                   {"makespan_s", span_s(r.makespan)},
                                                   {"mean_waiting_s", r.times.mean_waiting},
                                                   {"mean_completion_s", r.times.mean_completion},
                                                   {"median_completion_s", r.times.median_completion},
                                                   {"blocked_for_resource_s", span_s(r.blocked_for_resource)},
                                                   {"blocked_for_shape_s", span_s(r.blocked_for_shape)},
                                                   {"stranded", r.stranded},
                                                   {"mean_share", r.mean_share},
                                                   {"blast_radius", r.blast_radius},
                                                   {"skipped", r.skipped},
                                                   {"restarts_at_once", r.restarts_at_once},
                                                   {"runs", static_cast<double>(r.runs.size())},
                                                   {"outages", static_cast<double>(r.outages.size())},
                                                   {"decisions", static_cast<double>(r.decisions)}};
  for (const auto& [name, value] : values) numbers.emplace_back(name + suffix, value);
}

void add_losses(Numbers& numbers, const LossResult& loss, const std::string& suffix) {
  double asked = 0.0;
  double resource = 0.0;
  double shape = 0.0;
  for (const LossRow& row : loss.rows) {
    asked += static_cast<double>(row.asked);
    resource += static_cast<double>(row.refused_for_resource);
    shape += static_cast<double>(row.refused_for_shape);
  }
  numbers.emplace_back("utilisation" + suffix, loss.utilisation);
  numbers.emplace_back("stranded" + suffix, loss.stranded);
  numbers.emplace_back("asked" + suffix, asked);
  numbers.emplace_back("refused_for_resource" + suffix, resource);
  numbers.emplace_back("refused_for_shape" + suffix, shape);
  numbers.emplace_back("refused_share" + suffix, (resource + shape) / std::max(1.0, asked));
}

/// "" of the only one, else ".NUMBER".
std::string suffix_of(std::size_t index, std::size_t count) { return count == 1 ? "" : "." + std::to_string(index); }

void add_availability(Numbers& numbers, const AvailabilityStudy& study) {
  CubePod pod = study.pod;
  const std::size_t count = study.host_availability.size() * study.slice_cubes.size();
  std::size_t row = 0;
  for (const double availability : study.host_availability) {
    pod.host_availability = availability;
    for (const std::uint32_t cubes : study.slice_cubes) {
      const std::string suffix = suffix_of(row++, count);
      numbers.emplace_back("fits" + suffix, fit_probability(pod, cubes));
      numbers.emplace_back("with_switches" + suffix, goodput_with_switches(pod, cubes));
      numbers.emplace_back("fixed" + suffix, goodput_fixed(pod, cubes));
    }
  }
}

void add_circuits(Numbers& numbers, const std::vector<CircuitStudy>& studies) {
  for (std::size_t i = 0; i < studies.size(); ++i) {
    const std::string suffix = suffix_of(i, studies.size());
    const ShiftSchedule best = cheapest_shifts(studies[i].steps, studies[i].fabric);
    numbers.emplace_back("cost_s" + suffix, to_seconds(best.cost));
    numbers.emplace_back("circuit_changes" + suffix, best.reconfigurations);
    numbers.emplace_back("fixed_ring_s" + suffix, to_seconds(best.fixed_ring));
    numbers.emplace_back("every_step_s" + suffix, to_seconds(best.every_step));
  }
}

}  // namespace

Numbers allocation_numbers(const AllocationStudy& study, const AllocationOutcome& outcome) {
  Numbers numbers;
  for (const StreamOutcome& stream : outcome.streams) {
    std::string suffix;
    if (outcome.streams.size() > 1) suffix = "." + stream.policy + (stream.order.empty() ? "" : "." + stream.order);
    if (stream.order.empty()) {
      add_losses(numbers, stream.loss, suffix);
    } else {
      add_queue(numbers, stream.schedule, suffix);
    }
  }
  if (study.availability) add_availability(numbers, *study.availability);
  if (study.waste) {
    const std::vector<double> shares = wasted_shares(*study.waste, study.schedule.seed);
    for (std::size_t i = 0; i < shares.size(); ++i) numbers.emplace_back("wasted" + suffix_of(i, shares.size()), shares[i]);
  }
  add_circuits(numbers, study.circuits);
  return numbers;
}

}  // namespace photonrail::slices
