#include "rows.hpp"

#include "columns.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/counted.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/study/work.hpp"
#include "progress.hpp"
#include "stop.hpp"
#include "studies/rows/measured_rows.hpp"
#include "work_limit.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

namespace photonrail::command {

namespace {

// Before the first of them runs: what is wrong with the last one is better known now than after an hour.
void tell_problems(const rows::MeasuredRows& rows, const RowsOptions& options, const Registries& known) {
  std::vector<std::string> problems = row_problems(rows, known);
  for (std::size_t i = 0; i < problems.size() && options.fit; ++i) {
    if (rows.rows[i].fit && !problems[i].empty())
      throw ConfigError(options.file.string() + ": " + rows.rows[i].name, "cannot be fitted: " + problems[i]);
  }
  std::erase(problems, "");
  warn(options.file.string(), problems);
}

std::string text_of_stopped_rows(const RowsOptions& options) {
  return options.markdown.empty() ? "stopped; --markdown FILE keeps the rows that are complete"
                                  : "stopped; the rows that are complete are in " + options.markdown.string();
}

}  // namespace

void run_measured_rows(const RowsOptions& options, const Registries& known) {
  rows::MeasuredRows rows = rows::read_measured_rows(options.file);
  tell_problems(rows, options, known);
  admit(work_of(rows, options.fit, known), options.file.string(), options.work_limit_s);
  const auto keep = [&](const std::vector<rows::RowOutcome>& outcomes) {
    if (!options.markdown.empty()) write_file(options.markdown, rows_markdown(rows, outcomes));
  };
  keep({});
  const StopSignals signals(text_of_stopped_rows(options));
  if (options.fit) {
    for (const auto& [gpu, factor] : fit_factors(rows, known)) rows.factors[gpu] = factor;
  }
  TerminalLine line(true);
  const std::vector<rows::RowOutcome> outcomes = run_rows(rows, known, [&](const std::vector<rows::RowOutcome>& so_far) {
    line.draw(so_far.size(), rows.rows.size(), "rows");
    keep(so_far);
    return !signals.stop();
  });
  line.erase();
  if (!options.svg.empty()) write_file(options.svg, rows_svg(rows, outcomes));
  std::cout << hung_lines(rows_text(rows, outcomes));
  if (signals.received() != 0) throw CommandError(128 + signals.received(), text_of_stopped_rows(options));
  const rows::RowErrors errors = row_errors(rows, outcomes, false);
  if (options.max_median > 0.0 && 100.0 * errors.median > options.max_median) {
    throw CommandError(1, options.file.string() + ": the median error is above the limit of --max-median");
  }
  const auto failed = std::count_if(outcomes.begin(), outcomes.end(), [](const auto& row) { return !row.problem.empty(); });
  if (failed > 0) {
    throw CommandError(kSomeFailed, options.file.string() + ": " + std::to_string(failed) + " of " +
                                        core::counted(outcomes.size(), "row") +
                                        " were not run, and the errors are those of the others");
  }
}

}  // namespace photonrail::command
