// No run goes on for ever: not after the job is done, not while nothing comes of it, and not without time passing.
#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "run/scripted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

Job two_of_three(Duration delay) {
  Job job(2);
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1'000'000);
  job.optical(delay, "rotor").build();
  job.scenario.cluster.servers = 3;
  job.scenario.cluster.rail.optical.darkness = DarkScope::kSwitch;
  return job;
}

TEST(TimePasses, ARotorOnASwitchThatDarkensEndsWithTheJob) {
  for (const Duration delay : {us(10), Duration{}}) {
    const RunResult result = two_of_three(delay).run();
    EXPECT_TRUE(books_balance(result));
    EXPECT_GE(result.makespan, us(20));
    EXPECT_LT(result.makespan, ms(2));
  }
}

TEST(TimePasses, ARotorOfAJobThatCannotFinishEndsToo) {
  // The receive of rank 1 is never posted: the rotor of the whole switch turns in vain, and stands still after a turn.
  for (const DarkScope darkness : {DarkScope::kPorts, DarkScope::kSwitch}) {
    Job job(2);
    job.send(0, 1, 100'000'000).compute(1, us(1));
    job.optical(us(10), "rotor").build();
    job.scenario.cluster.servers = 3;
    job.scenario.cluster.rail.optical.darkness = darkness;
    EXPECT_THROW(static_cast<void>(job.run()), DeadlockError);
  }
}

TEST(TimePasses, ARotorWhoseMessageLostHalfOfItsWayForGoodEnds) {
  // Slots of 10 / (1 - 0.9) = 100 us. In the second one the message goes from 0 over 2 to 1, whose port fails at 150 us:
  // the circuit from 0 to 2 comes back every other slot, and carries nothing.
  Job job(3);
  job.compute(0, us(120)).compute(1, us(120)).send(0, 1, 100'000'000).receive(0, 1, 100'000'000);
  job.optical(us(10), "rotor").build();
  job.scenario.controller.parameters.set("paths", std::string("two_hop"));
  job.scenario.cluster.rail.faults = {{.server = 1, .at = Time{us(150)}}};
  EXPECT_THROW(static_cast<void>(job.run()), DeadlockError);
}

TEST(TimePasses, RotorsOfSeveralJobsThatDarkenEachOthersSwitchEnd) {
  const Job job = two_of_three(us(10));
  Scenario all;
  all.cluster = job.scenario.cluster;
  all.cluster.servers = 6;
  for (const std::size_t first : {0, 2}) {
    JobSpec& made = all.jobs.emplace_back(job.scenario);
    made.name = "job " + std::to_string(first);
    made.gpu_of_rank = {GpuId{first}, GpuId{first + 1}};
    made.start = Time{us(static_cast<double>(first) * 300)};
  }
  const RunResult result = simulate(all);
  EXPECT_GT(result.makespan, us(600));
  EXPECT_LT(result.makespan, ms(10));
}

TEST(TimePasses, AControllerThatDecidesWithoutEndInOneInstantIsNamed) {
  // The switch takes no time, and the controller turns the receive side of server 0 from one sender to the other each time.
  Job job(3);
  job.send(0, 1, 1'000'000).receive(0, 1, 1'000'000).optical({}).build();
  bool turned = false;
  const Script script = [&turned](const FabricView&) -> Decision {
    turned = !turned;
    return CircuitPlan{{{PortId{turned ? 1u : 2u}, PortId{0}}}, {}};
  };
  try {
    static_cast<void>(run_scripted(job.scenario, script));
    FAIL();
  } catch (const ControllerError& error) {
    EXPECT_THAT(error.what(), HasSubstr("controller 'scripted' on rail 0 at 0.000000 s"));
    EXPECT_THAT(error.what(), HasSubstr("10000 times"));
  }
}

TEST(TimePasses, ManyOperationsWithoutTimeAreFine) {
  // 12,000 messages of no bytes over circuits that take no time, one after the other; a controller may decide 10,000 times.
  Job job(2);
  for (int i = 0; i < 12'000; ++i) job.send(0, 1, 0).receive(0, 1, 0);
  job.optical({}).build();
  EXPECT_EQ(job.run().makespan, Duration{});
}

// A switch takes a command every 10 ms, and a slot is hardly longer. What a rotor that stood still says of the turns that
// nobody watched came in its time: the switch does not begin to count the 10 ms when somebody asks again.
TEST(TimePasses, ARotorThatStoodStillIsNotLateForASwitchOfFewCommands) {
  for (const double pause_ms : {33.0, 47.0, 101.0, 999.0}) {
    Job job(3);
    job.send(0, 1, 1000).receive(0, 1, 1000).compute(0, ms(pause_ms)).compute(1, ms(pause_ms));
    job.send(0, 1, 1000).receive(0, 1, 1000);
    job.optical(us(1), "rotor").build();
    job.scenario.cluster.rail.optical.command_gap = ms(10);
    const RunResult result = job.run();
    EXPECT_LT(result.makespan, ms(pause_ms + 40)) << "after a pause of " << pause_ms << " ms";
  }
}

// Commands are lost and late, so that the bytes of a pair stand still for whole turns on a circuit that is not lit in its
// slot. The rotor goes on for them as it does for those who ask.
TEST(TimePasses, ARotorGoesOnForBytesThatStandStill) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Job job(8, 2);
    const std::vector<std::size_t> all{0, 1, 2, 3, 4, 5, 6, 7};
    job.collective(job.group(all), all, CollectiveOp::kAllGather, 999'990);
    job.optical(Duration{}, "rotor").build();
    job.scenario.cluster.nic.latency = us(2);
    job.scenario.run.seed = seed;
    job.scenario.controller.control.messages.loss = 0.5;
    job.scenario.controller.control.messages.timeout = us(150);
    EXPECT_NO_THROW((void)job.run()) << seed;
  }
}

}  // namespace
}  // namespace photonrail::test
