#include "serving/fleet/fleet.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::serving {

Fleet::Fleet(ServingState& state, Handover& handover)
    : state_(&state),
      handover_(&handover),
      starts_(state.engines.size()),
      next_decision_(state.spec.pools.size()),
      timed_(state.spec.pools.size()),
      failed_(state.engines.size()) {}

void Fleet::begin(WorkSink& sink) {
  for (std::size_t i = 0; i < state_->spec.failures.size(); ++i) {
    const EngineFailure& failure = state_->spec.failures[i];
    sink.wake_at(failure.at, timer_token(ServingTimer::kFailure, i));
    sink.wake_at(failure.at + failure.detection, timer_token(ServingTimer::kDetection, i));
    if (failure.lasts) sink.wake_at(failure.at + *failure.lasts, timer_token(ServingTimer::kRepair, i));
  }
}

// Engines with the same ranks fail together, and so do those that step together.
std::vector<std::uint32_t> Fleet::engines_of(const EngineFailure& failure) const {
  const PoolSpec& pool = state_->spec.pools[failure.pool];
  const std::uint32_t each = std::max(pool.together, pool.slots);
  const std::uint32_t first = state_->first_of_pool[failure.pool] + failure.engine / each * each;
  std::vector<std::uint32_t> engines;
  for (std::uint32_t e = first; e < first + each; ++e) engines.push_back(e);
  return engines;
}

void Fleet::fail(std::size_t failure) {
  for (const std::uint32_t engine : engines_of(state_->spec.failures[failure])) {
    if (failed_[engine]++ > 0) continue;
    ++failures_;
    ++starts_[engine].number;  // weights that are on their way to it come to nothing
    state_->waves.drop(engine);
    EngineRun& run = state_->engines[engine];
    run.runs() ? run.stop(state_->now) : run.set_state(EngineState::kFailed, state_->now);
  }
}

std::vector<std::uint32_t> Fleet::detect(std::size_t failure, WorkSink& sink) {
  std::vector<std::uint32_t> again;
  const std::vector<std::uint32_t> engines = engines_of(state_->spec.failures[failure]);
  const auto has = [&](std::uint32_t engine) { return std::find(engines.begin(), engines.end(), engine) != engines.end(); };
  std::vector<std::uint32_t> lost;
  for (const std::uint32_t number : state_->requests.all_placed()) {
    const LiveRequest& live = state_->requests[number];
    const bool at_prefill = !live.delivered && has(live.times.prefill_engine);
    if (at_prefill || (live.routed && has(live.times.decode_engine))) lost.push_back(number);
  }
  for (const std::uint32_t number : lost) keep_progress(number, has(state_->requests[number].times.prefill_engine));
  for (const std::uint32_t engine : engines) state_->engines[engine].set_state(EngineState::kFailed, state_->now);
  for (const std::uint32_t number : lost) {
    handover_->withdraw(number, sink);
    const bool keeps_kv = !state_->requests[number].delivered && !has(state_->requests[number].times.prefill_engine);
    if (!keeps_kv) again.push_back(number);
  }
  for (const std::uint32_t engine : engines) state_->lending.lost(engine);
  for (const std::uint32_t engine : engines) state_->engines[engine].forget(state_->now);
  for (const std::uint32_t number : lost) {
    if (std::find(again.begin(), again.end(), number) == again.end()) handover_->route_again(number);
  }
  return again;
}

// Asks what a request has got, before its engine forgets it.
void Fleet::keep_progress(std::uint32_t number, bool prefill_failed) {
  LiveRequest& live = state_->requests[number];
  if (state_->apart && !live.delivered) {
    if (prefill_failed && live.computed && state_->spec.transfer.first_token_at_prefill) ++live.generated;
    return;
  }
  const Scheduler& scheduler = (state_->apart ? state_->decode_of(number) : state_->prefill_of(number)).scheduler();
  const Scheduler::Progress got = scheduler.progress(state_->apart ? live.decode_slot : live.prefill_slot);
  live.generated = got.generated;
  if (got.last_token != Time::never()) live.last_token = got.last_token;
  live.times.longest_gap = std::max(live.times.longest_gap, got.longest_gap);
}

void Fleet::repair(std::size_t failure) {
  for (const std::uint32_t engine : engines_of(state_->spec.failures[failure])) {
    PHOTONRAIL_CHECK(failed_[engine] > 0);
    if (--failed_[engine] > 0) continue;
    if (state_->engines[engine].pool().scaling) {
      state_->engines[engine].set_state(EngineState::kOff, state_->now);  // its weights are gone
    } else {
      up(engine);
    }
  }
}

void Fleet::up(std::uint32_t engine) {
  state_->engines[engine].set_state(EngineState::kUp, state_->now);
  state_->touch(engine);
  if (state_->engines[engine].pool().role == PoolRole::kDecode) handover_->route_stranded();
}

void Fleet::scale(WorkSink& sink) {
  for (std::uint32_t pool = 0; pool < state_->spec.pools.size(); ++pool) {
    if (state_->spec.pools[pool].scaling) scale(pool, sink);
  }
}

void Fleet::scale(std::uint32_t number, WorkSink& sink) {
  const PoolSpec& pool = state_->spec.pools[number];
  const std::uint32_t first = state_->first_of_pool[number];
  const auto end = first + static_cast<std::uint32_t>(pool.engines.size());
  std::uint32_t up = 0;
  std::uint32_t loading = 0;
  std::uint64_t requests = 0;
  std::uint32_t last_up = first;
  std::uint32_t first_off = end;
  for (std::uint32_t e = first; e < end; ++e) {
    const EngineRun& engine = state_->engines[e];
    if (engine.takes_requests()) {
      ++up;
      requests += engine.requests();
      last_up = e;
    }
    loading += engine.state() == EngineState::kLoading ? 1 : 0;
    if (engine.state() == EngineState::kOff && first_off == end) first_off = e;
  }
  const double load = up == 0 ? 1e18 : static_cast<double>(requests) / up;
  const bool grow = (load > pool.scaling->up || up + loading < pool.scaling->least) && first_off < end;
  const bool shrink = load < pool.scaling->down && up > pool.scaling->least && loading == 0;
  if (!grow && !shrink) return;
  if (loading > 0 && up + loading >= pool.scaling->least) return;  // one after another: the load is not shared yet
  if (state_->now < next_decision_[number]) {
    if (!timed_[number]) sink.wake_at(next_decision_[number], timer_token(ServingTimer::kLoad, number));
    timed_[number] = true;
    return;
  }
  timed_[number] = false;
  next_decision_[number] = state_->now + pool.scaling->cool_down;
  if (grow) return start(number, first_off, sink);
  state_->engines[last_up].set_state(EngineState::kDraining, state_->now);
  stop_if_drained(last_up);
}

// Each rank gets its weights from the same rank of the first engine that has them; where none has, they are in the time
// that it takes to start.
void Fleet::start(std::uint32_t number, std::uint32_t engine, WorkSink& sink) {
  const PoolSpec& pool = state_->spec.pools[number];
  Start& start = starts_[engine];
  ++start.number;
  start.decided = state_->now;
  start.messages = 0;
  state_->engines[engine].set_state(EngineState::kLoading, state_->now);
  const std::uint32_t first = state_->first_of_pool[number];
  const std::uint64_t of = std::uint64_t{start.number} << 32 | engine;
  for (std::uint32_t e = first; e < first + pool.engines.size() && start.messages == 0; ++e) {
    if (state_->engines[e].state() != EngineState::kUp || pool.scaling->weights <= Bytes{}) continue;
    const auto from = state_->engines[e].ranks();
    const auto to = state_->engines[engine].ranks();
    for (std::size_t r = 0; r < to.size(); ++r) {
      sink.send(from[r], to[r], pool.scaling->weights,
                {static_cast<std::uint32_t>(ServingLaunch::kWeights), launch_token(LaunchOf::kWeights, of)},
                Dimension::kRefit);
      weight_bytes_ += static_cast<std::uint64_t>(pool.scaling->weights.count);
      ++start.messages;
    }
  }
  if (start.messages == 0) sink.wake_at(state_->now + pool.scaling->start, timer_token(ServingTimer::kStarted, of));
}

void Fleet::weights_done(std::uint64_t of, WorkSink& sink) {
  const auto engine = static_cast<std::uint32_t>(of & 0xffff'ffffU);
  Start& start = starts_[engine];
  if (of >> 32 != start.number || --start.messages > 0) return;
  sink.wake_at(state_->now + state_->engines[engine].pool().scaling->start, timer_token(ServingTimer::kStarted, of));
}

void Fleet::started(std::uint64_t of) {
  const auto engine = static_cast<std::uint32_t>(of & 0xffff'ffffU);
  if (of >> 32 != starts_[engine].number) return;
  start_times_.add(state_->now - starts_[engine].decided);
  up(engine);
}

void Fleet::stop_if_drained(std::uint32_t engine) {
  EngineRun& run = state_->engines[engine];
  if (run.state() != EngineState::kDraining || run.requests() > 0) return;
  run.set_state(EngineState::kOff, state_->now);
  ++stopped_;
}

void Fleet::report(ServingResult& result) const {
  result.failures = failures_;
  result.start = start_times_.summary();
  result.started = result.start.count;
  result.stopped = stopped_;
  result.weight_bytes = weight_bytes_;
}

}  // namespace photonrail::serving
