// The rules one by one. A link carries 1 byte a ns and a hop takes 10 ns; the endpoint takes 5 ns, a reduction 3 ns a byte.
#include "photonrail/error.hpp"
#include "photonrail/formats/astra.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace photonrail {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kOneBytePerNs = 1953125.0 / 2097152.0;  // 1e9 / 2^30
constexpr auto kUnaware = AnalyticalBackend::kCongestionUnaware;
constexpr auto kAware = AnalyticalBackend::kCongestionAware;

AnalyticalJob network(std::vector<std::pair<AnalyticalShape, std::uint32_t>> shapes, AnalyticalAlgorithm how) {
  AnalyticalJob job;
  AnalyticalImplementations all;
  for (const auto& [shape, members] : shapes) {
    job.network.push_back({shape, members, kOneBytePerNs, 10.0});
    all.push_back({.algorithm = how});
  }
  job.system.endpoint_delay_ns = 5;
  job.system.memory_gb_per_s = 1.0;
  job.system.all_reduce = job.system.all_gather = job.system.reduce_scatter = job.system.all_to_all = all;
  job.ranks.resize(job.rank_count());
  return job;
}

AnalyticalTask collective(CollectiveOp op, std::uint64_t bytes, std::uint32_t group = 0) {
  AnalyticalTask task;
  task.name = "the collective";
  task.kind = AnalyticalTask::Kind::kCollective;
  task.op = op;
  task.bytes = bytes;
  task.group = group;
  return task;
}

AnalyticalTask message(AnalyticalTask::Kind kind, std::uint32_t peer, std::uint64_t bytes) {
  AnalyticalTask task;
  task.name = kind == AnalyticalTask::Kind::kSend ? "the send" : "the receive";
  task.kind = kind;
  task.peer = peer;
  task.bytes = bytes;
  return task;
}

AnalyticalTask computation(std::uint64_t ns) {
  AnalyticalTask task;
  task.name = "the computation";
  task.kind = AnalyticalTask::Kind::kCompute;
  task.recorded_ns = ns;
  return task;
}

std::vector<std::uint64_t> cycles(AnalyticalJob job, const AnalyticalTask& everywhere,
                                  AnalyticalBackend backend = kUnaware) {
  for (auto& tasks : job.ranks) tasks = {everywhere};
  return simulate_analytical(job, backend).finish_ns;
}

AnalyticalJob ring(std::uint32_t members) {
  return network({{AnalyticalShape::kRing, members}}, AnalyticalAlgorithm::kRing);
}

TEST(AnalyticalRules, ARingSendsToItsNeighbourStepByStep) {
  // 5 to start, then 3 steps of 100 + 10 on the way and 5 at the endpoint.
  EXPECT_THAT(cycles(ring(4), collective(CollectiveOp::kAllGather, 100)), Each(350));
  // The same with 3 x 100 to reduce in each step.
  EXPECT_THAT(cycles(ring(4), collective(CollectiveOp::kReduceScatter, 400)), Each(1250));
  // Both, after one another: the start is paid once.
  EXPECT_THAT(cycles(ring(4), collective(CollectiveOp::kAllReduce, 400)), Each(1595));
  // To every member over its neighbours: 3 + 2 + 1 steps.
  EXPECT_THAT(cycles(ring(4), collective(CollectiveOp::kAllToAll, 400)), Each(5 + 6 * 115));
}

TEST(AnalyticalRules, ADimensionCarriesSoManyChunksAtATime) {
  AnalyticalJob job = ring(4);
  job.system.chunks = 2;
  EXPECT_THAT(cycles(job, collective(CollectiveOp::kAllGather, 200)), Each(700));
  job.system.active_chunks = 2;  // of which the unaware links know nothing
  EXPECT_THAT(cycles(job, collective(CollectiveOp::kAllGather, 200)), Each(350));
}

TEST(AnalyticalRules, DimensionsReduceInwardsAndGatherBack) {
  const AnalyticalJob job = network({{AnalyticalShape::kRing, 2}, {AnalyticalShape::kRing, 2}}, AnalyticalAlgorithm::kRing);
  // Reduce-scatter of 400: 5 + 200 + 10 + 5 + 600. All-reduce of 200: 5 + (100 + 10 + 5 + 300) + 115. All-gather: 5 + 215.
  EXPECT_THAT(cycles(job, collective(CollectiveOp::kAllReduce, 400)), Each(820 + 535 + 220));
  AnalyticalJob flat = job;
  flat.system.hierarchical_all_reduce = false;  // an all-reduce of 400 on each: 5 + 815 + 215
  EXPECT_THAT(cycles(flat, collective(CollectiveOp::kAllReduce, 400)), Each(2 * 1035));
  AnalyticalTask inner = collective(CollectiveOp::kAllGather, 100);
  inner.dimensions = 1;
  EXPECT_THAT(cycles(job, inner), Each(5 + 115));
}

TEST(AnalyticalRules, ADirectAllReduceWaitsForEveryPart) {
  const AnalyticalJob job = network({{AnalyticalShape::kSwitch, 4}}, AnalyticalAlgorithm::kDirect);
  // 5, two hops with 100 bytes (120), 5 + 300 to reduce, 120 back, 5.
  EXPECT_THAT(cycles(job, collective(CollectiveOp::kAllReduce, 400)), Each(555));
}

TEST(AnalyticalRules, HalvingReducesWhatItWillSend) {
  const AnalyticalJob job = network({{AnalyticalShape::kFullyConnected, 4}}, AnalyticalAlgorithm::kHalvingDoubling);
  // Messages of 200, 100, 100, 200. What comes first is reduced with the size of the second message: 5 + 3 x 100.
  EXPECT_THAT(cycles(job, collective(CollectiveOp::kAllReduce, 400)), Each(5 + 210 + 305 + 115 + 115 + 215));
}

TEST(AnalyticalRules, ATreeReducesAtEveryNodeOnTheWayUpAndDown) {
  const AnalyticalJob job = network({{AnalyticalShape::kFullyConnected, 4}}, AnalyticalAlgorithm::kDoubleBinaryTree);
  // Leaves 0 and 2 send at 5; node 1 has both at 115, reduced at 420; the root 3 has its at 530, reduced at 835, and sends
  // it down; node 1 has it at 945, handled at 1250; leaves at 1360, and 5 later they are done.
  EXPECT_THAT(cycles(job, collective(CollectiveOp::kAllReduce, 100)), ElementsAre(1365, 1250, 1365, 835));
}

TEST(AnalyticalRules, LinksWithCongestionCarryOneMessageAfterAnother) {
  const AnalyticalJob job = network({{AnalyticalShape::kSwitch, 3}}, AnalyticalAlgorithm::kDirect);
  EXPECT_THAT(cycles(job, collective(CollectiveOp::kAllToAll, 300)), Each(5 + 120 + 5));
  // The second message leaves at 105, is in the switch at 215, and at its rank 110 later.
  EXPECT_THAT(cycles(job, collective(CollectiveOp::kAllToAll, 300), kAware), Each(330));
}

TEST(AnalyticalRules, HopsStoreAMessageWithCongestionOnly) {
  AnalyticalJob job = ring(4);
  job.ranks[0] = {message(AnalyticalTask::Kind::kSend, 2, 100)};
  job.ranks[2] = {message(AnalyticalTask::Kind::kReceive, 0, 100)};
  EXPECT_THAT(simulate_analytical(job, kUnaware).finish_ns, ElementsAre(120, 0, 120, 0));
  EXPECT_THAT(simulate_analytical(job, kAware).finish_ns, ElementsAre(220, 0, 220, 0));
}

TEST(AnalyticalRules, AGroupIsARingWithAnEndpointOfItsOwn) {
  AnalyticalJob job = ring(4);
  job.groups = {{3, 1}};
  job.ranks[1] = job.ranks[3] = {collective(CollectiveOp::kAllGather, 100, 1)};
  // 10 + two hops with 100 bytes + 10.
  EXPECT_THAT(simulate_analytical(job, kUnaware).finish_ns, ElementsAre(0, 140, 0, 140));
}

TEST(AnalyticalRules, ALateRankDelaysThoseThatNeedItsData) {
  AnalyticalJob job = ring(3);
  for (auto& tasks : job.ranks) tasks = {collective(CollectiveOp::kAllGather, 100)};
  job.ranks[1] = {computation(1000), collective(CollectiveOp::kAllGather, 100)};
  job.ranks[1][1].after = {0};
  // What rank 1 needs came at 115 and 230: it sends its shard at 1005, that of rank 0 at 1010, and is done 5 later.
  const AnalyticalResult result = simulate_analytical(job, kUnaware);
  EXPECT_EQ(result.finish_ns[2], 1125U);  // the forwarded shard leaves at 1010: 1010 + 110 + 5
  EXPECT_EQ(result.finish_ns[0], 1235U);  // 2 passes on at 1120: 1120 + 110 + 5
  EXPECT_EQ(result.finish_ns[1], 1015U);
  EXPECT_EQ(result.exposed_ns[1], 15U);
}

TEST(AnalyticalRules, ARankComputesAndCommunicatesOneThingAtATime) {
  AnalyticalJob job = ring(2);
  for (auto& tasks : job.ranks)
    tasks = {computation(50), computation(70), collective(CollectiveOp::kAllGather, 100),
             collective(CollectiveOp::kAllGather, 100)};
  EXPECT_THAT(simulate_analytical(job, kUnaware).finish_ns, Each(2 * 120));
}

TEST(AnalyticalRules, TheRooflineIsTheSmallerOfPeakAndMemory) {
  AnalyticalJob job = ring(2);
  job.system.roofline = true;
  job.system.peak_tflops = 1.0;
  AnalyticalTask task = computation(0);
  task.flops = 1e6;  // 1000 ns at the peak
  task.memory_bytes = 100.0;
  EXPECT_THAT(cycles(job, task), Each(1000));
  task.memory_bytes = 4000.0;  // 4000 ns at 1 GB/s
  EXPECT_THAT(cycles(job, task), Each(4000));
}

// A task that does nothing on the last rank makes the ranks differ, so that each is simulated.
TEST(AnalyticalRules, OneRankStandsForAllThatAreAlike) {
  using enum CollectiveOp;
  for (const auto shape : {AnalyticalShape::kRing, AnalyticalShape::kSwitch, AnalyticalShape::kFullyConnected}) {
    for (const auto how :
         {AnalyticalAlgorithm::kRing, AnalyticalAlgorithm::kDirect, AnalyticalAlgorithm::kHalvingDoubling}) {
      for (const auto op : {kAllReduce, kAllGather, kReduceScatter, kAllToAll}) {
        if (op == kAllToAll && how == AnalyticalAlgorithm::kHalvingDoubling) continue;
        AnalyticalJob job = network({{shape, 8}, {AnalyticalShape::kRing, 4}}, how);
        job.system.chunks = 3;
        job.system.active_chunks = 2;
        for (auto& tasks : job.ranks) tasks = {computation(40), collective(op, 9600), collective(kAllReduce, 4800)};
        AnalyticalJob apart = job;
        apart.ranks.back().emplace_back();
        for (const auto backend : {kUnaware, kAware}) {
          const auto folded = simulate_analytical(job, backend);
          const auto whole = simulate_analytical(apart, backend);
          EXPECT_EQ(folded.finish_ns, whole.finish_ns) << name(op);
          EXPECT_EQ(folded.exposed_ns, whole.exposed_ns);
          EXPECT_EQ(folded.messages, whole.messages);
        }
      }
    }
  }
}

TEST(AnalyticalRules, WhatCannotFinishSaysWhoWaitsForWhat) {
  AnalyticalJob job = ring(2);
  job.ranks[0] = {message(AnalyticalTask::Kind::kSend, 1, 100)};
  job.ranks[1] = {message(AnalyticalTask::Kind::kReceive, 0, 200)};
  try {
    static_cast<void>(simulate_analytical(job, kUnaware));
    FAIL() << "finished";
  } catch (const DeadlockError& e) {
    EXPECT_THAT(e.what(), HasSubstr("rank 1: the receive waits for a message of 200 bytes"));
    EXPECT_THAT(e.what(), HasSubstr("one of 100 bytes came"));
  }
  job.ranks[0] = {};
  job.ranks[1] = {collective(CollectiveOp::kAllReduce, 100)};
  EXPECT_THROW(static_cast<void>(simulate_analytical(job, kUnaware)), DeadlockError);
}

// Where chunks take equally long, one of each size is simulated; a job with one more task on the last rank has all of them.
TEST(AnalyticalRules, EqualChunksOfFoldedJobsTakeWhatEachTakesAlone) {
  using enum CollectiveOp;
  for (const auto how : {AnalyticalAlgorithm::kRing, AnalyticalAlgorithm::kDirect, AnalyticalAlgorithm::kHalvingDoubling}) {
    for (const auto op : {kAllReduce, kAllGather, kReduceScatter, kAllToAll}) {
      if (op == kAllToAll && how == AnalyticalAlgorithm::kHalvingDoubling) continue;
      for (const std::uint32_t active : {1U, 2U, 5U}) {
        AnalyticalJob job = network({{AnalyticalShape::kRing, 8}}, how);
        job.system.chunks = 7;
        job.system.active_chunks = active;
        auto second = collective(op, 9604);  // the last chunk is smaller
        second.after = {0};
        auto third = collective(kAllReduce, 4800);
        third.after = {1};
        for (auto& tasks : job.ranks) tasks = {computation(40), second, third};
        AnalyticalJob apart = job;
        apart.ranks.back().emplace_back();
        const auto folded = simulate_analytical(job, kUnaware);
        const auto whole = simulate_analytical(apart, kUnaware);
        EXPECT_EQ(folded.finish_ns, whole.finish_ns) << name(op) << " " << active;
        EXPECT_EQ(folded.exposed_ns, whole.exposed_ns);
        EXPECT_EQ(folded.messages, whole.messages);
      }
    }
  }
}

TEST(AnalyticalRules, AMillionChunksOnAThousandRanksAreNoMoreWorkThanOne) {
  AnalyticalJob job = ring(1024);
  job.system.chunks = 1'000'000;
  const auto all = cycles(job, collective(CollectiveOp::kAllReduce, 1'024'000'000));
  job.system.chunks = 1;
  const auto one = cycles(job, collective(CollectiveOp::kAllReduce, 1024));
  EXPECT_THAT(all, Each(one.front() * 1'000'000));  // one after another
}

TEST(AnalyticalRules, WorkWithoutEndIsRefusedWithAnEstimate) {
  AnalyticalJob job = ring(1024);
  job.system.chunks = 1'000'000;
  for (auto& tasks : job.ranks) tasks = {collective(CollectiveOp::kAllToAll, 1'024'000'000)};
  try {
    static_cast<void>(simulate_analytical(job, kAware));
    FAIL() << "finished";
  } catch (const ConfigError& e) {
    // 1023 x 1024 / 2 messages a chunk.
    EXPECT_THAT(e.what(), HasSubstr("1000000 chunks are about 523776000000 messages to simulate, some 30 hours"));
  }
}

TEST(AnalyticalRules, MembersThatCallDifferentCollectivesAreAnError) {
  AnalyticalJob job = ring(2);
  job.ranks[0] = {collective(CollectiveOp::kAllReduce, 100)};
  job.ranks[1] = {collective(CollectiveOp::kAllGather, 100)};
  EXPECT_THROW(static_cast<void>(simulate_analytical(job, kUnaware)), ConfigError);
}

TEST(AnalyticalRules, WhatAlgorithmsCannotDoIsRefused) {
  AnalyticalJob job = network({{AnalyticalShape::kSwitch, 6}}, AnalyticalAlgorithm::kHalvingDoubling);
  EXPECT_THROW(static_cast<void>(cycles(job, collective(CollectiveOp::kAllReduce, 600))), ConfigError);
  job = ring(4);
  EXPECT_THROW(static_cast<void>(cycles(job, collective(CollectiveOp::kReduce, 600))), ConfigError);
  job = ring(1024);
  job.system.chunks = 1'000'000;
  job.ranks.back() = {computation(1)};                                             // so that each rank is simulated
  EXPECT_THROW(static_cast<void>(simulate_analytical(job, kAware)), ConfigError);  // more than 2^29 counters
  job = ring(4);
  job.system.memory_gb_per_s = 0.0;
  EXPECT_THROW(static_cast<void>(cycles(job, collective(CollectiveOp::kAllReduce, 600))), ConfigError);
  EXPECT_THAT(cycles(job, collective(CollectiveOp::kAllGather, 100)), Each(350));
}

}  // namespace
}  // namespace photonrail
