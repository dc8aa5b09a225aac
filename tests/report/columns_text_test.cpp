#include "report/text.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace photonrail::report {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t most = 0;
  for (std::string line; std::getline(lines, line);) most = std::max(most, columns(line));
  return most;
}

TEST(InColumns, StaysAsItIsWhereItFits) { EXPECT_EQ(in_columns({{"name", "a"}, {"x", "12"}}), "name   a\nx     12\n"); }

TEST(InColumns, NamesLoseTheirFront) {
  // 100 letters and a number: the end of a name tells which one it is.
  const std::string text = in_columns({{"name", "a"}, {std::string(100, 'x') + "end", "12"}});
  EXPECT_LE(widest_line(text), 80u);
  EXPECT_THAT(text, testing::HasSubstr("xend  12"));
  EXPECT_THAT(text, testing::HasSubstr("…"));
}

TEST(InColumns, FewRowsOfManyColumnsAreTurned) {
  Rows rows(2);
  for (int c = 0; c < 15; ++c) {
    rows[0].push_back("column " + std::to_string(c));
    rows[1].push_back(std::to_string(1000 + c));
  }
  const std::string text = in_columns(rows);
  EXPECT_LE(widest_line(text), 80u);
  EXPECT_THAT(text, testing::StartsWith("column 0   1000\ncolumn 1   1001\n"));
}

TEST(InColumns, ManyRowsOfManyColumnsComeInBlocks) {
  Rows rows(40);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (int c = 0; c < 12; ++c) rows[r].push_back(r == 0 ? "column " + std::to_string(c) : std::to_string(100 * c));
  }
  const std::string text = in_columns(rows);
  EXPECT_LE(widest_line(text), 80u);
  EXPECT_THAT(text, testing::HasSubstr("\n\ncolumn 0"));  // the first column begins each block
  for (int c = 1; c < 12; ++c) EXPECT_THAT(text, testing::HasSubstr("column " + std::to_string(c)));
}

}  // namespace
}  // namespace photonrail::report
