// The grounds of a plan's answer: its best candidates run again with one number changed.
#pragma once

#include "photonrail/study/plan.hpp"

#include <optional>
#include <string>
#include <vector>

namespace photonrail::plan {

/// A number of the base that may turn out to be another.
struct PlanRobustness {
  std::string what;                  ///< "switching delay"
  std::optional<double> at_low;      ///< the least objective of the best five at 0.8 of it
  std::optional<double> at_high;     ///< the same at 1.2
  std::optional<double> changes_at;  ///< the factor next to 1, between these, at which another one is the best
  std::string to;                    ///< that one
};

/// The delay up to which optical rails are as good as electrical ones: within 1 % of the step, or as cheap.
struct PlanBreakEven {
  std::string candidate;           ///< the best on optical rails
  double electrical = 0.0;         ///< the objective of the same on electrical rails
  std::optional<double> delay_ms;  ///< none: at no delay
};

/// A step from the base to the best candidate.
struct PlanRung {
  std::string change;
  std::optional<double> objective;  ///< none: it cannot be run
};

/// The grounds of the answer to one objective: what its best candidates give when one number is changed.
struct PlanExplanation {
  std::vector<PlanRung> ladder;
  std::vector<PlanRobustness> robustness;  ///< of numbers that matter
  std::optional<PlanBreakEven> break_even{};
  bool is_whole = true;  ///< false: the time was over before
};

/// Runs the best candidates again with one number changed. Uses limit_s, stop and progress of the options.
[[nodiscard]] PlanExplanation explain_plan(const Plan& plan, const PlanResult& result, const PlanOptions& options = {},
                                           const Registries& known = {});

}  // namespace photonrail::plan
