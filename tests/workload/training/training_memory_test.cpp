#include "photonrail/training.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "workload/training/small_spec.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace photonrail {
namespace {

using test::small_spec;

/// GPT of h 64, 4 heads, V 160, on one GPU: 2 layers, one micro-batch of 2 x 16 tokens.
TrainingSpec gpt() {
  TrainingSpec spec;
  spec.model = {"gpt", 2, 64, 256, 4, 4, 160};
  spec.model.mlp = MlpKind::kGelu;
  spec.sequence = 16;
  spec.micro_batch = spec.global_batch = 2;
  return spec;
}

constexpr double kHead = 32 * (2 * 64 * 2 + 160 * 4);  // the head's norm, in and out, in bf16, and the logits in fp32

TEST(TrainingMemory, StateIsBytesForEachParameter) {
  // bf16 weights, fp32 gradients, fp32 master weights and two moments: 2 + 4 + 12.
  const TrainingSpec spec = gpt();
  const auto memory = training_memory(spec);
  ASSERT_EQ(memory.size(), 1u);
  const double parameters = spec.model.parameters();
  EXPECT_EQ(memory[0].parameters, 2 * parameters);
  EXPECT_EQ(memory[0].gradients, 4 * parameters);
  EXPECT_EQ(memory[0].optimizer, 12 * parameters);
}

TEST(TrainingMemory, ActivationsOfALayerAreThoseOfThePaper) {
  // arXiv 2205.05198, equation 1, without dropout masks (2 s b h) and without what depends on the scores: 34 - 2 = 32 s b h
  // bytes a layer; here 32 tokens of 64. With tp 2: norms and their outputs stay whole, 8 of the 32 (equation 2);
  // with sequence parallelism nothing does (equation 4).
  TrainingSpec spec = gpt();
  EXPECT_EQ(training_memory(spec)[0].activations, 2 * 32.0 * 32 * 64 + kHead);
  spec.parallelism.tp = 2;
  spec.sequence_parallel = false;
  EXPECT_EQ(training_memory(spec)[0].activations, 2 * (8 + 24.0 / 2) * 32 * 64 + 32 * (2 * 64 * 2 + 80 * 4));
  spec.sequence_parallel = true;
  EXPECT_EQ(training_memory(spec)[0].activations, 2 * 16.0 * 32 * 64 + kHead / 2);
}

// What FP8 products read is kept in a byte, for the gradients of their weights; what attention and the activation function
// read stays in two (Transformer Engine keeps the quantised input of a linear layer, and Megatron-LM's
// activation_func_fp8_input_store is off). Of 34 - 2 bytes: both norms' outputs 2 less, the down projection's input 4 less;
// attention's output is kept twice, 1 more.
TEST(TrainingMemory, QuantisedProductsKeepTheirOwnInputs) {
  OperatorRoofline gpu;
  gpu.fp8_tflops = 1979;
  gpu.fp4_tflops = 4000;
  TrainingOperators how;
  how.times = OperatorTimes{gpu};
  const auto of_a_layer = [&how] {
    TrainingSpec spec = gpt();
    spec.operators = std::make_shared<TrainingOperators>(how);
    return (training_memory(spec)[0].activations - kHead) / (2 * 32 * 64);
  };
  EXPECT_EQ(of_a_layer(), 32.0);
  how.precision = OperatorPrecision::kFp8;
  EXPECT_EQ(of_a_layer(), 27.0);
  how.mixed.last_layers = 1;
  EXPECT_EQ(of_a_layer(), (27.0 + 32.0) / 2);
  how.mixed.last_layers = 0;
  how.precision = OperatorPrecision::kFp4;
  EXPECT_EQ(of_a_layer(), 23.5);
  // Computed again: norms keep their inputs alone, the activation function's output is not kept, and then nothing inside.
  how.again.norms = true;
  EXPECT_EQ(of_a_layer(), 22.5);
  how.again.activations = true;
  EXPECT_EQ(of_a_layer(), 20.5);
  how.again.mlp = true;
  EXPECT_EQ(of_a_layer(), 12.5);
}

TEST(TrainingMemory, FullRecomputationKeepsTheInputsOfLayers) {
  // 2 s b h bytes a layer, and one layer whole while it is at work.
  TrainingSpec spec = gpt();
  spec.recompute = Recompute::kFull;
  EXPECT_EQ(training_memory(spec)[0].activations, 2 * 2.0 * 32 * 64 + 32.0 * 32 * 64 + kHead);
}

TEST(TrainingMemory, EarlyStagesHoldMoreMicroBatches) {
  // 4 layers on 4 stages, 8 micro-batches: under 1F1B stage s holds 4 - s of them, under GPipe all 8.
  TrainingSpec spec = gpt();
  spec.model.layers = 4;
  spec.parallelism.pp = 4;
  spec.global_batch = 16;
  const double layer = 32.0 * 32 * 64;
  const auto one = training_memory(spec);
  for (int s = 0; s < 3; ++s) EXPECT_EQ(one[s].activations, (4 - s) * layer);
  EXPECT_EQ(one[3].activations, layer + kHead);
  spec.schedule = PipelineSchedule::kGPipe;
  EXPECT_EQ(training_memory(spec)[1].activations, 8 * layer);
}

TEST(TrainingMemory, ShardingDividesWhatItShards) {
  TrainingSpec spec = gpt();
  spec.parallelism.dp = 4;
  spec.global_batch = 8;
  const double parameters = spec.model.parameters();
  spec.parallelism.zero1 = true;  // the optimizer only
  const auto zero1 = training_memory(spec)[0];
  EXPECT_EQ(zero1.parameters, 2 * parameters);
  EXPECT_EQ(zero1.gradients, 4 * parameters);
  EXPECT_EQ(zero1.optimizer, 3 * parameters);
  spec.parallelism.zero1 = false;
  spec.parallelism.fsdp = true;  // everything; two layers are whole at once, 12 h^2 + 2 h weights each
  const auto fsdp = training_memory(spec)[0];
  EXPECT_EQ(fsdp.parameters, 2 * parameters / 4 + 2 * 2 * (12.0 * 64 * 64 + 2 * 64));
  EXPECT_EQ(fsdp.gradients, parameters);
  EXPECT_EQ(fsdp.optimizer, 3 * parameters);
}

TEST(TrainingMemory, DualPipeHoldsTwoCopies) {
  TrainingSpec spec = small_spec();
  const auto one = training_memory(spec);
  spec.schedule = PipelineSchedule::kDualPipe;
  const auto two = training_memory(spec);
  EXPECT_EQ(two[0].parameters, one[0].parameters + one[1].parameters);
  EXPECT_EQ(two[1].parameters, two[0].parameters);
}

}  // namespace
}  // namespace photonrail
