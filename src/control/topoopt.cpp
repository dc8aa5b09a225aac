// One topology for the whole job, by what it sends (TopoOpt, Wang et al., NSDI 2023): one port a GPU makes a ring over all
// of them, so that each GPU reaches every other by forwarding over hosts; each of the others is a maximum weighted matching
// of the traffic, where a pair's weight is halved for each circuit that it gets (its algorithm 1).
//
// Leaves out: the search for a parallelisation at the same time; permuting the rings of all-reduces (TotientPerms): rings
// are as the collectives make them, and the ring over all follows the pairs with most bytes; splitting a message over
// several ways.
#include "control/builtin.hpp"
#include "control/one_shot.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace photonrail::control {

namespace {

class TopoOpt : public Controller {
 public:
  Decision decide(const FabricView& view) override {
    if (done_) return std::nullopt;
    done_ = true;
    Places places;
    places.learn(view);
    std::map<ServerPair, std::int64_t> bytes;
    for (const JobTraffic::Entry& e : job_traffic(view, places).entries) bytes[e.pair] += e.bytes;
    if (bytes.empty()) return std::nullopt;
    std::vector<WeightedPair> pairs;
    for (const auto& [pair, sum] : bytes) pairs.push_back({pair, std::max<std::int64_t>(1, sum)});
    OneShot circuits(places.count(), view.ports_per_gpu, view.planes);
    circuits.ring(pairs);
    for (const Circuit circuit : circuits.plan().connect)
      halve(pairs, {view.position(circuit.from), view.position(circuit.to)});
    for (std::uint32_t layer = 1; layer < view.ports_per_gpu; ++layer) {
      for (const std::size_t i : heaviest_matching(pairs)) {
        if (circuits.join(pairs[i].pair)) pairs[i].weight = std::max<std::int64_t>(1, pairs[i].weight / 2);
      }
    }
    return at_positions(circuits.plan(), view, places);
  }

 private:
  static void halve(std::vector<WeightedPair>& pairs, ServerPair served) {
    for (WeightedPair& p : pairs) {
      if (p.pair == served) p.weight = std::max<std::int64_t>(1, p.weight / 2);
    }
  }

  bool done_ = false;
};

}  // namespace

ControllerFactory topoopt_factory() {
  return {
      .name = "topoopt",
      .summary = "one topology for the job: a ring and matchings of most bytes, forwarding over hosts (TopoOpt, NSDI 2023)",
      .make = [](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<Controller> {
        return std::make_unique<TopoOpt>();
      },
      .rail_symmetric = true,
      .needs = [](const ControllerSpec&) { return PolicyNeeds{.view = {ViewPart::kSchedule}, .hops = kAnyHops}; }};
}

}  // namespace photonrail::control
