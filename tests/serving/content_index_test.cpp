#include "serving/engine/content_index.hpp"

#include "photonrail/core/random.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

namespace photonrail::test {
namespace {

using serving::ContentIndex;

// Keys that follow each other, and keys that fall on each other, against a map after every step.
TEST(ServingContentIndex, AnswersAsAMapDoes) {
  RandomStream draws(1, "keys");
  for (const std::uint64_t factor : {std::uint64_t{1}, std::uint64_t{1} << 58}) {
    ContentIndex index;
    std::map<std::uint64_t, std::uint32_t> map;
    for (int step = 0; step < 20'000; ++step) {
      const std::uint64_t key = draws.below(300) * factor;
      if (draws.below(2) == 0) {
        const auto block = static_cast<std::uint32_t>(1 + draws.below(1'000));
        index.set(key, block);
        map[key] = block;
      } else {
        index.erase(key);
        map.erase(key);
      }
      const auto known = map.find(key);
      ASSERT_EQ(index.find(key), known == map.end() ? ContentIndex::kNone : known->second);
    }
    for (const auto& [key, block] : map) EXPECT_EQ(index.find(key), block);
    index.clear();
    EXPECT_EQ(index.find(map.begin()->first), ContentIndex::kNone);
  }
}

}  // namespace
}  // namespace photonrail::test
