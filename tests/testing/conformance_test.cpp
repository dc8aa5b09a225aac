// Every policy of the registry keeps every law; and each law is broken by some policy that is made to.
#include "photonrail/testing/conformance.hpp"
#include "photonrail/simulate.hpp"

#include "testing/broken_policies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

PHOTONRAIL_CONFORMANCE(RegistryConformance, photonrail::testing::subjects_of(photonrail::ControllerRegistry::builtin()));

namespace photonrail::test {

PHOTONRAIL_CONFORMANCE(HonestConformance, policy<Honest>("honest"));

namespace {

using testing::PolicyUnderTest;

/// What the law of that name says of the policy.
std::string verdict(const std::string& law, const PolicyUnderTest& subject) {
  for (const testing::PolicyProperty& one : testing::laws()) {
    if (one.name == law) return one.problem(subject);
  }
  throw InternalError("there is no law " + law);
}

TEST(Laws, AnswersAreMatchings) {
  EXPECT_THAT(verdict("AnswersAreMatchings", policy<NoMatching>("no_matching")), ::testing::HasSubstr("two circuits take"));
  EXPECT_THAT(verdict("AnswersAreMatchings", policy<TearsDownBusyCircuits>("tears")), ::testing::HasSubstr("in use"));
}

TEST(Laws, TwinsAnswerAlike) {
  const auto made = std::make_shared<std::uint64_t>(0);
  ControllerFactory moody = policy<Honest>("moody");
  moody.make = [made](auto&&...) { return std::make_unique<Moody>((*made)++); };
  EXPECT_THAT(verdict("TwinsAnswerAlike", moody), ::testing::HasSubstr("its twin answers otherwise"));
}

TEST(Laws, OneSendArrives) {
  EXPECT_THAT(verdict("OneSendArrives", policy<Throws>("throws")), ::testing::HasSubstr("nothing is thrown"));
}

TEST(Laws, PhasesTakeTurns) {
  EXPECT_THAT(verdict("PhasesTakeTurns", policy<IgnoresOnePair>("ignores")), ::testing::HasSubstr("every job finishes"));
}

TEST(Laws, ACrowdIsServed) {
  EXPECT_THAT(verdict("ACrowdIsServed", policy<DropsADemand>("drops")), ::testing::HasSubstr("every job finishes"));
}

// A bound that is too high is beaten by a policy that is none too clever.
TEST(Laws, NothingBeatsTheBound) {
  EXPECT_EQ(verdict("NothingBeatsTheBound", policy<Honest>("honest")), "");
  const auto too_high = [](const Scenario& scenario) {
    Scenario bounded = scenario;
    bounded.controller = ControllerSpec{};
    bounded.controller.name = "oracle";
    return simulate(bounded).makespan * 3;
  };
  EXPECT_THAT(testing::bound_problem(policy<Honest>("honest"), too_high), ::testing::HasSubstr("and the bound is"));
}

TEST(Laws, RandomJobsFinish) {
  EXPECT_THAT(verdict("RandomJobsFinish", policy<SwitchesForEver>("for_ever")),
              ::testing::HasSubstr("every job comes to its end"));
}

}  // namespace
}  // namespace photonrail::test
