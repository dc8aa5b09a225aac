// Demand-oblivious rotation: every pair is joined in turn, whatever is asked (RotorNet, Mellette et al., SIGCOMM 2017;
// Opera, NSDI 2020; Sirius, SIGCOMM 2020). n positions and p ports: port q sends to the position s places further, with s
// going round 1 .. n-1, each port an equal part of the way behind the other. So all pairs are joined once in (n-1)/p slots.
// A slot is as long as the duty cycle says: switching takes 1 - duty of it. What is on a circuit when it goes dark goes on
// when it comes back, and a send waits for the circuit of its own pair only: a demand for several pairs is served in parts.
//
// "two_hop" lets a send take two circuits that are lit at the same time (Opera's indirect paths).
//
// Leaves out: storing bytes at a GPU in between until the next circuit comes (RotorLB, and Valiant's detour in Sirius);
// synchronisation of clocks; electrical packets for what cannot wait.
#include "control/builtin.hpp"
#include "control/places.hpp"
#include "control/waiting_reader.hpp"
#include "core/counted.hpp"
#include "core/field.hpp"
#include "photonrail/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace photonrail::control {

namespace {

constexpr Duration kFreeSlot{100'000'000};                      // 100 us, where circuits cost nothing
constexpr std::uint64_t kMaxCircuits = std::uint64_t{1} << 26;  // of a whole turn: 512 MiB

class Rotor : public WaitingReader {
 public:
  explicit Rotor(const ControllerSpec& spec)
      : slot_(spec.parameters.duration("slot")), duty_(spec.parameters.number("duty")) {}

  Decision decide(const FabricView& view) override {
    places_.learn(view);
    if (turning_ || places_.count() < 2) return std::nullopt;
    turning_ = true;
    Decision decision;
    decision.timetable = {rounds(view), slot(view), view.now};
    return decision;
  }

 private:
  [[nodiscard]] std::vector<CircuitPlan> rounds(const FabricView& view) const {
    const std::uint32_t n = places_.count();
    const std::uint32_t shifts = n - 1;
    const std::uint32_t ports = std::min(view.ports_per_gpu, shifts);
    std::vector<CircuitPlan> rounds(ports == shifts ? 1 : shifts);
    const std::uint64_t circuits = std::uint64_t{rounds.size()} * n * view.ports_per_gpu;
    if (circuits > kMaxCircuits) {
      throw core::FieldError(core::field("controller.name"),
                             "a rotation among " + core::counted(n, "GPU") + " of a rail takes " +
                                 core::counted(circuits, "circuit") + ", more than the " + std::to_string(kMaxCircuits) +
                                 " that are kept in memory",
                             "use fewer ranks on a rail, or another controller");
    }
    for (std::uint32_t round = 0; round < rounds.size(); ++round) {
      // Ports beyond one for each shift go through the shifts once more.
      for (std::uint32_t port = 0; port < view.ports_per_gpu; ++port) {
        const std::uint32_t behind = port % shifts * shifts / ports;
        const std::uint32_t shift = 1 + (round + behind) % shifts;
        for (std::uint32_t from = 0; from < n; ++from) {
          const ServerPair pair = places_.positions({from, (from + shift) % n});
          rounds[round].connect.push_back({view.port(pair.from, port), view.port(pair.to, port)});
        }
      }
    }
    return rounds;
  }

  [[nodiscard]] Duration slot(const FabricView& view) const {
    const Duration shortest = view.reconfiguration.shortest_slot();
    if (slot_ > Duration{0}) {
      if (slot_ < shortest) fail_too_short(view.reconfiguration);
      return slot_;
    }
    // Where delays are drawn, nearly all of them have to end well within the slot.
    const Duration dark = view.reconfiguration.total_with_queue() + view.reconfiguration.longer;
    if (dark == Duration{0}) return std::max(kFreeSlot, shortest);
    const double whole = std::ceil(static_cast<double>(dark.count()) / (1.0 - duty_));
    const Duration lit{static_cast<std::int64_t>(std::min(whole, static_cast<double>(kLongest.count())))};
    return std::max(lit, shortest + dark);
  }

  [[noreturn]] void fail_too_short(const ReconfigurationTerms& terms) const {
    const auto micros = [](Duration time) { return std::to_string(to_seconds(time) * 1e6) + " us"; };
    throw core::FieldError(
        core::field("controller.parameters.slot"),
        "circuits would never be lit: a slot takes " + micros(slot_) + ", re-pointing " + micros(terms.total()) +
            ", collecting commands " + micros(terms.batching) + ", and " + micros(terms.command_gap) +
            " go by between two commands to a switch",
        "at least " + micros(terms.shortest_slot()) + "; without the key a slot is as long as the duty cycle says");
  }

  Places places_;
  Duration slot_;
  double duty_;
  bool turning_ = false;
};

std::unique_ptr<Controller> make_rotor(const ControllerSpec& spec, RailId, std::uint32_t, std::uint32_t) {
  return std::make_unique<Rotor>(spec);
}

PolicyNeeds rotor_needs(const ControllerSpec& spec) {
  return {.service = Service::kByPair, .hops = spec.parameters.word("paths") == "two_hop" ? 2u : 1u};
}

}  // namespace

ControllerFactory rotor_factory() {
  return {
      .name = "rotor",
      .summary = "rotation through n-1 matchings, whatever is asked (RotorNet, SIGCOMM 2017)",
      .make = make_rotor,
      .rail_symmetric = true,
      .needs = rotor_needs,
      .parameters = {ControllerParameter::number("duty", 0.9, 0.01, 0.9999, "share of a slot in which circuits are lit"),
                     ControllerParameter::duration("slot", Duration{0}, "0: as the duty cycle says"),
                     ControllerParameter::word("paths", {"direct", "two_hop"}, "circuits on the way of a send")}};
}

}  // namespace photonrail::control
