#include "sweep/database.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <sqlite3.h>

#include <utility>

namespace photonrail::sweep {

namespace {

constexpr int kSchemaVersion = 3;         // 1: runs had no infeasible and no warnings; 2: no choices
constexpr int kApplication = 0x70687264;  // "phrd"
constexpr int kPatience = 10'000;         // ms that a writer waits for another connection

constexpr const char* kTables = R"(
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE axes(position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE runs(point INTEGER PRIMARY KEY, name TEXT NOT NULL, seed INTEGER NOT NULL, repetition INTEGER NOT NULL,
  status TEXT NOT NULL, exit_status INTEGER NOT NULL, error TEXT, scenario_hash TEXT NOT NULL, version TEXT NOT NULL,
  host TEXT NOT NULL, started TEXT NOT NULL, wall_s REAL NOT NULL, peak_rss_mb REAL NOT NULL,
  infeasible TEXT, warnings TEXT, choices TEXT);
CREATE TABLE parameters(point INTEGER NOT NULL, name TEXT NOT NULL, value, PRIMARY KEY(point, name)) WITHOUT ROWID;
CREATE TABLE metrics(point INTEGER NOT NULL, name TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY(point, name))
  WITHOUT ROWID;
CREATE TABLE phases(point INTEGER NOT NULL, phase TEXT NOT NULL, bytes INTEGER NOT NULL, operations INTEGER NOT NULL,
  busy_s REAL NOT NULL, exposed_s REAL NOT NULL, PRIMARY KEY(point, phase)) WITHOUT ROWID;
CREATE TABLE windows(point INTEGER NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, length_s REAL NOT NULL,
  count INTEGER NOT NULL, PRIMARY KEY(point, before, after, length_s)) WITHOUT ROWID;
)";

[[noreturn]] void fail(const std::filesystem::path& file, const SQLite::Exception& error) {
  switch (error.getErrorCode()) {
    case SQLITE_FULL:
      throw ConfigError(file.string(), "cannot write: the disk is full",
                        "what was recorded is kept; make room and run the same command again");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      throw ConfigError(file.string(), "cannot write: " + std::string(error.what()),
                        "the folder must exist, have room and be writable; what was recorded is kept");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw ConfigError(file.string(), "is damaged, or no database: " + std::string(error.what()),
                        "choose another folder for --out; nothing was changed");
    default:
      throw ConfigError(file.string(), "SQLite: " + std::string(error.what()), "what was recorded is kept");
  }
}

// Where a folder cannot be written, SQLite cannot keep the index of a write-ahead log there: the file is read as it is.
SQLite::Database open(const std::filesystem::path& file, Database::Access access) {
  if (access == Database::Access::kWrite) {
    return {file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX, kPatience};
  }
  try {
    SQLite::Database db(file.string(), SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX, kPatience);
    static_cast<void>(db.execAndGet("PRAGMA user_version"));  // opens it only now
    return db;
  } catch (const SQLite::Exception& error) {
    if (error.getErrorCode() != SQLITE_CANTOPEN && error.getErrorCode() != SQLITE_READONLY) throw;
    std::string uri = "file:";
    for (const char c : std::filesystem::absolute(file).string()) {
      const bool special = c == '%' || c == '?' || c == '#';
      uri += special ? (c == '%' ? "%25" : c == '?' ? "%3f" : "%23") : std::string(1, c);
    }
    return {uri + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX, kPatience};
  }
}

void bind_value(SQLite::Statement& statement, int at, const Json& value) {
  if (value.is_double())
    statement.bind(at, value.number());
  else if (value.is_integer() && !(value.is_natural() && value.natural() > INT64_MAX))
    statement.bind(at, value.integer());
  else
    statement.bind(at, value.is_string() ? value.string() : value.canonical());
}

Json column_value(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  return column.getString();
}

// One line each: a warning has no line break (lines_text() sees to it).
std::string lines_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    for (const char c : line) text += c == '\n' ? ' ' : c;
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(text.substr(at, end - at));
  }
  lines.push_back(text.substr(at));
  return lines;
}

std::int64_t signed_bits(std::uint64_t x) { return static_cast<std::int64_t>(x); }

}  // namespace

struct Database::Connection {
  std::filesystem::path file;
  SQLite::Database db;
  std::uint64_t points;
  std::set<std::string> metric_names;  // a scan of all metrics when it is opened, and none after

  Connection(std::filesystem::path path, const Manifest& manifest, Access access)
      : file(std::move(path)), db(open(file, access)), points(manifest.points) {
    const int version = db.execAndGet("PRAGMA user_version").getInt();
    if (version == 0 && access == Access::kWrite && db.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0)
      create(manifest);
    else
      require_known(version);
    if (meta("sweep_hash") != manifest.hash)
      throw ConfigError(file.string(), "is of another sweep than manifest.json",
                        "choose another folder for --out; nothing was changed");
    if (access == Access::kRead) return;
    if (version < kSchemaVersion && version > 0) add_columns(version);
    SQLite::Statement names(db, "SELECT DISTINCT name FROM metrics");
    while (names.executeStep()) metric_names.insert(names.getColumn(0).getString());
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("PRAGMA synchronous = NORMAL");  // a process may die at any moment; the write-ahead log stays whole
  }

  void require_known(int version) {
    const bool ours = db.execAndGet("PRAGMA application_id").getInt() == kApplication;
    if (ours && version >= 1 && version <= kSchemaVersion) return;
    throw ConfigError(file.string(), "is not a table of a sweep that this version knows",
                      "choose another folder for --out; nothing was changed");
  }

  void add_columns(int version) {
    SQLite::Transaction transaction(db);
    if (version < 2) db.exec("ALTER TABLE runs ADD COLUMN infeasible TEXT");
    if (version < 2) db.exec("ALTER TABLE runs ADD COLUMN warnings TEXT");
    db.exec("ALTER TABLE runs ADD COLUMN choices TEXT");
    db.exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
    transaction.commit();
  }

  void create(const Manifest& manifest) {
    db.exec("PRAGMA journal_mode = WAL");
    SQLite::Transaction transaction(db);
    db.exec(kTables);
    SQLite::Statement meta_row(db, "INSERT INTO meta VALUES(?, ?)");
    const auto put = [&](const char* key, const auto& value) {
      SQLite::bind(meta_row, key, value);
      meta_row.exec();
      meta_row.reset();
    };
    put("schema", "photonrail.results/1");
    put("name", manifest.name);
    put("why", manifest.why);
    put("sweep_hash", manifest.hash);
    put("version", manifest.version);
    put("base", manifest.base);
    put("varied", config::Json(std::vector<std::string>(manifest.varied.begin(), manifest.varied.end())).canonical());
    put("points", signed_bits(manifest.points));
    SQLite::Statement axis(db, "INSERT INTO axes VALUES(?, ?)");
    for (std::size_t i = 0; i < manifest.parameters.size(); ++i) {
      SQLite::bind(axis, static_cast<std::int64_t>(i), manifest.parameters[i]);
      axis.exec();
      axis.reset();
    }
    db.exec("PRAGMA application_id = " + std::to_string(kApplication));
    db.exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
    transaction.commit();
  }

  std::string meta(const std::string& key) {
    SQLite::Statement query(db, "SELECT value FROM meta WHERE key = ?");
    query.bind(1, key);
    return query.executeStep() ? query.getColumn(0).getString() : std::string{};
  }

  // Statements that every point needs are compiled once.
  struct Inserts {
    SQLite::Statement run, parameter, metric, phase, window;
    explicit Inserts(SQLite::Database& db)
        : run(db, "INSERT OR IGNORE INTO runs VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
          parameter(db, "INSERT INTO parameters VALUES(?, ?, ?)"),
          metric(db, "INSERT INTO metrics VALUES(?, ?, ?)"),
          phase(db, "INSERT INTO phases VALUES(?, ?, ?, ?, ?, ?)"),
          window(db, "INSERT INTO windows VALUES(?, ?, ?, ?, ?)") {}
  };
  std::unique_ptr<Inserts> inserts;

  template <class... Values>
  static int run(SQLite::Statement& statement, const Values&... values) {
    statement.reset();
    SQLite::bind(statement, values...);
    return statement.exec();
  }

  bool add(const Record& r) {
    if (inserts == nullptr) inserts = std::make_unique<Inserts>(db);
    SQLite::Transaction transaction(db);
    const auto point = static_cast<std::int64_t>(r.point);
    const Provenance& made = r.provenance;
    SQLite::Statement& row = inserts->run;
    row.reset();
    row.clearBindings();
    SQLite::bind(row, point, r.name, signed_bits(r.seed), static_cast<std::int64_t>(r.repetition), r.status(),
                 r.exit_status);
    if (r.exit_status != 0) row.bind(7, r.error);
    row.bind(8, r.scenario_hash);
    row.bind(9, r.version);
    row.bind(10, made.host);
    row.bind(11, made.started);
    row.bind(12, made.wall_s);
    row.bind(13, made.peak_rss_mb);
    if (!r.remarks.infeasible.empty()) row.bind(14, r.remarks.infeasible);
    if (!r.remarks.warnings.empty()) row.bind(15, lines_text(r.remarks.warnings));
    if (!r.remarks.choices.empty()) row.bind(16, lines_text(r.remarks.choices));
    if (row.exec() == 0) return false;
    for (const auto& [name, value] : r.parameters) {
      SQLite::Statement& parameter = inserts->parameter;
      parameter.reset();
      SQLite::bind(parameter, point, name);
      bind_value(parameter, 3, value);
      parameter.exec();
    }
    for (const auto& [name, value] : r.metrics) {
      run(inserts->metric, point, name, value);
      metric_names.insert(name);
    }
    for (const Phase& p : r.phases)
      run(inserts->phase, point, p.name, p.bytes, signed_bits(p.operations), p.busy_s, p.exposed_s);
    for (const Window& w : r.windows) run(inserts->window, point, w.before, w.after, w.length_s, signed_bits(w.count));
    transaction.commit();
    return true;
  }
};

namespace {

Record read_run(SQLite::Statement& row) {
  Record r;
  r.point = row.getColumn(0).getUInt();
  r.name = row.getColumn(1).getString();
  r.seed = static_cast<std::uint64_t>(row.getColumn(2).getInt64());
  r.repetition = row.getColumn(3).getUInt();
  r.exit_status = row.getColumn(4).getInt();
  if (!row.getColumn(5).isNull()) r.error = row.getColumn(5).getString();
  r.scenario_hash = row.getColumn(6).getString();
  r.version = row.getColumn(7).getString();
  r.provenance = {row.getColumn(8).getString(), row.getColumn(9).getString(), row.getColumn(10).getDouble(),
                  row.getColumn(11).getDouble()};
  if (!row.getColumn(12).isNull()) r.remarks.infeasible = row.getColumn(12).getString();
  if (!row.getColumn(13).isNull()) r.remarks.warnings = lines_of(row.getColumn(13).getString());
  if (!row.getColumn(14).isNull()) r.remarks.choices = lines_of(row.getColumn(14).getString());
  return r;
}

// Runs `query` for a point and calls `use` for each of its rows.
template <class Use>
void rows(SQLite::Statement& query, std::uint32_t point, const Use& use) {
  query.reset();
  query.bind(1, point);
  while (query.executeStep()) use();
}

// SQLite's complaints in the words of the project.
template <class Work>
decltype(auto) translated(const std::filesystem::path& file, const Work& work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    fail(file, error);
  }
}

std::filesystem::path file_in(const std::filesystem::path& directory) { return directory / "results.db"; }

}  // namespace

Database::Database(const std::filesystem::path& directory, const Manifest& manifest, Access access)
    : connection_(translated(file_in(directory),
                             [&] { return std::make_unique<Connection>(file_in(directory), manifest, access); })) {}
Database::~Database() = default;
Database::Database(Database&&) noexcept = default;

bool Database::add(const Record& record) {
  return translated(connection_->file, [&] { return connection_->add(record); });
}

std::vector<std::optional<int>> Database::exit_statuses() const {
  return translated(connection_->file, [&] {
    std::vector<std::optional<int>> statuses(connection_->points);
    SQLite::Statement query(connection_->db, "SELECT point, exit_status FROM runs");
    while (query.executeStep()) {
      const auto point = query.getColumn(0).getUInt();
      if (point < statuses.size()) statuses[point] = query.getColumn(1).getInt();
    }
    return statuses;
  });
}

SweepSummary Database::summary() const {
  SweepSummary summary{connection_->points, 0, 0};
  for (const auto& status : exit_statuses()) {
    if (status) ++(*status == 0 ? summary.done : summary.failed);
  }
  return summary;
}

void Database::remove_failed() {
  translated(connection_->file, [&] {
    SQLite::Transaction transaction(connection_->db);
    for (const char* table : {"parameters", "metrics", "phases", "windows"}) {
      connection_->db.exec("DELETE FROM " + std::string(table) +
                           " WHERE point IN (SELECT point FROM runs WHERE exit_status <> 0)");
    }
    connection_->db.exec("DELETE FROM runs WHERE exit_status <> 0");
    transaction.commit();
  });
}

void Database::each(const std::function<void(const Record&)>& use) const {
  translated(connection_->file, [&] {
    SQLite::Database& db = connection_->db;
    const int version = db.execAndGet("PRAGMA user_version").getInt();  // older where it is only read
    SQLite::Statement runs(db,
                           "SELECT point, name, seed, repetition, exit_status, error, scenario_hash, version, host, "
                           "started, wall_s, peak_rss_mb, " +
                               std::string(version < 2 ? "NULL, NULL" : "infeasible, warnings") +
                               (version < 3 ? ", NULL" : ", choices") + " FROM runs ORDER BY point");
    SQLite::Statement parameters(
        db, "SELECT name, value FROM parameters JOIN axes USING (name) WHERE point = ? ORDER BY position");
    SQLite::Statement metrics(db, "SELECT name, value FROM metrics WHERE point = ? ORDER BY name");
    SQLite::Statement phases(
        db, "SELECT phase, bytes, operations, busy_s, exposed_s FROM phases WHERE point = ? ORDER BY phase");
    SQLite::Statement windows(db, "SELECT before, after, length_s, count FROM windows WHERE point = ? ORDER BY 1, 2, 3");
    while (runs.executeStep()) {
      Record r = read_run(runs);
      rows(parameters, r.point,
           [&] { r.parameters.emplace_back(parameters.getColumn(0).getString(), column_value(parameters.getColumn(1))); });
      rows(metrics, r.point,
           [&] { r.metrics.emplace_back(metrics.getColumn(0).getString(), metrics.getColumn(1).getDouble()); });
      rows(phases, r.point, [&] {
        r.phases.push_back({phases.getColumn(0).getString(), phases.getColumn(1).getInt64(),
                            static_cast<std::uint64_t>(phases.getColumn(2).getInt64()), phases.getColumn(3).getDouble(),
                            phases.getColumn(4).getDouble()});
      });
      rows(windows, r.point, [&] {
        r.windows.push_back({windows.getColumn(0).getString(), windows.getColumn(1).getString(),
                             windows.getColumn(2).getDouble(),
                             static_cast<std::uint64_t>(windows.getColumn(3).getInt64())});
      });
      use(r);
    }
  });
}

void Database::remove(const std::filesystem::path& directory) {
  const std::string file = file_in(directory).string();
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file + suffix, ignored);
}

const std::set<std::string>& Database::metric_names() const { return connection_->metric_names; }

bool has_database(const std::filesystem::path& directory) {
  std::error_code ignored;
  return exists(file_in(directory), ignored);
}

}  // namespace photonrail::sweep
