#include "rl/packing.hpp"

#include "photonrail/core/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace photonrail::rl {
namespace {

// Responses of 6, 5, 4, 3 and 2 tokens in bins of 10: 6 + 4, 5 + 3 + 2. Two micro-batches on one rank, one each on two
// ranks; 10 tokens each. The average token is in a response of (36 + 25 + 16 + 9 + 4) / 20 = 4.5: two sequences of 5.
TEST(Packing, FillsMicroBatches) {
  const std::uint32_t tokens[] = {2, 3, 4, 5, 6};
  EXPECT_EQ(pack(tokens, {.ranks = 1, .tokens = 10}), (Packing{5, 2, 2}));
  EXPECT_EQ(pack(tokens, {.ranks = 2, .tokens = 10}), (Packing{5, 2, 1}));
  EXPECT_EQ(pack(tokens, {.ranks = 1, .tokens = 10, .token_multiple = 4}), (Packing{8, 2, 2}));
}

TEST(Packing, WithoutItEachIsAloneAndPadded) {
  const std::uint32_t tokens[] = {2, 3, 4, 5, 6};
  EXPECT_EQ(pack(tokens, {.ranks = 1, .packed = false}), (Packing{6, 1, 5}));
  EXPECT_EQ(pack(tokens, {.ranks = 2, .packed = false}), (Packing{6, 1, 3}));
}

// Interleaved over 4 stages: a multiple of 4; DualPipe over 4: at least 8.
TEST(Packing, HasAsManyMicroBatchesAsTheScheduleNeeds) {
  const std::uint32_t tokens[] = {5, 5, 5, 5, 5};
  EXPECT_EQ(pack(tokens, {.tokens = 5, .micro_multiple = 4}).micro_batches, 8u);
  EXPECT_EQ(pack(tokens, {.tokens = 5, .micro_multiple = 2, .micro_least = 8}).micro_batches, 8u);
}

// Tokens come out to the rounding of a sequence, scores of attention (tokens x the length that each is in) to a quarter.
TEST(Packing, KeepsTokensAndScores) {
  RandomStream random(7, "packing");
  for (int draw = 0; draw < 50; ++draw) {
    std::vector<std::uint32_t> tokens(64 + random.below(512));
    for (std::uint32_t& t : tokens) t = 100 + static_cast<std::uint32_t>(random.below(4000));
    const std::uint32_t ranks = 1 + static_cast<std::uint32_t>(random.below(8));
    const Packing packing = pack(tokens, {.ranks = ranks, .tokens = 32768});
    const double sum = std::accumulate(tokens.begin(), tokens.end(), 0.0);
    const double squares = std::inner_product(tokens.begin(), tokens.end(), tokens.begin(), 0.0);
    const double sequences = static_cast<double>(ranks) * packing.micro_batches * packing.sequences;
    EXPECT_GE(sequences * packing.sequence, sum);
    EXPECT_LE(sequences * (packing.sequence - 1), sum);
    EXPECT_NEAR(sequences * packing.sequence * packing.sequence / squares, 1.0, 0.25);
    // No micro-batch is fuller than a bin, and best fit leaves less than half of the bins' room empty.
    EXPECT_LE(static_cast<double>(packing.sequence - 1) * packing.sequences, 32768.0);
    EXPECT_LE(static_cast<double>(packing.micro_batches - 1) * ranks * 32768.0, 2.0 * sum);
  }
}

}  // namespace
}  // namespace photonrail::rl
