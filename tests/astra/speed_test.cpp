// 1,024 ranks in the processor's time: a tenth of what the back ends themselves were measured to take (docs/validation.md).
#include "photonrail/formats/astra.hpp"
#include "support/processor_time.hpp"
#include "support/sanitizers.hpp"

#include <gtest/gtest.h>

#include <iostream>

namespace photonrail {
namespace {

AnalyticalJob one_collective(AnalyticalShape shape, AnalyticalAlgorithm how, CollectiveOp op, std::uint32_t chunks) {
  AnalyticalJob job;
  job.network = {{shape, 1024, 50.0, 500.0}};
  job.system.chunks = chunks;
  job.system.memory_gb_per_s = 1600.0;
  job.system.all_reduce = job.system.all_to_all = {{.algorithm = how}};
  AnalyticalTask task;
  task.kind = AnalyticalTask::Kind::kCollective;
  task.op = op;
  task.bytes = std::uint64_t{1} << 26;
  job.ranks.assign(1024, {task});
  return job;
}

double seconds_of(const AnalyticalJob& job, AnalyticalBackend backend, const char* what) {
  const double before = test::processor_seconds();
  const AnalyticalResult result = simulate_analytical(job, backend);
  const double seconds = test::processor_seconds() - before;
  std::cout << what << ": " << seconds << " s of the processor, " << result.messages << " messages, " << result.finish_ns[0]
            << " cycles\n";
  return seconds;
}

TEST(AnalyticalSpeed, AThousandRanksAreTenTimesFasterThanTheBackEnds) {
#if PHOTONRAIL_SANITIZED
  GTEST_SKIP() << "SKIPPED, NOT CHECKED: under a sanitizer";
#endif
  using enum AnalyticalBackend;
  const auto ring = [](std::uint32_t chunks) {
    return one_collective(AnalyticalShape::kRing, AnalyticalAlgorithm::kRing, CollectiveOp::kAllReduce, chunks);
  };
  const auto all_to_all =
      one_collective(AnalyticalShape::kSwitch, AnalyticalAlgorithm::kDirect, CollectiveOp::kAllToAll, 1);
  EXPECT_LT(seconds_of(ring(1), kCongestionUnaware, "ring all-reduce"), 5.1 / 10);
  EXPECT_LT(seconds_of(ring(1), kCongestionAware, "ring all-reduce, aware"), 5.1 / 10);
  EXPECT_LT(seconds_of(ring(4), kCongestionUnaware, "ring all-reduce in 4 chunks"), 30.0 / 10);
  EXPECT_LT(seconds_of(all_to_all, kCongestionUnaware, "all-to-all"), 15.0 / 10);
  EXPECT_LT(seconds_of(all_to_all, kCongestionAware, "all-to-all, aware"), 15.0 / 10);
}

}  // namespace
}  // namespace photonrail
