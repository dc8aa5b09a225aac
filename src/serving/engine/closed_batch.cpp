#include "serving/engine/closed_batch.hpp"

namespace photonrail::serving {

ClosedBatch::ClosedBatch(const EngineSpec& spec, const StepTime& times, RandomStream draws)
    : times_(&times), scheduler_(spec, true, draws) {}

const BatchRun& ClosedBatch::run(Time now, const RunLimit& limit) {
  run_.time = {};
  run_.steps = run_.sequences = run_.tokens = 0;
  run_.finished.clear();
  while (run_.finished.empty() && (limit.max_steps == 0 || run_.steps < limit.max_steps)) {
    const Step& step = scheduler_.next();
    count(step);
    if (step.empty()) break;
    ++run_.steps;
    run_.sequences += step.sequences;
    run_.tokens += static_cast<std::uint64_t>(step.tokens());
    run_.time += step_duration(*times_, scheduler_.spec(), step);
    for (const StepEnd::Finished& finished : scheduler_.finish(now + run_.time).finished) {
      run_.finished.push_back(finished.slot);
    }
    if (now + run_.time >= limit.until) break;
  }
  return run_;
}

void ClosedBatch::count(const Step& step) {
  totals_.preemptions += step.preempted.size();
  for (const Step::Admitted& admitted : step.admitted) {
    if (admitted.again) {
      totals_.recomputed_tokens += admitted.tokens;
    } else {
      totals_.prompt_tokens += admitted.cached + admitted.tokens;
      totals_.cached_tokens += admitted.cached;
    }
  }
}

}  // namespace photonrail::serving
