// Tables of the records of a study: CSV (RFC 4180) and text for people.
#pragma once

#include "studies/study.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace photonrail::studies {

/// The cells with commas between them, in quotes where they need them, and a line break. A text that a spreadsheet would
/// evaluate has an apostrophe before it.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);
/// Two blanks between columns, numbers to the right. The first row is the head.
[[nodiscard]] std::string text_table(const std::vector<std::vector<std::string>>& rows);

template <class Record>
[[nodiscard]] std::vector<std::string> head_cells(const std::vector<Column<Record>>& columns) {
  std::vector<std::string> cells;
  for (const Column<Record>& column : columns) cells.push_back(column.name);
  return cells;
}

template <class Record>
[[nodiscard]] std::vector<std::string> row_cells(const std::vector<Column<Record>>& columns, const Record& record) {
  std::vector<std::string> cells;
  for (const Column<Record>& column : columns) cells.push_back(column.cell(record));
  return cells;
}

template <class Record>
[[nodiscard]] std::string csv_head(const std::vector<Column<Record>>& columns) {
  return csv_line(head_cells(columns));
}

template <class Record>
[[nodiscard]] std::string csv_row(const std::vector<Column<Record>>& columns, const Record& record) {
  return csv_line(row_cells(columns, record));
}

}  // namespace photonrail::studies
