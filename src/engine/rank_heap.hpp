// A heap in a vector whose entries are ordered by one number of 128 bits: least first, 4-ary.
//
// Which of four entries is the least is as good as random, so that no comparison takes a branch.
#pragma once

#include <cstddef>
#include <vector>

namespace photonrail::engine {

using Rank = unsigned __int128;

namespace detail {

inline constexpr std::size_t kHeapArity = 4;  // the four children of a node lie in one cache line or two

template <class Entry>
void rise(Entry* heap, std::size_t hole, const Entry& entry) {
  const Rank rank = entry.rank();
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kHeapArity;
    if (heap[parent].rank() <= rank) break;
    heap[hole] = heap[parent];
    hole = parent;
  }
  heap[hole] = entry;
}

}  // namespace detail

/// `Entry`: a value with `Rank rank() const` and its inverse, `static Entry of(Rank)`. A vector that ascends is a heap.
template <class Entry>
void heap_push(std::vector<Entry>& heap, const Entry& entry) {
  heap.push_back(entry);
  detail::rise(heap.data(), heap.size() - 1, entry);
}

/// Puts the entry in the place of the first. The hole sinks from the root to a leaf, and the entry rises from there: that
/// is where the last entry of a heap came from, and most new ones belong. REQUIRES: not empty.
template <class Entry>
void heap_replace_first(std::vector<Entry>& heap, const Entry& entry) {
  constexpr std::size_t kArity = detail::kHeapArity;
  const std::size_t size = heap.size();
  Entry* const at = heap.data();
  std::size_t hole = 0;
  std::size_t first = 1;
  for (; first + kArity <= size; first = hole * kArity + 1) {
    // The choice is at hand as a value: loading it again by its index would wait for the comparison.
    const Rank a = at[first].rank();
    const Rank b = at[first + 1].rank();
    const Rank c = at[first + 2].rank();
    const Rank d = at[first + 3].rank();
    const Rank left = b < a ? b : a;
    const Rank right = d < c ? d : c;
    const std::size_t left_at = first + (b < a ? 1 : 0);
    const std::size_t right_at = first + (d < c ? 3 : 2);
    at[hole] = Entry::of(right < left ? right : left);
    hole = right < left ? right_at : left_at;
  }
  if (first < size) {
    std::size_t least = first;
    for (std::size_t child = first + 1; child < size; ++child) {
      if (at[child].rank() < at[least].rank()) least = child;
    }
    at[hole] = at[least];
    hole = least;
  }
  detail::rise(at, hole, entry);
}

/// REQUIRES: not empty.
template <class Entry>
void heap_pop(std::vector<Entry>& heap) {
  const Entry last = heap.back();
  heap.pop_back();
  if (!heap.empty()) heap_replace_first(heap, last);
}

}  // namespace photonrail::engine
