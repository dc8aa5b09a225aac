// Measured times of several backends on several GPUs against the library's own tables of operators: nothing is fitted.
#include "formats/csv.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "support/shared_data.hpp"
#include "support/test_cases.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::test {
namespace {

using Json = nlohmann::json;

struct SiliconRow {
  std::string group, gpu, precision, backend, version, path;
  Json model;
  std::uint64_t draw = 0;  // rows of a group are taken in the order of it
  double input = 0.0, output = 0.0, clients = 0.0, tp = 0.0, dp = 1.0, ep = 1.0, ttft_ms = 0.0, tpot_ms = 0.0;

  [[nodiscard]] bool is(const char* name) const { return path.find(name) != std::string::npos; }
  [[nodiscard]] bool experts() const { return model == "deepseek_v3" || (model.is_object() && model.contains("moe")); }
  [[nodiscard]] bool has_lengths(double in, double out) const { return input == in && output == out; }
  /// InferenceMAX measured it, and its scripts say how (SemiAnalysisAI/InferenceX, benchmarks); else aiconfigurator's own
  /// benchmark (eval/benchmarks/genai_perf_runner.py) with the engines that its rules make
  /// (generator/rule_plugin/benchmark).
  [[nodiscard]] bool by_inferencemax() const {
    const bool lengths = has_lengths(1024, 1024) || has_lengths(1024, 8192) || has_lengths(8192, 1024);
    return lengths && (is("Llama-3.1-70B") || is("DeepSeek") || is("MiniMax"));
  }
};

Json qwen_like(int layers, int hidden, int heads, int kv_heads, int vocabulary, int ffn) {
  return {{"layers", layers}, {"hidden", hidden},        {"ffn", ffn}, {"heads", heads}, {"kv_heads", kv_heads},
          {"head_dim", 128},  {"vocabulary", vocabulary}};
}

Json silicon_model(const std::string& path) {
  const auto is = [&](const char* name) { return path.find(name) != std::string::npos; };
  if (is("Llama-3.1-8B")) return "llama3_8b";
  if (is("Llama-3.1-70B")) return "llama3_70b";
  if (is("DeepSeek-R1") || is("DeepSeek-V3")) return "deepseek_v3";
  if (is("Qwen3-32B")) {
    Json dense = qwen_like(64, 5120, 64, 8, 151936, 25600);
    dense["query_key_norm"] = true;
    return dense;
  }
  Json model = is("Qwen3-235B") ? qwen_like(94, 4096, 64, 4, 151936, 1536) : qwen_like(62, 3072, 48, 8, 200064, 1536);
  model["moe"] = {{"experts", is("Qwen3-235B") ? 128 : 256}, {"top_k", 8}, {"ffn", 1536}};
  model["query_key_norm"] = true;
  return is("Qwen3-235B") || is("MiniMax-M2.5") ? model : Json(nullptr);
}

// The checkpoints of models with experts have scales of blocks, and so have Qwen's own; the others', where the row does not
// say so, of tensors.
std::string precision_of(const SiliconRow& row, const std::string& precision, const std::string& products) {
  if (precision.empty()) return "bf16";
  const bool blocks = row.experts() || row.is("Qwen") || products == "fp8_block";
  return precision == "fp8" && blocks ? "fp8_block" : precision;
}

// InferenceMAX draws lengths, the other benchmark has constant ones.
Json length_of(const SiliconRow& row, double tokens) {
  if (!row.by_inferencemax()) return tokens;
  return {{"distribution", "uniform"}, {"least", std::floor(0.8 * tokens)}, {"greatest", tokens}};
}

int minor_version(const SiliconRow& row, std::size_t after) { return std::atoi(row.version.c_str() + after); }

// The script of vLLM's MiniMax on B200 has flags from 0.19 on, those before it and on Hopper have none.
bool is_tuned_minimax(const SiliconRow& row) {
  return row.gpu == "b200" && (!row.version.starts_with("0.") || minor_version(row, 2) >= 19);
}

// InferenceMAX: all scripts of TensorRT-LLM, vLLM's of Llama but for H100, SGLang's on Blackwell.
bool has_kv_of_8_bits(const SiliconRow& row) {
  if (!row.by_inferencemax() || row.backend == "trtllm") return row.by_inferencemax();
  if (row.is("MiniMax")) return is_tuned_minimax(row);
  return row.gpu != "h100" && (row.backend == "vllm" || row.gpu != "h200");
}

double token_budget(const SiliconRow& row) {
  if (!row.by_inferencemax()) return row.backend == "sglang" ? 8192.0 : row.clients + row.input + 1500.0;
  if (row.backend == "vllm") return row.is("MiniMax") && is_tuned_minimax(row) ? 2.0 * row.input : 8192.0;
  if (row.backend == "sglang") return row.precision == "fp4" ? 16384.0 : 32768.0;
  if (row.is("Llama")) return 16384.0;
  const double prompt = std::floor((row.clients + row.input + 127.0) / 64.0) * 64.0;
  const bool of_2025 = row.version.empty() || row.version.starts_with("1.1.");
  return of_2025 ? prompt : std::max(8192.0, prompt);
}

// TensorRT-LLM and SGLang do, and vLLM where InferenceMAX asks for it and from 0.14 on.
bool decides_ahead(const SiliconRow& row) {
  if (row.backend != "vllm" || row.by_inferencemax() || !row.version.starts_with("0.")) return true;
  return minor_version(row, 2) >= 14;
}

// SGLang, unless aiconfigurator's template asks for mixed steps: from that of 0.5.6 on.
bool has_prompts_alone(const SiliconRow& row) {
  if (row.backend != "sglang" || row.by_inferencemax() || !row.version.starts_with("0.5.")) return row.backend == "sglang";
  return minor_version(row, 4) < 6;
}

// How the engine admits requests: flags of InferenceMAX's scripts, else defaults.
Json engine_of(const SiliconRow& row) {
  const double budget = token_budget(row);
  Json engine{{"max_sequences", 512},
              {"token_budget", budget},
              {"prefix_caching", false},
              {"decide_ahead", decides_ahead(row)},
              {"prompts_alone", has_prompts_alone(row)}};
  if (!row.by_inferencemax()) return engine;
  const bool short_ones = row.has_lengths(1024, 1024);
  if (row.backend == "trtllm" && row.is("Llama") && short_ones && row.tp < 8) {
    engine["wait_steps"] = 20;
    engine["wait_tokens"] = std::floor(0.9 * budget);
  }
  if (row.backend == "trtllm" && row.is("DeepSeek") && row.version.starts_with("1.2.") && short_ones && row.clients >= 64) {
    engine["wait_steps"] = 40;
    engine["wait_tokens"] = std::floor(0.8 * budget);
  }
  if (row.backend == "sglang" && row.gpu != "h200") engine["poll_steps"] = row.clients >= 16 ? 30 : 10;
  return engine;
}

// TensorRT-LLM and SGLang have graphs of decodes alone, vLLM of up to 512 tokens where no flag asks for more. A layer
// outside of graphs takes as long as its kernels' launches: 82.6 ms of DeepSeek-V3's 61 layers for one token of a prompt
// (sgl-project/sglang, pull request 12160), and 16.4 of Qwen3-4B's 36 for 129 or 513 (wejoncy/sfllm, 46).
Json times_of(const SiliconRow& row) {
  double graphs = row.backend == "vllm" ? 512.0 : row.clients;
  if (row.by_inferencemax() && row.is("MiniMax") && is_tuned_minimax(row)) graphs = 2048.0;
  return {{"operators", "tables"},
          {"rotary", row.backend == "trtllm" ? "in_attention" : "apart"},
          {"graph_tokens", graphs},
          {"eager_layer_us", row.experts() ? 82'600.0 / 61 : 16'400.0 / 36}};
}

ServingResult simulated(const SiliconRow& row, double requests_a_client) {
  Json pool{{"tp", row.tp}, {"dp", row.dp}};
  if (row.experts()) pool["ep"] = row.ep;
  const Json serving{{"model", row.model},
                     {"precision", row.precision},
                     {"kv_precision", has_kv_of_8_bits(row) ? "fp8" : "bf16"},
                     {"requests",
                      {{"concurrency", row.clients},
                       {"input", length_of(row, row.input)},
                       {"output", length_of(row, row.output)},
                       {"count", std::max(requests_a_client * row.clients, 20.0)}}},
                     {"request_host_ms", 5},
                     {"pools", Json::array({pool})},
                     {"engine", engine_of(row)},
                     {"times", times_of(row)}};
  const Json scenario{
      {"schema", "photonrail.scenario/1"},
      {"cluster", {{"servers", 1}, {"gpus_per_server", row.tp * row.dp}, {"gpu", row.gpu}, {"scale_up", row.gpu}}},
      {"workload", {{"serving", serving}}}};
  return *simulate(parse_scenario(scenario.dump(), ".")).serving;
}

std::uint64_t fnv1a(const std::vector<std::string>& cells) {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::string& cell : cells) {
    for (const char c : cell + ",") hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash;
}

// Of each backend, model, GPU and precision `each` rows of one mixed engine on at most eight GPUs, by draw.
std::vector<SiliconRow> rows_of(const std::filesystem::path& file, double most_clients, std::size_t each) {
  std::map<std::string, std::vector<SiliconRow>> groups;
  formats::read_csv(
      file,
      {"backend", "model_path", "system", "precision", "mode", "isl", "osl", "gemm_quant_mode", "tp_size", "pp_size",
       "attention_dp_size", "moe_tp_size", "moe_ep_size", "concurrency", "ttft_ms", "tpot_ms", "backend_version"},
      [&](std::size_t line, const std::vector<std::string>& cells) {
        const auto number = [&](std::size_t i) {
          return cells[i].empty() ? 1.0 : formats::csv_number(file, line, cells[i], 0, 1e9);
        };
        SiliconRow row{cells[0] + " " + cells[1] + " " + cells[2] + " " + cells[3],
                       cells[2].substr(0, cells[2].find('_')),
                       "",
                       cells[0],
                       cells[16],
                       cells[1],
                       silicon_model(cells[1])};
        const bool has = row.gpu == "h100" || row.gpu == "h200" || row.gpu == "b200" || row.gpu == "gb200";
        if (!has || row.model.is_null() || cells[4] != "agg" || cells[13].empty() || number(9) != 1) return;
        row.precision = precision_of(row, cells[3], cells[7]);
        row.draw = fnv1a({cells.begin(), cells.begin() + 16});
        row.input = number(5);
        row.output = number(6);
        row.tp = number(8);
        row.dp = number(10);
        row.ep = number(12);
        row.clients = number(13);
        row.ttft_ms = number(14);
        row.tpot_ms = number(15);
        const double gpus = row.tp * row.dp;
        if (row.clients > most_clients || gpus < 1 || gpus > 8) return;
        if (row.experts() ? gpus != number(11) * row.ep : row.dp != 1) return;
        groups[row.group].push_back(row);
      });
  std::vector<SiliconRow> rows;
  for (auto& [key, of_group] : groups) {
    std::sort(of_group.begin(), of_group.end(), [](const auto& a, const auto& b) { return a.draw < b.draw; });
    of_group.resize(std::min(of_group.size(), each));
    rows.insert(rows.end(), of_group.begin(), of_group.end());
  }
  return rows;
}

struct SiliconErrors {
  std::vector<double> ttft, tpot;
};

double middle_of(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Pairs of rows of a group whose measured TPOT differ by 10 % and more, and how many of them are in order.
struct Pairs {
  int all = 0, right = 0;

  void add(double measured, double ours, double other_measured, double other_ours) {
    if (std::max(measured, other_measured) < 1.1 * std::min(measured, other_measured)) return;
    ++all;
    right += (measured < other_measured) == (ours < other_ours) ? 1 : 0;
  }
};

// The nightly run takes the rows of which the page gives the figures.
TEST(ServingSiliconData, ModelsAreAsNearAsThePageSays) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const bool every = test_cases(1) > 1;
  const auto rows = rows_of(data / "serving" / "silicon_sample.csv.gz", every ? 64 : 16, every ? 6 : 1);
  std::map<std::string, SiliconErrors> errors;
  std::vector<std::pair<const SiliconRow*, double>> done;
  Pairs pairs;
  for (const SiliconRow& row : rows) {
    ServingResult result;
    try {
      result = simulated(row, every ? 10 : 4);
    } catch (const ConfigError& error) {
      std::printf("%s, TP%.0f: %s\n", row.group.c_str(), row.tp, error.what());  // does not fit
      continue;
    }
    const double tpot = to_seconds(result.tpot.mean) * 1e3;
    const double ttft = to_seconds(result.ttft.mean) * 1e3;
    for (const auto& [other, ours] : done) {
      if (other->group == row.group) pairs.add(row.tpot_ms, tpot, other->tpot_ms, ours);
    }
    done.emplace_back(&row, tpot);
    SiliconErrors& of = errors[std::string(row.experts() ? "experts" : "dense") + (row.precision == "fp4" ? " fp4" : "")];
    of.tpot.push_back(100.0 * (tpot / row.tpot_ms - 1.0));
    of.ttft.push_back(100.0 * (ttft / row.ttft_ms - 1.0));
    std::printf("%s, %.0f + %.0f tokens, TP%.0f EP%.0f, %.0f clients: TPOT %.1f ms %+.1f %%, TTFT %.0f ms %+.1f %%\n",
                row.group.c_str(), row.input, row.output, row.tp, row.ep, row.clients, row.tpot_ms, of.tpot.back(),
                row.ttft_ms, of.ttft.back());
  }
  for (const auto& [kind, of] : errors) {
    std::printf("%s: median of %zu rows: TPOT %.1f %%, TTFT %.1f %%\n", kind.c_str(), of.tpot.size(), middle_of(of.tpot),
                middle_of(of.ttft));
  }
  std::printf("%d of %d pairs in order\n", pairs.right, pairs.all);
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_LE(middle_of(errors["dense"].tpot), every ? 9.0 : 16.0);
  EXPECT_LE(middle_of(errors["experts"].tpot), every ? 18.0 : 25.0);
  EXPECT_LE(middle_of(errors["dense"].ttft), 25.0);
  if (!every) return;  // two and five rows of FP4 say little
  EXPECT_LE(middle_of(errors["dense fp4"].tpot), 12.0);
  EXPECT_LE(middle_of(errors["experts fp4"].tpot), 12.0);
  EXPECT_LE(middle_of(errors["dense fp4"].ttft), 25.0);
  EXPECT_LE(middle_of(errors["experts"].ttft), 32.0);
  EXPECT_LE(middle_of(errors["experts fp4"].ttft), 37.0);
  EXPECT_GE(pairs.right, pairs.all * 85 / 100);
}

}  // namespace
}  // namespace photonrail::test
