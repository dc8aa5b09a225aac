// The results of a sweep, as its database keeps them.
#include "core/counted.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"
#include "report/facts.hpp"
#include "report/page_sources.hpp"
#include "report/record_check.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <cstdint>

namespace photonrail::report {

namespace {

constexpr const char* kDatabaseSchema = "photonrail.results/1";
constexpr std::int64_t kMaxPoints = 1'000'000;   // of a sweep
constexpr std::int64_t kMaxWindows = 1'000'000;  // rows; more would make the page too big
constexpr std::size_t kToldErrors = 3;

// As the path of a URI.
std::string uri_escaped(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
  return text;
}

// In a read-only folder, a database in WAL mode opens only as immutable.
SQLite::Database open(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READONLY, 10'000);
  try {
    database.execAndGet("SELECT count(*) FROM meta");
    return database;
  } catch (const SQLite::Exception&) {
    return SQLite::Database("file:" + uri_escaped(file.string()) + "?immutable=1",
                            SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  }
}

std::string meta(SQLite::Database& database, const char* key) {
  SQLite::Statement query(database, "SELECT value FROM meta WHERE key = ?");
  query.bind(1, key);
  return query.executeStep() ? query.getColumn(0).getString() : std::string{};
}

// A version that is not known may have been one that has checksums.
void require_whole(SQLite::Database& database, const std::filesystem::path& file) {
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  if (version < 1 || version > kFirstCheckedVersion)
    throw ConfigError(file.string(), "its tables have version " + std::to_string(version),
                      "this version reads 1 to " + std::to_string(kFirstCheckedVersion));
  const DatabaseDamage damage = find_damage(database, version);
  if (damage.any()) throw ConfigError(file.string(), damage.text(), kDamageHint);
}

/// The rows of the table, by the points of the database.
class Rows {
 public:
  void add(std::int64_t point, bool infeasible) {
    infeasible_.push_back(infeasible);
    infeasible_count_ += infeasible ? 1 : 0;
    if (rows_.size() <= static_cast<std::size_t>(point)) rows_.resize(static_cast<std::size_t>(point) + 1, kNone);
    rows_[static_cast<std::size_t>(point)] = count_++;
  }
  [[nodiscard]] bool has(std::int64_t point) const {
    return point >= 0 && static_cast<std::size_t>(point) < rows_.size() && rows_[static_cast<std::size_t>(point)] != kNone;
  }
  [[nodiscard]] std::size_t operator[](std::int64_t point) const { return rows_[static_cast<std::size_t>(point)]; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool infeasible(std::int64_t point) const { return infeasible_[(*this)[point]]; }
  [[nodiscard]] std::size_t infeasible_count() const { return infeasible_count_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> rows_;
  std::size_t count_ = 0;
  std::vector<bool> infeasible_;  // by row
  std::size_t infeasible_count_ = 0;
};

void set(Column& column, std::size_t row, const SQLite::Column& cell) {
  if (cell.isNull()) return;
  if (cell.isText()) return column.set(row, cell.getText());
  column.set(row, cell.getDouble());
}

// A column that is there only where a row has something in it.
void set_text(Table& table, const char* name, std::size_t row, const SQLite::Column& cell) {
  if (!cell.isNull()) table.column(name, "info").set(row, cell.getText());
}

std::string first_line(const SQLite::Column& cell) {
  const std::string text = cell.getString();
  return text.substr(0, text.find('\n'));
}

// Keeps the first two lines of an error: the others are the same of other ranks.
std::string beginning(const SQLite::Column& cell) {
  constexpr std::size_t kMost = 300;
  const std::string whole = cell.getString();
  const std::size_t first = whole.find('\n');
  const std::size_t second = first == std::string::npos ? first : whole.find('\n', first + 1);
  std::size_t end = std::min({second, kMost, whole.size()});
  while (end > 0 && end < whole.size() && (static_cast<unsigned char>(whole[end]) & 0xC0U) == 0x80U) --end;
  std::string text = whole.substr(0, end);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() < whole.size() ? text + " ..." : text;
}

// Names come in the same order for each point, so the column after the last one is tried first.
class ColumnFinder {
 public:
  ColumnFinder(Table& table, const char* role) : table_(table), role_(role) {}

  Column& find(std::string_view name) {
    if (++next_ >= seen_.size()) next_ = 0;
    if (next_ < seen_.size() && seen_[next_]->name() == name) return *seen_[next_];
    Column& column = table_.column(name, role_);
    const auto place = std::find(seen_.begin(), seen_.end(), &column);
    next_ = static_cast<std::size_t>(place - seen_.begin());
    if (place == seen_.end()) seen_.push_back(&column);
    return column;
  }

 private:
  Table& table_;
  const char* role_;
  std::vector<Column*> seen_;
  std::size_t next_ = 0;
};

Rows read_runs(SQLite::Database& database, PageTables& tables) {
  Rows rows;
  Table& table = tables.points;
  std::string errors;
  std::size_t warned = 0;
  std::string warning;                                                      // the first
  const int version = database.execAndGet("PRAGMA user_version").getInt();  // 1: without warnings; 2: without choices
  SQLite::Statement query(database, std::string("SELECT point, name, seed, repetition, status, error, ") +
                                        (version < 2 ? "NULL, NULL" : "infeasible, warnings") +
                                        (version < 3 ? ", NULL" : ", choices") + " FROM runs ORDER BY point");
  while (query.executeStep()) {
    const std::size_t row = rows.count();
    const std::int64_t point = query.getColumn(0).getInt64();
    if (point < 0 || point >= kMaxPoints)
      throw ConfigError("table runs", "has a point " + std::to_string(point),
                        "points are numbered from 0, at most a million");
    rows.add(point, !query.getColumn(6).isNull());
    set_text(table, "infeasible", row, query.getColumn(6));
    set_text(table, "warnings", row, query.getColumn(7));
    set_text(table, "choices", row, query.getColumn(8));
    if (!query.getColumn(7).isNull() && warned++ == 0)
      warning = query.getColumn(1).getString() + ": " + first_line(query.getColumn(7));
    set(table.column("name", "info"), row, query.getColumn(1));
    set(table.column("status", "info"), row, query.getColumn(4));
    set(table.column("seed", "replicate"), row, query.getColumn(2));
    set(table.column("repetition", "replicate"), row, query.getColumn(3));
    set(table.column("error", "info"), row, query.getColumn(5));
    if (query.getColumn(4).getString() == "done" || ++tables.failed > kToldErrors) continue;
    errors += "; " + query.getColumn(1).getString() + ": " + beginning(query.getColumn(5));
  }
  table.rows = rows.count();
  if (tables.failed > 0) {
    tables.notes.push_back(std::to_string(tables.failed) + " of " + core::counted(rows.count(), "point") + " failed" +
                           errors + (tables.failed > kToldErrors ? "; ..." : ""));
  }
  if (warned > 0) {
    tables.notes.push_back(std::to_string(warned) + " of " + core::counted(rows.count(), "point") +
                           (warned == 1 ? " has" : " have") + " warnings (column warnings); the first: " + warning);
  }
  return rows;
}

// Reads the scenario that the points change; nothing where an older version wrote the database.
json::Json about(SQLite::Database& database) {
  const auto base = json::parse_if_json(meta(database, "base"));
  if (!base) return json::Json::array();
  std::set<std::string> varied;
  if (const auto list = json::parse_if_json(meta(database, "varied")); list && list->is_array()) {
    for (const json::Json& pointer : list->elements()) {
      if (pointer.is_string()) varied.insert(pointer.string());
    }
  }
  return facts_of(*base, varied);
}

// Tells whether points that could not run stay out of the figures; not where there would be none left.
bool leaves_out_infeasible(const Rows& rows, PageTables& tables) {
  if (rows.infeasible_count() == 0) return false;
  const std::string those = std::to_string(rows.infeasible_count()) + " of " + core::counted(rows.count(), "point") +
                            " could not run on such GPUs";
  const bool leaves_out = !tables.include_infeasible && rows.infeasible_count() < rows.count();
  tables.notes.push_back(
      those +
      (leaves_out
           ? " (column infeasible) and are in no figure; sweep --run-infeasible runs, --include-infeasible shows them"
           : " (column infeasible), and are shown where they were run (sweep --run-infeasible)"));
  return leaves_out;
}

void read_cells(SQLite::Database& database, const char* from, const char* role, const Rows& rows, Table& table,
                bool leave_out_infeasible = false) {
  ColumnFinder finder(table, role);
  SQLite::Statement query(database, std::string("SELECT point, name, value FROM ") + from);
  while (query.executeStep()) {
    const std::int64_t point = query.getColumn(0).getInt64();
    if (!rows.has(point)) continue;
    const std::string_view name = query.getColumn(1).getText();
    if (leave_out_infeasible && rows.infeasible(point) && name != "peak_memory_bytes") continue;
    set(finder.find(name), rows[point], query.getColumn(2));
  }
}

void read_windows(SQLite::Database& database, const Rows& rows, bool leave_out_infeasible, PageTables& tables) {
  Table& table = tables.windows;
  SQLite::Statement query(database,
                          "SELECT point, before, after, length_s, count FROM windows ORDER BY 1, 2, 3, 4 LIMIT ?");
  query.bind(1, kMaxWindows);
  while (query.executeStep()) {
    const std::int64_t point = query.getColumn(0).getInt64();
    if (!rows.has(point) || (leave_out_infeasible && rows.infeasible(point))) continue;
    table.column("row", "info").set(table.rows, static_cast<double>(rows[point]));
    table.column("change", "info").set(table.rows, query.getColumn(1).getString() + "->" + query.getColumn(2).getString());
    table.column("length_s", "info").set(table.rows, query.getColumn(3).getDouble());
    table.column("count", "info").set(table.rows, query.getColumn(4).getDouble());
    ++table.rows;
  }
  const auto all = database.execAndGet("SELECT count(*) FROM windows").getInt64();
  if (all <= kMaxWindows) return;
  tables.notes.push_back("windows are there for the first points only: " + std::to_string(kMaxWindows) + " of " +
                         core::counted(all, "length"));
}

}  // namespace

void read_results_database(const std::filesystem::path& file, PageTables& tables) {
  try {
    SQLite::Database database = open(file);
    if (const std::string schema = meta(database, "schema"); schema != kDatabaseSchema) {
      throw ConfigError(file.string(), "its schema is \"" + schema + "\"",
                        std::string("this version reads ") + kDatabaseSchema);
    }
    require_whole(database, file);
    tables.title = meta(database, "name");
    tables.why = meta(database, "why");
    tables.about = about(database);
    const Rows rows = read_runs(database, tables);
    const std::string points = meta(database, "points");
    if (!points.empty() && points != std::to_string(rows.count())) {
      tables.notes.push_back(std::to_string(rows.count()) + " of " + points + " points were run so far");
    }
    SQLite::Statement axes(database, "SELECT name FROM axes ORDER BY position");
    while (axes.executeStep()) {  // before the tables' columns had their names for themselves, an axis could take one
      const Column& axis = tables.points.column(axes.getColumn(0).getText(), "parameter");
      if (axis.role() != "parameter")
        tables.notes.push_back("the parameter \"" + axis.name() +
                               "\" has the name of a column and is in no figure: give its axis another \"name\"");
    }
    read_cells(database, "parameters", "parameter", rows, tables.points);
    const bool leave_out = leaves_out_infeasible(rows, tables);
    read_cells(database, "metrics", "metric", rows, tables.points, leave_out);
    read_windows(database, rows, leave_out, tables);
  } catch (const ConfigError& error) {
    throw error.where().starts_with(file.string()) ? error : error.inside(file.string());
  } catch (const SQLite::Exception& error) {
    throw ConfigError(file.string(), std::string("cannot be read: ") + error.what(), "it must be what a sweep wrote");
  }
}

}  // namespace photonrail::report
