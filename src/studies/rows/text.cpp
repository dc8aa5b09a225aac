// Measured rows beside simulated ones: lines, a Markdown table, a picture.
#include "report/text.hpp"
#include "core/counted.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "studies/rows/measured_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace photonrail::rows {

namespace {

using report::number;

/// Share of GPU time by source, "91/7/0/2".
std::string sources(const OperatorUsage& usage) {
  std::string text;
  const double all = usage.seconds();
  for (const OperatorSource source : kOperatorSources) {
    double sum = 0.0;
    for (int c = 0; c < kOperatorClassCount; ++c) sum += usage.seconds(static_cast<OperatorClass>(c), source);
    text += (text.empty() ? "" : "/") + number("%.0f", all > 0.0 ? 100.0 * sum / all : 0.0);
  }
  return text;
}

/// As the text of a cell: a bar would end it, a line break the row.
std::string in_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c == '\n' ? ' ' : c);
  return cell;
}

std::string error_line(const char* what, const RowErrors& errors) {
  return std::string(what) + ": " + core::counted(errors.rows, "row") + ", median error " +
         number("%.1f", 100.0 * errors.median) + " %, 90th percentile " + number("%.1f", 100.0 * errors.p90) + " %, mean " +
         number("%+.1f", 100.0 * errors.bias) + " %\n";
}

constexpr double kSize = 520.0;  // of the picture's square, px
constexpr double kMargin = 60.0;
/// Both axes of the picture: logarithmic, from a power of two to another.
struct Axis {
  double least = 1.0;  // s, at the corner
  double greatest = 2.0;

  [[nodiscard]] double place(double seconds) const {
    return kSize * std::log(std::clamp(seconds, least, greatest) / least) / std::log(greatest / least);
  }
};

/// The smallest one that holds every step.
Axis axis_of(const MeasuredRows& rows, const std::vector<RowOutcome>& outcomes) {
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0.0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].problem.empty()) continue;
    for (const double step : {rows.rows[i].measured_step_s, outcomes[i].simulated_step_s}) {
      least = std::min(least, step);
      greatest = std::max(greatest, step);
    }
  }
  if (greatest <= 0.0 || least <= 0.0) return {};
  const double corner = std::exp2(std::floor(std::log2(least)));
  return {corner, std::max(std::exp2(std::ceil(std::log2(greatest))), 2.0 * corner)};
}

std::string ratio_line(const Axis& axis, double factor, const char* style) {
  const auto at = [&](double x) {
    return number("%.1f", kMargin + axis.place(x)) + "," + number("%.1f", 20.0 + kSize - axis.place(x * factor));
  };
  const double first = axis.least / std::min(factor, 1.0);
  return "<path d=\"M" + at(first) + " L" + at(axis.greatest / std::max(factor, 1.0)) + "\" " + style + "/>\n";
}

}  // namespace

std::string rows_text(const MeasuredRows& rows, const std::vector<RowOutcome>& outcomes) {
  const bool by_source =
      std::any_of(outcomes.begin(), outcomes.end(), [](const RowOutcome& row) { return row.operators != nullptr; });
  std::vector<std::vector<std::string>> cells{{"row", "measured", "simulated", "error", ""}};
  if (by_source) cells.front().insert(cells.front().end() - 1, "t/i/e/r %");
  std::string not_run;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const MeasuredRow& row = rows.rows[i];
    if (!outcomes[i].problem.empty()) {
      not_run += row.name + " was not run: " + outcomes[i].problem + "\n";
      continue;
    }
    std::vector<std::string>& line = cells.emplace_back();
    line = {row.name, number("%.3f s", row.measured_step_s), number("%.3f s", outcomes[i].simulated_step_s),
            number("%+.1f %%", 100.0 * outcomes[i].error(row))};
    if (by_source) line.push_back(outcomes[i].operators ? sources(*outcomes[i].operators) : "");
    line.push_back(row.fit ? "fitted" : "");
  }
  std::string text = cells.size() > 1 ? report::in_columns(cells) : "";
  if (by_source) text += "t/i/e/r: GPU time from a table, interpolated, extrapolated, by roofline\n";
  text += not_run;
  for (const auto& [gpu, factor] : rows.factors) text += "factor of " + gpu + ": " + number("%.4f", factor) + "\n";
  return text + error_line("not fitted", row_errors(rows, outcomes, false)) +
         error_line("all", row_errors(rows, outcomes, true));
}

std::string rows_markdown(const MeasuredRows& rows, const std::vector<RowOutcome>& outcomes) {
  std::string text = "| row | measured | ours | | note |\n|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const MeasuredRow& row = rows.rows[i];
    text += "| " + row.name + " | " + number("%.2f s", row.measured_step_s) + " | ";
    text += outcomes[i].problem.empty() ? number("%.2f s", outcomes[i].simulated_step_s) + " | " +
                                              number("%+.1f %%", 100.0 * outcomes[i].error(row))
                                        : "– | not run";
    text += std::string(" | ") + (row.fit ? "fitted; " : "") + row.note;
    if (!outcomes[i].problem.empty()) text += (row.note.empty() ? "" : "; ") + in_cell(outcomes[i].problem);
    text += " |\n";
  }
  return text;
}

std::string rows_svg(const MeasuredRows& rows, const std::vector<RowOutcome>& outcomes) {
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 640\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"640\" height=\"640\" fill=\"white\"/>\n";
  const Axis axis = axis_of(rows, outcomes);
  svg += ratio_line(axis, 1.0, "stroke=\"#444\"") + ratio_line(axis, 1.15, "stroke=\"#bbb\" stroke-dasharray=\"4\"") +
         ratio_line(axis, 1.0 / 1.15, "stroke=\"#bbb\" stroke-dasharray=\"4\"");
  for (double tick = axis.least; tick <= axis.greatest; tick *= 2.0) {
    const std::string at = number("%.1f", kMargin + axis.place(tick));
    const std::string up = number("%.1f", 20.0 + kSize - axis.place(tick));
    svg += "<text x=\"" + at + "\" y=\"560\" text-anchor=\"middle\">" + number("%g", tick) + "</text>\n";
    svg += "<text x=\"50\" y=\"" + up + "\" text-anchor=\"end\">" + number("%g", tick) + "</text>\n";
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].problem.empty()) continue;
    svg += "<circle r=\"4\" cx=\"" + number("%.1f", kMargin + axis.place(rows.rows[i].measured_step_s)) + "\" cy=\"" +
           number("%.1f", 20.0 + kSize - axis.place(outcomes[i].simulated_step_s)) + "\" fill=\"" +
           (rows.rows[i].fit ? "#c60" : "#06c") + "\" fill-opacity=\"0.6\"/>\n";
  }
  return svg +
         "<text x=\"320\" y=\"585\" text-anchor=\"middle\">measured step, s (dashed: 15 % off; orange: fitted)</text>\n"
         "<text x=\"18\" y=\"280\" text-anchor=\"middle\" transform=\"rotate(-90 18 280)\">simulated step, "
         "s</text>\n</svg>\n";
}

}  // namespace photonrail::rows
