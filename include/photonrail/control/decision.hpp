// The answer of a controller: circuits now, steps in time, or a timetable.
#pragma once

#include "photonrail/core/circuit.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace photonrail {

/// When a step is carried out. In each case not before the circuits of the previous step can be used.
enum class When : std::uint8_t {
  kNow,
  kDrained,  ///< when the circuits that it would darken are out of use; until then no further operation may use them
  kAt        ///< at Step::at, or at once if that has passed
};

/// One reconfiguration of a decision.
struct Step {
  CircuitPlan plan{};
  When when = When::kNow;
  Time at{};             ///< kAt only
  bool preempt = false;  ///< may darken circuits in use: their bytes wait until the pair is joined again
};

/// Matchings in cyclic order, independent of requests. At `start` + k * slot the switch begins to change to round
/// k modulo rounds.size(); bytes on the circuits that it darkens wait until those circuits return. REQUIRES: slot >=
/// ReconfigurationTerms::shortest_slot().
struct Timetable {
  std::vector<CircuitPlan> rounds{};
  Duration slot{};
  Time start{};
};

/// The answer of a controller. Without steps and timetable circuits stay as they are, and earlier steps continue.
struct Decision {
  std::vector<Step> steps{};  ///< in order; they replace the steps of earlier decisions that have not been carried out
  std::optional<Timetable> timetable{};
  /// The controller is asked again at this instant even if nothing has changed by then. Each decision replaces the value of
  /// the previous one. While no operation waits on the rail and no circuit is in use, the controller is asked only after
  /// the next change.
  std::optional<Time> ask_again{};

  Decision() = default;
  Decision(std::nullopt_t) {}                                       // NOLINT(google-explicit-constructor): keep
  Decision(CircuitPlan now) { steps.push_back({std::move(now)}); }  // NOLINT(google-explicit-constructor)
  Decision(Step step) { steps.push_back(std::move(step)); }         // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool keeps() const { return steps.empty() && !timetable; }
  /// The plan of the first step. REQUIRES: there is one.
  [[nodiscard]] const CircuitPlan& plan() const { return steps.front().plan; }
};

}  // namespace photonrail
