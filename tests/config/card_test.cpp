#include "photonrail/config.hpp"
#include "support/folder.hpp"

#include <nlohmann/json.hpp>

namespace photonrail::test {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kCard = R"(version: 1
description: > # as in the template
  eight GPUs
workload:
  model:
    phase: training
    moe: false
    model_family: llama-3.1-8b
    precision: bf16
    model_arch: { num_params: 8030000000, num_layers: 32, num_heads: 32, head_dim: 128 }
  data: { batch_size: 4, seq_len: 8192, dataset: c4 }
  hardware:
    network_topo: { topology: slingshot, bandwidth_gbps: [200, 2400] }
    xpu_spec: { type: GPU, model: nvidia_a100, total_count: 16, count_per_node: 4 }
Model-executor:
  framework: { name: torchtitan }
  model_plan_parallelization: { dp_replicate: 1, dp_shard: 2, tp: 4, pp: 2, cp: 1, ep: 1, pp_mb: 1 }
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Json imported(const std::string& card) {
  const Folder folder;
  return Json::parse(scenario_from_card(folder.write("job.yaml", card)));
}

TEST(Card, BecomesAScenario) {
  const Json s = imported(kCard);
  EXPECT_EQ(s["name"], "job");
  EXPECT_THAT(s["why"].get<std::string>(), HasSubstr("eight GPUs"));
  EXPECT_EQ(s["cluster"]["servers"], 4);
  EXPECT_EQ(s["cluster"]["gpus_per_server"], 4);
  EXPECT_EQ(s["cluster"]["gpu"], "a100");
  EXPECT_EQ(s["cluster"]["nic"]["port_gb_per_s"], 25.0);   // 200 Gbit/s
  EXPECT_EQ(s["cluster"]["scale_up"]["gb_per_s"], 300.0);  // 2400 Gbit/s
  const Json& training = s["workload"]["training"];
  EXPECT_EQ(training["model"], "llama3_8b");
  EXPECT_EQ(training["sequence"], 8192);
  EXPECT_EQ(training["global_batch"], 4);
  EXPECT_EQ(training["micro_batch"], 1);
  EXPECT_EQ(training["parallelism"], (Json{{"tp", 4}, {"pp", 2}, {"dp", 2}, {"fsdp", true}}));
  EXPECT_EQ(training["precision"]["parameters"], "bf16");
}

TEST(Card, WithoutAPipelineTheBatchIsNotCut) {
  // Of 8 sequences each of 4 data-parallel ranks has 2, and runs them at once.
  std::string card = replaced(kCard, "dp_shard: 2, tp: 4, pp: 2", "dp_shard: 4, tp: 4, pp: 1");
  card = replaced(card, "batch_size: 4", "batch_size: 8");
  EXPECT_EQ(imported(card)["workload"]["training"]["micro_batch"], 2);
}

TEST(Card, DimensionsGoBeforeANameThatNobodyKnows) {
  std::string card = replaced(kCard, "llama-3.1-8b", "my-model");
  card = replaced(card, "head_dim: 128 }", "head_dim: 128, intermediate_size: 11008, vocab_size: 32000 }");
  const Json model = imported(card)["workload"]["training"]["model"];
  EXPECT_EQ(
      model,
      (Json{{"layers", 32}, {"hidden", 4096}, {"ffn", 11008}, {"heads", 32}, {"kv_heads", 32}, {"vocabulary", 32000}}));
}

TEST(Card, AFamilyThatIsAPresetSaysWhatDimensionsDoNot) {
  const Json model = imported(replaced(kCard, "head_dim: 128 }",
                                       "head_dim: 128, hidden_size: 4096, intermediate_size: 11008, vocab_size: 32000, "
                                       "num_key_value_heads: 8 }"))["workload"]["training"]["model"];
  EXPECT_EQ(model["preset"], "llama3_8b");
  EXPECT_EQ(model["ffn"], 11008);
  EXPECT_EQ(model["kv_heads"], 8);
}

TEST(Card, HybridShardingAndTheRestOfAPlan) {
  // 2 replicas of a model over 2 ranks each: dp = 4, and with tp = 2 and pp = 2 all 16 GPUs.
  const Json s = imported(replaced(kCard, "dp_replicate: 1, dp_shard: 2, tp: 4, pp: 2, cp: 1",
                                   "dp_replicate: 2, dp_shard: 2, tp: 2, pp: 2, cp: 1"));
  EXPECT_EQ(s["workload"]["training"]["parallelism"],
            (Json{{"tp", 2}, {"pp", 2}, {"dp", 4}, {"fsdp", true}, {"dp_replicate", 2}}));
}

std::string refused(const std::string& from, const std::string& to) {
  return message_of([&] { static_cast<void>(imported(replaced(kCard, from, to))); });
}

TEST(Card, WhatCannotBeIsSaid) {
  EXPECT_THAT(
      refused("llama-3.1-8b", "gpt-9"),
      AllOf(HasSubstr("job.yaml: /workload/model/model_family: there is no model \"gpt-9\""), HasSubstr("llama3_8b")));
  EXPECT_THAT(refused("nvidia_a100", "tpu_v4"), AllOf(HasSubstr("there is no GPU \"tpu_v4\""), HasSubstr("h100")));
  EXPECT_THAT(refused("phase: training", "phase: inference"), HasSubstr("only training is simulated"));
  EXPECT_THAT(refused("pp_mb: 1", "zero1: 2"), HasSubstr("zero1: must be true or false"));
  EXPECT_THAT(refused("pp_mb: 1", "schedule: zigzag"), HasSubstr("unknown value \"zigzag\""));
  EXPECT_THAT(refused("head_dim: 128 }", "head_dim: 128, intermediate_size: 9, vocab_size: 9, hidden_act: tanh }"),
              HasSubstr("hidden_act: unknown value \"tanh\""));
  EXPECT_THAT(refused("pp: 2", "pp: 4"), HasSubstr("is 32, but total_count is 16"));
  // 2^16 x 2^16 is 0 in 32 bits, and a batch cannot be divided by that.
  EXPECT_THAT(refused("dp_replicate: 1, dp_shard: 2, tp: 4, pp: 2", "dp_replicate: 65536, dp_shard: 65536, tp: 4, pp: 1"),
              HasSubstr("dp_replicate x dp_shard is 4294967296, more than can be counted"));
  EXPECT_THAT(refused("total_count: 16", "total_count: 18"), HasSubstr("18 do not fill nodes of 4"));
  EXPECT_THAT(refused("seq_len: 8192", "seq_len: long"), HasSubstr("/workload/data/seq_len: must be a whole number"));
  EXPECT_THAT(refused("seq_len: 8192", "seq: 1"), HasSubstr("/workload/data/seq_len: missing"));
  EXPECT_THAT(refused("[200, 2400]", "200"), HasSubstr("bandwidth_gbps/1: missing"));
  EXPECT_THAT(refused("data: {", "data: [{"), HasSubstr("is not YAML"));
  EXPECT_THAT(refused("seq_len: 8192", "seq_len: 8192, seq_len: 4096"), HasSubstr("/workload/data/seq_len: occurs twice"));
  EXPECT_THAT(refused("seq_len: 8192", "seq_len: 8192, <<: {batch_size: 9}"), HasSubstr("/workload/data: has a merge key"));
  EXPECT_THAT(message_of([] { static_cast<void>(imported("- 1")); }), HasSubstr("missing"));
}

TEST(Card, AScenarioGoesThereAndBack) {
  const Folder folder;
  const auto scenario = folder.write("first.json", scenario_from_card(folder.write("job.yaml", kCard)));
  const auto again = folder.write("second.yaml", card_from_scenario(scenario));
  const std::string text = scenario_from_card(again);
  EXPECT_EQ(parse_scenario(text, folder.path()).graph, read_scenario(scenario).graph);
  const Json s = Json::parse(text);
  EXPECT_EQ(s["cluster"], Json::parse(scenario_from_card(folder.path() / "job.yaml"))["cluster"]);
}

// A scenario with this model and parallelism on two servers of four GPUs.
std::string scenario_with(const std::string& model, const std::string& rest) {
  return R"({"schema": "photonrail.scenario/1", "name": "x",
      "cluster": {"servers": 2, "gpus_per_server": 4, "gpu": "h100"},
      "workload": {"training": {"sequence": 64, "global_batch": 8, "micro_batch": 1, "model": )" +
         model + ", " + rest + "}}}";
}

TEST(Card, EveryKindOfPlanAndModelGoesThereAndBack) {
  const std::vector<std::string> scenarios{
      scenario_with(R"({"preset": "llama3_8b", "layers": 8})",
                    R"("schedule": "interleaved",
                       "parallelism": {"pp": 2, "cp": 2, "dp": 2, "virtual_stages": 2, "zero1": true})"),
      scenario_with(R"({"preset": "llama3_8b", "layers": 2})",
                    R"("parallelism": {"pp": 2, "dp": 4, "fsdp": true, "dp_replicate": 2})"),
      scenario_with(R"({"preset": "deepseek_v3", "layers": 4})",
                    R"("schedule": "zb_h1", "parallelism": {"tp": 2, "pp": 2, "dp": 2, "ep": 4, "etp": 1})"),
      scenario_with(R"({"preset": "gpt3_175b", "layers": 2})", R"("parallelism": {"tp": 4, "pp": 2})"),
      scenario_with(R"({"layers": 2, "hidden": 64, "ffn": 128, "heads": 4, "kv_heads": 2, "head_dim": 32,
                        "vocabulary": 512, "mlp": "squared_relu", "tied_embeddings": true,
                        "moe": {"experts": 4, "top_k": 2, "ffn": 32, "shared": 1}})",
                    R"("parallelism": {"pp": 2, "dp": 4, "ep": 4})")};
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Folder folder;
    const auto scenario = folder.write("first.json", scenarios[i]);
    const std::string card = card_from_scenario(scenario);
    const std::string back = scenario_from_card(folder.write("card.yaml", card));
    EXPECT_EQ(parse_scenario(back, folder.path()).graph, read_scenario(scenario).graph) << i << ":\n" << card;
  }
}

TEST(Card, OfAModelInAFileHasItsDimensions) {
  const Folder folder;
  folder.write("mine.json", R"({"schema": "photonrail.model/1", "layers": 2, "hidden": 64, "ffn": 96, "heads": 4,
                                "kv_heads": 2, "vocabulary": 512})");
  const auto scenario = folder.write("s.json", scenario_with(R"("mine.json")", R"("parallelism": {"dp": 8})"));
  const std::string card = card_from_scenario(scenario);
  EXPECT_THAT(card, HasSubstr("model_family: mine"));
  EXPECT_THAT(card, HasSubstr("intermediate_size: 96"));
}

TEST(Card, AnyWorkloadHasOne) {
  const Folder folder;
  const auto file = folder.write("s.json", R"({"schema": "photonrail.scenario/1", "name": "x",
      "cluster": {"servers": 4, "gpus_per_server": 1, "nic": {"ports": 2, "port_gb_per_s": 25}},
      "workload": {"collective": {"op": "all_reduce", "bytes": 1000}}})");
  const std::string card = card_from_scenario(file);
  EXPECT_THAT(card, HasSubstr("dp_replicate: 4"));  // along a rail
  EXPECT_THAT(card, HasSubstr("pp: 1"));
  EXPECT_THAT(card, HasSubstr("- 400"));  // 2 x 25 GB/s
  EXPECT_THAT(card, HasSubstr("total_count: 4"));
  const std::vector<Override> set{Override::parse("/cluster/nic/ports=1")};
  EXPECT_THAT(card_from_scenario(file, set), HasSubstr("- 200"));
}

TEST(Card, CountsThatNoProductHoldsAreRefused) {
  const auto refusal = [](const std::string& card) -> std::string {
    try {
      static_cast<void>(imported(card));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  };
  // 65536 x 65536 = 2^32, which 32 bits take for 0.
  EXPECT_THAT(refusal(replaced(kCard, "dp_replicate: 1, dp_shard: 2", "dp_replicate: 65536, dp_shard: 65536")),
              HasSubstr("dp_replicate x dp_shard is 4294967296, more than can be counted"));
  const std::string own = replaced(kCard, "llama-3.1-8b", "my-model");
  EXPECT_THAT(
      refusal(replaced(own, "head_dim: 128 }", "head_dim: 4294967295, intermediate_size: 11008, vocab_size: 32000 }")),
      HasSubstr("heads x head_dim"));
}

}  // namespace
}  // namespace photonrail::test
