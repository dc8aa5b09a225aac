#include "fabric/plan_rules.hpp"

#include "fabric/rail_site.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace photonrail::fabric::test {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const ControllerError& error) {
    return error.what();
  }
  return "";
}

// Three servers of two ports.
struct Rules {
  explicit Rules(std::uint32_t planes = 1)
      : site(3, 2, [planes](RailSpec& spec) { spec.planes = planes; }), rules(site.shared.switches, 2) {}
  std::string joinable(const CircuitPlan& plan) const {
    return error_of([&] { rules.require_joinable(plan); });
  }
  std::string own(const CircuitPlan& plan) const {
    return error_of([&] { rules.require_own(plan); });
  }

  RailSite site;
  PlanRules rules;
};

TEST(PlanRules, ACircuitJoinsTwoServers) {
  Rules r;
  EXPECT_EQ(r.joinable({{circuit(0, 2)}, {}}), "");
  EXPECT_THAT(r.joinable({{circuit(0, 2), circuit(2, 3)}, {}}), HasSubstr("the plan joins server 1 to itself"));
  r.rules.set_folded();
  EXPECT_EQ(r.joinable({{circuit(2, 3)}, {}}), "") << "one server stands for several";
}

TEST(PlanRules, ACircuitStaysOnItsPlane) {
  Rules r(2);
  EXPECT_EQ(r.joinable({{circuit(1, 3)}, {}}), "");
  EXPECT_THAT(r.joinable({{circuit(0, 3)}, {}}), HasSubstr("no circuit can join port 0 on plane 0 to port 3 on plane 1"));
}

TEST(PlanRules, PortsOfOtherJobsAreRefused) {
  Rules r;
  EXPECT_EQ(r.own({{circuit(0, 2)}, {PortId{4u}}}), "") << "without several jobs all are its own";
  r.rules.set_servers({true, false, true});
  EXPECT_EQ(r.own({{circuit(0, 4)}, {PortId{5u}}}), "");
  EXPECT_THAT(r.own({{circuit(0, 2)}, {}}),
              HasSubstr("port 2 belongs to server 1, whose GPU on this rail is not the job's"));
  EXPECT_THAT(r.own({{circuit(3, 0)}, {}}), HasSubstr("port 3 belongs to server 1"));
  EXPECT_THAT(r.own({{}, {PortId{2u}}}), HasSubstr("port 2 belongs to server 1"));
}

}  // namespace
}  // namespace photonrail::fabric::test
