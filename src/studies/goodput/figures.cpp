// Figures of goodput as SVG.
#include "report/text.hpp"
#include "studies/goodput/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

namespace photonrail::goodput {

namespace {

// By TimeUse; hues apart from each other for the colour-blind (Okabe and Ito).
constexpr std::array<const char*, kTimeUses> kUseColours{"#dddddd", "#56b4e9", "#d55e00", "#cc79a7",
                                                         "#0072b2", "#f0e442", "#000000", "#009e73"};
constexpr std::array<const char*, 6> kStateColours{"#cfe8cf", "#f0e442", "#cc79a7", "#0072b2", "#000000", "#009e73"};
constexpr std::array<const char*, 6> kStateNames{"running", "degraded", "detecting", "recovering", "waiting", "planned"};
constexpr std::array<const char*, 6> kLineColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

constexpr double kWide = 900.0;
constexpr double kLeft = 230.0;
constexpr double kRow = 24.0;
constexpr double kHead = 34.0;

std::string num(double x) { return report::number("%.6g", x); }

std::string label(double x, double y, const char* anchor, std::string_view text) {
  return "<text x=\"" + num(x) + "\" y=\"" + num(y) + "\" text-anchor=\"" + anchor + "\">" + report::escaped(text) +
         "</text>\n";
}

std::string box(double x, double y, double width, double height, const char* colour, const std::string& tip) {
  return "<rect x=\"" + num(x) + "\" y=\"" + num(y) + "\" width=\"" + num(std::max(width, 0.0)) + "\" height=\"" +
         num(height) + "\" fill=\"" + colour + "\"><title>" + report::escaped(tip) + "</title></rect>\n";
}

std::string stroke(double x1, double y1, double x2, double y2, const char* colour, double width) {
  return "<line x1=\"" + num(x1) + "\" y1=\"" + num(y1) + "\" x2=\"" + num(x2) + "\" y2=\"" + num(y2) + "\" stroke=\"" +
         colour + "\" stroke-width=\"" + num(width) + "\"/>\n";
}

std::string figure(double height, const std::string& title, const std::string& body) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + num(kWide) + "\" height=\"" + num(height) +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
         label(10.0, 20.0, "start", title) + body + "</svg>\n";
}

template <class Names, class Colours>
std::string legend_of(const Names& names, const Colours& colours, std::size_t from, double y) {
  std::string svg;
  double x = kLeft;
  for (std::size_t i = from; i < names.size(); ++i) {
    svg += box(x, y, 14.0, 14.0, colours[i % colours.size()], "") + label(x + 18.0, y + 12.0, "start", names[i]);
    x += 34.0 + 7.0 * static_cast<double>(std::string_view(names[i]).size());
  }
  return svg;
}

// A round number a little above.
double round_up(double x) {
  if (!(x > 0.0)) return 1.0;
  const double power = std::pow(10.0, std::floor(std::log10(x)));
  for (const double m : {1.0, 2.0, 5.0, 10.0}) {
    if (x <= m * power) return m * power;
  }
  return 10.0 * power;
}

struct Series {
  std::string name;
  std::vector<const GoodputRow*> rows;
};

std::string value_text(const std::string& json) {
  return json.size() >= 2 && json.front() == '"' ? json.substr(1, json.size() - 2) : json;
}

std::vector<Series> series_of(const std::vector<GoodputRow>& rows) {
  std::vector<Series> all;
  for (const GoodputRow& row : rows) {
    std::string key;
    for (std::size_t p = 1; p < row.parameters.size(); ++p) {
      key += (key.empty() ? "" : ", ") + row.parameters[p].first + "=" + value_text(row.parameters[p].second);
    }
    const auto at = std::find_if(all.begin(), all.end(), [&](const Series& s) { return s.name == key; });
    if (at == all.end())
      all.push_back({key, {&row}});
    else
      at->rows.push_back(&row);
  }
  return all;
}

}  // namespace

std::string goodput_losses_svg(const std::vector<GoodputRow>& rows) {
  double most = 0.0;
  for (const GoodputRow& row : rows) most = std::max(most, 1.0 - row.summary.ettr.mean);
  const double scale = (kWide - kLeft - 40.0) / round_up(most);
  std::string svg;
  std::vector<std::string> names;
  for (std::size_t u = 0; u < kTimeUses; ++u) names.emplace_back(name(static_cast<TimeUse>(u)));
  double y = kHead;
  for (const GoodputRow& row : rows) {
    svg += label(kLeft - 8.0, y + 15.0, "end", report::fit(row.summary.name, 32));
    double x = kLeft;
    for (std::size_t u = 1; u < kTimeUses; ++u) {
      const double share = row.summary.shares[u].mean;
      svg += box(x, y, share * scale, kRow - 4.0, kUseColours[u],
                 names[u] + " " + report::number("%.3f", share * 100.0) + " %");
      x += share * scale;
    }
    svg += label(x + 4.0, y + 15.0, "start", report::number("%.2f", (1.0 - row.summary.ettr.mean) * 100.0) + " %");
    y += kRow;
  }
  svg += legend_of(names, kUseColours, 1, y + 8.0);
  return figure(y + 34.0, "What takes the job's time beside productive work, mean of the seeds", svg);
}

std::string goodput_lines_svg(const std::vector<GoodputRow>& rows) {
  if (rows.front().parameters.empty()) return {};
  constexpr double kFloor = 360.0;
  constexpr double kPlot = 300.0;
  const std::vector<Series> all = series_of(rows);
  std::vector<std::string> ticks;  // values of the first parameter, in their order
  double low = 1.0;
  for (const GoodputRow& row : rows) {
    const std::string tick = value_text(row.parameters[0].second);
    if (std::find(ticks.begin(), ticks.end(), tick) == ticks.end()) ticks.push_back(tick);
    low = std::min(low, row.summary.goodput.low);
  }
  low = std::max(0.0, std::floor(low * 20.0 - 0.5) / 20.0);
  const double left = 70.0;
  const double step = (kWide - left - 60.0) / static_cast<double>(ticks.size());
  const auto x_of = [&](const std::string& tick) {
    const auto at = std::find(ticks.begin(), ticks.end(), tick) - ticks.begin();
    return left + step * (static_cast<double>(at) + 0.5);
  };
  const auto y_of = [&](double share) { return kFloor - kPlot * (share - low) / (1.0 - low); };
  std::string svg;
  for (int i = 0; i <= 5; ++i) {
    const double share = low + (1.0 - low) * i / 5.0;
    svg += stroke(left, y_of(share), kWide - 40.0, y_of(share), "#e5e5e5", 1.0) +
           label(left - 8.0, y_of(share) + 4.0, "end", report::number("%.1f", share * 100.0) + " %");
  }
  for (const std::string& tick : ticks) svg += label(x_of(tick), kFloor + 18.0, "middle", report::fit(tick, 24));
  svg += label((left + kWide) / 2.0, kFloor + 38.0, "middle", rows.front().parameters[0].first);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const char* colour = kLineColours[i % kLineColours.size()];
    names.push_back(all[i].name.empty() ? "goodput" : all[i].name);
    for (std::size_t r = 0; r < all[i].rows.size(); ++r) {
      const auto& e = all[i].rows[r]->summary.goodput;
      const double x = x_of(value_text(all[i].rows[r]->parameters[0].second));
      svg += stroke(x, y_of(e.low), x, y_of(e.high), colour, 2.0) +
             box(x - 4.0, y_of(e.mean) - 4.0, 8.0, 8.0, colour,
                 all[i].rows[r]->summary.name + ": " + report::number("%.2f", e.mean * 100.0) + " %");
      if (r == 0) continue;
      const double before = x_of(value_text(all[i].rows[r - 1]->parameters[0].second));
      svg += stroke(before, y_of(all[i].rows[r - 1]->summary.goodput.mean), x, y_of(e.mean), colour, 1.5);
    }
  }
  svg += legend_of(names, kLineColours, 0, kFloor + 52.0);
  return figure(kFloor + 80.0, "Goodput: productive share of the time of all GPUs, with intervals of 95 % over seeds", svg);
}

std::string goodput_week_svg(const std::vector<GoodputRow>& rows) {
  constexpr double kDays = 7.0;
  const double scale = (kWide - kLeft - 40.0) / kDays;
  std::string svg;
  double y = kHead;
  for (const GoodputRow& row : rows) {
    svg += label(kLeft - 8.0, y + 15.0, "end", report::fit(row.summary.name, 32));
    for (const Period& p : row.timeline) {
      if (p.from.days() >= kDays) break;
      const double from = p.from.days();
      const double to = std::min(p.to.days(), kDays);
      const auto state = static_cast<std::size_t>(p.state);
      svg += box(kLeft + from * scale, y, std::max((to - from) * scale, 0.7), kRow - 4.0, kStateColours[state],
                 std::string(kStateNames[state]) + " from day " + report::number("%.3f", from) + " for " +
                     report::number("%.1f", (to - from) * 1440.0) + " min");
    }
    y += kRow;
  }
  for (int d = 0; d <= 7; ++d) svg += label(kLeft + d * scale, y + 12.0, "middle", "day " + std::to_string(d));
  svg += legend_of(kStateNames, kStateColours, 0, y + 22.0);
  return figure(y + 48.0, "The first week of the first seed", svg);
}

}  // namespace photonrail::goodput
