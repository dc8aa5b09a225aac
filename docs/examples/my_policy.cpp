// A reconfiguration policy of one's own, its tests, and a command that knows it by name: `my_policy SCENARIO.json`.
#include <photonrail/config.hpp>
#include <photonrail/report.hpp>
#include <photonrail/simulate.hpp>
#include <photonrail/testing/conformance.hpp>
#include <photonrail/testing/matchers.hpp>
#include <photonrail/testing/policy_kit.hpp>

#include <algorithm>
#include <iostream>
#include <map>

namespace pr = photonrail;
namespace kit = photonrail::testing;

/// Serves one demand at a time: the oldest of those that hold up their members.
class OldestFirst : public pr::Controller {
  pr::Decision decide(const pr::FabricView& view) override {
    const auto oldest =
        std::find_if(view.demands.begin(), view.demands.end(), [](auto& demand) { return demand.blocking; });
    if (oldest == view.demands.end()) return std::nullopt;  // keep everything as it is
    pr::CircuitPlan plan;
    std::map<pr::ServerIndex, std::uint32_t> out, in;  // how many ports of a GPU the demand has taken
    for (const pr::ServerPair pair : oldest->pairs) {
      const pr::PortId from = view.port(pair.from, out[pair.from]++);
      const pr::PortId to = view.port(pair.to, in[pair.to]++);
      if (view.transmit[from.index()].peer == to) continue;  // lit, or on its way
      const pr::PortId holder = view.receive[to.index()];
      const bool busy = view.transmit[from.index()].in_use || (!holder.is_none() && view.transmit[holder.index()].in_use);
      if (busy) return std::nullopt;  // asked again when the bytes are through
      plan.connect.push_back({from, to});
    }
    return plan;
  }
};

pr::ControllerFactory oldest_first() {
  return {"oldest_first", "one demand after another", [](auto&&...) { return std::make_unique<OldestFirst>(); }};
}

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
