// What a job that cannot finish says.
#include "photonrail/error.hpp"
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

TEST(Stuck, ARingThatLeavesAServerTwiceOnOneRailSaysSo) {
  // A message crosses on the rail of its destination's local index. Rank 3 (GPU 6, server 2) sends to rank 4 (GPU 0), and
  // rank 5 (GPU 7, server 2) through GPU 6 to rank 6 (GPU 3): rail 0 needs two circuits from the one port of server 2.
  Job job(9, 3);
  std::vector<std::size_t> all(9);
  for (std::size_t r = 0; r < 9; ++r) all[r] = r;
  job.collective(job.group(all), all, CollectiveOp::kReduceScatter, 1 << 20);
  job.optical(us(10)).build();
  job.scenario.gpu_of_rank.clear();
  for (const std::size_t gpu : {2, 8, 4, 6, 0, 7, 3, 1, 5}) job.scenario.gpu_of_rank.push_back(GpuId{gpu});
  try {
    static_cast<void>(job.run());
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("wants 2 circuits at once from ranks 3, 5, and server 2 has 1 port on rail 0"));
    EXPECT_THAT(error.what(), HasSubstr("another placement"));
  }
}

}  // namespace
}  // namespace photonrail::test
