// FLOPs and bytes of whole training steps against closed forms.
#include "photonrail/training.hpp"
#include "workload/training/graph_volume.hpp"
#include "workload/training/small_spec.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace photonrail {
namespace {

using test::flops;
using test::small_spec;
using test::volume;

constexpr std::int64_t kActivationBytes = 2 * 16 * 64 * 2;  // micro-batch x sequence x hidden x 2 bytes = 4096
constexpr std::int64_t kNorms = 5 * 2 * 64 + 64;            // whole on every tp rank

TEST(TrainingVolume, FlopsFollowSixNT) {
  // Every weight of a matrix product costs 2 FLOPs a token forward and 4 backward: 6 N T, N without the embedding (a
  // lookup) and the norms. Attention adds 4 s h a token and layer forward, thrice that in all: 12 L s h T.
  const TrainingSpec spec = small_spec();
  const double tokens = 16.0 * 16.0;
  const double weights = spec.model.parameters() - 64.0 * 160.0 - kNorms;
  const double attention = 12.0 * 5 * 16 * 64 * tokens;
  EXPECT_DOUBLE_EQ(flops(make_training_graph(spec)), 6.0 * weights * tokens + attention);
}

TEST(TrainingVolume, RecomputeAddsAForwardPassOfTheLayers) {
  // Layers: 8 N T and 16 L s h T; the head stays at 6 h V T.
  TrainingSpec spec = small_spec();
  spec.recompute = Recompute::kFull;
  const double tokens = 16.0 * 16.0;
  const double head = 64.0 * 160.0;
  const double weights = spec.model.parameters() - 2.0 * head - kNorms;
  EXPECT_DOUBLE_EQ(flops(make_training_graph(spec)),
                   8.0 * weights * tokens + 16.0 * 5 * 16 * 64 * tokens + 6.0 * head * tokens);
}

TEST(TrainingVolume, Llama3At8kIsNearSixNT) {
  // 8.03e9 parameters, 7.50e9 of them in products; attention adds 12 x 32 x 8192 x 4096 = 12.9e9 a token to 45.0e9.
  TrainingSpec spec;
  spec.model = test::llama3_8b();
  spec.sequence = 8192;
  EXPECT_NEAR(flops(make_training_graph(spec)) / 8192, 57.9e9, 0.1e9);
}

TEST(TrainingVolume, TensorParallelWithSequenceParallelism) {
  // A replica's micro-batch, forward: 2 all-gathers and 2 reduce-scatters a layer, a reduce-scatter after the embedding and
  // an all-gather before the head: 2 L + 1 each. Backward mirrors it. So 2 (2 x 5 + 1) = 22 each, on tp 2 x dp 2 ranks of
  // one stage or other, 4 micro-batches. An all-gather counts its shard, a reduce-scatter its full input.
  TrainingSpec spec = small_spec();
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_EQ(volume(graph, Dimension::kTp, CollectiveOp::kAllGather), 2 * 2 * 4 * 22 * kActivationBytes / 2);
  EXPECT_EQ(volume(graph, Dimension::kTp, CollectiveOp::kReduceScatter), 2 * 2 * 4 * 22 * kActivationBytes);
  EXPECT_EQ(volume(graph, Dimension::kTp, CollectiveOp::kAllReduce), 0);
  // Full recomputation repeats the forward exchanges of the layers: 2 L = 10 more of each.
  spec.recompute = Recompute::kFull;
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kTp, CollectiveOp::kReduceScatter),
            2 * 2 * 4 * 32 * kActivationBytes);
}

TEST(TrainingVolume, TensorParallelWithoutSequenceParallelism) {
  // All-reduces: forward 2 a layer and one for the embedding, backward 2 a layer and one for the head's input: 22.
  TrainingSpec spec = small_spec();
  spec.sequence_parallel = false;
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_EQ(volume(graph, Dimension::kTp), 2 * 2 * 4 * 22 * kActivationBytes);
  EXPECT_EQ(volume(graph, Dimension::kTp, CollectiveOp::kAllReduce), volume(graph, Dimension::kTp));
}

TEST(TrainingVolume, PipelineMessages) {
  // One boundary, there and back, 4 micro-batches, 4 pairs of ranks; each sends its shard of the activation.
  TrainingSpec spec = small_spec();
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kPp), 2 * 4 * 4 * kActivationBytes / 2);
  spec.sequence_parallel = false;  // now each of the tp ranks sends all of it
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kPp), 2 * 4 * 4 * kActivationBytes);
  spec.parallelism.pp = 5;
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kPp), 4 * 2 * 4 * 4 * kActivationBytes);
}

TEST(TrainingVolume, ScatteredMessagesAreGatheredBehindTheBoundary) {
  // A tp-th from each rank, as under sequence parallelism. Behind the boundary, in each direction, the two tensor-parallel
  // ranks of the two data-parallel replicas gather the halves of each of 4 micro-batches: each sends its half once.
  TrainingSpec spec = small_spec();
  spec.sequence_parallel = false;
  const std::int64_t whole = volume(make_training_graph(spec), Dimension::kTp);
  spec.scatter_messages = true;
  const TaskGraph scattered = make_training_graph(spec);
  EXPECT_EQ(volume(scattered, Dimension::kPp), 2 * 4 * 4 * kActivationBytes / 2);
  EXPECT_EQ(volume(scattered, Dimension::kTp, CollectiveOp::kAllGather), 2 * 2 * 2 * 4 * (kActivationBytes / 2));
  EXPECT_EQ(volume(scattered, Dimension::kTp) - volume(scattered, Dimension::kTp, CollectiveOp::kAllGather), whole);
  spec.sequence_parallel = true;  // nothing to scatter
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kPp), 2 * 4 * 4 * kActivationBytes / 2);
  spec.sequence_parallel = false;
  spec.parallelism.tp = 1;
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kTp), 0);
}

TEST(TrainingVolume, PlainDataParallelReducesEachGradientOnce) {
  // Over the tp ranks: every weight once, the norms on both. Two replicas, 4 bytes, however many micro-batches.
  TrainingSpec spec = small_spec();
  const auto parameters = static_cast<std::int64_t>(spec.model.parameters()) + kNorms;
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kDp), 2 * parameters * 4);
  spec.global_batch = 32;
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kDp), 2 * parameters * 4);
}

TEST(TrainingVolume, FsdpGathersTwiceAndReducesOnceAMicroBatch) {
  // Gather: shards of 2 bytes, 2 times a micro-batch; all ranks together hold the tp-sharded model once.
  // Reduce-scatter: full gradients of 4 bytes on both replicas, once a micro-batch. 4 micro-batches.
  TrainingSpec spec = small_spec();
  spec.parallelism.fsdp = true;
  const auto parameters = static_cast<std::int64_t>(spec.model.parameters()) + kNorms;
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kAllGather), 2 * 4 * parameters * 2);
  EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kReduceScatter), 4 * 2 * parameters * 4);
}

TEST(TrainingVolume, FsdpPadsShardsToEqualSizes) {
  // dp 3, tp 1, pp 1. Units: embedding 64 x 160 = 10240 -> shards of 3414; a layer 64 x (64 + 2 x 32) + 64 x 64 + 3 x 64 x
  // 96
  // + 2 x 64 = 30848 -> 10283; the head 10240 + 64 = 10304 -> 3435. Shards: 3414 + 5 x 10283 + 3435 = 58264.
  TrainingSpec spec = small_spec();
  spec.parallelism = {.tp = 1, .pp = 1, .dp = 3, .fsdp = true};
  spec.global_batch = 6;  // one micro-batch
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kAllGather), 3 * 2 * 58264 * 2);
  EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kReduceScatter), 3 * 3 * 58264 * 4);
}

TEST(TrainingVolume, Llama3FsdpOnFourGpusAsMeasured) {
  // A published measurement of one step (torchtitan, bf16 weights, fp32 reduction), rank 0: all-gather 8.030 GB,
  // reduce-scatter 32.121 GB of input.
  TrainingSpec spec;
  spec.model = test::llama3_8b();
  spec.parallelism = {.tp = 1, .pp = 1, .dp = 4, .fsdp = true};
  spec.global_batch = 4;
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_NEAR(static_cast<double>(volume(graph, Dimension::kDp, CollectiveOp::kAllGather)) / 4, 8.030e9, 0.001e9);
  EXPECT_NEAR(static_cast<double>(volume(graph, Dimension::kDp, CollectiveOp::kReduceScatter)) / 4, 32.121e9, 0.001e9);
}

TEST(TrainingVolume, Llama3TensorParallelOnFourGpusAsMeasured) {
  // The TP4 row: all-gather 1.091 GB, reduce-scatter 4.362 GB, 4096 tokens: 130 each (2 (2 x 32 + 1)) of a shard of
  // 4096 x 4096 x 2 B / 4, or of the whole.
  TrainingSpec spec;
  spec.model = test::llama3_8b();
  spec.parallelism = {.tp = 4};
  const TaskGraph graph = make_training_graph(spec);
  const auto gathered = static_cast<double>(volume(graph, Dimension::kTp, CollectiveOp::kAllGather)) / 4;
  const auto scattered = static_cast<double>(volume(graph, Dimension::kTp, CollectiveOp::kReduceScatter)) / 4;
  EXPECT_NEAR(gathered, 1.091e9, 0.003 * 1.091e9);
  EXPECT_NEAR(scattered, 4.362e9, 0.003 * 4.362e9);
  EXPECT_EQ(scattered, 4 * gathered);
}

TEST(TrainingVolume, TheOptimizerTouchesItsShardOnce) {
  // Gradient 4, master weight and two moments read and written 3 x 2 x 4, parameter 2: 30 bytes for each of 58264 (above).
  TrainingSpec spec = small_spec();
  spec.parallelism = {.tp = 1, .pp = 1, .dp = 3, .fsdp = true};
  spec.global_batch = 6;
  const TaskGraph graph = make_training_graph(spec);
  const Task& optimizer = graph.programs()[0].tasks().back();
  EXPECT_EQ(optimizer.memory(), Bytes{30 * 58264});
  EXPECT_EQ(optimizer.flops, 0.0);
}

TEST(TrainingVolume, MemoryTrafficOfAnMlp) {
  // tp 2: weights 3 x 64 x 48 + norm 64 = 9280; activations 32 tokens x (2 x 64 + 4 x 48) = 10240; 2 bytes each: 39040.
  // Backward: twice that and gradients of 4 bytes: 78080 + 37120 = 115200.
  const TaskGraph graph = make_training_graph(small_spec());
  const Program& p = graph.programs()[0];
  for (std::size_t t = 0; t < p.tasks().size(); ++t) {
    if (p.name(TaskId{t}) == "fwd.0.layer0.mlp") {
      EXPECT_EQ(p.tasks()[t].memory(), Bytes{39040});
    }
    if (p.name(TaskId{t}) == "bwd.0.layer0.mlp") {
      EXPECT_EQ(p.tasks()[t].memory(), Bytes{115200});
    }
  }
}

}  // namespace
}  // namespace photonrail
