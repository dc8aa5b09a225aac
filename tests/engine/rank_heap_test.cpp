#include "engine/rank_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace photonrail::engine {
namespace {

struct Entry {
  std::uint64_t first;
  std::uint64_t second;

  [[nodiscard]] Rank rank() const { return (static_cast<Rank>(first) << 64) | second; }
  static Entry of(Rank rank) { return {static_cast<std::uint64_t>(rank >> 64), static_cast<std::uint64_t>(rank)}; }
};

// Few values of the first half, so that the second decides often. Sizes with 0 to 4 children in the last node.
TEST(RankHeap, PopsInTheOrderOfASort) {
  std::mt19937_64 random(7);
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<Entry> heap;
    std::vector<Rank> expected;
    for (std::size_t i = 0; i < size; ++i) {
      const Entry entry{random() % 5, random()};
      heap_push(heap, entry);
      expected.push_back(entry.rank());
    }
    std::sort(expected.begin(), expected.end());
    for (const Rank rank : expected) {
      EXPECT_TRUE(heap.front().rank() == rank) << "of " << size;
      heap_pop(heap);
    }
    EXPECT_TRUE(heap.empty());
  }
}

TEST(RankHeap, WhatTakesThePlaceOfTheFirstComesInItsTurn) {
  std::mt19937_64 random(11);
  for (std::size_t size = 1; size < 40; ++size) {
    std::vector<Entry> heap;
    for (std::uint64_t i = 0; i < size; ++i) heap.push_back({i, 0});  // a vector that ascends is a heap
    std::vector<Rank> model;
    for (const Entry& entry : heap) model.push_back(entry.rank());
    for (int step = 0; step < 200; ++step) {
      const Entry entry{random() % (2 * size), random() % 2};
      heap_replace_first(heap, entry);
      *std::min_element(model.begin(), model.end()) = entry.rank();
      ASSERT_TRUE(heap.front().rank() == *std::min_element(model.begin(), model.end())) << "of " << size;
    }
  }
}

}  // namespace
}  // namespace photonrail::engine
