// A small table of plain text.
#pragma once

#include "console.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace photonrail::command {

/// Rows of cells, two blanks between columns; the last cell of a row is not padded. All cells are ASCII but the last. No
/// line is longer than `width`, where words allow it: last cells go on below where they began, or where that leaves little
/// room near the left.
[[nodiscard]] std::string in_columns(const std::vector<std::vector<std::string>>& rows,
                                     std::size_t width = static_cast<std::size_t>(output_width()));
/// One line broken at blanks, so that no line is longer than `width`; those but the first begin with `hang` blanks.
[[nodiscard]] std::string hung(const std::string& line, std::size_t hang, std::size_t width);
/// The same for each line of a text, whose further lines begin two blanks behind it.
[[nodiscard]] std::string hung_lines(const std::string& text, std::size_t width = static_cast<std::size_t>(output_width()));

}  // namespace photonrail::command
