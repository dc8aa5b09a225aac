#include "serving/engine_run.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <string>

namespace photonrail::serving {

EngineRun::EngineRun(const PoolSpec& pool, std::size_t number_in_pool, std::uint64_t seed)
    : pool_(&pool),
      number_(number_in_pool),
      scheduler_(pool.engine, pool.role == PoolRole::kPrefill,
                 RandomStream(seed, "drafts of " + pool.name + " " + std::to_string(number_in_pool))) {
  result_.pool = pool.name;
  result_.gpus = static_cast<std::uint32_t>(ranks().size());
  result_.blocks = scheduler_.blocks().total();
}

std::optional<Duration> EngineRun::begin_step(Time now) {
  PHOTONRAIL_CHECK(!busy_);
  const Step& step = scheduler_.next();
  const KvBlocks& blocks = scheduler_.blocks();
  result_.most_blocks = std::max(result_.most_blocks, blocks.total() - blocks.free());
  result_.preemptions += step.preempted.size();
  for (const Step::Admitted& admitted : step.admitted) {
    (admitted.again ? result_.recomputed_tokens : result_.prompt_tokens) += admitted.tokens;
    result_.cached_tokens += admitted.cached;
  }
  if (step.empty()) return std::nullopt;
  book(now);
  busy_ = true;
  kind_ = step.prefills == 0 ? &result_.decode : step.decodes == 0 ? &result_.prefill : &result_.mixed;
  ++result_.steps;
  batch_ += step.sequences;
  return step_duration(*pool_->times, pool_->engine, step);
}

const StepEnd& EngineRun::end_step(Time now) {
  PHOTONRAIL_CHECK(busy_);
  book(now);
  busy_ = false;
  previous_end_ = last_end_;
  last_end_ = now;
  return scheduler_.finish(now);
}

void EngineRun::book(Time now) {
  Duration& into = busy_ ? *kind_ : requests_ > 0 ? result_.waiting : result_.idle;
  into += now - since_;
  since_ = now;
}

void EngineRun::came(Time now) {
  if (!busy_) book(now);
  ++requests_;
}

void EngineRun::went(Time now) {
  PHOTONRAIL_CHECK(requests_ > 0);
  if (!busy_) book(now);
  --requests_;
}

EngineSignal EngineRun::signal() const {
  const KvBlocks& blocks = scheduler_.blocks();
  EngineSignal signal;
  signal.free_blocks = blocks.free();
  signal.held_blocks = blocks.total() - blocks.free();
  signal.requests = requests_;
  signal.places = pool_->engine.max_sequences;
  return signal;
}

ServingResult::Engine EngineRun::result(Time now) const {
  EngineRun ended = *this;
  if (busy_)
    ended.kind_ = kind_ == &result_.decode    ? &ended.result_.decode
                  : kind_ == &result_.prefill ? &ended.result_.prefill
                                              : &ended.result_.mixed;
  ended.book(now);
  if (result_.steps > 0) ended.result_.mean_batch = static_cast<double>(batch_) / static_cast<double>(result_.steps);
  return ended.result_;
}

}  // namespace photonrail::serving
