// Jobs on optical switches that queue, darken as a whole, have planes and pods, and lose ports.
#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "support/folded.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// Two ranks with two ports of 25 GB/s reduce 1 GiB: kGiB on two circuits each way, twice that on one.
Job& two_ports(Job& job) {
  job.optical(ms(1));
  job.scenario.cluster.nic.ports = 2;
  job.scenario.cluster.nic.per_port = Bandwidth::from_gb_per_s(25);
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  return job;
}

PortFault fault(PortFault::Kind kind, std::uint32_t server, std::uint32_t port, Duration at) {
  return {kind, std::nullopt, server, port, Time{at}, std::nullopt};
}

TEST(PortFaults, TheOtherPortCarriesTheJob) {
  for (const std::uint32_t planes : {1u, 2u}) {
    Job job(2);
    two_ports(job).scenario.cluster.rail.planes = planes;
    job.scenario.cluster.rail.faults = {fault(PortFault::Kind::kFailed, 0, 0, {})};
    const RunResult result = job.run();
    EXPECT_EQ(result.makespan, ms(1) + 2 * kGiB) << planes;
    EXPECT_EQ(result.folding.off, "some ports fail, or are stuck or slow");
    EXPECT_TRUE(books_balance(result));
  }
}

TEST(PortFaults, OnDifferentPlanesLeaveNoWay) {
  Job one(2);
  two_ports(one).scenario.cluster.rail.faults = {fault(PortFault::Kind::kFailed, 0, 0, {}),
                                                 fault(PortFault::Kind::kFailed, 1, 1, {})};
  EXPECT_EQ(one.run().makespan, ms(1) + 2 * kGiB) << "any two ports of one switch can be joined";
  Job two(2);
  two_ports(two).scenario.cluster.rail.faults = one.scenario.cluster.rail.faults;
  two.scenario.cluster.rail.planes = 2;
  EXPECT_THROW(two.run(), DeadlockError);
}

// A NIC port, an OCS, or both ports of a server for a while, on switches that darken ports or themselves as a whole: with
// every detection time the job goes on, never faster than without the fault, and a fault after its end changes nothing.
TEST(PortFaults, AreSurvivedWhateverIsDarkAndWhenEverTheyAreDetected) {
  for (const DarkScope darkness : {DarkScope::kPorts, DarkScope::kSwitch}) {
    for (const std::uint32_t planes : {1u, 2u}) {
      for (const char* policy : {"opus", "max_weight", "mixnet", "lru"}) {
        const auto makespan = [&](std::vector<PortFault> faults) {
          Job job(2);
          two_ports(job).scenario.cluster.rail.planes = planes;
          job.scenario.cluster.rail.optical.darkness = darkness;
          job.scenario.controller.name = policy;
          job.scenario.cluster.rail.faults = std::move(faults);
          const RunResult result = job.run();
          EXPECT_TRUE(books_balance(result));
          return result.makespan;
        };
        SCOPED_TRACE(std::string(policy) + " on " + std::to_string(planes) + " planes");
        const Duration healthy = makespan({});
        for (const Duration detection : {Duration{}, us(10), ms(1), ms(20)}) {
          PortFault port{.server = 0, .port = 1, .at = Time{ms(11)}, .detection = detection};
          PortFault ocs{.at = Time{ms(11)}, .plane = 0, .detection = detection};
          PortFault server{.server = 1, .at = Time{ms(11)}, .lasts = ms(2), .detection = detection};
          EXPECT_GE(makespan({port}), healthy);
          EXPECT_TRUE(planes == 1 || makespan({ocs}) >= healthy);
          EXPECT_GE(makespan({server}), healthy + ms(2));
          port.at = Time{healthy + ms(1)};
          EXPECT_EQ(makespan({port}), healthy);
        }
      }
    }
  }
}

TEST(PortFaults, InTheMiddleHalveTheRateOfWhatIsLeft) {
  Job job(2);
  two_ports(job).scenario.cluster.rail.faults = {fault(PortFault::Kind::kFailed, 1, 1, ms(11))};
  // 10 ms at the full rate; the rest takes twice as long. Both ways alike, so that the second step of the ring is no
  // different; a picosecond for the rounding of each of its two sends.
  const Duration expected = ms(11) + 2 * (kGiB - ms(10));
  EXPECT_LE(std::chrono::abs(job.run().makespan - expected), Duration{2});
}

TEST(PortFaults, WithoutAnotherWayEndInADeadlockThatNamesThePort) {
  for (const Duration at : {Duration{}, ms(11)}) {
    Job job(2);
    job.optical(ms(1)).collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
    job.scenario.cluster.rail.faults = {fault(PortFault::Kind::kFailed, 1, 0, at)};
    try {
      job.run();
      FAIL() << "it finished";
    } catch (const DeadlockError& error) {
      EXPECT_THAT(error.stuck(), Contains(HasSubstr("rail 0: port 0 of server 1 failed at")));
    }
  }
}

TEST(PortFaults, ThatAreRepairedOnlyDelayTheJob) {
  Job job(2);
  job.optical(ms(1)).collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
  job.scenario.cluster.rail.faults = {fault(PortFault::Kind::kFailed, 1, 0, ms(11))};
  job.scenario.cluster.rail.faults.front().lasts = ms(4);
  // Away from 11 to 15 ms, and 1 ms to point the circuits again.
  const RunResult result = job.run();
  EXPECT_LE(std::chrono::abs(result.makespan - (ms(1) + kGiB + ms(5))), Duration{2});
  EXPECT_TRUE(books_balance(result));
}

TEST(PortFaults, AStuckPortServesWhatItIsJoinedToAndNobodyElse) {
  Job job(3);
  job.optical(ms(1));
  job.scenario.cluster.rail.faults = {fault(PortFault::Kind::kStuck, 0, 0, ms(5))};
  job.send(0, 1, 1 << 30).receive(0, 1, 1 << 30);
  Job ends = job;
  EXPECT_EQ(ends.run().makespan, ms(1) + kGiB);
  job.send(0, 2, 1 << 30).receive(0, 2, 1 << 30);
  try {
    job.run();
    FAIL() << "it finished";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.stuck(), Contains(HasSubstr("port 0 of server 0 is stuck since")));
    EXPECT_THAT(error.stuck(), Contains(HasSubstr("waits for a circuit from rank 0 to rank 2")));
  }
}

TEST(WholeSwitchDarkness, StopsEverybodyWhileOneCircuitIsMade) {
  Job job(4);
  job.optical(ms(1));
  job.scenario.cluster.rail.optical.darkness = DarkScope::kSwitch;
  job.send(0, 1, 1 << 30).receive(0, 1, 1 << 30);
  job.compute(2, ms(5)).compute(3, ms(5)).send(2, 3, 1 << 28).receive(2, 3, 1 << 28);
  const RunResult result = job.run();
  // Ranks 0 and 1 are joined by 1 ms; from 5 to 6 ms the switch is dark for the others.
  EXPECT_EQ(result.makespan, ms(1) + kGiB + ms(1));
  EXPECT_EQ(result.ranks[0].reconfiguration_wait, ms(1)) << "bytes that stand still are communication";
  EXPECT_EQ(result.folding.off, "a switch that re-points is dark as a whole");
  EXPECT_TRUE(books_balance(result));
}

TEST(CommandRate, HoldsUpTheCommandsOfOneRail) {
  Job job(4);
  job.optical(ms(1));
  job.scenario.cluster.rail.optical.command_gap = ms(3);
  job.compute(2, us(1)).compute(3, us(1));  // so that there are two commands
  for (const std::size_t a : {0u, 2u}) job.send(a, a + 1, 1 << 30).receive(a, a + 1, 1 << 30);
  const RunResult result = job.run();
  EXPECT_EQ(result.makespan, ms(3) + ms(1) + kGiB);
  EXPECT_EQ(result.reconfigurations.total, ms(1) + (ms(4) - us(1)));
}

TEST(Batching, OneCommandForTwoOperations) {
  Job job(4);
  job.optical(ms(1));
  job.scenario.cluster.rail.optical.batching = us(500);
  job.compute(2, us(100)).compute(3, us(100));
  for (const std::size_t a : {0u, 2u}) job.send(a, a + 1, 1 << 30).receive(a, a + 1, 1 << 30);
  EXPECT_EQ(job.run().makespan, us(500) + ms(1) + kGiB);
}

TEST(Pods, CrossingThemSharesTheElectricalLayer) {
  Job job(4);
  job.optical(ms(1));
  PodSpec& pods = job.scenario.cluster.rail.pods;
  pods.servers = 2;
  pods.oversubscription = 4.0;
  pods.latency = us(3);
  for (const std::size_t a : {0u, 1u}) job.send(a, a + 2, 1 << 30).receive(a, a + 2, 1 << 30);
  const RunResult result = job.run();
  // A pod has 2 x 50 GB/s of ports and a quarter of that between pods: 12.5 GB/s for each of two messages.
  EXPECT_EQ(result.makespan, ms(1) + 4 * kGiB + us(3));
  EXPECT_EQ(result.folding.off, "circuits between pods differ from those within one");
}

TEST(Planes, FoldAsOneSwitchDoes) {
  Job job(8);
  job.optical(us(40));
  job.scenario.cluster.nic.ports = 2;
  job.scenario.cluster.rail.planes = 2;
  const std::vector<std::size_t> all{0, 1, 2, 3, 4, 5, 6, 7};
  job.collective(job.group(all), all, CollectiveOp::kAllReduce, 1 << 24);
  job.build();
  const RunResult folded = expect_same_folded(job.scenario);
  EXPECT_EQ(folded.folding.classes, 1u) << folded.folding.off;
}

TEST(FoldingOfControlPlanes, IsOffWhereRanksAreNotAlike) {
  const auto why_off = [](const auto& change) {
    Job job(4);
    job.optical(us(40));
    job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kAllReduce, 1 << 20);
    change(job.scenario);
    return job.run().folding.off;
  };
  EXPECT_EQ(why_off([](Scenario&) {}), "");
  EXPECT_EQ(why_off([](Scenario& s) { s.cluster.rail.optical.batching = us(1); }),
            "commands wait for others at the switch");
  EXPECT_EQ(why_off([](Scenario& s) { s.cluster.rail.optical.command_gap = us(1); }),
            "commands wait for others at the switch");
  EXPECT_EQ(why_off([](Scenario& s) {
              s.controller.control.placement = ControllerPlacement::kHierarchical;
              s.controller.control.root_service = us(1);
            }),
            "requests queue at the root one after another");
  EXPECT_EQ(why_off([](Scenario& s) {
              s.controller.control.restarts = {{us(1), us(1), std::nullopt}};
            }),
            "controllers are restarted");
}

// Rails hear of two operations in different orders, since messages are lost: without one order for both, each operation has
// the circuits of one rail and waits for those of the other.
TEST(Switches, RailsThatHearOfRequestsInDifferentOrdersDoNotLock) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Job job(16, 2);
    job.optical(us(100));
    job.scenario.run.seed = seed;
    job.scenario.controller.control.messages.loss = 0.5;
    job.scenario.controller.control.messages.timeout = us(150);
    const std::vector<std::size_t> some{0, 1, 3, 5, 6, 8, 10, 11, 13, 15};
    const std::vector<std::size_t> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    job.collective(job.group(some), some, CollectiveOp::kAllToAll, 100'000);
    job.collective(job.group(all, Dimension::kTp), all, CollectiveOp::kAllToAll, 16);
    EXPECT_NO_THROW((void)job.run()) << seed;
  }
}

}  // namespace
}  // namespace photonrail::test
