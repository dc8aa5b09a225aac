#include "core/csv.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace photonrail {
namespace {

TEST(Csv, FieldsInQuotesHoldAnything) {
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(core::parse_csv(""), Rows{});
  EXPECT_EQ(core::parse_csv("a,b\r\n1,\n"), (Rows{{"a", "b"}, {"1", ""}}));
  EXPECT_EQ(core::parse_csv("\"a,\"\"b\"\"\nc\",d"), (Rows{{"a,\"b\"\nc", "d"}}));
}

// RFC 4180, and an apostrophe before what a spreadsheet would evaluate; a number with a sign is none of that.
TEST(Csv, ALineIsReadBackAsItsCells) {
  const std::vector<std::string> cells{"a,\"b\"", "line\nbreak", "", "-1.5", "+2", "plain"};
  EXPECT_EQ(core::csv_line({cells[0], "x"}), "\"a,\"\"b\"\"\",x\n");
  EXPECT_EQ(core::parse_csv(core::csv_line(cells)), (std::vector<std::vector<std::string>>{cells}));
  EXPECT_EQ(core::csv_line({"=1+1", "@x", "-y"}), "'=1+1,'@x,'-y\n");
}

}  // namespace
}  // namespace photonrail
