// Numbers and lists as Kineto writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats::kineto {

/// A non-negative whole number, also as 7.0 or 1e3; none when the text is anything else.
[[nodiscard]] std::optional<std::uint64_t> whole(std::string_view text);

/// A JSON number of microseconds, digit by digit: counted since 1970 they are too large for a double to keep nanoseconds.
/// What is finer is rounded. None beyond 4e15 us in size (the year 2096), or when the text is no number.
[[nodiscard]] std::optional<std::int64_t> to_nanoseconds(std::string_view microseconds);

/// Without one pair of double quotes around it.
[[nodiscard]] std::string unquoted(std::string_view text);

/// "[0, 1, ..., 7]" to "0", "1", "7": what is between brackets, commas and blanks, without "...".
[[nodiscard]] std::vector<std::string> words_of(std::string_view list);

/// Returns true when the words of a list are not all the same.
[[nodiscard]] bool differ(std::string_view list);

}  // namespace photonrail::formats::kineto
