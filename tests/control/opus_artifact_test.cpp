#include "control/shown.hpp"
#include "support/processor_time.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

// A refused request is looked at again and again: each look is at what the request names, not at the 200,000 positions of
// the rail (8 us where all of them were looked at once for each pair: 0.5 ms).
TEST(OpusArtifact, ALookAtARefusedRequestDoesNotGrowWithTheRail) {
  testing::RailView rail(200'000);
  rail.in_use({0, 1}).demand({{0, 2}, {2, 0}});
  const auto artifact = make_controller("opus_artifact", {}, 1);
  EXPECT_TRUE(artifact->decide(rail.view()).keeps());
  const FabricView& view = rail.view();
  const double before = processor_seconds();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(artifact->decide(view).keeps());
  EXPECT_LT(processor_seconds() - before, 0.1);
}

}  // namespace
}  // namespace photonrail::test
