// A training step operator by operator.
#include "photonrail/workload/training_operators.hpp"
#include "photonrail/error.hpp"
#include "photonrail/training.hpp"
#include "workload/training/operator_book.hpp"
#include "workload/training/small_spec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {
namespace {

/// 1 TFLOP/s and 1,000 GB/s without a fixed time, so that operators take FLOPs or bytes x 1.25, x 4 one element at a time.
OperatorTimes plain_gpu() {
  OperatorRoofline gpu;
  gpu.bf16_tflops = 1.0;
  gpu.memory_gb_per_s = 1000.0;
  gpu.kernel = Duration{};
  gpu.element_gb_per_s = 250.0;
  return OperatorTimes(gpu);
}

TrainingSpec timed(const std::function<void(TrainingOperators&)>& change = {}) {
  TrainingSpec spec = test::small_spec();
  auto how = std::make_shared<TrainingOperators>();
  how->times = plain_gpu();
  if (change) change(*how);
  spec.operators = how;
  return spec;
}

double seconds_of_all_tasks(const TaskGraph& graph) {
  double sum = 0.0;
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    for (const Task& task : graph.program(RankId{r}).tasks()) sum += task.time() ? to_seconds(*task.time()) : 0.0;
  }
  return sum;
}

const OperatorUse* find(const OperatorUsage& usage, const std::string& begin) {
  const auto at = std::find_if(usage.operators.begin(), usage.operators.end(),
                               [&](const OperatorUse& use) { return use.name.starts_with(begin); });
  return at == usage.operators.end() ? nullptr : &*at;
}

double times_of(const OperatorUsage& usage, const std::string& begin) {
  double sum = 0.0;
  for (const OperatorUse& use : usage.operators) sum += use.name.starts_with(begin) ? use.times : 0.0;
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
  const auto unfused = make_training_step(timed([](TrainingOperators& how) { how.fused_attention = false; }));
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

/// 8 experts on 2 ranks, 2 of them for a token.
TrainingSpec with_experts(const std::function<void(TrainingOperators&)>& change = {}) {
  TrainingSpec spec = timed(change);
  spec.model.moe = ExpertSpec{.experts = 8, .top_k = 2, .ffn = 32, .shared = 1};
  spec.parallelism = {.tp = 1, .pp = 2, .dp = 4, .ep = 2};
  spec.sequence_parallel = true;
  return spec;
}

// 32 tokens x 2 choices over 4 experts of a rank: 16 rows each. 3 or 2 layers x 4 GPUs x 2 micro-batches x 4 experts.
TEST(TrainingOperators, ExpertsRunOneByOneOrTogether) {
  const auto single = make_training_step(with_experts([](TrainingOperators& how) { how.expert_kernels.grouped = false; }));
  EXPECT_EQ(times_of(*single.work.operators, "experts.up 16 x 64 x 64 "),
            2 * 5 * 4 * 2 * 4.0);  // two of the shapes are equal
  const auto grouped = make_training_step(with_experts());
  const OperatorUse* forward = find(*grouped.work.operators, "experts 64 x 64 x 32 in 4 ");
  ASSERT_NE(forward, nullptr);
  EXPECT_EQ(forward->kind, OperatorClass::kExperts);
  EXPECT_EQ(forward->times, 5 * 4 * 2.0);
}

// Sizes of routed experts are read from the GPU before they are launched, so that graphs of the other parts do not help.
TEST(TrainingOperators, RoutedExpertsWaitForTheHost) {
  const auto host_seconds = [](bool waits) {
    return make_training_step(with_experts([waits](TrainingOperators& how) {
             how.graphs = CudaGraphs::kLayers;
             how.host_waits_for_routing = waits;
           }))
        .work.operators->seconds(OperatorClass::kHost, OperatorSource::kRoofline);
  };
  EXPECT_GT(host_seconds(true), host_seconds(false));
}

// Loops in a library launch single experts and nothing else: heads of attention that is not fused are one batched kernel.
TEST(TrainingOperators, OnlySingleExpertsAreLaunchedInALoop) {
  const auto host_seconds = [](bool grouped) {
    return make_training_step(with_experts([grouped](TrainingOperators& how) {
             how.graphs = CudaGraphs::kNone;
             how.fused_attention = false;
             how.expert_kernels.grouped = grouped;
             how.operator_call = Duration{0};
             how.kernel_launch = Duration{1'000'000'000'000};
           }))
        .work.operators->seconds(OperatorClass::kHost, OperatorSource::kRoofline);
  };
  EXPECT_EQ(host_seconds(true), 0.0);
  // 5 layers x 4 GPUs x 2 micro-batches x 4 experts x 2 products, forward, and two for each backward.
  EXPECT_NEAR(host_seconds(false), 5 * 4 * 2 * 4 * 2 * 3.0, 0.1);
}

// A plain all-to-all brings 64 rows sorted by rank: beside the 32 tokens and their 64 copies, 4 passes over 64 x 64 x 2 B
// each way sort them by expert and back. A dispatcher of one copy a rank sorts as it receives.
TEST(TrainingOperators, APlainAllToAllSortsTwice) {
  TrainingSpec spec = with_experts([](TrainingOperators& how) { how.expert_kernels.grouped = false; });
  const auto permuted = [&](std::int64_t passes) {
    const auto step = make_training_step(spec);
    return times_of(*step.work.operators, "experts.permutation " + std::to_string(passes * 64 * 2) + " B");
  };
  EXPECT_EQ(permuted(2 * (32 + 64) + 4 * 64), 2 * 5 * 4 * 2.0);
  spec.one_copy_per_rank = true;
  EXPECT_EQ(permuted(2 * (32 + 64)), 2 * 5 * 4 * 2.0);
}

// Of 5 layers (3 on the first stage) the last two are in bf16, and of the others attention but for its output; 4 GPUs a
// stage and 2 micro-batches, forward and twice backward.
TEST(TrainingOperators, ProductsMayBeKeptInAnotherPrecision) {
  const auto used = [](MixedPrecision mixed, std::uint32_t predicted) {
    OperatorRoofline every;
    every.bf16_tflops = every.fp8_tflops = every.fp4_tflops = 1.0;
    TrainingSpec spec = with_experts([&](TrainingOperators& how) {
      how.times = OperatorTimes(every);
      how.precision = OperatorPrecision::kFp4;
      how.expert_kernels.grouped = false;
      how.mixed = std::move(mixed);
    });
    spec.model.predicted_tokens = predicted;
    return *make_training_step(spec).work.operators;
  };
  const auto of = [](const OperatorUsage& usage, const std::string& name, const std::string& precision) {
    double sum = 0.0;
    for (const OperatorUse& use : usage.operators) {
      sum += use.name.starts_with(name) && use.name.ends_with(" " + precision) ? use.times : 0.0;
    }
    return sum;
  };
  const double layer = 4 * 2 * 3.0;
  MixedPrecision mixed;
  mixed.products = {{"attention", OperatorPrecision::kBf16},
                    {"attention.output", OperatorPrecision::kFp8Block},
                    {"shared", OperatorPrecision::kFp8}};
  mixed.last_layers = 2;
  const OperatorUsage some = used(mixed, 0);
  EXPECT_EQ(of(some, "attention.qkv", "bf16"), 5 * layer);
  EXPECT_EQ(of(some, "attention.output", "fp8_block"), 3 * layer);
  EXPECT_EQ(of(some, "attention.output", "bf16"), 2 * layer);
  EXPECT_EQ(of(some, "shared.up", "fp8"), 3 * layer);
  EXPECT_EQ(of(some, "experts.down", "fp4"), 3 * 4 * layer);
  EXPECT_EQ(of(some, "experts.down", "bf16"), 2 * 4 * layer);
  EXPECT_EQ(of(some, "head", "bf16"), layer);

  const OperatorUsage first = used({.first_layers = 1}, 1);  // and a prediction, with its layer, in four bits
  EXPECT_EQ(of(first, "attention.qkv", "bf16"), layer);
  EXPECT_EQ(of(first, "attention.qkv", "fp4"), 5 * layer);
  EXPECT_EQ(of(first, "prediction", "fp4"), layer);
  const OperatorUsage predictions = used({.predictions = true}, 1);
  EXPECT_EQ(of(predictions, "attention.qkv", "bf16"), layer);
  EXPECT_EQ(of(predictions, "experts.up", "bf16"), 4 * layer);
  EXPECT_EQ(of(predictions, "prediction", "bf16"), layer);
}

// Each name that a user may give is one that a step of some model has.
TEST(TrainingOperators, NamesOfProductsAreThoseOfTheirUses) {
  TrainingSpec latent = with_experts([](TrainingOperators& how) { how.expert_kernels.grouped = false; });
  latent.model.latent = LatentAttention{24, 16, 8, 4, 8};
  latent.model.moe->latent = 32;
  latent.model.predicted_tokens = 1;
  TrainingSpec grouped = with_experts();
  grouped.model.latent = LatentAttention{0, 16, 8, 4, 8};
  TrainingSpec mamba = timed();
  mamba.model.pattern = "M*-M-";
  mamba.model.mamba = MambaSpec{.heads = 8, .head_dim = 8, .state = 16, .groups = 2};
  std::vector<OperatorUse> uses;
  for (const TrainingSpec& spec : {latent, grouped, mamba}) {
    const auto step = make_training_step(spec);
    uses.insert(uses.end(), step.work.operators->operators.begin(), step.work.operators->operators.end());
  }
  std::set<std::string> names;
  for (const OperatorUse& use : uses) {
    const std::string name = use.name.substr(0, use.name.find(' '));
    const bool product = use.kind == OperatorClass::kProducts || use.kind == OperatorClass::kExperts;
    if (product && !name.ends_with("_gradient")) names.insert(name);
  }
  names.erase("head");
  names.erase("experts.router");
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.end()),
            std::vector<std::string>(product_names().begin(), product_names().end()));
}

TEST(TrainingOperators, MixedPrecisionIsChecked) {
  const auto message = [](MixedPrecision mixed) {
    TrainingSpec spec = timed([&](TrainingOperators& how) { how.mixed = std::move(mixed); });
    try {
      spec.validate();
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({.first_layers = 3, .last_layers = 2}), "");
  EXPECT_NE(message({.first_layers = 3, .last_layers = 3}).find("more than the model's 5 layers"), std::string::npos);
  EXPECT_EQ(message({.products = {{"mlp", OperatorPrecision::kBf16}}}), "");
  EXPECT_NE(message({.products = {{"ml", OperatorPrecision::kBf16}}}).find("names no product"), std::string::npos);
  EXPECT_NE(message({.products = {{"", OperatorPrecision::kBf16}}}).find("names no product"), std::string::npos);
}

// 64 pairs of a rank keep 64 + 32 elements of 2 bytes that products read, and 64 of the first product's result: read and
// written.
TEST(TrainingOperators, ExpertsMayBeStashed) {
  const auto step = make_training_step(with_experts([](TrainingOperators& how) { how.expert_kernels.stashed = true; }));
  EXPECT_EQ(times_of(*step.work.operators, "experts.stash 40960 B"), 2 * 5 * 4 * 2.0);  // forward and backward
}

// 64 pairs of 64 elements (the second bias) and of width 32 (the clamps: 16 bytes forward, 30 backward).
TEST(TrainingOperators, BiasesOfExpertsMayBeOperatorsOfTheFramework) {
  const auto used = [](ExpertBiases biases, bool again) {
    TrainingSpec spec = with_experts([&](TrainingOperators& how) {
      how.expert_kernels.biases = biases;
      how.again.activations = again;
    });
    spec.model.biases = true;
    return *make_training_step(spec).work.operators;
  };
  const auto all = [](const std::string& name, std::int64_t bytes) { return name + " " + std::to_string(bytes) + " B"; };
  const double layers = 5 * 4 * 2.0;
  const OperatorUsage fused = used(ExpertBiases::kFused, true);
  EXPECT_EQ(times_of(fused, "experts.bias") + times_of(fused, "experts.clamps") + times_of(fused, "again.clamps"), 0.0);
  const OperatorUsage bf16 = used(ExpertBiases::kBf16, false);
  EXPECT_EQ(times_of(bf16, all("experts.bias", 12 * 64 * 64)), layers);
  EXPECT_EQ(times_of(bf16, all("experts.bias", 16 * 64 * 64)), layers);
  EXPECT_EQ(times_of(bf16, all("experts.clamps", 16 * 64 * 32)), layers);
  EXPECT_EQ(times_of(bf16, all("experts.clamps", 30 * 64 * 32)), layers);
  EXPECT_EQ(times_of(bf16, "again.clamps"), 0.0);
  const OperatorUsage fp32 = used(ExpertBiases::kFp32, true);
  EXPECT_EQ(times_of(fp32, all("experts.bias", 28 * 64 * 64)), layers);
  EXPECT_EQ(times_of(fp32, all("experts.bias", 40 * 64 * 64)), layers);
  EXPECT_EQ(times_of(fp32, all("again.clamps", 16 * 64 * 32)), layers);
}

// Of the 16 and 30 bytes 4 and 14.5 count one element at a time, of the second bias' 28 and 40 in fp32 4 and 16.
TEST(TrainingOperators, ClampsAndBiasesTakeOneElementAtATime) {
  TrainingSpec spec = with_experts([](TrainingOperators& how) { how.expert_kernels.biases = ExpertBiases::kFp32; });
  spec.model.biases = true;
  const auto step = make_training_step(spec);
  const auto byte_times = [&](const std::string& name, double elements, double bytes) {
    const OperatorUse* use = find(*step.work.operators, name + " " + std::to_string(std::lround(elements * bytes)) + " B");
    return use == nullptr ? 0.0 : use->seconds / use->times * 1e12 / elements;
  };
  const double width = 64.0 * 32;
  const double out = 64.0 * 64;
  EXPECT_NEAR(byte_times("experts.clamps", width, 16), 12 * 1.25 + 4 * 4, 1e-3);
  EXPECT_NEAR(byte_times("experts.clamps", width, 30), 15.5 * 1.25 + 14.5 * 4, 1e-3);
  EXPECT_NEAR(byte_times("experts.bias", out, 28), 24 * 1.25 + 4 * 4, 1e-3);
  EXPECT_NEAR(byte_times("experts.bias", out, 40), 24 * 1.25 + 16 * 4, 1e-3);
}

// 4 heads of a rank, of 8 + 4 and 8, and 32 tokens: fused, 32 x 4 x 16 elements are read and written; in operators of the
// framework 28 bytes, 42 backward, of each of 32 x 5 x 4 elements that turn, and 4 of each that is joined.
TEST(TrainingOperators, RotaryPartsOfLatentAttentionMayBeOperatorsOfTheFramework) {
  const auto used = [](bool fused, bool again) {
    TrainingSpec spec = timed([&](TrainingOperators& how) {
      how.fused_rotary = fused;
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

// Of 2 ranks a token with 2 choices reaches 2 (1 - 1/4) = 1.5: three quarters of a copy for each expert.
TEST(TrainingOperators, OneCopyARankIsLessThanOneAnExpert) {
  TrainingSpec spec = with_experts();
  const auto dispatched = [](const TrainingSpec& s) {
    const TaskGraph graph = make_training_graph(s);
    for (const Task& task : graph.program(RankId{0}).tasks()) {
      if (task.kind == TaskKind::kCollective && task.op == CollectiveOp::kAllToAll) return task.size().count;
    }
    return std::int64_t{0};
  };
  const std::int64_t each = dispatched(spec);
  spec.one_copy_per_rank = true;
  EXPECT_EQ(each, 32 * 2 * 64 * 2);
  EXPECT_EQ(dispatched(spec), each * 3 / 4);
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
