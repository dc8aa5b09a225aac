#include "photonrail/training.hpp"

#include <gtest/gtest.h>

#include <string>

namespace photonrail {
namespace {

TEST(Model, ParametersAddUp) {
  // h = 8, ffn = 12, 4 heads of 2, 2 KV heads: kv = 4. Layer: 8 x (8 + 2 x 4) + 8 x 8 = 192 in attention,
  // 3 x 8 x 12 = 288 in the MLP, 2 x 8 = 16 in norms: 496. Three layers: 1488. Embedding and head: 2 x 8 x 10 = 160.
  // Last norm: 8. Sum 1656.
  EXPECT_EQ((ModelSpec{"tiny", 3, 8, 12, 4, 2, 10}.parameters()), 1656.0);
}

/// FLOPs of the forward pass of one layer on a rank, for a micro-batch of two sequences of 4 tokens.
double layer_flops(const ModelSpec& model, std::uint32_t tp) {
  TrainingSpec spec;
  spec.model = model;
  spec.parallelism.tp = tp;
  spec.sequence = 4;
  spec.micro_batch = spec.global_batch = 2;
  const TaskGraph graph = make_training_graph(spec);
  const Program& program = graph.programs()[0];
  double sum = 0.0;
  for (std::size_t t = 0; t < program.tasks().size(); ++t) {
    if (program.name(TaskId{t}).starts_with("fwd.0.layer1.")) sum += program.tasks()[t].flops;
  }
  return sum;
}

TEST(Model, LayerFlopsAddUp) {
  // The same layer for 8 tokens in sequences of 4: QKV 2 x 8 x 8 x (8 + 2 x 4) = 2048; scores and values
  // 2 x 2 x 8 x 4 x 8 = 1024; output 2 x 8 x 8 x 8 = 1024; SwiGLU 3 x 2 x 8 x 8 x 12 = 4608. Sum 8704; half of it on tp 2.
  const ModelSpec model{"tiny", 3, 8, 12, 4, 2, 12};
  EXPECT_EQ(layer_flops(model, 1), 8704.0);
  EXPECT_EQ(layer_flops(model, 2), 4352.0);
  // tp 4 exceeds the two KV heads: a rank keeps one whole head of 2, QKV 2 x 8 x 8 x (2 + 2 x 2) = 768, the rest a quarter:
  // 768 + (1024 + 1024 + 4608) / 4 = 2432.
  EXPECT_EQ(layer_flops(model, 4), 2432.0);
}

TEST(Model, ParametersOfALatentAttentionAddUp) {
  // h = 8, 2 heads, query latent 3, kv latent 5, head widths 2 + 1 and 4. Queries: 8 x 3 + norm 3 + 3 x 2 x (2 + 1) = 45;
  // keys and values: 8 x (5 + 1) + norm 5 + 5 x 2 x (2 + 4) = 113; output 2 x 4 x 8 = 64: 222. MLP 3 x 8 x 12 = 288, norms
  // 16: 526. Embedding and head 2 x 8 x 10, last norm 8: 694.
  ModelSpec model{"tiny", 1, 8, 12, 2, 2, 10};
  model.latent = LatentAttention{3, 5, 2, 1, 4};
  EXPECT_EQ(model.parameters(), 694.0);
}

TEST(Model, ParametersOfExpertsAddUp) {
  // As in ParametersAddUp a layer has 192 + 16 and an MLP of 288. Of three layers the first is dense; the others have 5
  // experts of 3 x 8 x 4 = 96, a router of 8 x 5 = 40, and a shared MLP of 2 x 96 = 192: 712.
  // 3 x 208 + 288 + 2 x 712 + 160 + 8 = 2504. Active: two of the five experts, 3 x 96 = 288 less a layer: 1928.
  ModelSpec model{"tiny", 3, 8, 12, 4, 2, 10};
  model.moe = ExpertSpec{.experts = 5, .top_k = 2, .ffn = 4, .shared = 2, .dense_layers = 1};
  EXPECT_EQ(model.parameters(), 2504.0);
  EXPECT_EQ(model.active_parameters(), 1928.0);
}

TEST(Model, EveryNthLayerHasExperts) {
  ModelSpec model{"tiny", 7, 8, 12, 4, 2, 10};
  model.moe = ExpertSpec{.experts = 4, .top_k = 1, .dense_layers = 1, .every = 2};
  std::string layers;
  for (std::uint32_t l = 0; l < 7; ++l) layers += model.has_experts(l) ? 'E' : '-';
  EXPECT_EQ(layers, "--E-E-E");
  EXPECT_EQ(model.expert_layers(), 3u);
}

TEST(Model, ParametersOfAGptAddUp) {
  // h = 8, MHA, plain MLP of 32, biases, layer norms, tied embeddings, 6 positions: a layer 12 h^2 + 13 h = 872 (Narayanan
  // et al., arXiv 2104.04473, equation 2); embedding 8 x 10, positions 8 x 6, last norm 16: 1016.
  ModelSpec model{"gpt", 1, 8, 32, 4, 4, 10};
  model.mlp = MlpKind::kGelu;
  model.biases = model.layer_norm = model.tied_embeddings = true;
  model.positions = 6;
  EXPECT_EQ(model.parameters(), 1016.0);
}

}  // namespace
}  // namespace photonrail
