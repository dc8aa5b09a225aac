#include "studies/sweep/record_reader.hpp"

namespace photonrail::sweep {

namespace {

Json column_value(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  return column.getString();
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

// Runs `query` for a point and calls `use` for each of its rows.
template <class Use>
void rows(SQLite::Statement& query, std::uint32_t point, const Use& use) {
  query.reset();
  query.bind(1, point);
  while (query.executeStep()) use();
}

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

std::string runs_query(int version, bool one) {
  return "SELECT point, name, seed, repetition, exit_status, error, scenario_hash, version, host, started, wall_s, "
         "peak_rss_mb, " +
         std::string(version < 2 ? "NULL, NULL" : "infeasible, warnings") + (version < 3 ? ", NULL" : ", choices") +
         " FROM runs " + (one ? "WHERE point = ?" : "ORDER BY point");
}

// One record is read alone where the file may be damaged, `axes` too.
std::string parameters_query(bool one) {
  return std::string("SELECT name, value FROM parameters ") + (one ? "" : "JOIN axes USING (name) ") + "WHERE point = ?" +
         (one ? "" : " ORDER BY position");
}

}  // namespace

// One line each: a warning has no line break (lines_text() sees to it).
std::string lines_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    for (const char c : line) text += c == '\n' ? ' ' : c;
  }
  return text;
}

RecordReader::RecordReader(SQLite::Database& database, int version, bool one)
    : runs_(database, runs_query(version, one)),
      parameters_(database, parameters_query(one)),
      metrics_(database, "SELECT name, value FROM metrics WHERE point = ? ORDER BY name"),
      phases_(database, "SELECT phase, bytes, operations, busy_s, exposed_s FROM phases WHERE point = ? ORDER BY phase"),
      windows_(database, "SELECT before, after, length_s, count FROM windows WHERE point = ? ORDER BY 1, 2, 3") {}

void RecordReader::each(const std::function<void(const Record&)>& use) {
  runs_.reset();
  while (runs_.executeStep()) use(take_row());
}

std::optional<Record> RecordReader::read(std::int64_t point) {
  runs_.reset();
  runs_.bind(1, point);
  return runs_.executeStep() ? std::optional(take_row()) : std::nullopt;
}

Record RecordReader::take_row() {
  Record r = read_run(runs_);
  rows(parameters_, r.point,
       [&] { r.parameters.emplace_back(parameters_.getColumn(0).getString(), column_value(parameters_.getColumn(1))); });
  rows(metrics_, r.point,
       [&] { r.metrics.emplace_back(metrics_.getColumn(0).getString(), metrics_.getColumn(1).getDouble()); });
  rows(phases_, r.point, [&] {
    r.phases.push_back({phases_.getColumn(0).getString(), phases_.getColumn(1).getInt64(),
                        static_cast<std::uint64_t>(phases_.getColumn(2).getInt64()), phases_.getColumn(3).getDouble(),
                        phases_.getColumn(4).getDouble()});
  });
  rows(windows_, r.point, [&] {
    r.windows.push_back({windows_.getColumn(0).getString(), windows_.getColumn(1).getString(),
                         windows_.getColumn(2).getDouble(), static_cast<std::uint64_t>(windows_.getColumn(3).getInt64())});
  });
  return r;
}

}  // namespace photonrail::sweep
