// `allocate`: slices of a pod of accelerators, as a file asks for them.
#include "commands.hpp"
#include "console.hpp"
#include "photonrail/allocation/study_file.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "progress.hpp"
#include "read.hpp"
#include "report/allocation/report.hpp"
#include "report/allocation/slice_map.hpp"

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <system_error>

namespace photonrail::command {

namespace {

using allocation::AllocationStudy;
using allocation::AllocatorRegistry;

/// How often longer the step of a scenario takes when its NICs have a part of their bandwidth. Each share is simulated
/// once.
class StepStretch {
 public:
  StepStretch(const std::filesystem::path& file, const Registries& known)
      : known_(known), scenario_(read_one_job(file, {}, known)) {}

  double operator()(double share) { return std::max(1.0, seconds(share) / seconds(1.0)); }

 private:
  [[nodiscard]] double seconds(double share) {
    const auto [at, is_new] = times_.try_emplace(share, 0.0);
    if (is_new) at->second = simulated(share);
    return at->second;
  }
  [[nodiscard]] double simulated(double share) const {
    Scenario scaled = scenario_;
    scaled.run.spread_seeds.reset();
    scaled.cluster.nic.per_port.bytes_per_second *= share;
    return to_seconds(simulate(scaled, {}, known_).makespan);
  }

  const Registries& known_;
  Scenario scenario_;
  std::map<double, double> times_;
};

report::AllocationOutcome carry_out(const AllocationStudy& study, const AllocatorRegistry& known,
                                    const Registries& registries) {
  std::optional<StepStretch> step;
  if (!study.step.empty()) step.emplace(study.step, registries);
  report::AllocationOutcome outcome;
  TerminalLine line(error_is_terminal());
  const std::size_t of = study.decisions.size() + study.policies.size() * std::max<std::size_t>(1, study.orders.size());
  const auto draw = [&] { line.draw(outcome.decisions.size() + outcome.streams.size(), of, "decisions and streams"); };
  for (const allocation::DecisionCase& one : study.decisions) {
    const auto allocator = known.find(one.policy).make(one.pod.spec());
    report::DecisionOutcome answer{allocate(*allocator, one.pod, one.request), {}};
    if (one.expected) answer.difference = difference(*one.expected, answer.decision);
    outcome.decisions.push_back(std::move(answer));
    draw();
  }
  for (const std::string& policy : study.policies) {
    const allocation::AllocatorFactory& factory = known.find(policy);
    if (study.orders.empty()) {
      outcome.streams.push_back({policy, "", {}, run_without_queue(study.jobs, study.schedule.pod, factory)});
      draw();
    }
    for (const allocation::QueueOrder order : study.orders) {
      allocation::ScheduleSpec spec = study.schedule;
      spec.order = order;
      if (step) spec.stretch = std::ref(*step);
      outcome.streams.push_back({policy, name(order), schedule_jobs(study.jobs, spec, factory), {}});
      draw();
    }
  }
  return outcome;
}

report::AllocationOutcome outcome_of(const std::filesystem::path& file, const AllocationStudy& study,
                                     const AllocatorRegistry& known, const Registries& registries) {
  try {
    return carry_out(study, known, registries);
  } catch (const ConfigError& error) {
    throw error.inside(file.string());
  }
}

void write_all(const std::filesystem::path& out, const AllocationStudy& study, const report::AllocationOutcome& outcome) {
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error) throw ConfigError(out.string(), "cannot make the folder: " + error.message(), "choose another for --out");
  write_file(out / "result.json", allocation_json(study, outcome));
  std::string maps;
  for (const report::StreamOutcome& stream : outcome.streams) {
    if (stream.order.empty()) continue;
    const std::string stem = stream.policy + "-" + stream.order;
    const std::string map = report::slice_map_svg(stream.schedule, study.schedule.pod, stream.policy + ", " + stream.order);
    write_file(out / ("jobs-" + stem + ".csv"), report::jobs_csv(study.jobs, stream.schedule));
    write_file(out / ("map-" + stem + ".svg"), map);
    maps += map;
  }
  write_file(out / "index.html", allocation_page(study, outcome, maps));
}

}  // namespace

void allocate_slices(const AllocateOptions& options, const Registries& registries) {
  const AllocatorRegistry known = AllocatorRegistry::builtin();
  const AllocationStudy study = allocation::read_study(options.file, parse_set(options.set), known);
  const report::AllocationOutcome outcome = outcome_of(options.file, study, known, registries);
  if (!options.out.empty()) write_all(options.out, study, outcome);
  std::cout << (options.json ? allocation_json(study, outcome) : allocation_text(study, outcome));
  if (!options.out.empty() && !options.json) std::cout << "wrote " << options.out.string() << "/index.html\n";
  for (const report::DecisionOutcome& answer : outcome.decisions) {
    if (!answer.difference.empty()) throw CommandError(1, options.file.string() + ": decisions are not as expected");
  }
}

}  // namespace photonrail::command
