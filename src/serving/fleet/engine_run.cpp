#include "serving/fleet/engine_run.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <string>

namespace photonrail::serving {

EngineRun::EngineRun(const ServingSpec& spec, std::uint32_t pool, std::size_t number_in_pool)
    : spec_(&spec), pool_number_(pool), number_(number_in_pool), scheduler_(fresh_scheduler()) {
  result_.pool = spec.pools[pool].name;
  result_.gpus = static_cast<std::uint32_t>(ranks().size() / spec.pools[pool].slots);
  result_.blocks.total = scheduler_.blocks().total();
}

Scheduler EngineRun::fresh_scheduler() const {
  std::string name = "drafts of " + pool().name + " " + std::to_string(number_);
  if (lives_ > 0) name += " after " + std::to_string(lives_);
  Scheduler scheduler(pool().engine, pool().role == PoolRole::kPrefill, RandomStream(spec_->seed, name));
  if (pool().offload) scheduler.set_swap_room(pool().offload->donor_pool ? 0 : pool().offload->blocks);
  return scheduler;
}

void EngineRun::set_state(EngineState state, Time now) {
  book(now);
  state_ = state;
}

void EngineRun::stop(Time now) {
  book(now);
  busy_ = false;
  state_ = EngineState::kStopped;
}

void EngineRun::forget(Time now) {
  book(now);
  ++lives_;
  busy_ = false;
  requests_ = 0;
  scheduler_ = fresh_scheduler();
  previous_end_ = last_end_ = Time::never();
  kv = {};
}

std::optional<Duration> EngineRun::begin_step(Time now) {
  PHOTONRAIL_CHECK(!busy_);
  const Step& step = scheduler_.next();
  const KvBlocks& blocks = scheduler_.blocks();
  result_.blocks.most = std::max(result_.blocks.most, blocks.total() - blocks.free());
  result_.preemptions += step.preempted.size();
  for (const Step::Admitted& admitted : step.admitted) {
    (admitted.again ? result_.recomputed_tokens : result_.prompt_tokens) += admitted.tokens;
    result_.cached_tokens += admitted.cached;
  }
  if (step.empty()) return std::nullopt;
  book(now);
  busy_ = true;
  kind_ = step.prefills == 0  ? &ServingResult::Engine::decode
          : step.decodes == 0 ? &ServingResult::Engine::prefill
                              : &ServingResult::Engine::mixed;
  ++result_.steps;
  batch_ += step.sequences;
  return step_duration(*pool().times, pool().engine, step);
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
  Duration ServingResult::Engine::*into = &ServingResult::Engine::off;
  if (runs()) into = busy_ ? kind_ : requests_ > 0 ? &ServingResult::Engine::waiting : &ServingResult::Engine::idle;
  result_.*into += now - since_;
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
  signal.places = pool().engine.max_sequences;
  return signal;
}

ServingResult::Engine EngineRun::result(Time now) const {
  EngineRun ended = *this;
  ended.book(now);
  if (result_.steps > 0) ended.result_.mean_batch = static_cast<double>(batch_) / static_cast<double>(result_.steps);
  return ended.result_;
}

}  // namespace photonrail::serving
