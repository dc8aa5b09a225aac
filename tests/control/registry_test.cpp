#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace photonrail {

namespace {

using ::testing::HasSubstr;

ControllerFactory named(std::string name) {
  ControllerFactory factory;
  factory.name = std::move(name);
  return factory;
}

TEST(ControllerRegistry, AControllerOfOnesOwn) {
  ControllerRegistry registry = ControllerRegistry::builtin();
  EXPECT_THROW(registry.add(named("mine")), ConfigError) << "it has no function that makes it";
  ControllerFactory mine = named("mine");
  mine.make = registry.find("opus").make;
  registry.add(std::move(mine));
  EXPECT_TRUE(registry.knows("mine"));
  EXPECT_EQ(registry.all().back().name, "mine");
}

// find() would always return the first of two.
TEST(ControllerRegistry, RefusesANameThatIsThere) {
  ControllerRegistry registry = ControllerRegistry::builtin();
  const std::size_t known = registry.all().size();
  try {
    registry.add(named("opus"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is already a controller \"opus\""));
    EXPECT_THAT(error.hint(), HasSubstr("another name"));
  }
  EXPECT_THROW(registry.add(named("")), ConfigError);
  EXPECT_EQ(registry.all().size(), known);
}

TEST(ViewParts, AreASet) {
  ViewParts parts{ViewPart::kBytes};
  parts.add(ViewPart::kTraffic).add(ViewPart::kRounds, false);
  EXPECT_TRUE(parts.has(ViewPart::kBytes));
  EXPECT_TRUE(parts.has(ViewPart::kTraffic));
  EXPECT_FALSE(parts.has(ViewPart::kRounds));
  EXPECT_TRUE(parts.has_any({ViewPart::kRounds, ViewPart::kTraffic}));
  EXPECT_FALSE(parts.has_any({ViewPart::kRounds, ViewPart::kTaskEvents}));
  EXPECT_EQ(parts, (ViewParts{ViewPart::kTraffic, ViewPart::kBytes}));
}

// The schedule is computed with several ports alone, where the policy says so.
TEST(PolicyNeeds, KnowWhatDependsOnPorts) {
  const PolicyNeeds needs{.view = {ViewPart::kScheduleWithPorts}};
  EXPECT_FALSE(needs.with_ports(1).has(ViewPart::kSchedule));
  EXPECT_TRUE(needs.with_ports(2).has(ViewPart::kSchedule));
  EXPECT_FALSE(PolicyNeeds{}.with_ports(2).has(ViewPart::kSchedule));
}

// Pairs are weighed where their bytes are shown, and where pairs are served.
TEST(PolicyNeeds, KnowWhenPairsAreWeighed) {
  EXPECT_FALSE(PolicyNeeds{}.weighs());
  EXPECT_FALSE(PolicyNeeds{.view = {ViewPart::kDueTimes}}.weighs());
  EXPECT_TRUE(PolicyNeeds{.view = {ViewPart::kRounds}}.weighs());
  EXPECT_TRUE(PolicyNeeds{.service = Service::kByPair}.weighs());
}

}  // namespace

}  // namespace photonrail
