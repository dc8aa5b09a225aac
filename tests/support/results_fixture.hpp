// The database of a made-up sweep, in the tables that docs/reference/sweep.md describes.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace photonrail::test {

struct FixturePoint {
  std::map<std::string, std::variant<double, std::string>> parameters;
  std::uint64_t seed = 1;
  std::map<std::string, double> metrics;
  std::map<double, int> windows;     ///< dp->pp: length -> count
  std::optional<std::string> error;  ///< the point failed
};

inline constexpr const char* kFixtureTables = R"sql(
  PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA user_version=1;
  CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE axes(position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE runs(point INTEGER PRIMARY KEY, name TEXT NOT NULL, seed INTEGER NOT NULL, repetition INTEGER NOT NULL,
    status TEXT NOT NULL, exit_status INTEGER NOT NULL, error TEXT, scenario_hash TEXT NOT NULL, version TEXT NOT NULL,
    host TEXT NOT NULL, started TEXT NOT NULL, wall_s REAL NOT NULL, peak_rss_mb REAL NOT NULL);
  CREATE TABLE parameters(point INTEGER NOT NULL, name TEXT NOT NULL, value, PRIMARY KEY(point, name)) WITHOUT ROWID;
  CREATE TABLE metrics(point INTEGER NOT NULL, name TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY(point, name)) WITHOUT ROWID;
  CREATE TABLE phases(point INTEGER NOT NULL, phase TEXT NOT NULL, bytes INTEGER NOT NULL, operations INTEGER NOT NULL,
    busy_s REAL NOT NULL, exposed_s REAL NOT NULL, PRIMARY KEY(point, phase)) WITHOUT ROWID;
  CREATE TABLE windows(point INTEGER NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, length_s REAL NOT NULL,
    count INTEGER NOT NULL, PRIMARY KEY(point, before, after, length_s)) WITHOUT ROWID;
)sql";

/// Writes `folder`/results.db with so many points, of which `make` gives each.
inline void write_results(const std::filesystem::path& folder, const std::vector<std::string>& axes, std::size_t points,
                          const std::function<FixturePoint(std::size_t)>& make) {
  SQLite::Database database((folder / "results.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(kFixtureTables);
  SQLite::Transaction transaction(database);
  const auto insert = [&](const char* values) { return SQLite::Statement(database, std::string("INSERT INTO ") + values); };
  auto meta = insert("meta VALUES(?, ?)");
  auto axis = insert("axes VALUES(?, ?)");
  auto run = insert("runs VALUES(?, ?, ?, 0, ?, ?, ?, 'hash', '0.1.0', 'host', '2026-01-01T00:00:00Z', 0.1, 10)");
  auto parameter = insert("parameters VALUES(?, ?, ?)");
  auto metric = insert("metrics VALUES(?, ?, ?)");
  auto window = insert("windows VALUES(?, 'dp', 'pp', ?, ?)");
  const auto put = [](SQLite::Statement& statement, const auto&... values) {
    SQLite::bind(statement, values...);
    statement.exec();
    statement.reset();
  };
  put(meta, "schema", "photonrail.results/1");
  put(meta, "name", "made-up sweep");
  put(meta, "why", "to have one");
  put(meta, "points", std::to_string(points));
  for (std::size_t i = 0; i < axes.size(); ++i) put(axis, static_cast<int>(i), axes[i]);
  for (std::size_t i = 0; i < points; ++i) {
    const FixturePoint point = make(i);
    const auto number = static_cast<std::int64_t>(i);
    run.clearBindings();
    run.bind(1, number);
    run.bind(2, "point " + std::to_string(i));
    run.bind(3, static_cast<std::int64_t>(point.seed));
    run.bind(4, point.error ? "failed" : "done");
    run.bind(5, point.error ? 3 : 0);
    if (point.error) run.bind(6, *point.error);
    run.exec();
    run.reset();
    for (const auto& [name, value] : point.parameters) {
      std::visit([&, &name = name](const auto& v) { put(parameter, number, name, v); }, value);
    }
    for (const auto& [name, value] : point.metrics) put(metric, number, name, value);
    for (const auto& [length, count] : point.windows) put(window, number, length, count);
  }
  transaction.commit();
}

}  // namespace photonrail::test
