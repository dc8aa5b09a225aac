#include "serving/engine/model_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

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

// The routed experts of a step of 256 tokens on one of `tp` x `dp` GPUs: the group's tokens choose all 64 experts, of which
// each GPU has 64 / ep with a width of 1024 ep / (tp dp), and 4 x 256 x dp / ep rows.
double routed_us(std::uint32_t tp, std::uint32_t dp, std::uint32_t ep) {
  GroupedProduct op{OperatorPrecision::kBf16, 4 * 256 * dp / ep, 4096, 1024 * ep / (tp * dp), 64 / ep, 4, 64};
  op.gated = true;
  return to_seconds(roofline().time(op).time) * 1e6;
}

double step_us(const ServedModel& served) { return kernels_of(served, roofline(), 256, 16).dense.at("down_proj").at(256); }

TEST(ServingModelKernels, ExpertsAreDividedAmongTheGpusThatStepTogether) {
  struct Shape {
    std::uint32_t tp, dp, ep;
  };
  const auto router_us = [&](std::uint32_t tp, std::uint32_t dp, std::uint32_t ep) {
    return step_us(of_experts(tp, dp, ep)) - routed_us(tp, dp, ep);
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

}  // namespace
}  // namespace photonrail::test
