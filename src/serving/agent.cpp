#include "serving/agent.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace photonrail::serving {

namespace {

// Keys of prompts are of blocks of which each engine's are multiples.
std::uint32_t tokens_of_keys(const ServingSpec& spec) {
  std::uint32_t tokens = 0;
  for (const PoolSpec& pool : spec.pools) tokens = std::gcd(tokens, pool.engine.block_tokens);
  return tokens;
}

ServingSpec with_common_keys(ServingSpec spec) {
  const std::uint32_t tokens = tokens_of_keys(spec);
  for (PoolSpec& pool : spec.pools) pool.engine.keys_per_block = pool.engine.block_tokens / tokens;
  return spec;
}

}  // namespace

ServingAgent::ServingAgent(const ServingSpec& spec)
    : spec_(with_common_keys(spec)),
      source_(spec_.requests, spec_.seed, tokens_of_keys(spec_)),
      state_(spec_),
      handover_(state_),
      fleet_(state_, handover_) {}

void ServingAgent::on(const WorkEvent& event, WorkSink& sink) {
  state_.now = event.now;
  switch (event.kind) {
    case WorkEvent::Kind::kBegin:
      if (spec_.horizon) sink.wake_at(*spec_.horizon, timer_token(ServingTimer::kHorizon));
      fleet_.begin(sink);
      gather(sink);
      return;
    case WorkEvent::Kind::kTimer:
      timer(event.token, sink);
      break;
    case WorkEvent::Kind::kLaunchDone:
      launch_done(event.token, sink);
      break;
    case WorkEvent::Kind::kRankDone:
    case WorkEvent::Kind::kAnnounced:
      break;
  }
  // Everything that ends now is known before a step begins now.
  if (!progress_.gathering && (!state_.touched.empty() || source_.next() != progress_.next_arrival)) {
    progress_.gathering = true;
    sink.wake_at(event.now, timer_token(ServingTimer::kGather));
  }
}

void ServingAgent::timer(std::uint64_t token, WorkSink& sink) {
  const std::uint64_t of = token >> 8;
  switch (static_cast<ServingTimer>(token & 0xff)) {
    case ServingTimer::kArrival:
      progress_.next_arrival.reset();
      break;
    case ServingTimer::kGather:
      progress_.gathering = false;
      gather(sink);
      break;
    case ServingTimer::kHorizon:
      progress_.over = true;
      handover_.enter_announced(sink);
      break;
    case ServingTimer::kFailure:
      fleet_.fail(of);
      break;
    case ServingTimer::kDetection:
      for (const std::uint32_t number : fleet_.detect(of, sink)) begin_again(number);
      break;
    case ServingTimer::kRepair:
      fleet_.repair(of);
      fleet_.scale(sink);
      begin_stranded();
      break;
    case ServingTimer::kStarted:
      fleet_.started(of);
      begin_stranded();
      break;
    case ServingTimer::kHostLink:
      for (const std::uint64_t launch : state_.waves.host_link(static_cast<std::uint32_t>(of), sink)) {
        launch_done(launch_token(LaunchOf::kStep, launch), sink);
      }
      break;
    case ServingTimer::kLoad:
      fleet_.scale(sink);
      break;
  }
}

void ServingAgent::launch_done(std::uint64_t token, WorkSink& sink) {
  const std::uint64_t of = token >> 2;
  switch (static_cast<LaunchOf>(token & 3)) {
    case LaunchOf::kStep: {
      if (!state_.waves.ended(of, sink)) return;
      const Waves::Members members = state_.waves.members(state_.waves.engine_of(of));
      for (std::uint32_t e = members.first; e < members.first + members.count; ++e) {
        if (state_.engines[e].busy()) end_step(e, sink);
        state_.touch(e);
      }
      return;
    }
    case LaunchOf::kMessage:
      return handover_.message_done(LiveRequests::of_id(of), static_cast<std::uint32_t>(of >> LiveRequests::kBits), sink);
    case LaunchOf::kWeights:
      return fleet_.weights_done(of, sink);
  }
}

void ServingAgent::gather(WorkSink& sink) {
  for (auto next = source_.next(); next && *next + spec_.request_host <= state_.now; next = source_.next()) {
    arrive(source_.take());
  }
  fleet_.scale(sink);
  while (!state_.touched.empty()) {  // an engine may be touched again by what another one does
    const std::uint32_t engine = state_.touched.front();
    state_.touched.erase(state_.touched.begin());
    begin_step(engine, sink);
  }
  const auto next = source_.next();
  if (next && next != progress_.next_arrival) {
    sink.wake_at(*next + spec_.request_host, timer_token(ServingTimer::kArrival));
  }
  progress_.next_arrival = next;
}

void ServingAgent::arrive(Offer offer) {
  const std::uint32_t number = state_.requests.add(std::move(offer));
  state_.metrics.offered(state_.requests[number].offer);
  const Request request = first_request(number);
  if (!can_ever_run(state_.request_of(number), request)) return drop(number);
  begin(number);
}

void ServingAgent::begin(std::uint32_t number) {
  Request request = first_request(number);
  auto chosen =
      state_.router.choose(state_.engines, state_.first_engines, spec_.routing.arrivals, request, nullptr, state_.now);
  if (!chosen) return stranded_.push_back(number);
  const auto fits = [&](std::uint32_t engine) {
    return state_.engines[engine].takes_requests() && state_.engines[engine].scheduler().fits(request);
  };
  if (!fits(*chosen)) {  // pools may have unlike memories
    const auto other = std::find_if(state_.first_engines.begin(), state_.first_engines.end(), fits);
    if (other == state_.first_engines.end()) return stranded_.push_back(number);
    chosen = *other;
  }
  LiveRequest& live = state_.requests[number];
  EngineRun& engine = state_.engines[*chosen];
  if (live.times.restarts == 0 && sheds(live.offer, engine)) return drop(number);
  live.times.prefill_engine = *chosen;
  if (!live.has_first()) live.times.decode_engine = *chosen;
  live.placed = true;
  engine.came(state_.now);
  live.prefill_slot = engine.scheduler().enqueue(std::move(request));
  state_.touch(*chosen);
}

bool ServingAgent::sheds(const Offer& offer, const EngineRun& engine) const {
  const std::uint64_t waiting = engine.scheduler().waiting();
  const std::uint32_t most = spec_.routing.max_waiting;
  if (most > 0 && waiting >= most) return true;
  const auto& classes = spec_.requests.classes;
  const std::uint32_t of_class = classes.empty() ? 0 : classes[offer.request_class].shed_above;
  return of_class > 0 && waiting >= of_class;
}

// Its engine failed: prompt and tokens that it has got are computed anew.
void ServingAgent::begin_again(std::uint32_t number) {
  LiveRequest& live = state_.requests[number];
  live.placed = live.routed = live.inbound = live.reserved = live.computed = live.active = live.delivered = false;
  live.transfer = {};
  ServedRequest& times = live.times;
  ++times.restarts;
  if (!live.has_first()) {  // it counts from the attempt that gives it
    times.scheduled = times.prefilled = times.sent = times.delivered = times.decoding = Time::never();
    times.wire = {};
  }
  begin(number);
}

void ServingAgent::begin_stranded() {
  for (const std::uint32_t number : std::exchange(stranded_, {})) begin(number);
}

// On its first engine: of prefill alone its prompt, and all that it has got before.
Request ServingAgent::first_request(std::uint32_t number) const {
  Request request = state_.request_of(number);
  if (!state_.apart) return request;
  request.prompt += request.generated;
  request.generated = 0;
  request.output = 1;
  return request;
}

bool ServingAgent::can_ever_run(const Request& request, const Request& first) const {
  const auto fits = [this](std::span<const std::uint32_t> engines, const Request& of) {
    return std::any_of(engines.begin(), engines.end(),
                       [&](std::uint32_t engine) { return state_.engines[engine].scheduler().fits(of); });
  };
  return fits(state_.first_engines, first) && (!state_.apart || fits(state_.decode_engines, request));
}

void ServingAgent::begin_step(std::uint32_t number, WorkSink& sink) {
  if (progress_.over) return;
  const Waves::Members members = state_.waves.members(number);
  Duration longest{};
  const Step* step = nullptr;
  for (std::uint32_t e = members.first; e < members.first + members.count; ++e) {
    EngineRun& engine = state_.engines[e];
    if (!engine.runs()) continue;
    handover_.take_inbound(engine, sink);
    fleet_.stop_if_drained(e);
    if (state_.waves.busy(e)) continue;
    if (state_.lending.safe_point(e)) state_.touch(*state_.lending.donor(e));
    const std::optional<Duration> time = engine.begin_step(state_.now);
    for (const std::uint32_t debtor : state_.lending.debtors(e)) state_.touch(debtor);
    note_step(engine);
    if (!time) continue;
    step = &engine.scheduler().step();
    longest = std::max(longest, *time);
    if (engine.pool().role != PoolRole::kPrefill) continue;
    handover_.prompts_begin(engine, sink);
    handover_.prompts_end(engine);
  }
  if (step == nullptr) return;
  const ServingLaunch kind = step->prefills == 0  ? ServingLaunch::kDecodeStep
                             : step->decodes == 0 ? ServingLaunch::kPrefillStep
                                                  : ServingLaunch::kMixedStep;
  state_.waves.begin(number, longest, kind, sink);
}

void ServingAgent::note_step(EngineRun& engine) {
  const Step& step = engine.scheduler().step();
  const bool decodes = engine.pool().role == PoolRole::kDecode;
  for (const Step::Admitted& admitted : step.admitted) {
    ServedRequest& times = state_.requests[LiveRequests::of_id(engine.scheduler().id(admitted.slot))].times;
    times.cached += admitted.cached;
    Time& begins = decodes ? times.decoding : times.scheduled;
    if (begins == Time::never()) begins = state_.now;
  }
  for (const Slot slot : step.preempted)
    ++state_.requests[LiveRequests::of_id(engine.scheduler().id(slot))].times.preemptions;
}

void ServingAgent::end_step(std::uint32_t number, WorkSink& sink) {
  EngineRun& engine = state_.engines[number];
  const PoolRole role = engine.pool().role;
  const StepEnd& end = engine.end_step(state_.now);
  count_gaps(engine, end);
  for (const Slot slot : end.first) {
    const std::uint32_t request = LiveRequests::of_id(engine.scheduler().id(slot));
    LiveRequest& live = state_.requests[request];
    if (role == PoolRole::kPrefill) {
      prompt_done(request, sink);
    } else if (live.has_first()) {
      token_after_move(request);
    } else {
      live.times.first = state_.now;
      if (role == PoolRole::kMixed) live.times.prefilled = state_.now;
    }
  }
  if (role == PoolRole::kPrefill) return;
  for (const StepEnd::Finished& finished : end.finished) {
    engine.went(state_.now);
    complete(LiveRequests::of_id(engine.scheduler().id(finished.slot)), finished.longest_gap);
  }
}

void ServingAgent::count_gaps(const EngineRun& engine, const StepEnd& end) {
  if (source_.taken() <= spec_.warm_up || engine.pool().role == PoolRole::kPrefill) return;
  if (end.regular > 0) state_.metrics.gap(state_.now - engine.previous_end(), end.regular);
  state_.metrics.gap(Duration{}, end.joined);
  for (const Duration gap : end.gaps) state_.metrics.gap(gap, 1);
}

// The first token on this engine of a request that got some before: from prefill, or from one that failed.
void ServingAgent::token_after_move(std::uint32_t number) {
  LiveRequest& live = state_.requests[number];
  const Duration gap = state_.now - live.last_token;
  live.times.longest_gap = std::max(live.times.longest_gap, gap);
  live.last_token = state_.now;
  if (source_.taken() > spec_.warm_up) state_.metrics.gap(gap, 1);
}

void ServingAgent::prompt_done(std::uint32_t number, WorkSink& sink) {
  LiveRequest& live = state_.requests[number];
  if (live.times.prefilled == Time::never()) live.times.prefilled = state_.now;
  if (spec_.transfer.first_token_at_prefill) {
    if (live.has_first()) {
      token_after_move(number);
    } else {
      live.times.first = live.last_token = state_.now;
    }
    if (live.generated + 1 == live.offer.output) {
      EngineRun& engine = state_.prefill_of(number);
      engine.scheduler().release(live.prefill_slot);
      engine.went(state_.now);
      return complete(number, {});
    }
  }
  handover_.prompt_done(number, sink);
}

void ServingAgent::complete(std::uint32_t number, Duration longest_gap) {
  LiveRequest& live = state_.requests[number];
  live.times.last = state_.now;
  live.times.longest_gap = std::max(live.times.longest_gap, longest_gap);
  state_.metrics.finished(live.times);
  source_.ended(live.offer, state_.now);
  state_.requests.remove(number);
}

void ServingAgent::drop(std::uint32_t number) {
  state_.metrics.refused(state_.requests[number].offer);
  source_.ended(state_.requests[number].offer, state_.now);
  state_.requests.remove(number);
}

bool ServingAgent::finished() const {
  return progress_.over || (!source_.next() && state_.metrics.ended() == source_.taken());
}

std::size_t ServingAgent::whose_kv_goes(std::uint32_t engine) const {
  const std::vector<std::uint32_t> numbers = state_.requests.all_placed();
  return static_cast<std::size_t>(std::count_if(numbers.begin(), numbers.end(), [&](std::uint32_t number) {
    const LiveRequest& live = state_.requests[number];
    return live.computed && !live.delivered && live.times.prefill_engine == engine;
  }));
}

std::vector<std::string> ServingAgent::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t e = 0; e < state_.engines.size(); ++e) {
    const EngineRun& engine = state_.engines[e];
    if (engine.requests() == 0) continue;
    const KvBlocks& blocks = engine.scheduler().blocks();
    lines.push_back("engine " + std::to_string(e) + " of pool \"" + engine.pool().name + "\" has " +
                    std::to_string(engine.requests()) + " requests, of which " + std::to_string(engine.kv.inbound.size()) +
                    " wait for blocks (" + std::to_string(blocks.free()) + " of " + std::to_string(blocks.total()) +
                    " are free) and " + std::to_string(whose_kv_goes(static_cast<std::uint32_t>(e))) +
                    " for their KV to go");
    if (const auto& policy = engine.pool().engine.policy; policy && !engine.busy() && engine.scheduler().has_work())
      lines.back() += "; its scheduler " + policy->name() + " runs none";
  }
  if (!stranded_.empty() || handover_.stranded() > 0) {
    lines.push_back(std::to_string(stranded_.size() + handover_.stranded()) +
                    " requests wait for an engine: all of the pool that would take them have failed");
  }
  return lines;
}

std::vector<std::string> ServingAgent::kinds() const {
  return {"prefill_step", "decode_step", "mixed_step", "kv_transfer", "collective", "weights", "kv_move"};
}

ServingResult ServingAgent::result() const {
  ServingResult result = state_.metrics.result(source_.taken(), state_.now.since_start());
  result.transfers = handover_.delivered();
  result.transfer_bytes = handover_.bytes_sent();
  result.found_bytes = handover_.bytes_found();
  fleet_.report(result);
  state_.waves.report(result);
  for (const EngineRun& engine : state_.engines) result.engines.push_back(engine.result(state_.now));
  return result;
}

}  // namespace photonrail::serving
