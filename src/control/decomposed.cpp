// The bytes that wait are a matrix, which is cut into matchings that are lit one after the other.
//
// "bvn": by Birkhoff (1946) and von Neumann (1953), the fewest bytes of port time. "solstice": fewer matchings that may
// last longer, weighing what a change of circuits costs (Solstice, Liu et al., CoNEXT 2015; Eclipse, Venkatakrishnan et
// al., SIGMETRICS 2016). The decompositions are those of the all-to-all algorithms (collective/decomposition.hpp).
//
// A matching lasts until what its circuits carry is through, and the next begins with all its circuits; what comes
// meanwhile waits for the next matrix, unless its circuit is lit. Every port of a NIC goes through the matchings on its
// own, and where there are fewer matchings than ports, several ports join the same. Pairs are served one by one, and a send
// is not cut: a pair whose bytes the decomposition spreads over several matchings has them sent in the first.
//
// Leaves out: Solstice's electrical switch for the rest; rounds of a fixed length.
#include "collective/decomposition.hpp"
#include "control/builtin.hpp"
#include "control/free_ports.hpp"
#include "control/places.hpp"
#include "control/waiting.hpp"
#include "control/waiting_reader.hpp"
#include "core/checked.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail::control {

using collective::birkhoff_rounds;
using collective::DemandRound;
using collective::greedy_rounds;
using collective::PairBytes;

namespace {

using Matching = std::vector<ServerPair>;

// Holds what a port of a NIC joins until all of that is through.
class PortMatching {
 public:
  [[nodiscard]] const Matching& pairs() const { return pairs_; }
  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  [[nodiscard]] bool has(ServerPair pair) const { return pair.from < to_.size() && to_[pair.from] == pair.to; }

  void clear() {
    erase_if([](ServerPair) { return true; });
  }
  void assign(Matching pairs) {
    clear();
    pairs_ = std::move(pairs);
    for (const ServerPair pair : pairs_) {
      if (to_.size() <= pair.from) to_.resize(pair.from + std::size_t{1}, kNowhere);
      to_[pair.from] = pair.to;
    }
    was_lit_.assign(to_.size(), false);
  }
  void note_lit(ServerPair pair) { was_lit_[pair.from] = true; }
  [[nodiscard]] bool was_lit(ServerPair pair) const { return was_lit_[pair.from]; }
  template <class Condition>
  void erase_if(Condition&& goes) {
    std::erase_if(pairs_, [&](ServerPair pair) {
      const bool out = goes(pair);
      if (out) to_[pair.from] = kNowhere;
      return out;
    });
  }

 private:
  static constexpr ServerIndex kNowhere = ~ServerIndex{0};

  Matching pairs_;
  std::vector<ServerIndex> to_;  // by the position that sends
  std::vector<bool> was_lit_;    // the same
};

class Decomposed : public WaitingReader {
 public:
  explicit Decomposed(bool weighs_switching) : weighs_switching_(weighs_switching) {}

  Decision decide(const FabricView& view) override {
    places_.learn(view);
    waiting_.learn(view, places_);
    served_.resize(view.ports_per_gpu);
    begun_.assign(view.ports_per_gpu, false);
    for (std::uint32_t port = 0; port < served_.size(); ++port) {
      if (is_over(view, port)) served_[port].clear();
    }
    begin(view);
    cut(view);
    begin(view);
    repeat(view);
    CircuitPlan plan = missing(view);
    cross_over(view, plan);
    // A decision that waits for circuits to drain goes on.
    if (plan == asked_) return std::nullopt;
    asked_ = plan;
    if (plan.connect.empty()) return std::nullopt;
    return Step{std::move(plan), When::kDrained};
  }

 private:
  // The matching's circuits are there and out of use, and no send is about to take one.
  [[nodiscard]] bool is_over(const FabricView& view, std::uint32_t port) {
    for (const ServerPair pair : served_[port].pairs()) {
      if (is_lit(view, pair, port)) served_[port].note_lit(pair);
    }
    // A switch that blocks takes a circuit away when its bytes are through, to make room for the rest of the matching.
    served_[port].erase_if([&](ServerPair pair) {
      if (!is_lit(view, pair, port) && !can_join(view, pair, port)) return true;
      return !is_joined(view, pair, port) && served_[port].was_lit(pair) && !waiting_.waits(pair);
    });
    const Matching& pairs = served_[port].pairs();
    return std::all_of(pairs.begin(), pairs.end(), [&](ServerPair pair) {
      return is_lit(view, pair, port) && !fibre(view, pair, port).in_use && !waiting_.waits(pair);
    });
  }

  // Matchings in turn, while ports are idle; a port that has most of its circuits already begins it.
  void begin(const FabricView& view) {
    while (!matchings_.empty()) {
      Matching& next = matchings_.front();
      std::erase_if(next, [this](ServerPair pair) { return !is_left(pair); });
      if (begins(next)) {
        matchings_.pop_front();
        continue;
      }
      std::optional<std::uint32_t> best;
      std::size_t most = 0;
      bool idle = false;
      for (std::uint32_t port = 0; port < served_.size(); ++port) {
        if (!served_[port].empty()) continue;
        idle = true;
        const std::size_t fits = fit(view, next, port);
        if (fits > most) best = port;
        most = std::max(most, fits);
      }
      if (!idle) return;
      if (best) {
        served_[*best].assign(std::move(next));
        begun_[*best] = true;
        served_[*best].erase_if([&](ServerPair pair) { return !can_join(view, pair, *best); });
      }
      matchings_.pop_front();
    }
  }

  // All of its pairs are in matchings that begin now on other ports: it is the rest of their bytes, and a send is not cut.
  // The port does more good in one of those as a whole (repeat()).
  [[nodiscard]] bool begins(const Matching& matching) const {
    return std::all_of(matching.begin(), matching.end(), [this](ServerPair pair) {
      for (std::size_t port = 0; port < served_.size(); ++port) {
        if (begun_[port] && served_[port].has(pair)) return true;
      }
      return false;
    });
  }

  // Returns how well the port suits the matching: pairs that it can join, then those that it joins now, then those that it
  // joins without darkening a circuit.
  [[nodiscard]] static std::size_t fit(const FabricView& view, const Matching& matching, std::uint32_t port) {
    std::size_t can = 0;
    std::size_t joined = 0;
    std::size_t free = 0;
    for (const ServerPair pair : matching) {
      can += can_join(view, pair, port) ? 1 : 0;
      joined += is_joined(view, pair, port) ? 1 : 0;
      free += is_dark(view, pair, port) ? 1 : 0;
    }
    const std::size_t scale = matching.size() + 1;
    return (can * scale + joined) * scale + free;
  }

  // Ports for which no matching is left take part in those that begin now: where both fibres are dark, or the bytes that
  // wait are worth the circuits that they take.
  void repeat(const FabricView& view) {
    std::vector<const Matching*> begun;
    for (std::size_t port = 0; port < served_.size(); ++port) {
      if (begun_[port]) begun.push_back(&served_[port].pairs());
    }
    for (std::uint32_t port = 0, next = 0; port < served_.size() && !begun.empty(); ++port) {
      if (!served_[port].empty()) continue;
      served_[port].assign(*begun[next++ % begun.size()]);
      served_[port].erase_if([&](ServerPair pair) {
        if (!can_join(view, pair, port)) return true;
        const auto waiting = waiting_.find(pair);
        const bool worth = waiting && pays(view, waiting->bytes, view.ports_per_gpu);
        return !is_joined(view, pair, port) && !is_dark(view, pair, port) && !worth;
      });
    }
  }

  [[nodiscard]] static bool is_dark(const FabricView& view, ServerPair pair, std::uint32_t port) {
    return fibre(view, pair, port).peer.is_none() && view.receive[view.port(pair.to, port).index()].is_none();
  }
  [[nodiscard]] static const PortView& fibre(const FabricView& view, ServerPair pair, std::uint32_t port) {
    return view.transmit[view.port(pair.from, port).index()];
  }
  [[nodiscard]] static bool is_joined(const FabricView& view, ServerPair pair, std::uint32_t port) {
    return fibre(view, pair, port).peer == view.port(pair.to, port);
  }
  [[nodiscard]] static bool is_lit(const FabricView& view, ServerPair pair, std::uint32_t port) {
    return is_joined(view, pair, port) && fibre(view, pair, port).lit;
  }

  // Returns true when the switch can join the two ports, now or when their circuits are out of use.
  [[nodiscard]] static bool can_join(const FabricView& view, ServerPair pair, std::uint32_t port) {
    if (is_joined(view, pair, port)) return true;
    const auto faulty = [&](PortId p) { return !p.is_none() && view.transmit[p.index()].faulty; };
    const PortId from = view.port(pair.from, port);
    const PortId to = view.port(pair.to, port);
    return !faulty(from) && !faulty(to) && !faulty(view.transmit[from.index()].peer) && !faulty(view.receive[to.index()]);
  }

  // It waits, and is in no matching that was begun before.
  [[nodiscard]] bool is_left(ServerPair pair) const {
    if (!waiting_.waits(pair)) return false;
    for (std::size_t port = 0; port < served_.size(); ++port) {
      if (!begun_[port] && served_[port].has(pair)) return false;
    }
    return true;
  }

  // The next matchings, from what waits and is not being served: a matrix of the places that occur.
  void cut(const FabricView& view) {
    if (!matchings_.empty()) return;  // all ports are busy
    std::vector<std::uint32_t> places;
    std::vector<WaitingPair> left;
    for (const WaitingPair& w : waiting_.all()) {
      if (!is_unserved(w.pair)) continue;
      left.push_back(w);
      places.insert(places.end(), {places_.place(w.pair.from), places_.place(w.pair.to)});
    }
    if (left.empty()) return;
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const auto index = [&](ServerIndex p) {
      return static_cast<Member>(std::lower_bound(places.begin(), places.end(), places_.place(p)) - places.begin());
    };
    TrafficMatrix matrix(static_cast<Member>(places.size()));
    for (const WaitingPair& w : left) {
      matrix.at(index(w.pair.from), index(w.pair.to)) = Bytes{std::max<std::int64_t>(1, w.bytes.count)};
    }
    const double lost = view.port_rate.bytes_per_second * to_seconds(view.reconfiguration.total());
    const std::vector<DemandRound> rounds =
        weighs_switching_ ? greedy_rounds(matrix, core::clamped_bytes(lost)) : birkhoff_rounds(matrix);
    for (const DemandRound& round : rounds) {
      Matching& matching = matchings_.emplace_back();
      for (const PairBytes& pair : round) {
        matching.push_back(places_.positions({places[pair.from], places[pair.to]}));
      }
    }
  }
  [[nodiscard]] bool is_unserved(ServerPair pair) const {
    return std::none_of(served_.begin(), served_.end(), [pair](const PortMatching& served) { return served.has(pair); });
  }

  [[nodiscard]] CircuitPlan missing(const FabricView& view) const {
    CircuitPlan plan;
    for (std::uint32_t port = 0; port < served_.size(); ++port) {
      for (const ServerPair pair : served_[port].pairs()) {
        if (!is_joined(view, pair, port)) plan.connect.push_back({view.port(pair.from, port), view.port(pair.to, port)});
      }
    }
    return plan;
  }

  // Ports of equal numbers may all have failed at one end or the other. Such a pair gets any two sound ports of one plane
  // that no matching has.
  void cross_over(const FabricView& view, CircuitPlan& plan) const {
    if (view.ports_per_gpu == 1) return;
    if (std::none_of(view.transmit.begin(), view.transmit.end(), [](const PortView& port) { return port.faulty; })) return;
    for (const WaitingPair& w : waiting_.all()) {
      bool possible = view.circuits(w.pair) > 0;
      for (std::uint32_t port = 0; port < view.ports_per_gpu; ++port) possible |= can_join(view, w.pair, port);
      if (possible) continue;
      if (const std::optional<Circuit> circuit = crossed(view, w.pair, plan)) plan.connect.push_back(*circuit);
    }
  }

  // That is there already or on its way, or else the first that is free.
  [[nodiscard]] std::optional<Circuit> crossed(const FabricView& view, ServerPair pair, const CircuitPlan& plan) const {
    std::optional<Circuit> first;
    for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) {
      const PortId from = view.port(pair.from, p);
      for (std::uint32_t q = p % view.planes; q < view.ports_per_gpu; q += view.planes) {
        const PortId to = view.port(pair.to, q);
        if (view.transmit[from.index()].peer == to) return std::nullopt;
        if (!first && is_free(view, {from, to}, plan)) first = Circuit{from, to};
      }
    }
    return first;
  }

  [[nodiscard]] bool is_free(const FabricView& view, Circuit circuit, const CircuitPlan& plan) const {
    const auto idle = [&](PortId from) {
      return from.is_none() || (!view.transmit[from.index()].faulty && !view.transmit[from.index()].in_use);
    };
    if (!idle(circuit.from) || view.transmit[circuit.to.index()].faulty) return false;
    const PortId peer = view.transmit[circuit.from.index()].peer;
    const PortId source = view.receive[circuit.to.index()];
    if (!idle(source) || (!peer.is_none() && view.transmit[peer.index()].faulty)) return false;
    const std::uint32_t out = circuit.from.value % view.ports_per_gpu;
    const std::uint32_t in = circuit.to.value % view.ports_per_gpu;
    const auto has = [&](std::uint32_t port, bool sends, PortId own) {
      const Matching& pairs = served_[port].pairs();
      return std::any_of(pairs.begin(), pairs.end(),
                         [&](ServerPair pair) { return view.port(sends ? pair.from : pair.to, port) == own; });
    };
    if (has(out, true, circuit.from) || has(in, false, circuit.to)) return false;
    return std::none_of(plan.connect.begin(), plan.connect.end(),
                        [circuit](Circuit c) { return c.from == circuit.from || c.to == circuit.to; });
  }

  bool weighs_switching_;
  Places places_;
  Waiting waiting_;
  std::deque<Matching> matchings_;    // that no port has begun
  std::vector<PortMatching> served_;  // by port of a NIC
  std::vector<bool> begun_;           // by port: in this decision
  CircuitPlan asked_;                 // that the last decision still lacked
};

PolicyNeeds decomposed_needs(const ControllerSpec&) { return {.view = {ViewPart::kBytes}, .service = Service::kByPair}; }

}  // namespace

ControllerFactory bvn_factory() {
  return {.name = "bvn",
          .summary = "what waits as a sum of matchings, one after the other (Birkhoff 1946, von Neumann 1953)",
          .make = [](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<Controller> {
            return std::make_unique<Decomposed>(false);
          },
          .rail_symmetric = true,
          .needs = decomposed_needs};
}

ControllerFactory solstice_factory() {
  return {.name = "solstice",
          .summary = "what waits as few matchings, weighing what switching costs (Solstice, CoNEXT 2015)",
          .make = [](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<Controller> {
            return std::make_unique<Decomposed>(true);
          },
          .rail_symmetric = true,
          .needs = decomposed_needs};
}

}  // namespace photonrail::control
