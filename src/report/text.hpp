// Text for people in columns. A column is one code point: enough for the glyphs that the table draws.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::report {

inline constexpr std::size_t kTerminalColumns = 80;  ///< what every table fits

[[nodiscard]] std::size_t columns(std::string_view utf8);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);

/// `text` with a '?' in place of each control character that is not among `but`: what a file calls something must not speak
/// to the terminal.
[[nodiscard]] std::string printable(std::string_view text, std::string_view but = {});

/// At most `width` columns: what is too long loses its front to a "…", as it is more often its end that says which one it
/// is. Control characters become '?'. REQUIRES: width >= 3.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);

/// The same of names beside each other: different ones that would lose what they differ in begin with "…" at the word where
/// they do.
[[nodiscard]] std::vector<std::string> fit_apart(const std::vector<std::string>& names, std::size_t width);

/// Rows of cells as columns, two blanks apart: the first flush left, the others right; the first row is the head. Where
/// they are wider than `width`, names of the first column lose their front; what is still too wide is turned, each row a
/// column, or comes in blocks of columns below each other, whichever takes fewer lines; one or two rows are turned.
/// REQUIRES: rows are equally long.
[[nodiscard]] std::string in_columns(const std::vector<std::vector<std::string>>& rows,
                                     std::size_t width = kTerminalColumns);

struct Unit {
  const char* name;
  double size;
};
/// Four significant digits in the smallest unit in which the rounded number stays below 1000. Integers of the smallest
/// unit have no decimals when `whole`.
[[nodiscard]] std::string in_units(double value, std::span<const Unit> units, bool whole);

/// The text as it stands in HTML and SVG, in an attribute too.
[[nodiscard]] std::string escaped(std::string_view text);

/// printf of one number.
[[nodiscard]] std::string number(const char* format, double value);

}  // namespace photonrail::report
