#include "photonrail/collective.hpp"

#include <gtest/gtest.h>

namespace photonrail {
namespace {

TEST(CollectiveNames, ThereAndBackAgain) {
  for (int i = 0; i < kCollectiveOpCount; ++i) {
    const auto op = static_cast<CollectiveOp>(i);
    EXPECT_EQ(collective_op_from(name(op)), op) << name(op);
  }
  EXPECT_EQ(name(CollectiveOp::kAllReduce), "all_reduce");
  EXPECT_EQ(name(CollectiveOp::kReduceScatter), "reduce_scatter");
  EXPECT_EQ(name(CollectiveOp::kSend), "send");
}

TEST(CollectiveNames, UnknownIsNone) {
  EXPECT_FALSE(collective_op_from("all-reduce").has_value());
  EXPECT_FALSE(collective_op_from("").has_value());
}

TEST(Share, LargerPartsFirst) {
  // 14 bytes in 4 parts: 14 = 4 * 3 + 2, so two parts of 4 and two of 3.
  EXPECT_EQ(share({14}, 4, 0), Bytes{4});
  EXPECT_EQ(share({14}, 4, 1), Bytes{4});
  EXPECT_EQ(share({14}, 4, 2), Bytes{3});
  EXPECT_EQ(share({14}, 4, 3), Bytes{3});
}

TEST(Share, AddsUpExactly) {
  for (const std::int64_t total : {std::int64_t{0}, std::int64_t{1}, std::int64_t{6}, std::int64_t{1} << 62}) {
    for (std::uint64_t parts = 1; parts <= 40; ++parts) {
      Bytes sum{};
      for (std::uint64_t i = 0; i < parts; ++i) sum += share({total}, parts, i);
      EXPECT_EQ(sum.count, total) << parts << " parts";
    }
  }
}

}  // namespace
}  // namespace photonrail
