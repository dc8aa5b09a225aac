#include "photonrail/simulate.hpp"

#include "photonrail/core/random.hpp"
#include "photonrail/error.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kMiB = 1 << 20;

// 1 GiB at 50 GB/s: 1073741824 x 20 ps.

TEST(Simulate, ComputeOnly) {
  Job job(2);
  job.compute(0, us(5)).compute(1, us(3));
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, us(5));
  EXPECT_EQ(result.ranks[0].compute, us(5));
  EXPECT_EQ(result.ranks[1].peer_wait, us(2));
  EXPECT_TRUE(books_balance(result));
}

TEST(Simulate, RingAllReduceOnElectricalRailsTakesItsClosedForm) {
  for (const std::size_t n : {2, 3, 4, 7}) {
    Job job(n);
    job.scenario.run.folding = false;  // to count the sends
    std::vector<std::size_t> all;
    for (std::size_t r = 0; r < n; ++r) all.push_back(r);
    job.scenario.cluster.nic.latency = Duration{936250};
    job.scenario.cluster.nic.message_overhead = Duration{10000};
    // 840 MB divide by 2, 3, 4 and 7.
    job.collective(job.group(all), all, CollectiveOp::kAllReduce, 840000000);
    const RunResult result = job.run();
    // 2(n-1) steps of (size / n) / rate + latency + overhead (Thakur, Rabenseifner and Gropp 2005).
    const std::int64_t step = 840000000 / static_cast<std::int64_t>(n) * 20 + 936250 + 10000;
    EXPECT_EQ(result.makespan, Duration{2 * static_cast<std::int64_t>(n - 1) * step}) << n << " ranks";
    EXPECT_EQ(result.engine.sends, 2 * (n - 1) * n);
    EXPECT_EQ(result.traffic[static_cast<std::size_t>(Dimension::kDp)].bytes.count,
              2 * static_cast<std::int64_t>(n - 1) * 840000000);
    EXPECT_TRUE(books_balance(result));
  }
}

TEST(Simulate, StreamAgreesWithExactOnARing) {
  for (const Fidelity fidelity : {Fidelity::kExact, Fidelity::kStream}) {
    Job job(4);
    job.scenario.run.fidelity = fidelity;
    job.scenario.run.folding = false;  // to count the sends
    job.scenario.cluster.nic.latency = us(1);
    job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kAllReduce, 400000000);
    const RunResult result = job.run();
    EXPECT_EQ(result.makespan, Duration{6 * (100000000LL * 20 + 1000000)});
    EXPECT_EQ(result.engine.sends, fidelity == Fidelity::kExact ? 24u : 4u);
    EXPECT_TRUE(books_balance(result));
  }
}

// Rows and columns of a grid take turns, and every rank computes for a random time before each: a late rank makes its
// group late, and that group the ones that meet it next. With T for one all-reduce a group ends T after its last member
// came.
TEST(Simulate, StreamPropagatesLateArrivalsAsExactDoes) {
  constexpr std::size_t kSide = 3;
  constexpr int kRounds = 8;
  constexpr std::int64_t kBytes = 100'000'001;
  const Duration step = Duration{(kBytes / 3 + 1) * 20 + 936250};  // the largest of three pieces at 50 GB/s, and latency
  for (const Fidelity fidelity : {Fidelity::kExact, Fidelity::kStream}) {
    Job job(kSide * kSide);
    job.scenario.run.fidelity = fidelity;
    job.scenario.cluster.nic.latency = Duration{936250};
    RandomStream random(7, "late");
    std::vector<Duration> end(kSide * kSide);
    std::vector<std::vector<std::size_t>> lines;
    std::vector<CommunicatorId> groups;
    for (std::size_t line = 0; line < 2 * kSide; ++line) {
      std::vector<std::size_t>& members = lines.emplace_back();
      for (std::size_t i = 0; i < kSide; ++i) members.push_back(line < kSide ? line * kSide + i : i * kSide + line - kSide);
      groups.push_back(job.group(members));
    }
    for (std::size_t turn = 0; turn < 2 * kRounds; ++turn) {
      for (std::size_t r = 0; r < end.size(); ++r) {
        const Duration late{static_cast<std::int64_t>(random.below(10'000'000'000))};  // up to 10 ms; a step is 0.7 ms
        job.compute(r, late);
        end[r] += late;
      }
      for (std::size_t g = turn % 2 * kSide; g < turn % 2 * kSide + kSide; ++g) {
        job.collective(groups[g], lines[g], CollectiveOp::kAllReduce, kBytes);
        Duration last{};
        for (const std::size_t r : lines[g]) last = std::max(last, end[r]);
        for (const std::size_t r : lines[g]) end[r] = last + 4 * step;
      }
    }
    const RunResult result = job.run();
    // A piece may be one byte smaller than the largest, 20 ps a step: nothing else may be apart.
    const Duration apart = *std::max_element(end.begin(), end.end()) - result.makespan;
    EXPECT_GE(apart, Duration{0});
    EXPECT_LE(apart, 2 * kRounds * 4 * Duration{20});
    EXPECT_TRUE(books_balance(result));
  }
}

TEST(Simulate, StreamRunsWhatIsNotSteadyExactly) {
  for (const Fidelity fidelity : {Fidelity::kExact, Fidelity::kStream}) {
    Job job(4);
    job.scenario.run.fidelity = fidelity;
    job.scenario.collectives.chunks = 2;
    job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kBroadcast, 100000000);
    // Three hops, two pieces of 50 MB: the second piece follows one piece behind, 3 + 1 times 1 ms.
    EXPECT_EQ(job.run().makespan, ms(4));
  }
}

TEST(Simulate, ACollectiveStartsWhenItsLastMemberArrives) {
  Job job(2);
  job.compute(1, ms(3));
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, ms(3) + kGiB);  // two ranks: 2 steps of half the data
  EXPECT_EQ(result.ranks[0].peer_wait, ms(3));
  EXPECT_EQ(result.ranks[0].exposed_communication, kGiB);
  EXPECT_TRUE(books_balance(result));
}

// The micro-benchmark of the published artifact's faults: k rounds of an all-reduce in {0,1},{2,3}, then in {0,2},{1,3},
// one port a rank. The step is 2k all-reduces plus one delay for each change of groups; the first circuits are one change
// too.
TEST(Opus, AlternatingGroupsPayOneDelayAChange) {
  constexpr int kRounds = 5;
  for (const char* mode : {"on_demand", "provisioned"}) {
    for (const char* order : {"scheduled", "free"}) {
      Job job(4);
      job.optical(ms(10));
      job.scenario.controller.parameters.set("mode", mode).set("order", order);
      const auto a = job.group({0, 1});
      const auto b = job.group({2, 3});
      const auto c = job.group({0, 2});
      const auto d = job.group({1, 3});
      for (int k = 0; k < kRounds; ++k) {
        job.collective(a, {0, 1}, CollectiveOp::kAllReduce, 1 << 30)
            .collective(b, {2, 3}, CollectiveOp::kAllReduce, 1 << 30);
        job.collective(c, {0, 2}, CollectiveOp::kAllReduce, 1 << 30)
            .collective(d, {1, 3}, CollectiveOp::kAllReduce, 1 << 30);
      }
      const RunResult result = job.run();
      EXPECT_EQ(result.makespan, 2 * kRounds * (kGiB + ms(10)));
      EXPECT_EQ(result.reconfigurations.critical_path, 2u * kRounds);
      EXPECT_EQ(result.ranks[0].reconfiguration_wait, 2 * kRounds * ms(10));
      EXPECT_DOUBLE_EQ(result.reconfigurations.hidden_share().value(), 0.0);
      EXPECT_TRUE(books_balance(result));
    }
  }
}

TEST(Opus, GroupsOnDisjointPortsDoNotWaitForEachOther) {
  Job job(4);
  job.optical(ms(10));
  const auto a = job.group({0, 1});
  const auto b = job.group({2, 3});
  job.compute(2, ms(4));
  job.collective(a, {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  job.collective(b, {2, 3}, CollectiveOp::kAllReduce, 1 << 30);
  const RunResult result = job.run();
  // {2,3} asks at 4 ms, while {0,1} is switching: 4 + 10 + 21.5 ms.
  EXPECT_EQ(result.makespan, ms(14) + kGiB);
  EXPECT_EQ(result.reconfigurations.count, 2u);
}

TEST(Opus, ProvisionedHidesTheDelayUnderCompute) {
  for (const bool provisioned : {false, true}) {
    Job job(4);
    job.optical(ms(10));
    job.scenario.controller.parameters.set("mode", provisioned ? "provisioned" : "on_demand");
    const auto a = job.group({0, 1});
    const auto c = job.group({0, 2});
    job.compute(0, ms(20)).compute(1, ms(20));
    job.collective(a, {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
    job.compute(0, ms(30));
    job.collective(c, {0, 2}, CollectiveOp::kAllReduce, 1 << 30);
    const RunResult result = job.run();
    // On demand each of the two operations waits 10 ms. Announced at 0 and after the first all-reduce, both hide under
    // compute.
    EXPECT_EQ(result.makespan, ms(50) + 2 * kGiB + (provisioned ? ms(0) : ms(20)));
    EXPECT_EQ(result.reconfigurations.count, 2u);
    EXPECT_EQ(result.reconfigurations.critical_path, provisioned ? 0u : 2u);
    EXPECT_DOUBLE_EQ(result.reconfigurations.hidden_share().value(), provisioned ? 1.0 : 0.0);
    EXPECT_EQ(result.ranks[0].reconfiguration_wait, provisioned ? ms(0) : ms(20));
    EXPECT_TRUE(books_balance(result));
  }
}

TEST(Opus, AnOperationWhoseCircuitsAreLitPaysNothing) {
  Job job(2);
  job.optical(ms(10));
  const auto a = job.group({0, 1});
  for (int i = 0; i < 4; ++i) job.collective(a, {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, ms(10) + 4 * kGiB);
  EXPECT_EQ(result.reconfigurations.count, 1u);
}

TEST(Opus, AllToAllIsFollowedRoundByRound) {
  Job job(4);
  job.optical(ms(1));
  job.scenario.cluster.nic.latency = us(1);
  job.collective(job.group({0, 1, 2, 3}, Dimension::kEp), {0, 1, 2, 3}, CollectiveOp::kAllToAll, 400000000);
  const RunResult result = job.run();
  // Three rounds of one matching each: a delay, 100 MB at 50 GB/s, 1 us of latency.
  EXPECT_EQ(result.makespan, 3 * (ms(1) + Duration{100000000LL * 20} + us(1)));
  EXPECT_EQ(result.reconfigurations.count, 3u);
  EXPECT_EQ(result.ranks[2].reconfiguration_wait, ms(3));
  EXPECT_TRUE(books_balance(result));
}

TEST(Opus, TwoPortsGiveOnePartnerTheFullRate) {
  Job job(2);
  job.optical(ms(1));
  job.scenario.cluster.nic.ports = 2;
  job.scenario.cluster.nic.per_port = Bandwidth::from_gb_per_s(25);
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  EXPECT_EQ(job.run().makespan, ms(1) + kGiB);  // two circuits of 25 GB/s each way
}

TEST(Opus, EachTermOfTheControlPlaneIsPaid) {
  Job job(2);
  job.optical(ms(10));
  ControllerSpec& spec = job.scenario.controller;
  spec.request = us(100);
  spec.service = us(30);
  spec.command = us(20);
  spec.acknowledgement = us(7);
  job.scenario.cluster.rail.optical.link_up = ms(1);
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  // Both ranks ask at 0; the rail's queue serves one after the other: 100 + 30 + 30 us. Then command, switching, link
  // bring-up and acknowledgement.
  EXPECT_EQ(job.run().makespan, us(100 + 2 * 30 + 20) + ms(10) + ms(1) + us(7) + kGiB);
}

TEST(Opus, AJobWithOnlyPipelineOnItsRailsNeverReconfiguresAfterItsStart) {
  Job job(2);
  job.optical(ms(10));
  for (int i = 0; i < 3; ++i) {
    job.compute(0, ms(50)).send(0, 1, 1 << 30).receive(0, 1, 1 << 30);
    job.compute(1, ms(50)).send(1, 0, 1 << 30).receive(1, 0, 1 << 30);
  }
  const RunResult result = job.run();
  EXPECT_EQ(result.reconfigurations.count, 2u) << "one circuit each way, once";
}

TEST(Static, CircuitsOfTheScenarioCarryTraffic) {
  Job job(3);
  job.optical(ms(2), "static");
  job.scenario.controller.circuits = {{GpuId{0}, GpuId{1}}, {GpuId{1}, GpuId{2}}, {GpuId{2}, GpuId{0}}};
  job.collective(job.group({0, 1, 2}), {0, 1, 2}, CollectiveOp::kAllGather, 50000000);
  EXPECT_EQ(job.run().makespan, ms(2) + 2 * Duration{50000000LL * 20});
}

TEST(Static, ASendWithoutACircuitIsADeadlockThatSaysSo) {
  Job job(3);
  job.optical(ms(2), "static");
  job.scenario.controller.circuits = {{GpuId{0}, GpuId{1}}, {GpuId{1}, GpuId{2}}};
  job.send(0, 2, kMiB).receive(0, 2, kMiB);
  try {
    (void)job.run();
    FAIL() << "it cannot finish";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("waits for a circuit from rank 0 to rank 2; controller 'static' leaves server 0 on "
                                        "rail 0 with 1 circuit to others"));
  }
}

TEST(Static, ForwardingHopsOverOtherGpusOfTheRail) {
  Job job(3);
  job.optical(ms(2), "static");
  job.scenario.cluster.rail.forwarding = true;
  job.scenario.cluster.nic.latency = us(1);
  job.scenario.controller.circuits = {{GpuId{0}, GpuId{1}}, {GpuId{1}, GpuId{2}}};
  job.send(0, 2, 50000000).receive(0, 2, 50000000);
  job.detach(2).send(1, 2, 50000000).receive(1, 2, 50000000);
  const RunResult result = job.run();
  // Rank 1 is the sender of its own message too: both share its port at 25 GB/s, 2 ms for 50 MB; the hop costs 1 us more.
  EXPECT_EQ(result.makespan, ms(2) + ms(2) + us(2));
}

TEST(Simulate, ASendToAnotherLocalIndexGoesThroughTheScaleUpFabricToTheRightRail) {
  Job job(4, 2);  // servers {0,1} and {2,3}; rank 3 is on rail 1
  job.optical(ms(2));
  job.scenario.cluster.scale_up = {Bandwidth::from_gb_per_s(10), us(5)};
  job.scenario.cluster.nic.latency = us(1);
  job.send(0, 3, 10000000).receive(0, 3, 10000000);
  const RunResult result = job.run();
  // Limited by the 10 GB/s of the scale-up port: 1 ms; latencies add; the circuit is on rail 1.
  EXPECT_EQ(result.makespan, ms(2) + ms(1) + us(6));
  EXPECT_THAT(result.reconfigurations.per_rail, ::testing::ElementsAre(0, 1));
}

TEST(Simulate, ACollectiveOfOneRankIsDoneAtOnce) {
  Job job(2);
  job.collective(job.group({0}), {0}, CollectiveOp::kAllReduce, 1 << 30).compute(0, us(5));
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, us(5));
  EXPECT_EQ(result.engine.sends, 0u);
}

// A collective whose last member has nothing to do: member 0 sends to 1, and 2 only has to arrive.
class FirstTwo : public CollectiveAlgorithm {
 public:
  std::string_view name() const override { return "first_two"; }
  std::string_view summary() const override { return "member 0 sends to member 1"; }
  bool supports(CollectiveOp op, Member) const override { return op == CollectiveOp::kBroadcast; }
  std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const override {
    SendPlanBuilder builder(call.members, 1);
    builder.add({.from = 0, .to = 1, .bytes = call.size});
    return std::move(builder).build();
  }
};

TEST(Simulate, AMemberWithNothingToSendOrReceiveIsDoneWhenTheCollectiveStarts) {
  for (const bool optical : {false, true}) {
    Job job(3);
    if (optical) job.optical(ms(2));
    job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kBroadcast)] = "first_two";
    job.compute(0, ms(1));
    job.collective(job.group({0, 1, 2}), {0, 1, 2}, CollectiveOp::kBroadcast, 50000000);
    job.compute(2, ms(7));
    Registries registries;
    registries.collectives.add(std::make_unique<FirstTwo>());
    const RunResult result = simulate(job.build().scenario, {}, registries);
    EXPECT_EQ(result.ranks[2].peer_wait, ms(1)) << "until all three have arrived";
    EXPECT_EQ(result.makespan, ms(8));
    EXPECT_TRUE(books_balance(result));
  }
}

TEST(Simulate, ATimeBeyondTheRangeIsAnErrorNotAnOverflow) {
  Job job(2);
  job.scenario.cluster.nic.per_port = Bandwidth{1.0};
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, std::int64_t{1} << 50);
  EXPECT_THROW((void)job.run(), ConfigError);
}

TEST(Simulate, TensorTrafficInsideAServerUsesTheScaleUpFabric) {
  Job job(2, 2);
  job.scenario.cluster.scale_up.per_gpu = Bandwidth::from_gb_per_s(100);
  job.collective(job.group({0, 1}, Dimension::kTp), {0, 1}, CollectiveOp::kAllReduce, 100000000);
  EXPECT_EQ(job.run().makespan, ms(1));
}

TEST(Simulate, OneLaneHoldsUpWhatComesBehindAnOperationThatWaitsForCircuits) {
  for (const CommLanes lanes : {CommLanes::kPerCommunicator, CommLanes::kOne}) {
    Job job(4, 2);  // servers {0,1} and {2,3}: tp inside, dp {0,2} on rail 0
    job.optical(ms(10));
    job.scenario.executor.comm_lanes = lanes;
    job.scenario.cluster.scale_up.per_gpu = Bandwidth::from_gb_per_s(50);
    const auto dp = job.group({0, 2}, Dimension::kDp);
    const auto tp = job.group({0, 1}, Dimension::kTp);
    job.collective(dp, {0, 2}, CollectiveOp::kAllReduce, 1 << 30);
    job.detach(0);
    job.collective(tp, {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
    const RunResult result = job.run();
    const bool one = lanes == CommLanes::kOne;
    // With a lane each, tp runs while dp waits 10 ms; with one lane it comes after dp.
    EXPECT_EQ(result.ranks[1].exposed_communication, kGiB);
    EXPECT_EQ(result.ranks[1].peer_wait, one ? ms(10) + kGiB : ms(10)) << "ends at " << to_seconds(result.makespan);
    EXPECT_EQ(result.makespan, ms(10) + kGiB + (one ? kGiB : ms(0)));
    EXPECT_TRUE(books_balance(result));
  }
}

TEST(Simulate, ASmallSendIsDoneForItsSenderAtOnceALargeOneWhenItIsDelivered) {
  for (const std::int64_t bytes : {kMiB, 64 * kMiB}) {
    Job job(2);
    // Each sends before it receives: with rendezvous sends alone this is a deadlock.
    job.send(0, 1, bytes).receive(1, 0, bytes);
    job.send(1, 0, bytes).receive(0, 1, bytes);
    if (bytes == kMiB) {
      EXPECT_EQ(job.run().makespan, Duration{kMiB * 20});
    } else {
      EXPECT_THROW((void)job.run(), DeadlockError);
    }
  }
}

TEST(Simulate, AMissingReceiveIsADeadlockThatNamesRankTaskGroupAndPeer) {
  Job job(4);
  job.send(2, 3, 1 << 30, 9);
  job.compute(3, us(1));
  try {
    (void)job.run();
    FAIL() << "it cannot finish";
  } catch (const DeadlockError& error) {
    ASSERT_EQ(error.stuck().size(), 1u);
    EXPECT_THAT(error.stuck()[0], AllOf(HasSubstr("rank 2"), HasSubstr("task 0 'send'"), HasSubstr("waits for rank 3"),
                                        HasSubstr("never posts its receive"), HasSubstr("tag 9")));
  }
}

TEST(Simulate, IterationsFollowEachOtherAndTheirTimesAddUp) {
  Job job(2);
  job.optical(ms(10));
  job.scenario.run.iterations = 3;
  job.compute(0, ms(5));
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  const RunResult result = job.run();
  ASSERT_EQ(result.iterations.size(), 3u);
  EXPECT_EQ(result.iterations[0], ms(15) + kGiB);
  EXPECT_EQ(result.iterations[1], ms(5) + kGiB);
  EXPECT_EQ(result.iterations[0] + result.iterations[1] + result.iterations[2], result.makespan);
  EXPECT_TRUE(books_balance(result));
}

TEST(Simulate, WindowsBetweenPhasesAreRecorded) {
  Job job(2);
  const auto dp = job.group({0, 1}, Dimension::kDp);
  job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  job.compute(0, ms(7));
  job.send(0, 1, 1 << 30).receive(0, 1, 1 << 30);
  const RunResult result = job.run();
  const auto windows = result.windows.at({Dimension::kDp, Dimension::kPp});
  EXPECT_THAT(windows, ::testing::ElementsAre(WindowCount{ms(7), 2})) << "one a rank";
}

// A job with a bit of everything, for histories.
Job& everything(Job& job) {
  job.optical(ms(3));
  job.scenario.cluster.rail.optical.reconfiguration = {DelayDistribution::Kind::kNormal, ms(3), ms(1), 0.0};
  job.scenario.controller.parameters.set("mode", "provisioned");
  job.scenario.cluster.nic.latency = us(1);
  job.scenario.run.iterations = 2;
  const auto ab = job.group({0, 1, 2, 3});
  const auto cd = job.group({4, 5, 6, 7});
  const auto ep = job.group({0, 1, 4, 5}, Dimension::kEp);
  for (int i = 0; i < 3; ++i) {
    for (std::size_t r = 0; r < 8; ++r)
      job.compute(r, us(100.0 + 37.0 * static_cast<double>((r * 7 + static_cast<std::size_t>(i)) % 5)));
    job.collective(ab, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 30 * kMiB);
    job.collective(cd, {4, 5, 6, 7}, CollectiveOp::kReduceScatter, 30 * kMiB);
    job.collective(ep, {0, 1, 4, 5}, CollectiveOp::kAllToAll, 30 * kMiB);
    job.send(3, 7, 20 * kMiB).receive(3, 7, 20 * kMiB);
  }
  return job.build();
}

std::uint64_t history(const Scenario& scenario) {
  testing::HistoryHash hash;
  Observer* const observers[] = {&hash};
  const RunResult result = simulate(scenario, observers);
  EXPECT_TRUE(books_balance(result));
  return hash.value();
}

TEST(Determinism, TheSameScenarioHasTheSameHistoryAloneAndBesideAnother) {
  Job job(8);
  everything(job);
  const std::uint64_t alone = history(job.scenario);
  EXPECT_EQ(history(job.scenario), alone);
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::thread first([&] { a = history(job.scenario); });
  std::thread second([&] { b = history(job.scenario); });
  first.join();
  second.join();
  EXPECT_EQ(a, alone);
  EXPECT_EQ(b, alone);
  job.scenario.run.seed = 2;
  EXPECT_NE(history(job.scenario), alone) << "the switching times are drawn from the seed";
}

TEST(Determinism, ObserversDoNotChangeTheRun) {
  Job job(8);
  everything(job);
  testing::HistoryHash hash;
  Observer* const observers[] = {&hash};
  EXPECT_EQ(simulate(job.scenario, observers).makespan, simulate(job.scenario).makespan);
}

}  // namespace
}  // namespace photonrail::test
