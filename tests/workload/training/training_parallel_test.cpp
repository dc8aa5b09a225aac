// Context, expert and data parallelism in their variants: bytes and FLOPs against closed forms.
#include "photonrail/training.hpp"
#include "support/errors.hpp"
#include "workload/training/graph_volume.hpp"
#include "workload/training/small_spec.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {
namespace {

using test::flops;
using test::small_spec;
using test::volume;

constexpr std::int64_t kTokens = 2 * 16;                // of a micro-batch of small_spec()
constexpr std::int64_t kActivation = kTokens * 64 * 2;  // in bytes

/// Tasks of one rank whose name has `word`.
std::size_t count(const TaskGraph& graph, RankId rank, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t t = 0; t < graph.program(rank).tasks().size(); ++t) {
    found += graph.program(rank).name(TaskId{t}).find(word) != std::string_view::npos ? 1 : 0;
  }
  return found;
}

std::int64_t parameters(const TrainingSpec& spec) { return static_cast<std::int64_t>(spec.model.parameters()); }

TrainingSpec data_parallel(std::uint32_t dp) {
  TrainingSpec spec = small_spec();
  spec.parallelism = {.dp = dp};
  spec.global_batch = 2 * 2 * dp;  // two micro-batches
  return spec;
}

/// 5 layers, the first dense; 8 experts of width 16, two a token, one shared; tp 2, dp 4, one micro-batch of 2 x 16 tokens.
TrainingSpec with_experts(std::uint32_t ep, std::uint32_t etp) {
  TrainingSpec spec = small_spec();
  spec.model.moe = ExpertSpec{.experts = 8, .top_k = 2, .ffn = 16, .shared = 1, .dense_layers = 1};
  spec.parallelism = {.tp = 2, .dp = 4, .ep = ep, .etp = etp};
  spec.global_batch = 8;
  return spec;
}

TEST(ContextParallel, KeysAndValuesGoAroundTheRing) {
  // cp 4, tp 2: a rank has 32 / 4 = 8 tokens, keys and values 2 x 32 / 2 = 32 wide: a block of 8 x 32 x 2 B = 512 B. Each
  // layer sends it on three times forward, and three times backward with its gradient: 9 x 512 B, on 8 ranks, 5 layers.
  TrainingSpec spec = small_spec();
  spec.parallelism = {.tp = 2, .cp = 4};
  spec.global_batch = 2;
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_EQ(volume(graph, Dimension::kCp), 8 * 5 * 9 * 512);
  spec.recompute = Recompute::kFull;  // the forward pass of every layer again
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kCp), 8 * 5 * 12 * 512);
}

TEST(ContextParallel, SharesTheWork) {
  // The FLOPs of all ranks together stay what they are; gradients are reduced over cp x dp.
  TrainingSpec spec = small_spec();
  spec.parallelism = {.tp = 2};
  spec.global_batch = 2;
  const double alone = flops(make_training_graph(spec));
  spec.parallelism.cp = 4;
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_DOUBLE_EQ(flops(graph), alone);
  // Norms (5 x 2 x 64 + 64) are whole on both tp ranks; four copies of the model, fp32.
  EXPECT_EQ(volume(graph, Dimension::kDp), 4 * (parameters(spec) + 5 * 2 * 64 + 64) * 4);
}

TEST(ContextParallel, TheExchangeRunsBesideTheCoreOfAttention) {
  TrainingSpec spec = small_spec();
  spec.parallelism = {.cp = 2};
  spec.global_batch = 2;
  const TaskGraph graph = make_training_graph(spec);
  const Program& p = graph.programs()[0];
  // The first block is the rank's own: its core waits for the projections and not for a message.
  for (std::size_t t = 0; t < p.tasks().size(); ++t) {
    if (p.name(TaskId{t}) != "fwd.0.layer0.attention.core0") continue;
    EXPECT_EQ(p.tasks()[t].waits, 1u);
    EXPECT_EQ(p.tasks()[t].flops, 2.0 * (kTokens / 2) * (16.0 / 2) * (64 + 64));
  }
}

TEST(ExpertParallel, TokensTravelToTheirExpertsAndBack) {
  // A rank has 32 / 2 = 16 tokens: 16 x 2 experts x 64 x 2 B = 4096 B each way, forward and backward, in 4 layers.
  for (const std::uint32_t etp : {1u, 2u}) {
    const TaskGraph graph = make_training_graph(with_experts(4, etp));
    EXPECT_EQ(volume(graph, Dimension::kEp, CollectiveOp::kAllToAll), 8 * 4 * 4 * 4096);
  }
}

TEST(ExpertParallel, ExpertTensorParallelismGathersWhatArrives) {
  // Besides the tp traffic of attention, dense MLP, embedding, head and shared experts, as without experts: with etp 2
  // every layer with experts gathers 4096 B a rank before the experts and scatters 8192 B after them, forward and backward.
  const auto tp = [](std::uint32_t etp, CollectiveOp op) {
    return volume(make_training_graph(with_experts(4, etp)), Dimension::kTp, op);
  };
  EXPECT_EQ(tp(2, CollectiveOp::kAllGather) - tp(1, CollectiveOp::kAllGather), 8 * 4 * 2 * 4096);
  EXPECT_EQ(tp(2, CollectiveOp::kReduceScatter) - tp(1, CollectiveOp::kReduceScatter), 8 * 4 * 2 * 8192);
  // 2 (2 x 5 + 1) exchanges of an activation by 8 ranks without experts.
  EXPECT_EQ(tp(1, CollectiveOp::kReduceScatter), 8 * 22 * kActivation);
}

TEST(ExpertParallel, FlopsDoNotDependOnTheLayout) {
  // 6 FLOPs a token for each weight that it passes (the embedding is a lookup, norms count none); attention 12 L s h.
  const TrainingSpec spec = with_experts(4, 1);
  const double tokens = 8.0 * 16;
  const double weights = spec.model.active_parameters() - 64.0 * 160 - (5 * 2 * 64 + 64);
  const double expected = 6.0 * weights * tokens + 12.0 * 5 * 16 * 64 * tokens;
  EXPECT_DOUBLE_EQ(flops(make_training_graph(spec)), expected);
  EXPECT_DOUBLE_EQ(flops(make_training_graph(with_experts(2, 2))), expected);
  EXPECT_DOUBLE_EQ(flops(make_training_graph(with_experts(1, 2))), expected);
}

TEST(ExpertParallel, GradientsOfExpertsAreReducedAmongTheirCopies) {
  // Experts: 4 layers x 8 x 3 x 64 x 16 = 98304 weights. ep 4, etp 1: 8 ranks hold two copies. ep 8: one, nothing to
  // reduce.
  const auto of_experts = [](std::uint32_t ep) {
    return volume(make_training_graph(with_experts(ep, 1)), Dimension::kDp, CollectiveOp::kAllReduce, "expert_gradients");
  };
  EXPECT_EQ(of_experts(4), 2 * 98304 * 4);
  EXPECT_EQ(of_experts(8), 0);
  // Everything else is on tp 2 x dp 4 as before: 4 copies, with norms (11 x 64) and routers (4 x 64 x 8) twice in each.
  const TrainingSpec spec = with_experts(4, 1);
  const std::int64_t rest = parameters(spec) - 98304 + 11 * 64 + 4 * 64 * 8;
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kDp), 4 * rest * 4 + 2 * 98304 * 4);
}

TEST(ExpertParallel, FsdpShardsExpertsAmongTheirCopies) {
  TrainingSpec spec = with_experts(2, 1);  // four copies of an expert's weights
  spec.parallelism.fsdp = true;
  const TaskGraph graph = make_training_graph(spec);
  // All shards together are the experts once; two gathers of bf16; one reduce-scatter of four whole copies in fp32.
  EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kAllGather, "expert_weights"), 2 * 98304 * 2);
  EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kReduceScatter, "expert_gradients"), 4 * 98304 * 4);
}

TEST(ExpertParallel, ARouterGivesTheDemandOfEveryPair) {
  // Layer 3 of 5, one micro-batch, in the numbering of MoeTraffic: dispatch 1 + 2 x 3, combine the next. Every member has
  // 16 tokens x 2 experts x 64 x 2 B to send, whatever the router does; Zipf's first experts are on member 0.
  TrainingSpec spec = with_experts(4, 1);
  spec.moe.emplace().router.kind = RouterKind::kZipf;
  const TaskGraph graph = make_training_graph(spec);
  const Program& p = graph.program(RankId{0});
  std::vector<std::uint32_t> demands;
  for (std::size_t t = 0; t < p.tasks().size(); ++t) {
    const std::string_view task = p.name(TaskId{t});
    if (task.find("layer3.") != std::string_view::npos && task.ends_with("all_to_all")) {
      demands.push_back(p.tasks()[t].demand());
    }
  }
  EXPECT_EQ(demands, (std::vector<std::uint32_t>{7, 8, 7, 8}));  // the gradient of combine goes the way of dispatch
  ASSERT_NE(graph.demands(), nullptr);
  const TrafficMatrix dispatch = graph.demands()->matrix({.communicator = CommunicatorId{0}, .number = 7});
  for (Member from = 0; from < 4; ++from) {
    std::int64_t sent = 0;
    for (Member to = 0; to < 4; ++to) sent += dispatch.at(from, to).count;
    EXPECT_EQ(sent, 4096);
    EXPECT_GT(dispatch.at(from, 0).count, dispatch.at(from, 3).count);
  }
  spec.parallelism.ep = 1;
  EXPECT_EQ(test::error_of([&] { spec.validate(); }).where(), "moe");
}

TEST(LatentAttention, FlopsFollowTheFormula) {
  // One layer of h 64, 4 heads, query latent 24, kv latent 16, head widths 8 + 4 and 8, on tp 2; 32 tokens, sequence 16.
  // Down, whole on both ranks: 64 x (24 + 16 + 4) = 2816; up 24 x 2 x 12 + 16 x 2 x (8 + 8) = 1088; out 2 x 8 x 64 = 1024.
  TrainingSpec spec = small_spec();
  spec.model = {"latent", 1, 64, 96, 4, 4, 160};
  spec.model.latent = LatentAttention{24, 16, 8, 4, 8};
  spec.parallelism = {.tp = 2};
  spec.global_batch = 2;
  const TaskGraph graph = make_training_graph(spec);
  const Program& p = graph.programs()[0];
  const double core = 2.0 * 32 * 16 * 2 * (8 + 4 + 8);
  for (std::size_t t = 0; t < p.tasks().size(); ++t) {
    if (p.name(TaskId{t}) != "fwd.0.layer0.attention") continue;
    EXPECT_EQ(p.tasks()[t].flops, 2.0 * 32 * (2816 + 1088 + 1024) + core);
  }
}

TEST(Compute, TheCausalMaskHalvesTheScores) {
  TrainingSpec spec = data_parallel(1);
  const double whole = flops(make_training_graph(spec));
  spec.causal = true;  // 12 L s h a token become 6 L s h: 4 x 16 tokens
  EXPECT_DOUBLE_EQ(whole - flops(make_training_graph(spec)), 6.0 * 5 * 16 * 64 * 64);
}

TEST(Compute, SelectiveRecomputationRepeatsTheCoreOfAttention) {
  TrainingSpec spec = data_parallel(1);
  const double none = flops(make_training_graph(spec));
  spec.recompute = Recompute::kSelective;  // 4 s h a token and layer
  EXPECT_DOUBLE_EQ(flops(make_training_graph(spec)) - none, 4.0 * 5 * 16 * 64 * 64);
}

TEST(Compute, ASplitBackwardPassDoesTheSameWork) {
  TrainingSpec spec = small_spec();
  const TaskGraph whole = make_training_graph(spec);
  spec.schedule = PipelineSchedule::kZeroBubbleH1;
  const TaskGraph split = make_training_graph(spec);
  EXPECT_DOUBLE_EQ(flops(split), flops(whole));
  EXPECT_EQ(volume(split, Dimension::kDp), volume(whole, Dimension::kDp));
  EXPECT_EQ(volume(split, Dimension::kTp), volume(whole, Dimension::kTp));
}

TEST(Pipeline, DualPipeReducesBothCopies) {
  // Every parameter is on two stages, and both have gradients: twice the bytes of 1F1B. FLOPs are the same.
  TrainingSpec spec = small_spec();
  const TaskGraph one_way = make_training_graph(spec);
  spec.schedule = PipelineSchedule::kDualPipe;
  const TaskGraph both_ways = make_training_graph(spec);
  EXPECT_DOUBLE_EQ(flops(both_ways), flops(one_way));
  EXPECT_EQ(volume(both_ways, Dimension::kDp), 2 * volume(one_way, Dimension::kDp));
  EXPECT_EQ(volume(both_ways, Dimension::kPp), volume(one_way, Dimension::kPp));
}

TEST(Pipeline, VirtualStagesCrossMoreBoundaries) {
  // 8 layers in 2 x 2 parts: 3 boundaries, there and back, 4 micro-batches, 4 pairs of ranks, a tp shard each.
  TrainingSpec spec = small_spec();
  spec.model.layers = 8;
  spec.schedule = PipelineSchedule::kInterleaved;
  spec.parallelism.virtual_stages = 2;
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kPp), 3 * 2 * 4 * 4 * kActivation / 2);
}

TEST(Pipeline, TheEndsMayCountAsLayers) {
  // 6 layers and two ends on 4 stages: embedding and 1, 2, 2, 1 and head.
  TrainingSpec spec = small_spec();
  spec.model.layers = 6;
  spec.parallelism = {.pp = 4};
  spec.global_batch = 2;
  spec.ends_count_as_layers = true;
  const TaskGraph graph = make_training_graph(spec);
  const std::size_t layers[] = {1, 2, 2, 1};
  for (std::size_t s = 0; s < 4; ++s) EXPECT_EQ(count(graph, RankId{s}, ".mlp"), 2 * layers[s]) << s;
}

TEST(Pipeline, StagesMayHaveLayersOfTheirOwn) {
  // 5 layers as 3, 1, 1 and none: the last stage has the head alone.
  TrainingSpec spec = small_spec();
  spec.parallelism = {.pp = 4};
  spec.global_batch = 2;
  spec.stage_layers = {3, 1, 1, 0};
  const TaskGraph graph = make_training_graph(spec);
  for (std::size_t s = 0; s < 4; ++s) EXPECT_EQ(count(graph, RankId{s}, ".mlp"), 2 * spec.stage_layers[s]) << s;
  EXPECT_EQ(count(graph, RankId{3u}, "head"), 2u);
}

TEST(DataParallel, Zero1ScattersGradientsAndGathersParameters) {
  // dp 2 divides every unit (64 divides all of them): gradients once in full on both, fp32; shards of bf16 afterwards.
  TrainingSpec spec = data_parallel(2);
  spec.parallelism.zero1 = true;
  for (const bool overlapped : {false, true}) {
    spec.overlap_parameters = overlapped;
    const TaskGraph graph = make_training_graph(spec);
    EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kReduceScatter), 2 * parameters(spec) * 4);
    EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kAllGather), parameters(spec) * 2);
    EXPECT_EQ(graph.program(RankId{0}).tasks().back().kind, overlapped ? TaskKind::kCompute : TaskKind::kCollective);
  }
}

TEST(DataParallel, FsdpMayKeepParametersAndReduceOnce) {
  TrainingSpec spec = data_parallel(2);
  spec.parallelism.fsdp = true;
  const auto gathered = [&] { return volume(make_training_graph(spec), Dimension::kDp, CollectiveOp::kAllGather); };
  const auto scattered = [&] { return volume(make_training_graph(spec), Dimension::kDp, CollectiveOp::kReduceScatter); };
  EXPECT_EQ(gathered(), 2 * 2 * parameters(spec) * 2);  // forward and backward, two micro-batches
  spec.reshard_after_forward = false;                   // once a micro-batch
  EXPECT_EQ(gathered(), 2 * parameters(spec) * 2);
  EXPECT_EQ(scattered(), 2 * 2 * parameters(spec) * 4);
  spec.reduce_every_micro_batch = false;  // and now the parameters stay until the last backward pass
  EXPECT_EQ(gathered(), parameters(spec) * 2);
  EXPECT_EQ(scattered(), 2 * parameters(spec) * 4);
}

TEST(DataParallel, HybridShardingReducesAmongReplicasToo) {
  // dp 4 in two replicas of two shards: gathers of a shard by 4 ranks, twice, two micro-batches; reduce-scatters of whole
  // gradients, and all-reduces of the shards.
  TrainingSpec spec = data_parallel(4);
  spec.parallelism.fsdp = true;
  spec.parallelism.dp_replicate = 2;
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kAllGather), 4 * 4 * parameters(spec) / 2 * 2);
  EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kReduceScatter), 4 * 2 * parameters(spec) * 4);
  EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kAllReduce), 4 * 2 * parameters(spec) / 2 * 4);
}

TEST(DataParallel, PrefetchDepthSaysHowFarAheadAUnitIsAskedFor) {
  TrainingSpec spec = data_parallel(2);
  spec.parallelism.fsdp = true;
  // The position of the gather of layer 3 among the tasks of the first pass: units are embedding, layers 0 to 4, head; a
  // unit has one gather, a layer two computations. At depth d it comes when layer 3 - d may begin.
  const auto computed_before = [&](std::uint32_t depth) {
    spec.prefetch = depth;
    const TaskGraph graph = make_training_graph(spec);
    const Program& p = graph.programs()[0];
    int computed = 0;
    for (std::size_t t = 0; p.name(TaskId{t}) != "fwd.0.layer3.weights.all_gather"; ++t) {
      computed += p.tasks()[t].kind == TaskKind::kCompute ? 1 : 0;
    }
    return computed;
  };
  EXPECT_EQ(computed_before(0), 1 + 3 * 2);
  EXPECT_EQ(computed_before(1), 1 + 2 * 2);
  EXPECT_EQ(computed_before(3), 1);
  EXPECT_EQ(computed_before(9), 0);
}

TEST(DataParallel, BucketsHoldTheSameBytes) {
  // Units in backward order: head 10304, five layers of 30848, embedding 10240. Buckets of at least 200,000 B = 50,000
  // parameters: head + 2 layers, 2 layers, layer + embedding (the rest).
  TrainingSpec spec = data_parallel(2);
  const std::int64_t by_layer = volume(make_training_graph(spec), Dimension::kDp);
  spec.bucket = Bytes{200'000};
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_EQ(volume(graph, Dimension::kDp), by_layer);
  EXPECT_EQ(count(graph, RankId{0}, "bucket"), 3u);
  EXPECT_EQ(volume(graph, Dimension::kDp, CollectiveOp::kAllReduce, "bucket0"), 2 * (10304 + 2 * 30848) * 4);
}

TEST(DataParallel, WithoutOverlapGradientsWaitForTheEndOfTheBackwardPass) {
  TrainingSpec spec = data_parallel(2);
  spec.overlap_gradients = false;
  const TaskGraph graph = make_training_graph(spec);
  const Program& p = graph.programs()[0];
  bool reduced = false;
  for (std::size_t t = 0; t < p.tasks().size(); ++t) {
    if (p.tasks()[t].kind == TaskKind::kCollective) reduced = true;
    if (p.tasks()[t].kind == TaskKind::kCompute && p.name(TaskId{t}) != "optimizer") {
      EXPECT_FALSE(reduced) << p.name(TaskId{t});
    }
  }
  EXPECT_TRUE(reduced);
}

TEST(SmallAllReduces, OfTheNormAndTheLoss) {
  // The norm: over tp and pp (over dp gradients are equal after the all-reduce), 4 B on 8 ranks each. The loss: over dp on
  // the last stage, 4 ranks.
  TrainingSpec spec = small_spec();
  const TaskGraph without = make_training_graph(spec);
  spec.clip_gradients = spec.average_loss = true;
  const TaskGraph with = make_training_graph(spec);
  EXPECT_EQ(volume(with, Dimension::kTp, CollectiveOp::kAllReduce, "norm"), 8 * 4);
  EXPECT_EQ(volume(with, Dimension::kPp, CollectiveOp::kAllReduce, "norm"), 8 * 4);
  EXPECT_EQ(volume(with, Dimension::kDp) - volume(without, Dimension::kDp), 4 * 4);
  spec.parallelism.fsdp = true;  // now every rank has a part only: over dp too
  EXPECT_EQ(volume(make_training_graph(spec), Dimension::kDp, CollectiveOp::kAllReduce, "norm"), 8 * 4);
}

TEST(TiedEmbeddings, TheEndsOfThePipelineAddTheirGradients) {
  // Stages 0 and 1 hold a copy each, tp 2 x dp 2 of them: 64 x 160 / 2 weights in fp32 on 8 ranks.
  TrainingSpec spec = small_spec();
  spec.model.tied_embeddings = true;
  const TaskGraph graph = make_training_graph(spec);
  EXPECT_EQ(volume(graph, Dimension::kPp, CollectiveOp::kAllReduce), 8 * 64 * 160 / 2 * 4);
  // On one stage there is one copy, reduced with the embedding and once only.
  spec.parallelism = {.dp = 2};
  const TaskGraph one = make_training_graph(spec);
  EXPECT_EQ(volume(one, Dimension::kDp), 2 * parameters(spec) * 4);
}

}  // namespace
}  // namespace photonrail
