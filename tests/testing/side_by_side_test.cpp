// Policies on one job, in a table.
#include "photonrail/testing/laws.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "testing/broken_policies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

namespace photonrail::test {
namespace {

using namespace std::chrono_literals;
using namespace testing;

// 1 MB at 50 GB/s is 20 us, and 5 ms of compute after it. A circuit takes 10 ms to switch: the receiver waits for all of
// it; the sender, whose message is buffered, computes meanwhile and waits for the other 5 ms. The mean is 7.5 ms.
TEST(SideBySide, PrintsTheFastestFirstAndWhoIsStuckLast) {
  TinyJob job(2);
  job.optical(10ms).send(0, 1, 1'000'000).receive(0, 1, 1'000'000);
  job.compute(0, 5ms).compute(1, 5ms).build();
  std::vector<PolicyUnderTest> policies{policy<IgnoresOnePair>("ignores_one_pair"), policy<Honest>("honest")};
  policies.push_back(policy<DropsADemand>("drops"));
  for (PolicyUnderTest& subject : subjects_of(ControllerRegistry::builtin())) {
    if (subject.factory.name == "electrical") policies.push_back(std::move(subject));
  }
  TinyJob stuck(2);
  stuck.optical(10ms).send(1, 0, 1'000'000).receive(1, 0, 1'000'000).build();

  const auto runs = run_side_by_side(job.scenario, policies);
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[1].result.makespan, 15ms + 20us);
  EXPECT_EQ(runs[3].result.makespan, 5ms + 20us);
  // 15.02 / 5.02 - 1 = 199.2 %
  EXPECT_THAT(to_markdown(runs), ::testing::HasSubstr("| honest | 15.02 ms | +199.2 % | 1 | 7.500 ms | 0.0 % | |\n"));
  EXPECT_THAT(to_markdown(runs), ::testing::HasSubstr("| electrical | 5.020 ms | +0.0 % | 0 | 0 s | – | |\n"));
  EXPECT_LT(to_markdown(runs).find("| electrical |"), to_markdown(runs).find("| honest |"));

  const std::string table = to_markdown(run_side_by_side(stuck.scenario, policies));
  EXPECT_THAT(table, ::testing::ContainsRegex("\\| ignores_one_pair \\| – .*circuit from rank 1 to rank 0"));
  EXPECT_LT(table.find("| honest |"), table.find("| ignores_one_pair |"));
}

}  // namespace
}  // namespace photonrail::test
