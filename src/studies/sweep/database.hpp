// results.db: a row a point, written the moment it is done.
#pragma once

#include "studies/sweep/manifest.hpp"
#include "studies/sweep/record.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace photonrail::sweep {

/// A record of the file, or more of it, is not as it was written.
class DamagedDatabase : public ConfigError {
 public:
  using ConfigError::ConfigError;
};
/// Is given a sentence for each thing that was altered or lost.
using DamageObserver = std::function<void(const std::string&)>;

/// Errors of SQLite come out as ConfigError with the file; what was added before stays.
class Database {
 public:
  enum class Access { kRead, kWrite };

  /// kWrite: makes it when it is missing, and gives one of an earlier version what it lacks. REQUIRES: a Lock on the folder
  /// for kWrite. Throws DamagedDatabase: each record is checked.
  Database(const std::filesystem::path& directory, const Manifest& manifest, Access access);
  ~Database();
  Database(Database&&) noexcept;
  /// For kWrite. Of a damaged one the records that are as they were written stay; the file goes to results.db.damaged.
  [[nodiscard]] static Database mended(const std::filesystem::path& directory, const Manifest& manifest,
                                       const DamageObserver& told);
  /// Whether records may be lost, because the file was damaged.
  [[nodiscard]] bool is_mended() const;

  /// All of the record or nothing; false when the point is there already.
  bool add(const Record& record);
  /// By point: the exit status, or none where there is no record.
  [[nodiscard]] std::vector<std::optional<int>> exit_statuses() const;
  [[nodiscard]] SweepSummary summary() const;
  void remove_failed();
  /// Removes the records for which Record::was_not_run().
  void remove_not_run();

  /// In ascending order of points; parameters in the order of the sweep.
  void each(const std::function<void(const Record&)>& use) const;
  /// Removes its files. REQUIRES: no other object has it open.
  static void remove(const std::filesystem::path& directory);
  /// Names of metrics that some point has had. REQUIRES: kWrite.
  [[nodiscard]] const std::set<std::string>& metric_names() const;

 private:
  void remove_runs(const std::string& condition);
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

[[nodiscard]] bool has_database(const std::filesystem::path& directory);

}  // namespace photonrail::sweep
