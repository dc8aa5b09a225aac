// A point of a sweep whose scenario has a section "reliability": its months, beside its step.
#pragma once

#include "photonrail/study/goodput.hpp"
#include "studies/goodput/known_steps.hpp"
#include "studies/sweep/record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace photonrail::sweep {

/// What a point reads: a scenario, with its months where the section is there.
struct PointScenario {
  std::optional<Scenario> plain{};                   ///< without the section
  std::optional<goodput::GoodputScenario> months{};  ///< with it

  /// Null: the step is given, and nothing is simulated.
  [[nodiscard]] const Scenario* job() const {
    if (plain) return &*plain;
    return months && months->job ? &*months->job : nullptr;
  }
  [[nodiscard]] std::vector<std::string> warnings() const { return plain ? plain->warnings() : months->warnings(); }
};

/// Runs the histories of the scenario in this thread and adds their numbers to the record, each with the prefix "goodput.".
/// `healthy`: the step of the job, where it was simulated. `progress` is called now and then, and may throw. Throws as
/// run_goodput().
void add_goodput(const goodput::GoodputScenario& scenario, std::optional<Duration> healthy, const Registries& known,
                 goodput::KnownSteps& known_steps, const std::function<void()>& progress, Record& record);

}  // namespace photonrail::sweep
