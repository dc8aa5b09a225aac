// A heap in a vector whose entries know where they stand, so that any of them can move or leave: least first, 4-ary.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace photonrail::network {

/// Restores the order after the key of the entry at `at` changed. Calls `placed(entry, index)` for every entry that moved,
/// and for this one. Entries are ordered by operator<.
template <class Entry, class Placed>
void heap_restore(std::vector<Entry>& heap, std::size_t at, Placed&& placed) {
  constexpr std::size_t kArity = 4;
  const Entry entry = heap[at];
  for (; at > 0; at = (at - 1) / kArity) {
    const std::size_t parent = (at - 1) / kArity;
    if (!(entry < heap[parent])) break;
    heap[at] = heap[parent];
    placed(heap[at], static_cast<std::uint32_t>(at));
  }
  for (std::size_t first = kArity * at + 1; first < heap.size(); first = kArity * at + 1) {
    const std::size_t end = std::min(first + kArity, heap.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap[child] < heap[least]) least = child;
    }
    if (!(heap[least] < entry)) break;
    heap[at] = heap[least];
    placed(heap[at], static_cast<std::uint32_t>(at));
    at = least;
  }
  heap[at] = entry;
  placed(entry, static_cast<std::uint32_t>(at));
}

template <class Entry, class Placed>
void heap_insert(std::vector<Entry>& heap, const Entry& entry, Placed&& placed) {
  heap.push_back(entry);
  heap_restore(heap, heap.size() - 1, placed);
}

template <class Entry, class Placed>
void heap_remove(std::vector<Entry>& heap, std::size_t at, Placed&& placed) {
  heap[at] = heap.back();
  heap.pop_back();
  if (at < heap.size()) heap_restore(heap, at, placed);
}

}  // namespace photonrail::network
