// A policy of one's own, tested without a cluster: serves the demand that has waited longest, one at a time.
#include "photonrail/controller.hpp"
#include "photonrail/testing/policy_kit.hpp"

#include <cstdlib>
#include <iostream>

namespace pr = photonrail;

namespace {

class OldestFirst : public pr::Controller {
 public:
  pr::Decision decide(const pr::FabricView& view) override {
    if (view.demands.empty()) return std::nullopt;
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

void expect(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "wrong: " << what << '\n';
  std::exit(1);
}

}  // namespace

int main() {
  OldestFirst policy;

  pr::testing::RailView rail(4);  // four servers, one port each
  rail.lit({0, 1}).demand({{0, 2}}, pr::Dimension::kPp).demand({{3, 2}}, pr::Dimension::kDp);
  const pr::Decision decision = policy.decide(rail.view());
  expect(!decision.keeps() && decision.plan() == rail.plan({{0, 2}}), "the older demand comes first");
  expect(pr::testing::check_plan(rail.view(), decision.plan()).empty(), "the plan is one that a switch accepts");

  pr::testing::RailView busy(4);
  busy.in_use({0, 1}).demand({{0, 2}}, pr::Dimension::kPp);
  expect(policy.decide(busy.view()).keeps(), "a circuit that carries bytes stays");
  std::cout << "the policy keeps its promises\n";
}
