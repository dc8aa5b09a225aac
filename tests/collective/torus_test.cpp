// The collectives on boxes of a torus: proven by the replay, and never over a link that the box does not have.
#include "photonrail/collective.hpp"
#include "photonrail/testing/replay.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace photonrail {
namespace {

using testing::ArrivalOrder;
using enum CollectiveOp;

/// A box whose members are numbered in an order of their own, so that cell and member differ.
MemberBox box_of(const std::vector<std::uint32_t>& cells, std::uint32_t closing = 1) {
  MemberBox box;
  std::uint32_t size = 1;
  for (const std::uint32_t side : cells) {
    box.sides.push_back({side, side > 2 ? closing : 1});
    size *= side;
  }
  for (std::uint32_t cell = 0; cell < size; ++cell) box.members.push_back((cell * 5 + 2) % size);
  if (size % 5 == 0) std::iota(box.members.begin(), box.members.end(), 0);
  return box;
}

CollectiveCall call_on(CollectiveOp op, const MemberBox& box, std::int64_t bytes) {
  return {.op = op, .members = static_cast<Member>(box.members.size()), .size = {bytes}, .box = box};
}

class TorusPlans : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static const CollectiveAlgorithm& algorithm() {
    static const CollectiveRegistry registry = CollectiveRegistry::builtin();
    return registry.find(GetParam());
  }
};

TEST_P(TorusPlans, MoveTheDataInEveryBoxAndOrder) {
  for (const auto& cells : {std::vector<std::uint32_t>{2, 2}, {3, 3}, {2, 3}, {4, 2, 3}, {3, 3, 3}, {2, 2, 2}, {5, 4}}) {
    for (const CollectiveOp op : {kAllReduce, kReduceScatter, kAllGather, kAllToAll}) {
      for (const std::int64_t bytes : {0, 7, 12'000, 100'003}) {
        const CollectiveCall call = call_on(op, box_of(cells), bytes);
        const auto plan = algorithm().expand(call);
        for (const ArrivalOrder order : {ArrivalOrder::kOldestFirst, ArrivalOrder::kNewestFirst, ArrivalOrder::kRandom}) {
          const auto report = testing::replay(call, *plan, {.order = order, .seed = 7});
          EXPECT_TRUE(report.correct) << name(op) << " on " << cells.size() << " sides, " << bytes
                                      << " bytes: " << report.problem;
        }
      }
    }
  }
}

TEST_P(TorusPlans, MoveTheDataWhicheverPairIsSlow) {
  for (const CollectiveOp op : {kAllReduce, kReduceScatter, kAllGather, kAllToAll}) {
    const CollectiveCall call = call_on(op, box_of({3, 2, 2}), 120'000);
    const auto plan = algorithm().expand(call);
    for (std::uint64_t pair = 0; pair < 132; ++pair) {
      const auto report = testing::replay(call, *plan, {.order = ArrivalOrder::kStarveOne, .seed = pair});
      EXPECT_TRUE(report.correct) << name(op) << ": " << report.problem;
    }
  }
}

// The neighbours of a ring of 3 x 3 x 3: six of 26. A plan that sent to others would use links of third GPUs.
TEST_P(TorusPlans, RingsSendToNeighboursOnly) {
  const CollectiveCall call = call_on(kAllReduce, box_of({3, 3, 3}), 27'000);
  std::vector<std::uint32_t> cell_of(27);
  for (std::uint32_t cell = 0; cell < 27; ++cell) cell_of[call.box.members[cell]] = cell;
  const auto pairs = algorithm().expand(call)->pairs(0);
  EXPECT_EQ(pairs.size(), std::string(GetParam()) == "bucket" ? 27u * 3 : 27u * 6);
  for (const auto& [from, to] : pairs) {
    std::uint32_t changed = 0;
    for (const std::uint32_t stride : {1u, 3u, 9u})
      changed += cell_of[from] / stride % 3 != cell_of[to] / stride % 3 ? 1 : 0;
    EXPECT_EQ(changed, 1u);
  }
}

// An all-reduce of S bytes moves 2 S (n - 1) whatever the shape; an all-to-all on a x b moves each pair's data once a
// dimension.
TEST_P(TorusPlans, MoveNoByteTwice) {
  EXPECT_EQ(algorithm().expand(call_on(kAllReduce, box_of({4, 2, 3}), 144'000))->wire_bytes().count, 2 * 144'000 * 23);
  EXPECT_EQ(algorithm().expand(call_on(kAllGather, box_of({4, 2, 3}), 6'000))->wire_bytes().count, 6'000 * 24 * 23);
  EXPECT_EQ(algorithm().expand(call_on(kReduceScatter, box_of({4, 2, 3}), 144'000))->wire_bytes().count, 144'000 * 23);
  // 3 x 2: of 6,000 bytes 1,000 a pair; 4 of 6 members are elsewhere along the first side, 3 of 6 along the second.
  EXPECT_EQ(algorithm().expand(call_on(kAllToAll, box_of({3, 2}), 6'000))->wire_bytes().count, 6 * (4 + 3) * 1'000);
}

INSTANTIATE_TEST_SUITE_P(Both, TorusPlans, ::testing::ValuesIn(std::vector<const char*>{"bucket", "torus_rings"}),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace photonrail
