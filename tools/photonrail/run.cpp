#include "columns.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/counted.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/work.hpp"
#include "photonrail/workload/agent.hpp"
#include "progress.hpp"
#include "read.hpp"
#include "report/ccl_bench.hpp"
#include "report/explanation.hpp"
#include "report/operators_text.hpp"
#include "report/serving_report.hpp"
#include "studies/sweep/plugin_list.hpp"
#include "studies/work.hpp"
#include "work_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <set>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>
#include <variant>

namespace photonrail::command {

namespace {

constexpr std::size_t kLongestName = 120;  // letters; file systems end at 255

// A name that is good as a folder's name everywhere.
std::string folder_name(std::string name) {
  const auto odd = [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; };
  std::replace_if(name.begin(), name.end(), odd, '_');
  name.resize(std::min(name.size(), kLongestName));
  if (name.empty() || name.front() == '.') name.insert(0, 1, '_');
  return name;
}

// Where each scenario writes: straight into `out` when it is alone.
std::vector<std::filesystem::path> folders(const std::vector<Scenario>& scenarios, const std::filesystem::path& out) {
  if (scenarios.size() == 1) return {out};
  std::vector<std::filesystem::path> list;
  std::set<std::string> taken;
  for (const Scenario& scenario : scenarios) {
    const std::string name = folder_name(scenario.name);
    std::string unique = name;
    for (int n = 2; !taken.insert(unique).second; ++n) unique = name + "-" + std::to_string(n);
    list.push_back(out / unique);
  }
  return list;
}

// Before the run: a folder that cannot be made is better known now than after an hour. In that of a sweep the page would
// show the sweep, and nobody the run.
void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder / "results.db", error) || std::filesystem::exists(folder / "shards", error))
    throw ConfigError(folder.string(), "holds the results of a sweep", "choose another folder for --out");
  std::filesystem::create_directories(folder, error);
  if (error) throw ConfigError(folder.string(), "cannot make the folder: " + error.message(), "choose another for --out");
}

RunResult simulate_one(const Scenario& scenario, const std::filesystem::path& file, std::vector<Observer*> observers,
                       const Registries& known, bool quiet) {
  ProgressLine progress(!quiet);
  observers.push_back(&progress);
  return about(file, [&] { return simulate(scenario, observers, known); });
}

// "0-7,12" of the ranks of the scenario.
TraceWriter::Options timeline_options(const std::string& text, const Scenario& scenario) {
  TraceWriter::Options options;
  std::size_t ranks = scenario.graph.ranks();
  for (const JobSpec& job : scenario.jobs) ranks += job.graph.ranks();
  const auto fail = [&](const std::string& part) {
    throw ConfigError("--trace-ranks " + text, "\"" + part + "\" is no rank or range of ranks of " + scenario.name,
                      "for example 0-7,12; ranks are 0 to " + std::to_string(ranks - 1));
  };
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    unsigned first = 0;
    unsigned last = 0;
    char rest = 0;
    const int found = std::sscanf(part.c_str(), "%u-%u%c", &first, &last, &rest);
    const bool single = found == 1 && part.find_first_not_of("0123456789") == std::string::npos;
    if (single) last = first;
    if ((!single && found != 2) || first > last || last >= ranks ||
        part.find_first_not_of("0123456789-") != std::string::npos)
      fail(part);
    for (unsigned rank = first; rank <= last; ++rank) options.ranks.emplace_back(rank);
  }
  return options;
}

// Limit on the events of runs that are repeated under other seeds, where the scenario does not say whether they are: that
// takes less than a tenth of a second.
constexpr std::uint64_t kEventsOfCheapRun = 100'000;
constexpr double kSecondsOfCheapRun = 0.2;  // by estimate, so that the same scenario has the same result
constexpr std::uint32_t kCheapSeeds = 5;

bool is_decided(const JobSpec& job) { return job.workload != nullptr; }

void add_cheap_spread(const Scenario& scenario, const Registries& known, RunResult& result) {
  // An agent is asked once, and of requests the makespan says little.
  if (is_decided(scenario) || std::any_of(scenario.jobs.begin(), scenario.jobs.end(), is_decided)) return;
  if (scenario.run.spread_seeds || result.engine.events > kEventsOfCheapRun || !draws_of_seed(scenario)) return;
  if (work_of(scenario, known).seconds() > kSecondsOfCheapRun) return;
  add_spread(scenario, kCheapSeeds, known, result);
}

// A policy that rehearses its ways on demand does so after runs of up to so many events: that takes less than a fifth of a
// second. Ways that are hardly faster are not worth a line.
constexpr std::uint64_t kEventsOfTrial = 20'000;
constexpr double kWorthSaying = 1.05;

bool rehearses_on_demand(const ControllerFactory& factory, const ControllerSpec& spec) {
  if (factory.rehearse == nullptr) return false;
  const auto own = std::find_if(factory.parameters.begin(), factory.parameters.end(),
                                [](const ControllerParameter& p) { return p.key == "rehearse"; });
  return own != factory.parameters.end() && std::get<double>(own->initial) == 0.0 &&
         !factory.complete(spec).parameters.flag("rehearse");
}

// Warns by how much another setting of the policy makes the run shorter.
void warn_of_faster_way(const Scenario& scenario, const Registries& known, RunResult& result) {
  if (!scenario.jobs.empty() || result.engine.events > kEventsOfTrial || draws_of_seed(scenario)) return;
  if (scenario.cluster.rail.kind != RailKind::kOptical) return;
  if (!rehearses_on_demand(known.controllers.find(scenario.controller.name), scenario.controller)) return;
  const Workload* const decided = scenario.workload.get();  // what is decided in the run cannot be rehearsed
  if (decided != nullptr && !decided->make(scenario, scenario.run.seed)->known_future()) return;
  Scenario trial = scenario;
  trial.controller.parameters.set("rehearse", 1.0);
  const RunResult best = simulate(trial, {}, known);
  const double times = to_seconds(result.makespan) / std::max(to_seconds(best.makespan), 1e-12);
  if (times < kWorthSaying || best.choices.empty()) return;
  result.warnings.push_back(
      fmt::format("another setting of the controller makes this run {:.2f} times shorter, {} in place of {}: {}; "
                  "\"rehearse\": true in /controller takes it",
                  times, to_text(best.makespan), to_text(result.makespan), best.choices.front()));
}

// Returns how far a result that depends on draws can be trusted, in one line; empty where nothing is drawn.
std::string line_of_spread(const Scenario& scenario, const RunResult& result) {
  if (!result.spread) {
    const bool asked = scenario.run.spread_seeds.has_value();
    return asked || !draws_of_seed(scenario)
               ? ""
               : "one sample of what is drawn; --set /run/spread_seeds=5 shows how far others lie";
  }
  const RunResult::Spread& spread = *result.spread;
  std::string line = "makespan over " + core::counted(spread.seeds, "seed") + ": " + to_text(spread.min) + " to " +
                     to_text(spread.max) + ", median " + to_text(spread.median);
  if (spread.unfinished > 0) line += "; " + core::counted(spread.unfinished, "seed") + " cannot finish";
  return line;
}

// The critical path costs memory for each task, and up to five times the run, which goes through every rank alone for it.
// It is found where the run is short, by estimate, so that the same scenario has the same result. A workload that decides
// in the run has none.
constexpr double kSecondsWithPath = 0.25;

Scenario with_path(const Scenario& scenario, const Registries& known) {
  Scenario asked = scenario;
  const auto is_short = [&] {
    return studies::work_of_run(scenario, known, kSecondsWithPath).seconds() < kSecondsWithPath;
  };
  if (scenario.jobs.empty() && scenario.workload == nullptr && is_short()) asked.run.critical_path = true;
  return asked;
}

// Runs one scenario and writes what it gave; appends the files to `written`.
RunResult run_one(const Scenario& scenario, const std::filesystem::path& file, const std::filesystem::path& folder,
                  const RunOptions& options, const Registries& known, std::vector<std::filesystem::path>& written) {
  TraceWriter trace(timeline_options(options.trace_ranks, scenario));
  report::CclBenchObserver metrics;
  std::vector<Observer*> observers;
  if (options.trace) observers.push_back(&trace);
  if (options.ccl_bench) observers.push_back(&metrics);
  RunResult result = simulate_one(with_path(scenario, known), file, observers, known, options.quiet);
  add_cheap_spread(scenario, known, result);
  warn_of_faster_way(scenario, known, result);
  if (options.out.empty()) return result;
  write_file(written.emplace_back(folder / "result.json"), sweep::result_with_plugins(result, options.plugins));
  if (result.serving) write_file(written.emplace_back(folder / "requests.csv"), report::requests_csv(*result.serving));
  for (std::size_t j = 0; j < result.jobs.size(); ++j) {
    if (!result.jobs[j].serving) continue;
    const std::string name = "requests-" + std::to_string(j) + ".csv";  // names of jobs are none of files
    write_file(written.emplace_back(folder / name), report::requests_csv(*result.jobs[j].serving));
  }
  if (options.trace) {
    if (result.serving) trace.served(*result.serving);
    for (const auto& job : result.jobs) {
      if (job.serving) trace.served(*job.serving, job.name);
    }
    trace.write(written.emplace_back(folder / "trace.json"));
  }
  if (options.ccl_bench) {
    report::CclBenchMetrics all = metrics.metrics();
    all.scale_up_bw_utility = report::scale_up_bw_utility(scenario, result, known);
    write_file(written.emplace_back(folder / "ccl_bench.json"), to_json(all));
  }
  return result;
}

// All scenarios together; messages name the one that takes most.
void admit_all(const std::vector<Scenario>& scenarios, const RunOptions& options, const Registries& known) {
  WorkEstimate sum;
  double most = -1.0;
  std::string file;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const WorkEstimate work = about(options.scenarios[i], [&] { return work_of(scenarios[i], known); });
    sum.add(work);
    if (work.seconds() <= most) continue;
    most = work.seconds();
    file = options.scenarios[i].string();
  }
  if (scenarios.size() > 1) file += " and " + core::counted(scenarios.size() - 1, "other");
  admit(sum, file, options.work_limit_s, options.quiet ? Announce::kQuiet : Announce::kAloud);
}

}  // namespace

void run(const RunOptions& options, const Registries& known) {
  if (!options.astra.files.system.empty()) {
    AstraCommandOptions astra = options.astra;
    astra.out = options.out;
    astra.quiet = options.quiet;
    return astra_run(astra);
  }
  if (options.scenarios.empty()) throw CommandError(2, "SCENARIO.json is required (photonrail --help says what there is)");
  run_scenarios(read_scenarios(options.scenarios, options.set, known), options, known);
}

void run_scenarios(const std::vector<Scenario>& scenarios, const RunOptions& options, const Registries& known) {
  admit_all(scenarios, options, known);
  const auto folder_of = folders(scenarios, options.out);
  if (!options.out.empty()) std::for_each(folder_of.begin(), folder_of.end(), make_folder);

  std::vector<RunResult> results;
  std::vector<std::filesystem::path> written;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    results.push_back(run_one(scenarios[i], options.scenarios[i], folder_of[i], options, known, written));
    if (!options.quiet) warn(results.back().name, results.back().warnings);
  }
  const auto width = static_cast<std::size_t>(output_width());
  if (!options.quiet) std::cout << to_table(results, output_has_colours(), output_width());
  const auto show_served = [&](const std::string& name, const auto& of) {
    if (!options.quiet && of.serving)
      std::cout << '\n' << hung_lines(name + ": " + report::serving_text(*of.serving), width);
  };
  for (const RunResult& result : results) {
    show_served(result.name, result);
    if (!options.quiet) std::cout << report::energy_of_tokens_text(result);
    for (const auto& job : result.jobs) show_served(job.name, job);
  }
  if (!options.quiet) {
    for (const std::string& line : report::choices_told(results)) std::cout << hung_lines(line, width);
  }
  for (std::size_t i = 0; i < results.size() && !options.quiet; ++i) {
    if (const std::string line = line_of_spread(scenarios[i], results[i]); !line.empty()) {
      std::cout << hung_lines(results[i].name + ": " + line, width);
    }
    if (options.explain) std::cout << operators_text(results[i]);
  }
  if (!options.quiet) std::cout << report::notes_text(results, output_width());
  if (!options.quiet && results.size() > 1) std::cout << report::notes_text(notes_of(results), output_width());
  if (!options.quiet && !written.empty()) std::cout << '\n';
  for (const auto& file : written) std::cout << (options.quiet ? "" : "wrote ") << file.string() << '\n';
}

}  // namespace photonrail::command
