#include "network/indexed_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace photonrail::network {
namespace {

struct Entry {
  int key;
  std::size_t name;

  bool operator<(const Entry& b) const { return key < b.key; }
};

// The least key is in front, and every entry stands where it was told it does.
void expect_heap(const std::vector<Entry>& heap, const std::vector<std::uint32_t>& position) {
  const auto least = std::min_element(heap.begin(), heap.end());
  if (least != heap.end()) {
    EXPECT_EQ(heap.front().key, least->key);
  }
  for (std::uint32_t at = 0; at < heap.size(); ++at) EXPECT_EQ(position[heap[at].name], at);
}

TEST(IndexedHeap, KeepsTheLeastInFrontAndPositionsRightWhileEntriesComeChangeAndGo) {
  std::mt19937 random(5);
  std::vector<Entry> heap;
  std::vector<std::uint32_t> position;
  const auto placed = [&](const Entry& entry, std::uint32_t at) { position[entry.name] = at; };
  for (int step = 0; step < 3000; ++step) {
    const int key = static_cast<int>(random() % 100);  // many are equal
    const auto what = random() % 4;
    if (heap.empty() || what < 2) {
      position.push_back(0);
      heap_insert(heap, {key, position.size() - 1}, placed);
    } else if (what == 2) {
      const std::size_t at = random() % heap.size();
      heap[at].key = key;
      heap_restore(heap, at, placed);
    } else {
      heap_remove(heap, random() % heap.size(), placed);
    }
    expect_heap(heap, position);
  }
}

TEST(IndexedHeap, GivesItsEntriesInOrder) {
  std::vector<Entry> heap;
  const auto ignore = [](const Entry&, std::uint32_t) {};
  for (const int key : {7, 3, 9, 1, 8, 2, 6, 4, 5, 0}) heap_insert(heap, {key, 0}, ignore);
  for (int key = 0; key < 10; ++key) {
    ASSERT_EQ(heap.front().key, key);
    heap_remove(heap, 0, ignore);
  }
  EXPECT_TRUE(heap.empty());
}

}  // namespace
}  // namespace photonrail::network
