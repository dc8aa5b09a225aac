// The pending events of an engine, least first.
//
// Near events are in a 4-ary heap that stays small enough for the cache; the others wait unsorted in buckets of time, and a
// bucket comes into the heap when its turn is there: the ladder queue of Tang, Goh and Thng (ACM TOMACS 15(3), 2005), with
// a heap in the place of its sorted bottom. A push and a pop cost O(1) buckets and a few cache lines however many events
// are pending.
#pragma once

#include "engine/rank_heap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace photonrail::engine {

/// Ordered by time, then by key: keys are unique. Times are never negative.
struct QueueEntry {
  std::int64_t time;
  std::uint64_t key;

  [[nodiscard]] Rank rank() const { return (static_cast<Rank>(static_cast<std::uint64_t>(time)) << 64) | key; }
  [[nodiscard]] static QueueEntry of(Rank rank) {
    return {static_cast<std::int64_t>(rank >> 64), static_cast<std::uint64_t>(rank)};
  }
};

class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// REQUIRES: no entry that was popped is after it.
  void push(QueueEntry entry) {
    ++size_;
    if (entry.time >= heap_end_) {
      push_far(entry);
      return;
    }
    if (root_gone_) {
      root_gone_ = false;
      heap_replace_first(heap_, entry);
      return;
    }
    heap_push(heap_, entry);
    if (heap_.size() > spill_above_ && heap_end_ == kForever) spill();
  }
  /// The least entry. REQUIRES: not empty. It may move entries from buckets into the heap.
  [[nodiscard]] const QueueEntry& front() {
    fill_root();
    if (heap_.empty()) refill();
    return heap_.front();
  }
  /// REQUIRES: not empty, and front() was called since the last change. The root of the heap is filled by the next push, or
  /// when it is looked at: most events schedule another one.
  void pop() {
    --size_;
    root_gone_ = true;
  }
  /// One of the least entries, if there is one without moving any: the very least after front().
  [[nodiscard]] const QueueEntry* nearest() const {
    const std::size_t first = root_gone_ ? 1 : 0;
    return first < heap_.size() ? &heap_[first] : nullptr;
  }

  /// Drops the entries for which `gone(entry)` holds. O(size).
  template <class Predicate>
  void remove_if(Predicate&& gone);

 private:
  // Buckets of equal width over [start, end), but for the last, which takes the rest. Those before `next` are empty for
  // good.
  struct Rung {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t width = 1;
    std::size_t next = 0;
    std::vector<std::vector<QueueEntry>> buckets;

    /// Where the buckets that have not had their turn begin.
    [[nodiscard]] std::int64_t frontier() const {
      return next == buckets.size() ? end : start + static_cast<std::int64_t>(next) * width;
    }
    [[nodiscard]] std::vector<QueueEntry>& bucket_of(std::int64_t time) {
      return buckets[std::min(static_cast<std::size_t>((time - start) / width), buckets.size() - 1)];
    }
  };

  void fill_root();
  void push_far(QueueEntry entry);
  void make_heap();
  void refill();
  void spread(const std::vector<QueueEntry>& entries, std::int64_t end);
  void spill();
  [[nodiscard]] std::vector<QueueEntry> take_all();

  static constexpr std::size_t kMaxInHeap = 8192;  // a heap of more entries (128 KiB) is spread over buckets
  static constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

  std::size_t size_ = 0;
  bool root_gone_ = false;  // the first entry of the heap was popped, and its place is free
  std::vector<QueueEntry> heap_;
  std::size_t spill_above_ = kMaxInHeap;        // more, while the heap is full of entries that time cannot part
  std::int64_t heap_end_ = kForever;            // entries before it are in the heap
  std::vector<Rung> rungs_;                     // the last is the finest and the nearest
  std::vector<QueueEntry> far_;                 // after all rungs, unsorted
  std::vector<std::vector<QueueEntry>> spare_;  // emptied buckets, for their memory
};

inline void EventQueue::fill_root() {
  if (!root_gone_) return;
  root_gone_ = false;
  heap_pop(heap_);
}

template <class Predicate>
void EventQueue::remove_if(Predicate&& gone) {
  heap_ = take_all();
  std::erase_if(heap_, gone);
  size_ = heap_.size();
  make_heap();
}

}  // namespace photonrail::engine
