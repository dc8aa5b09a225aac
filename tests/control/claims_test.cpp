// What policies claim of themselves; tests/worlds examines whether they keep it.
#include "photonrail/controller.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

TEST(Claims, AreToldInWords) {
  EXPECT_EQ(PolicyClaims{}.describe(), "");
  EXPECT_EQ((PolicyClaims{.faster_ports = true, .shorter_delay = true}.describe()),
            "one operation after another is not slower with faster ports, a shorter delay, where a NIC has one port");
  EXPECT_EQ((PolicyClaims{.server_names = true}.describe()), "the same under renamed servers");
  EXPECT_EQ((PolicyClaims{true, true, true, true}.describe()),
            "one operation after another is not slower with faster ports, more ports, a shorter delay; the same under "
            "renamed servers");
}

TEST(Claims, SymmetricPoliciesClaimThatNamesDoNotMatter) {
  const ControllerRegistry registry = ControllerRegistry::builtin();
  EXPECT_TRUE(registry.find("opus").claims.shorter_delay);
  EXPECT_FALSE(registry.find("opus").claims.more_ports) << "with one port more each partner of a phase may get one";
  for (const ControllerFactory& factory : registry.all()) {
    if (!factory.rank_symmetric) continue;
    EXPECT_TRUE(factory.claims.server_names) << factory.name;
  }
}

}  // namespace
}  // namespace photonrail::test
