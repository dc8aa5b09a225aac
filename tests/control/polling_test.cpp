#include "control/shown.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using testing::RailView;

// The destination whose circuit is there comes before an older request for another.
TEST(Polling, TheCircuitThatIsThereStaysWhileMessagesWaitForIt) {
  RailView rail(3);
  rail.lit({0, 1}).demand({{0, 2}}).demand({{0, 1}});
  EXPECT_TRUE(make_controller("polling")->decide(rail.view()).keeps());
}

// Two operations held a rail each: turns, which differ by rail, would hold them for ever.
TEST(Polling, FollowsTheOneOrderOfAllRailsOnceTheJobHasStopped) {
  RailView rail(3);
  rail.lit({0, 1}).demand({{0, 2}}).demand({{0, 1}});
  FabricView view = rail.view();
  view.one_order = true;
  EXPECT_EQ(make_controller("polling")->decide(view).plan(), rail.plan({{0, 2}}));
}

}  // namespace
}  // namespace photonrail::test
