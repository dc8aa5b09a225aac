#include "studies/goodput/process/history.hpp"

#include "photonrail/error.hpp"
#include "studies/goodput/process/process.hpp"

namespace photonrail::goodput {

std::string_view name(TimeUse use) {
  constexpr std::string_view kNames[] = {"productive", "checkpoint", "lost",    "detecting",
                                         "recovering", "degraded",   "waiting", "planned"};
  return kNames[static_cast<std::size_t>(use)];
}

LongTime TimeBooks::total() const {
  LongTime sum{};
  for (const LongTime t : of) sum += t;
  return sum;
}

double History::ettr() const { return wall > LongTime{} ? books[TimeUse::kProductive].seconds() / wall.seconds() : 1.0; }

History run_history(const GoodputSpec& spec, StepTimes& steps, std::uint64_t seed, const PolicyTable& policies,
                    HistoryObserver* observer) {
  spec.validate();
  const ProcessParts parts{spec, steps, policies.recovery_named(spec.policy),
                           policies.placement_named(spec.spare_placement), observer};
  return Process(parts, seed).run();
}

}  // namespace photonrail::goodput
