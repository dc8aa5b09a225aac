#include "report/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

report::Chart two_rows() {
  report::Chart chart;
  chart.title = "two <rows>";
  chart.kinds = {{"F", "forward", "#0000ff"}, {"B", "backward", "#00ff00"}};
  chart.unit = Duration{10};
  chart.rows = {{"a", {{Time{}, Time{10}, 0, 0, 0}, {Time{30}, Time{50}, 1, 12, 0}}},
                {"longer", {{Time{10}, Time{20}, 0, 3, 1}}}};
  return chart;
}

TEST(Chart, TextHasARowEachAndACellAUnit) {
  // The widest label, "F3.1", has four letters: cells of five. The bar of two units ends at 50, the last cell.
  EXPECT_EQ(report::chart_text(two_rows()),
            "two <rows>\n"
            "     a  F0   .    .    B12------\n"
            "longer  .    F3.1 .    .    .\n"
            "F forward, B backward\n");
}

TEST(Chart, ABarShorterThanAUnitHasItsCell) {
  report::Chart chart = two_rows();
  chart.rows = {{"a", {{Time{25}, Time{27}, 0, 0, 0}}}};
  EXPECT_THAT(report::chart_text(chart), HasSubstr("a  .  .  F0\n"));
}

TEST(Chart, SvgPutsBarsOnTheAxis) {
  const std::string svg = report::chart_svg(two_rows());
  EXPECT_THAT(svg, StartsWith("<svg "));
  EXPECT_THAT(svg, HasSubstr("two &lt;rows&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<rows>")));
  // 20 pixels a unit from x = 70; rows 22 apart from y = 30. The bar at 30 to 50 of unit 10: x = 70 + 60, 40 wide.
  EXPECT_THAT(svg, HasSubstr("<rect x=\"130\" y=\"30\" width=\"40\" height=\"20\" fill=\"#00ff00\" fill-opacity=\"1\""));
  EXPECT_THAT(svg, HasSubstr("<title>backward 12</title>"));
  // The last of the parts is paler.
  EXPECT_THAT(svg, HasSubstr("<rect x=\"90\" y=\"52\" width=\"20\" height=\"20\" fill=\"#0000ff\" fill-opacity=\"0.33\""));
  EXPECT_THAT(svg, HasSubstr("<title>forward 3.1</title>"));
}

TEST(Chart, OfNothingIsALegend) {
  report::Chart chart = two_rows();
  chart.rows.clear();
  chart.title.clear();
  EXPECT_EQ(report::chart_text(chart), "F forward, B backward\n");
  EXPECT_THAT(report::chart_svg(chart), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace photonrail
