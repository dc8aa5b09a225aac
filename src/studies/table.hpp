// Tables of the records of a study: the cells of its columns (report::in_columns() makes a text of them), and CSV.
#pragma once

#include "core/csv.hpp"
#include "studies/study.hpp"

#include <string>
#include <vector>

namespace photonrail::studies {

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
  return core::csv_line(head_cells(columns));
}

template <class Record>
[[nodiscard]] std::string csv_row(const std::vector<Column<Record>>& columns, const Record& record) {
  return core::csv_line(row_cells(columns, record));
}

}  // namespace photonrail::studies
