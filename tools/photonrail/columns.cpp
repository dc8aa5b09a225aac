#include "columns.hpp"

#include <algorithm>
#include <string_view>

namespace photonrail::command {

namespace {

// Code points of UTF-8.
std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string unbroken(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      text += row[c];
      if (c + 1 < row.size()) text += std::string(widths[c] + 2 - row[c].size(), ' ');
    }
    text += '\n';
  }
  return text;
}

// Where the line ends at the last: at a blank, or behind a comma of a word that is too long. npos: it cannot be broken.
std::size_t end_of_line(std::string_view line, std::size_t width) {
  const std::size_t begin = line.find_first_not_of(' ');
  std::size_t end = std::string_view::npos;
  for (const char* mark : {" ", ","}) {
    for (std::size_t at = line.find(*mark, begin); at != std::string_view::npos; at = line.find(*mark, at + 1)) {
      if (letters(line.substr(0, at)) >= width) break;
      end = at + (*mark == ',' ? 1 : 0);
    }
    if (end != std::string_view::npos) return end;
  }
  return line.find(' ', begin);
}

}  // namespace

std::string hung(const std::string& line, std::size_t hang, std::size_t width) {
  std::string text;
  std::string rest = line;
  while (letters(rest) > width) {
    const std::size_t end = end_of_line(rest, width);
    const std::size_t next = end == std::string::npos ? end : rest.find_first_not_of(' ', end);
    if (next == std::string::npos) break;
    text += rest.substr(0, end) + "\n";
    rest = std::string(hang, ' ') + rest.substr(next);
  }
  return text + rest;
}

std::string hung_lines(const std::string& text, std::size_t width) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t begin = line.find_first_not_of(' ');
    all += hung(line, (begin == std::string::npos ? 0 : begin) + 2, width) + "\n";
    at = end + 1;
  }
  return all;
}

std::string in_columns(const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  constexpr std::size_t kLeft = 6;
  std::size_t last = 0;  // where last cells begin
  const std::string wide = unbroken(rows);
  std::string text;
  std::size_t at = 0;
  for (const auto& row : rows) {
    const std::size_t end = wide.find('\n', at);
    const std::string line = wide.substr(at, end - at);
    at = end + 1;
    last = row.empty() ? 0 : line.size() - row.back().size();
    text += hung(line, last < width / 2 ? last : kLeft, width) + "\n";
  }
  return text;
}

}  // namespace photonrail::command
