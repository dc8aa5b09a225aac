// Sums over a run that pass 64 bits.
#include "photonrail/error.hpp"
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kPebibyte = std::int64_t{1} << 50;

// All-gather of shards of 1 PiB: each of 64 ranks sends 63. 4032 PiB of 8192 that can be counted; twice that are too many
// with what comes on top of it.
Job gathers(int times) {
  Job job(64);
  std::vector<std::size_t> all(64);
  for (std::size_t r = 0; r < 64; ++r) all[r] = r;
  const CommunicatorId group = job.group(all);
  for (int i = 0; i < times; ++i) job.collective(group, all, CollectiveOp::kAllGather, kPebibyte);
  job.scenario.cluster.nic.per_port = Bandwidth::from_gb_per_s(1e9);
  job.scenario.run.fidelity = Fidelity::kStream;
  job.build();
  return job;
}

TEST(Sums, OfBytesAreCountedUpToTheirLimitAndRefusedBeyond) {
  for (const bool folding : {true, false}) {
    Job most = gathers(2);
    most.scenario.run.folding = folding;
    EXPECT_EQ(most.run().traffic[static_cast<std::size_t>(Dimension::kDp)].bytes.count, 2 * 4032 * kPebibyte);
    Job more = gathers(3);
    more.scenario.run.folding = folding;
    try {
      static_cast<void>(more.run());
      FAIL();
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("more than 2^63 - 1 bytes on the wire"));
    }
  }
}

TEST(Sums, OfDarkPortsPassTheRangeOfADuration) {
  // 16 circuits at 2e18 ps are 3.2e19 ps, where 64 bits end at 9.2e18. The run itself must end before 4e18 ps, so that the
  // ports switch at one time.
  Job job(32);
  for (std::size_t r = 0; r < 32; r += 2) job.send(r, r + 1, 1000).receive(r, r + 1, 1000);
  job.optical(Duration{2'000'000'000'000'000'000}).build();
  const RunResult result = job.run();
  EXPECT_DOUBLE_EQ(to_seconds(result.reconfigurations.dark_port), 16 * 2e6);
  EXPECT_DOUBLE_EQ(to_seconds(result.reconfigurations.total), static_cast<double>(result.reconfigurations.count) * 2e6);
}

}  // namespace
}  // namespace photonrail::test
