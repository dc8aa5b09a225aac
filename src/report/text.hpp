// Text for people in columns. A column is one code point: enough for the glyphs that the table draws.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::report {

[[nodiscard]] std::size_t columns(std::string_view utf8);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);

/// At most `width` columns: what is too long loses its front to a "…", as it is more often its end that says which one it
/// is. Control characters become '?'. REQUIRES: width >= 3.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);

/// The same of names beside each other: different ones that would lose what they differ in begin with "…" at the word where
/// they do.
[[nodiscard]] std::vector<std::string> fit_apart(const std::vector<std::string>& names, std::size_t width);

struct Unit {
  const char* name;
  double size;
};
/// Four significant digits in the smallest unit in which the rounded number stays below 1000. Integers of the smallest
/// unit have no decimals when `whole`.
[[nodiscard]] std::string in_units(double value, std::span<const Unit> units, bool whole);

/// The text as it stands in HTML and SVG, in an attribute too.
[[nodiscard]] std::string escaped(std::string_view text);

/// Lines of equal letters for an HTML page, with letters as small as the widest line needs to fit the window, and a scroll
/// bar where that would be too small to read.
[[nodiscard]] std::string preformatted(const std::string& text);

/// printf of one number.
[[nodiscard]] std::string number(const char* format, double value);

}  // namespace photonrail::report
