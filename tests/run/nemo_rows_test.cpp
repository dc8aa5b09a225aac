// Rows of NeMo RL's performance summary (v0.6), as scenarios. docs/models/rl.md has all of them.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/folder.hpp"
#include "support/shared_data.hpp"
#include "support/test_cases.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using nlohmann::json;

/// What a model is calibrated by: the host's time of a decode step, so that its first row comes out.
struct NemoModel {
  const char* preset;
  double host_ms;
};
const std::map<std::string, NemoModel> kNemoModels{{"qwen3-30b-a3b", {"qwen3_30b_a3b", 28.5}},
                                                   {"qwen3-235b-a22b", {"qwen3_235b_a22b", 30.0}},
                                                   {"deepseek-v3", {"deepseek_v3", 75.3}}};
constexpr std::uint32_t kPromptTokens = 110;

json training_of(const json& row) {
  const json& recipe = row["recipe"];
  const std::uint32_t pp = recipe["train_pp"];
  const std::uint32_t each = recipe["train_tp"].get<std::uint32_t>() * recipe["train_cp"].get<std::uint32_t>() * pp;
  json training{{"parallelism",
                 {{"tp", recipe["train_tp"]},
                  {"cp", recipe["train_cp"]},
                  {"pp", pp},
                  {"dp", recipe["training_gpus"].get<std::uint32_t>() / each},
                  {"ep", recipe["train_ep"]},
                  {"etp", 1},
                  {"zero1", true}}},
                {"recompute", recipe["activation_checkpointing"].get<bool>() ? "full" : "none"},
                {"causal", true},
                {"dispatch", "copy_per_rank"},
                {"micro_batch_tokens", row["max_seq"]},
                {"mini_batches", row["generation_batch"].get<int>() / row["train_batch"].get<int>()}};
  if (recipe["layers_first_stage"].is_null()) return training;
  const int first = recipe["layers_first_stage"];
  const int last = recipe["layers_last_stage"];
  const int all = row["model"] == "deepseek-v3" ? 61 : 94;
  std::vector<int> layers(pp, (all - first - last) / (static_cast<int>(pp) - 2));
  layers.front() = first;
  layers.back() = last;
  training["stage_layers"] = layers;
  return training;
}

// What the rows do not say: a log-normal deviation of 0.5, prompts of 110 tokens, 40 % of the peak for compute, NICs of 50
// GB/s. An NVL72 rack is a scale-up domain of 72 GPUs, which ranks fill in their order: 128 are two of them, between which
// a group of experts lies, and an engine of DeepSeek-V3. In-flight updates with samples of at most one version are the
// asynchronous mode, one batch ahead.
json nemo_scenario(const json& row) {
  const json& recipe = row["recipe"];
  const NemoModel& model = kNemoModels.at(row["model"]);
  const bool gb200 = row["system"] == "GB200";
  const bool shared = recipe["colocated"];
  const int gpus = row["gpus"];
  const int server = gb200 ? 72 : 8;
  const int tp = recipe["gen_tp"];
  json rl{{"model", model.preset},
          {"prompts",
           {{"count", recipe["prompts_per_step"]},
            {"responses", recipe["generations_per_prompt"]},
            {"tokens", kPromptTokens},
            {"lengths",
             {{"mean", row["mean_seq"]}, {"sigma", 0.5}, {"most", row["max_seq"].get<std::uint32_t>() - kPromptTokens}}}}},
          {"mode", shared ? "on_policy" : "async"},
          {"colocated", shared},
          {"steps", shared ? 3 : 6},
          {"generation",
           {{"engines", recipe["generation_gpus"].get<int>() / tp},
            {"engine", {{"ranks", tp}, {"tp", tp}, {"etp", tp}}},
            {"precision", row["precision"] == "FP8" ? "fp8" : "bf16"},
            {"batching", {{"max_sequences", 1024}, {"memory_share", recipe["gpu_memory_utilization"]}}},
            {"times", {{"host", {{"step_ms", model.host_ms}}}}}}},
          {"training", training_of(row)}};
  if (!shared) rl["batches"] = "in_order";
  return {{"schema", "photonrail.scenario/1"},
          {"cluster",
           {{"servers", (gpus + server - 1) / server},
            {"gpus_per_server", server},
            {"gpu", {{"preset", gb200 ? "gb200" : "h100"}, {"compute_efficiency", 0.4}}},
            {"scale_up", gb200 ? "gb200" : "h100"},
            {"nic", {{"ports", 1}, {"port_gb_per_s", 50}, {"latency_us", 3}}},
            {"rail", {{"kind", "electrical"}}}}},
          {"workload", {{"rl", rl}}},
          {"run", {{"seed", 1}, {"fidelity", "stream"}}}};
}

double nemo_seconds(const json& row) {
  const Folder folder;
  const RlResult result = *simulate(read_scenario(folder.write("row.json", nemo_scenario(row).dump()))).rl;
  double sum = 0.0;
  for (std::size_t i = 1; i + 1 < result.steps.size(); ++i) sum += to_seconds(result.steps[i].step);
  return sum / static_cast<double>(result.steps.size() - 2);
}

// The first row of each model is the one that it is calibrated by; the others are predicted. Rows of a model on one system
// are in the order that was measured: one step off, twice the GPUs (slower for one model), FP8. In the gate the rows of the
// smallest model, all of them in the night.
TEST(NemoRows, StepsAndOrders) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const json rows = json::parse(std::ifstream(data / "rl_rows" / "rows.json"))["rows"];
  std::map<std::string, std::vector<std::pair<double, double>>> before;  // measured, simulated; by model and system
  std::map<std::string, bool> calibrated;
  std::vector<double> errors;
  for (const json& row : rows) {
    const std::string model = row["model"];
    if (row["recipe"].is_null() || (test_cases(3) < rows.size() - 1 && model != "qwen3-30b-a3b")) continue;
    const double measured = row["step_s"];
    const double seconds = nemo_seconds(row);
    const double error = seconds / measured - 1.0;
    std::printf("%s, %s, %s, %d GPUs: %.1f s measured, %.1f s, %+.1f %%\n", model.c_str(),
                row["system"].get<std::string>().c_str(), row["mode"].get<std::string>().c_str(), row["gpus"].get<int>(),
                measured, seconds, 100.0 * error);
    auto& others = before[model + row["system"].get<std::string>()];
    for (const auto& [other, simulated] : others) {
      EXPECT_EQ(seconds < simulated, measured < other) << model << ": " << measured << " beside " << other;
    }
    others.emplace_back(measured, seconds);
    if (!std::exchange(calibrated[model], true)) EXPECT_LT(std::abs(error), 0.02) << model;
    errors.push_back(std::abs(error));
  }
  ASSERT_FALSE(errors.empty());
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors.back(), 0.25);
  if (errors.size() < 12) return;
  EXPECT_LT((errors[5] + errors[6]) / 2.0, 0.15);
  EXPECT_LT(errors[10], 0.30);
}

}  // namespace
}  // namespace photonrail::test
