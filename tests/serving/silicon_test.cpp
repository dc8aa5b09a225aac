// Measured times of several backends on several GPUs against the library's own tables of operators: nothing is fitted.
#include "formats/csv.hpp"
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/shared_data.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using Json = nlohmann::json;

struct SiliconRow {
  std::string model, gpu, precision;
  double input = 0.0, output = 0.0, clients = 0.0, tp = 0.0, tpot_ms = 0.0;
};

Json silicon_model(const std::string& path) {
  if (path.find("Llama-3.1-8B") != std::string::npos) return "llama3_8b";
  if (path.find("Llama-3.1-70B") != std::string::npos) return "llama3_70b";
  if (path.find("Qwen3-32B") == std::string::npos) return nullptr;
  return {{"layers", 64},  {"hidden", 5120},  {"ffn", 25600},        {"heads", 64},
          {"kv_heads", 8}, {"head_dim", 128}, {"vocabulary", 151936}};
}

// As InferenceMAX draws them, whose lengths these are; elsewhere constant.
Json length_of(const SiliconRow& row, double tokens) {
  const bool drawn = std::max(row.input, row.output) == 8192.0 || (row.input == 1024.0 && row.output == 1024.0);
  if (!drawn) return tokens;
  return {{"distribution", "uniform"}, {"least", std::floor(0.8 * tokens)}, {"greatest", tokens}};
}

double simulated_tpot_ms(const SiliconRow& row) {
  const Json serving{{"model", silicon_model(row.model)},
                     {"precision", row.precision},
                     {"requests",
                      {{"concurrency", row.clients},
                       {"input", length_of(row, row.input)},
                       {"output", length_of(row, row.output)},
                       {"count", std::max(4.0 * row.clients, 20.0)}}},
                     {"request_host_ms", 5},
                     {"pools", Json::array({{{"tp", row.tp}}})},
                     {"engine", {{"max_sequences", 512}, {"token_budget", 8192}, {"prefix_caching", false}}},
                     {"times", {{"operators", "tables"}}}};
  const Json scenario{{"schema", "photonrail.scenario/1"},
                      {"cluster", {{"servers", 1}, {"gpus_per_server", row.tp}, {"gpu", row.gpu}, {"scale_up", row.gpu}}},
                      {"workload", {{"serving", serving}}}};
  return to_seconds(simulate(parse_scenario(scenario.dump(), ".")).serving->tpot.mean) * 1e3;
}

// The first row of each model, GPU, precision and backend with at most 16 clients and one engine without attention DP.
std::vector<SiliconRow> rows_of(const std::filesystem::path& file) {
  std::map<std::string, SiliconRow> first;
  formats::read_csv(file,
                    {"backend", "model_path", "system", "precision", "mode", "isl", "osl", "tp_size", "pp_size",
                     "attention_dp_size", "concurrency", "tpot_ms"},
                    [&](std::size_t line, const std::vector<std::string>& cells) {
                      const auto number = [&](std::size_t i) { return formats::csv_number(file, line, cells[i], 0, 1e9); };
                      const std::string gpu = cells[2].substr(0, cells[2].find('_'));
                      const bool has = gpu == "h100" || gpu == "h200" || gpu == "b200";
                      if (!has || cells[4] != "agg" || cells[3] == "fp4" || cells[10].empty()) return;
                      if (silicon_model(cells[1]).is_null() || number(10) > 16 || cells[8] != "1") return;
                      if (!cells[9].empty() && cells[9] != "1") return;
                      const std::string precision = cells[3].empty() ? "bf16" : cells[3];
                      first.try_emplace(
                          cells[0] + cells[1] + gpu + precision,
                          SiliconRow{cells[1], gpu, precision, number(5), number(6), number(10), number(7), number(11)});
                    });
  std::vector<SiliconRow> rows;
  for (const auto& [key, row] : first) rows.push_back(row);
  return rows;
}

TEST(ServingSiliconData, DenseModelsAreAsNearAsThePageSays) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  std::vector<double> errors;
  for (const SiliconRow& row : rows_of(data / "serving" / "silicon_sample.csv.gz")) {
    const double error = 100.0 * (simulated_tpot_ms(row) / row.tpot_ms - 1.0);
    std::printf("%s, %s, %s, TP%.0f, %.0f clients: TPOT %+.1f %%\n", row.model.c_str(), row.gpu.c_str(),
                row.precision.c_str(), row.tp, row.clients, error);
    errors.push_back(std::abs(error));
  }
  ASSERT_GE(errors.size(), 8U);
  std::sort(errors.begin(), errors.end());
  std::printf("median %.1f %% of %zu rows\n", errors[errors.size() / 2], errors.size());
  EXPECT_LE(errors[errors.size() / 2], 18.0);
}

}  // namespace
}  // namespace photonrail::test
