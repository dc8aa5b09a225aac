// A large job is generated in little time and memory, because ranks of a stage share a program.
#include "photonrail/training.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <ctime>

namespace photonrail {
namespace {

TEST(TrainingScale, TwoThousandGpusTakeUnderTwoSecondsAndOneGigabyte) {
  // Llama 3 405B (arXiv 2407.21783, table 3), TP8 PP16 DP16, FSDP, 16 micro-batches of one sequence of 8192, 1F1B.
  TrainingSpec spec;
  spec.model = {"llama3_405b", 126, 16384, 53248, 128, 8, 128256};
  spec.parallelism = {.tp = 8, .pp = 16, .dp = 16, .fsdp = true};
  spec.sequence = 8192;
  spec.global_batch = 16 * 16;
  const std::clock_t begin = std::clock();
  const TaskGraph graph = make_training_graph(spec);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(graph.ranks(), 2048u);
  EXPECT_EQ(graph.programs().size(), 16u);
  EXPECT_LT(seconds, 2.0);  // 0.1 s in a Release build
  rusage usage{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  EXPECT_LT(usage.ru_maxrss, 1'000'000);  // kB
}

}  // namespace
}  // namespace photonrail
