// The shortest run of a small job over all orders in which its rails can be re-pointed: a search through the runs of a
// controller that is told what to choose, depth first. A yardstick for the lower bound, which no run is below, and for
// policies.
#pragma once

#include "control/free_ports.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace photonrail::test {

/// The choices of one run after another: each run makes those of the one before up to the last that has another option.
class Choices {
 public:
  std::uint32_t choose(std::uint32_t options) {
    if (at_ == path_.size()) path_.emplace_back(0, options);
    return path_[at_++].first;
  }
  /// False: all runs were made.
  bool next() {
    path_.resize(std::min(path_.size(), at_));
    at_ = 0;
    while (!path_.empty() && path_.back().first + 1 == path_.back().second) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().first;
    return true;
  }

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path_;  // what was chosen, of how many
  std::size_t at_ = 0;
};

/// Thrown where a run is longer than the limit.
struct Abandoned {};

/// What the rails of a run have in common.
struct OrderSearch {
  Choices choices;
  Time limit = Time::never();  ///< later runs are of no interest
  bool careful = false;        ///< circuits that nobody is known to want yet are not given away without a choice
};

/// One rail. A request whose members all wait, and that takes nothing from another one or from a circuit, gets its circuits
/// at once; else it gets them now, over one circuit a pair or over as many as there are, or later, when something has
/// happened.
class ChosenOrder : public Controller {
 public:
  explicit ChosenOrder(OrderSearch& search) : search_(search) {}

  Decision decide(const FabricView& view) override {
    if (view.now > search_.limit) throw Abandoned{};
    std::vector<const CircuitRequest*> known;
    for (const CircuitRequest& request : view.requests) known.push_back(&request);
    for (const CircuitRequest& request : view.partial_requests) known.push_back(&request);
    std::stable_sort(known.begin(), known.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
    State state;
    for (const CircuitRequest* request : known) state.emplace_back(request->id, request->round, is_made(view, *request));
    for (const PortView& port : view.transmit) state.emplace_back(RequestId::none(), port.in_use ? 1 : 0, port.lit);
    if (state == last_) return std::nullopt;
    last_ = std::move(state);
    ports_.begin(view);
    CircuitPlan plan;
    for (const CircuitRequest* request : known) {
      if (is_made(view, *request)) continue;
      const bool contested = (search_.careful && (!request->all_asked() || breaks(view, *request))) ||
                             std::any_of(known.begin(), known.end(), [&](const CircuitRequest* other) {
                               return other != request && conflict(*other, *request);
                             });
      const std::uint32_t widths = search_.careful && view.ports_per_gpu > 1 ? 2 : 1;
      const std::uint32_t choice = contested || widths > 1 ? search_.choices.choose(widths + (contested ? 1 : 0)) : 0;
      if (choice == widths) continue;
      (void)ports_.serve_all(request->pairs, search_.careful && choice == 0 ? view.ports_per_gpu : 1, plan.connect);
    }
    if (plan.connect.empty()) return std::nullopt;
    return plan;
  }

 private:
  using State = std::vector<std::tuple<RequestId, std::uint32_t, bool>>;

  static bool is_made(const FabricView& view, const CircuitRequest& request) {
    return std::all_of(request.pairs.begin(), request.pairs.end(), [&](ServerPair pair) {
      for (std::uint32_t p = 0; p < view.ports_per_gpu; ++p) {
        const PortId peer = view.transmit[view.port(pair.from, p).index()].peer;
        if (!peer.is_none() && view.position(peer) == pair.to) return true;
      }
      return false;
    });
  }
  static bool breaks(const FabricView& view, const CircuitRequest& request) {
    if (view.ports_per_gpu > 1) return true;
    return std::any_of(request.pairs.begin(), request.pairs.end(), [&](ServerPair pair) {
      const PortId peer = view.transmit[pair.from].peer;
      const PortId source = view.receive[pair.to];
      return (!peer.is_none() && peer.value != pair.to) || (!source.is_none() && source.value != pair.from);
    });
  }
  static bool conflict(const CircuitRequest& a, const CircuitRequest& b) {
    for (const ServerPair x : a.pairs) {
      for (const ServerPair y : b.pairs) {
        if ((x.from == y.from) != (x.to == y.to)) return true;
      }
    }
    return false;
  }

  OrderSearch& search_;
  control::FreePorts ports_;
  State last_;
};

struct Optimum {
  std::optional<Duration> least;  ///< none: no run ends within the limit
  bool proven = false;            ///< all runs were made, or the least is the lower bound
  std::size_t runs = 0;
};

class OptimumSearch {
 public:
  /// Policies of one round of circuits at a time, whose ranks and rails have the delays of `scenario`'s controller.
  /// `limit`: runs that are longer are not looked at. `bound`: a run of that length ends the search.
  OptimumSearch(const Scenario& scenario, Duration limit, Duration bound) : scenario_(scenario), bound_(bound) {
    scenario_.controller.name = "chosen_order";
    scenario_.controller.parameters = {};
    search_.limit = Time{} + limit;
  }

  /// At most `most` runs for each way in which ranks may behave.
  Optimum find(std::size_t most) {
    Optimum optimum;
    for (const bool careful : {false, true}) {
      optimum.proven = true;
      for (const OperationOrder order : {OperationOrder::kFree, OperationOrder::kScheduled}) {
        for (const LaneRule lanes : {LaneRule::kKeep, LaneRule::kYield, LaneRule::kYieldEarliestFirst}) {
          search_.careful = careful;
          search_.choices = {};
          optimum.proven = look(order, lanes, most, optimum) && optimum.proven;
          if (optimum.least && *optimum.least <= bound_) return {optimum.least, true, optimum.runs};
        }
      }
    }
    return optimum;
  }

 private:
  Registries known(OperationOrder order, LaneRule lanes) {
    Registries known;
    ControllerFactory factory;
    factory.name = scenario_.controller.name;
    factory.make = [this](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) {
      return std::make_unique<ChosenOrder>(search_);
    };
    factory.needs = [order, lanes](const ControllerSpec&) {
      PolicyNeeds needs;
      needs.ranks.announce = Announcement::kAhead;
      needs.ranks.order = order;
      needs.ranks.lanes = lanes;
      if (lanes == LaneRule::kYieldEarliestFirst) needs.view.add(ViewPart::kDueTimes);
      return needs;
    };
    known.controllers.add(factory);
    return known;
  }

  /// True: all runs were made.
  bool look(OperationOrder order, LaneRule lanes, std::size_t most, Optimum& optimum) {
    const Registries known = this->known(order, lanes);
    for (std::size_t run = 0; run < most; ++run) {
      ++optimum.runs;
      try {
        const Duration makespan = simulate(scenario_, {}, known).makespan;
        if (Time{} + makespan <= search_.limit) {
          optimum.least = makespan;
          search_.limit = Time{} + makespan - Duration{1};
        }
      } catch (const Abandoned&) {
      } catch (const DeadlockError&) {  // choices that wait for each other
      }
      if ((optimum.least && *optimum.least <= bound_) || !search_.choices.next()) return true;
    }
    return false;
  }

  Scenario scenario_;
  const Duration bound_;
  OrderSearch search_;
};

}  // namespace photonrail::test
