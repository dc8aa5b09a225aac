// Tables for a terminal: as they are, turned, or in blocks of columns.
#include "report/text.hpp"

#include <algorithm>
#include <numeric>

namespace photonrail::report {

namespace {

using CellRows = std::vector<std::vector<std::string>>;

constexpr std::size_t kGap = 2;         // blanks between columns
constexpr std::size_t kMaxName = 30;    // columns of a name that had to lose its front, or as many as there are
constexpr std::size_t kFewRows = 3;     // with the head: these are turned where they then fit
constexpr std::size_t kMaxTurned = 22;  // the same of a row's name that became the head of a column

std::vector<std::size_t> widths_of(const CellRows& rows) {
  std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], columns(row[c]));
  }
  return widths;
}

std::size_t sum_of(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), widths.empty() ? 0 : kGap * (widths.size() - 1));
}

std::string plain(const CellRows& rows) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += c == 0 ? pad_right(row[c], widths[c]) : std::string(kGap, ' ') + pad_left(row[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

// Shortens names of the first column to no more than `most` columns, told apart where they differ.
CellRows with_short_names(CellRows rows, std::size_t most) {
  std::vector<std::string> names;
  for (std::size_t r = 1; r < rows.size(); ++r) names.push_back(rows[r][0]);
  names = fit_apart(names, most);
  for (std::size_t r = 1; r < rows.size(); ++r) rows[r][0] = names[r - 1];
  return rows;
}

CellRows turned(const CellRows& rows) {
  CellRows sides(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) sides[c].push_back(row[c]);
  }
  return sides;
}

// Returns the first column of each block that fits beside column 0; its last entry is the number of columns.
std::vector<std::size_t> block_starts(const std::vector<std::size_t>& widths, std::size_t width) {
  std::vector<std::size_t> starts{1};
  std::size_t used = widths[0];
  for (std::size_t c = 1; c < widths.size(); ++c) {
    if (c > starts.back() && used + kGap + widths[c] > width) {
      starts.push_back(c);
      used = widths[0];
    }
    used += kGap + widths[c];
  }
  starts.push_back(widths.size());
  return starts;
}

std::string in_blocks(const CellRows& rows, const std::vector<std::size_t>& starts) {
  std::string text;
  for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
    CellRows block;
    for (const auto& row : rows) {
      block.push_back({row[0]});
      for (std::size_t c = starts[b]; c < starts[b + 1]; ++c) block.back().push_back(row[c]);
    }
    text += (b == 0 ? "" : "\n") + plain(block);
  }
  return text;
}

}  // namespace

std::string in_columns(const CellRows& rows, std::size_t width) {
  if (rows.empty() || rows.front().empty() || sum_of(widths_of(rows)) <= width) return plain(rows);
  const std::vector<std::size_t> all = widths_of(rows);
  const std::size_t others = sum_of(all) - all[0];
  const CellRows named = with_short_names(rows, std::max(kMaxName, width > others ? width - others : 0));
  const std::vector<std::size_t> widths = widths_of(named);
  if (sum_of(widths) <= width) return plain(named);
  const CellRows whole = turned(rows);
  if (rows.size() <= kFewRows && sum_of(widths_of(whole)) <= width) return plain(whole);
  const CellRows sides = turned(with_short_names(rows, kMaxTurned));
  const std::vector<std::size_t> starts = block_starts(widths, width);
  const std::vector<std::size_t> turned_starts = block_starts(widths_of(sides), width);
  const std::size_t lines = (starts.size() - 1) * (rows.size() + 1);
  const std::size_t turned_lines = (turned_starts.size() - 1) * (sides.size() + 1);
  const bool few = rows.size() <= kFewRows && turned_starts.size() == 2;
  return few || turned_lines <= lines ? in_blocks(sides, turned_starts) : in_blocks(named, starts);
}

}  // namespace photonrail::report
