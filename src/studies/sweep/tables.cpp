#include "studies/sweep/tables.hpp"

#include "json/seal.hpp"
#include "report/replace_file.hpp"

#include <algorithm>
#include <charconv>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace photonrail::sweep {

namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0.0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size();
}

// A spreadsheet would evaluate a text that begins so; an apostrophe before it makes it a text.
bool begins_a_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r\n").find(text.front()) != std::string_view::npos && !is_number(text);
}

// RFC 4180: quotes where a cell has a comma, a quote or a line break.
std::string cell(std::string_view text) {
  const std::string inert = begins_a_formula(text) ? "'" + std::string(text) : std::string();
  if (!inert.empty()) text = inert;
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

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

// The cell of each column, in which a record need not have a value.
template <class Value, class Text>
void append(std::string& row, const std::vector<std::string>& columns,
            const std::vector<std::pair<std::string, Value>>& values, const Text& text) {
  for (const std::string& column : columns) {
    const auto at = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == column; });
    row += ",";
    if (at != values.end()) row += cell(text(at->second));
  }
}

std::string header_of(const Manifest& manifest, const std::vector<std::string>& metrics) {
  std::string header = "point,name";
  for (const auto& name : manifest.parameters) header += "," + cell(name);
  header += ",seed,repetition,status,error,infeasible,warnings,choices,scenario_hash,version";
  for (const auto& name : metrics) header += "," + cell(name);
  return header;
}

std::string row_of(const Record& record, const Manifest& manifest, const std::vector<std::string>& metrics) {
  std::string row = std::to_string(record.point) + "," + cell(record.name);
  append(row, manifest.parameters, record.parameters, cell_text);
  row += "," + std::to_string(record.seed) + "," + std::to_string(record.repetition) + "," + record.status() + "," +
         cell(record.error) + "," + cell(record.remarks.infeasible) + "," + cell(cell_of_lines(record.remarks.warnings)) +
         "," + cell(cell_of_lines(record.remarks.choices)) + "," + record.scenario_hash + "," + record.version;
  append(row, metrics, record.metrics, number_text);
  return row;
}

// Of a process that died while it wrote the tables.
void remove_leftovers(const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("results.") && name.find(".partial-") != std::string::npos) left.push_back(entry.path());
  }
  for (const auto& file : left) std::filesystem::remove(file, error);
}

}  // namespace

void write_tables(const std::filesystem::path& directory, const Manifest& manifest, const Database& database) {
  remove_leftovers(directory);
  const std::vector<std::string> metrics = metric_columns(database);
  std::uint32_t number = 0;
  report::replace_file(directory / "results.jsonl", [&](std::ostream& lines) {
    report::replace_file(directory / "results.csv", [&](std::ostream& rows) {
      rows << header_of(manifest, metrics) << '\n';
      database.each([&](const Record& record) {  // once for both, since this is where the time goes
        rows << row_of(record, manifest, metrics) << '\n';
        lines << json::with_seal(to_line(record, manifest.hash), number++) << '\n';
      });
    });
  });
}

}  // namespace photonrail::sweep
