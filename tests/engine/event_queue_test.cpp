#include "engine/event_queue.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {
namespace {

// How far ahead the next event is: what a queue of buckets might stumble over.
struct Ahead {
  const char* name;
  std::int64_t (*draw)(std::mt19937_64& random);

  friend std::ostream& operator<<(std::ostream& out, const Ahead& a) { return out << a.name; }
};

class EventQueueAgainstASet : public ::testing::TestWithParam<Ahead> {};

TEST_P(EventQueueAgainstASet, HoldsTheOrderWhileItGrowsAndShrinks) {
  std::mt19937_64 random(1);
  engine::EventQueue queue;
  std::set<std::pair<std::int64_t, std::uint64_t>> model;
  std::int64_t now = 0;
  std::uint64_t key = 0;
  const auto push = [&] {
    const std::int64_t time = now + GetParam().draw(random);
    queue.push({time, ++key});
    model.emplace(time, key);
  };
  // Up to 60,000 pending, several times over the size at which the heap gives way to buckets, and down to nothing.
  for (const std::size_t level : {100, 20000, 9000, 60000, 5, 30000, 0}) {
    while (model.size() != level) {
      const bool grow = model.size() < level;
      if (model.empty() || random() % 8 < (grow ? 6u : 2u)) {
        push();
      } else {
        ASSERT_EQ(queue.front().time, model.begin()->first);
        ASSERT_EQ(queue.front().key, model.begin()->second);
        now = model.begin()->first;
        queue.pop();
        model.erase(model.begin());
      }
      ASSERT_EQ(queue.size(), model.size());
    }
    if (level == 30000) {
      queue.remove_if([](const engine::QueueEntry& e) { return e.key % 3 == 0; });
      std::erase_if(model, [](const auto& e) { return e.second % 3 == 0; });
    }
  }
  EXPECT_TRUE(queue.empty());
}

// Each push into a heap that time cannot part must not look at the whole heap again: that would be 10^11 steps here.
TEST(EventQueue, ManyEntriesOfOneInstantCostNoMoreThanAHeap) {
  engine::EventQueue queue;
  constexpr std::uint64_t kMany = 400000;
  for (std::uint64_t key = 1; key <= kMany; ++key) queue.push({1000, key});
  for (std::uint64_t key = 1; key <= kMany; ++key) {
    ASSERT_EQ(queue.front().key, key);
    queue.pop();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Distributions, EventQueueAgainstASet,
    ::testing::
        ValuesIn(std::vector<
                 Ahead>{Ahead{"uniform", [](std::mt19937_64& r) { return static_cast<std::int64_t>(r() % 1000000 + 1); }},
                        Ahead{"few_instants", [](std::mt19937_64& r) { return static_cast<std::int64_t>(r() % 3 + 1); }},
                        Ahead{"one_instant_each", [](std::mt19937_64&) { return std::int64_t{1000}; }},
                        Ahead{
                            "near_and_very_far",
                            [](std::mt19937_64& r) {
                              return r() % 10 == 0 ? static_cast<std::int64_t>(r() % 1000000000000000ULL) + 1
                                                   : static_cast<std::int64_t>(r() % 50) + 1;
                            }},
                        Ahead{"log_uniform",
                              [](std::mt19937_64&
                                     r) { return (std::int64_t{1} << (r() % 50)) + static_cast<std::int64_t>(r() % 7); }},
                        Ahead{"bursts",
                              [](std::mt19937_64&
                                     r) { return static_cast<std::int64_t>((r() % 20 + 1) * 1000000000ULL + r() % 3); }}}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace photonrail
