// The models that come with the library, and models of a user's own.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <vector>

namespace photonrail {
namespace {

namespace fs = std::filesystem;

struct Published {
  const char* key;
  double parameters;
  const char* source;
};
std::ostream& operator<<(std::ostream& out, const Published& p) { return out << p.key; }

class PublishedModels : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedModels, ParametersComeFromTheDimensions) {
  const Published& published = GetParam();
  EXPECT_NEAR(model_preset(published.key).parameters() / published.parameters, 1.0, 0.005) << published.source;
}

INSTANTIATE_TEST_SUITE_P(
    All, PublishedModels,
    ::testing::ValuesIn(std::vector<Published>{
        Published{"llama3_8b", 8.03e9, "model card: 8.03 B"},
        Published{"llama3_70b", 70.55e9, "model card: 70.6 B; 70,553,706,496 weights released"},
        Published{"llama3_405b", 405.85e9, "405,853,388,800 weights released"},
        Published{"llama2_7b", 6.738e9, "6,738,415,616 weights released"},
        Published{"llama2_70b", 68.977e9, "68,976,648,192 weights released"},
        Published{"gpt3_175b", 174.6e9, "arXiv 2005.14165, table D.1"},
        Published{"nemotron4_340b", 341.0e9, "arXiv 2406.11704, section 2: 9.4 B in embeddings and 331.6 B elsewhere"},
        Published{"mixtral_8x7b", 46.7e9, "46,702,792,704 weights released"},
        Published{"mixtral_8x22b", 140.62e9, "140,620,634,112 weights released, with a vocabulary of 32,000"},
        Published{"deepseek_v2", 235.74e9, "arXiv 2405.04434: 236 B; 235,741,434,880 weights released"},
        Published{"deepseek_v3", 671.03e9, "arXiv 2412.19437: 671 B without the module for several tokens"},
        Published{"qwen3_30b_a3b", 30.53e9, "30,532,122,624 weights released"},
        Published{"qwen3_235b_a22b", 235.09e9, "235,093,634,560 weights released"},
        Published{"megatron_22b", 22.0e9, "arXiv 2205.05198, table 3, two digits; 22.05 by its formula"},
        Published{"megatron_530b", 529.6e9, "arXiv 2104.04473, table 1"},
        Published{"megatron_1t", 1008.0e9, "arXiv 2104.04473, table 1"}}),
    [](const auto& model) { return std::string(model.param.key); });

TEST(Models, ActiveParametersAreThePublishedOnes) {
  // To the published digits: 12.9 B, 21 B (arXiv 2405.04434), 37 B (arXiv 2412.19437), 3.3 B (arXiv 2505.09388).
  EXPECT_NEAR(model_preset("mixtral_8x7b").active_parameters(), 12.9e9, 0.05e9);
  EXPECT_NEAR(model_preset("deepseek_v2").active_parameters(), 21e9, 0.5e9);
  EXPECT_NEAR(model_preset("deepseek_v3").active_parameters(), 37e9, 0.6e9);
  EXPECT_NEAR(model_preset("qwen3_30b_a3b").active_parameters(), 3.3e9, 0.06e9);
}

TEST(Models, AllHaveANoteAndTheirName) {
  EXPECT_EQ(model_presets().size(), 16u);
  for (const ModelPreset& preset : model_presets()) {
    EXPECT_FALSE(preset.note.empty()) << preset.key;
    EXPECT_EQ(preset.spec.name, preset.key);
  }
}

TEST(Models, AnUnknownNameSuggestsWhatIsKnown) {
  const ConfigError error = test::error_of([] { static_cast<void>(model_preset("llama3_8")); });
  EXPECT_NE(error.hint().find("llama3_8b"), std::string::npos);
}

/// A scenario of one GPU whose model is `model`, in JSON.
std::string scenario(const std::string& model) {
  return R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 2, "gpus_per_server": 2},
             "workload": {"training": {"model": )" +
         model + R"(, "sequence": 16, "global_batch": 2, "parallelism": {"dp": 2}}}})";
}

fs::path folder() {
  const fs::path path = fs::path(::testing::TempDir()) / "photonrail_models";
  fs::create_directories(path);
  return path;
}

Scenario parse(const std::string& model) { return parse_scenario(scenario(model), folder()); }

constexpr const char* kTiny = R"("layers": 2, "hidden": 64, "ffn": 96, "heads": 8, "kv_heads": 4, "vocabulary": 160)";

TEST(Models, AModelMayBeAFileOrAnObject) {
  std::ofstream(folder() / "tiny.json") << R"({"schema": "photonrail.model/1", "note": "small", )" << kTiny << "}";
  const Scenario from_file = parse(R"("tiny.json")");
  EXPECT_TRUE(from_file.graph == parse(std::string("{") + kTiny + "}").graph);
  EXPECT_TRUE(from_file.graph == parse(R"({"preset": "tiny.json"})").graph);
  EXPECT_FALSE(from_file.graph == parse(R"({"preset": "tiny.json", "layers": 3})").graph);
  EXPECT_EQ(read_model(folder() / "tiny.json").note, "small");
}

TEST(Models, ExpertsAndLatentAttentionChangeAPreset) {
  const Scenario s = parse(R"({"preset": "deepseek_v2", "layers": 2, "moe": {"experts": 4, "top_k": 2}})");
  EXPECT_EQ(s.graph.ranks(), 2u);
}

std::string place_of(const std::string& model) {
  return test::error_of([&] { static_cast<void>(parse(model)); }).where();
}

TEST(Models, ErrorsNameTheirPlace) {
  const std::string at = "scenario: /workload/training/model";
  EXPECT_EQ(place_of(R"("llama9")"), at);
  EXPECT_EQ(place_of(R"({"layers": 2})"), at + "/hidden");
  EXPECT_EQ(place_of(std::string("{") + kTiny + R"(, "mlp": "relu"})"), at + "/mlp");
  EXPECT_EQ(place_of(std::string("{") + kTiny + R"(, "moe": {"top_k": 2}})"), at + "/moe/experts");
  EXPECT_EQ(place_of(std::string("{") + kTiny + R"(, "moe": {"experts": 2, "top_k": 3}})"), at + "/moe/top_k");
  EXPECT_EQ(place_of(std::string("{") + kTiny + R"(, "latent_attention": {"kv_rank": 2}})"),
            at + "/latent_attention/nope_head");
  EXPECT_EQ(place_of(R"({"preset": "deepseek_v2", "kv_heads": 2})"), at + "/kv_heads");
  EXPECT_EQ(place_of(R"({"preset": "llama3_8b", "depth": 2})"), at + "/depth");
  std::ofstream(folder() / "broken.json") << R"({"schema": "photonrail.model/1", "layers": 2})";
  const std::string place = place_of(R"("broken.json")");
  EXPECT_NE(place.find("/workload/training/model"), std::string::npos) << place;
  EXPECT_NE(place.find("broken.json"), std::string::npos) << place;
  EXPECT_NE(place.find("/hidden"), std::string::npos) << place;
  EXPECT_NE(place_of(R"("missing.json")").find("missing.json"), std::string::npos);
}

}  // namespace
}  // namespace photonrail
