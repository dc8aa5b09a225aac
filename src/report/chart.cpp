#include "report/chart.hpp"

#include "photonrail/error.hpp"
#include "report/text.hpp"

#include <algorithm>

namespace photonrail::report {

namespace {

using report::number;
using report::pad_left;
using report::pad_right;

// Lengths of the SVG are in pixels.
constexpr double kUnitWidth = 20.0;
constexpr double kRowHeight = 22.0;
constexpr double kLabelWidth = 70.0;
constexpr double kTop = 30.0;
constexpr double kBottom = 34.0;
constexpr double kMargin = 10.0;

std::string short_text(const ChartBar& bar) {
  return std::to_string(bar.number) + (bar.part == 0 ? "" : "." + std::to_string(bar.part));
}

std::string text_of(const Chart& chart, const ChartBar& bar) { return chart.kinds.at(bar.kind).mark + short_text(bar); }

Time end_of(const Chart& chart) {
  Time last{};
  for (const ChartRow& row : chart.rows) {
    for (const ChartBar& bar : row.bars) last = std::max(last, bar.end);
  }
  return last;
}

std::size_t cell_of(const Chart& chart, Time t) { return static_cast<std::size_t>(t.since_start() / chart.unit); }

std::string row_text(const Chart& chart, const ChartRow& row, std::size_t cells, std::size_t width) {
  std::string line;
  for (std::size_t i = 0; i < cells; ++i) line += pad_right(".", width);
  for (const ChartBar& bar : row.bars) {
    const std::size_t from = cell_of(chart, bar.start) * width;
    const std::size_t to = std::max(cell_of(chart, bar.end) * width, from + width);
    const std::string text = text_of(chart, bar);
    line.replace(from, to - from, std::string(to - from - 1, to - from > width ? '-' : ' ') + " ");
    line.replace(from, text.size(), text);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string attribute(const char* name, double value) {
  return std::string(" ") + name + "=\"" + number("%.7g", value) + "\"";
}

std::string text_element(double x, double y, const char* anchor, std::string_view text) {
  return "<text" + attribute("x", x) + attribute("y", y) + " text-anchor=\"" + anchor + "\">" + escaped(text) + "</text>\n";
}

std::string rectangle(double x, double y, double width, const ChartKind& kind, double opacity) {
  return "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
         attribute("height", kRowHeight - 2.0) + " fill=\"" + escaped(kind.colour) + "\"" +
         attribute("fill-opacity", opacity) + " stroke=\"#ffffff\">";
}

std::uint32_t parts_of(const Chart& chart) {
  std::uint32_t last = 0;
  for (const ChartRow& row : chart.rows) {
    for (const ChartBar& bar : row.bars) last = std::max(last, bar.part);
  }
  return last + 1;
}

struct Legend {
  std::string svg;
  double right = 0.0;
};

Legend legend(const Chart& chart, double y) {
  std::string svg;
  double x = kLabelWidth;
  for (const ChartKind& kind : chart.kinds) {
    svg += rectangle(x, y, kUnitWidth, kind, 1.0) + "</rect>\n";
    svg += text_element(x + kUnitWidth + 4.0, y + 14.0, "start", kind.name);
    x += kUnitWidth + 20.0 + 7.0 * static_cast<double>(kind.name.size());
  }
  return {svg, x};
}

}  // namespace

std::string chart_text(const Chart& chart) {
  PHOTONRAIL_CHECK(chart.unit > Duration{});
  std::size_t width = 1;
  std::size_t label = 0;
  std::size_t cells = 0;
  for (const ChartRow& row : chart.rows) {
    label = std::max(label, row.label.size());
    for (const ChartBar& bar : row.bars) {
      width = std::max(width, text_of(chart, bar).size());
      cells = std::max({cells, cell_of(chart, bar.end), cell_of(chart, bar.start) + 1});
    }
  }
  std::string text = chart.title.empty() ? "" : chart.title + "\n";
  for (const ChartRow& row : chart.rows) {
    text += pad_left(row.label, label) + "  " + row_text(chart, row, cells, width + 1);
  }
  for (std::size_t i = 0; i < chart.kinds.size(); ++i) {
    text += (i == 0 ? "" : ", ") + chart.kinds[i].mark + " " + chart.kinds[i].name;
  }
  return text + "\n";
}

std::string chart_svg(const Chart& chart) {
  PHOTONRAIL_CHECK(chart.unit > Duration{});
  const auto x_of = [&](Time t) {
    return kLabelWidth +
           kUnitWidth * static_cast<double>(t.since_start().count()) / static_cast<double>(chart.unit.count());
  };
  const double bottom = kTop + kRowHeight * static_cast<double>(chart.rows.size());
  const Legend kinds = legend(chart, bottom + 8.0);
  const double width = std::max(x_of(end_of(chart)), kinds.right) + kMargin;
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width) + attribute("height", bottom + kBottom) +
      " font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  svg += text_element(kMargin, 18.0, "start", chart.title);
  const double fade = 0.67 / std::max(1.0, parts_of(chart) - 1.0);  // the last part has a third of the colour
  double y = kTop;
  for (const ChartRow& row : chart.rows) {
    svg += text_element(kLabelWidth - 6.0, y + 14.0, "end", row.label);
    for (const ChartBar& bar : row.bars) {
      const ChartKind& kind = chart.kinds.at(bar.kind);
      const double x = x_of(bar.start);
      svg += rectangle(x, y, x_of(bar.end) - x, kind, 1.0 - fade * bar.part) + "<title>" + escaped(kind.name) + " " +
             short_text(bar) + "</title></rect>\n";
      svg += text_element((x + x_of(bar.end)) / 2.0, y + 14.0, "middle", std::to_string(bar.number));
    }
    y += kRowHeight;
  }
  return svg + kinds.svg + "</svg>\n";
}

}  // namespace photonrail::report
