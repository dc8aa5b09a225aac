#include "photonrail/error.hpp"
#include "photonrail/training.hpp"
#include "workload/training/small_spec.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace photonrail {
namespace {

TrainingSpec valid_spec() {
  TrainingSpec spec;
  spec.model = test::llama3_8b();
  spec.parallelism = {.tp = 4, .pp = 2, .dp = 2, .fsdp = true};
  spec.global_batch = 16;
  return spec;
}

/// The JSON pointer of the ConfigError for a valid specification with one change, and whether there is a word of help.
std::string field_after(const std::function<void(TrainingSpec&)>& change) {
  TrainingSpec spec = valid_spec();
  change(spec);
  try {
    spec.validate();
  } catch (const ConfigError& error) {
    EXPECT_FALSE(error.problem().empty());
    return error.where();
  }
  return "valid";
}

TEST(TrainingSpec, CountsMicroBatchesOfOneReplica) {
  TrainingSpec spec = valid_spec();
  EXPECT_EQ(spec.micro_batches(), 8u);  // 16 sequences / (dp 2 x 1)
  spec.micro_batch = 4;
  EXPECT_EQ(spec.micro_batches(), 2u);
}

TEST(TrainingSpec, AcceptsWhatFits) {
  EXPECT_EQ(field_after([](TrainingSpec&) {}), "valid");
  // 8 KV heads over tp 16: each is on two ranks. 32 heads, ffn 14336 and 128256 words divide by 16.
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.tp = 16; }), "valid");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.order = {"pp", "tp", "dp"}; }), "valid");
}

TEST(TrainingSpec, EveryFieldMustBePositive) {
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.layers = 0; }), "model.layers");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.hidden = 0; }), "model.hidden");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.ffn = 0; }), "model.ffn");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.heads = 0; }), "model.heads");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.kv_heads = 0; }), "model.kv_heads");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.vocabulary = 0; }), "model.vocabulary");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.tp = 0; }), "parallelism.tp");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.pp = 0; }), "parallelism.pp");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.dp = 0; }), "parallelism.dp");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.sequence = 0; }), "sequence");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.global_batch = 0; }), "global_batch");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.micro_batch = 0; }), "micro_batch");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parameter_bytes = 0; }), "parameter_bytes");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.gradient_bytes = 0; }), "gradient_bytes");
}

TEST(TrainingSpec, WhatIsSplitMustDivide) {
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.heads = 33; }), "model.heads");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.kv_heads = 5; }), "model.kv_heads");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.tp = 3; }), "parallelism.tp");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.ffn = 14335; }), "parallelism.tp");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.vocabulary = 128257; }), "parallelism.tp");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.sequence = 4097; }), "parallelism.tp");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.sequence = 4097, s.sequence_parallel = false; }), "valid");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.pp = 33; }), "parallelism.pp");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.global_batch = 15; }), "global_batch");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.micro_batch = 3; }), "global_batch");
  // 12 heads in 6 KV heads over tp 4: neither 6 % 4 nor 4 % 6 is 0.
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.model.heads = 12, s.model.kv_heads = 6, s.model.hidden = 96; }),
            "parallelism.tp");
}

TEST(TrainingSpec, TheOrderIsAPermutation) {
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.order = {"tp", "dp"}; }), "order");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.order = {"tp", "tp", "pp"}; }), "order");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.order = {"tp", "dp", "cp"}; }), "order");
}

TEST(TrainingSpec, TheSequenceMustDivideOverContextAndTensorParallelism) {
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.cp = 2; }), "valid");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.cp = 0; }), "parallelism.cp");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.cp = 3; }), "parallelism.cp");
  // 4100 = 2 x 2050, and 2050 is not a multiple of tp 4.
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.cp = 2, s.sequence = 4100; }), "parallelism.tp");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.cp = 2, s.order = {"tp", "dp", "pp"}; }), "order");
}

TEST(TrainingSpec, LayersMustDivideOverVirtualStages) {
  const auto interleaved = [](TrainingSpec& s, std::uint32_t chunks) {
    s.schedule = PipelineSchedule::kInterleaved;
    s.parallelism.virtual_stages = chunks;
  };
  EXPECT_EQ(field_after([&](TrainingSpec& s) { interleaved(s, 4); }), "valid");  // 32 layers, 2 x 4 parts
  EXPECT_EQ(field_after([&](TrainingSpec& s) { interleaved(s, 3); }), "parallelism.virtual_stages");
  EXPECT_EQ(field_after([&](TrainingSpec& s) { interleaved(s, 17); }), "parallelism.virtual_stages");
  EXPECT_EQ(field_after([&](TrainingSpec& s) { interleaved(s, 1); }), "pipeline.chunks");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.virtual_stages = 2; }), "pipeline.chunks");
  // With the embedding and the head 34 places: 2 x 17.
  EXPECT_EQ(field_after([&](TrainingSpec& s) { interleaved(s, 17), s.ends_count_as_layers = true; }), "valid");
  // 34 places over 8 parts: the first two have one more.
  EXPECT_EQ(field_after([&](TrainingSpec& s) { interleaved(s, 4), s.ends_count_as_layers = true; }), "valid");
  EXPECT_EQ(field_after([&](TrainingSpec& s) { interleaved(s, 4), s.global_batch = 14; }), "pipeline.micro_batches");
}

// With the embedding, the head and n predictions 34 + n places over 8 stages. With 10 of them these are 5 or 6, and place
// 32, the last layer's, is in stage 5 (from 28 on) of 0 to 7: stage 6 begins at 34. With 2 of them 36 places are 5, 5, 5, 5
// and 4: stage 6 has those from 28 on.
TEST(TrainingSpec, PredictionsThatCountAsLayersLeaveOneForEachMiddleStage) {
  const auto predicting = [](std::uint32_t tokens, std::uint32_t stages, std::uint32_t chunks) {
    return field_after([&](TrainingSpec& s) {
      s.parallelism.pp = stages;
      s.parallelism.dp = 1;
      s.parallelism.virtual_stages = chunks;
      if (chunks > 1) s.schedule = PipelineSchedule::kInterleaved;
      s.ends_count_as_layers = true;
      s.model.predicted_tokens = tokens;
    });
  };
  EXPECT_EQ(predicting(10, 8, 1), "parallelism.pp");
  EXPECT_EQ(predicting(2, 8, 1), "valid");
  EXPECT_EQ(predicting(10, 2, 4), "parallelism.virtual_stages");
  EXPECT_EQ(predicting(16, 2, 1), "valid") << "all stages are ends";
  for (std::uint32_t tokens = 0; tokens <= 16; ++tokens) EXPECT_NE(predicting(tokens, 3, 1), "") << tokens;
}

// 32 layers on 2 stages.
TEST(TrainingSpec, LayersOfStagesMustAddUp) {
  const auto layers = [](std::vector<std::uint32_t> of) {
    return field_after([&](TrainingSpec& s) { s.stage_layers = of; });
  };
  EXPECT_EQ(layers({20, 12}), "valid");
  EXPECT_EQ(layers({32, 0}), "valid");
  EXPECT_EQ(layers({20, 13}), "stage_layers");
  EXPECT_EQ(layers({20, 6, 6}), "stage_layers");
  EXPECT_EQ(field_after([](TrainingSpec& s) {
              s.parallelism.pp = 4, s.parallelism.dp = 1, s.stage_layers = {16, 0, 8, 8};
            }),
            "stage_layers");
  EXPECT_EQ(field_after([](TrainingSpec& s) {
              s.stage_layers = {20, 12}, s.ends_count_as_layers = true;
            }),
            "ends_count_as_layers");
}

TEST(TrainingSpec, ExpertsMustFitTheirRanks) {
  const auto with_experts = [](TrainingSpec& s) { s.model.moe = ExpertSpec{.experts = 8, .top_k = 2}; };
  EXPECT_EQ(field_after([&](TrainingSpec& s) { with_experts(s), s.parallelism.ep = 2; }), "valid");
  EXPECT_EQ(field_after([&](TrainingSpec& s) { with_experts(s), s.parallelism.ep = 8, s.parallelism.etp = 1; }), "valid");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.ep = 2; }), "parallelism.ep");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.etp = 2; }), "parallelism.etp");
  EXPECT_EQ(field_after([&](TrainingSpec& s) { with_experts(s), s.parallelism.ep = 3; }), "parallelism.ep");
  // tp 4 x dp 2 = 8 ranks: etp 4 x ep 4 = 16 do not fit.
  EXPECT_EQ(field_after([&](TrainingSpec& s) { with_experts(s), s.parallelism.ep = 4; }), "parallelism.ep");
  EXPECT_EQ(field_after([&](TrainingSpec& s) { with_experts(s), s.parallelism.etp = 3; }), "parallelism.etp");
  EXPECT_EQ(field_after([&](TrainingSpec& s) { with_experts(s), s.sequence_parallel = false; }), "sequence_parallel");
  EXPECT_EQ(field_after([&](TrainingSpec& s) { with_experts(s), s.model.moe->top_k = 9; }), "model.moe.top_k");
  EXPECT_EQ(field_after([&](TrainingSpec& s) { with_experts(s), s.model.moe->dense_layers = 33; }),
            "model.moe.dense_layers");
  EXPECT_EQ(field_after([&](TrainingSpec& s) { with_experts(s), s.model.moe->every = 0; }), "model.moe.every");
}

TEST(TrainingSpec, WaysToShardExcludeEachOther) {
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.zero1 = true; }), "parallelism.zero1");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.dp_replicate = 2; }), "valid");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.dp_replicate = 3; }), "parallelism.dp_replicate");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.fsdp = false, s.parallelism.dp_replicate = 2; }),
            "parallelism.dp_replicate");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.bucket = Bytes{1}; }), "bucket");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.overlap_parameters = true; }), "overlap_parameters");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.schedule = PipelineSchedule::kDualPipe; }), "parallelism.fsdp");
}

TEST(TrainingSpec, RefusesWhatNoMachineCouldHold) {
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.parallelism.dp = 1u << 31, s.global_batch = 1u << 31; }), "parallelism");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.global_batch = 1u << 30; }), "global_batch");
  // 32 layers, dp 2: 31,250 micro-batches are 1,000,000 passes of layers.
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.global_batch = 2 * 31'250; }), "valid");
  EXPECT_EQ(field_after([](TrainingSpec& s) { s.global_batch = 2 * 31'251; }), "global_batch");
  EXPECT_EQ(
      field_after([](TrainingSpec& s) { s.micro_batch = 1u << 30, s.global_batch = 1u << 31, s.sequence = 1u << 31; }),
      "micro_batch");
}

}  // namespace
}  // namespace photonrail
