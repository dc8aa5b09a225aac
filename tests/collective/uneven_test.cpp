// All-to-alls that follow a demand matrix.
#include "photonrail/collective.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/testing/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace photonrail {
namespace {

using testing::ArrivalOrder;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TrafficMatrix matrix(std::initializer_list<std::initializer_list<std::int64_t>> rows) {
  TrafficMatrix demand(static_cast<Member>(rows.size()));
  Member from = 0;
  for (const auto& row : rows) {
    Member to = 0;
    for (const std::int64_t bytes : row) demand.at(from, to++) = {bytes};
    ++from;
  }
  return demand;
}

/// Up to 1000 bytes a pair; `empty` of the pairs have none.
TrafficMatrix random_demand(Member members, double empty, std::uint64_t seed) {
  RandomStream random(seed, "demand");
  TrafficMatrix demand(members);
  for (Member from = 0; from < members; ++from) {
    for (Member to = 0; to < members; ++to) {
      const bool none = random.uniform() < empty;
      demand.at(from, to) = {none ? 0 : 1 + static_cast<std::int64_t>(random.below(1000))};
    }
  }
  return demand;
}

CollectiveCall call_of(const TrafficMatrix& demand) {
  return {.op = CollectiveOp::kAllToAll, .members = demand.members(), .demand = &demand};
}

std::unique_ptr<const SendPlan> expand(std::string_view algorithm, const TrafficMatrix& demand) {
  return CollectiveRegistry::builtin().find(algorithm).expand(call_of(demand));
}

// Rows sum to 0 + 2 + 3, 4 + 0 + 0, 0 + 8 + 0; column 1 to 2 + 8 = 10, the most.
TEST(TrafficMatrix, CountsWhatCrosses) {
  const TrafficMatrix demand = matrix({{100, 2, 3}, {4, 200, 0}, {0, 8, 0}});
  EXPECT_EQ(demand.wire_bytes(), Bytes{17});
  EXPECT_EQ(demand.busiest_port(), Bytes{10});
  EXPECT_THAT(demand.row(1), ElementsAre(Bytes{4}, Bytes{200}, Bytes{0}));
}

TEST(DemandTable, NumbersFromOneAndOnce) {
  DemandTable table;
  EXPECT_EQ(table.add(matrix({{0, 1}, {2, 0}})), 1u);
  EXPECT_EQ(table.add(TrafficMatrix(5)), 2u);
  EXPECT_EQ(table.add(matrix({{0, 1}, {2, 0}})), 1u);
  EXPECT_EQ(table.members(0), std::nullopt);
  EXPECT_EQ(table.members(2), 5u);
  EXPECT_EQ(table.members(3), std::nullopt);
  EXPECT_EQ(table.matrix({.communicator = CommunicatorId{7}, .number = 1, .iteration = 3}), matrix({{0, 1}, {2, 0}}));
}

TEST(Uneven, EveryPairGetsItsBytesInEveryOrderOfArrival) {
  for (const std::string algorithm : {"pairwise", "direct", "one_factorisation", "hierarchical"}) {
    for (Member n = 2; n <= 17; ++n) {
      for (const double empty : {0.0, 0.3, 0.9, 1.0}) {
        const TrafficMatrix demand = random_demand(n, empty, n);
        const auto plan = expand(algorithm, demand);
        EXPECT_EQ(plan->wire_bytes(), demand.wire_bytes());
        for (const ArrivalOrder order : {ArrivalOrder::kOldestFirst, ArrivalOrder::kNewestFirst, ArrivalOrder::kRandom}) {
          for (const bool by_rounds : {false, true}) {
            const auto report = testing::replay(call_of(demand), *plan, {.order = order, .by_rounds = by_rounds});
            EXPECT_TRUE(report.correct) << algorithm << ", " << n << " members: " << report.problem;
          }
        }
        for (SendIndex i = 0; i < plan->send_count(); ++i) EXPECT_GT(plan->send(i).bytes, Bytes{0});
      }
    }
  }
}

TEST(Uneven, WithTheSameBytesForAllItIsTheEvenPlan) {
  constexpr Member kMembers = 6;
  TrafficMatrix demand(kMembers);
  for (Member from = 0; from < kMembers; ++from) {
    for (Member to = 0; to < kMembers; ++to) demand.at(from, to) = {10};
  }
  for (const std::string algorithm : {"pairwise", "direct"}) {
    const auto uneven = expand(algorithm, demand);
    const auto even = CollectiveRegistry::builtin().find(algorithm).expand(
        {.op = CollectiveOp::kAllToAll, .members = kMembers, .size = {10 * kMembers}});
    ASSERT_EQ(uneven->send_count(), even->send_count());
    EXPECT_EQ(uneven->rounds(), even->rounds());
    EXPECT_EQ(uneven->critical_sends(), even->critical_sends());
    for (SendIndex i = 0; i < even->send_count(); ++i) {
      EXPECT_EQ(uneven->send(i).from, even->send(i).from);
      EXPECT_EQ(uneven->send(i).to, even->send(i).to);
      EXPECT_EQ(uneven->send(i).bytes, even->send(i).bytes);
      EXPECT_EQ(uneven->send(i).round, even->send(i).round);
      EXPECT_EQ(uneven->waits_for(i), even->waits_for(i));
    }
  }
}

TEST(Uneven, PairwiseRoundsAreMatchingsAndEmptyShiftsAreNone) {
  // Shift 1: 0 to 1. Shift 2: no send. Shift 3: 0 to 3 and 1 to 0.
  const TrafficMatrix demand = matrix({{9, 5, 0, 6}, {7, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}});
  const auto plan = expand("pairwise", demand);
  EXPECT_EQ(plan->rounds(), 2u);
  EXPECT_THAT(plan->pairs(0), ElementsAre(MemberPair{0, 1}));
  EXPECT_THAT(plan->pairs(1), ElementsAre(MemberPair{0, 3}, MemberPair{1, 0}));
  EXPECT_EQ(plan->wire_bytes(), Bytes{18});
}

TEST(Uneven, ASendWaitsForEveryReceiveSinceTheLastSend) {
  // Member 0 receives in shift 1 (from 3) and shift 2 (from 2), and sends in shift 3 only: it waits for both.
  const TrafficMatrix demand = matrix({{0, 0, 0, 1}, {0, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}});
  const auto plan = expand("pairwise", demand);
  ASSERT_EQ(plan->send_count(), 3u);
  EXPECT_EQ(plan->initial_sends(), 2u);
  EXPECT_EQ(plan->waits_for(2), 2u);
  for (const SendIndex i : {0u, 1u}) {
    std::vector<SendIndex> out;
    plan->released_by(i, out);
    EXPECT_THAT(out, UnorderedElementsAre(2u));
  }
}

TEST(Uneven, NothingForOthersIsAPlanWithoutSends) {
  const TrafficMatrix demand = matrix({{5, 0}, {0, 5}});
  EXPECT_EQ(expand("pairwise", demand)->send_count(), 0u);
  EXPECT_EQ(expand("direct", demand)->wire_bytes(), Bytes{0});
}

TEST(Replay, SeesTheWrongBytesAndTheMissingPairOfAnUnevenPlan) {
  const TrafficMatrix asked = matrix({{0, 3}, {4, 0}});
  const TrafficMatrix other = matrix({{0, 3}, {5, 0}});
  const TrafficMatrix less = matrix({{0, 3}, {0, 0}});
  EXPECT_THAT(testing::replay(call_of(asked), *expand("direct", other)).problem, ::testing::HasSubstr("5 in place of 4"));
  EXPECT_THAT(testing::replay(call_of(asked), *expand("direct", less)).problem,
              ::testing::HasSubstr("member 0 lacks the contribution of 1"));
  EXPECT_THAT(
      testing::replay({.op = CollectiveOp::kAllToAll, .members = 3, .demand = &asked}, *expand("direct", asked)).problem,
      ::testing::HasSubstr("another call"));
}

}  // namespace
}  // namespace photonrail
