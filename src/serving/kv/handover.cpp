#include "serving/kv/handover.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <utility>

namespace photonrail::serving {

// The first token is the only one, and no KV goes.
bool Handover::is_only_token(const LiveRequest& live) const {
  return first_at_prefill() && live.generated + 1 == live.offer.output;
}

void Handover::prompts_begin(EngineRun& engine, WorkSink& sink) {
  if (!state_->spec.transfer.open_at_prefill) return;
  for (const Step::Admitted& admitted : engine.scheduler().step().admitted) {
    const std::uint32_t number = LiveRequests::of_id(engine.scheduler().id(admitted.slot));
    const LiveRequest& live = state_->requests[number];
    if (live.routed || is_only_token(live) || !choose(number)) continue;
    EngineRun& to = state_->decode_of(number);
    const std::uint32_t found = to.scheduler().cached_tokens(state_->request_of(number));
    const bool layers = state_->spec.transfer.when == TransferSpec::When::kLayerByLayer;
    announced_[number] =
        transfers_.announce(transfers_.bytes(live.context() - found), layers, engine, to, token(number), sink);
  }
}

void Handover::prompts_end(EngineRun& engine) {
  if (state_->spec.transfer.when != TransferSpec::When::kLayerByLayer) return;
  for (const Running& running : engine.scheduler().running()) {
    if (running.now == 0 || running.computed + running.now < running.reached) continue;
    const std::uint32_t number = LiveRequests::of_id(engine.scheduler().id(running.slot));
    if (!is_only_token(state_->requests[number])) route(number);
  }
}

void Handover::prompt_done(std::uint32_t number, WorkSink& sink) {
  LiveRequest& live = state_->requests[number];
  live.computed = true;
  route(number);
  if (live.active) post(number, sink);
}

bool Handover::choose(std::uint32_t number) {
  LiveRequest& live = state_->requests[number];
  EngineRun& from = state_->prefill_of(number);
  const auto chosen = state_->router.choose(state_->engines, state_->decode_engines, state_->spec.routing.decode,
                                            state_->request_of(number), &from, state_->now);
  if (!chosen) return false;
  live.routed = true;
  live.times.decode_engine = *chosen;
  from.kv.last_target = *chosen;
  state_->engines[*chosen].came(state_->now);
  return true;
}

void Handover::route(std::uint32_t number) {
  LiveRequest& live = state_->requests[number];
  if (!live.routed && !choose(number)) {
    if (live.computed) stranded_.push_back(number);
    return;
  }
  if (live.inbound) return;
  live.inbound = true;
  state_->decode_of(number).kv.inbound.push_back(number);
  state_->touch(live.times.decode_engine);
}

void Handover::route_again(std::uint32_t number) {
  if (state_->requests[number].computed) route(number);
}

void Handover::route_stranded() {
  for (const std::uint32_t number : std::exchange(stranded_, {})) route(number);
}

void Handover::take_inbound(EngineRun& engine, WorkSink& sink) {
  while (!engine.kv.inbound.empty()) {
    const std::uint32_t number = engine.kv.inbound.front();
    LiveRequest& live = state_->requests[number];
    Request request = state_->request_of(number);
    const std::uint32_t first = first_at_prefill() ? 1 : 0;
    request.generated += first;
    const auto reserved = engine.scheduler().reserve(std::move(request), live.context() + first - 1, live.context());
    if (!reserved) return;
    live.decode_slot = reserved->slot;
    live.reserved = true;
    live.transfer = {lacking(number, reserved->found)};
    live.transfer.unsent = live.transfer.all;
    found_ += transfers_.bytes(live.context()) - live.transfer.all;
    if (live.times.sent == Time::never()) {
      live.times.sent = state_->now;
      live.times.wire = transfers_.alone(live.transfer.unsent, state_->prefill_of(number), engine);
    }
    engine.kv.inbound.pop_front();
    send(number, sink);
  }
}

// What was announced goes, though the engine has got more of it since.
std::uint64_t Handover::lacking(std::uint32_t number, std::uint32_t found) const {
  const std::uint64_t bytes = transfers_.bytes(state_->requests[number].context() - found);
  const auto announced = announced_.find(number);
  return announced == announced_.end() ? bytes : std::max(bytes, announced->second.all);
}

void Handover::send(std::uint32_t number, WorkSink& sink) {
  LiveRequest& live = state_->requests[number];
  if (state_->spec.transfer.order == TransferSpec::Order::kFifo) {
    auto& outbox = state_->prefill_of(number).kv.outbox;
    outbox.push_back(number);
    if (outbox.front() != number) return;
  }
  live.active = true;
  post(number, sink);
}

// All that may go by now.
void Handover::post(std::uint32_t number, WorkSink& sink) {
  LiveRequest& live = state_->requests[number];
  const std::uint64_t kept = live.computed ? 0 : live.transfer.all - transfers_.early(live.transfer.all);
  if (live.transfer.unsent <= kept) return;
  enter_announced(number, sink);
  const std::uint64_t bytes = live.transfer.unsent - kept;
  live.transfer.unsent = kept;
  transfers_.post(live.transfer, bytes, state_->prefill_of(number), state_->decode_of(number), token(number), sink);
}

std::uint64_t Handover::token(std::uint32_t number) const {
  const std::uint64_t rest = std::uint64_t{state_->requests.attempt(number)} << LiveRequests::kBits | number;
  return launch_token(LaunchOf::kMessage, rest);
}

void Handover::enter_announced(std::uint32_t number, WorkSink& sink) {
  const auto announced = announced_.find(number);
  if (announced == announced_.end()) return;
  transfers_.enter(state_->requests[number].transfer, announced->second, sink);
  announced_.erase(announced);
}

void Handover::enter_announced(WorkSink& sink) {
  while (!announced_.empty()) enter_announced(announced_.begin()->first, sink);
}

void Handover::message_done(std::uint32_t number, std::uint32_t attempt, WorkSink& sink) {
  if (attempt != state_->requests.attempt(number)) return;
  LiveRequest& live = state_->requests[number];
  PHOTONRAIL_CHECK(live.transfer.messages > 0);
  --live.transfer.messages;
  if (live.transfer.messages > 0 || live.transfer.unsent > 0) return;
  deliver(number);
  leave_outbox(number, sink);
}

void Handover::deliver(std::uint32_t number) {
  LiveRequest& live = state_->requests[number];
  live.delivered = true;
  if (live.times.delivered == Time::never()) live.times.delivered = state_->now;
  ++delivered_;
  EngineRun& from = state_->prefill_of(number);
  from.scheduler().release(live.prefill_slot);
  from.went(state_->now);
  state_->touch(live.times.prefill_engine);
  state_->decode_of(number).scheduler().deliver(live.decode_slot);
  state_->touch(live.times.decode_engine);
}

// The next one of its engine goes where it was the one that went.
void Handover::leave_outbox(std::uint32_t number, WorkSink& sink) {
  auto& outbox = state_->prefill_of(number).kv.outbox;
  const auto place = std::find(outbox.begin(), outbox.end(), number);
  if (place == outbox.end()) return;
  const bool went = place == outbox.begin();
  outbox.erase(place);
  if (!went || outbox.empty() || state_->prefill_of(number).state() == EngineState::kFailed) return;
  state_->requests[outbox.front()].active = true;
  post(outbox.front(), sink);
}

void Handover::withdraw(std::uint32_t number, WorkSink& sink) {
  LiveRequest& live = state_->requests[number];
  std::erase(stranded_, number);
  enter_announced(number, sink);  // it goes all the same, as other bytes that are on their way
  state_->requests.begin_attempt(number);
  if (!live.routed || live.delivered) return;
  EngineRun& to = state_->decode_of(number);
  if (to.state() != EngineState::kFailed) {
    if (live.reserved) to.scheduler().release(live.decode_slot);
    if (!live.reserved) std::erase(to.kv.inbound, number);
    to.went(state_->now);
    state_->touch(live.times.decode_engine);
  }
  leave_outbox(number, sink);
  live.routed = live.inbound = live.reserved = live.active = false;
  live.transfer = {};
}

}  // namespace photonrail::serving
