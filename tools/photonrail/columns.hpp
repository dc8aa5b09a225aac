// A small table of plain text.
#pragma once

#include <string>
#include <vector>

namespace photonrail::command {

/// Rows of cells, two blanks between columns; the last cell of a row is not padded. All cells are ASCII but the last.
[[nodiscard]] std::string in_columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace photonrail::command
