#include "photonrail/study/sweep.hpp"

#include "columns.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/counted.hpp"
#include "json/file_text.hpp"
#include "launch.hpp"
#include "options.hpp"
#include "photonrail/core/work.hpp"
#include "photonrail/error.hpp"
#include "progress.hpp"
#include "read.hpp"
#include "report/explanation.hpp"
#include "stop.hpp"
#include "studies/sweep/points.hpp"
#include "studies/sweep/slurm.hpp"
#include "work_limit.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace photonrail::command {

namespace {

constexpr std::size_t kMaxFailures = 10;  // that are told one by one

// "N points, F failed".
std::string count_points(std::uint64_t points, std::uint64_t failed = 0) {
  std::string text = core::counted(points, "point");
  if (failed > 0) text += ", " + std::to_string(failed) + " failed";
  return text;
}

/// Lines that several points have, each once, with how many points have it and the first of them.
class WarningTally {
 public:
  void add(const std::string& point, const std::string& line) {
    const auto [at, fresh] = of_.try_emplace(line, Entry{0, point, order_.size()});
    if (fresh) order_.push_back(line);
    ++at->second.count;
  }
  /// "12 points (the first: tp=8): LINE". What differs only in its numbers is one line.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::map<std::string, std::vector<std::string>> alike;
    std::vector<std::string> kinds;
    for (const std::string& line : order_) {
      const auto [at, fresh] = alike.try_emplace(without_numbers(line));
      if (fresh) kinds.push_back(at->first);
      at->second.push_back(line);
    }
    std::vector<std::string> lines;
    for (const std::string& kind : kinds) {
      const std::string& first = alike[kind].front();
      std::uint64_t count = 0;
      for (const std::string& line : alike[kind]) count += of_.at(line).count;
      const std::string points = core::counted(count, "point") + (count == 1 ? " (" : " (the first: ");
      lines.push_back(points + of_.at(first).first_point + "): " + first);
    }
    return lines;
  }

 private:
  struct Entry {
    std::uint64_t count = 0;
    std::string first_point;
    std::size_t place = 0;
  };
  static std::string without_numbers(const std::string& line) {
    std::string text;
    for (const char c : line) {
      const bool digit = (c >= '0' && c <= '9') || c == '.';
      if (!digit) text += c;
    }
    return text;
  }

  std::map<std::string, Entry> of_;
  std::vector<std::string> order_;
};

class Progress : public SweepObserver {
 public:
  Progress(bool quiet, double point_limit_s, bool run_infeasible)
      : line_(!quiet), quiet_(quiet), point_limit_s_(point_limit_s), run_infeasible_(run_infeasible) {}

  void begin(std::uint64_t points, std::uint64_t before) override {
    points_ = points;
    if (!quiet_ && before > 0)
      std::cerr << "photonrail: " << count_points(before) << (before == 1 ? " is" : " are") << " there already\n";
  }
  void damaged(const std::string& sentence) override {
    line_.erase();
    std::cerr << "photonrail: " << sentence << "; what is lost is run again\n";
  }
  void reused(std::uint64_t points) override {
    if (!quiet_)
      std::cerr << "photonrail: " << count_points(points) << " of an earlier state of the sweep "
                << (points == 1 ? "is" : "are") << " the same\n";
  }
  void estimated(double seconds, const SweepPoint& longest, double longest_s) override {
    if (quiet_ || seconds < kWorthTelling) return;
    std::cerr << "photonrail: " << count_points(points_) << " will take about " << rough_time(seconds);
    if (points_ > 1) std::cerr << ", the longest, point " << longest.index << ", about " << rough_time(longest_s);
    std::cerr << (point_limit_s_ > 0.0 ? "; a point ends after " + rough_time(point_limit_s_) + " of processor time"
                                       : "; --point-limit sets a limit of a point")
              << '\n';
  }
  void running(const SweepPoint& point, double seconds) override {
    running_ = "  point " + std::to_string(point.index) + " for " + std::to_string(std::lround(seconds)) + " s";
    draw();
  }
  void warned(const SweepPoint& point, const std::vector<std::string>& warnings, const std::string& infeasible) override {
    for (const std::string& warning : warnings) warnings_.add(point.name, warning);
    if (!infeasible.empty()) ++infeasible_;
  }
  void advanced(double share) override { share_ = share; }
  /// Prints what the points that ran were warned of.
  void tell_warnings() {
    if (quiet_) return;
    line_.erase();
    tell(warnings_.lines(), infeasible_, run_infeasible_);
  }
  static void tell(const std::vector<std::string>& lines, std::uint64_t infeasible, bool are_run) {
    warn("sweep", lines);
    if (infeasible == 0) return;
    std::cerr << "photonrail: " << count_points(infeasible)
              << (are_run ? " could not run on such GPUs: column infeasible; rankings leave them out\n"
                          : " not run, as the job does not fit its GPUs: column infeasible; --run-infeasible runs them\n");
  }
  void recorded(const SweepPoint& point, const std::string& error) override {
    ++done_;
    if (!error.empty() && ++failed_ <= kMaxFailures && !quiet_) {
      line_.erase();
      std::cerr << "photonrail: point " << point.index << " (" << point.name << ") failed: " << error << '\n';
    }
    running_.clear();
    draw();
  }

 private:
  void draw() {
    line_.draw(done_, points_, "points", (failed_ > 0 ? "  " + std::to_string(failed_) + " failed" : "") + running_,
               share_);
  }

  TerminalLine line_;
  bool quiet_;
  double point_limit_s_;  // 0: none
  bool run_infeasible_;
  std::uint64_t points_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t infeasible_ = 0;
  std::optional<double> share_;  // of the estimated time
  std::string running_;          // the point that has run longest
  WarningTally warnings_;
};

/// Points that are run beside those that are missing.
struct SweepExtraPoints {
  bool failed = false;      ///< recorded as such
  bool infeasible = false;  ///< their job does not fit its GPUs
};

struct SweepCommandOptions {
  std::filesystem::path file;
  std::vector<std::string> set;
  std::filesystem::path out;  ///< empty: named after the file
  bool dry_run = false;
  std::optional<std::uint32_t> point;  ///< only this one, as run() would
  bool trace = false;                  ///< with `point`
  std::uint32_t jobs = 0;
  std::uint64_t memory_bytes = 0;
  std::string shard;
  SweepExtraPoints also{};
  bool quiet = false;
  SweepLaunchOptions launch;
  double point_limit_s = 0.0;
};

std::filesystem::path out_of(const SweepCommandOptions& options) {
  if (!options.out.empty()) return options.out;
  if (options.file == json::kStandardInput)
    throw CommandError(2, "--out is required with a sweep from standard input: there is no name of a file to call it by");
  return options.file.stem().string() + ".results";
}

// A JSON string without its quotes.
std::string plain(const std::string& json) { return json.starts_with('"') ? json.substr(1, json.size() - 2) : json; }

// Gigabytes, and whether that is too much.
std::string memory_cell(const sweep::PointPreview& preview) {
  if (!preview.peak_memory_bytes) return "-";
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << *preview.peak_memory_bytes / 1e9 << " GB"
       << (preview.infeasible.empty() ? "" : " TOO MUCH");
  return text.str();
}

void dry_run(const Sweep& sweep, std::uint32_t threads, bool run_infeasible, const Registries& known) {
  const std::vector<sweep::PointPreview> previews = sweep::preview_sweep(sweep, known);
  std::vector<std::vector<std::string>> rows{{"point"}};
  rows[0].insert(rows[0].end(), sweep.parameters.begin(), sweep.parameters.end());
  const auto seeded = [](const SweepPoint& point) {
    return !point.patch.empty() && point.patch.back().pointer == "/run/seed";
  };
  const bool seeds = std::any_of(sweep.points.begin(), sweep.points.end(), seeded);
  if (seeds) rows[0].emplace_back("seed");
  rows[0].insert(rows[0].end(), {"memory", "time"});
  WarningTally warnings;
  std::uint64_t infeasible = 0;
  double seconds = 0.0;
  double longest = 0.0;
  for (const SweepPoint& point : sweep.points) {
    std::vector<std::string> row{std::to_string(point.index)};
    for (const std::string& name : sweep.parameters) {
      const auto at =
          std::find_if(point.parameters.begin(), point.parameters.end(), [&](const auto& p) { return p.first == name; });
      row.push_back(at == point.parameters.end() ? "-" : plain(at->second));
    }
    if (seeds) row.push_back(seeded(point) ? point.patch.back().value : "-");
    const sweep::PointPreview& preview = previews[point.index];
    row.push_back(memory_cell(preview));
    row.push_back(preview.seconds < 1.0 ? "< 1 s" : rough_time(preview.seconds));
    rows.push_back(std::move(row));
    for (const std::string& line : preview.warnings) warnings.add(point.name, line);
    infeasible += preview.infeasible.empty() ? 0 : 1;
    if (!preview.infeasible.empty() && !run_infeasible) continue;
    seconds += preview.seconds;
    longest = std::max(longest, preview.seconds);
  }
  std::cout << in_columns(rows) << count_points(sweep.points.size()) << ", about "
            << rough_time(std::max(longest, seconds / threads)) << " on " << core::counted(threads, "core") << '\n';
  Progress::tell(warnings.lines(), infeasible, run_infeasible);
}

void launch(const Sweep& sweep, const SweepOptions& run, const SweepCommandOptions& options, const Registries& known) {
  if (options.file == json::kStandardInput)
    throw CommandError(2, "--launcher slurm: the tasks read the sweep again, so it must be a file");
  const sweep::SlurmJob job =
      sweep::submit_to_slurm(sweep, run, profile_of(options.launch, options.jobs), own_program(), known);
  if (job.id.empty()) {
    std::cout << "nothing is missing in " << run.directory.string() << '\n';
    return;
  }
  std::cout << submitted(job) << "\nphotonrail sweep status " << run.directory.string() << " says how far it is\n";
}

// Prints what there is now; the exit status says whether that is all.
void conclude(const SweepSummary& summary, const std::filesystem::path& directory, bool sharded, int signal, bool quiet) {
  if (signal != 0) {
    throw CommandError(128 + signal, "stopped with " + std::to_string(summary.missing()) + " of " +
                                         count_points(summary.points) + " to go; the same command goes on");
  }
  const std::string file = (directory / (sharded ? "shards" : "results.db")).string();
  if (quiet)
    std::cout << file << '\n';
  else
    std::cout << count_points(summary.points, summary.failed) << " in " << file << '\n';
  if (summary.failed > 0) {
    throw CommandError(kSomeFailed, std::to_string(summary.failed) + " of " + count_points(summary.points) +
                                        " failed; their messages are in the column error");
  }
}

// One point as `photonrail run` runs a scenario.
void run_point(const Sweep& sweep, const SweepCommandOptions& options, const StudyContext& context) {
  if (*options.point >= sweep.points.size()) {
    throw CommandError(2, "--point " + std::to_string(*options.point) + ": the points are 0 to " +
                              std::to_string(sweep.points.size() - 1));
  }
  const SweepPoint& point = sweep.points[*options.point];
  Scenario scenario = scenario_of(sweep, point, context.known);
  scenario.name = point.name;
  RunOptions run;
  run.scenarios = {sweep.file.string() + ": point " + std::to_string(point.index)};
  run.out = options.out;
  run.trace = options.trace;
  run.quiet = options.quiet;
  run.work_limit_s = context.work_limit_s;
  run_scenarios({std::move(scenario)}, run, context.known);
}

}  // namespace

void add_slurm(CLI::App& command, SweepLaunchOptions& launch, const std::string& points) {
  auto* launcher =
      command.add_option("--launcher", launch.launcher, "Who runs the " + points + ": local, slurm (an array job)");
  launcher->transform(CLI::IsMember({"local", "slurm"}, CLI::ignore_case));
  const auto add = [&](const char* name, auto& value, const char* help, const char* type) {
    command.add_option(name, value, help)->type_name(type)->needs(launcher);
  };
  add("--profile", launch.profile, "Slurm: what follows, and more, from a file", "FILE");
  add("--partition", launch.partition, "Slurm: of the job", "NAME");
  add("--time", launch.time, "Slurm: limit of a task", "TIME");
  add("--points-per-task", launch.points_per_task, "Slurm: how many a task has (64 tasks)", "N");
}

sweep::SlurmProfile profile_of(const SweepLaunchOptions& launch, std::uint32_t jobs) {
  sweep::SlurmProfile profile = launch.profile.empty() ? sweep::SlurmProfile{} : sweep::read_slurm_profile(launch.profile);
  if (!launch.partition.empty()) profile.partition = launch.partition;
  if (!launch.time.empty()) profile.time = launch.time;
  if (launch.points_per_task > 0) profile.points_per_task = launch.points_per_task;
  if (jobs > 0) profile.cpus_per_task = jobs;
  return profile;
}

std::filesystem::path own_program() {
  std::error_code error;
  auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path("photonrail") : program;
}

std::string submitted(const sweep::SlurmJob& job) {
  return "submitted job " + job.id + ", " + core::counted(job.tasks, "task") + " (" + job.script.string() + ")";
}

namespace {

// The content of plug-ins is part of the hash of a sweep.
void sweep(const SweepCommandOptions& options, const StudyContext& context) {
  const Registries& known = context.known;
  const Sweep sweep = read_sweep(options.file, parse_set(options.set), context.plugins);
  const std::uint32_t cores = std::max(1U, std::thread::hardware_concurrency());
  if (options.dry_run)
    return dry_run(sweep, options.jobs > 0 ? std::min(options.jobs, cores) : cores, options.also.infeasible, known);
  if (options.point) return run_point(sweep, options, context);
  const StopSignals signals("stopped; points that are complete are kept, the same command goes on");
  SweepOptions run;
  run.directory = out_of(options);
  run.jobs = options.jobs;
  constexpr std::uint64_t kLeast = 1'000'000;  // the program alone needs more
  if (options.memory_bytes > 0 && options.memory_bytes < kLeast) {
    throw ConfigError("--memory", core::counted(options.memory_bytes, "byte") + " are less than any point needs",
                      "give the unit: --memory 8GB");
  }
  run.memory_bytes = options.memory_bytes;
  if (!options.shard.empty()) run.shard = Shard::parse(options.shard);
  run.retry_failed = options.also.failed;
  run.run_infeasible = options.also.infeasible;
  run.point_limit_s = options.point_limit_s;
  if (std::isfinite(context.work_limit_s)) run.work_limit_s = context.work_limit_s;
  run.stop = &signals.stop();
  if (options.launch.launcher == "slurm") return launch(sweep, run, options, known);
  SweepSummary summary;
  {
    Progress progress(options.quiet, options.point_limit_s, options.also.infeasible);
    summary = run_sweep(sweep, run, progress, known);
    progress.tell_warnings();
  }
  const int signal = summary.missing() > 0 ? signals.received() : 0;
  if (!options.quiet && !run.shard) std::cout << report::notes_text(sweep_notes(run.directory), output_width());
  conclude(summary, run.directory, run.shard.has_value(), signal, options.quiet);
}

// "3, 7 to 9 and 12 further ranges": as --point takes them.
std::string ranges_of(const std::vector<std::uint32_t>& points) {
  constexpr std::size_t kMaxRanges = 6;
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < points.size();) {
    std::size_t last = i;
    while (last + 1 < points.size() && points[last + 1] == points[last] + 1) ++last;
    ranges.push_back(std::to_string(points[i]) + (last == i ? "" : " to " + std::to_string(points[last])));
    i = last + 1;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(ranges.size(), kMaxRanges); ++i) text += (i == 0 ? "" : ", ") + ranges[i];
  if (ranges.size() > kMaxRanges) text += " and " + core::counted(ranges.size() - kMaxRanges, "further range");
  return text;
}

void tell_status(const std::filesystem::path& directory) {
  const SweepStatus status = sweep_status(directory);
  const SweepSummary& s = status.summary;
  std::vector<std::vector<std::string>> rows{{"sweep", status.name},
                                             {"points", std::to_string(s.points)},
                                             {"done", std::to_string(s.done)},
                                             {"failed", std::to_string(s.failed)},
                                             {"missing", std::to_string(s.missing())}};
  if (!status.missing.empty()) rows.push_back({"missing points", ranges_of(status.missing)});
  if (status.unmerged > 0) rows.push_back({"not merged", std::to_string(status.unmerged) + " (photonrail sweep merge)"});
  rows.push_back({"running here", status.running.empty() ? "no" : status.running});
  for (const std::string& line : status.slurm) rows.push_back({"slurm", line});
  for (const std::string& line : status.damaged) rows.push_back({"damaged", line});
  std::cout << in_columns(rows);
  if (!status.damaged.empty())
    throw CommandError(2, status.damaged.front() + " (the same photonrail sweep again runs what is lost)");
}

void merge(const std::filesystem::path& directory) {
  const SweepSummary summary = merge_sweep(directory);
  std::cout << count_points(summary.done + summary.failed, summary.failed) << " of " << summary.points << " in "
            << (directory / "results.db").string() << '\n';
}

}  // namespace

void add_sweep(CLI::App& app, StudyContext& context) {
  SweepCommandOptions& options = context.keep<SweepCommandOptions>();
  CLI::App* command = app.add_subcommand("sweep", "Run the points of a sweep file; what is there already is not run again");
  CLI::Option* file = add_input(*command, "SWEEP.json", options.file, "A sweep file");
  add_set(*command, options.set, "the base scenario");
  auto* out = add_out_folder(*command, options.out, "Results (the file's name with .results)");
  command->add_flag(
      "--resume", [](std::int64_t) {}, "Go on with what is in the folder: always so");
  command->add_flag("--dry-run", options.dry_run, "Check and print the points, run none");
  auto* point = command->add_option("--point", options.point, "Only this one, as `photonrail run` would")->type_name("N");
  command->add_flag("--trace", options.trace, "With --point and --out: also write trace.json")->needs(point)->needs(out);
  command->add_option("--jobs", options.jobs, "Points at a time (as many as cores)")->check(CLI::Range(1U, 4096U));
  command->add_option("--memory", options.memory_bytes, "What they may need together, as 8GB (80 % of the machine)")
      ->transform(CLI::AsSizeValue(true));
  auto* shard = command->add_option("--shard", options.shard, "Only every N-th point, from the I-th")->type_name("I/N");
  command->add_option("--point-limit", options.point_limit_s, "Processor time of a point, which fails beyond it (any)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 1e9));
  command->add_flag("--retry-failed", options.also.failed, "Run points anew that failed")->excludes(shard);
  command->add_flag("--run-infeasible", options.also.infeasible,
                    "Also run points that need more memory than their GPUs have");
  command->add_flag("--quiet", options.quiet, "No progress; only the path of what was written");
  add_slurm(*command, options.launch, "points");

  CLI::App* status = command->add_subcommand("status", "How far a sweep is");
  CLI::App* together = command->add_subcommand("merge", "Put together what shards wrote");
  for (CLI::App* sub : {status, together}) sub->add_option("DIR", options.out, "Results of a sweep")->required();
  status->callback([&options] { tell_status(options.out); });
  together->callback([&options] { merge(options.out); });
  command->callback([command, file, &options, &context] {
    if (!command->get_subcommands().empty()) return;
    if (file->empty()) throw CommandError(2, "SWEEP.json is required (photonrail sweep --help)");
    sweep(options, context);
  });
}

}  // namespace photonrail::command
