#include "serving/agent.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::serving {

namespace {

enum class Timer : std::uint64_t { kArrival, kGather, kHorizon };

// A request's number among those that live is in its id, which differs from those of all others that had the number.
constexpr std::uint32_t kLiveBits = 24;
std::uint32_t live_of(std::uint64_t id) { return static_cast<std::uint32_t>(id & ((1U << kLiveBits) - 1)); }

// Tokens of launches: what ended, and of which engine or request.
std::uint64_t step_token(std::uint32_t engine) { return std::uint64_t{engine} << 1; }
std::uint64_t message_token(std::uint32_t number) { return (std::uint64_t{number} << 1) | 1; }

}  // namespace

ServingAgent::ServingAgent(const ServingSpec& spec)
    : spec_(spec),
      apart_(spec.apart()),
      source_(spec.requests, spec.seed, spec.pools.front().engine.block_tokens),
      transfers_(spec.transfer),
      metrics_(spec.slo, spec.warm_up),
      routes_(spec.seed, "serving routes") {
  for (const PoolSpec& pool : spec_.pools) {
    for (std::size_t i = 0; i < pool.engines.size(); ++i) {
      (pool.role == PoolRole::kDecode ? decode_engines_ : first_engines_)
          .push_back(static_cast<std::uint32_t>(engines_.size()));
      engines_.emplace_back(pool, i, spec_.seed);
    }
  }
  signals_.resize(engines_.size());
}

void ServingAgent::on(const WorkEvent& event, WorkSink& sink) {
  progress_.now = event.now;
  switch (event.kind) {
    case WorkEvent::Kind::kBegin:
      if (spec_.horizon) sink.wake_at(*spec_.horizon, static_cast<std::uint64_t>(Timer::kHorizon));
      gather(sink);
      return;
    case WorkEvent::Kind::kTimer:
      timer(event.token, sink);
      break;
    case WorkEvent::Kind::kLaunchDone:
      if ((event.token & 1) != 0) {
        message_done(static_cast<std::uint32_t>(event.token >> 1), event.now, sink);
      } else {
        end_step(static_cast<std::uint32_t>(event.token >> 1), event.now, sink);
      }
      break;
    case WorkEvent::Kind::kRankDone:
      break;
  }
  // Everything that ends now is known before a step begins now.
  if (!progress_.gathering && (!touched_.empty() || source_.next() != progress_.next_arrival)) {
    progress_.gathering = true;
    sink.wake_at(event.now, static_cast<std::uint64_t>(Timer::kGather));
  }
}

void ServingAgent::timer(std::uint64_t token, WorkSink& sink) {
  switch (static_cast<Timer>(token)) {
    case Timer::kArrival:
      progress_.next_arrival.reset();
      break;
    case Timer::kGather:
      progress_.gathering = false;
      gather(sink);
      break;
    case Timer::kHorizon:
      progress_.over = true;
      break;
  }
}

void ServingAgent::gather(WorkSink& sink) {
  for (auto next = source_.next(); next && *next + spec_.request_host <= progress_.now; next = source_.next()) {
    arrive(source_.take());
  }
  while (!touched_.empty()) {  // an engine may be touched again by what another one does
    const std::uint32_t engine = touched_.front();
    touched_.erase(touched_.begin());
    begin_step(engine, sink);
  }
  const auto next = source_.next();
  if (next && next != progress_.next_arrival) {
    sink.wake_at(*next + spec_.request_host, static_cast<std::uint64_t>(Timer::kArrival));
  }
  progress_.next_arrival = next;
}

void ServingAgent::arrive(Offer offer) {
  if (unused_.empty()) {
    PHOTONRAIL_CHECK(live_.size() < (std::size_t{1} << kLiveBits));
    unused_.push_back(static_cast<std::uint32_t>(live_.size()));
    live_.emplace_back();
  }
  const std::uint32_t number = unused_.back();
  unused_.pop_back();
  Live& live = live_[number];
  live = Live{};
  live.times.number = offer.number;
  live.times.arrival = offer.at;
  live.times.prompt = offer.prompt;
  live.times.output = offer.output;
  live.offer = std::move(offer);

  Request request = request_of(live, number);
  const auto fits = [&](std::uint32_t engine) { return engines_[engine].scheduler().fits(request); };
  const bool decodes = !apart_ || std::any_of(decode_engines_.begin(), decode_engines_.end(), fits);
  if (apart_) request.output = 1;
  const std::uint32_t chosen = choose(first_engines_, spec_.routing.arrivals, request, nullptr);
  EngineRun& engine = engines_[chosen];
  const std::uint32_t most = spec_.routing.max_waiting;
  if (!decodes || !fits(chosen) || (most > 0 && engine.scheduler().waiting() >= most)) return drop(number, progress_.now);
  live.times.prefill_engine = live.times.decode_engine = chosen;
  engine.came(progress_.now);
  live.prefill_slot = engine.scheduler().enqueue(std::move(request));
  touch(chosen);
}

Request ServingAgent::request_of(const Live& live, std::uint32_t number) const {
  Request request;
  request.id = (live.offer.number << kLiveBits) | number;
  request.content = live.offer.content;
  request.prompt = live.offer.prompt;
  request.output = live.offer.output;
  request.priority = live.offer.priority;
  request.keys = live.offer.keys;
  return request;
}

std::uint32_t ServingAgent::choose(std::span<const std::uint32_t> engines, RoutePolicy policy, const Request& request,
                                   const EngineRun* from) {
  if (engines.size() == 1) return engines.front();
  const Duration age = spec_.routing.signal_age;
  const bool fresh =
      age == Duration{} || progress_.signals_at == Time::never() || progress_.now - progress_.signals_at >= age;
  if (fresh) {
    for (std::size_t e = 0; e < engines_.size(); ++e) signals_[e] = engines_[e].signal();
    progress_.signals_at = age == Duration{} ? progress_.now : Time{progress_.now.since_start() / age * age};
  }
  std::vector<EngineSignal> known;
  known.reserve(engines.size());
  RouteQuestion question{0, progress_.turns++, policy == RoutePolicy::kRandom ? routes_.next() : 0, {}};
  for (const std::uint32_t engine : engines) {
    EngineSignal signal = signals_[engine];
    signal.requests = engines_[engine].requests();
    if (policy == RoutePolicy::kPrefix) signal.cached = engines_[engine].scheduler().cached_tokens(request);
    if (from != nullptr && from->last_target == engine) question.pointed = known.size();
    known.push_back(signal);
  }
  const std::uint32_t block = engines_[engines.front()].pool().engine.block_tokens;
  question.blocks = (request.prompt + block - 1) / block;
  return engines[route(policy, known, question)];
}

void ServingAgent::touch(std::uint32_t engine) {
  if (std::find(touched_.begin(), touched_.end(), engine) == touched_.end()) touched_.push_back(engine);
}

void ServingAgent::begin_step(std::uint32_t number, WorkSink& sink) {
  EngineRun& engine = engines_[number];
  if (progress_.over) return;
  take_inbound(engine, sink);
  if (engine.busy()) return;
  const std::optional<Duration> time = engine.begin_step(progress_.now);
  note_step(engine, progress_.now);
  if (!time) return;
  const Step& step = engine.scheduler().step();
  const ServingLaunch kind = step.prefills == 0  ? ServingLaunch::kDecodeStep
                             : step.decodes == 0 ? ServingLaunch::kPrefillStep
                                                 : ServingLaunch::kMixedStep;
  sink.compute(engine.ranks(), *time, {static_cast<std::uint32_t>(kind), step_token(number)});
  if (engine.pool().role == PoolRole::kPrefill && spec_.transfer.when == TransferSpec::When::kLayerByLayer) {
    prompts_end(engine);
  }
}

void ServingAgent::note_step(EngineRun& engine, Time now) {
  const Step& step = engine.scheduler().step();
  const bool decodes = engine.pool().role == PoolRole::kDecode;
  for (const Step::Admitted& admitted : step.admitted) {
    ServedRequest& times = live_[live_of(engine.scheduler().id(admitted.slot))].times;
    times.cached += admitted.cached;
    Time& begins = decodes ? times.decoding : times.scheduled;
    if (begins == Time::never()) begins = now;
  }
  for (const Slot slot : step.preempted) ++live_[live_of(engine.scheduler().id(slot))].times.preemptions;
}

// The KV of prompts that this step ends begins to go while it is computed.
void ServingAgent::prompts_end(EngineRun& engine) {
  for (const Running& running : engine.scheduler().running()) {
    if (running.now == 0 || running.computed + running.now < running.reached) continue;
    const std::uint32_t number = live_of(engine.scheduler().id(running.slot));
    const bool ends = spec_.transfer.first_token_at_prefill && live_[number].offer.output == 1;
    if (!ends && !live_[number].routed) route_to_decode(number, progress_.now);
  }
}

void ServingAgent::end_step(std::uint32_t number, Time now, WorkSink& sink) {
  EngineRun& engine = engines_[number];
  const PoolRole role = engine.pool().role;
  const StepEnd& end = engine.end_step(now);
  count_gaps(engine, end, now);
  for (const Slot slot : end.first) {
    const std::uint32_t request = live_of(engine.scheduler().id(slot));
    ServedRequest& times = live_[request].times;
    if (role == PoolRole::kPrefill) {
      prompt_done(request, now, sink);
    } else if (times.first == Time::never()) {
      times.first = now;
      if (role == PoolRole::kMixed) times.prefilled = now;
    } else {  // the second token: prefill gave the first
      times.longest_gap = now - times.first;
      if (source_.taken() > spec_.warm_up) metrics_.gap(times.longest_gap, 1);
    }
  }
  touch(number);
  if (role == PoolRole::kPrefill) return;
  for (const StepEnd::Finished& finished : end.finished) {
    engine.went(now);
    complete(live_of(engine.scheduler().id(finished.slot)), now, finished.longest_gap);
  }
}

void ServingAgent::count_gaps(const EngineRun& engine, const StepEnd& end, Time now) {
  if (source_.taken() <= spec_.warm_up) return;
  if (end.regular > 0) metrics_.gap(now - engine.previous_end(), end.regular);
  metrics_.gap(Duration{}, end.joined);
  for (const Duration gap : end.gaps) metrics_.gap(gap, 1);
}

void ServingAgent::prompt_done(std::uint32_t number, Time now, WorkSink& sink) {
  Live& live = live_[number];
  live.computed = true;
  live.times.prefilled = now;
  if (spec_.transfer.first_token_at_prefill) {
    live.times.first = now;
    if (live.offer.output == 1) {
      EngineRun& engine = engines_[live.times.prefill_engine];
      engine.scheduler().release(live.prefill_slot);
      engine.went(now);
      return complete(number, now, {});
    }
  }
  if (!live.routed) route_to_decode(number, now);
  if (live.active) post(number, sink);
}

void ServingAgent::route_to_decode(std::uint32_t number, Time now) {
  Live& live = live_[number];
  EngineRun& from = engines_[live.times.prefill_engine];
  const std::uint32_t chosen = choose(decode_engines_, spec_.routing.decode, request_of(live, number), &from);
  live.routed = true;
  live.times.decode_engine = chosen;
  from.last_target = chosen;
  engines_[chosen].came(now);
  engines_[chosen].inbound.push_back(number);
  touch(chosen);
}

// In the order in which they came: the first that gets no blocks holds up the others.
void ServingAgent::take_inbound(EngineRun& engine, WorkSink& sink) {
  while (!engine.inbound.empty()) {
    const std::uint32_t number = engine.inbound.front();
    Live& live = live_[number];
    if (!live.reserved) {
      Request request = request_of(live, number);
      const bool first = spec_.transfer.first_token_at_prefill;
      request.generated = first ? 1 : 0;
      if (!engine.scheduler().reserve(std::move(request), live.offer.prompt - (first ? 0 : 1), live.decode_slot)) return;
      live.reserved = true;
      live.times.sent = progress_.now;
      live.transfer.unsent = transfers_.bytes(live.offer.prompt);
      live.times.wire = transfers_.alone(live.transfer.unsent, engines_[live.times.prefill_engine], engine);
    }
    engine.inbound.pop_front();
    send(number, sink);
  }
}

void ServingAgent::send(std::uint32_t number, WorkSink& sink) {
  Live& live = live_[number];
  EngineRun& from = engines_[live.times.prefill_engine];
  if (spec_.transfer.order == TransferSpec::Order::kFifo) {
    from.outbox.push_back(number);
    if (from.outbox.front() != number) return;
  }
  live.active = true;
  post(number, sink);
}

// All that may go by now.
void ServingAgent::post(std::uint32_t number, WorkSink& sink) {
  Live& live = live_[number];
  const std::uint64_t all = transfers_.bytes(live.offer.prompt);
  const std::uint64_t kept = live.computed ? 0 : all - transfers_.early(all);
  if (live.transfer.unsent > kept) {
    const std::uint64_t bytes = live.transfer.unsent - kept;
    live.transfer.unsent = kept;
    transfers_.post(live.transfer, bytes, engines_[live.times.prefill_engine], engines_[live.times.decode_engine],
                    message_token(number), sink);
  }
}

void ServingAgent::message_done(std::uint32_t number, Time now, WorkSink& sink) {
  Live& live = live_[number];
  PHOTONRAIL_CHECK(live.transfer.messages > 0);
  --live.transfer.messages;
  if (live.transfer.messages > 0 || live.transfer.unsent > 0) return;
  EngineRun& from = engines_[live.times.prefill_engine];
  delivered(number, now);
  if (spec_.transfer.order != TransferSpec::Order::kFifo) return;
  from.outbox.pop_front();
  if (from.outbox.empty()) return;
  live_[from.outbox.front()].active = true;
  post(from.outbox.front(), sink);
}

void ServingAgent::delivered(std::uint32_t number, Time now) {
  Live& live = live_[number];
  live.times.delivered = now;
  ++progress_.transfers;
  EngineRun& from = engines_[live.times.prefill_engine];
  from.scheduler().release(live.prefill_slot);
  from.went(now);
  touch(live.times.prefill_engine);
  engines_[live.times.decode_engine].scheduler().deliver(live.decode_slot);
  touch(live.times.decode_engine);
}

void ServingAgent::complete(std::uint32_t number, Time now, Duration longest_gap) {
  Live& live = live_[number];
  live.times.last = now;
  live.times.longest_gap = std::max(live.times.longest_gap, longest_gap);
  metrics_.finished(live.times);
  source_.ended(live.offer, now);
  unused_.push_back(number);
}

void ServingAgent::drop(std::uint32_t number, Time now) {
  metrics_.refused();
  source_.ended(live_[number].offer, now);
  unused_.push_back(number);
}

bool ServingAgent::finished() const { return progress_.over || (!source_.next() && metrics_.ended() == source_.taken()); }

std::vector<std::string> ServingAgent::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t e = 0; e < engines_.size(); ++e) {
    const EngineRun& engine = engines_[e];
    if (engine.requests() == 0) continue;
    const KvBlocks& blocks = engine.scheduler().blocks();
    lines.push_back("engine " + std::to_string(e) + " of pool \"" + engine.pool().name + "\" has " +
                    std::to_string(engine.requests()) + " requests, of which " + std::to_string(engine.inbound.size()) +
                    " wait for blocks (" + std::to_string(blocks.free()) + " of " + std::to_string(blocks.total()) +
                    " are free) and " + std::to_string(engine.outbox.size()) + " for their KV to go");
  }
  return lines;
}

std::vector<std::string> ServingAgent::kinds() const {
  return {"prefill_step", "decode_step", "mixed_step", "kv_transfer"};
}

ServingResult ServingAgent::result() const {
  ServingResult result = metrics_.result(source_.taken(), progress_.now.since_start());
  result.transfers = progress_.transfers;
  result.transfer_bytes = transfers_.sent();
  for (const EngineRun& engine : engines_) result.engines.push_back(engine.result(progress_.now));
  return result;
}

}  // namespace photonrail::serving
