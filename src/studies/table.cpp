#include "studies/table.hpp"

#include "report/csv.hpp"
#include "report/text.hpp"

#include <algorithm>

namespace photonrail::studies {

namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return report::number_in(text).has_value();
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

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + cell(cells[i]);
  return line + "\n";
}

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], report::columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool right = &row != &rows.front() && is_number(row[i]);
      text += (i == 0 ? "" : "  ") + (right ? report::pad_left(row[i], widths[i]) : report::pad_right(row[i], widths[i]));
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace photonrail::studies
