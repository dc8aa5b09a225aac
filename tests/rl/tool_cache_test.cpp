#include "rl/tool_cache.hpp"

#include <gtest/gtest.h>

namespace photonrail::rl {
namespace {

constexpr Duration tool_ms(std::int64_t n) { return Duration{n * 1'000'000'000}; }
constexpr Time at_ms(std::int64_t n) { return Time{} + tool_ms(n); }

/// All rollouts of a task make the same calls, of 1 s each.
ToolSpec one_call(CacheKind cache = CacheKind::kPrefixTree) {
  ToolSpec spec;
  spec.call = DelayDistribution::constant(tool_ms(1000));
  spec.cache = cache;
  return spec;
}

// A look-up takes 10 ms of the server and 4 ms of the network. Three hits at once on one server are answered 10 ms apart;
// of two servers each has one of the two tasks.
TEST(ToolCache, LookUpsQueueAtTheirServer) {
  for (const std::uint32_t servers : {1u, 2u}) {
    ToolSpec spec = one_call();
    spec.look_up = tool_ms(10);
    spec.network = tool_ms(4);
    spec.servers = servers;
    ToolCache cache(spec, 1);
    EXPECT_EQ(cache.call(0, 0, at_ms(0)).at, at_ms(1014));
    EXPECT_EQ(cache.call(1, 1, at_ms(0)).at, at_ms(servers == 1 ? 1024 : 1014));
    EXPECT_EQ(cache.call(2, 0, at_ms(5000)).at, at_ms(5014));
    EXPECT_EQ(cache.call(3, 0, at_ms(5000)).at, at_ms(5024));
    EXPECT_EQ(cache.call(4, 1, at_ms(5000)).at, at_ms(servers == 1 ? 5034 : 5014));
    EXPECT_EQ(cache.hits(), 3u);
  }
}

// The second rollout asks half a second later what the first has running: it waits for that, which is a hit, or runs it
// again.
TEST(ToolCache, CallsInFlightAreWaitedForOrRunTwice) {
  ToolSpec spec = one_call();
  ToolCache waits(spec, 1);
  waits.call(0, 0, at_ms(0));
  const ToolAnswer waited = waits.call(1, 0, at_ms(500));
  EXPECT_EQ(waited.at, at_ms(1000));
  EXPECT_TRUE(waited.hit);
  spec.in_flight = InFlight::kRunTwice;
  ToolCache twice(spec, 1);
  twice.call(0, 0, at_ms(0));
  const ToolAnswer ran = twice.call(1, 0, at_ms(500));
  EXPECT_EQ(ran.at, at_ms(1500));
  EXPECT_FALSE(ran.hit);
  EXPECT_TRUE(twice.call(2, 0, at_ms(1000)).hit);  // the first has ended
}

// Two sandboxes for four calls at once: 1, 1, 2 and 2 s. A hit needs none.
TEST(ToolCache, CallsQueueForSandboxes) {
  ToolSpec spec = one_call(CacheKind::kNone);
  spec.sandboxes = 2;
  ToolCache cache(spec, 1);
  for (std::uint64_t rollout = 0; rollout < 4; ++rollout) {
    EXPECT_EQ(cache.call(rollout, rollout, at_ms(0)).at, at_ms(rollout < 2 ? 1000 : 2000));
  }
  spec.cache = CacheKind::kPrefixTree;
  spec.sandboxes = 1;
  ToolCache trees(spec, 1);
  EXPECT_EQ(trees.call(0, 0, at_ms(0)).at, at_ms(1000));
  EXPECT_EQ(trees.call(1, 1, at_ms(1000)).at, at_ms(2000));  // holds the sandbox
  EXPECT_EQ(trees.call(2, 0, at_ms(1500)).at, at_ms(1500));
  EXPECT_EQ(trees.call(3, 2, at_ms(1500)).at, at_ms(3000));
}

// A sandbox is built in 0.5 s and copied in 0.2 s. The rollout's second call goes on in a copy of what its first one left:
// 0.2 + 1 s, or 1 s where copies are made ahead. Without a cache its own sandbox goes on.
TEST(ToolCache, ForksWhatIsKept) {
  for (const bool ahead : {false, true}) {
    ToolSpec spec = one_call();
    spec.build = tool_ms(500);
    spec.fork = tool_ms(200);
    spec.forks_ahead = ahead;
    ToolCache cache(spec, 1);
    EXPECT_EQ(cache.call(0, 0, at_ms(0)).at, at_ms(1500));
    EXPECT_EQ(cache.call(0, 0, at_ms(1500)).at, at_ms(ahead ? 2500 : 2700));
    spec.cache = CacheKind::kNone;
    ToolCache none(spec, 1);
    EXPECT_EQ(none.call(0, 0, at_ms(0)).at, at_ms(1500));
    EXPECT_EQ(none.call(0, 0, at_ms(1500)).at, at_ms(2500));
  }
}

}  // namespace
}  // namespace photonrail::rl
