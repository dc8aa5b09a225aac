// A room that asks for a component gets the one of this build.
#include "config/scenario_sources.hpp"
#include "fabric/blocking_switch.hpp"
#include "json/text.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace photonrail::test {
namespace {

// n x m hexagons have 4 (n + m) + 4 open ends; three fibres are fewer than that.
TEST(Components, AnswerWhatRailsAskASwitch) {
  const std::unique_ptr<fabric::BlockingSwitch> mesh = fabric::make_blocking_switch(PipMeshSpec{2, 3}, 4);
  ASSERT_TRUE(mesh);
  EXPECT_EQ(mesh->open_ends(), 24u);
  EXPECT_EQ(mesh->describe(), "mesh of 2x3 hexagons");
  const std::vector<fabric::FibrePair> both{{0, 1}, {2, 3}};
  const auto ways = mesh->route(both, {});
  ASSERT_TRUE(ways);
  ASSERT_EQ(ways->size(), 2u);
  EXPECT_EQ((*ways)[1].ends.a, 2u);
  EXPECT_EQ((*ways)[1].ends.b, 3u);
  EXPECT_FALSE(mesh->route(std::vector<fabric::FibrePair>{{0, 1}}, *ways)) << "the port has a way already";
  const fabric::LightReach reach = mesh->reach([](std::uint32_t a, std::uint32_t b) { return a == 0 && b == 1; });
  EXPECT_EQ(reach.unjoined, 0u);
  // Two fibres at 1 dB, and of each cell 0.25 dB and what leaks, 10 log10(1 + 0.001) = 0.00434 dB.
  EXPECT_NEAR(mesh->loss_db(reach.cells), 2.0 + reach.cells * 0.25434, 1e-4);
}

TEST(Components, OfAScenarioAreFoundByTheKeyOfTheirSection) {
  const photonrail::json::Json plain = photonrail::json::parse_json("{\"cluster\": {}}", "plain.json");
  const photonrail::json::Json named = photonrail::json::parse_json("{\"astra\": {}}", "named.json");
  EXPECT_EQ(config::source_of(plain), nullptr);
  ASSERT_NE(config::source_of(named), nullptr);
  EXPECT_EQ(config::source_of(named)->key, "astra");
}

}  // namespace
}  // namespace photonrail::test
