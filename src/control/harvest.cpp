// Inside one collective: keep the circuits and forward over several of them, or switch? (Harvest, Rahman et al.,
// arXiv 2602.09188.) The rounds of the collective's plan are known; dynamic programming over them finds the cheapest
// sequence of the two. A round costs, over the circuits of an earlier one, the bytes of its busiest circuit when each pair
// goes the shortest way, and the latency of its longest way; over circuits of its own, the same with as many circuits a
// pair as it is worth; a switch costs a reconfiguration. A switch goes to the circuits that the round itself wants; with
// `other_rounds` also to those of a later or an earlier round that uses the same fibres, over which the present one is
// forwarded.
//
// A demand is served whole. Those of other operations, or without later rounds, are weighed in the same way, alone.
//
// Leaves out: topologies that no round asks for; circuits of other groups as ways, when it looks ahead.
#include "control/builtin.hpp"
#include "control/free_ports.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace photonrail::control {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Circuits that join positions, as a graph.
class Ways {
 public:
  /// No circuits, among positions below this number.
  void clear(std::uint32_t positions) {
    next_.resize(positions);
    for (std::vector<Circuits>& circuits : next_) circuits.clear();
    reached_.assign(positions, Reached{});
    search_ = 0;
  }

  void add(ServerPair pair, std::uint32_t width = 1) {
    if (Circuits* const known = circuits(pair)) {
      known->width += width;
    } else {
      next_[pair.from].push_back({pair.to, width});
    }
  }

  /// Seconds until the round is through; infinite where some pair has no way.
  [[nodiscard]] double time(const FabricView& view, std::span<const ServerPair> pairs, std::span<const Bytes> bytes) {
    for (std::vector<Circuits>& circuits : next_) {
      for (Circuits& c : circuits) c.load = 0.0;
    }
    double busiest = 0.0;
    std::size_t longest = 0;
    std::vector<ServerPair> way;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      find(pairs[p], way);
      if (way.empty()) return kNever;
      longest = std::max(longest, way.size());
      for (const ServerPair hop : way) {
        Circuits& carrier = *circuits(hop);
        carrier.load += p < bytes.size() ? static_cast<double>(bytes[p].count) : 0.0;
        busiest = std::max(busiest, carrier.load / carrier.width);
      }
    }
    return busiest / view.port_rate.bytes_per_second + static_cast<double>(longest) * to_seconds(view.hop_latency);
  }

  /// The hops of a shortest way, the last one first; none: there is no way.
  void find(ServerPair pair, std::vector<ServerPair>& way) {
    way.clear();
    if (pair.from == pair.to) return;
    if (circuits(pair) != nullptr) {
      way.push_back(pair);
      return;
    }
    if (!reach(pair)) return;
    for (ServerIndex at = pair.to; at != pair.from; at = reached_[at].from) way.push_back({reached_[at].from, at});
  }

 private:
  /// Side by side, from one position to another.
  struct Circuits {
    ServerIndex to = 0;
    std::uint32_t width = 0;
    double load = 0.0;  // bytes of time()
  };
  struct Reached {
    ServerIndex from = 0;
    std::uint64_t search = 0;  // by which it was reached
  };

  [[nodiscard]] Circuits* circuits(ServerPair pair) {
    std::vector<Circuits>& all = next_[pair.from];
    const auto found = std::find_if(all.begin(), all.end(), [pair](const Circuits& c) { return c.to == pair.to; });
    return found == all.end() ? nullptr : &*found;
  }

  // Breadth first: marks positions until the receiver is one of them. False: it is out of reach.
  bool reach(ServerPair pair) {
    ++search_;
    reached_[pair.from] = {pair.from, search_};
    queue_.assign(1, pair.from);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      for (const Circuits& c : next_[queue_[i]]) {
        if (reached_[c.to].search == search_) continue;
        reached_[c.to] = {queue_[i], search_};
        if (c.to == pair.to) return true;
        queue_.push_back(c.to);
      }
    }
    return false;
  }

  std::vector<std::vector<Circuits>> next_;  // by sender, in the order of add()
  std::vector<Reached> reached_;             // by position
  std::vector<ServerIndex> queue_;
  std::uint64_t search_ = 0;
};

/// The present round of a demand and those after it.
class Rounds {
 public:
  Rounds(const CircuitRequest& demand, std::size_t look_ahead)
      : demand_(demand), count_(1 + std::min(look_ahead, demand.next.size())) {}

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::span<const ServerPair> pairs(std::size_t r) const {
    return r == 0 ? demand_.pairs : demand_.next[r - 1].pairs;
  }
  [[nodiscard]] std::span<const Bytes> bytes(std::size_t r) const {
    return r == 0 ? std::span<const Bytes>(demand_.bytes) : demand_.next[r - 1].bytes;
  }
  /// Returns true when the circuits need fibres of the present round only.
  [[nodiscard]] bool same_fibres(std::span<const ServerPair> of) const {
    std::set<ServerIndex> from;
    std::set<ServerIndex> to;
    for (const ServerPair pair : demand_.pairs) {
      from.insert(pair.from);
      to.insert(pair.to);
    }
    return std::all_of(of.begin(), of.end(), [&](ServerPair p) { return from.contains(p.from) && to.contains(p.to); });
  }

 private:
  const CircuitRequest& demand_;
  std::size_t count_;
};

class Harvest : public Controller {
 public:
  explicit Harvest(const ControllerSpec& spec)
      : look_ahead_(spec.parameters.count("look_ahead")), other_(spec.parameters.flag("other_rounds")) {}

  Decision decide(const FabricView& view) override {
    if (view.requests.empty()) return std::nullopt;
    ports_.begin(view);
    lit_.clear(view.positions);
    for (std::size_t p = 0; p < view.transmit.size(); ++p) {
      const PortView& fibre = view.transmit[p];
      if (fibre.lit && !fibre.draining) lit_.add({view.position(PortId{p}), view.position(fibre.peer)});
    }
    CircuitPlan plan;
    switched_.clear();
    for (const bool blocking : {true, false}) {
      for (const CircuitRequest& demand : view.requests) {
        if (demand.blocking == blocking) serve(view, demand, plan);
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

  // Rounds of direct plans may want more circuits of a GPU than it has ports: over all of them at once no round goes.
  [[nodiscard]] static bool can_be_lit(const FabricView& view, std::span<const ServerPair> pairs) {
    std::map<ServerIndex, std::uint32_t> out;
    std::map<ServerIndex, std::uint32_t> in;
    return std::all_of(pairs.begin(), pairs.end(), [&](ServerPair pair) {
      return ++out[pair.from] <= view.ports_per_gpu && ++in[pair.to] <= view.ports_per_gpu;
    });
  }

  void serve(const FabricView& view, const CircuitRequest& demand, CircuitPlan& plan) {
    if (const std::optional<Topology> wanted = target(view, demand)) {
      const bool own = wanted->pairs.data() == demand.pairs.data();
      if (ports_.serve_all(wanted->pairs, 1, plan.connect) && own) switched_.push_back(&demand);
      return;
    }
    // The circuits of its ways are not for others to take.
    std::vector<ServerPair> way;
    for (const ServerPair pair : demand.pairs) {
      lit_.find(pair, way);
      for (const ServerPair circuit : way) (void)ports_.keep(circuit, 1);
    }
  }

  /// Circuits that a round wants: of the present one, of one that follows or, with `other_rounds`, of an earlier one.
  struct Topology {
    std::uint32_t number = 0;
    std::span<const ServerPair> pairs{};
    std::uint32_t width = 1;
    bool candidate = false;  ///< for other rounds than its own too
  };

  // The circuits that are switched to; nullopt: none, what is lit will do.
  [[nodiscard]] std::optional<Topology> target(const FabricView& view, const CircuitRequest& demand) {
    constexpr std::size_t kMaxKnown = 100'000;
    if (times_.size() > kMaxKnown) forget();
    const Rounds rounds(demand, look_ahead_);
    const std::vector<Topology> topologies = list(view, rounds);
    // least[t]: the cheapest end from round r on with the circuits of topology t; by_lit: with what is lit.
    const double change = to_seconds(view.reconfiguration.total());
    std::vector<double> least(topologies.size(), 0.0);
    double by_lit = 0.0;
    for (std::size_t r = rounds.count(); r-- > 0;) {
      std::size_t best = r;  // of equal ones its own, then the earliest
      double fresh = change + time(view, topologies[r], rounds, r, topologies[r].number) + least[r];
      for (std::size_t k = 0; k < topologies.size(); ++k) {
        if (!topologies[k].candidate) continue;
        const double cost = change + time(view, topologies[k], rounds, r, topologies[r].number) + least[k];
        if (cost >= fresh) continue;
        fresh = cost;
        best = k;
      }
      const double kept = lit_.time(view, rounds.pairs(r), rounds.bytes(r)) + by_lit;
      if (r == 0) return fresh < kept ? std::optional(topologies[best]) : std::nullopt;
      by_lit = std::min(fresh, kept);
      for (std::size_t t = 0; t < topologies.size(); ++t) {
        if (!other_ && t >= r) continue;  // no switch goes there before
        least[t] = std::min(fresh, time(view, topologies[t], rounds, r, topologies[r].number) + least[t]);
      }
    }
    return topologies.front();
  }

  // Those of the demand's rounds, by round; then of earlier rounds.
  [[nodiscard]] std::vector<Topology> list(const FabricView& view, const Rounds& rounds) {
    std::vector<Topology> topologies;
    for (std::size_t r = 0; r < rounds.count(); ++r) {
      // Circuits of other rounds are not widened; so that all are weighed alike, none is counted as wide.
      const std::uint32_t circuits = other_ ? 1 : width(view, rounds.pairs(r), rounds.bytes(r));
      topologies.push_back({number_of(rounds.pairs(r), rounds.bytes(r), circuits), rounds.pairs(r), circuits,
                            other_ && rounds.same_fibres(rounds.pairs(r)) && can_be_lit(view, rounds.pairs(r))});
    }
    if (!other_) return topologies;
    const std::size_t own = topologies.size();
    if (can_be_lit(view, rounds.pairs(0)))
      earlier_.try_emplace(topologies[0].number, rounds.pairs(0).begin(), rounds.pairs(0).end());
    for (const auto& [number, pairs] : earlier_) {
      const auto same = [&, n = number](const Topology& t) { return t.number == n; };
      if (std::any_of(topologies.begin(), topologies.begin() + static_cast<std::ptrdiff_t>(own), same)) continue;
      if (rounds.same_fibres(pairs)) topologies.push_back({number, pairs, 1, true});
    }
    return topologies;
  }

  // Returns the time of round r over the circuits of a topology. The same rounds come again in the next decisions and
  // operations.
  [[nodiscard]] double time(const FabricView& view, const Topology& topology, const Rounds& rounds, std::size_t r,
                            std::uint32_t number) {
    const auto [at, is_new] = times_.try_emplace({topology.number, number}, 0.0);
    if (!is_new) return at->second;
    own_.clear(view.positions);
    for (const ServerPair pair : topology.pairs) own_.add(pair, topology.width);
    return at->second = own_.time(view, rounds.pairs(r), rounds.bytes(r));
  }

  void forget() {
    numbers_.clear();
    times_.clear();
    earlier_.clear();
  }

  [[nodiscard]] std::uint32_t number_of(std::span<const ServerPair> pairs, std::span<const Bytes> bytes,
                                        std::uint32_t circuits) {
    std::vector<std::int64_t> key{circuits};
    for (const ServerPair pair : pairs) key.push_back((std::int64_t{pair.from} << 32) | pair.to);
    for (const Bytes b : bytes) key.push_back(b.count);
    return numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

  std::uint32_t look_ahead_;
  bool other_;
  std::map<std::vector<std::int64_t>, std::uint32_t> numbers_;       // by circuits a pair, pairs and bytes of a round
  std::map<std::uint32_t, std::vector<ServerPair>> earlier_;         // rounds that were the present one, by number
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> times_;  // seconds of a round over the circuits of another
  Ways lit_;                                                         // in this decision
  Ways own_;                                                         // of time()
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
          .rail_symmetric = true,
          .needs =
              [](const ControllerSpec&) {
                return PolicyNeeds{.view = {ViewPart::kBytes, ViewPart::kRounds},
                                   .hops = kAnyHops,
                                   .while_switching = WhileSwitching::kWait};
              },
          .parameters = {ControllerParameter::count("look_ahead", 16, 0, 1024, "rounds after the present one"),
                         ControllerParameter::flag("other_rounds", false, "switches to the circuits of other rounds too")},
          .work_conserving = true};
}

}  // namespace photonrail::control
