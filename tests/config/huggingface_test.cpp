// config.json of Hugging Face's transformers as a model. The files of tests/config/huggingface/ have the published figures.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "support/errors.hpp"
#include "support/source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <vector>

namespace photonrail::huggingface {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

fs::path published(const std::string& name) {
  return fs::path(PHOTONRAIL_SOURCE_DIR) / "tests/config/huggingface" / (name + ".json");
}

class SameAsShipped : public ::testing::TestWithParam<const char*> {};

TEST_P(SameAsShipped, EveryDimension) {
  ModelSpec spec = read_model(published(GetParam())).spec;
  EXPECT_EQ(spec, model_preset(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, SameAsShipped,
                         ::testing::ValuesIn(std::vector<const char*>{"llama2_7b", "llama2_70b", "llama3_8b", "llama3_70b",
                                                                      "llama3_405b", "mixtral_8x7b", "mixtral_8x22b",
                                                                      "qwen3_30b_a3b", "deepseek_v2", "deepseek_v3"}),
                         [](const auto& name) { return std::string(name.param); });

struct Weights {
  const char* name;
  double parameters;  ///< as released
  double within;      ///< relative: what the dimensions leave out
};
std::ostream& operator<<(std::ostream& out, const Weights& w) { return out << w.name; }

class OtherArchitectures : public ::testing::TestWithParam<Weights> {};

TEST_P(OtherArchitectures, HaveTheReleasedWeights) {
  const Weights& weights = GetParam();
  EXPECT_NEAR(read_model(published(weights.name)).spec.parameters() / weights.parameters, 1.0, weights.within);
}

// Model cards: mistral 7,241,732,096 weights; qwen2 7,615,616,512, of them the biases of queries, keys and values left out;
// qwen3 8,190,735,360; qwen2_moe 57.41 B with a gate for the shared experts; gpt-oss 116.83 B; gemma 8,537,680,896;
// gemma 3 27.43 B of which 0.42 B are the part for images.
INSTANTIATE_TEST_SUITE_P(All, OtherArchitectures,
                         ::testing::ValuesIn(std::vector<Weights>{
                             Weights{"mistral_7b", 7.241732096e9, 1e-6}, Weights{"qwen2_7b", 7.615616512e9, 1e-4},
                             Weights{"qwen3_8b", 8.190735360e9, 1e-5}, Weights{"qwen2_57b_a14b", 57.41e9, 1e-3},
                             Weights{"gpt_oss_120b", 116.83e9, 1e-3}, Weights{"gemma_7b", 8.537680896e9, 1e-4},
                             Weights{"gemma3_27b", 27.01e9, 2e-3}}),
                         [](const auto& weights) { return std::string(weights.param.name); });

std::string scenario(const std::string& model) {
  return R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 2, "gpus_per_server": 2},
             "workload": {"training": {"model": )" +
         model + R"(, "sequence": 16, "global_batch": 2, "parallelism": {"dp": 2}}}})";
}

TEST(Huggingface, AScenarioNamesTheFile) {
  const fs::path folder = published("").parent_path();
  const Scenario by_path = parse_scenario(scenario(R"("llama3_8b.json")"), folder, "s");
  const Scenario by_key = parse_scenario(scenario(R"({"huggingface": "llama3_8b.json"})"), folder, "s");
  const Scenario by_name = parse_scenario(scenario(R"("llama3_8b")"), folder, "s");
  ASSERT_FALSE(by_name.memory.empty());
  for (const Scenario* other : {&by_path, &by_key}) {
    EXPECT_EQ(other->memory.at(0).total(), by_name.memory.at(0).total());
    EXPECT_EQ(other->graph.programs().size(), by_name.graph.programs().size());
  }
  const Scenario shorter = parse_scenario(scenario(R"({"huggingface": "llama3_8b.json", "layers": 2})"), folder, "s");
  EXPECT_LT(shorter.memory.at(0).total(), by_name.memory.at(0).total());
}

std::string problem(const std::string& text) {
  const fs::path file = fs::path(::testing::TempDir()) / "config.json";
  std::ofstream(file) << text;
  return test::error_of([&] { static_cast<void>(read_model(file)); }).what();
}

TEST(Huggingface, WhatIsNotKnownIsRefusedByName) {
  EXPECT_THAT(
      problem(R"({"model_type": "mamba2", "architectures": ["Mamba2ForCausalLM"]})"),
      ::testing::AllOf(HasSubstr("the architecture \"mamba2\" is not known"), HasSubstr("known: llama, mistral, mixtral")));
  EXPECT_THAT(problem(R"({"model_type": "llama4"})"), HasSubstr("did you mean llama?"));
  EXPECT_THAT(problem(R"({"model_type": "llama", "hidden_size": 64})"), HasSubstr("/num_hidden_layers: missing"));
  EXPECT_THAT(problem(R"({"model_type": "llama", "num_hidden_layers": "32"})"), HasSubstr("must be a number"));
  EXPECT_THAT(problem(R"({"model_type": "llama", "num_hidden_layers": 100000000})"), HasSubstr("from 1 to 10000"));
  EXPECT_THAT(problem(R"({"architectures": ["LlamaForCausalLM"]})"), HasSubstr("/model_type: missing"));
  EXPECT_THAT(
      test::error_of([] {
        static_cast<void>(parse_scenario(scenario(R"({"preset": "llama3_8b", "huggingface": "x.json"})"), ".", "s"));
      }).what(),
      HasSubstr("remove one of the two"));
}

}  // namespace
}  // namespace photonrail::huggingface
