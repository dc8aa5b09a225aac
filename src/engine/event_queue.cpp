#include "engine/event_queue.hpp"

#include <algorithm>

namespace photonrail::engine {

namespace {

constexpr std::size_t kPerBucket = 256;  // entries that a bucket should have
constexpr std::size_t kSplit = 1024;     // a bucket of more is spread again before it comes into the heap
constexpr std::size_t kMaxBuckets = std::size_t{1} << 16;

// Entries of one instant cannot be told apart by time.
bool spread_is_worth(const std::vector<QueueEntry>& entries) {
  const std::int64_t time = entries.front().time;
  return std::any_of(entries.begin(), entries.end(), [time](const QueueEntry& e) { return e.time != time; });
}

}  // namespace

void EventQueue::push_far(QueueEntry entry) {
  for (std::size_t r = rungs_.size(); r-- > 0;) {
    if (entry.time >= rungs_[r].end) continue;
    rungs_[r].bucket_of(entry.time).push_back(entry);
    return;
  }
  far_.push_back(entry);
}

void EventQueue::make_heap() {
  std::sort(heap_.begin(), heap_.end(), [](const QueueEntry& a, const QueueEntry& b) { return a.rank() < b.rank(); });
}

// The heap has grown large and nothing waits in buckets: most of it does from now on.
void EventQueue::spill() {
  far_ = std::move(heap_);
  heap_.clear();
  refill();
}

// Makes the finest rung: of `entries`, which are before `end` and before everything in the other rungs.
void EventQueue::spread(const std::vector<QueueEntry>& entries, std::int64_t end) {
  const auto [least, greatest] = std::minmax_element(
      entries.begin(), entries.end(), [](const QueueEntry& a, const QueueEntry& b) { return a.time < b.time; });
  Rung rung;
  rung.start = least->time;
  rung.end = std::min(end, greatest->time + 1);
  if (!rungs_.empty()) rung.end = end;  // the rung above has given up this bucket: what comes for it comes here
  const std::int64_t span = greatest->time - least->time;
  const std::size_t wanted = std::clamp<std::size_t>(entries.size() / kPerBucket, 2, kMaxBuckets);
  rung.width = span / static_cast<std::int64_t>(wanted) + 1;
  rung.buckets.resize(static_cast<std::size_t>(span / rung.width) + 1);
  for (std::vector<QueueEntry>& bucket : rung.buckets) {
    if (spare_.empty()) break;
    bucket = std::move(spare_.back());
    spare_.pop_back();
  }
  heap_end_ = rung.start;
  for (const QueueEntry& entry : entries) rung.bucket_of(entry.time).push_back(entry);
  rungs_.push_back(std::move(rung));
}

// Brings the next bucket into the empty heap.
void EventQueue::refill() {
  while (heap_.empty()) {
    if (rungs_.empty()) {
      heap_.swap(far_);
      heap_end_ = kForever;
      if (heap_.size() <= kMaxInHeap || !spread_is_worth(heap_)) {
        make_heap();
        spill_above_ = std::max(kMaxInHeap, 2 * heap_.size());
        return;
      }
      const std::vector<QueueEntry> entries = std::move(heap_);
      heap_.clear();
      spread(entries, kForever);
    }
    Rung& rung = rungs_.back();
    while (rung.next < rung.buckets.size() && rung.buckets[rung.next].empty()) ++rung.next;
    if (rung.next == rung.buckets.size()) {
      const std::int64_t end = rung.end;
      rungs_.pop_back();
      heap_end_ = rungs_.empty() ? end : rungs_.back().frontier();
      continue;
    }
    std::vector<QueueEntry> bucket = std::move(rung.buckets[rung.next++]);
    heap_end_ = rung.frontier();
    if (bucket.size() > kSplit && spread_is_worth(bucket)) {
      spread(bucket, heap_end_);
    } else {
      heap_.swap(bucket);
      make_heap();
    }
    bucket.clear();
    spare_.push_back(std::move(bucket));
  }
}

std::vector<QueueEntry> EventQueue::take_all() {
  fill_root();
  std::vector<QueueEntry> all = std::move(heap_);
  for (const Rung& rung : rungs_) {
    for (const std::vector<QueueEntry>& bucket : rung.buckets) all.insert(all.end(), bucket.begin(), bucket.end());
  }
  all.insert(all.end(), far_.begin(), far_.end());
  heap_.clear();
  rungs_.clear();
  far_.clear();
  heap_end_ = kForever;
  return all;
}

}  // namespace photonrail::engine
