// The published latencies of FlashMoE (arXiv 2506.04667 v3, forward of one layer) beside ours. One point is fitted: 8 GPUs,
// 8192 tokens a GPU, 32 experts. docs/validation.md says why others differ.
#include "golden/golden.hpp"

#include <string>

namespace photonrail::test {
namespace {

double layer_ms(std::uint32_t gpus, std::uint32_t tokens, std::uint32_t experts, const std::string& execution) {
  const std::string layer = "/workload/moe_layer/";
  const RunResult result =
      run("papers/flashmoe/8-gpus.json",
          {"/cluster/gpus_per_server=" + std::to_string(gpus), layer + "tokens=" + std::to_string(tokens),
           layer + "experts=" + std::to_string(experts), layer + "execution=" + execution});
  return to_seconds(result.makespan) * 1000.0;
}

struct Published {
  std::uint32_t gpus;
  std::uint32_t tokens;
  std::uint32_t experts;
  double ms;
};

constexpr std::uint32_t kK = 1024;

TEST(FlashMoe, LatenciesWithinAQuarterAndBelowTheBulk) {
  const Published published[] = {{8, 4 * kK, 32, 2.1},  {8, 8 * kK, 32, 3.7},  {8, 16 * kK, 32, 7.0}, {4, 4 * kK, 32, 2.1},
                                 {4, 8 * kK, 32, 3.4},  {4, 16 * kK, 32, 6.2}, {2, 8 * kK, 32, 3.3},  {8, 16 * kK, 8, 8.2},
                                 {8, 16 * kK, 16, 8.1}, {8, 16 * kK, 64, 6.9}, {8, 16 * kK, 128, 8.4}};
  for (const auto& [gpus, tokens, experts, ms] : published) {
    const std::string point =
        std::to_string(gpus) + " GPUs, " + std::to_string(tokens) + " tokens, " + std::to_string(experts) + " experts";
    const double pipelined = layer_ms(gpus, tokens, experts, "pipelined");
    EXPECT_NEAR(pipelined, ms, 0.25 * ms) << point;
    EXPECT_LT(pipelined, layer_ms(gpus, tokens, experts, "bulk")) << point;
  }
  EXPECT_NEAR(layer_ms(8, 8 * kK, 32, "pipelined"), 3.7, 0.005);  // the fit
}

// Weak scaling, 8192 tokens a GPU: the published order is 2, 4, 8 GPUs.
TEST(FlashMoe, MoreGpusCostLittle) {
  const double two = layer_ms(2, 8 * kK, 32, "pipelined");
  const double four = layer_ms(4, 8 * kK, 32, "pipelined");
  const double eight = layer_ms(8, 8 * kK, 32, "pipelined");
  EXPECT_LT(two, four);
  EXPECT_LT(four, eight);
  EXPECT_GT(two / eight, 0.9);  // published: 3.3 / 3.7 = 0.89
}

// The policies in the order of Perseus (arXiv 2605.00686), on the example scenario.
TEST(FlashMoe, FencesCostInTheOrderOfPerseus) {
  const auto fences = [](const char* policy) {
    return run("moe-layer.json", {"/workload/moe_layer/fences=" + std::string(policy)}).makespan;
  };
  EXPECT_LE(fences("none"), fences("nic"));
  EXPECT_LT(fences("nic"), fences("each_destination"));
  EXPECT_LT(fences("each_destination"), fences("each_message"));
}

}  // namespace
}  // namespace photonrail::test
