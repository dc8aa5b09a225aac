#include "engine/engine.hpp"

#include "core/counted.hpp"
#include "engine/event_queue.hpp"
#include "photonrail/error.hpp"

#include <string>

namespace photonrail::engine {

namespace {

// A key orders events of one instant, and says where their action is: phase, sequence number, slot.
constexpr int kSlotBits = 26;
constexpr int kPhaseShift = 62;
constexpr std::uint64_t kSlotMask = (std::uint64_t{1} << kSlotBits) - 1;
constexpr std::uint64_t kMaxEvents = std::uint64_t{1} << (kPhaseShift - kSlotBits);
constexpr std::uint64_t kNoSlot = kSlotMask;
constexpr std::size_t kCompactAbove = 1024;  // below this many cancelled entries a rebuild is not worth it

// Events that were taken out stay until the last is, and no longer: else memory would grow with every event that an instant
// schedules for itself.
template <class Fifo>
void drop_front(Fifo& fifo) {
  if (++fifo.head < fifo.keys.size()) return;
  fifo.keys.clear();
  fifo.head = 0;
}

[[noreturn]] void fail_without_time(std::uint64_t events, Time now) {
  throw DeadlockError({core::counted(events, "event") + " at " + std::to_string(to_seconds(now)) +
                       " s: something repeats without time passing"});
}

}  // namespace

Engine::Engine(std::uint64_t most_at_one_instant)
    : most_at_one_instant_(most_at_one_instant),
      most_run_(most_at_one_instant),
      later_(std::make_unique<EventQueue>()),
      free_head_(kNoSlot) {}
Engine::~Engine() = default;

std::uint64_t Engine::take_slot(Phase phase, const Action& action) {
  std::uint64_t slot = free_head_;
  if (slot == kNoSlot) {
    slot = slots_.size();
    PHOTONRAIL_CHECK(slot < kNoSlot);
    slots_.emplace_back();
  } else {
    free_head_ = slots_[slot].key;
  }
  PHOTONRAIL_CHECK(++sequence_ < kMaxEvents);
  const std::uint64_t key = (static_cast<std::uint64_t>(phase) << kPhaseShift) | (sequence_ << kSlotBits) | slot;
  slots_[slot] = {action, key};
  return key;
}

void Engine::free_slot(std::uint64_t key) {
  slots_[key & kSlotMask].key = free_head_;
  free_head_ = key & kSlotMask;
}

bool Engine::stale(std::uint64_t key) const { return slots_[key & kSlotMask].key != key; }

std::size_t Engine::slot_of(EventHandle handle) const {
  PHOTONRAIL_CHECK(handle && !stale(handle.key));
  return handle.key & kSlotMask;
}

EventHandle Engine::schedule(Time at, Phase phase, const Action& action) {
  PHOTONRAIL_CHECK(at >= now_);
  if (at.since_start() > kLongest) fail_too_long(static_cast<double>(at.since_start().count()));
  const std::uint64_t key = take_slot(phase, action);
  if (at == now_) {
    instant_[static_cast<std::size_t>(phase)].keys.push_back(key);
    ++in_instant_;
  } else {
    later_->push({at.since_start().count(), key});
  }
  ++pending_;
  return {key};
}

bool Engine::cancel(EventHandle handle) {
  if (!handle || (handle.key & kSlotMask) >= slots_.size() || stale(handle.key)) return false;
  free_slot(handle.key);
  --pending_;
  if (++cancelled_ > kCompactAbove && cancelled_ > later_->size() / 2) {
    later_->remove_if([this](const QueueEntry& entry) { return stale(entry.key); });
    cancelled_ = 0;
  }
  return true;
}

void Engine::drop_stale() {
  if (cancelled_ == 0) return;  // the slot of the next event need not be looked at yet
  while (!later_->empty() && stale(later_->front().key)) {
    later_->pop();
    if (cancelled_ > 0) --cancelled_;
  }
}

// The next of the events that the present instant scheduled for itself, or 0: there is none, or one of the queue comes
// first.
std::uint64_t Engine::next_of_instant() {
  for (std::size_t phase = 0; phase < instant_.size(); ++phase) {
    Fifo& fifo = instant_[phase];
    for (; !fifo.keys.empty() && stale(fifo.keys[fifo.head]); drop_front(fifo)) --in_instant_;
    if (fifo.keys.empty()) continue;
    // An entry of the queue at this instant was scheduled before the instant began, so it comes first in its phase.
    if (!later_->empty() && later_->front().time == now_.since_start().count() &&
        (later_->front().key >> kPhaseShift) <= phase)
      return 0;
    --in_instant_;
    const std::uint64_t key = fifo.keys[fifo.head];
    drop_front(fifo);
    return key;
  }
  return 0;
}

// The key of the next event, or 0; the clock goes on to it.
std::uint64_t Engine::next_key() {
  drop_stale();
  if (in_instant_ > 0) {
    if (const std::uint64_t key = next_of_instant(); key != 0) return key;
  }
  if (later_->empty()) return 0;
  const QueueEntry entry = later_->front();
  later_->pop();
  if (entry.time != now_.since_start().count()) most_run_ = events_run_ + most_at_one_instant_;
  now_ = Time{entry.time};
  // With many pending, the action of the next event is far from the cache: it comes while this one runs.
  if (const QueueEntry* next = later_->nearest()) __builtin_prefetch(&slots_[next->key & kSlotMask]);
  return entry.key;
}

bool Engine::step() {
  const std::uint64_t key = next_key();
  if (key == 0) return false;
  const Action action = slots_[key & kSlotMask].action;
  free_slot(key);
  --pending_;
  if (++events_run_ > most_run_) fail_without_time(most_at_one_instant_, now_);
  action.function(action.object, action.argument);
  return true;
}

std::uint64_t Engine::run(std::uint64_t limit) {
  std::uint64_t ran = 0;
  while (ran < limit && step()) ++ran;
  return ran;
}

}  // namespace photonrail::engine
