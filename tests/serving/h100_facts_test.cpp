// Means of vLLM on H100 that others measured, against the library's own tables of operators: nothing is fitted to them.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/shared_data.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using Json = nlohmann::json;

Json dense_model(int layers, int hidden, int ffn, int heads, int kv_heads, int vocabulary) {
  return {{"layers", layers}, {"hidden", hidden},        {"ffn", ffn}, {"heads", heads}, {"kv_heads", kv_heads},
          {"head_dim", 128},  {"vocabulary", vocabulary}};
}

Json model_of(const std::string& name) {
  if (name.find("70B") != std::string::npos) return "llama3_70b";
  if (name.find("Nemo") != std::string::npos) return dense_model(40, 5120, 14336, 32, 8, 131072);
  if (name.find("Qwen2.5-7B") != std::string::npos) return dense_model(28, 3584, 18944, 28, 4, 152064);
  if (name.find("Yi-34B") != std::string::npos) return dense_model(60, 7168, 20480, 56, 8, 64000);
  return nullptr;  // Llama 4 Scout: docs/validation/serving.md says why
}

// 5 ms a request for HTTP and the tokenizer, a stated constant; the host of a step takes nothing.
ServingResult run_of(const Json& row, const Json& model) {
  Json requests{{"arrivals", {{"process", "constant"}, {"per_s", row.at("rate_per_s")}}},
                {"count", std::llround(row.at("rate_per_s").get<double>() * row.at("duration_s").get<double>())},
                {"input", row.at("prefix_tokens").get<int>() + row.at("question_tokens").get<int>()},
                {"output", row.at("output_tokens")},
                {"prefix", {{"groups", row.at("prefixes")}, {"tokens", row.at("prefix_tokens")}}}};
  Json serving{{"model", model},
               {"requests", requests},
               {"request_host_ms", 5},
               {"pools", Json::array({{{"tp", row.at("tp")}}})},
               {"engine",
                {{"max_sequences", row.at("max_num_seqs")},
                 {"token_budget", row.at("max_num_batched_tokens")},
                 {"blocks", row.at("kv_blocks")}}},
               {"times", {{"operators", "tables"}}}};
  const Json scenario{
      {"schema", "photonrail.scenario/1"},
      {"cluster", {{"servers", 1}, {"gpus_per_server", row.at("tp")}, {"gpu", "h100"}, {"scale_up", "h100"}}},
      {"workload", {{"serving", serving}}}};
  return *simulate(parse_scenario(scenario.dump(), ".")).serving;
}

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

TEST(ServingH100FactsData, DenseModelsAreWithinTheirGoals) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const Json facts = Json::parse(std::ifstream(data / "serving" / "v2" / "h100_vllm_facts.json"));
  std::vector<double> ttft;
  std::vector<double> itl;
  std::vector<double> e2e;
  for (const Json& row : facts.at("rows")) {
    const Json model = model_of(row.at("model"));
    if (model.is_null()) continue;
    const ServingResult result = run_of(row, model);
    const Json& measured = row.at("measured");
    const auto error = [&](Duration ours, const char* name) {
      return (to_seconds(ours) * 1e3 / measured.at(name).get<double>() - 1.0) * 100;
    };
    const double errors[] = {error(result.ttft.mean, "ttft_mean"), error(result.itl.mean, "itl_mean"),
                             error(result.e2e.mean, "e2e_mean")};
    std::printf("%s: TTFT %+.1f, ITL %+.1f, E2E %+.1f %%\n", row.at("id").get<std::string>().c_str(), errors[0], errors[1],
                errors[2]);
    ttft.push_back(std::abs(errors[0]));
    itl.push_back(std::abs(errors[1]));
    e2e.push_back(std::abs(errors[2]));
  }
  ASSERT_GE(ttft.size(), 9U);
  std::printf("medians: TTFT %.1f, ITL %.1f, E2E %.1f %%\n", middle(ttft), middle(itl), middle(e2e));
  EXPECT_LE(middle(ttft), 20.0);
  EXPECT_LE(middle(itl), 10.0);
  EXPECT_LE(middle(e2e), 10.0);
}

}  // namespace
}  // namespace photonrail::test
