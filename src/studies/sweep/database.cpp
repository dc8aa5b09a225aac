#include "studies/sweep/database.hpp"

#include "report/record_check.hpp"
#include "studies/sweep/record_reader.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>
#include <sqlite3.h>

#include <utility>

namespace photonrail::sweep {

namespace {

constexpr int kSchemaVersion = 4;         // 1: runs had no infeasible and no warnings; 2: no choices; 3: no checks
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
constexpr const char* kChecks = "CREATE TABLE IF NOT EXISTS checks(point INTEGER PRIMARY KEY, checksum INTEGER NOT NULL)";

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
                        "choose another folder for --out, or remove it to make it again; nothing was changed");
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

// A row on its way into a table, and its hash.
class NewRow {
 public:
  NewRow(SQLite::Statement& statement, report::RecordTable table, std::int64_t point)
      : statement_(statement), hash_(table) {
    statement_.reset();
    statement_.bind(1, point);
  }
  template <class Value>
  NewRow& put(const Value& value) {
    statement_.bind(++at_, value);
    hash_.add(value);
    return *this;
  }
  NewRow& put_json(const Json& value) {
    if (value.is_double()) return put(value.number());
    if (value.is_integer() && !(value.is_natural() && value.natural() > INT64_MAX))
      return put(static_cast<std::int64_t>(value.integer()));
    return put(value.is_string() ? value.string() : value.canonical());
  }
  NewRow& put_or_null(bool there, const std::string& value) {
    if (there) return put(value);
    statement_.bind(++at_);
    hash_.add_null();
    return *this;
  }
  /// How many rows there are more.
  int insert() { return statement_.exec(); }
  [[nodiscard]] std::uint64_t hash() const { return hash_.value(); }

 private:
  SQLite::Statement& statement_;
  report::RowHash hash_;
  int at_ = 1;
};

std::int64_t signed_bits(std::uint64_t x) { return static_cast<std::int64_t>(x); }

}  // namespace

struct Database::Connection {
  std::filesystem::path file;
  SQLite::Database db;
  std::uint64_t points;
  bool is_mended = false;
  std::set<std::string> metric_names;  // a scan of all metrics when it is opened, and none after

  Connection(std::filesystem::path path, const Manifest& manifest, Access access)
      : file(std::move(path)), db(open(file, access)), points(manifest.points) {
    const int version = db.execAndGet("PRAGMA user_version").getInt();
    if (version == 0 && access == Access::kWrite && db.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0)
      create(manifest);
    else
      require_known(version);
    if (const report::DatabaseDamage damage = report::find_damage(db, version); damage.any())
      throw DamagedDatabase(file.string(), damage.text(), report::kDamageHint);
    if (meta("sweep_hash") != manifest.hash)
      throw ConfigError(file.string(), "is of another sweep than manifest.json",
                        "choose another folder for --out; nothing was changed");
    if (access == Access::kRead) return;
    if (version < kSchemaVersion && version > 0) upgrade(version);
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

  // Adds the columns that versions since then have, and checksums of what is there.
  void upgrade(int version) {
    SQLite::Transaction transaction(db);
    if (version < 2) db.exec("ALTER TABLE runs ADD COLUMN infeasible TEXT");
    if (version < 2) db.exec("ALTER TABLE runs ADD COLUMN warnings TEXT");
    if (version < 3) db.exec("ALTER TABLE runs ADD COLUMN choices TEXT");
    db.exec(kChecks);
    db.exec("DELETE FROM checks");
    for (const auto& [point, sum] : report::record_sums(db)) put_check(point, sum);
    put_check(report::kPointOfHead, report::head_sum(db));
    db.exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
    transaction.commit();
  }

  void create(const Manifest& manifest) {
    db.exec("PRAGMA journal_mode = WAL");
    SQLite::Transaction transaction(db);
    db.exec(kTables);
    db.exec(kChecks);
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
    put("varied", json::Json(std::vector<std::string>(manifest.varied.begin(), manifest.varied.end())).canonical());
    put("points", signed_bits(manifest.points));
    SQLite::Statement axis(db, "INSERT INTO axes VALUES(?, ?)");
    for (std::size_t i = 0; i < manifest.parameters.size(); ++i) {
      SQLite::bind(axis, static_cast<std::int64_t>(i), manifest.parameters[i]);
      axis.exec();
      axis.reset();
    }
    put_check(report::kPointOfHead, report::head_sum(db));
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
    SQLite::Statement run, parameter, metric, phase, window, check;
    explicit Inserts(SQLite::Database& db)
        : run(db, "INSERT OR IGNORE INTO runs VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
          parameter(db, "INSERT INTO parameters VALUES(?, ?, ?)"),
          metric(db, "INSERT INTO metrics VALUES(?, ?, ?)"),
          phase(db, "INSERT INTO phases VALUES(?, ?, ?, ?, ?, ?)"),
          window(db, "INSERT INTO windows VALUES(?, ?, ?, ?, ?)"),
          check(db, "INSERT OR REPLACE INTO checks VALUES(?, ?)") {}
  };
  std::unique_ptr<Inserts> inserts;

  bool add(const Record& r) {
    using report::RecordTable;
    if (inserts == nullptr) inserts = std::make_unique<Inserts>(db);
    SQLite::Transaction transaction(db);
    const auto point = static_cast<std::int64_t>(r.point);
    std::uint64_t sum = 0;
    const auto insert = [&](NewRow&& row) {
      const bool is_new = row.insert() > 0;
      sum += row.hash();
      return is_new;
    };
    const auto row = [&](SQLite::Statement& statement, RecordTable table) { return NewRow(statement, table, point); };
    if (!insert(run_row(r))) return false;
    for (const auto& [name, value] : r.parameters)
      insert(std::move(row(inserts->parameter, RecordTable::kParameters).put(name).put_json(value)));
    for (const auto& [name, value] : r.metrics) {
      insert(std::move(row(inserts->metric, RecordTable::kMetrics).put(name).put(value)));
      metric_names.insert(name);
    }
    for (const Phase& p : r.phases) {
      NewRow phase = row(inserts->phase, RecordTable::kPhases);
      phase.put(p.name).put(p.bytes).put(signed_bits(p.operations)).put(p.busy_s).put(p.exposed_s);
      insert(std::move(phase));
    }
    for (const Window& w : r.windows) {
      NewRow window = row(inserts->window, RecordTable::kWindows);
      window.put(w.before).put(w.after).put(w.length_s).put(signed_bits(w.count));
      insert(std::move(window));
    }
    put_check(point, sum);
    transaction.commit();
    return true;
  }

  NewRow run_row(const Record& r) {
    const Provenance& made = r.provenance;
    const Remarks& remarks = r.remarks;
    NewRow row(inserts->run, report::RecordTable::kRuns, r.point);
    row.put(r.name).put(signed_bits(r.seed)).put(static_cast<std::int64_t>(r.repetition)).put(std::string(r.status()));
    row.put(static_cast<std::int64_t>(r.exit_status)).put_or_null(r.exit_status != 0, r.error);
    row.put(r.scenario_hash).put(r.version).put(made.host).put(made.started).put(made.wall_s).put(made.peak_rss_mb);
    row.put_or_null(!remarks.infeasible.empty(), remarks.infeasible);
    row.put_or_null(!remarks.warnings.empty(), lines_text(remarks.warnings));
    row.put_or_null(!remarks.choices.empty(), lines_text(remarks.choices));
    return row;
  }

  void put_check(std::int64_t point, std::uint64_t sum) {
    if (inserts == nullptr) inserts = std::make_unique<Inserts>(db);
    SQLite::Statement& check = inserts->check;
    check.reset();
    SQLite::bind(check, point, signed_bits(sum));
    check.exec();
  }
};

namespace {

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

// The records of a damaged file that are as they were written; as many as can be read.
void each_sound_record(const std::filesystem::path& file, std::uint64_t points,
                       const std::function<void(const Record&)>& use) {
  SQLite::Database db = open(file, Database::Access::kRead);
  RecordReader reader(db, kSchemaVersion, true);
  SQLite::Statement check(db, "SELECT checksum FROM checks WHERE point = ?");
  for (std::uint64_t point = 0; point < points; ++point) {
    try {
      const auto number = static_cast<std::int64_t>(point);
      check.reset();
      check.bind(1, number);
      if (!check.executeStep()) continue;
      if (signed_bits(report::record_sum(db, number)) != check.getColumn(0).getInt64()) continue;
      if (const auto record = reader.read(number)) use(*record);
    } catch (const SQLite::Exception&) {  // this one cannot be read
    }
  }
}

}  // namespace

Database Database::mended(const std::filesystem::path& directory, const Manifest& manifest, const DamageObserver& told) {
  try {
    return {directory, manifest, Access::kWrite};
  } catch (const DamagedDatabase& damage) {
    told(damage.where() + ": " + damage.problem());
  }
  const auto file = file_in(directory);
  const auto aside = directory / "results.db.damaged";
  std::vector<Record> sound;
  try {
    each_sound_record(file, manifest.points, [&](const Record& record) { sound.push_back(record); });
  } catch (const SQLite::Exception&) {  // nothing can be read
  }
  std::error_code error;
  std::filesystem::rename(file, aside, error);
  if (error) throw ConfigError(file.string(), "cannot be moved away: " + error.message(), "the folder must be writable");
  remove(directory);  // the log of the old file
  Database database(directory, manifest, Access::kWrite);
  for (const Record& record : sound) database.add(record);
  database.connection_->is_mended = true;
  return database;
}

bool Database::is_mended() const { return connection_->is_mended; }

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

void Database::remove_failed() { remove_runs("exit_status <> 0"); }

void Database::remove_not_run() {
  remove_runs(
      "exit_status = 0 AND infeasible IS NOT NULL AND point NOT IN (SELECT point FROM metrics WHERE name = 'makespan_s')");
}

void Database::remove_runs(const std::string& condition) {
  translated(connection_->file, [&] {
    SQLite::Transaction transaction(connection_->db);
    connection_->db.exec("CREATE TEMP TABLE removed AS SELECT point FROM runs WHERE " + condition);
    for (const char* table : {"parameters", "metrics", "phases", "windows", "checks", "runs"})
      connection_->db.exec("DELETE FROM " + std::string(table) + " WHERE point IN (SELECT point FROM removed)");
    connection_->db.exec("DROP TABLE removed");
    transaction.commit();
  });
}

void Database::each(const std::function<void(const Record&)>& use) const {
  translated(connection_->file, [&] {
    const int version = connection_->db.execAndGet("PRAGMA user_version").getInt();  // older where it is only read
    RecordReader(connection_->db, version, false).each(use);
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
