// This is the bill of what was run: cost and power of the rows of a sweep or of runs beside each other, and what a step
// costs.
#include "core/csv.hpp"
#include "core/number_in.hpp"
#include "cost/ownership.hpp"
#include "json/file_text.hpp"
#include "json/json.hpp"
#include "json/seal.hpp"
#include "json/text.hpp"
#include "photonrail/error.hpp"
#include "report/cost_report.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::report {

namespace {

namespace fs = std::filesystem;
using json::Json;

constexpr double kSecondsADay = 86400.0;
constexpr double kTrillion = 1e12;

/// A design that was run, with the numbers of its result by their path.
struct BilledRow {
  std::string name;
  std::map<std::string, double> numbers;

  [[nodiscard]] std::optional<double> find(const std::string& key) const {
    const auto found = numbers.find(key);
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] double of(const std::string& key) const { return find(key).value_or(0.0); }
  /// Returns the time that designs are compared by.
  [[nodiscard]] double step_s() const {
    for (const char* key : {"rl.mean.step_s", "steady_iteration_s", "makespan_s"}) {
      if (const auto step = find(key)) return *step;
    }
    return 0.0;
  }
  [[nodiscard]] double joules() const {
    return find("cost.energy_per_step_j").value_or(of("cost.network_energy_per_step_j"));
  }
  /// Of training, or given to those who asked, in the steady state.
  [[nodiscard]] double tokens_per_s() const { return of("tokens_per_s") + served_tokens_per_s(); }
  [[nodiscard]] double tokens() const { return tokens_per_s() * step_s(); }
  [[nodiscard]] double served_tokens_per_s() const { return of("serving.steady_output_tokens_per_s"); }
};

std::vector<BilledRow> rows_of_sweep(const fs::path& file) {
  const auto lines = core::parse_csv(json::file_text(file));
  std::vector<BilledRow> rows;
  for (std::size_t r = 1; r < lines.size(); ++r) {
    BilledRow row;
    for (std::size_t c = 0; c < std::min(lines[r].size(), lines[0].size()); ++c) {
      const std::string& cell = lines[r][c];
      if (lines[0][c] == "name") row.name = cell;
      if (const auto value = core::number_in<double>(cell)) row.numbers[lines[0][c]] = *value;
    }
    if (row.find("cost.usd")) rows.push_back(std::move(row));
  }
  return rows;
}

void collect_numbers(const Json& node, const std::string& path, std::map<std::string, double>& into) {
  for (const auto& [key, value] : node.members()) {
    const std::string name = path.empty() ? key : path + "." + key;
    if (value.is_object()) collect_numbers(value, name, into);
    if (value.is_number()) into[name] = value.number();
  }
}

void add_run(const fs::path& file, std::vector<BilledRow>& rows) {
  const Json root = json::parse_json(json::without_seal(json::file_text(file), file), file.string());
  if (!root.is_object()) return;
  BilledRow row;
  const Json* const name = root.find("name");
  row.name = name != nullptr && name->is_string() ? name->string() : file.parent_path().filename().string();
  collect_numbers(root, "", row.numbers);
  if (row.find("cost.usd")) rows.push_back(std::move(row));
}

std::vector<BilledRow> rows_of(const fs::path& folder) {
  if (fs::exists(folder / "results.csv")) return rows_of_sweep(folder / "results.csv");
  std::vector<fs::path> files{folder / "result.json"};
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path() / "result.json");
  std::sort(files.begin(), files.end());
  std::vector<BilledRow> rows;
  for (const fs::path& file : files) {
    if (fs::exists(file)) add_run(file, rows);
  }
  return rows;
}

std::string dollars(double usd) {
  static constexpr Unit kUnits[] = {{"$", 1.0}, {"k$", 1e3}, {"M$", 1e6}, {"G$", 1e9}};
  return in_units(usd, kUnits, false);
}

std::string cents(double usd) { return number("%.4g $", usd); }

std::string time_text(double seconds) {
  static constexpr Unit kUnits[] = {{"us", 1.0}, {"ms", 1e3}, {"s", 1e6}};
  return in_units(seconds * 1e6, kUnits, false);
}

std::string watts(double power) {
  static constexpr Unit kUnits[] = {{"W", 1.0}, {"kW", 1e3}, {"MW", 1e6}};
  return in_units(power, kUnits, true);
}

/// Holds what a row costs under the prices.
struct RowCost {
  double bought_usd = 0.0;
  double step_usd = 0.0;
  std::optional<double> trillion_usd;  ///< tokens; none where the result does not count them
  std::optional<double> million_usd;   ///< tokens given; none of a row that serves nobody
  std::optional<double> million_kwh;   ///< their energy
  std::optional<double> run_usd;
  std::optional<double> days;
};

RowCost cost_of_row(const BilledRow& row, const ResultPrices& options) {
  const cost::OwnershipPrices& prices = options.prices;
  const cost::OwnedCluster cluster{row.of("cost.usd"), row.of("cost.gpus"), row.of("cost.servers")};
  RowCost cost;
  cost.bought_usd = usd_bought(prices, cluster);
  cost.step_usd = usd_per_second(prices, cluster) * row.step_s() + usd_of_energy(prices, row.joules());
  if (!(row.tokens() > 0.0)) return cost;
  cost.trillion_usd = cost.step_usd * kTrillion / row.tokens();
  if (row.served_tokens_per_s() > 0.0) {
    const double watts = row.joules() / row.step_s();
    cost.million_usd = cost::usd_per_million_tokens(prices, cluster, watts, row.served_tokens_per_s());
    cost.million_kwh = cost::kwh_per_million_tokens(watts, row.served_tokens_per_s());
  }
  if (options.tokens > 0.0) {
    cost.run_usd = cost.step_usd * options.tokens / row.tokens();
    cost.days = row.step_s() * options.tokens / row.tokens() / kSecondsADay;
  }
  return cost;
}

std::string table_of(const std::vector<BilledRow>& rows, const ResultPrices& options) {
  std::vector<std::string> head{"design", "step",        "GPUs", "switches", "network", "power", "all that is bought",
                                "a step", "10^12 tokens"};
  const bool served =
      std::any_of(rows.begin(), rows.end(), [](const BilledRow& r) { return r.served_tokens_per_s() > 0.0; });
  if (served) head.insert(head.end(), {"10^6 tokens out", "their energy"});
  if (options.tokens > 0.0) head.insert(head.end(), {"the run", "days"});
  std::vector<std::vector<std::string>> cells{head};
  for (const BilledRow& row : rows) {
    const RowCost cost = cost_of_row(row, options);
    std::vector<std::string> line{row.name,
                                  time_text(row.step_s()),
                                  number("%.0f", row.of("cost.gpus")),
                                  number("%.0f", row.of("cost.switches")),
                                  dollars(row.of("cost.usd")),
                                  watts(row.of("cost.power_w")),
                                  dollars(cost.bought_usd),
                                  cents(cost.step_usd),
                                  cost.trillion_usd ? dollars(*cost.trillion_usd) : "-"};
    if (served) {
      line.push_back(cost.million_usd ? cents(*cost.million_usd) : "-");
      line.push_back(cost.million_kwh ? number("%.4g kWh", *cost.million_kwh) : "-");
    }
    if (options.tokens > 0.0) {
      line.push_back(cost.run_usd ? dollars(*cost.run_usd) : "-");
      line.push_back(cost.days ? number("%.2f", *cost.days) : "-");
    }
    cells.push_back(std::move(line));
  }
  return in_columns(cells);
}

Json json_of(const std::vector<BilledRow>& rows, const ResultPrices& options) {
  Json list = Json::array();
  const auto optional = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  for (const BilledRow& row : rows) {
    const RowCost cost = cost_of_row(row, options);
    list.push_back({{"name", row.name},
                    {"step_s", row.step_s()},
                    {"gpus", row.of("cost.gpus")},
                    {"switches", row.of("cost.switches")},
                    {"network_usd", row.of("cost.usd")},
                    {"power_w", row.of("cost.power_w")},
                    {"bought_usd", cost.bought_usd},
                    {"usd_per_step", cost.step_usd},
                    {"usd_per_trillion_tokens", optional(cost.trillion_usd)},
                    {"usd_per_million_output_tokens", optional(cost.million_usd)},
                    {"kwh_per_million_output_tokens", optional(cost.million_kwh)},
                    {"usd_of_run", optional(cost.run_usd)},
                    {"days_of_run", optional(cost.days)}});
  }
  return list;
}

// Returns the items that the bill counts, in words.
std::string assumptions(const ResultPrices& options) {
  std::string text = "network" + std::string(options.prices.gpu_usd > 0.0 ? ", GPUs" : "") +
                     (options.prices.server_usd > 0.0 ? ", servers" : "") + number(" over %g years", options.prices.years);
  if (options.prices.gpu_hour_usd > 0.0) text += number("; a GPU for an hour %g $", options.prices.gpu_hour_usd);
  text +=
      options.prices.usd_per_kwh > 0.0 ? number("; energy at %g $ a kWh", options.prices.usd_per_kwh) : "; without energy";
  return "counted: " + text + "\n";
}

}  // namespace

std::string cost_of_results(const fs::path& folder, const ResultPrices& options, bool json) {
  const std::vector<BilledRow> rows = rows_of(folder);
  if (rows.empty())
    throw ConfigError(folder.string(), "has no results.csv and no result.json with a cost",
                      "a folder of `photonrail sweep` or `run --out`; \"cost\" in its scenarios names prices");
  if (json) return json_of(rows, options).dump(2) + "\n";
  return assumptions(options) + table_of(rows, options);
}

}  // namespace photonrail::report
