// Routed experts of a training step, operator by operator.
#include "photonrail/error.hpp"
#include "photonrail/training.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "workload/training/timed_spec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace photonrail {
namespace {

using test::find;
using test::times_of;
using test::with_experts;

// 32 tokens x 2 choices over 4 experts of a rank: 16 rows each. 3 or 2 layers x 4 GPUs x 2 micro-batches x 4 experts.
TEST(ExpertOperators, ExpertsRunOneByOneOrTogether) {
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
TEST(ExpertOperators, RoutedExpertsWaitForTheHost) {
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
TEST(ExpertOperators, OnlySingleExpertsAreLaunchedInALoop) {
  const auto host_seconds = [](bool grouped) {
    return make_training_step(with_experts([grouped](TrainingOperators& how) {
             how.graphs = CudaGraphs::kNone;
             how.attention.fused = false;
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
TEST(ExpertOperators, APlainAllToAllSortsTwice) {
  TrainingSpec spec = with_experts([](TrainingOperators& how) { how.expert_kernels.grouped = false; });
  const auto permuted = [&](std::int64_t passes) {
    const auto step = make_training_step(spec);
    return times_of(*step.work.operators, "experts.permutation " + std::to_string(passes * 64 * 2) + " B");
  };
  EXPECT_EQ(permuted(2 * (32 + 64) + 4 * 64), 2 * 5 * 4 * 2.0);
  spec.one_copy_per_rank = true;  // 1.5 copies of each token arrive
  EXPECT_EQ(permuted(2 * (48 + 64)), 2 * 5 * 4 * 2.0);
}

// Before tokens leave, forward alone: 32 x 8 bytes from each of 2 ranks, and a scan of the choices of 64 tokens.
TEST(ExpertOperators, TheRoutingMayBeGatheredAndScanned) {
  TrainingSpec spec = with_experts();
  spec.one_copy_per_rank = true;
  const auto gathers = [](const TaskGraph& graph) {
    std::vector<Bytes> sizes;
    for (const Task& task : graph.program(RankId{0}).tasks()) {
      const bool gathers = task.kind == TaskKind::kCollective && task.op == CollectiveOp::kAllGather;
      if (gathers) sizes.push_back(task.size());
    }
    return sizes;
  };
  const auto without = make_training_step(spec);
  EXPECT_TRUE(gathers(without.graph).empty());
  EXPECT_EQ(times_of(*without.work.operators, "experts.routing_map"), 0.0);
  spec.gathers_routing = true;
  const auto with = make_training_step(spec);
  EXPECT_EQ(gathers(with.graph), std::vector<Bytes>(3 * 2, Bytes{32 * 8}));  // 3 layers of its stage, 2 micro-batches
  const OperatorUse* scan = find(*with.work.operators, "experts.routing_map of 64");
  ASSERT_NE(scan, nullptr);
  EXPECT_EQ(scan->times, 5 * 4 * 2.0);
  EXPECT_NEAR(scan->seconds / scan->times * 1e9, (0.32 + 2 * 0.055) * 64, 1e-6);
  spec.one_copy_per_rank = false;
  EXPECT_THROW(spec.validate(), ConfigError);
}

// 64 pairs of a rank keep 64 + 32 elements of 2 bytes that products read, and 64 of the first product's result: read and
// written, at half of the bandwidth.
TEST(ExpertOperators, ExpertsMayBeStashed) {
  const auto step = make_training_step(with_experts([](TrainingOperators& how) { how.expert_kernels.stashed = true; }));
  const OperatorUse* use = find(*step.work.operators, "experts.stash 40960 B");
  ASSERT_NE(use, nullptr);
  EXPECT_EQ(times_of(*step.work.operators, "experts.stash 40960 B"), 2 * 5 * 4 * 2.0);  // forward and backward
  EXPECT_NEAR(use->seconds / use->times * 1e12, 40960 * 2, 1e-3);
}

// 64 pairs of 64 elements (the second bias) and of width 32 (the clamps: 16 bytes forward, 30 backward).
TEST(ExpertOperators, BiasesOfExpertsMayBeOperatorsOfTheFramework) {
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
TEST(ExpertOperators, ClampsAndBiasesTakeOneElementAtATime) {
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

// Of 2 ranks a token with 2 choices reaches 2 (1 - 1/4) = 1.5: three quarters of a copy for each expert.
TEST(ExpertOperators, OneCopyARankIsLessThanOneAnExpert) {
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

}  // namespace
}  // namespace photonrail
