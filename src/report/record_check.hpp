// Checksums of the records of results.db. The table `checks` has one for each point, the sum of the hashes of all rows that
// the point has in any table, and one for what is about the sweep, under point -1. A row that is altered or lost changes
// the sum; a record that is lost as a whole has its checksum left, and a checksum that is lost its record.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::report {

/// The version of the tables that first has checksums; before it there is nothing to check them by.
inline constexpr int kFirstCheckedVersion = 4;
inline constexpr std::int64_t kPointOfHead = -1;
/// The tables that have rows of points.
enum class RecordTable : std::uint8_t { kRuns, kParameters, kMetrics, kPhases, kWindows };

/// The hash of one row: the cells in the order of the columns of the table, without the point.
class RowHash {
 public:
  explicit RowHash(RecordTable table);
  RowHash& add(std::int64_t value);
  RowHash& add(double value);
  RowHash& add(std::string_view value);
  RowHash& add_null();
  RowHash& add(const SQLite::Column& cell);
  [[nodiscard]] std::uint64_t value() const;

 private:
  void bytes(char kind, std::string_view bytes);
  std::uint64_t hash_;
};

/// The checksums of all points that have rows, as they are now.
[[nodiscard]] std::map<std::int64_t, std::uint64_t> record_sums(SQLite::Database& database);
/// The checksum of one point, as it is now.
[[nodiscard]] std::uint64_t record_sum(SQLite::Database& database, std::int64_t point);
/// The checksum of the tables' definitions, `meta` and `axes`, as they are now.
[[nodiscard]] std::uint64_t head_sum(SQLite::Database& database);

struct DatabaseDamage {
  std::string structure;             ///< why it is no sound database; empty where it is one
  bool head = false;                 ///< what is about the sweep was altered
  std::vector<std::int64_t> points;  ///< whose records were altered or lost, ascending

  [[nodiscard]] bool any() const { return !structure.empty() || head || !points.empty(); }
  /// "the records of points 3 and 7 were altered or lost after they were written".
  [[nodiscard]] std::string text() const;
};
/// Checks the structure of the database, and each record where the version has checksums.
[[nodiscard]] DatabaseDamage find_damage(SQLite::Database& database, int version);

/// What would do about damage.
inline constexpr const char* kDamageHint = "run the same photonrail sweep again: it makes what is damaged again";

}  // namespace photonrail::report
