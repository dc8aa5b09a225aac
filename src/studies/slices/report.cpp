#include "studies/slices/report.hpp"

#include "core/counted.hpp"
#include "json/json.hpp"
#include "photonrail/version.hpp"
#include "report/text.hpp"
#include "studies/slices/study.hpp"
#include "studies/table.hpp"

#include <algorithm>
#include <sstream>

namespace photonrail::slices {

namespace {

using json::Json;

double in_seconds(Span span) { return static_cast<double>(span.count()) / 1e6; }

const char* word(RefusalReason reason) { return reason == RefusalReason::kResource ? "resource" : "shape"; }

std::string percent(double share) { return report::number("%.2f", 100.0 * share); }

/// A head and rows.
class Lines {
 public:
  explicit Lines(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] std::string text() const { return report::in_columns(rows_); }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string decisions_text(const AllocationStudy& study, const AllocationOutcome& outcome) {
  std::string text;
  std::size_t expected = 0;
  std::size_t met = 0;
  for (std::size_t i = 0; i < study.decisions.size(); ++i) {
    const DecisionCase& one = study.decisions[i];
    const DecisionOutcome& answer = outcome.decisions[i];
    expected += one.expected ? 1 : 0;
    met += one.expected && answer.difference.empty() ? 1 : 0;
    if (one.expected && answer.difference.empty()) continue;
    text += "  " + (one.id.empty() ? "case " + std::to_string(i) : one.id) + " " + one.policy + ": ";
    if (!answer.difference.empty()) {
      text += answer.difference + "\n";
    } else if (answer.decision.placement) {
      text += "placed as " + answer.decision.placement->shape.text() + "\n";
    } else {
      text += std::string("refused for ") + word(answer.decision.reason) + "\n";
    }
  }
  const std::string head =
      core::counted(study.decisions.size(), "decision") +
      (expected == 0 ? "" : ", " + std::to_string(met) + " of " + std::to_string(expected) + " as expected");
  return head + "\n" + text;
}

/// How long jobs take in a table: hours where one of them takes two or more, else seconds.
struct TimeColumn {
  double seconds = 1.0;
  const char* unit = "s";

  [[nodiscard]] std::string of(double s) const { return report::number(seconds == 1.0 ? "%.1f" : "%.2f", s / seconds); }
};

TimeColumn times_of(const std::vector<StreamOutcome>& streams) {
  const bool hours = std::any_of(streams.begin(), streams.end(), [](const StreamOutcome& stream) {
    return std::max(stream.schedule.times.mean_completion, in_seconds(stream.schedule.makespan)) >= 7200.0;
  });
  return hours ? TimeColumn{3600.0, "h"} : TimeColumn{};
}

std::string queues_text(const AllocationStudy& study, const AllocationOutcome& outcome) {
  const TimeColumn time = times_of(outcome.streams);
  const std::string unit = std::string(" ") + time.unit;
  Lines lines({"policy", "queue", "utilisation %", "goodput %", "mean wait" + unit, "mean completion" + unit,
               "median" + unit, "makespan" + unit, "blocked: resource" + unit, "shape" + unit, "stranded %", "bandwidth %",
               "blast radius", "skipped"});
  for (const StreamOutcome& stream : outcome.streams) {
    const ScheduleResult& r = stream.schedule;
    lines.add({stream.policy, stream.order, percent(r.utilisation), percent(r.goodput), time.of(r.times.mean_waiting),
               time.of(r.times.mean_completion), time.of(r.times.median_completion), time.of(in_seconds(r.makespan)),
               time.of(in_seconds(r.blocked_for_resource)), time.of(in_seconds(r.blocked_for_shape)), percent(r.stranded),
               percent(r.mean_share), report::number("%.1f", r.blast_radius), std::to_string(r.skipped)});
  }
  return core::counted(study.jobs.size(), "job") + ", a pod of " + study.schedule.pod.torus.text() + "\n" + lines.text();
}

std::string losses_text(const AllocationStudy& study, const AllocationOutcome& outcome) {
  Lines lines({"policy", "shape", "asked", "refused %", "for resource %", "for shape %", "utilisation %", "stranded %"});
  for (const StreamOutcome& stream : outcome.streams) {
    for (const LossRow& row : stream.loss.rows) {
      const auto share = [&](std::uint64_t count) {
        return percent(static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(1, row.asked)));
      };
      lines.add({stream.policy, row.shape.text(), std::to_string(row.asked),
                 share(row.refused_for_resource + row.refused_for_shape), share(row.refused_for_resource),
                 share(row.refused_for_shape), percent(stream.loss.utilisation), percent(stream.loss.stranded)});
    }
  }
  return core::counted(study.jobs.size(), "job") + " without a queue, a pod of " + study.schedule.pod.torus.text() + "\n" +
         lines.text();
}

std::string availability_text(const AvailabilityStudy& study) {
  Lines lines({"host availability", "cubes of a slice", "P(fits) %", "goodput with switches %", "fixed wiring %"});
  CubePod pod = study.pod;
  for (const double availability : study.host_availability) {
    pod.host_availability = availability;
    for (const std::uint32_t cubes : study.slice_cubes) {
      lines.add({report::number("%.4f", availability), std::to_string(cubes), percent(fit_probability(pod, cubes)),
                 percent(goodput_with_switches(pod, cubes)), percent(goodput_fixed(pod, cubes))});
    }
  }
  return lines.text();
}

double wasted(const WasteStudy& study, std::uint32_t group, const WasteStudy::Domain& domain, std::uint64_t seed) {
  WasteSpec spec;
  spec.servers = study.servers;
  spec.servers_per_group = group / study.accelerators_per_server;
  spec.domain = domain.domain;
  spec.placements = study.placements;
  spec.seed = seed;
  return wasted_share(study.faulty, spec);
}

std::string waste_text(const WasteStudy& study, std::uint64_t seed) {
  std::vector<std::string> head{"wasted % of accelerators"};
  for (const std::uint32_t group : study.groups) head.push_back("groups of " + std::to_string(group));
  Lines lines(head);
  const std::vector<double> shares = wasted_shares(study, seed);
  auto share = shares.begin();
  for (const auto& domain : study.domains) {
    std::vector<std::string> row{domain.name};
    for (std::size_t g = 0; g < study.groups.size(); ++g) row.push_back(report::number("%.3f", 100.0 * *share++));
    lines.add(row);
  }
  return lines.text();
}

std::string microseconds(Duration d) { return report::number("%.3f", to_seconds(d) * 1e6); }

std::string circuits_text(const std::vector<CircuitStudy>& studies) {
  Lines lines({"collective", "nodes", "bytes", "best us", "reconfigurations", "fixed ring us", "every step us"});
  for (const CircuitStudy& study : studies) {
    const ShiftSchedule best = cheapest_shifts(study.steps, study.fabric);
    lines.add({study.collective, std::to_string(study.fabric.nodes), report::number("%.0f", study.bytes),
               microseconds(best.cost), std::to_string(best.reconfigurations), microseconds(best.fixed_ring),
               microseconds(best.every_step)});
  }
  return lines.text();
}

Json placement_json(const DecisionOutcome& answer) {
  if (!answer.decision.placement) return {{"decision", "reject"}, {"reason", word(answer.decision.reason)}};
  const Placement& slice = *answer.decision.placement;
  std::vector<std::uint32_t> sides(slice.shape.sides.begin(), slice.shape.sides.begin() + slice.shape.dimensions);
  return {{"decision", "admit"}, {"shape", sides}, {"accelerators", slice.accelerators}};
}

Json stream_json(const StreamOutcome& stream) {
  Json entry{{"policy", stream.policy}};
  if (stream.order.empty()) {
    Json rows = Json::array();
    for (const LossRow& row : stream.loss.rows) {
      rows.push_back({{"shape", row.shape.text()},
                      {"asked", row.asked},
                      {"refused_for_resource", row.refused_for_resource},
                      {"refused_for_shape", row.refused_for_shape}});
    }
    entry.insert("utilisation", stream.loss.utilisation);
    entry.insert("stranded", stream.loss.stranded);
    entry.insert("refusals", std::move(rows));
    return entry;
  }
  const ScheduleResult& r = stream.schedule;
  entry.insert("order", stream.order);
  entry.insert("utilisation", r.utilisation);
  entry.insert("goodput", r.goodput);
  entry.insert("makespan_s", in_seconds(r.makespan));
  entry.insert("mean_waiting_s", r.times.mean_waiting);
  entry.insert("mean_completion_s", r.times.mean_completion);
  entry.insert("median_completion_s", r.times.median_completion);
  entry.insert("blocked_for_resource_s", in_seconds(r.blocked_for_resource));
  entry.insert("blocked_for_shape_s", in_seconds(r.blocked_for_shape));
  entry.insert("stranded", r.stranded);
  entry.insert("mean_share", r.mean_share);
  entry.insert("blast_radius", r.blast_radius);
  entry.insert("skipped", r.skipped);
  entry.insert("restarts_at_once", r.restarts_at_once);
  entry.insert("runs", r.runs.size());
  entry.insert("outages", r.outages.size());
  entry.insert("decisions", r.decisions);
  return entry;
}

Json circuits_json(const std::vector<CircuitStudy>& studies) {
  Json list = Json::array();
  for (const CircuitStudy& study : studies) {
    const ShiftSchedule best = cheapest_shifts(study.steps, study.fabric);
    Json segments = Json::array();
    for (const auto& s : best.segments) segments.push_back({{"first", s.first}, {"last", s.last}, {"shift", s.shift}});
    list.push_back({{"collective", study.collective},
                    {"cost_s", to_seconds(best.cost)},
                    {"reconfigurations", best.reconfigurations},
                    {"fixed_ring_s", to_seconds(best.fixed_ring)},
                    {"every_step_s", to_seconds(best.every_step)},
                    {"segments", std::move(segments)}});
  }
  return list;
}

Json availability_json(const AvailabilityStudy& study) {
  Json rows = Json::array();
  CubePod pod = study.pod;
  for (const double availability : study.host_availability) {
    pod.host_availability = availability;
    for (const std::uint32_t cubes : study.slice_cubes) {
      rows.push_back({{"host_availability", availability},
                      {"slice_cubes", cubes},
                      {"fits", fit_probability(pod, cubes)},
                      {"with_switches", goodput_with_switches(pod, cubes)},
                      {"fixed", goodput_fixed(pod, cubes)}});
    }
  }
  return rows;
}

Json waste_json(const WasteStudy& study, std::uint64_t seed) {
  Json rows = Json::array();
  const std::vector<double> shares = wasted_shares(study, seed);
  auto share = shares.begin();
  for (const auto& domain : study.domains) {
    for (const std::uint32_t group : study.groups) {
      rows.push_back({{"domain", domain.name}, {"group", group}, {"wasted", *share++}});
    }
  }
  return rows;
}

}  // namespace

std::vector<double> wasted_shares(const WasteStudy& study, std::uint64_t seed) {
  std::vector<double> shares;
  for (const auto& domain : study.domains) {
    for (const std::uint32_t group : study.groups) shares.push_back(wasted(study, group, domain, seed));
  }
  return shares;
}

std::string allocation_text(const AllocationStudy& study, const AllocationOutcome& outcome) {
  std::vector<std::string> parts;
  if (!study.decisions.empty()) parts.push_back(decisions_text(study, outcome));
  if (!outcome.streams.empty())
    parts.push_back(study.orders.empty() ? losses_text(study, outcome) : queues_text(study, outcome));
  if (study.availability) parts.push_back(availability_text(*study.availability));
  if (study.waste) parts.push_back(waste_text(*study.waste, study.schedule.seed));
  if (!study.circuits.empty()) parts.push_back(circuits_text(study.circuits));
  std::string text = study.name.empty() ? "" : study.name + "\n\n";
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : "\n") + parts[i];
  return text;
}

std::string allocation_json(const AllocationStudy& study, const AllocationOutcome& outcome) {
  Json root{{"schema", "photonrail.allocation_result/1"},
            {"name", study.name},
            {"photonrail_version", std::string(version())},
            {"seed", study.schedule.seed}};
  if (!study.decisions.empty()) {
    Json list = Json::array();
    for (std::size_t i = 0; i < study.decisions.size(); ++i) {
      Json entry{{"id", study.decisions[i].id}, {"policy", study.decisions[i].policy}};
      entry.insert("answer", placement_json(outcome.decisions[i]));
      if (study.decisions[i].expected) entry.insert("difference", outcome.decisions[i].difference);
      list.push_back(std::move(entry));
    }
    root.insert("decisions", std::move(list));
  }
  if (!outcome.streams.empty()) {
    Json list = Json::array();
    for (const StreamOutcome& stream : outcome.streams) list.push_back(stream_json(stream));
    root.insert("streams", std::move(list));
  }
  if (study.availability) root.insert("availability", availability_json(*study.availability));
  if (study.waste) root.insert("waste", waste_json(*study.waste, study.schedule.seed));
  if (!study.circuits.empty()) root.insert("circuits", circuits_json(study.circuits));
  return root.dump(2) + "\n";
}

std::string allocation_jobs_csv(const AllocationStudy& study, const StreamOutcome& stream) {
  const auto seconds = [](const auto& at) { return report::number("%.6f", in_seconds(at)); };
  const auto time = [&](const auto& at) { return at ? seconds(*at) : std::string(); };
  std::string text =
      core::csv_line({"job", "accelerators", "shape", "arrival_s", "start_s", "end_s", "waiting_s", "stops"});
  for (std::size_t j = 0; j < study.jobs.size(); ++j) {
    const SliceJob& job = study.jobs[j];
    const JobOutcome& outcome = stream.schedule.jobs[j];
    text += core::csv_line({std::to_string(j), std::to_string(job.request.accelerators),
                            job.request.shape ? job.request.shape->text() : "", seconds(job.arrival), time(outcome.start),
                            time(outcome.end), seconds(outcome.waiting), std::to_string(outcome.stops)});
  }
  return text;
}

}  // namespace photonrail::slices
