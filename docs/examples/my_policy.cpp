// A reconfiguration policy of one's own, its tests, and a command that knows it by name: `my_policy SCENARIO.json`.
#include <photonrail/config.hpp>
#include <photonrail/report.hpp>
#include <photonrail/simulate.hpp>
#include <photonrail/testing/conformance.hpp>
#include <photonrail/testing/matchers.hpp>
#include <photonrail/testing/policy_kit.hpp>

#include <iostream>

namespace pr = photonrail;
namespace kit = photonrail::testing;

/// Serves the demand that has waited longest, one at a time.
class OldestFirst : public pr::Controller {
 public:
  pr::Decision decide(const pr::FabricView& view) override {
    if (view.demands.empty()) return std::nullopt;  // keep everything as it is
    pr::CircuitPlan plan;
    for (const pr::Pair pair : view.demands.front().pairs) {  // in the order in which they became complete
      const pr::PortId from = view.port(pair.from, 0);
      const pr::PortId to = view.port(pair.to, 0);
      const pr::PortId holder = view.receive[to.index()];
      if (view.transmit[from.index()].peer == to) continue;  // lit, or on its way
      const bool busy = view.transmit[from.index()].in_use || (!holder.is_none() && view.transmit[holder.index()].in_use);
      if (busy) return std::nullopt;  // asked again when the bytes are through
      plan.connect.push_back({from, to});
    }
    if (plan.connect.empty()) return std::nullopt;
    return plan;
  }
};

pr::ControllerFactory oldest_first() {
  return {.name = "oldest_first", .summary = "one demand after another", .make = [](auto&&...) {
            return std::make_unique<OldestFirst>();
          }};
}

TEST(OldestFirst, ServesWhoHasWaitedLongestAndNeverTheBusy) {
  OldestFirst policy;
  kit::RailView rail(4);  // four servers, one port each
  rail.lit({0, 1}).demand({{0, 2}}).demand({{3, 2}});
  EXPECT_THAT(kit::ask(policy, rail.view()), testing::AllOf(kit::Connects(0, 2), kit::Darkens(0, 1)));
  rail.hold({0, 1});
  EXPECT_THAT(kit::ask(policy, rail.view()), kit::KeepsEverything());
}

PHOTONRAIL_CONFORMANCE(OldestFirstConformance, oldest_first());

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) return RUN_ALL_TESTS();
  pr::Registries known;
  known.controllers.add(oldest_first());
  const pr::RunResult result = pr::simulate(pr::read_scenario(argv[1], {}, known), {}, known);
  std::cout << pr::to_table({&result, 1});
}
