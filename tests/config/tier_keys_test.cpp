// The keys of uplinks and of sites: what they mean, and what is said of wrong ones.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace photonrail {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Leaves of four ports, with four uplinks of the NIC's rate.
constexpr std::string_view kGoodRail = R"({
  "schema": "photonrail.scenario/1",
  "cluster": { "servers": 16, "gpus_per_server": 1,
    "rail": { "kind": "electrical", "radix": 8 } },
  "workload": { "collective": { "op": "all_reduce", "bytes": 1048576, "ranks": 16 } } })";

Scenario read_tiers(const std::vector<Override>& changes) {
  return parse_scenario(kGoodRail, "/nowhere", "s.json", changes);
}

std::string tier_error(const std::vector<Override>& changes) {
  return error_of([&] { static_cast<void>(read_tiers(changes)); }).what();
}

TEST(TierKeys, SayHowUplinksAreTaken) {
  const UplinkSpec none = read_tiers({}).cluster.rail.uplinks;
  EXPECT_EQ(none.routing, UplinkRouting::kFluid);
  EXPECT_EQ(read_tiers({}).cluster.plant().uplink_count(), 4u);
  const Scenario s =
      read_tiers({{"/cluster/rail/uplinks", R"({"gb_per_s": [50, 25], "routing": "hash", "hash_by": "flow"})"},
                  {"/cluster/rail/faults", R"([{"kind": "failed", "leaf": 1, "uplink": 0},
                                                              {"kind": "slow", "uplink": 1, "rate": 0.5}])"}});
  const UplinkSpec& uplinks = s.cluster.rail.uplinks;
  EXPECT_EQ(uplinks.routing, UplinkRouting::kHash);
  EXPECT_EQ(uplinks.hash_by, UplinkSpec::HashBy::kFlow);
  const PlantSpec plant = s.cluster.plant();
  EXPECT_EQ(plant.uplink_count(), 2u);
  EXPECT_EQ(plant.leaf_rate().bytes_per_second, 75e9);
  EXPECT_TRUE(plant.routes_uplinks() && plant.uplinks_fail);
  EXPECT_TRUE(s.cluster.rail.faults[0].of_uplinks() && s.cluster.rail.faults[1].of_uplinks());
}

TEST(TierKeys, SayWhatIsWrongWithUplinks) {
  EXPECT_THAT(tier_error({{"/cluster/rail/uplinks", R"({"count": 0})"}}), HasSubstr("/cluster/rail/uplinks/count"));
  EXPECT_THAT(tier_error({{"/cluster/rail/uplinks", R"({"gb_per_s": []})"}}), HasSubstr("has no rates"));
  EXPECT_THAT(tier_error({{"/cluster/rail/uplinks", R"({"count": 3, "gb_per_s": [50, 50]})"}}),
              HasSubstr("has 2 rates for 3 uplinks"));
  EXPECT_THAT(tier_error({{"/cluster/rail/uplinks", R"({"routing": "ecmp"})"}}), HasSubstr("least_loaded"));
  EXPECT_THAT(tier_error({{"/cluster/rail/uplinks", R"({"routing": "equal", "hash_by": "flow"})"}}),
              HasSubstr("only routing \"hash\" has it"));
  const auto fault = [](const std::string& keys) {
    return tier_error({{"/cluster/rail/faults", R"([{"kind": "failed", )" + keys + "}]"}});
  };
  EXPECT_THAT(fault(R"("leaf": 4)"), HasSubstr("a rail has 4 leaves, numbered from 0"));
  EXPECT_THAT(fault(R"("uplink": 4)"), HasSubstr("a leaf has 4 uplinks, numbered from 0"));
  EXPECT_THAT(fault(R"("uplink": 1, "server": 0)"), HasSubstr("an uplink belongs to no server"));
  EXPECT_THAT(tier_error({{"/cluster/rail/radix", "64"}, {"/cluster/rail/faults", R"([{"kind": "failed", "leaf": 0}])"}}),
              HasSubstr("the rail is one switch, which has no uplinks"));
}

TEST(TierKeys, SharesAddUp) {
  const auto shares = [](const std::string& of, const std::string& more = "") {
    return Override{"/cluster/rail/uplinks", R"({"count": 2, "routing": "shares", "shares": )" + of + more + "}"};
  };
  const UplinkSpec uplinks = read_tiers({shares("[0.7, 0.3]")}).cluster.rail.uplinks;
  EXPECT_EQ(uplinks.routing, UplinkRouting::kShares);
  EXPECT_THAT(uplinks.shares, ElementsAre(0.7, 0.3));
  EXPECT_THAT(read_tiers({shares("[1, 0]")}).cluster.rail.uplinks.shares, ElementsAre(1.0, 0.0));
  const std::string place = "s.json: /cluster/rail/uplinks/shares";
  EXPECT_THAT(tier_error({shares("[0.7, 0.2]")}),
              AllOf(HasSubstr(place), HasSubstr("add up to 0.9"), HasSubstr("shares that add up to 1")));
  EXPECT_THAT(tier_error({shares("[0, 0]")}), HasSubstr("add up to 0"));
  EXPECT_THAT(tier_error({shares("[0.5, 0.25, 0.25]")}), AllOf(HasSubstr(place), HasSubstr("has 3 shares for 2 uplinks")));
  EXPECT_THAT(tier_error({shares("[1.5, -0.5]")}), HasSubstr(place + "/0"));
  EXPECT_THAT(tier_error({shares("[0.5, \"rest\"]")}), HasSubstr(place + "/1"));
  EXPECT_THAT(tier_error({shares("[]")}), AllOf(HasSubstr(place), HasSubstr("has no shares")));
  EXPECT_THAT(tier_error({{"/cluster/rail/uplinks", R"({"routing": "equal", "shares": [0.5, 0.5]})"}}),
              AllOf(HasSubstr(place), HasSubstr("only routing \"shares\" has them")));
  // Of the uplinks that the leaf has where the file gives no number of them: four.
  EXPECT_THAT(tier_error({{"/cluster/rail/uplinks", R"({"routing": "shares", "shares": [0.5, 0.5]})"}}),
              HasSubstr("has 2 shares for 4 uplinks"));
}

TEST(TierKeys, SharesOfAScenarioInCodeAreCheckedToo) {
  Scenario scenario = read_tiers({});
  UplinkSpec& uplinks = scenario.cluster.rail.uplinks;
  uplinks.shares = {0.25, 0.25, 0.25, 0.25};
  const auto error = [&] { return std::string(error_of([&] { scenario.validate(); }).what()); };
  EXPECT_THAT(error(), HasSubstr("only routing \"shares\""));
  uplinks.routing = UplinkRouting::kShares;
  EXPECT_NO_THROW(scenario.validate());
  uplinks.shares = {1.5, -0.5, 0, 0};
  EXPECT_THAT(error(), HasSubstr("must be numbers from 0 to 1, not 1.5"));
  uplinks.shares = {0.5, 0.25, 0.125, 0.125 + 1e-6};
  EXPECT_THAT(error(), HasSubstr("add up to 1.000001"));
}

TEST(TierKeys, SayWhereServersAre) {
  const Scenario s = read_tiers({{"/cluster/sites", R"({"servers": [8, 8],
      "links": [{"between": [1, 0], "gb_per_s": 12.5, "latency_ms": 5}]})"}});
  EXPECT_THAT(s.cluster.sites.servers, ElementsAre(8u, 8u));
  ASSERT_EQ(s.cluster.sites.links.size(), 1u);
  EXPECT_EQ(s.cluster.sites.links[0].a, 1u);
  EXPECT_EQ(s.cluster.sites.links[0].b, 0u);
  EXPECT_EQ(s.cluster.sites.links[0].rate.bytes_per_second, 12.5e9);
  EXPECT_EQ(s.cluster.sites.links[0].latency, Duration{5'000'000'000});
}

TEST(TierKeys, SayWhatIsWrongWithSites) {
  const auto sites = [](const std::string& servers, const std::string& links) {
    return tier_error({{"/cluster/sites", R"({"servers": )" + servers + R"(, "links": )" + links + "}"}});
  };
  const auto link = [](const std::string& between) { return R"([{"between": )" + between + R"(, "gb_per_s": 10}])"; };
  EXPECT_THAT(sites("[16, 0]", link("[0, 1]")), HasSubstr("a site has no server"));
  EXPECT_THAT(sites("[]", link("[0, 1]")), HasSubstr("has no site"));
  EXPECT_THAT(sites("[8, 7]", link("[0, 1]")), HasSubstr("add up to 15, and the cluster has 16 servers"));
  EXPECT_THAT(sites("[8, 8]", "[]"), HasSubstr("no link leads from site 0 to site 1"));
  EXPECT_THAT(sites("[8, 4, 4]", link("[0, 1]")), HasSubstr("no link leads from site 0 to site 2"));
  EXPECT_THAT(sites("[8, 8]", link("[0, 2]")), HasSubstr("there are 2 sites, numbered from 0"));
  EXPECT_THAT(sites("[8, 8]", link("[1, 1]")), HasSubstr("joins a site to itself"));
  EXPECT_THAT(sites("[8, 8]", link("[0]")), HasSubstr("must be the numbers of two sites"));
  EXPECT_THAT(sites("[8, 8]", R"([{"between": [0, 1], "gb_per_s": 1}, {"between": [1, 0], "gb_per_s": 1}])"),
              HasSubstr("these two sites are joined already"));
  EXPECT_THAT(sites("[6, 10]", link("[0, 1]")), HasSubstr("a leaf of 4 ports would have servers of sites 0 and 1"));
  EXPECT_THAT(tier_error({{"/cluster/rail/faults", R"([{"kind": "failed", "site_link": 0}])"}}),
              HasSubstr("there are 0 links between sites"));
}

}  // namespace
}  // namespace photonrail
