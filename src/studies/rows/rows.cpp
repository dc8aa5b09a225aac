#include "core/printed.hpp"
#include "json/file_kind.hpp"
#include "json/file_text.hpp"
#include "json/in_file.hpp"
#include "json/json_reader.hpp"
#include "json/text.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/work.hpp"
#include "studies/rows/measured_rows.hpp"
#include "studies/rows/rows_fields.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace photonrail::rows {

namespace {

using fields::Field;
using fields::Reading;
using json::JsonReader;

constexpr std::size_t kMaxFitted = 4;  // rows of a GPU
constexpr double kFitTolerance = 2e-3;
constexpr std::string_view kFactor = "/workload/training/operators/factor";

constexpr fields::Shape kBatch = fields::whole_shape(1, 100'000'000);

void store_line(const Reading& at) {
  std::vector<double>& line = static_cast<MeasuredRow*>(at.into)->line;
  for (const JsonReader& batch : at.value.elements()) line.push_back(static_cast<double>(whole_of(batch, kBatch)));
  if (line.size() != 2 || line[0] >= line[1]) at.value.fail("is not two global batches, the smaller one first");
}

constexpr Field kRowFields[] = {
    fields::text<&MeasuredRow::name>("name", "Its name, which no other row has.").must(),
    fields::text<&MeasuredRow::gpu>("gpu", "Rows of one GPU share its fitted factor.").or_else("none"),
    fields::text<&MeasuredRow::group>("group", "Rows that a table shows together.").or_else("none"),
    fields::text<&MeasuredRow::note>("note", "What the reader of the table should know.").or_else("none"),
    fields::positive<&MeasuredRow::measured_step_s>("measured_step_s", 1e6, "The measured step.").must(),
    fields::flag<&MeasuredRow::fit>("fit", "The factor of the GPU is fitted to it; at most four rows of a GPU.")
        .or_else("false"),
    fields::own("line", fields::list_shape(kBatch), store_line,
                "Two global batches that are run in place of the scenario's own, which lies on the line through both.")
        .or_else("the scenario is run"),
    fields::own(
        "scenario", fields::Shape{},
        [](const Reading& at) { static_cast<MeasuredRow*>(at.into)->scenario = at.value.json().dump(); },
        "The scenario, an object.")
        .must(),
};
constexpr fields::Section kRow{kRowFields};

constexpr fields::Shape kFactorShape = fields::positive_shape(100.0);
constexpr Field kRowsFields[] = {
    fields::known("schema", fields::text_shape(), "`\"photonrail.rows/1\"`.").must(),
    fields::text<&MeasuredRows::name>("name", "Its name.").or_else("none"),
    fields::text<&MeasuredRows::source>("source", "Who measured the rows.").or_else("none"),
    fields::own(
        "factors", fields::map_shape(kFactorShape),
        [](const Reading& at) {
          for (const auto& [gpu, factor] : at.value.members())
            static_cast<MeasuredRows*>(at.into)->factors[gpu] = number_of(factor, kFactorShape);
        },
        "By GPU, what all times of operators are multiplied by.")
        .or_else("1"),
    fields::parts<kRow, &MeasuredRows::rows>("rows", "The rows.").must(),
};

void check_rows(const Reading& at) {
  const std::vector<MeasuredRow>& rows = static_cast<MeasuredRows*>(at.into)->rows;
  std::set<std::string> names;
  std::map<std::string, std::size_t> fitted;
  const std::vector<JsonReader> items = at.section.child("rows").elements();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!names.insert(rows[i].name).second)
      items[i].fail("the name \"" + rows[i].name + "\" is there twice", "another one");
    if (rows[i].fit && ++fitted[rows[i].gpu] > kMaxFitted) {
      items[i].fail("more than " + std::to_string(kMaxFitted) + " rows of \"" + rows[i].gpu + "\" are to be fitted",
                    "one factor needs few; the error of the others is what counts");
    }
  }
}

double factor_of(const MeasuredRows& rows, const MeasuredRow& row) {
  const auto found = rows.factors.find(row.gpu);
  return found == rows.factors.end() ? 1.0 : found->second;
}

/// The scenarios that are run for a row, changed so: one, or those of its line.
std::vector<std::vector<Override>> changes_of(const MeasuredRow& row, double factor) {
  std::vector<Override> of_factor;
  if (factor != 1.0) of_factor.push_back({std::string(kFactor), core::printed("%.9g", factor)});
  if (row.line.empty()) return {of_factor};
  std::vector<std::vector<Override>> all;
  for (const double batch : row.line) {
    all.push_back(of_factor);
    all.back().push_back({"/workload/training/global_batch", core::printed("%.0f", batch)});
  }
  return all;
}

/// Step time, and what a step of that batch computes.
RowOutcome run_at(const MeasuredRows& rows, const MeasuredRow& row, const std::vector<Override>& overrides,
                  const Registries& known) {
  Scenario scenario = parse_scenario(row.scenario, rows.directory, row.name, overrides, known);
  scenario.run.spread_seeds.reset();
  const RunResult result = simulate(scenario, {}, known);
  RowOutcome outcome;
  outcome.simulated_step_s = to_seconds(result.step_time());
  if (result.work) outcome.operators = result.work->operators;
  return outcome;
}

double batch_of(const MeasuredRow& row) {
  const json::Json root = json::parse_json(row.scenario, row.name);
  return JsonReader(root).child("workload").child("training").child("global_batch").count(1, 100'000'000);
}

RowOutcome run_row(const MeasuredRows& rows, const MeasuredRow& row, double factor, const Registries& known) {
  RowOutcome outcome;
  try {
    std::vector<double> steps;
    for (const std::vector<Override>& changes : changes_of(row, factor)) {
      outcome = run_at(rows, row, changes, known);
      steps.push_back(outcome.simulated_step_s);
    }
    if (row.line.empty()) return outcome;
    const double slope = (steps[1] - steps[0]) / (row.line[1] - row.line[0]);
    outcome.simulated_step_s = steps[1] + slope * (batch_of(row) - row.line[1]);
  } catch (const ConfigError& e) {
    outcome.problem = e.what();
  } catch (const DeadlockError& e) {
    outcome.problem = e.what();
  }
  return outcome;
}

/// Mean of the logarithms of simulated over measured of the rows of a GPU that are to be fitted.
double mean_excess(const MeasuredRows& rows, const std::string& gpu, double factor, const Registries& known) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const MeasuredRow& row : rows.rows) {
    if (!row.fit || row.gpu != gpu) continue;
    const RowOutcome outcome = run_row(rows, row, factor, known);
    if (!outcome.problem.empty()) throw ConfigError(row.name, "cannot be fitted: " + outcome.problem);
    sum += std::log(outcome.simulated_step_s / row.measured_step_s);
    ++count;
  }
  return sum / static_cast<double>(count);
}

double fit_one(const MeasuredRows& rows, const std::string& gpu, const Registries& known) {
  double factor = 1.0;
  double excess = mean_excess(rows, gpu, factor, known);
  double before = factor;
  double excess_before = excess;
  for (int round = 0; round < 8 && std::abs(excess) > kFitTolerance; ++round) {
    const double slope = round == 0 ? 1.0 : (excess - excess_before) / std::log(factor / before);
    before = std::exchange(factor, factor * std::exp(-excess / (slope > 0.05 ? slope : 1.0)));
    if (factor < 0.2 || factor > 5.0) break;
    excess_before = std::exchange(excess, mean_excess(rows, gpu, factor, known));
  }
  if (std::abs(excess) <= kFitTolerance && factor >= 0.2 && factor <= 5.0) return factor;
  throw ConfigError(gpu, "no factor from 0.2 to 5 makes the simulated steps as long as the measured ones",
                    "most of these steps does not depend on the time of operators");
}

double quantile(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return 0.0;
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

constexpr fields::Section kRowsSection{kRowsFields, check_rows};

MeasuredRows read_measured_rows(const std::filesystem::path& file) {
  return json::in_file(json::file_text(file), file.string(), [&](const json::Json& root) {
    JsonReader top(root);
    json::require_schema(top, "photonrail.rows/1");
    MeasuredRows rows;
    rows.directory = file.parent_path();
    fields::read(top, photonrail::rows::kRowsSection, &rows);
    return rows;
  });
}

std::vector<std::string> row_problems(const MeasuredRows& rows, const Registries& known) {
  std::vector<std::string> problems;
  for (const MeasuredRow& row : rows.rows) {
    std::string& problem = problems.emplace_back();
    try {
      for (const std::vector<Override>& changes : changes_of(row, factor_of(rows, row))) {
        static_cast<void>(parse_scenario(row.scenario, rows.directory, row.name, changes, known));
      }
      if (!row.line.empty()) static_cast<void>(batch_of(row));
    } catch (const ConfigError& e) {
      problem = e.what();
    }
  }
  return problems;
}

WorkEstimate work_of(const MeasuredRows& rows, bool fit, const Registries& known) {
  constexpr double kFits = 5.0;       // of a row to be fitted: 2 to 9
  constexpr double kReading = 20e-3;  // seconds, of a row, with its tables of operators
  std::set<std::tuple<std::string, std::vector<double>, double>> earlier;
  WorkEstimate work;
  for (const MeasuredRow& row : rows.rows) {
    const double factor = factor_of(rows, row);
    double times = earlier.insert({row.scenario, row.line, factor}).second ? 1.0 : 0.0;
    if (fit && row.fit) times += kFits;
    if (times == 0.0) continue;
    const auto changes = changes_of(row, factor);
    work.add({"rows", times, times * kReading * static_cast<double>(changes.size()), "fewer rows"});
    try {
      for (const std::vector<Override>& change : changes)
        work.add(work_of(parse_scenario(row.scenario, rows.directory, row.name, change, known), known), times);
    } catch (const ConfigError&) {
      continue;  // row_problems() says why
    }
  }
  return work;
}

std::vector<RowOutcome> run_rows(const MeasuredRows& rows, const Registries& known,
                                 const std::function<bool(const std::vector<RowOutcome>&)>& goes_on) {
  std::map<std::tuple<std::string, std::vector<double>, double>, RowOutcome> earlier;  // by scenario, line and factor
  std::vector<RowOutcome> outcomes;
  for (const MeasuredRow& row : rows.rows) {
    const double factor = factor_of(rows, row);
    const auto [at, fresh] = earlier.try_emplace({row.scenario, row.line, factor});
    if (fresh) at->second = run_row(rows, row, factor, known);
    outcomes.push_back(at->second);
    if (goes_on && !goes_on(outcomes)) break;
  }
  return outcomes;
}

std::map<std::string, double> fit_factors(const MeasuredRows& rows, const Registries& known) {
  std::map<std::string, double> factors;
  for (const MeasuredRow& row : rows.rows) {
    if (row.fit && !factors.contains(row.gpu)) factors[row.gpu] = fit_one(rows, row.gpu, known);
  }
  return factors;
}

RowErrors row_errors(const MeasuredRows& rows, const std::vector<RowOutcome>& outcomes, bool fitted_too) {
  std::vector<double> sizes;
  double sum = 0.0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].problem.empty() || (rows.rows[i].fit && !fitted_too)) continue;
    const double error = outcomes[i].error(rows.rows[i]);
    sizes.push_back(std::abs(error));
    sum += error;
  }
  std::sort(sizes.begin(), sizes.end());
  RowErrors errors{sizes.size(), quantile(sizes, 0.5), quantile(sizes, 0.9), 0.0};
  if (!sizes.empty()) errors.bias = sum / static_cast<double>(sizes.size());
  return errors;
}

}  // namespace photonrail::rows
