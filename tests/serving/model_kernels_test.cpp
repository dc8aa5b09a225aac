#include "serving/engine/model_kernels.hpp"

#include "formats/operators/operators.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>

namespace photonrail::test {
namespace {

using namespace serving;

ServedModel of_experts(std::uint32_t tp, std::uint32_t dp, std::uint32_t ep) {
  ServedModel served;
  served.model.layers = 2;
  served.model.hidden = 4096;
  served.model.ffn = 1024;
  served.model.heads = served.model.kv_heads = 32;
  served.model.vocabulary = 32'000;
  served.model.moe = ExpertSpec{};
  served.model.moe->experts = 64;
  served.model.moe->top_k = 4;
  served.model.moe->ffn = 1024;
  served.tp = tp;
  served.dp = dp;
  served.ep = ep;
  return served;
}

OperatorTimes roofline() {
  OperatorRoofline of;
  of.bf16_tflops = of.fp8_tflops = of.fp4_tflops = 1'000;
  of.memory_gb_per_s = 3'000;
  return OperatorTimes(of);
}

// The routed experts of a step of 256 tokens on one of `tp` x `dp` GPUs: each token chooses all 64 experts, of which
// each GPU has 64 / ep with a width of 1024 ep / (tp dp), and 64 x 256 x dp / ep rows.
double routed_us(std::uint32_t tp, std::uint32_t dp, std::uint32_t ep) {
  GroupedProduct op{OperatorPrecision::kBf16, 64 * 256 * dp / ep, 4096, 1024 * ep / (tp * dp), 64 / ep, 64, 64};
  op.gated = true;
  return to_seconds(roofline().time(op).time) * 1e6;
}

double step_us(const ServedModel& served) { return kernels_of(served, roofline(), 256, 16).dense.at("down_proj").at(256); }

TEST(ServingModelKernels, ExpertsAreDividedAmongTheGpusThatStepTogether) {
  struct Shape {
    std::uint32_t tp, dp, ep;
  };
  const auto router_us = [&](std::uint32_t tp, std::uint32_t dp, std::uint32_t ep) {
    ServedModel served = of_experts(tp, dp, ep);
    served.model.moe->top_k = 64;
    return step_us(served) - routed_us(tp, dp, ep);
  };
  const double router = router_us(1, 1, 1);  // the same product on each GPU
  EXPECT_GT(router, 0.0);
  for (const Shape& at : {Shape{8, 1, 1}, Shape{8, 1, 8}, Shape{8, 1, 2}, Shape{1, 4, 4}, Shape{2, 4, 4}, Shape{2, 4, 8}}) {
    EXPECT_NEAR(router_us(at.tp, at.dp, at.ep), router, 1e-6) << at.tp << " " << at.dp << " " << at.ep;
  }
}

// Whole experts on each GPU or a part of each: the bytes of weights on a GPU are the same.
TEST(ServingModelKernels, ShapesOfExpertsHaveTheWeightsInCommon) {
  EXPECT_EQ(of_experts(8, 1, 1).weights_per_gpu(), of_experts(8, 1, 8).weights_per_gpu());
  const double routed = 2.0 * 64 * 3 * 1024 * 4096;  // of both layers
  EXPECT_NEAR(of_experts(1, 1, 1).weights_per_gpu() - of_experts(1, 4, 4).weights_per_gpu(), 2.0 * routed * 3 / 4, 1.0);
}

// One token reads its four experts. Of 32 that choose evenly each expert would be read but for (1 - 4 / 64)^32 = 13 %; of
// those that have favourites fewer are.
TEST(ServingModelKernels, ExpertsThatNoTokenChoosesAreNotRead) {
  const KernelTables tables = kernels_of(of_experts(1, 1, 1), roofline(), 256, 16);
  const auto us = [&](std::int64_t tokens, std::int64_t experts) {
    GroupedProduct op{OperatorPrecision::kBf16, 4 * tokens, 4096, 1024, experts, 4, 64};
    op.gated = true;
    const MatrixProduct router{OperatorPrecision::kBf16, tokens, 64, 4096};
    return to_seconds(roofline().time(op).time + roofline().time(router).time) * 1e6;
  };
  const Curve& down = tables.dense.at("down_proj");
  EXPECT_NEAR(down.at(1), us(1, 4), 1e-6);
  EXPECT_LT(down.at(32), us(32, 55));
  EXPECT_GT(down.at(32), us(32, 38));
}

// Norm, rotary embedding and the write of KV read and write a token's 64 heads of queries and keys, of 128 numbers of two
// bytes; the last writes 2 x 32 heads. Each has the 3 us of a kernel and goes at 0.8 of 3,000 GB/s.
TEST(ServingModelKernels, NormsOfHeadsAndRotaryEmbeddingAreKernels) {
  const auto qkv = [](bool norm, bool apart) {
    ServedModel served = of_experts(1, 1, 1);
    served.model.query_key_norm = norm;
    served.rotates_apart = apart;
    return kernels_of(served, roofline(), 256, 16).dense.at("qkv_proj").at(256);
  };
  const double heads = 3.0 + 256.0 * 64 * 128 * 4 / 2400e3;
  EXPECT_NEAR(qkv(true, false) - qkv(false, false), heads, 1e-3);
  EXPECT_NEAR(qkv(false, true) - qkv(false, false), heads + 3.0 + 256.0 * 64 * 128 * 4 / 2400e3, 1e-3);
}

ServedModel dense_in(OperatorPrecision precision) {
  ServedModel served = of_experts(1, 1, 1);
  served.model.moe.reset();
  served.precision = precision;
  return served;
}

// Whatever the layers are in, the head is in bf16; its table is that of products.
TEST(ServingModelKernels, HeadAndRouterAndAttentionBesideExpertsInFp4AreInBf16) {
  const OperatorTimes b200 = formats::operators::operator_times("b200", {});
  const auto at = [&](const ServedModel& served, const char* kernel) {
    return kernels_of(served, b200, 256, 16).dense.at(kernel).at(16);
  };
  const auto head = [&](OperatorPrecision precision) {
    return kernels_of(dense_in(precision), b200, 256, 16).per_sequence.at("lm_head").at(16);
  };
  for (const OperatorPrecision low : {OperatorPrecision::kFp8, OperatorPrecision::kFp8Block, OperatorPrecision::kFp4}) {
    EXPECT_EQ(head(low), head(OperatorPrecision::kBf16));
    EXPECT_NE(at(dense_in(low), "qkv_proj"), at(dense_in(OperatorPrecision::kBf16), "qkv_proj"));
  }
  ServedModel experts = of_experts(1, 1, 1);
  const double wide = at(experts, "qkv_proj");
  experts.precision = OperatorPrecision::kFp4;
  EXPECT_EQ(at(experts, "qkv_proj"), wide);
  experts.precision = OperatorPrecision::kFp8;
  EXPECT_NE(at(experts, "qkv_proj"), wide);
}

// One kernel of 3 us that casts what attention returns, and its bytes.
TEST(ServingModelKernels, ScalesOfTensorsNeedOneCastALayer) {
  const auto out = [&](OperatorPrecision precision) {
    return kernels_of(dense_in(precision), roofline(), 256, 16).dense.at("o_proj").at(256);
  };
  EXPECT_NEAR(out(OperatorPrecision::kFp8) - out(OperatorPrecision::kFp8Block), 3.0 + 256.0 * 4096 * 3 / 2400e3, 1e-3);
}

serving::Step decodes_of(std::uint32_t count) {
  serving::Step step;
  step.decodes = step.decode_tokens = step.sequences = count;
  step.decode_cached = count;
  return step;
}

// Products of one microsecond a token, in 2 layers, and two all-reduces in each of them.
KernelStepTime graphs_of(std::uint32_t tokens, Curve reduce = {}, Duration eager_layer = {}) {
  KernelTables tables;
  for (const char* kernel : {"qkv_proj", "o_proj", "layernorm", "down_proj"})
    tables.dense.emplace(kernel, Curve({{1, 0.0}}));
  tables.dense.at("qkv_proj") = Curve({{0, 0.0}, {1000, 1000.0}});
  tables.per_sequence.emplace("lm_head", Curve({{1, 0.0}}));
  tables.attention = AttentionTable({{{0, 0, 1, 1}, 0.0}});
  KernelModel model{.layers = 2, .hidden = 1000};
  model.tp = reduce.empty() ? 1 : 2;
  model.measured_reduce = reduce;
  model.graph_tokens = tokens;
  model.eager_layer = eager_layer;
  return KernelStepTime(std::move(tables), model);
}

// Three tokens take 3 us in each of 2 layers, and 100 us where the host launches their kernels; 1,000 are enough for it.
TEST(ServingModelKernels, StepsOutsideOfGraphsWaitForTheHost) {
  const auto us = [](std::uint32_t graph, std::uint32_t count) {
    return to_seconds(graphs_of(graph, {}, Duration{50'000'000}).of(decodes_of(count))) * 1e6;
  };
  EXPECT_NEAR(us(0, 3), 100.0, 1e-9);
  EXPECT_NEAR(us(2, 3), 100.0, 1e-9);
  EXPECT_NEAR(us(4, 3), 8.0, 1e-9);  // padded to four
  EXPECT_NEAR(us(0, 1000), 2000.0, 1e-9);
}

TEST(ServingModelKernels, StepsInGraphsArePadded) {
  const auto tokens = [](std::uint32_t graph, std::uint32_t count) {
    return to_seconds(graphs_of(graph).of(decodes_of(count))) * 1e6 / 2.0;
  };
  EXPECT_NEAR(tokens(0, 3), 3.0, 1e-9);
  EXPECT_NEAR(tokens(512, 2), 2.0, 1e-9);
  EXPECT_NEAR(tokens(512, 3), 4.0, 1e-9);
  EXPECT_NEAR(tokens(512, 5), 8.0, 1e-9);
  EXPECT_NEAR(tokens(512, 249), 256.0, 1e-9);
  EXPECT_NEAR(tokens(512, 257), 272.0, 1e-9);
  EXPECT_NEAR(tokens(256, 257), 257.0, 1e-9);
}

// Four prompts of 100 tokens with 50 before each have 4 x (100 x 50 + 100^2 / 2) scores, as a chunk of 200 with 100 before
// it.
TEST(ServingModelKernels, PromptsOfAStepAreApart) {
  const OperatorTimes times = roofline();
  serving::Step step;
  step.sequences = step.prefills = 4;
  step.prefill_tokens = 400;
  step.prefill_reads = 400 * 50;
  serving::Step one = step;
  one.prefills = 1;
  KernelModel model{.layers = 2, .hidden = 4096};
  model.max_tokens = 512;
  const auto us = [&](bool apart, const serving::Step& of) {
    KernelTables tables = kernels_of(dense_in(OperatorPrecision::kBf16), times, 512, 16);
    tables.prompts_apart = apart;
    const KernelStepTime whole(tables, model);
    tables.attention = AttentionTable({{{1, 0, 0, 0}, 0.0}, {{512, 0, 0, 0}, 0.0}});
    return to_seconds(whole.of(of) - KernelStepTime(tables, model).of(of)) * 1e6 / 2;
  };
  const AttentionTable attention = kernels_of(dense_in(OperatorPrecision::kBf16), times, 512, 16).attention;
  EXPECT_NEAR(us(true, step), attention.us({200, 100, 0, 0}), 1e-5);
  EXPECT_NEAR(us(true, one), attention.us({400, 50, 0, 0}), 1e-5);
  EXPECT_NEAR(us(false, step), attention.us({400, 50, 0, 0}), 1e-5);
}

// 2,000 bytes a token; four all-reduces of 10 us, and 1 us more for each 2,000 bytes.
TEST(ServingModelKernels, AllReducesAreAsMeasured) {
  const KernelStepTime times = graphs_of(0, Curve({{2000, 10.0}, {4000, 11.0}}));
  EXPECT_NEAR(to_seconds(times.of(decodes_of(1))) * 1e6, 2.0 + 4 * 10.0, 1e-9);
  EXPECT_NEAR(to_seconds(times.of(decodes_of(4))) * 1e6, 8.0 + 4 * 13.0, 1e-9);
}

// A layer with a window reads its tokens and no others; of layers of both kinds the mean counts.
TEST(ServingModelKernels, ALayerWithAWindowReadsItsTokens) {
  const auto attention = [](std::uint32_t window, std::uint32_t every) {
    ServedModel served = of_experts(1, 1, 1);
    served.model.window = window;
    served.model.window_every = every;
    return kernels_of(served, roofline(), 8192, 16).attention;
  };
  const auto decode = [](const AttentionTable& of, double cached) { return of.us({0.0, 0.0, 4.0, cached}); };
  const auto chunk = [](const AttentionTable& of, double tokens, double cached) {
    return of.us({tokens, cached, 0.0, 0.0});
  };
  const AttentionTable all = attention(0, 1);
  const AttentionTable windowed = attention(256, 1);
  const AttentionTable every_second = attention(256, 2);
  EXPECT_DOUBLE_EQ(decode(windowed, 128.0), decode(all, 128.0));
  EXPECT_DOUBLE_EQ(decode(windowed, 65'536.0), decode(all, 256.0));
  EXPECT_DOUBLE_EQ(decode(every_second, 65'536.0), (decode(all, 65'536.0) + decode(all, 256.0)) / 2.0);
  EXPECT_DOUBLE_EQ(chunk(windowed, 64.0, 0.0), chunk(all, 64.0, 0.0));
  EXPECT_LT(chunk(windowed, 8192.0, 0.0), chunk(all, 8192.0, 0.0));
  EXPECT_DOUBLE_EQ(chunk(windowed, 64.0, 65'536.0), chunk(all, 64.0, 256.0));
}

}  // namespace
}  // namespace photonrail::test
