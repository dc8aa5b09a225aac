// The command explains a run: what bounds it, what more of each resource would give, and which settings have no effect.
#include "commands.hpp"
#include "console.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/work.hpp"
#include "read.hpp"
#include "report/explanation.hpp"
#include "report/rl_report.hpp"
#include "report/run_json.hpp"
#include "report/serving_report.hpp"
#include "run/worth.hpp"
#include "work_limit.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

namespace photonrail::command {

namespace {

// The scenario runs once for its path and once for each resource; how long the others take, the first one tells.
void forecast_worth(std::chrono::duration<double> first) {
  const double others = first.count() * static_cast<double>(run::resources().size());
  if (others < kWorthTelling) return;
  std::cerr << "photonrail: the worth of " << run::resources().size() << " resources will take about " << rough_time(others)
            << '\n';
}

void add_rails_note(const std::vector<run::Worth>& worth, RunResult& result) {
  if (result.serving) return;  // the note is of step times
  const auto electrical = std::find_if(worth.begin(), worth.end(), [](const run::Worth& of) {
    return of.resource->name == "electrical rails" && of.error.empty() && of.gain < 0.0;
  });
  if (electrical == worth.end()) return;
  RunResult other;
  other.name = "the same job on electrical rails of one tier";
  other.ranks = result.ranks;
  other.makespan = from_seconds(electrical->measure.value);
  other.choices = result.choices;
  std::vector<RunResult> both{result, std::move(other)};
  for (Note& note : notes_of(both)) result.notes.push_back(std::move(note));
}

}  // namespace

void explain(const ExplainScenarioOptions& options, const Registries& known) {
  Scenario scenario = read_one_job(options.scenario, options.set, known);
  scenario.run.critical_path = scenario.workload == nullptr;
  const Announce announce = options.json ? Announce::kQuiet : Announce::kAloud;
  const WorkEstimate first = about(options.scenario, [&] { return work_of(scenario, known); });
  WorkEstimate all;
  all.add(first, static_cast<double>(1 + run::resources().size()));
  admit(all, options.scenario.string(), options.work_limit_s, Announce::kQuiet);
  admit(first, options.scenario.string(), options.work_limit_s, announce);
  const auto began = std::chrono::steady_clock::now();
  RunResult result = about(options.scenario, [&] { return simulate(scenario, {}, known); });
  if (announce == Announce::kAloud) forecast_worth(std::chrono::steady_clock::now() - began);
  const std::vector<run::Worth> worth = about(options.scenario, [&] { return run::worth_of(scenario, result, known); });
  add_rails_note(worth, result);
  if (options.json) {
    const run::Measure measure = run::measure_of(result);
    json::Json json{{"name", result.name},
                    {std::string(report::key_of(measure.kind)), measure.value},
                    {"makespan_s", to_seconds(result.makespan)}};
    if (result.critical_path) json["critical_path"] = report::path_json(*result.critical_path);
    if (result.serving) json["ttft_parts_s"] = *report::serving_json(*result.serving).find("ttft_parts_s");
    if (result.rl) json["rl"] = *report::rl_json(*result.rl).find("mean");
    if (result.utilisation) json["utilisation"] = report::utilisation_json(*result.utilisation);
    json["worth"] = report::worth_json(worth);
    json["notes"] = report::notes_json(result.notes);
    std::cout << json.dump(2) << '\n';
    return;
  }
  warn(result.name, result.warnings);
  const int width = output_width();
  std::cout << report::path_text(result, width) << report::parts_text(result);
  if (!worth.empty()) std::cout << '\n' << report::worth_text(worth, run::measure_of(result));
  if (!result.notes.empty()) std::cout << '\n' << report::notes_text(result.notes, width);
}

}  // namespace photonrail::command
