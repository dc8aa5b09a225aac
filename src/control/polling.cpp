// The destinations of a GPU in turn: its circuit stays while messages wait for it, and then goes to the next destination,
// in the order of ranks, for which some do (exhaustive cyclic polling; Takagi, "Analysis of polling systems", 1986).
// Reconfigurations are shared by all that has gathered meanwhile, so that no delay is too long for a load below 1, where a
// policy that serves messages as they come has a limit.
//
// "linger": how long a circuit that has become idle stays although others wait. The next message of a pair may ask only
// when the one before it has ended, an instant late: at the least it is a picosecond.
//
// "provisioned": what is announced comes behind what waits, and its circuit is lit before its first message.
//
// Turns differ between rails, so that two operations may each hold the circuits of one rail and wait for those of another.
// When the job has stopped for that, requests are served in the order of the view, which is then the same on all rails.
//
// Leaves out: destinations for which nothing waits are passed over, and with nothing at all to send the circuit stays,
// where the textbook's server goes round.
#include "control/builtin.hpp"
#include "control/free_ports.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace photonrail::control {

namespace {

class Polling : public Controller {
 public:
  explicit Polling(Duration linger) : linger_(std::max(linger, Duration{1})) {}

  Decision decide(const FabricView& view) override {
    number_places(view);
    see_ports(view);
    Decision decision;
    std::vector<std::pair<std::size_t, const CircuitRequest*>> order;
    for (const CircuitRequest& demand : view.requests) {
      const std::size_t steps = view.one_order ? 0 : steps_to(view, demand);
      const Time from = steps > 0 ? lingers_until(demand) : Time{};
      if (from <= view.now) {
        order.emplace_back(steps, &demand);
      } else {
        decision.ask_again = std::min(decision.ask_again.value_or(from), from);
      }
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::pair(!a.second->blocking, a.first) < std::pair(!b.second->blocking, b.first);
    });
    ports_.begin(view);
    CircuitPlan plan;
    for (const auto& [steps, demand] : order) {
      if (!serve(demand->pairs, plan)) continue;
      for (const ServerPair pair : demand->pairs) turn_[pair.from] = pair.to;
    }
    if (!plan.connect.empty()) decision.steps.push_back({std::move(plan)});
    return decision;
  }

 private:
  void see_ports(const FabricView& view) {
    used_.resize(view.transmit.size());
    for (std::size_t port = 0; port < view.transmit.size(); ++port) {
      const bool uses = view.transmit[port].in_use;
      if (used_[port] && !uses) idle_since_[view.position(PortId{port})] = view.now;
      used_[port] = uses;
    }
  }

  [[nodiscard]] Time lingers_until(const CircuitRequest& demand) const {
    Time until{};
    for (const ServerPair pair : demand.pairs) {
      if (idle_since_[pair.from] != Time::never()) until = std::max(until, idle_since_[pair.from] + linger_);
    }
    return until;
  }

  // A message that finds its receiver busy leaves the sender's port to the next one.
  bool serve(std::span<const ServerPair> pairs, CircuitPlan& plan) {
    if (pairs.size() > 1) return ports_.serve_all(pairs, 1, plan.connect);
    return ports_.keep(pairs.front(), 1) > 0 || ports_.join(pairs.front(), plan.connect);
  }

  void number_places(const FabricView& view) {
    if (!turn_.empty()) return;
    turn_.resize(view.positions);
    place_.resize(view.positions);
    idle_since_.resize(view.positions, Time::never());
    for (ServerIndex p = 0; p < view.positions; ++p) turn_[p] = p;
    if (view.own.empty()) place_ = turn_;
    for (std::size_t i = 0; i < view.own.size(); ++i) place_[view.own[i]] = static_cast<ServerIndex>(i);
  }

  // How often the senders' turns pass on before all pairs have had theirs.
  [[nodiscard]] std::size_t steps_to(const FabricView& view, const CircuitRequest& demand) const {
    const std::size_t places = view.own.empty() ? view.positions : view.own.size();
    std::size_t most = 0;
    for (const ServerPair pair : demand.pairs) {
      if (view.circuits(pair) > 0) continue;
      most = std::max(most, (place_[fibre_of(pair.to)] + places - place_[fibre_of(turn_[pair.from])]) % places);
    }
    return most;
  }

  Duration linger_;
  std::vector<bool> used_;          // by transmit port: it was in use when last seen
  std::vector<Time> idle_since_;    // by position: when one of its circuits last became idle
  std::vector<ServerIndex> turn_;   // by position: where its last circuit went
  std::vector<ServerIndex> place_;  // by position: in the order of ranks
  FreePorts ports_;
};

}  // namespace

ControllerFactory polling_factory() {
  return {.name = "polling",
          .summary = "each GPU's destinations in turn, each until nothing waits for it (exhaustive cyclic polling)",
          .make = [](const ControllerSpec& spec, RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<Controller> {
            return std::make_unique<Polling>(spec.parameters.duration("linger"));
          },
          .rail_symmetric = true,
          .needs =
              [](const ControllerSpec& spec) {
                PolicyNeeds needs{.while_switching = WhileSwitching::kWait};
                if (spec.parameters.flag("provisioned")) needs.ranks.announce = Announcement::kAhead;
                return needs;
              },
          .parameters = {ControllerParameter::duration("linger", {}, "how long an idle circuit stays although others wait"),
                         ControllerParameter::flag("provisioned", false,
                                                   "circuits of what is announced are set before it begins")}};
}

}  // namespace photonrail::control
