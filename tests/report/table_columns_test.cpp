#include "report/table_columns.hpp"
#include "report/packed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using ParsedJson = nlohmann::json;
using report::Table;
using ::testing::ElementsAre;

std::string encoding(const ParsedJson& table, std::size_t column = 0) {
  return table["columns"][column]["data"]["encoding"];
}

TEST(TableColumns, OneValueIsAConstant) {
  Table table;
  table.rows = 3;
  for (std::size_t row = 0; row < 3; ++row) table.column("seed", "replicate").set(row, 7.0);
  table.column("error", "info");  // never set
  const ParsedJson packed = read_back(table.packed());
  EXPECT_EQ(packed["rows"], 3);
  EXPECT_EQ(packed["columns"][0]["role"], "replicate");
  EXPECT_EQ(encoding(packed), "constant");
  EXPECT_THAT(cells(packed, "seed"), ElementsAre(7.0, 7.0, 7.0));
  EXPECT_THAT(cells(packed, "error"), ElementsAre(nullptr, nullptr, nullptr));
}

TEST(TableColumns, FewValuesAreCodes) {
  Table table;
  table.rows = 4;
  table.column("delay", "parameter").set(0, 0.1);
  table.column("delay", "parameter").set(2, 0.1);
  table.column("delay", "parameter").set(3, -2.5);
  table.column("mixed", "parameter").set(0, "all \"of\" it");
  table.column("mixed", "parameter").set(1, 8.0);
  table.column("mixed", "parameter").set(3, "all \"of\" it");
  const ParsedJson packed = read_back(table.packed());
  EXPECT_EQ(encoding(packed, 0), "codes8");
  EXPECT_THAT(cells(packed, "delay"), ElementsAre(0.1, nullptr, 0.1, -2.5));
  EXPECT_THAT(cells(packed, "mixed"), ElementsAre("all \"of\" it", 8.0, nullptr, "all \"of\" it"));
}

TEST(TableColumns, ManyNumbersAreExact) {
  Table table;
  table.rows = 1000;
  for (std::size_t row = 1; row < 1000; ++row)
    table.column("makespan_s", "metric").set(row, 1.0 / static_cast<double>(row));
  const ParsedJson packed = read_back(table.packed());
  EXPECT_EQ(encoding(packed), "float64");
  const auto values = cells(packed, "makespan_s");
  EXPECT_EQ(values[0], nullptr);
  for (std::size_t row = 1; row < 1000; ++row) ASSERT_EQ(values[row], 1.0 / static_cast<double>(row));
}

TEST(TableColumns, OfAHugeTableSevenDigitsStay) {
  report::Column column("makespan_s", "metric");
  for (std::size_t row = 0; row < 1000; ++row) column.set(row, 1.0 / static_cast<double>(row + 1));
  const ParsedJson packed = {{"rows", 1000}, {"columns", {read_back(column.packed(1000, false))}}};
  EXPECT_EQ(encoding(packed), "float32");
  const auto values = cells(packed, "makespan_s");
  for (std::size_t row = 0; row < 1000; ++row)
    ASSERT_FLOAT_EQ(values[row].get<float>(), 1.0F / static_cast<float>(row + 1));
}

TEST(TableColumns, ManyTextsAreWiderCodes) {
  Table table;
  table.rows = 70'000;
  for (std::size_t row = 0; row < table.rows; ++row) {
    table.column("few", "info").set(row, std::to_string(row % 300));
    table.column("name", "info").set(row, "point " + std::to_string(row));
  }
  const ParsedJson packed = read_back(table.packed());
  EXPECT_EQ(encoding(packed, 0), "codes16");  // 300 > 256
  EXPECT_EQ(encoding(packed, 1), "codes32");  // 70,000 > 65,536
  EXPECT_EQ(cells(packed, "few")[69'999], "99");
  EXPECT_EQ(cells(packed, "name")[69'999], "point 69999");
}

}  // namespace
}  // namespace photonrail::test
