// The tests of a policy of one's own, and a program that runs a scenario under it: `my_policy SCENARIO.json`.
#include "oldest_first.hpp"

#include <photonrail/config.hpp>
#include <photonrail/report.hpp>
#include <photonrail/simulate.hpp>
#include <photonrail/testing/conformance.hpp>
#include <photonrail/testing/matchers.hpp>
#include <photonrail/testing/policy_kit.hpp>

#include <iostream>

namespace kit = photonrail::testing;

TEST(OldestFirst, NeverTakesACircuitThatIsInUse) {
  const auto policy = oldest_first().make({}, pr::RailId{0}, 1, 1);
  kit::RailView rail(4);  // four servers, one port each
  rail.lit({0, 1}).demand({{0, 2}}).demand({{3, 2}});
  EXPECT_THAT(kit::ask(*policy, rail.view()), testing::AllOf(kit::Connects(0, 2), kit::Darkens(0, 1)));
  rail.hold({0, 1});
  EXPECT_THAT(kit::ask(*policy, rail.view()), kit::KeepsEverything());
}

PHOTONRAIL_CONFORMANCE(Conformance, oldest_first());

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) return RUN_ALL_TESTS();
  pr::Registries known;
  known.controllers.add(oldest_first());
  const auto result = pr::simulate(pr::read_scenario(argv[1], {}, known), {}, known);
  std::cout << pr::to_table({&result, 1});
}
