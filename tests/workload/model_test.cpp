#include "photonrail/error.hpp"
#include "photonrail/training.hpp"

#include <gtest/gtest.h>

namespace photonrail {
namespace {

TEST(Model, ParametersOfThePresetsAreThePublishedOnes) {
  // 8.03 B and 70.55 B (model cards of Llama 3), 6.74 B (Llama 2).
  EXPECT_NEAR(model_preset("llama3_8b").parameters(), 8.03e9, 8.03e9 * 0.005);
  EXPECT_NEAR(model_preset("llama3_70b").parameters(), 70.55e9, 70.55e9 * 0.005);
  EXPECT_NEAR(model_preset("llama2_7b").parameters(), 6.74e9, 6.74e9 * 0.005);
}

TEST(Model, ParametersAddUp) {
  // h = 8, ffn = 12, 4 heads of 2, 2 KV heads: kv = 4. Layer: 8 x (8 + 2 x 4) + 8 x 8 = 192 in attention,
  // 3 x 8 x 12 = 288 in the MLP, 2 x 8 = 16 in norms: 496. Three layers: 1488. Embedding and head: 2 x 8 x 10 = 160.
  // Last norm: 8. Sum 1656.
  EXPECT_EQ((ModelSpec{"tiny", 3, 8, 12, 4, 2, 10}.parameters()), 1656.0);
}

TEST(Model, LayerFlopsAddUp) {
  // The same layer for 6 tokens in sequences of 3: QKV 2 x 6 x 8 x (8 + 2 x 4) = 1536; scores and values
  // 2 x 2 x 6 x 3 x 8 = 576; output 2 x 6 x 8 x 8 = 768; SwiGLU 3 x 2 x 6 x 8 x 12 = 3456. Sum 6336; half of it on tp 2.
  const ModelSpec model{"tiny", 3, 8, 12, 4, 2, 10};
  EXPECT_EQ(layer_forward_flops(model, 6, 3, 1), 6336.0);
  EXPECT_EQ(layer_forward_flops(model, 6, 3, 2), 3168.0);
  // tp 4 exceeds the two KV heads: a rank keeps one whole head of 2, QKV 2 x 6 x 8 x (2 + 2 x 2) = 576, the rest a quarter:
  // 576 + (576 + 768 + 3456) / 4 = 1776.
  EXPECT_EQ(layer_forward_flops(model, 6, 3, 4), 1776.0);
}

TEST(Model, AnUnknownNameSuggestsWhatIsKnown) {
  try {
    static_cast<void>(model_preset("llama3_8"));
    FAIL() << "expected a ConfigError";
  } catch (const ConfigError& error) {
    EXPECT_NE(error.hint().find("llama3_8b"), std::string::npos);
  }
}

}  // namespace
}  // namespace photonrail
