// static_split and topoopt: one topology for the job.
#include "control/one_shot.hpp"

#include "control/shown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace photonrail::test {

using control::OneShot;
using control::WeightedPair;

namespace {

using testing::check_plan;
using ::testing::ElementsAre;
using testing::RailView;

std::size_t count(const std::vector<ServerPair>& pairs, ServerPair pair) {
  return static_cast<std::size_t>(std::count(pairs.begin(), pairs.end(), pair));
}

// Data parallelism sends 800 bytes, pipeline parallelism 200: roots 2 to 1, so that of 3 ports 2 and 1 go to them. The rank
// of position 1 is on another rail: its bytes to 0 are counted there.
TEST(StaticSplit, SharesPortsByTheSquareRootOfTheBytes) {
  RailView rail(4, 3);
  Shown shown(rail);
  shown.sends(0, Dimension::kDp, {{0, 1}, {1, 0}}, {400, 400}).sends(0, Dimension::kPp, {{0, 2}}, {200});
  const auto controller = make_controller("static_split", {}, 3);
  const Decision decision = controller->decide(shown.view);
  EXPECT_EQ(check_plan(shown.view, decision.plan()), "");
  EXPECT_THAT(joined(shown.view, decision.plan()),
              ElementsAre(ServerPair{0, 1}, ServerPair{0, 1}, ServerPair{0, 2}, ServerPair{1, 0}, ServerPair{1, 0}));
  EXPECT_TRUE(controller->decide(shown.view).keeps()) << "once";
}

// With one port, 1 would have circuits to 0 or to 2 and never both: the port goes to a ring over all, along the heavy
// pairs.
TEST(StaticSplit, MakesARingWhereTheSplitLeavesSomebodyOut) {
  RailView rail(3);
  Shown shown(rail);
  shown.sends(1, Dimension::kDp, {{1, 0}}, {900}).sends(1, Dimension::kPp, {{1, 2}}, {100});
  EXPECT_THAT(joined(shown.view, make_controller("static_split")->decide(shown.view).plan()),
              ElementsAre(ServerPair{0, 2}, ServerPair{1, 0}, ServerPair{2, 1}));
  ParameterValues parameters;
  parameters.set("forward", 0.0);
  EXPECT_THAT(joined(shown.view, make_controller("static_split", parameters)->decide(shown.view).plan()),
              ElementsAre(ServerPair{1, 0}));
}

TEST(TopoOpt, ARingReachesEverybodyAndTheOtherPortsGoWhereTheBytesAre) {
  RailView rail(6, 3);
  Shown shown(rail);
  shown.sends(0, Dimension::kDp, {{0, 1}, {0, 3}}, {10, 1000}).sends(2, Dimension::kPp, {{2, 4}}, {500});
  shown.sends(5, Dimension::kDp, {{5, 0}}, {7});
  const CircuitPlan plan = make_controller("topoopt", {}, 3)->decide(shown.view).plan();
  EXPECT_EQ(check_plan(shown.view, plan), "");
  const std::vector<ServerPair> pairs = joined(shown.view, plan);
  // The ring has 0->3 and 2->4. Each weighs half of that then, and still the most at its ports: two more for each.
  EXPECT_EQ(count(pairs, {0, 3}), 3u);
  EXPECT_EQ(count(pairs, {2, 4}), 3u);
  OneShot circuits(6, 3);
  for (const ServerPair pair : pairs) circuits.join(pair);
  EXPECT_TRUE(circuits.reaches(std::vector<ServerPair>{{0, 1}, {0, 3}, {2, 4}, {5, 0}, {1, 5}, {4, 2}}));
}

TEST(OneShot, ARingVisitsEachPositionOnce) {
  OneShot circuits(7, 1);
  const std::vector<WeightedPair> pairs{{{0, 1}, 5}, {{1, 0}, 9}, {{2, 3}, 1}, {{3, 1}, 4}, {{5, 6}, 2}};
  circuits.ring(pairs);
  std::vector<ServerIndex> from;
  std::vector<ServerIndex> to;
  for (const Circuit c : circuits.plan().connect) {
    from.push_back(c.from.value);
    to.push_back(c.to.value);
  }
  std::sort(from.begin(), from.end());
  std::sort(to.begin(), to.end());
  EXPECT_THAT(from, ElementsAre(0, 1, 2, 3, 5, 6));
  EXPECT_THAT(to, ElementsAre(0, 1, 2, 3, 5, 6));
  EXPECT_TRUE(circuits.reaches(std::vector<ServerPair>{{0, 6}, {6, 0}, {2, 5}})) << "one ring, not several";
}

TEST(OneShot, ACircuitStaysOnItsPlane) {
  OneShot circuits(3, 4, 2);
  while (circuits.join({0, 1}) || circuits.join({2, 1})) {
  }
  EXPECT_EQ(circuits.plan().connect.size(), 4u);
  for (const Circuit c : circuits.plan().connect) EXPECT_EQ(c.from.value % 2, c.to.value % 2);
}

}  // namespace
}  // namespace photonrail::test
