// Measured training steps, many at once: each with its scenario, so that one command says how far off the model is, and
// what at most one number a GPU, fitted on a few of them, does for the others.
#pragma once

#include "photonrail/core/work.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace photonrail {
struct Registries;  // simulate.hpp
}  // namespace photonrail

namespace photonrail::rows {

/// A measured step.
struct MeasuredRow {
  std::string name;
  std::string gpu;    ///< rows of one GPU share its fitted factor
  std::string group;  ///< rows that a table shows together
  std::string note;   ///< what the reader of the table should know
  double measured_step_s = 0.0;
  bool fit = false;      ///< the factor of the GPU is fitted to it
  std::string scenario;  ///< JSON text of a scenario
  /// Two global batches that are run in place of the scenario's own, which lies on the line through both; empty: it is run.
  std::vector<double> line;
};

/// A file `photonrail.rows/1` (docs/reference/scenario.md).
struct MeasuredRows {
  std::string name;
  std::string source;
  std::vector<MeasuredRow> rows;
  std::map<std::string, double> factors;  ///< by GPU; those that are not there are 1
  std::filesystem::path directory;        ///< relative paths in scenarios start there
};
/// Throws ConfigError: unknown keys, a name twice, more than four rows of a GPU to fit.
[[nodiscard]] MeasuredRows read_measured_rows(const std::filesystem::path& file);

struct RowOutcome {
  double simulated_step_s = 0.0;
  std::shared_ptr<const OperatorUsage> operators{};  ///< null where the scenario has none
  std::string problem;                               ///< why there is no step; "" where there is one

  [[nodiscard]] double error(const MeasuredRow& row) const { return simulated_step_s / row.measured_step_s - 1.0; }
};

/// Returns what is wrong with the scenario of each row, at its GPU's factor, without running it: "" where nothing is.
[[nodiscard]] std::vector<std::string> row_problems(const MeasuredRows& rows, const Registries& known);

/// Runs every row with its GPU's factor at /workload/training/operators/factor; equal scenarios once. Rows that cannot run
/// have a problem. `goes_on` is asked after each row with the outcomes so far; false: the rows behind it are not run.
[[nodiscard]] std::vector<RowOutcome> run_rows(const MeasuredRows& rows, const Registries& known,
                                               const std::function<bool(const std::vector<RowOutcome>&)>& goes_on = {});

/// run_rows(); with `fit` fit_factors() before it. Rows that cannot be read count for nothing.
[[nodiscard]] WorkEstimate work_of(const MeasuredRows& rows, bool fit, const Registries& known);

/// For each GPU with rows to fit, the factor at which the geometric mean of their simulated over measured steps is 1,
/// within 0.2 %: false position in the factor, as a step is computation in proportion to it beside what does not depend on
/// it. Throws ConfigError where a row to fit cannot run, or no factor from 0.2 to 5 meets it.
[[nodiscard]] std::map<std::string, double> fit_factors(const MeasuredRows& rows, const Registries& known);

/// Over the rows that ran: quantiles of the absolute error.
struct RowErrors {
  std::size_t rows = 0;
  double median = 0.0;
  double p90 = 0.0;
  double bias = 0.0;  ///< mean of the signed errors
};
[[nodiscard]] RowErrors row_errors(const MeasuredRows& rows, const std::vector<RowOutcome>& outcomes, bool fitted_too);

/// A line a row, then the medians: for people. Outcomes may be those of the first rows alone.
[[nodiscard]] std::string rows_text(const MeasuredRows& rows, const std::vector<RowOutcome>& outcomes);
/// The same as rows of a Markdown table.
[[nodiscard]] std::string rows_markdown(const MeasuredRows& rows, const std::vector<RowOutcome>& outcomes);
/// The picture: simulated over measured steps, a point a row, as SVG.
[[nodiscard]] std::string rows_svg(const MeasuredRows& rows, const std::vector<RowOutcome>& outcomes);

}  // namespace photonrail::rows
