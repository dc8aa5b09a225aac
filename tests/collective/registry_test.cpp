#include "photonrail/collective.hpp"
#include "photonrail/error.hpp"
#include "photonrail/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail {
namespace {

class Named : public CollectiveAlgorithm {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "does nothing"; }
  bool supports(CollectiveOp, Member) const override { return false; }
  std::unique_ptr<const SendPlan> expand(const CollectiveCall&) const override { return nullptr; }

 private:
  std::string name_;
};

std::string message_of(const CollectiveRegistry& registry, std::string_view name) {
  try {
    static_cast<void>(registry.find(name));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CollectiveRegistry, FindsByName) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  EXPECT_EQ(registry.find("ring").name(), "ring");
  EXPECT_EQ(registry.find("pairwise").name(), "pairwise");
  EXPECT_EQ(registry.find("direct").name(), "direct");
}

TEST(CollectiveRegistry, DefaultTableOfAScenarioIsServed) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  const CollectiveSpec defaults;
  for (int i = 0; i < kCollectiveOpCount; ++i) {
    const auto op = static_cast<CollectiveOp>(i);
    EXPECT_TRUE(registry.find(defaults.algorithm[static_cast<std::size_t>(i)]).supports(op, 2)) << name(op);
  }
}

TEST(CollectiveRegistry, UnknownNameSaysWhatWouldDo) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  EXPECT_THAT(message_of(registry, "butterfly"), ::testing::HasSubstr("known: ring, pairwise, direct"));
  EXPECT_THAT(message_of(registry, "rings"), ::testing::HasSubstr("did you mean ring"));
  EXPECT_THAT(message_of(registry, "rings"), ::testing::HasSubstr("unknown collective algorithm \"rings\""));
}

TEST(CollectiveRegistry, AnAlgorithmOfOnesOwn) {
  CollectiveRegistry registry = CollectiveRegistry::builtin();
  const std::size_t known = registry.all().size();
  registry.add(std::make_unique<Named>("mine"));
  EXPECT_EQ(registry.find("mine").summary(), "does nothing");
  EXPECT_EQ(registry.all().back()->name(), "mine");
  EXPECT_EQ(registry.all().size(), known + 1);
  EXPECT_THROW(registry.add(std::make_unique<Named>("ring")), ConfigError);
  EXPECT_THROW(registry.add(nullptr), ConfigError);
}

TEST(CollectiveRegistry, RefusesWhatItDoesNotSupport) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  EXPECT_FALSE(registry.find("ring").supports(CollectiveOp::kAllReduce, 1));
  EXPECT_FALSE(registry.find("direct").supports(CollectiveOp::kSend, 3));
  EXPECT_THROW(static_cast<void>(registry.find("ring").expand({.op = CollectiveOp::kSend})), InternalError);
  const auto& ring = registry.find("ring");
  EXPECT_THROW(static_cast<void>(ring.expand({.op = CollectiveOp::kReduce, .members = 4, .root = 4})), InternalError);
  EXPECT_THROW(static_cast<void>(ring.expand({.pieces = 0})), InternalError);
}

}  // namespace
}  // namespace photonrail
