// A chart of bars in time with a row for each processor, link or rank: as text for a terminal, and as SVG.
#pragma once

#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::report {

/// What bars of a kind stand for.
struct ChartKind {
  std::string mark;    ///< before the number, in text
  std::string name;    ///< in the legend
  std::string colour;  ///< of SVG: "#rrggbb"
};

struct ChartBar {
  Time start{};
  Time end{};
  std::size_t kind = 0;  ///< of the chart's kinds
  std::uint32_t number = 0;
  std::uint32_t part = 0;  ///< ".part" after the number in text, paler in SVG; 0: neither
};

struct ChartRow {
  std::string label;
  std::vector<ChartBar> bars;  ///< in ascending time, without overlap
};

struct Chart {
  std::string title;
  std::vector<ChartKind> kinds;
  std::vector<ChartRow> rows;
  Duration unit{1};  ///< a cell of text, a step of the SVG's grid; more than 0
};

/// A line a row, one cell a unit: "F0" is a bar of one unit, "B0--" one of two, "." a unit without a bar. Bars begin at the
/// cell of their start, rounded down. Then a line that explains the marks.
[[nodiscard]] std::string chart_text(const Chart& chart);

/// A complete SVG file; bars carry their number, and their kind and number as a tool tip.
[[nodiscard]] std::string chart_svg(const Chart& chart);

}  // namespace photonrail::report
