#include "photonrail/study/sweep.hpp"

#include "columns.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "photonrail/error.hpp"
#include "progress.hpp"
#include "read.hpp"
#include "stop.hpp"
#include "sweep/slurm.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace photonrail::command {

namespace {

constexpr int kSomeFailed = 3;
constexpr std::size_t kMaxFailures = 10;  // that are told one by one

// "N points, F failed".
std::string counted(std::uint64_t points, std::uint64_t failed) {
  std::string text = std::to_string(points) + (points == 1 ? " point" : " points");
  if (failed > 0) text += ", " + std::to_string(failed) + " failed";
  return text;
}

class Progress : public SweepObserver {
 public:
  explicit Progress(bool quiet) : line_(!quiet && error_is_terminal()), quiet_(quiet) {}

  void begin(std::uint64_t points, std::uint64_t before) override {
    points_ = points;
    if (!quiet_ && before > 0) std::cerr << "photonrail: " << counted(before, 0) << " are there already\n";
  }
  void recorded(const SweepPoint& point, const std::string& error) override {
    ++done_;
    if (!error.empty() && ++failed_ <= kMaxFailures && !quiet_) {
      line_.erase();
      std::cerr << "photonrail: point " << point.index << " (" << point.name << ") failed: " << error << '\n';
    }
    line_.draw(done_, points_, "points", failed_ > 0 ? "  " + std::to_string(failed_) + " failed" : "");
  }

 private:
  TerminalLine line_;
  bool quiet_;
  std::uint64_t points_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
};

std::filesystem::path out_of(const SweepCommandOptions& options) {
  if (!options.out.empty()) return options.out;
  return options.file.stem().string() + ".results";
}

// A JSON string without its quotes.
std::string plain(const std::string& json) { return json.starts_with('"') ? json.substr(1, json.size() - 2) : json; }

void dry_run(const Sweep& sweep, const Registries& known) {
  std::vector<std::vector<std::string>> rows{{"point", "seed"}};
  for (const std::string& name : sweep.parameters) rows[0].insert(rows[0].end() - 1, name);
  for (const SweepPoint& point : sweep.points) {
    std::vector<std::string> row{std::to_string(point.index)};
    for (const std::string& name : sweep.parameters) {
      const auto at =
          std::find_if(point.parameters.begin(), point.parameters.end(), [&](const auto& p) { return p.first == name; });
      row.push_back(at == point.parameters.end() ? "-" : plain(at->second));
    }
    const bool seeded = !point.patch.empty() && point.patch.back().pointer == "/run/seed";
    row.push_back(seeded ? point.patch.back().value : "of the base");
    rows.push_back(std::move(row));
  }
  check_sweep(sweep, known);
  std::cout << in_columns(rows) << counted(sweep.points.size(), 0) << '\n';
}

std::filesystem::path own_program() {
  std::error_code error;
  auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path("photonrail") : program;
}

sweep::SlurmProfile profile_of(const SweepCommandOptions& options) {
  sweep::SlurmProfile profile = options.profile.empty() ? sweep::SlurmProfile{} : sweep::read_slurm_profile(options.profile);
  if (!options.partition.empty()) profile.partition = options.partition;
  if (!options.time.empty()) profile.time = options.time;
  if (options.points_per_task > 0) profile.points_per_task = options.points_per_task;
  if (options.jobs > 0) profile.cpus_per_task = options.jobs;
  return profile;
}

void launch(const Sweep& sweep, const SweepOptions& run, const SweepCommandOptions& options, const Registries& known) {
  const sweep::SlurmJob job = sweep::submit_to_slurm(sweep, run, profile_of(options), own_program(), known);
  if (job.id.empty()) {
    std::cout << "nothing is missing in " << run.directory.string() << '\n';
    return;
  }
  std::cout << "submitted job " << job.id << ", " << job.tasks << (job.tasks == 1 ? " task" : " tasks") << " ("
            << job.script.string() << ")\nphotonrail sweep status " << run.directory.string() << " says how far it is\n";
}

// What there is now; the exit status says whether that is all.
void conclude(const SweepSummary& summary, const std::filesystem::path& directory, bool sharded, int signal, bool quiet) {
  if (signal != 0) {
    throw CommandError(128 + signal, "stopped with " + std::to_string(summary.missing()) + " of " +
                                         counted(summary.points, 0) + " to go; the same command goes on");
  }
  const std::string file = (directory / (sharded ? "shards" : "results.db")).string();
  if (quiet)
    std::cout << file << '\n';
  else
    std::cout << counted(summary.points, summary.failed) << " in " << file << '\n';
  if (summary.failed > 0) {
    throw CommandError(kSomeFailed, std::to_string(summary.failed) + " of " + counted(summary.points, 0) +
                                        " failed; their messages are in the column error");
  }
}

// One point as `photonrail run` runs a scenario.
void run_point(const Sweep& sweep, const SweepCommandOptions& options, const Registries& known) {
  if (*options.point >= sweep.points.size()) {
    throw CommandError(2, "--point " + std::to_string(*options.point) + ": the points are 0 to " +
                              std::to_string(sweep.points.size() - 1));
  }
  const SweepPoint& point = sweep.points[*options.point];
  Scenario scenario = scenario_of(sweep, point, known);
  scenario.name = point.name;
  RunOptions run;
  run.scenarios = {sweep.file.string() + ": point " + std::to_string(point.index)};
  run.out = options.out;
  run.trace = options.trace;
  run.quiet = options.quiet;
  run_scenarios({std::move(scenario)}, run, known);
}

}  // namespace

void sweep(const SweepCommandOptions& options, const Registries& known) {
  const Sweep sweep = read_sweep(options.file, parse_set(options.set));
  if (options.dry_run) return dry_run(sweep, known);
  if (options.point) return run_point(sweep, options, known);
  const StopSignals signals;
  SweepOptions run;
  run.directory = out_of(options);
  run.jobs = options.jobs;
  run.memory_bytes = options.memory_bytes;
  if (!options.shard.empty()) run.shard = Shard::parse(options.shard);
  run.retry_failed = options.retry_failed;
  run.stop = &signals.stop();
  if (options.launcher == "slurm") return launch(sweep, run, options, known);
  SweepSummary summary;
  {
    Progress progress(options.quiet);
    summary = run_sweep(sweep, run, progress, known);
  }
  const int signal = summary.missing() > 0 ? signals.received() : 0;
  conclude(summary, run.directory, run.shard.has_value(), signal, options.quiet);
}

void sweep_status(const SweepFolderOptions& options) {
  const SweepStatus status = photonrail::sweep_status(options.directory);
  const SweepSummary& s = status.summary;
  std::vector<std::vector<std::string>> rows{{"sweep", status.name},
                                             {"points", std::to_string(s.points)},
                                             {"done", std::to_string(s.done)},
                                             {"failed", std::to_string(s.failed)},
                                             {"missing", std::to_string(s.missing())}};
  if (status.unmerged > 0) rows.push_back({"not merged", std::to_string(status.unmerged) + " (photonrail sweep merge)"});
  rows.push_back({"running here", status.running.empty() ? "no" : status.running});
  for (const std::string& line : status.slurm) rows.push_back({"slurm", line});
  std::cout << in_columns(rows);
}

void sweep_merge(const SweepFolderOptions& options) {
  const SweepSummary summary = merge_sweep(options.directory);
  std::cout << counted(summary.done + summary.failed, summary.failed) << " of " << summary.points << " in "
            << (options.directory / "results.db").string() << '\n';
}

}  // namespace photonrail::command
