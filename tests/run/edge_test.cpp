// Corners of the simulation core: what the property tests found, each as small as it gets.
#include "execution/time_accounting.hpp"
#include "photonrail/error.hpp"
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Edge, ABufferedSendWhoseReceiveIsNeverPostedIsADeadlockToo) {
  Job job(2);
  job.send(0, 1, 1024);  // its sender goes on and ends
  job.compute(1, us(1));
  try {
    (void)job.run();
    FAIL() << "the message never arrives";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0"), HasSubstr("rank 1, which never posts its receive")));
  }
}

// In the profiling run the send's bytes travel after the all-reduce, because its receive is posted then; but its sender
// came to it before, and cannot come to the all-reduce without it.
TEST(Edge, AScheduleKeepsABufferedSendBeforeWhatItsSenderDoesNext) {
  for (const char* mode : {"on_demand", "provisioned"}) {
    Job job(2);
    job.optical(ms(1));
    job.scenario.controller.parameters.set("mode", mode);
    job.send(0, 1, 50000);
    job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 50000000);
    job.receive(0, 1, 50000);
    // Switching both ways (0 to 1 serves both), 50 MB at 50 GB/s, then 50 kB in 1 us.
    EXPECT_EQ(job.run().makespan, ms(1) + ms(1) + us(1));
  }
}

// The circuits of one operation are the ones that another lacks, whose requests have not arrived when they are lit.
TEST(Edge, CircuitsThatAnotherOperationAskedForServeOneWhoseRequestsAreOnTheirWay) {
  Job job(2);
  job.optical(us(60));
  job.scenario.controller.request = us(100);
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 1000000);
  const auto other = job.group({0, 1}, Dimension::kTp);
  for (const std::size_t rank : {0, 1}) job.detach(rank).compute(rank, us(90));
  job.collective(other, {0, 1}, CollectiveOp::kAllReduce, 1000000);
  // Asked at 0, lit at 160 us; the other is reached at 90 us and its requests come at 190 us. They share the circuits from
  // 160 us on: 2 MB at 50 GB/s are 40 us.
  EXPECT_EQ(job.run().makespan, us(200));
}

TEST(Edge, ProgramsWithoutTasksHaveAsManyIterationsAsTheRunAsksFor) {
  Job job(2);
  job.scenario.run.iterations = 200000;
  const RunResult result = job.run();
  EXPECT_EQ(result.iterations.size(), 200000u);
  EXPECT_EQ(result.makespan, Duration{});
}

TEST(Edge, ARunThatOutgrowsTheRangeOfTimeIsAnErrorOfItsInput) {
  Job job(1);
  for (int i = 0; i < 4; ++i) job.compute(0, Duration{3'000'000'000'000'000'000});  // 35 days each, where times end at 46
  EXPECT_THROW((void)job.run(), ConfigError);
  Job single(1);
  single.compute(0, Duration{9'000'000'000'000'000'000});
  EXPECT_THROW((void)single.run(), ConfigError);
}

// Fifteen circuits of 11 days each: their sum does not fit into 64 bits.
TEST(Edge, AForwardedMessageWhoseLatenciesOutgrowTimeIsAnErrorOfItsInput) {
  Job job(16);
  job.optical(us(1), "static");
  job.scenario.cluster.rail.forwarding = true;
  job.scenario.cluster.nic.latency = std::chrono::seconds(1'000'000);
  for (std::uint32_t gpu = 0; gpu < 16; ++gpu) {
    job.scenario.controller.circuits.push_back({GpuId{gpu}, GpuId{(gpu + 1) % 16}});
  }
  job.send(0, 15, 1024);
  job.receive(0, 15, 1024);
  EXPECT_THAT([&] { (void)job.run(); }, ::testing::ThrowsMessage<ConfigError>(HasSubstr("times end at 46 days")));
}

TEST(Edge, MeansOverRanksDoNotOverflow) {
  constexpr Time kLong{3'000'000'000'000'000'000};  // of four ranks the sum would not fit into 64 bits
  execution::TimeAccounting recorder(4);
  for (std::size_t r = 0; r < 4; ++r) recorder.running_began(RankId{r}, Dimension::kDp, Time{});
  for (std::size_t r = 0; r < 4; ++r) recorder.running_ended(RankId{r}, Dimension::kDp, kLong);
  const execution::Accounts accounts = recorder.finish(kLong);
  EXPECT_EQ(accounts.traffic[static_cast<std::size_t>(Dimension::kDp)].busy, kLong.since_start());
  EXPECT_EQ(accounts.traffic[static_cast<std::size_t>(Dimension::kDp)].exposed, kLong.since_start());
}

}  // namespace
}  // namespace photonrail::test
