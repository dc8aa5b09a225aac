// What the goodput command prints and writes: a table, JSON, and figures as SVG.
#pragma once

#include "photonrail/study/goodput/history.hpp"

#include <string>
#include <utility>
#include <vector>

namespace photonrail::goodput {

/// One scenario of a study.
struct GoodputRow {
  GoodputSummary summary;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< of its point in a sweep: name, value as JSON
  std::vector<Period> timeline;                                 ///< of its first seed
  std::vector<std::pair<std::string, double>> configurations;   ///< text, step in seconds; negative: the job cannot go on
};

/// A line a row, then what each failure source of the first costs. `rows` is never empty.
[[nodiscard]] std::string goodput_table(const std::vector<GoodputRow>& rows);
/// `photonrail.goodput/1`, docs/models/goodput.md.
[[nodiscard]] std::string goodput_json(const std::vector<GoodputRow>& rows);

/// Bars of what takes the time of each scenario beside productive work.
[[nodiscard]] std::string goodput_losses_svg(const std::vector<GoodputRow>& rows);
/// Goodput with its confidence intervals against the first parameter, a line for each value of the others; "" when there
/// is no parameter.
[[nodiscard]] std::string goodput_lines_svg(const std::vector<GoodputRow>& rows);
/// The first week of each scenario's first seed.
[[nodiscard]] std::string goodput_week_svg(const std::vector<GoodputRow>& rows);

}  // namespace photonrail::goodput
