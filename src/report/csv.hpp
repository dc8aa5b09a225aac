// Tables as text (RFC 4180): fields in quotes may hold commas, newlines and doubled quotes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::report {

/// The rows, the first of which is the head. A quote that is not closed ends with the text.
[[nodiscard]] std::vector<std::vector<std::string>> parse_csv(std::string_view text);
/// The number that a cell is as a whole; none where it is something else.
[[nodiscard]] std::optional<double> number_in(std::string_view cell);

}  // namespace photonrail::report
