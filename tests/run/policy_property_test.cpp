// Every optical policy on jobs drawn at random: they finish, books balance, and the same scenario has the same history.
#include "photonrail/error.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "run/drawing.hpp"
#include "support/test_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

const std::uint64_t kPolicyCases = test_cases(500);

std::vector<std::string> policies() {
  std::vector<std::string> names;
  const ControllerRegistry registry = ControllerRegistry::builtin();
  for (const ControllerFactory& factory : registry.all()) {
    if (factory.name != "electrical" && factory.name != "static") names.push_back(factory.name);
  }
  return names;
}

class PolicyProperty : public ::testing::TestWithParam<std::string> {};

std::uint64_t history(const Scenario& scenario, RunResult& result) {
  testing::HistoryHash hash;
  Observer* const observers[] = {&hash};
  result = simulate(scenario, observers);
  return hash.value();
}

TEST_P(PolicyProperty, FinishesEveryJob) {
  std::size_t finished = 0;
  for (std::uint64_t seed = 1; seed <= kPolicyCases; ++seed) {
    Scenario scenario = Drawing(seed, {.rail = RailKind::kOptical}).scenario;
    if (scenario.cluster.rail.kind != RailKind::kOptical) continue;
    ControllerSpec controller;
    controller.name = GetParam();
    controller.request = scenario.controller.request;
    controller.command = scenario.controller.command;
    scenario.controller = controller;
    try {
      RunResult result;
      const std::uint64_t first = history(scenario, result);
      ++finished;
      ASSERT_TRUE(books_balance(result)) << "seed " << seed;
      if (seed % 10 != 0) continue;
      ASSERT_EQ(history(scenario, result), first) << "seed " << seed;
    } catch (const DeadlockError& error) {
      // What is served whole may want more circuits than there are ports.
      ASSERT_THAT(error.what(), ::testing::HasSubstr("circuits at once")) << "seed " << seed;
      const ControllerRegistry registry = ControllerRegistry::builtin();
      ASSERT_FALSE(registry.find(GetParam()).needs_of(controller).by_pair()) << "seed " << seed;
    }
  }
  EXPECT_GE(finished, kPolicyCases / 3);
}

INSTANTIATE_TEST_SUITE_P(Builtin, PolicyProperty, ::testing::ValuesIn(policies()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace photonrail::test
