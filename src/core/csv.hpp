// Tables as text (RFC 4180): fields in quotes may hold commas, newlines and doubled quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace photonrail::core {

/// The rows, the first of which is the head. A quote that is not closed ends with the text.
[[nodiscard]] std::vector<std::vector<std::string>> parse_csv(std::string_view text);
/// The cells with commas between them, in quotes where they need them, and a line break. A text that a spreadsheet would
/// evaluate has an apostrophe before it.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);

}  // namespace photonrail::core
