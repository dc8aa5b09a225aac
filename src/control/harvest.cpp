// Inside one collective: keep the circuits and forward over several of them, or switch? (Harvest, Rahman et al.,
// arXiv 2602.09188.) The rounds of the collective's plan are known; dynamic programming over them finds the cheapest
// sequence of the two. A round costs, over the circuits of an earlier one, the bytes of its busiest circuit when each pair
// goes the shortest way, and the latency of its longest way; over circuits of its own, the same with as many circuits a
// pair as it is worth; a switch costs a reconfiguration. A switch always goes to the circuits that the round itself wants.
//
// A demand is served whole. Those of other operations, or without later rounds, are weighed in the same way, alone.
//
// Leaves out: topologies that no round asks for; circuits of other groups as ways, when it looks ahead.
#include "control/builtin.hpp"
#include "control/free_ports.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace photonrail::control {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Circuits that join positions, as a graph.
class Ways {
 public:
  void add(ServerPair circuit, std::uint32_t width = 1) {
    std::uint32_t& known = width_[circuit];
    if (known == 0) next_[circuit.from].push_back(circuit.to);
    known += width;
  }

  /// Seconds until the round is through; infinite where some pair has no way.
  [[nodiscard]] double time(const FabricView& view, std::span<const ServerPair> pairs, std::span<const Bytes> bytes) const {
    std::map<ServerPair, double> load;
    double busiest = 0.0;
    std::size_t longest = 0;
    std::vector<ServerPair> way;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      find(pairs[p], way);
      if (way.empty()) return kNever;
      longest = std::max(longest, way.size());
      for (const ServerPair circuit : way) {
        double& sum = load[circuit];
        sum += p < bytes.size() ? static_cast<double>(bytes[p].count) : 0.0;
        busiest = std::max(busiest, sum / width_.at(circuit));
      }
    }
    return busiest / view.port_rate.bytes_per_second + static_cast<double>(longest) * to_seconds(view.hop_latency);
  }

  /// The circuits of a shortest way; none: there is no way.
  void find(ServerPair pair, std::vector<ServerPair>& way) const {
    way.clear();
    std::map<ServerIndex, ServerIndex> from{{pair.from, pair.from}};
    std::vector<ServerIndex> queue{pair.from};
    for (std::size_t i = 0; i < queue.size() && !from.contains(pair.to); ++i) {
      const auto known = next_.find(queue[i]);
      if (known == next_.end()) continue;
      for (const ServerIndex to : known->second) {
        if (from.try_emplace(to, queue[i]).second) queue.push_back(to);
      }
    }
    if (!from.contains(pair.to)) return;
    for (ServerIndex at = pair.to; at != pair.from; at = from[at]) way.push_back({from[at], at});
  }

 private:
  std::map<ServerIndex, std::vector<ServerIndex>> next_;
  std::map<ServerPair, std::uint32_t> width_;  // circuits side by side
};

class Harvest : public Controller {
 public:
  explicit Harvest(const ControllerSpec& spec) : look_ahead_(spec.parameters.count("look_ahead")) {}

  Decision decide(const FabricView& view) override {
    if (view.requests.empty()) return std::nullopt;
    ports_.begin(view);
    Ways lit;
    for (std::size_t p = 0; p < view.transmit.size(); ++p) {
      const PortView& fibre = view.transmit[p];
      if (fibre.lit && !fibre.draining) lit.add({view.position(PortId{p}), view.position(fibre.peer)});
    }
    CircuitPlan plan;
    switched_.clear();
    for (const bool blocking : {true, false}) {
      for (const CircuitRequest& demand : view.requests) {
        if (demand.blocking == blocking) serve(view, demand, lit, plan);
      }
    }
    for (const CircuitRequest* demand : switched_) {
      const std::uint32_t share = even_share(view, demand->pairs);
      if (share > 1) ports_.widen(demand->pairs, share, pays(view, largest(demand->bytes), share), plan.connect);
    }
    if (plan.connect.empty()) return std::nullopt;
    return plan;
  }

 private:
  [[nodiscard]] static Bytes largest(std::span<const Bytes> bytes) {
    return bytes.empty() ? Bytes{} : *std::max_element(bytes.begin(), bytes.end());
  }
  // Circuits that a round will have for each pair.
  [[nodiscard]] static std::uint32_t width(const FabricView& view, std::span<const ServerPair> pairs,
                                           std::span<const Bytes> bytes) {
    const std::uint32_t share = even_share(view, pairs);
    return pays(view, largest(bytes), share) ? share : 1;
  }

  void serve(const FabricView& view, const CircuitRequest& demand, const Ways& lit, CircuitPlan& plan) {
    if (switches(view, demand, lit)) {
      if (ports_.serve_all(demand.pairs, 1, plan.connect)) switched_.push_back(&demand);
      return;
    }
    // The circuits of its ways are not for others to take.
    std::vector<ServerPair> way;
    for (const ServerPair pair : demand.pairs) {
      lit.find(pair, way);
      for (const ServerPair circuit : way) (void)ports_.keep(circuit, 1);
    }
  }

  // least[t]: the cheapest end from round r on, when circuits are those of topology t: 0 what is lit, k + 1 what round k
  // asks.
  [[nodiscard]] bool switches(const FabricView& view, const CircuitRequest& demand, const Ways& lit) const {
    const std::size_t rounds = 1 + std::min<std::size_t>(look_ahead_, demand.next.size());
    const auto pairs = [&](std::size_t r) { return r == 0 ? demand.pairs : demand.next[r - 1].pairs; };
    const auto bytes = [&](std::size_t r) { return r == 0 ? demand.bytes : demand.next[r - 1].bytes; };
    std::vector<Ways> topologies{lit};
    for (std::size_t r = 0; r < rounds; ++r) {
      Ways own;
      const std::uint32_t circuits = width(view, pairs(r), bytes(r));
      for (const ServerPair pair : pairs(r)) own.add(pair, circuits);
      topologies.push_back(std::move(own));
    }
    const double change = to_seconds(view.reconfiguration.total());
    std::vector<double> least(rounds + 1, 0.0);
    for (std::size_t r = rounds; r-- > 0;) {
      const double fresh = change + topologies[r + 1].time(view, pairs(r), bytes(r)) + least[r + 1];
      for (std::size_t t = 0; t <= r; ++t) {
        const double kept = topologies[t].time(view, pairs(r), bytes(r)) + least[t];
        if (r == 0) return fresh < kept;
        least[t] = std::min(fresh, kept);
      }
    }
    return true;
  }

  std::uint32_t look_ahead_;
  FreePorts ports_;
  std::vector<const CircuitRequest*> switched_;  // in this decision
};

std::unique_ptr<Controller> make_harvest(const ControllerSpec& spec, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<Harvest>(spec);
}

}  // namespace

ControllerFactory harvest_factory() {
  return {.name = "harvest",
          .summary = "forwards over what is lit or switches, round by round of a collective (Harvest, dynamic programming)",
          .make = make_harvest,
          .needs =
              [](const ControllerSpec&) {
                return PolicyNeeds{.view = {ViewPart::kBytes, ViewPart::kRounds},
                                   .hops = kAnyHops,
                                   .while_switching = WhileSwitching::kWait};
              },
          .parameters = {ControllerParameter::count("look_ahead", 16, 0, 1024, "rounds after the present one")},
          .work_conserving = true};
}

}  // namespace photonrail::control
