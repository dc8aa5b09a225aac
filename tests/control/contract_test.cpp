// What Opus, the registry and the static controller promise. What every controller must keep, tests/testing examines.
#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"
#include "photonrail/testing/policy_kit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace photonrail {
namespace {

using testing::check_plan;
using testing::RailView;

// A ring over some positions, or one pair.
std::vector<ServerPair> random_pairs(std::mt19937_64& random, std::uint32_t positions) {
  std::vector<ServerIndex> order;
  for (ServerIndex p = 0; p < positions; ++p) order.push_back(p);
  std::shuffle(order.begin(), order.end(), random);
  const std::size_t members = 2 + random() % (positions - 1);
  if (members == 2 || random() % 2 == 0) return {{order[0], order[1]}};
  std::vector<ServerPair> ring;
  for (std::size_t i = 0; i < members; ++i) ring.push_back({order[i], order[(i + 1) % members]});
  return ring;
}

// Two hundred random jobs of ten demands: a demand whose circuits are lit uses them for a while and goes; no job may stop
// before the last is served.
TEST(OpusContract, NobodyStarves) {
  std::mt19937_64 random(9);
  for (int job = 0; job < 200; ++job) {
    const std::uint32_t positions = 6;
    RailView rail(positions);
    const auto controller = ControllerRegistry::builtin().find("opus").make({}, RailId{0}, 1, 1);
    std::vector<std::vector<ServerPair>> waiting;
    for (int d = 0; d < 10; ++d) waiting.push_back(random_pairs(random, positions));
    std::size_t rounds = 0;
    while (!waiting.empty()) {
      ASSERT_LT(++rounds, 50u) << "job " << job << ": " << waiting.size() << " demands are left";
      rail.clear_demands();
      for (const auto& pairs : waiting) rail.demand(pairs);
      const Decision decision = controller->decide(rail.view());
      if (!decision.keeps()) {
        ASSERT_EQ(check_plan(rail.view(), decision.plan()), "");
        rail.apply(decision.plan());
      }
      const std::size_t before = waiting.size();
      std::erase_if(waiting, [&](const std::vector<ServerPair>& pairs) {
        return std::all_of(pairs.begin(), pairs.end(), [&](ServerPair pair) { return rail.view().circuits(pair) > 0; });
      });
      ASSERT_LT(waiting.size(), before) << "the oldest demand can always be served on an idle rail";
    }
  }
}

TEST(ControllerRegistry, AnUnknownNameListsWhatIsKnown) {
  const ControllerRegistry registry = ControllerRegistry::builtin();
  try {
    (void)registry.find("opsu");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("did you mean opus?"));
  }
}

TEST(StaticController, SetsTheCircuitsOfItsRailOnce) {
  ControllerSpec spec;
  // Two GPUs a server: GPUs 1, 3, 5 are on rail 1, at positions 0, 1, 2.
  spec.circuits = {{GpuId{0}, GpuId{2}}, {GpuId{1}, GpuId{3}}, {GpuId{3}, GpuId{5}, 1, 0}};
  const auto controller = ControllerRegistry::builtin().find("static").make(spec, RailId{1}, 2, 2);
  RailView rail(3, 2);
  const Decision decision = controller->decide(rail.view());
  ASSERT_FALSE(decision.keeps());
  EXPECT_THAT(decision.plan().connect,
              ::testing::ElementsAre(Circuit{PortId{0}, PortId{2}}, Circuit{PortId{3}, PortId{4}}));
  EXPECT_TRUE(controller->decide(rail.view()).keeps());
}

TEST(PolicyKit, FindsWhatIsWrongWithAPlan) {
  RailView rail(3);
  rail.in_use({0, 1});
  const FabricView& view = rail.view();
  EXPECT_EQ(check_plan(view, rail.plan({{1, 2}})), "");
  EXPECT_THAT(check_plan(view, rail.plan({{0, 2}})), ::testing::HasSubstr("in use"));
  EXPECT_THAT(check_plan(view, rail.plan({{2, 1}})), ::testing::HasSubstr("in use"));
  EXPECT_THAT(check_plan(view, {{{PortId{9}, PortId{1}}}, {}}), ::testing::HasSubstr("does not have"));
  EXPECT_THAT(check_plan(view, rail.plan({{1, 2}, {1, 0}})), ::testing::HasSubstr("transmit fibre of port 1"));
  EXPECT_THAT(check_plan(view, rail.plan({{1, 2}, {0, 2}})), ::testing::HasSubstr("receive fibre of port 2"));
  EXPECT_THAT(check_plan(view, {{}, {PortId{0}}}), ::testing::HasSubstr("in use"));
}

}  // namespace
}  // namespace photonrail
