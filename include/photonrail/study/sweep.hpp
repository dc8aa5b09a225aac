// Many runs from one file: a scenario, what to vary in it, and a folder of results that can be gone on with.
// `known` has the controllers and collectives that the points may name. Points run in several threads at once: what
// ControllerFactory::make, needs and CollectiveAlgorithm do must not write to shared state.
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/explanation.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {

/// One run of a sweep.
struct SweepPoint {
  std::uint32_t index = 0;
  std::string name;  ///< "delay=10, controller=opus"; never empty
  std::uint32_t repetition = 0;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< name, value as JSON; none where its axis is absent
  std::vector<Override> patch;                                  ///< what it changes in the base
  std::string problem;                                          ///< why its derived values do not exist; empty when they do
};

/// A file that points of a sweep read, as it was when the sweep was read.
struct SweepInput {
  std::filesystem::path file;
  std::string hash;          ///< of its content, 16 hexadecimal digits
  std::uint64_t bytes = 0;   ///< its size
  std::int64_t changed = 0;  ///< when it was changed last, in ticks of the file system's clock
};

/// A sweep file, read and expanded.
struct Sweep {
  std::string name;
  std::string why;
  std::filesystem::path file;
  std::vector<Override> set;             ///< changes of the base that are not in the file
  std::string base;                      ///< the scenario after `set`, as JSON
  std::string base_name;                 ///< what errors call it
  std::filesystem::path base_directory;  ///< to which its paths are relative
  std::vector<std::string> parameters;   ///< names, in the order of the file
  std::vector<SweepPoint> points;
  std::vector<SweepInput> inputs;   ///< the files that the base and the points name, by path
  std::vector<SweepInput> plugins;  ///< shared libraries with names of their own that the points may have
  /// Of the base, the points, the plug-ins and the version of the library. What the inputs hold is in the hash of each
  /// point; what the plug-ins hold in both.
  std::string hash;
};

/// Reads `photonrail.sweep/1` (docs/reference/sweep.md). `set` is applied to the base before the axes. Controllers and
/// collectives are looked up by the functions that read the points, not here. `plugins`: the libraries that have those of
/// the caller, by absolute path (photonrail/plugin.hpp); when one is built anew, no point is taken over. Throws
/// ConfigError.
[[nodiscard]] Sweep read_sweep(const std::filesystem::path& file, std::span<const Override> set = {},
                               std::span<const std::filesystem::path> plugins = {});
/// The same from the text of `file`, which is not read.
[[nodiscard]] Sweep parse_sweep(std::string_view json, const std::filesystem::path& file,
                                std::span<const Override> set = {}, std::span<const std::filesystem::path> plugins = {});

/// The scenario of a point. Throws ConfigError.
[[nodiscard]] Scenario scenario_of(const Sweep& sweep, const SweepPoint& point, const Registries& known = {});

/// Throws one ConfigError that lists all points that are no scenarios.
void check_sweep(const Sweep& sweep, const Registries& known = {});

/// Shard `index`, from 1, of `count` has every count-th point.
struct Shard {
  std::uint32_t index = 1;
  std::uint32_t count = 1;

  /// "2/8". Throws ConfigError.
  [[nodiscard]] static Shard parse(std::string_view text);
};

/// Told of a sweep on its way; never by two threads at once.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  /// `points` are to be run; `before` were there.
  virtual void begin(std::uint64_t /*points*/, std::uint64_t /*before*/) {}
  /// After begin(), where there is something to do: what all points take, roughly, on the threads of the sweep, and the
  /// point that takes longest on its own. Before the limit is looked at.
  virtual void estimated(double /*seconds*/, const SweepPoint& /*longest*/, double /*longest_s*/) {}
  /// About once a second: of the points that run, the one that has run longest, and for how many seconds.
  virtual void running(const SweepPoint&, double /*seconds*/) {}
  /// Before recorded(): of points of equal scenarios in an earlier state of the sweep, `reused` were taken over.
  virtual void reused(std::uint64_t /*points*/) {}
  /// A file of the folder was altered after it was written; what is lost with it is run again.
  virtual void damaged(const std::string& /*sentence*/) {}
  /// A point has warnings, or its job does not fit such GPUs: `infeasible` says why, or is empty.
  virtual void warned(const SweepPoint&, const std::vector<std::string>& /*warnings*/, const std::string& /*infeasible*/) {}
  /// Notifies of the share of the estimated time that lies behind.
  virtual void advanced(double /*share*/) {}
  /// A point is recorded. `error` is its message; empty when it came to its end.
  virtual void recorded(const SweepPoint&, const std::string& /*error*/) {}
};

struct SweepOptions {
  std::filesystem::path directory;  ///< made when it is missing
  std::uint32_t jobs = 0;           ///< threads; 0: as many as cores
  std::uint64_t memory_bytes = 0;   ///< what the runs in flight may need together, by estimate; 0: 80 % of the machine
  std::optional<Shard> shard;       ///< its points only, into a file of its own; merge_sweep() takes them in
  bool retry_failed = false;        ///< run points anew that are recorded as failed
  /// Also run points whose job needs more memory than its GPUs have. Without it these are recorded with the reason and the
  /// memory alone; with it those that are so recorded are run.
  bool run_infeasible = false;
  double point_limit_s = 0.0;  ///< processor time of one point, which fails beyond it; 0: any
  double work_limit_s = 0.0;   ///< refuses, by ConfigError, points that take longer together by estimate; 0: any
  const std::atomic<bool>* stop = nullptr;  ///< becomes true: end soon; what is in flight is lost
};

struct SweepSummary {
  std::uint64_t points = 0;  ///< of the sweep, or of the shard
  std::uint64_t done = 0;    ///< recorded, came to their end
  std::uint64_t failed = 0;  ///< recorded with a message
  [[nodiscard]] std::uint64_t missing() const { return points - done - failed; }
};

/// Runs the points that `options.directory` has no record of, the longest first, and records each the moment it is
/// done. What it keeps there: docs/reference/sweep.md. A point that fails is recorded with its message; the others go on.
/// Throws ConfigError: points that are no scenarios (all of them in one message, before anything runs), a folder that
/// holds another sweep, is in use by another process or cannot be written; what was recorded stays.
/// The code of controllers and collectives of your own is part of the hash of a sweep where it comes as a plug-in. Where it
/// is compiled into your program it is not: when you change it, choose another folder.
SweepSummary run_sweep(const Sweep& sweep, const SweepOptions& options, SweepObserver& observer,
                       const Registries& known = {});

/// Takes what shards wrote into the tables of `directory`. Throws ConfigError, also where a record was altered after it was
/// written and is lost with it.
SweepSummary merge_sweep(const std::filesystem::path& directory);

struct SweepStatus {
  std::string name;
  SweepSummary summary;                  ///< shards that are not merged count too
  std::string running;                   ///< host and process that work in the folder now; empty: none
  std::uint64_t unmerged = 0;            ///< points that only shards have
  std::vector<std::string> slurm;        ///< a line for each array job: its id and how many tasks are in which state
  std::vector<std::string> damaged{};    ///< lines of shards that were altered after they were written: points may be lost
  std::vector<std::uint32_t> missing{};  ///< points without a record, ascending
};
/// Reads only. Throws ConfigError when there is no sweep in `directory`, or its database was altered.
[[nodiscard]] SweepStatus sweep_status(const std::filesystem::path& directory);

/// What notes.json in `directory` says of all points together: settings without effect, and values of a parameter that
/// take the same time. Empty where there is none. Throws ConfigError.
[[nodiscard]] std::vector<Note> sweep_notes(const std::filesystem::path& directory);

}  // namespace photonrail
