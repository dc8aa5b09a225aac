#include "photonrail/engine.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail {

namespace {

constexpr std::size_t kArity =
    4;  // four children share a cache line and a half, and the tree is half as deep as a binary one
constexpr int kPhaseShift = 62;
constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
constexpr std::size_t kCompactAbove = 1024;  // below this many cancelled entries a rebuild is not worth it

}  // namespace

std::uint32_t Engine::take_slot(const Action& action) {
  if (free_head_ == kNoSlot) {
    slots_.push_back({action, 1, kNoSlot});
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_head_;
  free_head_ = slots_[slot].next_free;
  slots_[slot].action = action;
  ++slots_[slot].generation;
  return slot;
}

void Engine::free_slot(std::uint32_t slot) {
  ++slots_[slot].generation;
  slots_[slot].next_free = free_head_;
  free_head_ = slot;
}

EventHandle Engine::schedule(Time at, Phase phase, const Action& action) {
  PHOTONRAIL_CHECK(at >= now_);
  const std::uint32_t slot = take_slot(action);
  const Entry entry{at.count(), (static_cast<std::uint64_t>(phase) << kPhaseShift) | sequence_++, slot,
                    slots_[slot].generation};
  if (at == now_) {
    instant_[static_cast<std::size_t>(phase)].entries.push_back(entry);
  } else {
    push_heap(entry);
  }
  ++pending_;
  return {slot, entry.generation};
}

bool Engine::cancel(EventHandle handle) {
  if (handle.generation == 0 || handle.slot >= slots_.size() || slots_[handle.slot].generation != handle.generation) {
    return false;
  }
  free_slot(handle.slot);
  --pending_;
  if (++cancelled_ > kCompactAbove && cancelled_ > heap_.size() / 2) compact();
  return true;
}

void Engine::push_heap(const Entry& entry) {
  std::size_t hole = heap_.size();
  heap_.push_back(entry);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!before(entry, heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = entry;
}

void Engine::sift_down(std::size_t hole, const Entry& entry) {
  const std::size_t size = heap_.size();
  for (;;) {
    const std::size_t first = hole * kArity + 1;
    if (first >= size) break;
    std::size_t least = first;
    const std::size_t last = std::min(first + kArity, size);
    for (std::size_t child = first + 1; child < last; ++child) {
      if (before(heap_[child], heap_[least])) least = child;
    }
    if (!before(heap_[least], entry)) break;
    heap_[hole] = heap_[least];
    hole = least;
  }
  heap_[hole] = entry;
}

void Engine::pop_heap() {
  const Entry last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
}

void Engine::compact() {
  std::erase_if(heap_, [this](const Entry& e) { return stale(e); });
  cancelled_ = 0;
  if (heap_.size() < 2) return;
  for (std::size_t i = (heap_.size() - 2) / kArity + 1; i-- > 0;) sift_down(i, Entry{heap_[i]});
}

void Engine::drop_stale() {
  while (!heap_.empty() && stale(heap_.front())) {
    pop_heap();
    if (cancelled_ > 0) --cancelled_;
  }
  for (Fifo& fifo : instant_) {
    while (fifo.head < fifo.entries.size() && stale(fifo.entries[fifo.head])) ++fifo.head;
    if (fifo.head == fifo.entries.size()) {
      fifo.entries.clear();
      fifo.head = 0;
    }
  }
}

bool Engine::next_entry(Entry& out) {
  drop_stale();
  for (std::size_t phase = 0; phase < instant_.size(); ++phase) {
    Fifo& fifo = instant_[phase];
    if (fifo.head == fifo.entries.size()) continue;
    // An entry of the heap at this instant was scheduled before the instant began, so it comes first in its phase.
    if (!heap_.empty() && heap_.front().time == now_.count() && (heap_.front().order >> kPhaseShift) <= phase) break;
    out = fifo.entries[fifo.head++];
    return true;
  }
  if (heap_.empty()) return false;
  out = heap_.front();
  pop_heap();
  return true;
}

bool Engine::step() {
  Entry entry;
  if (!next_entry(entry)) return false;
  now_ = Time{entry.time};
  const Action action = slots_[entry.slot].action;
  free_slot(entry.slot);
  --pending_;
  ++events_run_;
  action.function(action.object, action.argument);
  return true;
}

std::uint64_t Engine::run(std::uint64_t limit) {
  std::uint64_t ran = 0;
  while (ran < limit && step()) ++ran;
  return ran;
}

}  // namespace photonrail
