// The fuzzer finds what is broken and makes it small; and finds nothing in the policies of the registry.
#include "photonrail/testing/fuzz.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "support/test_cases.hpp"
#include "testing/broken_policies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace photonrail::test {
namespace {

using testing::check;
using testing::Finding;
using testing::fuzz;
using testing::FuzzCase;
using testing::FuzzReport;
using testing::Invariant;
using testing::PolicyUnderTest;
using testing::subjects_of;

/// All policies of the registry together: each gets its share, and some in any case.
const std::size_t kCasesOfAll = test_cases(5'000);
constexpr std::size_t kLeast = 500;

class Policies : public ::testing::TestWithParam<PolicyUnderTest> {};

TEST_P(Policies, BreakNoPromiseInRandomSmallJobs) {
  const ControllerRegistry registry = ControllerRegistry::builtin();
  const std::size_t policies = registry.all().size();
  const auto share = static_cast<std::uint32_t>(std::max(kLeast, (kCasesOfAll + policies - 1) / policies));
  const FuzzReport report = fuzz(GetParam(), {.cases = share});
  EXPECT_EQ(report.cases, share);
  EXPECT_FALSE(report.found) << report.found->text();
}

INSTANTIATE_TEST_SUITE_P(Registry, Policies, ::testing::ValuesIn(subjects_of(ControllerRegistry::builtin())),
                         [](const auto& policy_and_index) { return policy_and_index.param.factory.name; });

std::size_t most_members(const FuzzCase& fuzz_case) {
  std::size_t most = 0;
  for (const auto& call : fuzz_case.calls) most = std::max(most, call.members.size());
  return most;
}

/// What the fuzzer finds in a broken policy, made as small as it gets.
Finding found_in(const PolicyUnderTest& subject, Invariant promise) {
  const FuzzReport report = fuzz(subject, {.cases = 500});
  if (!report.found) throw InternalError("the fuzzer found nothing in " + subject.factory.name);
  EXPECT_EQ(name(report.found->violation.invariant), name(promise)) << report.found->text();
  EXPECT_LE(report.found->small.calls.size(), report.found->drawn.calls.size());
  return *report.found;
}

Registries with(const ControllerFactory& factory) {
  Registries known;
  known.controllers.add(factory);
  return known;
}

/// The printed scenario, read again and run.
RunResult repeat(const Finding& finding) {
  const Registries known = with(finding.factory);
  const std::string text = to_json(finding.small, finding.scenario, finding.factory);
  return simulate(parse_scenario(text, ".", "small.json", {}, known), {}, known);
}

TEST(Fuzzer, FindsNothingInAnHonestPolicy) {
  const FuzzReport report = fuzz(policy<Honest>("honest"), {.cases = 500});
  EXPECT_FALSE(report.found) << report.found->text();
}

// One call suffices: the circuit that it waits for never comes.
TEST(Fuzzer, AnIgnoredPairShrinksToOneSendOverIt) {
  const Finding finding = found_in(policy<IgnoresOnePair>("ignores_one_pair"), Invariant::kStuck);
  ASSERT_EQ(finding.small.calls.size(), 1u) << finding.text();
  EXPECT_EQ(finding.small.calls[0].op, CollectiveOp::kSend);
  EXPECT_EQ(finding.small.calls[0].members, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(finding.small.ranks(), 2u);
  EXPECT_THROW(repeat(finding), DeadlockError);
}

// Two demands must meet: one that is refused, and one that has what it wants. Two or three ranks.
TEST(Fuzzer, ADroppedDemandShrinksToTwoCallsThatMeet) {
  const Finding finding = found_in(policy<DropsADemand>("drops_a_demand"), Invariant::kStuck);
  EXPECT_EQ(finding.small.calls.size(), 2u) << finding.text();
  EXPECT_LE(finding.small.ranks(), 3u);
  EXPECT_THROW(repeat(finding), DeadlockError);
}

TEST(Fuzzer, ATornCircuitShrinksToTwoCallsThatMeet) {
  const Finding finding = found_in(policy<TearsDownBusyCircuits>("tears_down"), Invariant::kBusy);
  EXPECT_EQ(finding.small.calls.size(), 2u) << finding.text();
  EXPECT_LE(finding.small.ranks(), 3u);
  EXPECT_THROW(repeat(finding), ControllerError);
}

TEST(Fuzzer, APlanThatIsNoMatchingShrinksToTwoDemandsForOneFibre) {
  const Finding finding = found_in(policy<NoMatching>("no_matching"), Invariant::kMatching);
  EXPECT_EQ(finding.small.calls.size(), 2u) << finding.text();
  EXPECT_LE(finding.small.ranks(), 3u);
  EXPECT_LE(most_members(finding.small), 2u);
  EXPECT_THROW(repeat(finding), ControllerError);
}

// A trap: an operation that has its lane and lacks circuits waits for one that has circuits and lacks the lane.
TEST(Fuzzer, WhoeverHoldsUpNobodyMustNotBeServedFirst) {
  const Finding finding = found_in(policy<FirstComeFirstServed>("first_come_first_served"), Invariant::kStuck);
  EXPECT_LE(finding.small.ranks(), 3u) << finding.text();
  EXPECT_THROW(repeat(finding), DeadlockError);
}

TEST(Fuzzer, ForEverThereAndBackShrinksToOneSend) {
  const Finding finding = found_in(policy<SwitchesForEver>("switches_for_ever"), Invariant::kRestless);
  EXPECT_EQ(finding.small.calls.size(), 1u) << finding.text();
  EXPECT_LE(finding.small.ranks(), 3u);
}

TEST(Fuzzer, PuttingOffIsStarvation) {
  const Finding finding = found_in(policy<PutsOff>("puts_off"), Invariant::kStarvation);
  EXPECT_EQ(finding.small.calls.size(), 1u) << finding.text();
  EXPECT_EQ(finding.small.ranks(), 2u);
  EXPECT_GE(repeat(finding).makespan, Duration{std::chrono::seconds(100)});
}

TEST(Fuzzer, WhateverAPolicyThrowsIsItsFault) {
  const Finding finding = found_in(policy<Throws>("throws"), Invariant::kFault);
  EXPECT_EQ(finding.small.calls.size(), 1u) << finding.text();
  EXPECT_THAT(finding.violation.what, ::testing::HasSubstr("the policy's own table"));
}

// Controllers count themselves as they are made, across runs.
TEST(Fuzzer, SharedStateIsNoticed) {
  const auto made = std::make_shared<std::uint64_t>(0);
  ControllerFactory moody = policy<Honest>("moody");
  moody.make = [made](auto&&...) { return std::make_unique<Moody>((*made)++); };
  const FuzzReport report = fuzz(moody, {.cases = 500});
  ASSERT_TRUE(report.found);
  EXPECT_THAT(report.found->violation.invariant, ::testing::AnyOf(Invariant::kDeterminism, Invariant::kStuck));
}

TEST(Fuzzer, TheSameSeedFindsTheSame) {
  const Finding one = found_in(policy<NoMatching>("no_matching"), Invariant::kMatching);
  const Finding again = found_in(policy<NoMatching>("no_matching"), Invariant::kMatching);
  EXPECT_EQ(one.drawn, again.drawn);
  EXPECT_EQ(one.small, again.small);
  EXPECT_EQ(one.text(), again.text());
}

// No policy can spoil the books: a result is spoilt by hand.
TEST(Books, EveryPartCounts) {
  RunResult result;
  result.makespan = Duration{10};
  result.iterations = {Duration{4}, Duration{6}};
  result.ranks = {{Duration{1}, Duration{2}, Duration{3}, Duration{4}}};
  EXPECT_EQ(testing::books_problem(result), "");
  result.iterations[0] = Duration{5};
  EXPECT_THAT(testing::books_problem(result), ::testing::HasSubstr("iterations"));
  result.iterations[0] = Duration{4};
  result.ranks[0].peer_wait = Duration{5};
  EXPECT_THAT(testing::books_problem(result), ::testing::HasSubstr("rank 0 add up to 11 ps, the makespan is 10 ps"));
  result.ranks[0] = {Duration{1}, Duration{-2}, Duration{3}, Duration{8}};
  EXPECT_THAT(testing::books_problem(result), ::testing::HasSubstr("negative"));
}

}  // namespace
}  // namespace photonrail::test
