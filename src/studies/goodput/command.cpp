#include "photonrail/study/goodput.hpp"

#include "columns.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/counted.hpp"
#include "json/file_text.hpp"
#include "options.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/study/sweep.hpp"
#include "progress.hpp"
#include "read.hpp"
#include "report/page.hpp"
#include "stop.hpp"
#include "studies/goodput/known_steps.hpp"
#include "studies/goodput/report.hpp"
#include "work_limit.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::command {

namespace {

struct Point {
  goodput::GoodputScenario scenario;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string file;  ///< that describes it
};

std::vector<Point> points_of_sweep(const std::string& json, const std::filesystem::path& file,
                                   const std::vector<Override>& set, const Registries& known) {
  const Sweep sweep = parse_sweep(json, file, set);
  std::vector<Point> points;
  for (const SweepPoint& point : sweep.points) {
    if (!point.problem.empty()) throw ConfigError(file.string(), point.name + ": " + point.problem);
    points.push_back({goodput::parse_goodput(sweep.base, sweep.base_directory, sweep.base_name, point.patch, known),
                      point.parameters, file.string()});
    points.back().scenario.name = point.name;
  }
  return points;
}

struct GoodputCommandOptions {
  std::vector<std::filesystem::path> scenarios;  ///< with a "reliability" section, or sweeps of such
  std::vector<std::string> set;
  std::filesystem::path out;  ///< empty: write nothing
  std::uint32_t seeds = 0;    ///< 0: the scenario's
  std::uint32_t jobs = 0;     ///< threads; 0: as many as cores
  bool json = false;
};

std::vector<Point> points_of(const GoodputCommandOptions& options, const Registries& known) {
  const std::vector<Override> set = parse_set(options.set);
  check_inputs(options.scenarios);
  std::vector<Point> points;
  for (const auto& file : options.scenarios) {
    const std::string json = json::file_text(file);  // once: it may be a pipe
    if (json.find("\"photonrail.sweep/1\"") != std::string::npos) {
      for (Point& point : points_of_sweep(json, file, set, known)) points.push_back(std::move(point));
    } else {
      points.push_back({goodput::parse_goodput(json, file.parent_path(), file.string(), set, known), {}, file.string()});
    }
  }
  for (Point& point : points) {
    if (options.seeds > 0) point.scenario.spec.seeds = options.seeds;
  }
  return points;
}

// All points together: clusters that several points have count for each.
void admit_all(const std::vector<Point>& points, const GoodputCommandOptions& options, const StudyContext& context) {
  WorkEstimate sum;
  for (const Point& point : points) sum.add(about(point.file, [&] { return work_of(point.scenario, context.known); }));
  std::string what = options.scenarios.front().string();
  if (options.scenarios.size() > 1) what += " and " + core::counted(options.scenarios.size() - 1, "other");
  admit(sum, what, context.work_limit_s, Announce::kAloud, working_threads(options.jobs));
}

// An error of the scenario names its file; an error of the folder of results has its own name.
GoodputResult run_point(const Point& point, const GoodputOptions& how, const Registries& known) {
  try {
    return run_goodput(point.scenario, how, known);
  } catch (const ConfigError& error) {
    const std::string folder = how.steps_directory.string();
    if (!folder.empty() && error.where().starts_with(folder)) throw;
    throw CommandError(exit_status(error), point.file + ": " + file_words(error));
  }
}

std::string stopped_text(const std::filesystem::path& folder) {
  return folder.empty() ? "stopped; --out DIR keeps the histories that are complete"
                        : "stopped; what is complete is kept, the same command goes on";
}

// A signal ends a point with what is complete, or, before its first history is, with an error.
GoodputResult run_unless_stopped(const Point& point, const GoodputOptions& how, const Registries& known,
                                 const StopSignals& signals) {
  std::optional<GoodputResult> result;
  try {
    result = run_point(point, how, known);
  } catch (const std::exception&) {
    if (!signals.stop()) throw;
  }
  if (!signals.stop()) return *std::move(result);
  throw CommandError(128 + signals.received(), stopped_text(how.directory));
}

// A warning of several points is printed once, with the first of them.
void tell_warnings(const std::vector<Point>& points) {
  std::set<std::string> told;
  for (const Point& point : points) {
    std::vector<std::string> lines = point.scenario.warnings();
    std::erase_if(lines, [&](const std::string& line) { return !told.insert(line).second; });
    warn(point.scenario.name, lines);
  }
}

/// Histories of all points on one line of the terminal, with the clusters that were simulated for them.
class HistoryLine {
 public:
  explicit HistoryLine(const std::vector<Point>& points) : line_(true) {
    for (const Point& point : points) seeds_ += point.scenario.spec.seeds;
  }
  void point_begins() { shown_ = {}; }
  void draw(const GoodputProgress& progress) {
    done_ += progress.done - shown_.done;
    simulated_ += progress.simulated - shown_.simulated;
    shown_ = progress;
    line_.draw(done_, seeds_, "histories", "  " + core::counted(simulated_, "cluster") + " simulated");
  }

 private:
  TerminalLine line_;
  std::uint64_t seeds_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t simulated_ = 0;
  GoodputProgress shown_;  // of the point that runs
};

// What was simulated of each: a line each, or one where all say the same.
std::string tally_lines(const std::vector<goodput::GoodputRow>& rows, const std::vector<std::string>& tallies) {
  const bool alike = std::adjacent_find(tallies.begin(), tallies.end(), std::not_equal_to<>()) == tallies.end();
  if (alike && rows.size() > 1) return "each of " + std::to_string(rows.size()) + ": " + tallies.front();
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) text += rows[i].summary.name + ": " + tallies[i];
  return text;
}

// Returns the page, where this build has one.
std::filesystem::path write_all(const std::filesystem::path& folder, const std::vector<goodput::GoodputRow>& rows,
                                const std::string& title) {
  std::filesystem::create_directories(folder);
  write_file(folder / "goodput.json", goodput::goodput_json(rows));
  write_file(folder / "losses.svg", goodput::goodput_losses_svg(rows));
  write_file(folder / "week.svg", goodput::goodput_week_svg(rows));
  if (const std::string lines = goodput::goodput_lines_svg(rows); !lines.empty()) write_file(folder / "goodput.svg", lines);
  report::PageChoices choices;
  choices.title = title;
  return report::write_page(folder, "goodput.html", choices);
}

void goodput(const GoodputCommandOptions& options, const StudyContext& context) {
  const Registries& known = context.known;
  const std::vector<Point> points = points_of(options, known);
  tell_warnings(points);
  admit_all(points, options, context);
  const StopSignals signals(stopped_text(options.out));
  std::vector<goodput::GoodputRow> rows;
  std::vector<std::string> tallies;
  std::vector<std::string> damaged;
  goodput::KnownSteps known_steps;
  std::optional<HistoryLine> line(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& point = points[i];
    GoodputOptions how;
    how.jobs = options.jobs;
    how.stop = &signals.stop();
    how.steps_directory = options.out;
    how.known_steps = &known_steps;
    line->point_begins();
    how.progress = [&](const GoodputProgress& progress) { line->draw(progress); };
    if (!options.out.empty()) how.directory = points.size() == 1 ? options.out : options.out / std::to_string(i);
    const GoodputResult result = run_unless_stopped(point, how, known, signals);
    damaged.insert(damaged.end(), result.damaged.begin(), result.damaged.end());
    goodput::GoodputRow row{result.summary, point.parameters, {}, result.configurations};
    if (!options.out.empty())
      row.timeline = goodput_timeline(point.scenario, result, point.scenario.spec.first_seed, known);
    rows.push_back(std::move(row));
    tallies.push_back(core::counted(result.summary.seeds, "seed") + " (" + std::to_string(result.resumed) +
                      " of them from the folder), " + core::counted(result.summary.configurations, "configuration") + ", " +
                      std::to_string(result.simulated) + " simulated now\n");
  }
  line.reset();  // the line is erased before anything is printed
  for (const std::string& sentence : damaged) std::cerr << "photonrail: " << sentence << "; what is lost was run again\n";
  std::filesystem::path page;
  if (!options.out.empty())
    page =
        write_all(options.out, rows, points.size() == 1 ? points[0].scenario.name : options.scenarios[0].stem().string());
  std::cout << (options.json ? goodput::goodput_json(rows)
                             : goodput::goodput_table(rows) + "\n" + hung_lines(tally_lines(rows, tallies)));
  if (!options.out.empty() && !options.json) std::cout << "wrote " << (page.empty() ? options.out : page).string() << "\n";
}

}  // namespace

void add_goodput(CLI::App& app, StudyContext& context) {
  GoodputCommandOptions& options = context.keep<GoodputCommandOptions>();
  CLI::App* command =
      app.add_subcommand("goodput", "Failures and recoveries over months: goodput of scenarios or of a sweep's points");
  add_scenarios(*command, options.scenarios)->required();
  add_set(*command, options.set);
  add_out_folder(*command, options.out, "Write goodput.json, figures and every history here, and go on with what is there");
  command->add_option("--seeds", options.seeds, "Histories of each scenario (its own number)")
      ->check(CLI::Range(1U, 10'000'000U));
  command->add_option("--jobs", options.jobs, "Threads (as many as cores)")->check(CLI::Range(1U, 4096U));
  command->add_flag("--json", options.json, "Print the result as JSON");
  command->callback([&options, &context] { goodput(options, context); });
}

}  // namespace photonrail::command
