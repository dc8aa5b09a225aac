#include "studies/sweep/tables.hpp"

#include "json/seal.hpp"
#include "report/replace_file.hpp"
#include "studies/sweep/notes.hpp"
#include "studies/table.hpp"

#include <algorithm>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

namespace photonrail::sweep {

namespace {

std::string cell_text(const Json& value) { return value.is_string() ? value.string() : value.canonical(); }

// The step time first, then the others by name.
std::vector<std::string> metric_columns(const Database& database) {
  const auto& known = database.metric_names();
  std::vector<std::string> names(known.begin(), known.end());
  for (const char* first : {"steady_iteration_s", "makespan_s"}) {
    const auto at = std::find(names.begin(), names.end(), first);
    if (at != names.end()) std::rotate(names.begin(), at, at + 1);
  }
  return names;
}

// A column for each name, whose value a record need not have.
template <class Value, class Text>
void add_columns(const std::vector<std::string>& names, std::vector<std::pair<std::string, Value>> Record::*values,
                 Text text, std::vector<studies::Column<Record>>& into) {
  for (const std::string& name : names) {
    into.push_back({name, [name, values, text](const Record& record) {
                      const auto& all = record.*values;
                      const auto at = std::find_if(all.begin(), all.end(), [&](const auto& v) { return v.first == name; });
                      return at == all.end() ? std::string() : text(at->second);
                    }});
  }
}

std::vector<studies::Column<Record>> columns_of(const Manifest& manifest, const std::vector<std::string>& metrics) {
  std::vector<studies::Column<Record>> columns{{"point", [](const Record& r) { return std::to_string(r.point); }},
                                               {"name", [](const Record& r) { return r.name; }}};
  add_columns(manifest.parameters, &Record::parameters, cell_text, columns);
  columns.insert(columns.end(), {{"seed", [](const Record& r) { return std::to_string(r.seed); }},
                                 {"repetition", [](const Record& r) { return std::to_string(r.repetition); }},
                                 {"status", [](const Record& r) { return std::string(r.status()); }},
                                 {"error", [](const Record& r) { return r.error; }},
                                 {"infeasible", [](const Record& r) { return r.remarks.infeasible; }},
                                 {"warnings", [](const Record& r) { return cell_of_lines(r.remarks.warnings); }},
                                 {"choices", [](const Record& r) { return cell_of_lines(r.remarks.choices); }},
                                 {"scenario_hash", [](const Record& r) { return r.scenario_hash; }},
                                 {"version", [](const Record& r) { return r.version; }}});
  add_columns(metrics, &Record::metrics, number_text, columns);
  return columns;
}

// Of a process that died while it wrote the tables.
void remove_leftovers(const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if ((name.starts_with("results.") || name.starts_with("notes.")) && name.find(".partial-") != std::string::npos)
      left.push_back(entry.path());
  }
  for (const auto& file : left) std::filesystem::remove(file, error);
}

}  // namespace

void write_tables(const std::filesystem::path& directory, const Manifest& manifest, const Database& database) {
  remove_leftovers(directory);
  const std::vector<studies::Column<Record>> columns = columns_of(manifest, metric_columns(database));
  std::uint32_t number = 0;
  SweepNotes notes(manifest);
  report::replace_file(directory / "results.jsonl", [&](std::ostream& lines) {
    report::replace_file(directory / "results.csv", [&](std::ostream& rows) {
      rows << studies::csv_head(columns);
      database.each([&](const Record& record) {  // once for both, since this is where the time goes
        rows << studies::csv_row(columns, record);
        lines << json::with_seal(to_line(record, manifest.hash), number++) << '\n';
        notes.add(record);
      });
    });
  });
  write_notes(directory, notes.all());
}

}  // namespace photonrail::sweep
