#include "core/csv.hpp"

#include "core/number_in.hpp"

#include <utility>

namespace photonrail::core {

namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return number_in<double>(text).has_value();
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

}  // namespace

std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        row.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        row.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      rows.push_back(std::exchange(row, std::vector<std::string>(1)));
    } else if (c != '\r') {
      row.back() += c;
    }
  }
  if (row.size() > 1 || !row.front().empty()) rows.push_back(std::move(row));
  return rows;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + cell(cells[i]);
  return line + "\n";
}

}  // namespace photonrail::core
