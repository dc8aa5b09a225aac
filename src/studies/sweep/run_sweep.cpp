#include "studies/sweep/run_sweep.hpp"

#include "photonrail/core/work.hpp"
#include "photonrail/study/sweep.hpp"
#include "report/record_check.hpp"
#include "studies/pool.hpp"
#include "studies/sweep/database.hpp"
#include "studies/sweep/earlier.hpp"
#include "studies/sweep/points.hpp"
#include "studies/sweep/running_points.hpp"
#include "studies/sweep/shards.hpp"
#include "studies/sweep/tables.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

namespace photonrail {

namespace sweep {

namespace {

using Statuses = std::vector<std::optional<int>>;

std::uint64_t memory_of(const SweepOptions& options) {
  if (options.memory_bytes > 0) return options.memory_bytes;
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 10 * 8;
}

std::uint32_t threads_of(const SweepOptions& options) {
  return options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
}

// The points of the shard that have no record, or one that is to be made anew.
std::vector<std::uint32_t> pending(const Statuses& statuses, const Shard& shard, bool retry_failed) {
  std::vector<std::uint32_t> points;
  for (std::size_t p = shard.index - 1; p < statuses.size(); p += shard.count) {
    if (!statuses[p] || (retry_failed && *statuses[p] != 0)) points.push_back(static_cast<std::uint32_t>(p));
  }
  return points;
}

SweepSummary count(const Statuses& statuses, const Shard& shard) {
  SweepSummary summary;
  for (std::size_t p = shard.index - 1; p < statuses.size(); p += shard.count) {
    ++summary.points;
    if (statuses[p]) ++(*statuses[p] == 0 ? summary.done : summary.failed);
  }
  return summary;
}

// The database of the folder with what shards have; `told` of what was altered and is lost.
Database merged_database(const std::filesystem::path& directory, const Manifest& manifest, const DamageObserver& told) {
  Database database = Database::mended(directory, manifest, told);
  const auto damage = merge_shards(directory, manifest.hash, database);
  for (const std::string& sentence : losses(damage, database.exit_statuses())) told(sentence);
  return database;
}

// The last shard merges for all. If another process holds the lock, that process merges.
void merge_unless_busy(const std::filesystem::path& directory, const Manifest& manifest) {
  std::optional<Lock> lock;
  try {
    lock.emplace(directory);
  } catch (const ConfigError&) {
    return;
  }
  Database database = merged_database(directory, manifest, [](const std::string&) {});
  // What shards found in the tables they did not run, and the database may be gone.
  static_cast<void>(each_table_record(directory, manifest.hash, [&](const Record& record) {
    if (record.point < manifest.points) database.add(record);
  }));
  write_tables(directory, manifest, database);
}

// The way of one call: check what is pending, run it, keep the records.
class Run {
 public:
  Run(const Sweep& sweep, const SweepOptions& options, SweepObserver& observer, const Registries& known)
      : sweep_(sweep),
        options_(options),
        observer_(observer),
        points_(sweep, known, options.point_limit_s, options.run_infeasible),
        statuses_(sweep.points.size()) {}

  SweepSummary in_shard(const Shard& shard) {
    begin_folder(shard);
    if (has_earlier_states(options_.directory) && !has_database(options_.directory)) in_folder_if_free();
    claim(options_.directory, manifest_);
    std::vector<ShardDamage> damage;
    statuses_ = shard_statuses(options_.directory, manifest_, &damage);
    for (const std::string& sentence : losses(damage, statuses_)) observer_.damaged(sentence);
    check_inputs();
    if (!checked_) check(shard);
    {
      ShardWriter writer(options_.directory, shard, sweep_.hash);
      work(shard, [&](const Record& record) { writer.add(record); });
    }
    const SweepSummary all = count(shard_statuses(options_.directory, manifest_), {});
    if (all.missing() == 0) merge_unless_busy(options_.directory, manifest_);
    return summary();
  }

  // `work_too`: run what is missing; else only check it.
  SweepSummary in_folder(bool work_too) {
    begin_folder({});
    claim(options_.directory, manifest_);
    const Lock lock(options_.directory);
    Database database = merged_database(options_.directory, manifest_, damage_observer());
    if (options_.run_infeasible) database.remove_not_run();
    statuses_ = database.exit_statuses();
    check_inputs();
    if (!checked_) check({});
    if (options_.retry_failed) database.remove_failed();
    take_over(database);
    if (work_too) work({}, [&](const Record& record) { database.add(record); });
    write_tables(options_.directory, manifest_, database);
    return count(work_too ? statuses_ : database.exit_statuses(), {});
  }

  [[nodiscard]] SweepSummary summary() const { return count(statuses_, options_.shard.value_or(Shard{})); }

 private:
  [[nodiscard]] DamageObserver damage_observer() {
    return [this](const std::string& sentence) { observer_.damaged(sentence); };
  }
  [[nodiscard]] bool stopped() const { return options_.stop != nullptr && *options_.stop; }

  // A folder that is new, or holds another state of the sweep, is not touched before all points are known to be scenarios.
  void begin_folder(const Shard& shard) {
    const auto there = read_manifest(options_.directory);
    if (!there || is_earlier_state(*there, manifest_)) check(shard);
    retire_earlier_state(options_.directory, manifest_);
  }

  // Before the first shard begins: what an earlier state has becomes part of the tables, where shards look.
  void in_folder_if_free() {
    try {
      claim(options_.directory, manifest_);
      const Lock lock(options_.directory);
      Database database = Database::mended(options_.directory, manifest_, damage_observer());
      take_over(database);
      write_tables(options_.directory, manifest_, database);
    } catch (const FolderInUse&) {  // another shard is at it; what this one runs in the meantime does no harm
    }
  }

  // Points of an earlier state of the sweep whose scenario is the same.
  void take_over(Database& database) {
    if (!has_earlier_states(options_.directory)) return;
    const Statuses there = database.exit_statuses();
    std::vector<MissingPoint> missing;
    for (std::uint32_t p = 0; p < there.size(); ++p) {
      if (there[p] || !sweep_.points[p].problem.empty()) continue;
      missing.push_back({p, points_.scenario_hash(p)});
    }
    std::uint64_t taken = 0;
    each_earlier_record(options_.directory, missing, [&](std::uint32_t point, const Record& record) {
      if (options_.run_infeasible && record.was_not_run()) return;
      if (!database.add(points_.taken_over(point, record))) return;
      statuses_[point] = record.exit_status;
      ++taken;
    });
    if (taken > 0) observer_.reused(taken);
  }

  void check(const Shard& shard) {
    const auto points = pending(statuses_, shard, options_.retry_failed);
    const auto estimates = points_.check(points, threads_of(options_), [this] { return stopped(); });
    for (std::size_t i = 0; i < points.size(); ++i) jobs_.push_back({points[i], estimates[i]});
    checked_ = true;
  }

  // Points that are kept must not have read another state of a file than those that are still to come.
  void check_inputs() const {
    Manifest there = read_manifest(options_.directory).value_or(manifest_);
    std::set<std::string> changed;
    for (const auto& [file, hash] : manifest_.inputs) {
      if (std::exchange(there.inputs[file], hash) != hash) changed.insert(file);
    }
    if (changed.empty()) return;
    Statuses kept = statuses_;
    if (has_database(options_.directory)) {
      const Statuses recorded = Database(options_.directory, manifest_, Database::Access::kRead).exit_statuses();
      for (std::size_t p = 0; p < kept.size(); ++p) kept[p] = kept[p] ? kept[p] : recorded[p];
    }
    for (std::uint32_t p = 0; p < kept.size(); ++p) {
      if (!kept[p] || (options_.retry_failed && *kept[p] != 0)) continue;
      const std::string file = points_.reads_one_of(p, changed);
      if (file.empty()) continue;
      throw ConfigError(options_.directory.string(),
                        "has results that were made with another state of " + file + ": point " + std::to_string(p) + " (" +
                            sweep_.points[p].name + ")",
                        "choose another folder for --out, or put the file back; nothing was changed");
    }
    write_manifest(options_.directory, there);
  }

  template <class Keep>
  void work(const Shard& shard, const Keep& keep) {
    // What was checked for an empty folder may be there after all: shards of a process that was faster.
    const auto is_there = [&](const studies::PendingPoint& job) {
      const auto& status = statuses_[job.point];
      return status && !(options_.retry_failed && *status != 0);
    };
    std::erase_if(jobs_, is_there);
    const SweepSummary before = count(statuses_, shard);
    observer_.begin(jobs_.size(), before.points - jobs_.size());
    const std::map<std::uint32_t, double> seconds = announce_time();
    double done = 0.0;
    double all = 0.0;
    for (const auto& [point, of_point] : seconds) all += of_point;
    // Runs ask now and then whether they are to stop: so long the observer hears of them.
    const studies::Pool pool{threads_of(options_), memory_of(options_), [this] {
                               tell_running();
                               return stopped();
                             }};
    const auto kept = [&](const Record& record) {
      const std::lock_guard lock(telling_);
      running_.end(record.point);
      keep(record);
      statuses_[record.point] = record.exit_status;
      done += seconds.at(record.point);
      if (all > 0.0) observer_.advanced(done / all);
      const SweepPoint& point = sweep_.points[record.point];
      if (!record.remarks.warnings.empty() || !record.remarks.infeasible.empty())
        observer_.warned(point, record.remarks.warnings, record.remarks.infeasible);
      observer_.recorded(point, record.error);
    };
    pool.run(std::move(jobs_), [&](std::size_t point, const Stop& stop) -> std::function<void()> {
      running_.begin(static_cast<std::uint32_t>(point));
      return [&kept, record = points_.run(point, stop)] { kept(record); };
    });
  }

  void tell_running() {
    const auto longest = running_.longest();
    if (!longest) return;
    const std::lock_guard lock(telling_);
    observer_.running(sweep_.points[longest->first], longest->second);
  }

  // The estimates of the jobs, by point; tells what they come to on the threads of the sweep.
  std::map<std::uint32_t, double> announce_time() {
    std::map<std::uint32_t, double> seconds;
    double sum = 0.0;
    for (const studies::PendingPoint& job : jobs_) {
      seconds[static_cast<std::uint32_t>(job.point)] = job.estimate.seconds;
      sum += job.estimate.seconds;
    }
    if (jobs_.empty()) return seconds;
    const studies::PendingPoint& longest = *std::max_element(
        jobs_.begin(), jobs_.end(), [](const auto& a, const auto& b) { return a.estimate.seconds < b.estimate.seconds; });
    const double cores = std::min(threads_of(options_), std::max(1U, std::thread::hardware_concurrency()));
    const double all = std::max(longest.estimate.seconds, sum / cores);
    observer_.estimated(all, sweep_.points[longest.point], longest.estimate.seconds);
    if (options_.work_limit_s > 0.0) {
      const std::string levers = "fewer points, or a shorter one: point " + std::to_string(longest.point) + " (" +
                                 sweep_.points[longest.point].name + ") takes about " +
                                 rough_time(longest.estimate.seconds);
      check_work({{{"points", static_cast<double>(jobs_.size()), all, levers}}}, sweep_.file.string(),
                 options_.work_limit_s);
    }
    return seconds;
  }

  const Sweep& sweep_;
  const SweepOptions& options_;
  SweepObserver& observer_;
  const PointRunner points_;
  const Manifest manifest_ = Manifest::of(sweep_);
  Statuses statuses_;
  std::vector<studies::PendingPoint> jobs_;
  bool checked_ = false;
  RunningPoints running_;
  std::mutex telling_;  // of the observer while points run
};

}  // namespace

std::uint64_t prepare_for_shards(const Sweep& sweep, const SweepOptions& options, const Registries& known) {
  SweepObserver nobody;
  return Run(sweep, options, nobody, known).in_folder(false).missing();
}

std::vector<PointPreview> preview_sweep(const Sweep& sweep, const Registries& known) {
  std::vector<std::uint32_t> all(sweep.points.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<PointPreview> previews;
  static_cast<void>(PointRunner(sweep, known)
                        .check(
                            all, threads_of({}), [] { return false; }, &previews));
  return previews;
}

}  // namespace sweep

SweepSummary run_sweep(const Sweep& sweep, const SweepOptions& options, SweepObserver& observer, const Registries& known) {
  sweep::Run run(sweep, options, observer, known);
  try {
    return options.shard ? run.in_shard(*options.shard) : run.in_folder(true);
  } catch (const sweep::Stopped&) {  // while it was checking
    return run.summary();
  }
}

void check_sweep(const Sweep& sweep, const Registries& known) { static_cast<void>(sweep::preview_sweep(sweep, known)); }

SweepSummary merge_sweep(const std::filesystem::path& directory) {
  const auto manifest = sweep::read_manifest(directory);
  if (!manifest) throw ConfigError(directory.string(), "there is no sweep here", "no manifest.json");
  const sweep::Lock lock(directory);
  sweep::Database database(directory, *manifest, sweep::Database::Access::kWrite);
  const auto damage = sweep::merge_shards(directory, manifest->hash, database);
  if (const auto lost = sweep::losses(damage, database.exit_statuses()); !lost.empty())
    throw ConfigError(directory.string(), lost.front(), report::kDamageHint);
  sweep::write_tables(directory, *manifest, database);
  return database.summary();
}

}  // namespace photonrail
