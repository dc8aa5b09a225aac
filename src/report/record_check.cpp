#include "report/record_check.hpp"

#include "core/fnv1a.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace photonrail::report {

namespace {

constexpr std::array<RecordTable, 5> kTables{RecordTable::kRuns, RecordTable::kParameters, RecordTable::kMetrics,
                                             RecordTable::kPhases, RecordTable::kWindows};

const char* query_of(RecordTable table) {
  switch (table) {
    case RecordTable::kRuns:
      return "SELECT point, name, seed, repetition, status, exit_status, error, scenario_hash, version, host, started, "
             "wall_s, peak_rss_mb, infeasible, warnings, choices FROM runs";
    case RecordTable::kParameters:
      return "SELECT point, name, value FROM parameters";
    case RecordTable::kMetrics:
      return "SELECT point, name, value FROM metrics";
    case RecordTable::kPhases:
      return "SELECT point, phase, bytes, operations, busy_s, exposed_s FROM phases";
    default:
      return "SELECT point, before, after, length_s, count FROM windows";
  }
}

std::uint64_t hash_of_row(RecordTable table, SQLite::Statement& row) {
  RowHash hash(table);
  for (int i = 1; i < row.getColumnCount(); ++i) hash.add(row.getColumn(i));
  return hash.value();
}

// The name and the definition of each table of ours; what a user adds to the file is the user's.
constexpr const char* kHeadQueries[] = {
    "SELECT name, sql FROM sqlite_master WHERE name IN ('meta', 'axes', 'runs', 'parameters', 'metrics', 'phases', "
    "'windows', 'checks') ORDER BY name",
    "SELECT key, value FROM meta ORDER BY key",
    "SELECT position, name FROM axes ORDER BY position",
};

void compare_sums(SQLite::Database& database, DatabaseDamage& damage) {
  std::map<std::int64_t, std::uint64_t> sums = record_sums(database);
  std::map<std::int64_t, std::uint64_t> stored;
  SQLite::Statement checks(database, "SELECT point, checksum FROM checks");
  while (checks.executeStep())
    stored[checks.getColumn(0).getInt64()] = static_cast<std::uint64_t>(checks.getColumn(1).getInt64());
  const auto head = stored.find(kPointOfHead);
  damage.head = head == stored.end() || head->second != head_sum(database);
  stored.erase(kPointOfHead);
  for (const auto& [point, sum] : stored) {
    const auto at = sums.find(point);
    if (at == sums.end() || at->second != sum) damage.points.push_back(point);
  }
  for (const auto& [point, sum] : sums) {
    if (!stored.contains(point)) damage.points.push_back(point);
  }
  std::sort(damage.points.begin(), damage.points.end());
}

}  // namespace

RowHash::RowHash(RecordTable table) : hash_(core::kFnv1aStart) {
  bytes('t', std::string_view("01234").substr(static_cast<std::size_t>(table), 1));
}

// The kind and the length keep the border between two cells apart from their content.
void RowHash::bytes(char kind, std::string_view text) {
  const std::string border = kind + std::to_string(text.size()) + ':';
  hash_ = core::fnv1a(text, core::fnv1a(border, hash_));
}

RowHash& RowHash::add(std::int64_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes('i', {raw, sizeof raw});
  return *this;
}

RowHash& RowHash::add(double value) {
  value += 0.0;  // SQLite does not keep the sign of a zero
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes('r', {raw, sizeof raw});
  return *this;
}

RowHash& RowHash::add(std::string_view value) {
  bytes('s', value);
  return *this;
}

RowHash& RowHash::add_null() {
  bytes('n', {});
  return *this;
}

RowHash& RowHash::add(const SQLite::Column& cell) {
  if (cell.isNull()) return add_null();
  if (cell.isInteger()) return add(static_cast<std::int64_t>(cell.getInt64()));
  if (cell.isFloat()) return add(cell.getDouble());
  // One bit makes a text a blob, which is shown as a number. The kind is asked for before the text, which changes it.
  const char kind = cell.isBlob() ? 'b' : 's';
  const char* const text = cell.getText();  // before its size is asked for
  bytes(kind, {text, static_cast<std::size_t>(cell.getBytes())});
  return *this;
}

// Hashes are added up, so each is mixed once more: FNV-1a alone changes its upper bits little by the last byte.
std::uint64_t RowHash::value() const {
  std::uint64_t x = hash_;
  x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33U);
}

std::map<std::int64_t, std::uint64_t> record_sums(SQLite::Database& database) {
  std::map<std::int64_t, std::uint64_t> sums;
  for (const RecordTable table : kTables) {
    SQLite::Statement rows(database, query_of(table));
    auto at = sums.end();  // rows come by point, nearly always that of the row before
    while (rows.executeStep()) {
      const std::int64_t point = rows.getColumn(0).getInt64();
      if (at == sums.end() || at->first != point) at = sums.try_emplace(point, 0).first;
      at->second += hash_of_row(table, rows);
    }
  }
  return sums;
}

std::uint64_t record_sum(SQLite::Database& database, std::int64_t point) {
  std::uint64_t sum = 0;
  for (const RecordTable table : kTables) {
    SQLite::Statement rows(database, std::string(query_of(table)) + " WHERE point = ?");
    rows.bind(1, point);
    while (rows.executeStep()) sum += hash_of_row(table, rows);
  }
  return sum;
}

std::uint64_t head_sum(SQLite::Database& database) {
  RowHash hash(RecordTable::kRuns);
  for (const char* query : kHeadQueries) {
    SQLite::Statement rows(database, query);
    while (rows.executeStep()) {
      for (int i = 0; i < rows.getColumnCount(); ++i) hash.add(rows.getColumn(i));
    }
  }
  return hash.value();
}

std::string DatabaseDamage::text() const {
  if (!structure.empty()) return "is damaged: " + structure;
  if (points.empty()) return "what it says of the sweep was altered after it was written";
  constexpr std::size_t kTold = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(points.size(), kTold); ++i) list += (i == 0 ? "" : ", ") + std::to_string(points[i]);
  if (points.size() > kTold) list += " and " + std::to_string(points.size() - kTold) + " more";
  return points.size() == 1 ? "the record of point " + list + " was altered or lost after it was written"
                            : "the records of points " + list + " were altered or lost after they were written";
}

DatabaseDamage find_damage(SQLite::Database& database, int version) {
  DatabaseDamage damage;
  try {
    const SQLite::Transaction snapshot(database);  // another process may add records meanwhile
    const std::string found = database.execAndGet("PRAGMA integrity_check(1)").getString();
    if (found != "ok") damage.structure = found;
    if (damage.structure.empty() && version >= kFirstCheckedVersion) compare_sums(database, damage);
  } catch (const SQLite::Exception& error) {
    damage.structure = error.what();
  }
  return damage;
}

}  // namespace photonrail::report
