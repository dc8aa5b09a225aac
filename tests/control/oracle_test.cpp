#include "photonrail/testing/policy_kit.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace photonrail::test {
namespace {

/// Three servers with one port each; each rank's operations are a list of the pairs that they use.
class Oracle : public ::testing::Test {
 protected:
  Decision decide(testing::RailView& rail, const std::vector<std::vector<std::vector<ServerPair>>>& of_rank,
                  const std::vector<std::uint32_t>& next) {
    std::vector<std::vector<ScheduledOperation>> operations(of_rank.size());
    std::vector<RankSchedule> schedule;
    for (std::size_t r = 0; r < of_rank.size(); ++r) {
      for (const std::vector<ServerPair>& pairs : of_rank[r]) operations[r].emplace_back().pairs = pairs;
      schedule.push_back({RankId{r}, static_cast<ServerIndex>(r), operations[r], next[r], 0});
    }
    FabricView view = rail.view();
    view.schedule = schedule;
    const ControllerRegistry known = ControllerRegistry::builtin();
    const ControllerFactory& factory = known.find("oracle");
    return factory.make(factory.complete({}), RailId{0}, 1, 1)->decide(view);
  }

  // A ring of 0 and 1, then a hop from 0 to 2.
  const std::vector<std::vector<std::vector<ServerPair>>> jobs_{{{{0, 1}, {1, 0}}, {{0, 2}}}, {{{0, 1}, {1, 0}}}, {{{0, 2}}}};
};

TEST_F(Oracle, LightsWhatComesFirstBeforeAnybodyAsks) {
  testing::RailView rail(3);
  const Decision decision = decide(rail, jobs_, {0, 0, 0});
  ASSERT_FALSE(decision.keeps());
  EXPECT_EQ(decision.plan(), rail.plan({{0, 1}, {1, 0}})) << "0's transmit fibre has the ring to do before the hop";
}

TEST_F(Oracle, GoesOnWhenAFibreIsThroughWithIt) {
  testing::RailView rail(3);
  rail.lit({0, 1}).lit({1, 0});
  const Decision decision = decide(rail, jobs_, {1, 1, 0});
  ASSERT_FALSE(decision.keeps());
  EXPECT_EQ(decision.plan(), rail.plan({{0, 2}}));
}

TEST_F(Oracle, WaitsForTheBytesOfALateMember) {
  testing::RailView rail(3);
  rail.in_use({0, 1}).lit({1, 0});
  EXPECT_TRUE(decide(rail, jobs_, {1, 0, 0}).keeps());
}

TEST_F(Oracle, KeepsWhatTheNextStepBeginsWith) {
  testing::RailView rail(3);
  rail.lit({0, 1}).lit({1, 0});
  // 1 has nothing left but the next step's ring; 0 has the hop to do, and takes only its transmit fibre for that.
  const Decision decision = decide(rail, jobs_, {1, 1, 1});
  ASSERT_FALSE(decision.keeps());
  EXPECT_EQ(decision.plan(), rail.plan({{0, 2}}));
}

}  // namespace
}  // namespace photonrail::test
