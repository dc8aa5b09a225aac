// A training step operator by operator.
#include "photonrail/workload/training_operators.hpp"
#include "photonrail/error.hpp"
#include "photonrail/training.hpp"
#include "workload/training/operator_book.hpp"
#include "workload/training/timed_spec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace photonrail {
namespace {

using test::find;
using test::timed;
using test::times_of;
using test::with_experts;

double seconds_of_all_tasks(const TaskGraph& graph) {
  double sum = 0.0;
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    for (const Task& task : graph.program(RankId{r}).tasks()) sum += task.time() ? to_seconds(*task.time()) : 0.0;
  }
  return sum;
}

// What the tasks take is what the operators take, whoever runs them.
TEST(TrainingOperators, TheTimeOfTheTasksIsThatOfTheOperators) {
  const TrainingStep step = make_training_step(timed());
  ASSERT_TRUE(step.work.operators);
  const double tasks = seconds_of_all_tasks(step.graph);
  EXPECT_GT(tasks, 0.0);
  EXPECT_NEAR(step.work.operators->seconds() / tasks, 1.0, 1e-6);
}

TEST(TrainingOperators, WithoutThemPartsHaveFlopsAndNoTime) {
  const TrainingStep step = make_training_step(test::small_spec());
  EXPECT_FALSE(step.work.operators);
  EXPECT_EQ(seconds_of_all_tasks(step.graph), 0.0);
}

// 5 layers, 4 micro-batches, 2 replicas x tp 2: 4 GPUs run a layer, so that its up product runs 5 x 4 x 4 = 80 times, with
// 32 tokens, 64 in, and 2 x 96 / 2 out. Each direction backward has the same sizes, in another order.
TEST(TrainingOperators, AProductRunsForwardAndTwiceBackwardWithItsShape) {
  const TrainingStep step = make_training_step(timed());
  const OperatorUse* forward = find(*step.work.operators, "mlp.up 32 x 96 x 64 ");
  const OperatorUse* input = find(*step.work.operators, "mlp.up 32 x 64 x 96 ");
  const OperatorUse* weight = find(*step.work.operators, "mlp.up 96 x 64 x 32 ");
  ASSERT_TRUE(forward && input && weight);
  EXPECT_EQ(forward->times, 80.0);
  EXPECT_EQ(input->times, 80.0);
  EXPECT_EQ(weight->times, 80.0);
  // 2 x 32 x 96 x 64 FLOPs at 1 TFLOP/s.
  EXPECT_NEAR(forward->seconds, 80.0 * 2.0 * 32 * 96 * 64 * 1e-12, 1e-9);
  EXPECT_EQ(forward->source, OperatorSource::kRoofline);
}

// The roofline is no table.
TEST(TrainingOperators, AFactorStretchesWhatTablesSay) {
  const double once = make_training_step(timed()).work.operators->seconds();
  EXPECT_EQ(make_training_step(timed([](TrainingOperators& how) { how.factor = 2.0; })).work.operators->seconds(), once);
}

TEST(TrainingOperators, FrozenWeightsHaveNoProductsReductionOrOptimizer) {
  const TrainingStep step = make_training_step(timed([](TrainingOperators& how) { how.frozen_weights = true; }));
  EXPECT_EQ(find(*step.work.operators, "mlp.up 96 x 64 x 32 "), nullptr);
  EXPECT_EQ(find(*step.work.operators, "optimizer"), nullptr);
  for (const Communicator& group : step.graph.communicators()) {
    if (group.dimension != Dimension::kDp) continue;
    for (const Task& task : step.graph.program(group.members.front()).tasks()) {
      EXPECT_FALSE(task.kind == TaskKind::kCollective && task.op == CollectiveOp::kReduceScatter && task.slot == 1);
    }
  }
}

// Each of 5 layers forward and backward: 4 GPUs x 4 micro-batches.
TEST(TrainingOperators, RecomputationRepeatsWhatItNames) {
  const auto norms = make_training_step(timed([](TrainingOperators& how) { how.again.norms = true; }));
  // Before attention and before the MLP.
  EXPECT_EQ(times_of(*norms.work.operators, "again.norm"), 5 * 2 * 16.0);
  const auto plain = make_training_step(timed());
  const auto mlp = make_training_step(timed([](TrainingOperators& how) { how.again.mlp = true; }));
  EXPECT_EQ(times_of(*mlp.work.operators, "mlp.up 32 x 96 x 64 "),
            2 * times_of(*plain.work.operators, "mlp.up 32 x 96 x 64 "));
}

// The scores of 4 heads of a rank: 2 x 16 x 16 x 4, of which softmax moves 4 bytes each forward and 6 backward.
TEST(TrainingOperators, AttentionThatIsNotFusedMovesItsScores) {
  const auto unfused = make_training_step(timed([](TrainingOperators& how) { how.attention.fused = false; }));
  EXPECT_NE(find(*unfused.work.operators, "attention.scores " + std::to_string(2 * 16 * 16 * 4 * 4) + " B"), nullptr);
  EXPECT_NE(find(*unfused.work.operators, "attention.scores " + std::to_string(2 * 16 * 16 * 4 * 6) + " B"), nullptr);
  EXPECT_EQ(find(*unfused.work.operators, "attention.core"), nullptr);
}

// The host takes 1 s for a kernel: without graphs a part lasts as long as its launches.
TEST(TrainingOperators, LaunchesHoldUpWhatIsNotInAGraph) {
  const auto with = [](CudaGraphs graphs) {
    return make_training_step(timed([graphs](TrainingOperators& how) {
             how.graphs = graphs;
             how.operator_call = Duration{1'000'000'000'000};
           }))
        .work.operators;
  };
  const auto in_graph = with(CudaGraphs::kStep);
  const auto launched = with(CudaGraphs::kNone);
  EXPECT_EQ(in_graph->seconds(OperatorClass::kHost, OperatorSource::kRoofline), 0.0);
  EXPECT_GT(launched->seconds(OperatorClass::kHost, OperatorSource::kRoofline), 1000.0);
  EXPECT_EQ(with(CudaGraphs::kLayers)->seconds(OperatorClass::kHost, OperatorSource::kRoofline), 0.0);  // no experts
}

// 4 heads of a rank, of 8 + 4 and 8, and 32 tokens: fused, 32 x 4 x 16 elements are read and written; in operators of the
// framework 28 bytes, 42 backward, of each of 32 x 5 x 4 elements that turn, and 4 of each that is joined.
TEST(TrainingOperators, RotaryPartsOfLatentAttentionMayBeOperatorsOfTheFramework) {
  const auto used = [](bool fused, bool again) {
    TrainingSpec spec = timed([&](TrainingOperators& how) {
      how.attention.fused_rotary = fused;
      how.again.up_projections = again;
    });
    spec.model.latent = LatentAttention{24, 16, 8, 4, 8};
    return *make_training_step(spec).work.operators;
  };
  const OperatorUsage fused = used(true, true);
  const double layers = 5 * 16.0;
  EXPECT_EQ(times_of(fused, "attention.rotary 8192 B"), 2 * layers);  // forward and backward
  EXPECT_EQ(times_of(fused, "again.rotary 8192 B"), layers);
  const OperatorUsage framework = used(false, false);
  EXPECT_EQ(times_of(framework, "again.rotary"), 0.0);
  const int joined = 4 * 32 * 4 * (12 + 12 + 8);
  const int parted = 4 * 32 * 4 * (12 + 8 + 8) + 2 * 32 * 4 * 4;
  const std::string forward = "attention.rotary " + std::to_string(28 * 640 + joined) + " B";
  EXPECT_EQ(times_of(framework, forward), layers);
  EXPECT_EQ(times_of(framework, "attention.rotary " + std::to_string(42 * 640 + parted) + " B"), layers);
  const OperatorUse* use = find(framework, forward);
  ASSERT_NE(use, nullptr);
  EXPECT_NEAR(use->seconds / use->times * 1e12, (11 * 640 + 2048) * 1.25 + (17 * 640 + joined - 2048) * 4, 1.0);
}

// A pattern has one part a layer: Mamba, attention, MLP, Mamba, MLP.
TEST(TrainingOperators, LayersFollowThePattern) {
  TrainingSpec spec = timed();
  spec.model.pattern = "M*-M-";
  spec.model.mamba = MambaSpec{.heads = 8, .head_dim = 8, .state = 16, .groups = 2};
  const TrainingStep step = make_training_step(spec);
  EXPECT_EQ(times_of(*step.work.operators, "mamba.scan.backward"), 2 * 16.0);
  EXPECT_EQ(times_of(*step.work.operators, "attention.core.backward"), 16.0);
  EXPECT_EQ(times_of(*step.work.operators, "mlp.norm"), 2 * 2 * 16.0);  // forward and backward
  // 4 heads of 8 of a rank and 1 group, two sequences: 2 x 32 + 2 x 16 + 4 wide for 32 tokens, copied there and back.
  EXPECT_EQ(times_of(*step.work.operators, "mamba.transposition " + std::to_string(32 * (100 + 32) * 4) + " B"), 2 * 16.0);
  EXPECT_EQ(times_of(*step.work.operators, "mamba.transposition " + std::to_string(32 * 100 * 4) + " B"), 2 * 16.0);
  spec.micro_batch = 1;
  EXPECT_EQ(times_of(*make_training_step(spec).work.operators, "mamba.transposition"), 0.0);
}

TEST(TrainingOperators, AWindowMakesAttentionCheaper) {
  TrainingSpec spec = timed();
  const double whole =
      make_training_step(spec).work.operators->seconds(OperatorClass::kAttention, OperatorSource::kRoofline);
  spec.model.window = 4;
  spec.model.window_every = 1;
  const double windowed =
      make_training_step(spec).work.operators->seconds(OperatorClass::kAttention, OperatorSource::kRoofline);
  EXPECT_LT(windowed, whole);
  EXPECT_GT(windowed, 0.0);
}

// The module of a further token has a projection of two states to one, a layer, and the head once more, on the last stage.
TEST(TrainingOperators, APredictedTokenIsALayerAndAHead) {
  TrainingSpec spec = timed();
  const TrainingStep without = make_training_step(spec);
  spec.model.predicted_tokens = 1;
  const TrainingStep with = make_training_step(spec);
  EXPECT_EQ(times_of(*with.work.operators, "head 32 x 80 x 64 "),
            2 * times_of(*without.work.operators, "head 32 x 80 x 64 "));
  EXPECT_EQ(times_of(*with.work.operators, "attention.core.backward"),
            times_of(*without.work.operators, "attention.core.backward") * 6 / 5);
  EXPECT_GT(with.work.flops, without.work.flops * 1.2);
}

TEST(TrainingOperators, APatternMustFitTheModel) {
  TrainingSpec spec = timed();
  spec.model.pattern = "M*";
  EXPECT_THROW(make_training_step(spec), ConfigError);
  spec.model.pattern = "M*-M-";  // no "mamba"
  EXPECT_THROW(make_training_step(spec), ConfigError);
}

// Pairs: each backward pass but the last ones has a forward pass of another micro-batch beside it, and the step still ends.
TEST(PairedPasses, AForwardPassGoesWithABackwardPassOfAnotherMicroBatch) {
  for (const std::uint32_t chunks : {1u, 2u}) {
    const PipelineShape shape{chunks == 1 ? PipelineSchedule::kOneFOneB : PipelineSchedule::kInterleaved, 2, chunks, 8,
                              true};
    for (std::uint32_t stage = 0; stage < 2; ++stage) {
      const auto steps = pipeline_steps(shape, stage);
      EXPECT_EQ(steps.size(), std::size_t{2} * 8 * chunks);
      std::size_t pairs = 0;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!steps[i].overlaps_next) continue;
        ++pairs;
        ASSERT_LT(i + 1, steps.size());
        EXPECT_EQ(steps[i].kind, PassKind::kForward);
        EXPECT_EQ(steps[i + 1].kind, PassKind::kBackward);
        const bool same = steps[i].micro_batch == steps[i + 1].micro_batch && steps[i].chunk == steps[i + 1].chunk;
        EXPECT_FALSE(same);
      }
      EXPECT_GE(pairs, std::size_t{8} * chunks - 7);
    }
  }
}

/// Tasks of a rank in the order of its program, from the first to the last whose name begins so.
std::vector<std::string> names_between(const TaskGraph& graph, const std::string& first, const std::string& last) {
  std::vector<std::string> names;
  const Program& program = graph.program(RankId{0u});
  for (std::size_t t = 0; t < program.tasks().size(); ++t) {
    const std::string name(program.name(TaskId{t}));
    if (names.empty() && !name.starts_with(first)) continue;
    names.push_back(name);
    if (name.starts_with(last)) break;
  }
  return names;
}

// One layer of experts, the forward pass of micro-batch 1 with the backward pass of 0: each exchange is followed by a
// computation of the other pass.
TEST(PairedPasses, RunLayerByLayerSoThatEachExchangeHasAComputationBesideIt) {
  TrainingSpec spec = with_experts();
  spec.model.layers = 1;
  spec.model.moe->shared = 0;
  spec.parallelism = {.tp = 1, .pp = 1, .dp = 4, .ep = 2};
  spec.overlap.experts = true;
  const TaskGraph graph = make_training_graph(spec);
  const std::vector<std::string> expected{"bwd.0.head",
                                          "fwd.1.embedding",
                                          "bwd.0.layer0.combine.all_to_all",
                                          "fwd.1.layer0.attention",
                                          "fwd.1.layer0.router",
                                          "fwd.1.layer0.dispatch.all_to_all",
                                          "bwd.0.layer0.experts",
                                          "bwd.0.layer0.dispatch.all_to_all",
                                          "bwd.0.layer0.experts.weights",
                                          "fwd.1.layer0.experts",
                                          "fwd.1.layer0.combine.all_to_all",
                                          "bwd.0.layer0.router",
                                          "bwd.0.layer0.attention"};
  EXPECT_EQ(names_between(graph, "bwd.0.head", "bwd.0.layer0.attention"), expected);
  spec.overlap.delay_weights = false;
  EXPECT_EQ(names_between(make_training_graph(spec), "bwd.0.head", "bwd.0.layer0.attention").size(), expected.size() - 1);
}

// However the passes of a pair are mixed, the same work is done.
TEST(PairedPasses, BothWaysOfPairingComputeTheSame) {
  TrainingSpec spec = with_experts();
  spec.overlap.experts = true;
  const double by_layer = make_training_step(spec).work.operators->seconds();
  spec.overlap.by_layer = false;
  EXPECT_NEAR(make_training_step(spec).work.operators->seconds(), by_layer, 1e-9 * by_layer);
}

}  // namespace
}  // namespace photonrail
