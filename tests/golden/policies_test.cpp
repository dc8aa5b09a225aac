// Every optical policy on the quickstart and on the smoke test of the Opus artifact: it finishes, its books balance, and
// electrical rails are no slower. Where the data is (support/shared_data.hpp), the smoke test is its trace.
#include "golden/golden.hpp"

#include "photonrail/controller.hpp"

namespace photonrail::test {
namespace {

std::vector<std::string> optical_policies() {
  std::vector<std::string> names;
  const ControllerRegistry registry = ControllerRegistry::builtin();
  for (const ControllerFactory& factory : registry.all()) {
    if (factory.bound) continue;  // a relaxed job may end before the electrical one
    if (factory.name != "electrical" && factory.name != "static") names.push_back(factory.name);
  }
  return names;
}

class OnPublishedJobs : public ::testing::TestWithParam<std::string> {
 protected:
  static RunResult under(const std::string& file) {
    Scenario scenario = load(file);
    scenario.controller = ControllerSpec{};
    scenario.controller.name = GetParam();
    const RunResult result = simulate(scenario);
    expect_balanced(result);
    return result;
  }
};

TEST_P(OnPublishedJobs, FinishesTheQuickstart) {
  EXPECT_GE(under("quickstart-on-demand.json").makespan, run("quickstart-electrical.json").makespan);
}

TEST_P(OnPublishedJobs, FinishesTheSmokeTest) {
  EXPECT_GE(under("papers/opus/smoke-on-demand.json").makespan, run("papers/opus/smoke-electrical.json").makespan);
}

INSTANTIATE_TEST_SUITE_P(Builtin, OnPublishedJobs, ::testing::ValuesIn(optical_policies()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace photonrail::test
