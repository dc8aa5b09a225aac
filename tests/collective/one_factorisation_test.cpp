#include "photonrail/collective.hpp"

#include "support/test_cases.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photonrail {
namespace {

std::unique_ptr<const SendPlan> expand(Member members) {
  return CollectiveRegistry::builtin()
      .find("one_factorisation")
      .expand({.op = CollectiveOp::kAllToAll, .members = members, .size = {1 << 20}});
}

/// Whether the rounds are matchings, in which the two of a pair send to each other, and meet each pair once.
void expect_factorisation(Member n, std::uint32_t rounds, Member in_round) {
  const auto plan = expand(n);
  ASSERT_EQ(plan->rounds(), rounds) << n;
  std::vector<std::uint8_t> met(std::size_t{n} * n, 0);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::vector<MemberPair> pairs = plan->pairs(round);
    ASSERT_EQ(pairs.size(), in_round) << n << " round " << round;
    std::vector<Member> partner(n, n);
    for (const auto& [from, to] : pairs) {
      ASSERT_EQ(partner[from], n) << n << " round " << round << ": " << from << " is in two pairs";
      partner[from] = to;
      ASSERT_EQ(met[std::size_t{from} * n + to]++, 0) << n << ": " << from << " and " << to << " meet again";
    }
    for (const auto& [from, to] : pairs) ASSERT_EQ(partner[to], from) << n << " round " << round;
  }
  // rounds * in_round distinct pairs are all n (n-1) of them.
  ASSERT_EQ(std::uint64_t{rounds} * in_round, std::uint64_t{n} * (n - 1));
}

TEST(OneFactorisation, EvenGroupsNeedOneRoundLessThanMembers) {
  const Member step = test::test_cases(0) > 0 ? 2 : 126;  // every one at night
  for (Member n = 2; n <= 512; n += n < 100 ? 2 : step) expect_factorisation(n, n - 1, n);
}

TEST(OneFactorisation, InOddGroupsOneSitsOutEachRound) {
  for (Member n = 3; n <= 129; n += 2) expect_factorisation(n, n, n - 1);
}

// Four members: the one in the middle, 3, meets 0, 1, 2; the others pair up to 2r modulo 3.
TEST(OneFactorisation, OfFour) {
  const auto plan = expand(4);
  EXPECT_EQ(plan->pairs(0), (std::vector<MemberPair>{{0, 3}, {1, 2}, {2, 1}, {3, 0}}));
  EXPECT_EQ(plan->pairs(1), (std::vector<MemberPair>{{0, 2}, {1, 3}, {2, 0}, {3, 1}}));
  EXPECT_EQ(plan->pairs(2), (std::vector<MemberPair>{{0, 1}, {1, 0}, {2, 3}, {3, 2}}));
}

}  // namespace
}  // namespace photonrail
