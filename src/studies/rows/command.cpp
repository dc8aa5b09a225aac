#include "rows.hpp"

#include "columns.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/counted.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/study/rows.hpp"
#include "photonrail/study/work.hpp"
#include "progress.hpp"
#include "work_limit.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

namespace photonrail::command {

namespace {

// Before the first of them runs: what is wrong with the last one is better known now than after an hour.
void tell_problems(const MeasuredRows& rows, const RowsOptions& options, const Registries& known) {
  std::vector<std::string> problems = row_problems(rows, known);
  for (std::size_t i = 0; i < problems.size() && options.fit; ++i) {
    if (rows.rows[i].fit && !problems[i].empty())
      throw ConfigError(options.file.string() + ": " + rows.rows[i].name, "cannot be fitted: " + problems[i]);
  }
  std::erase(problems, "");
  warn(options.file.string(), problems);
}

}  // namespace

void run_measured_rows(const RowsOptions& options, const Registries& known) {
  MeasuredRows rows = read_measured_rows(options.file);
  tell_problems(rows, options, known);
  admit(work_of(rows, options.fit, known), options.file.string(), options.work_limit_s);
  if (options.fit) {
    for (const auto& [gpu, factor] : fit_factors(rows, known)) rows.factors[gpu] = factor;
  }
  TerminalLine line(true);
  const std::vector<RowOutcome> outcomes =
      run_rows(rows, known, [&](std::size_t done, std::size_t of) { line.draw(done, of, "rows"); });
  line.erase();
  if (!options.markdown.empty()) write_file(options.markdown, rows_markdown(rows, outcomes));
  if (!options.svg.empty()) write_file(options.svg, rows_svg(rows, outcomes));
  std::cout << hung_lines(rows_text(rows, outcomes));
  const RowErrors errors = row_errors(rows, outcomes, false);
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
