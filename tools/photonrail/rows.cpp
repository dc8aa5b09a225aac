#include "rows.hpp"

#include "commands.hpp"
#include "console.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/study/rows.hpp"
#include "progress.hpp"

#include <algorithm>
#include <iostream>
#include <string>

namespace photonrail::command {

void run_measured_rows(const RowsOptions& options, const Registries& known) {
  MeasuredRows rows = read_measured_rows(options.file);
  if (options.fit) {
    for (const auto& [gpu, factor] : fit_factors(rows, known)) rows.factors[gpu] = factor;
  }
  TerminalLine line(error_is_terminal());
  const std::vector<RowOutcome> outcomes =
      run_rows(rows, known, [&](std::size_t done, std::size_t of) { line.draw(done, of, "rows"); });
  line.erase();
  if (!options.markdown.empty()) write_file(options.markdown, rows_markdown(rows, outcomes));
  if (!options.svg.empty()) write_file(options.svg, rows_svg(rows, outcomes));
  std::cout << rows_text(rows, outcomes);
  const RowErrors errors = row_errors(rows, outcomes, false);
  if (options.max_median > 0.0 && 100.0 * errors.median > options.max_median) {
    throw ConfigError(options.file.string(), "the median error is above the limit of --max-median");
  }
  const auto failed = std::count_if(outcomes.begin(), outcomes.end(), [](const auto& row) { return !row.problem.empty(); });
  if (failed > 0) {
    throw CommandError(kSomeFailed, options.file.string() + ": " + std::to_string(failed) + " of " +
                                        std::to_string(outcomes.size()) +
                                        " rows were not run, and the errors are those of the others");
  }
}

}  // namespace photonrail::command
