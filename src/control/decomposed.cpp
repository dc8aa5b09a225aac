// What waits, taken as a matrix, is cut into matchings that are lit one after the other.
//
// "bvn": by Birkhoff (1946) and von Neumann (1953), the fewest bytes of port time. "solstice": fewer matchings that may
// last longer, weighing what a change of circuits costs (Solstice, Liu et al., CoNEXT 2015; Eclipse, Venkatakrishnan et
// al., SIGMETRICS 2016). The decompositions are those of the all-to-all algorithms (collective/decomposition.hpp).
//
// A round lasts until what its circuits carry is through, and the next begins with all its circuits; what comes meanwhile
// waits for the next matrix, unless its circuit is lit. With p ports, p matchings are lit at a time. Pairs are served one
// by one, and a send is not cut: a pair whose bytes the decomposition spreads over several rounds has them sent in the
// first.
//
// Leaves out: Solstice's electrical switch for the rest; rounds of a fixed length.
#include "collective/decomposition.hpp"
#include "control/builtin.hpp"
#include "control/free_ports.hpp"
#include "control/waiting.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail {

namespace {

using Matching = std::vector<ServerPair>;

class Decomposed : public Controller {
 public:
  explicit Decomposed(bool weighs_switching) : weighs_switching_(weighs_switching) {}

  Decision decide(const FabricView& view) override {
    const std::vector<WaitingPair> waiting = waiting_pairs(view);
    if (begun_ && !is_over(view, waiting)) return std::nullopt;
    if (begun_) rounds_.pop_front();
    begun_ = false;
    // What is left of the last matrix; then, if all of that was served, a new one.
    if (std::optional<Decision> decision = begin_round(view, waiting)) return *std::move(decision);
    cut(view, waiting);
    return begin_round(view, waiting).value_or(Decision{});
  }

 private:
  // nullopt: no round has anything to do.
  std::optional<Decision> begin_round(const FabricView& view, const std::vector<WaitingPair>& waiting) {
    for (; !rounds_.empty(); rounds_.pop_front()) {
      // What was served in an earlier round needs no circuit in this one.
      std::erase_if(rounds_.front(), [&](ServerPair pair) { return !waits(waiting, pair); });
      CircuitPlan plan = light(view);
      begun_ = !rounds_.front().empty();
      if (!plan.connect.empty()) return Step{std::move(plan), When::kDrained};
      if (begun_) return Decision{};  // all of it is lit
    }
    return std::nullopt;
  }

  // The round's circuits are there and out of use, and nobody is about to take one.
  [[nodiscard]] bool is_over(const FabricView& view, const std::vector<WaitingPair>& waiting) const {
    for (const ServerPair pair : rounds_.front()) {
      bool in_use = false;
      for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) {
        const PortView& fibre = view.transmit[view.port(pair.from, p).index()];
        in_use = in_use || (fibre.in_use && view.position(fibre.peer) == pair.to);
      }
      if (in_use || view.circuits(pair) == 0 || waits(waiting, pair)) return false;
    }
    return true;
  }
  static bool waits(const std::vector<WaitingPair>& waiting, ServerPair pair) {
    return std::binary_search(waiting.begin(), waiting.end(), WaitingPair{pair},
                              [](const WaitingPair& a, const WaitingPair& b) { return a.pair < b.pair; });
  }

  // The next rounds, from what waits: a matrix of the positions that occur.
  void cut(const FabricView& view, const std::vector<WaitingPair>& waiting) {
    std::vector<ServerIndex> positions;
    for (const WaitingPair& w : waiting) positions.insert(positions.end(), {w.pair.from, w.pair.to});
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    const auto index = [&](ServerIndex p) {
      return static_cast<Member>(std::lower_bound(positions.begin(), positions.end(), p) - positions.begin());
    };
    TrafficMatrix matrix(static_cast<Member>(positions.size()));
    for (const WaitingPair& w : waiting) {
      matrix.at(index(w.pair.from), index(w.pair.to)) = Bytes{std::max<std::int64_t>(1, w.bytes.count)};
    }
    if (waiting.empty()) return;
    const double lost = view.port_rate.bytes_per_second * to_seconds(view.reconfiguration.total());
    const std::vector<DemandRound> cut =
        weighs_switching_ ? greedy_rounds(matrix, Bytes{static_cast<std::int64_t>(lost)}) : birkhoff_rounds(matrix);
    std::size_t in_round = 0;
    for (const DemandRound& matching : cut) {
      if (in_round++ % view.ports_per_gpu == 0) rounds_.emplace_back();
      for (const PairBytes& pair : matching) rounds_.back().push_back({positions[pair.from], positions[pair.to]});
    }
    for (Matching& round : rounds_) {
      std::sort(round.begin(), round.end());
      round.erase(std::unique(round.begin(), round.end()), round.end());
    }
  }

  // Over whatever fibres its pairs do not have yet, in use or not: the step waits for those. A pair that finds none waits
  // for another round.
  [[nodiscard]] CircuitPlan light(const FabricView& view) {
    std::vector<PortView> idle(view.transmit.begin(), view.transmit.end());
    for (PortView& fibre : idle) {
      fibre.in_use = false;
      fibre.lit = !fibre.peer.is_none();
    }
    FabricView all_free = view;
    all_free.transmit = idle;
    FreePorts ports;
    ports.begin(all_free);
    CircuitPlan plan;
    std::vector<ServerPair> missing;
    for (const ServerPair pair : rounds_.front()) {
      if (ports.keep(pair, 1) == 0) missing.push_back(pair);
    }
    for (const ServerPair pair : missing) {
      if (!ports.join(pair, plan.connect)) std::erase(rounds_.front(), pair);
    }
    return plan;
  }

  bool weighs_switching_;
  std::deque<Matching> rounds_;
  bool begun_ = false;  // the first of the rounds
};

PolicyNeeds needs(const ControllerSpec&) { return {.bytes = true, .per_pair = true}; }

}  // namespace

ControllerFactory bvn_factory() {
  return {.name = "bvn",
          .summary = "what waits as a sum of matchings, one after the other (Birkhoff 1946, von Neumann 1953)",
          .make = [](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<Controller> {
            return std::make_unique<Decomposed>(false);
          },
          .needs = needs};
}

ControllerFactory solstice_factory() {
  return {.name = "solstice",
          .summary = "what waits as few matchings, weighing what switching costs (Solstice, CoNEXT 2015)",
          .make = [](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<Controller> {
            return std::make_unique<Decomposed>(true);
          },
          .needs = needs};
}

}  // namespace photonrail
