// The control plane: queues, lost messages, restarts, shims.
#include "control_plane/request_channel.hpp"

#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace photonrail::test {
namespace {

using control_plane::deliver;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- one message

TEST(Delivery, WithoutLossOrDelayIsTheMessageItself) {
  RandomStream random(1, "messages");
  RandomStream untouched(1, "messages");
  EXPECT_EQ(deliver({}, us(7), random, "it", RailId{0u}), us(7));
  EXPECT_EQ(random.next(), untouched.next()) << "nothing was drawn";
}

TEST(Delivery, ALostMessageCostsATimeOut) {
  MessageSpec spec;
  spec.loss = 0.25;
  spec.timeout = us(100);
  RandomStream random(1, "messages");
  constexpr int kMessages = 20000;
  double sum = 0.0;
  for (int i = 0; i < kMessages; ++i) {
    const Duration took = deliver(spec, us(7), random, "it", RailId{0u});
    ASSERT_EQ((took - us(7)).count() % us(100).count(), 0);
    sum += to_seconds(took) * 1e6;
  }
  // So many are lost before one arrives: geometric, mean p / (1 - p) = 1/3, variance p / (1 - p)^2 = 4/9. Five deviations
  // of the mean.
  EXPECT_NEAR(sum / kMessages, 7 + 100.0 / 3, 5 * 100 * std::sqrt(4.0 / 9 / kMessages));
}

TEST(Delivery, AMessageThatIsLateIsSentAgainAndTheFirstCounts) {
  MessageSpec spec;
  spec.delay = DelayDistribution::constant(us(250));
  RandomStream random(1, "messages");
  EXPECT_EQ(deliver(spec, us(7), random, "it", RailId{0u}), us(257));
  spec.timeout = us(100);  // those sent at 100 and 200 come later than the first
  EXPECT_EQ(deliver(spec, us(7), random, "it", RailId{0u}), us(257));
  // From 0 to 1000 us: the least of d(0), 100 + d(1), 200 + d(2) and so on.
  spec.delay = {DelayDistribution::Kind::kUniform, {}, us(1000), 0.0};
  RandomStream drawn(2, "messages");
  RandomStream copy(2, "messages");
  Duration least = us(1e6);
  for (int sent = 0; us(100) * sent < least; ++sent) {
    (void)copy.uniform();  // lost or not
    least = std::min(least, us(100) * sent + us(7) + spec.delay.draw(copy));
  }
  EXPECT_EQ(deliver(spec, us(7), drawn, "it", RailId{0u}), least);
  EXPECT_EQ(drawn.next(), copy.next());
}

TEST(Delivery, EndsWhenAllRetriesAreLost) {
  MessageSpec spec;
  spec.loss = 0.99;
  spec.timeout = us(1);
  spec.retries = 2;
  RandomStream random(1, "messages");
  try {
    for (int i = 0; i < 100; ++i) (void)deliver(spec, us(7), random, "a command", RailId{3u});
    FAIL() << "one in 0.99^3 = 0.97 messages is given up";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.stuck(), ElementsAre(HasSubstr("rail 3: a command was sent 3 times")));
  }
}

// ---- where the controllers are

/// Two servers of two GPUs; the two GPUs of each rail gather 1 GiB from each other. 1 ms to switch.
Job& two_rails(Job& job, ControllerPlacement placement) {
  job.optical(ms(1));
  ControllerSpec& spec = job.scenario.controller;
  spec.service = us(30);
  spec.control.placement = placement;
  for (const std::size_t local : {0u, 1u}) {
    job.collective(job.group({local, local + 2}), {local, local + 2}, CollectiveOp::kAllGather, 1 << 30);
  }
  return job;
}

TEST(Placement, AControllerForEachRailServesItsOwnRequests) {
  Job job(4, 2);
  // Each rail has two requests at 0.
  EXPECT_EQ(two_rails(job, ControllerPlacement::kPerRail).run().makespan, us(2 * 30) + ms(1) + kGiB);
}

TEST(Placement, OneControllerServesTheRequestsOfAllRails) {
  Job job(4, 2);
  // Four requests at 0 in one queue. One rail has its second at 120 at the latest, and the job waits for it.
  EXPECT_EQ(two_rails(job, ControllerPlacement::kOne).run().makespan, us(4 * 30) + ms(1) + kGiB);
}

TEST(Placement, AHierarchyAsksTheRootOnceForEachOperation) {
  Job job(4, 2);
  ControlPlaneSpec& control = job.scenario.controller.control;
  control.root_request = us(5);
  control.root_service = us(10);
  two_rails(job, ControllerPlacement::kHierarchical);
  // Each rail has both requests at 60 and the root hears of both at 65; it serves one by 75 and the other by 85.
  EXPECT_EQ(job.run().makespan, us(60 + 5 + 2 * 10) + ms(1) + kGiB);
}

// ---- messages that are lost

Job& lossy(Job& job, std::uint64_t seed) {
  job.optical(ms(1));
  job.scenario.run.seed = seed;
  job.scenario.run.iterations = 4;
  job.scenario.controller.request = us(20);
  MessageSpec& messages = job.scenario.controller.control.messages;
  messages.loss = 0.3;
  messages.timeout = us(400);
  messages.delay = {DelayDistribution::Kind::kUniform, us(1), us(50), 0.0};
  const auto all = job.group({0, 1, 2, 3});
  job.collective(all, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 1 << 20);
  job.send(0, 2, 1 << 24).receive(0, 2, 1 << 24);
  return job;
}

TEST(LostMessages, LoseNoJobAndAreDrawnFromTheSeed) {
  const auto run = [](std::uint64_t seed) {
    Job job(4);
    const RunResult result = lossy(job, seed).run();
    EXPECT_TRUE(books_balance(result));
    EXPECT_EQ(result.folding.off, "messages of the control plane are lost or late");
    return result.makespan;
  };
  Job plain(4);
  lossy(plain, 1).scenario.controller.control.messages = {};
  const Duration reliable = plain.run().makespan;
  const Duration first = run(1);
  EXPECT_EQ(run(1), first);
  EXPECT_NE(run(2), first);
  EXPECT_GT(first, reliable);
}

// ---- restarts

/// At 5 ms rank 0, and at 9 ms rank 1, want to exchange 1 GiB; ranks 2 and 3 do so from the start.
Job& restarted(Job& job, Duration at, Duration down) {
  job.optical(ms(1));
  job.scenario.controller.request = us(100);
  job.scenario.controller.service = us(10);
  if (down > Duration{}) job.scenario.controller.control.restarts = {{at, down, std::nullopt}};
  job.compute(0, ms(5)).compute(1, ms(9));
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  job.collective(job.group({2, 3}), {2, 3}, CollectiveOp::kAllReduce, 1 << 28);
  return job;
}

TEST(Restart, LosesNoCircuitAndNoRequest) {
  Job undisturbed(4);
  const RunResult without = restarted(undisturbed, {}, {}).run();
  EXPECT_EQ(without.makespan, ms(9) + us(110) + ms(1) + kGiB);
  // The request of rank 0 is with the controller, ranks 2 and 3 use their circuits. It forgets the one and leaves the other
  // alone; rank 0 asks again at 7 ms, before rank 1 comes.
  Job job(4);
  const RunResult result = restarted(job, ms(6), ms(1)).run();
  EXPECT_EQ(result.makespan, without.makespan);
  EXPECT_EQ(result.ranks[2], without.ranks[2]);
  EXPECT_TRUE(books_balance(result));
}

TEST(Restart, WhatIsAskedMeanwhileIsServedAfterwards) {
  Job job(4);
  // Rank 1 asks at 9 ms of a controller that is away from 8 to 12 ms. At 12 ms both ask again: 100 us, and 10 for each.
  const RunResult result = restarted(job, ms(8), ms(4)).run();
  EXPECT_EQ(result.makespan, ms(12) + us(100 + 2 * 10) + ms(1) + kGiB);
  EXPECT_EQ(result.folding.off, "controllers are restarted");
}

TEST(Restart, ARequestOnItsWayIsRepeated) {
  Job job(4);
  // Sent at 9 ms, it would arrive at 9.1; the controller stops at 9.05 and is back at 9.06 ms.
  const RunResult result = restarted(job, us(9050), us(10)).run();
  EXPECT_EQ(result.makespan, us(9060) + us(100 + 2 * 10) + ms(1) + kGiB);
}

TEST(Restart, OfAnotherRailChangesNothing) {
  Job job(4, 2);
  two_rails(job, ControllerPlacement::kPerRail);
  job.scenario.controller.control.restarts = {{us(10), ms(50), RailId{1u}}};
  const RunResult result = job.run();
  // Rail 1 asks again at 50.01 ms; rail 0 is as without.
  EXPECT_EQ(result.makespan, us(50'010) + us(2 * 30) + ms(1) + kGiB);
  EXPECT_EQ(result.ranks[0].exposed_communication, kGiB);
  EXPECT_EQ(result.ranks[0].reconfiguration_wait, us(2 * 30) + ms(1));
}

TEST(Restart, CircuitsOfAStaticControllerStay) {
  Job job(2);
  job.optical(ms(2), "static");
  job.scenario.controller.circuits = {{GpuId{0u}, GpuId{1u}, 0, 0}, {GpuId{1u}, GpuId{0u}, 0, 0}};
  job.scenario.controller.control.restarts = {{ms(5), ms(1), std::nullopt}};
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, ms(2) + kGiB);
  EXPECT_EQ(result.reconfigurations.count, 1u);
}

// ---- shims

/// Ranks 0 and 1 exchange, compute 5 ms, and exchange with 2 and 3 what needs other circuits.
Job& phases(Job& job, const char* mode) {
  job.optical(ms(2));
  job.scenario.controller.parameters.set("mode", mode);
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 28);
  job.compute(0, ms(5)).compute(1, ms(5));
  job.send(0, 2, 1 << 28).receive(0, 2, 1 << 28);
  return job;
}

TEST(Shims, ARankThatDoesNotAnnounceHoldsUpThoseThatDo) {
  Job on_demand(4);
  Job provisioned(4);
  Job mixed(4);
  const Duration slow = phases(on_demand, "on_demand").run().makespan;
  const Duration fast = phases(provisioned, "provisioned").run().makespan;
  // The second switching of 2 ms hides behind the computation of 5 ms.
  EXPECT_EQ(slow - fast, ms(2));
  phases(mixed, "provisioned").scenario.controller.control.shims = {{{RankId{0u}}, false, std::nullopt}};
  const RunResult result = mixed.run();
  EXPECT_EQ(result.makespan, slow) << "both ends must ask";
  EXPECT_EQ(result.folding.off, "the shims of some ranks differ");
  Job other(4);
  phases(other, "on_demand").scenario.controller.control.shims = {
      {{RankId{0u}, RankId{1u}, RankId{2u}, RankId{3u}}, true, std::nullopt}};
  EXPECT_EQ(other.run().makespan, fast);
}

TEST(Shims, ARequestMayTakeLongerOnSomeRanks) {
  Job job(2);
  job.optical(ms(1));
  job.scenario.controller.request = us(100);
  job.scenario.controller.control.shims = {{{RankId{0u}, RankId{1u}}, std::nullopt, us(300)},
                                           {{RankId{0u}}, std::nullopt, us(50)}};
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  EXPECT_EQ(job.run().makespan, us(300) + ms(1) + kGiB);
}

}  // namespace
}  // namespace photonrail::test
