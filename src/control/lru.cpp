// The ports of a GPU as a cache of circuits: a demand finds its circuits lit, or new ones take the place of those that were
// used the longest time ago (least recently used; Mattson et al., "Evaluation techniques for storage hierarchies", 1970).
// Demands are served whole, in the order in which they became complete, those that hold up their members first. With one
// port a GPU there is nothing to choose, and it is Opus on demand. Of several ports every pair gets one; those left dark
// are shared out among them, and idle circuits of others give way as well where that saves more than a reconfiguration.
//
// Leaves out: which circuits will be requested next, which Belady's optimum would know.
#include "control/builtin.hpp"
#include "control/free_ports.hpp"

#include <algorithm>
#include <vector>

namespace photonrail::control {

namespace {

class Lru : public Controller {
 public:
  explicit Lru(const ControllerSpec& spec) : width_(spec.parameters.count("width")) {}

  Decision decide(const FabricView& view) override {
    last_use_.resize(view.transmit.size());
    for (std::size_t p = 0; p < view.transmit.size(); ++p) {
      if (view.transmit[p].in_use) last_use_[p] = view.now;
    }
    ports_.begin(view, last_use_);
    CircuitPlan plan;
    std::vector<const CircuitRequest*> served;
    for (const bool blocking : {true, false}) {
      for (const CircuitRequest& demand : view.requests) {
        if (demand.blocking != blocking) continue;
        if (ports_.serve_all(demand.pairs, std::max(1u, width_), plan.connect)) served.push_back(&demand);
      }
    }
    for (const CircuitRequest* demand : served) widen(view, *demand, plan);
    for (const Circuit circuit : plan.connect) last_use_[circuit.from.index()] = view.now;
    if (plan.connect.empty()) return std::nullopt;
    return plan;
  }

 private:
  // Once every demand has a circuit a pair.
  void widen(const FabricView& view, const CircuitRequest& demand, CircuitPlan& plan) {
    const std::uint32_t share = width_ > 0 ? 1 : even_share(view, demand.pairs);
    if (share == 1) return;
    Bytes most{};
    for (const Bytes bytes : demand.bytes) most = std::max(most, bytes);
    ports_.widen(demand.pairs, share, pays(view, most, share), plan.connect);
  }

  std::uint32_t width_;
  std::vector<Time> last_use_;  // by transmit port: when its circuit was last seen in use, or asked for
  FreePorts ports_;
};

std::unique_ptr<Controller> make_lru(const ControllerSpec& spec, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<Lru>(spec);
}

}  // namespace

ControllerFactory lru_factory() {
  return {.name = "lru",
          .summary = "a cache of circuits that gives up the one used the longest time ago (Mattson et al. 1970)",
          .make = make_lru,
          .rail_symmetric = true,
          .needs =
              [](const ControllerSpec&) {
                return PolicyNeeds{.view = {ViewPart::kBytes}, .while_switching = WhileSwitching::kWait};
              },
          .parameters = {ControllerParameter::count("width", 0, 0, 1024, kWidthSummary)},
          .work_conserving = true};
}

}  // namespace photonrail::control
