// Steps of an engine that nothing from outside interrupts, taken together: a caller with a clock has one event for each
// change of the batch, and none for each token.
#pragma once

#include "photonrail/core/random.hpp"
#include "photonrail/units.hpp"
#include "serving/engine/scheduler.hpp"
#include "serving/engine/step_time.hpp"

#include <cstdint>
#include <vector>

namespace photonrail::serving {

/// Several steps of one engine.
struct BatchRun {
  Duration time{};
  std::uint64_t steps = 0;      ///< 0: nothing can run
  std::uint64_t sequences = 0;  ///< requests of a step, summed over the steps
  std::uint64_t tokens = 0;     ///< that went through the model
  std::vector<Slot> finished;   ///< their last token is computed; their blocks are held until Scheduler::release()
};

/// What an engine did from its beginning.
struct BatchTotals {
  std::uint64_t prompt_tokens = 0;  ///< of requests when they were admitted for the first time
  std::uint64_t cached_tokens = 0;  ///< ... that were found
  std::uint64_t preemptions = 0;
  std::uint64_t recomputed_tokens = 0;  ///< of requests whose KV had been lost
};

/// Where a run ends at the latest, each at the end of a step.
struct RunLimit {
  Time until = Time::never();   ///< the first step that ends then or later
  std::uint64_t max_steps = 0;  ///< 0: any number
};

class ClosedBatch {
 public:
  /// `times` must outlive the object. `draws`: of speculation.
  ClosedBatch(const EngineSpec& spec, const StepTime& times, RandomStream draws);

  /// For enqueue(), reserve(), release() and the like between two runs.
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }
  /// Takes steps from `now` on until one ends in which a request finishes, or to the limit.
  const BatchRun& run(Time now, const RunLimit& limit = {});
  [[nodiscard]] const BatchTotals& totals() const { return totals_; }

 private:
  void count(const Step& step);

  const StepTime* times_;
  Scheduler scheduler_;
  BatchRun run_;
  BatchTotals totals_;
};

}  // namespace photonrail::serving
