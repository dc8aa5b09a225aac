// KV of preempted requests in other memory: over links of hosts, and at engines that lend (AQUA, arXiv 2407.21255).
#include "serving/served.hpp"

#include <algorithm>
#include <vector>

namespace photonrail::serving {
namespace {

// 600 MB and 300 MB at 1 GB/s, the second from 0.1 s on. 100 MB are through then; of what is left each gets half until the
// second has its 300 MB, at 0.7 s; the first has 500 - 300 = 200 MB left, and ends at 0.9 s.
TEST(ServingOffload, TransfersOfOneHostLinkShareIt) {
  SharedLink link({1e9});
  link.add(Time{}, Bytes{600'000'000}, 1);
  EXPECT_EQ(link.next_end(), Time{from_seconds(0.6)});
  link.add(Time{from_seconds(0.1)}, Bytes{300'000'000}, 2);
  EXPECT_FALSE(link.take_ended(Time{from_seconds(0.5)}));
  ASSERT_EQ(link.next_end(), Time{from_seconds(0.7)});
  EXPECT_EQ(link.take_ended(Time{from_seconds(0.7)}), 2U);
  EXPECT_EQ(link.next_end(), Time{from_seconds(0.9)});
  EXPECT_EQ(link.take_ended(Time{from_seconds(0.9)}), 1U);
  EXPECT_FALSE(link.next_end());
}

constexpr std::uint32_t kLongPrompt = 160'000;
constexpr double kContext = kLongPrompt / 16.0 * 1e5;  // bytes: 1 GB

// Two long prompts on an engine with room for one of them, each for `slice` tokens at a time. `peer`: another engine, which
// no request fits, keeps the other's KV; else the host does.
ServingSpec two_prompts(Duration step, std::uint32_t slice, bool peer, double gb_per_s) {
  EngineSpec engine = plain_engine(11'000);
  engine.max_sequences = 1;
  engine.token_budget = kLongPrompt;
  engine.preemption = Preemption::kSwap;
  engine.slice_tokens = slice;
  ServingSpec spec = one_pool({step, {}, {}, {}}, engine);
  spec.pools.front().block_bytes = 1e5;
  spec.pools.front().offload = OffloadSpec{{}, 30'000, 0.1, {gb_per_s * 1e9}, 1};
  if (peer) {
    EngineSpec donor = plain_engine(1'000);
    spec.pools.push_back(pool(PoolRole::kMixed, 1, 1, {step, {}, {}, {}}, donor));
    spec.pools.back().block_bytes = 4e6;
    spec.pools.front().offload->donor_pool = 1;
  }
  spec.requests.concurrency = 2;
  spec.requests.count = 2;
  spec.requests.input = tokens(kLongPrompt);
  spec.requests.output = tokens(600);
  return spec;
}

// A slice is q steps, and then one context goes while the other comes: useful is q T / (q T + C / r). 1 GB at 50 GB/s is
// 20 ms; the context grows by 0.4 %, and the last slices have nothing to wait for.
TEST(ServingOffload, TheUsefulShareOfSlicesIsThatOfTheClosedForm) {
  for (const std::uint32_t slice : {5U, 20U, 50U}) {
    for (const bool peer : {false, true}) {
      const ServingResult r = served(two_prompts(kMs, slice, peer, 50.0));
      expect_books(r);
      EXPECT_EQ(r.finished, 2U);
      const double useful = slice / (slice + kContext / 50e9 * 1e3);
      EXPECT_NEAR(1200.0 / ms_of(r.makespan) / useful, 1.0, 0.01 + 1.0 / 120.0) << slice << (peer ? " peer" : " host");
      EXPECT_NEAR(ms_of(r.move.mean), kContext / 50e9 * 1e3, 0.1);
    }
  }
}

TEST(ServingOffload, TheGainOfAPeerIsAtMostTheRatioOfTheLinks) {
  const double ratio = 450.0 / 64.0;
  double before = 1.0;
  for (const Duration step : {10 * kMs, kMs, kMs / 10, kUs}) {
    const double host = ms_of(served(two_prompts(step, 1, false, 64.0)).makespan);
    const double peer = ms_of(served(two_prompts(step, 1, true, 64.0), {450e9}).makespan);
    EXPECT_GT(host / peer, before);
    EXPECT_LE(host / peer, ratio * 1.001);
    before = host / peer;
  }
  EXPECT_GT(before, 0.99 * ratio);  // where steps take no time
}

// With slices both prompts have their first tokens in turn; without them the second waits for the whole of the first.
TEST(ServingOffload, SlicesGiveEachPromptItsFirstToken) {
  const ServingResult sliced = served(two_prompts(kMs, 5, false, 50.0));
  const ServingResult whole = served(two_prompts(kMs, 0, false, 50.0));
  EXPECT_LT(sliced.ttft.most, 30 * kMs);
  EXPECT_GT(whole.ttft.most, 590 * kMs);
  EXPECT_EQ(whole.moves, 0U);
}

// A donor that has work of its own takes back what it lacks: its requests are served as if it had lent nothing, but for
// waiting for the borrower's step to end; and nothing is lost.
TEST(ServingOffload, ADonorTakesBackWhatItLacks) {
  std::uint64_t moves = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    EngineSpec engine = plain_engine(80);
    engine.prefix_caching = seed % 2 == 0;
    engine.token_budget = 256;
    engine.preemption = Preemption::kSwap;
    engine.slice_tokens = seed % 3 == 0 ? 8 : 0;
    ServingSpec spec = one_pool({kMs, 10 * kUs, 20 * kUs, {}}, engine, 2);
    spec.pools.front().block_bytes = 1e6;
    spec.pools.front().offload = OffloadSpec{1, 60, 0.2, {}, 1};
    EngineSpec donor = plain_engine(100);
    donor.prefix_caching = seed % 4 < 2;
    spec.pools.push_back(pool(PoolRole::kMixed, 2, 2, {kMs, 10 * kUs, 20 * kUs, {}}, donor));
    spec.pools.back().block_bytes = 1.3e6;
    spec.requests.arrivals = {ArrivalLaw::Kind::kGamma, 3.0, {{150.0}}};
    spec.requests.input = {LengthLaw::Kind::kLogNormal, 150, 0.8, 700};
    spec.requests.output = {LengthLaw::Kind::kLogNormal, 40, 0.8, 300};
    spec.requests.count = 400;
    spec.seed = seed;
    if (seed % 5 == 0)
      spec.failures = {{1, 0, Time{500 * kMs}, 300 * kMs, 10 * kMs}, {0, 1, Time{600 * kMs}, 300 * kMs, {}}};
    const ServingResult r = served(spec);
    expect_books(r);
    EXPECT_EQ(r.finished, 400U);
    moves += r.moves;
    EXPECT_EQ(served(spec).makespan, r.makespan);
  }
  EXPECT_GT(moves, 300U);
}

}  // namespace
}  // namespace photonrail::serving
