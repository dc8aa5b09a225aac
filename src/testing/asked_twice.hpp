// A scheduler that is asked everything twice: equal views have equal decisions.
#pragma once

#include "photonrail/error.hpp"
#include "photonrail/workload/scheduling.hpp"

#include <algorithm>
#include <string>

namespace photonrail::testing {

/// Asks twice, and compares. The inner one outlives it.
class AskedTwice final : public SchedulingPolicy {
 public:
  explicit AskedTwice(const SchedulingPolicy& inner) : inner_(inner) {}
  [[nodiscard]] std::string name() const override { return inner_.name(); }
  [[nodiscard]] StepDecision decide(const EngineView& view) const override {
    StepDecision first = inner_.decide(view);
    const StepDecision second = inner_.decide(view);
    const auto same = [](const auto& a, const auto& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                        [](const auto& x, const auto& y) { return x.request == y.request && x.tokens == y.tokens; });
    };
    if (first.preempt != second.preempt || !same(first.run, second.run) || !same(first.admit, second.admit))
      throw ConfigError("", "the scheduler " + name() + " decides otherwise when it is shown the same view again");
    return first;
  }

 private:
  const SchedulingPolicy& inner_;
};

}  // namespace photonrail::testing
