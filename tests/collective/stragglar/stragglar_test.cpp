#include "collective/stragglar/schedule.hpp"
#include "photonrail/error.hpp"
#include "photonrail/testing/replay.hpp"
#include "support/processor_time.hpp"
#include "support/shared_data.hpp"
#include "support/test_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <bitset>
#include <fstream>
#include <map>
#include <set>

namespace photonrail {

using collective::fewest_stragglar_rounds;
using collective::stragglar_doubling;
using collective::stragglar_matching;
using collective::StragglarSchedule;

namespace {

using testing::ArrivalOrder;
using Moves = std::vector<std::vector<StragglarSchedule::Move>>;  // by round

Moves moves_of(const StragglarSchedule& schedule) {
  Moves moves;
  for (std::uint32_t r = 0; r < schedule.rounds(); ++r) {
    moves.emplace_back(schedule.round(r).begin(), schedule.round(r).end());
  }
  return moves;
}

/// The contributors to each chunk at each member, as the rules of arXiv 2505.23523 change them. Member n-1 is late.
class Oracle {
 public:
  explicit Oracle(Member n) : n_(n), has_(n, std::vector<Members>(n - 1)) {
    for (Member m = 0; m < n; ++m) {
      for (std::uint32_t c = 0; c + 1 < n; ++c) has_[m][c].set(m);
    }
    for (std::uint32_t c = 0; c + 1 < n; ++c) {  // the reduce-scatter among the punctual ones
      for (Member m = 0; m + 1 < n; ++m) has_[c][c].set(m);
    }
  }

  void play(const Moves& rounds) {
    for (const auto& round : rounds) {
      const auto before = has_;
      std::map<Member, Member> peer;  // a member talks to one other at the most, both ways
      std::set<Member> senders;
      for (const auto& [from, to, chunk, reduce] : round) {
        EXPECT_TRUE(senders.insert(from).second) << from << " sends twice";
        EXPECT_EQ(peer.try_emplace(from, to).first->second, to);
        EXPECT_EQ(peer.try_emplace(to, from).first->second, from);
        const Members& sent = before[from][chunk];
        Members& got = has_[to][chunk];
        if (reduce) {
          EXPECT_TRUE((sent & got).none()) << "a contribution counts twice";
          got |= sent;
        } else {
          EXPECT_EQ(sent.count(), n_) << "a copy of an incomplete chunk";
          EXPECT_LT(got.count(), n_) << "a copy that no member needs";
          got = sent;
        }
      }
    }
    for (const auto& member : has_) {
      for (const auto& chunk : member) EXPECT_EQ(chunk.count(), n_) << "incomplete in the end";
    }
  }

 private:
  using Members = std::bitset<128>;
  Member n_;
  std::vector<std::vector<Members>> has_;
};

std::size_t count(const Moves& moves) {
  std::size_t sum = 0;
  for (const auto& round : moves) sum += round.size();
  return sum;
}

/// Every member receives each of the n-1 chunks once: n (n-1) moves, none in vain.
void expect_correct(Member n, const Moves& moves) {
  SCOPED_TRACE(n);
  Oracle(n).play(moves);
  EXPECT_EQ(count(moves), std::size_t{n} * (n - 1));
}

TEST(Stragglar, FewestRounds) {
  // n-2+ceil(log2 n).
  EXPECT_EQ(fewest_stragglar_rounds(2), 1u);
  EXPECT_EQ(fewest_stragglar_rounds(4), 4u);
  EXPECT_EQ(fewest_stragglar_rounds(6), 7u);
  EXPECT_EQ(fewest_stragglar_rounds(1024), 1032u);
}

TEST(Stragglar, PowersOfTwoTakeTheFewestRounds) {
  for (const Member n : {2u, 4u, 8u, 16u, 32u, 64u, 128u}) {
    const Moves moves = moves_of(stragglar_doubling(n));
    EXPECT_EQ(moves.size(), fewest_stragglar_rounds(n));
    expect_correct(n, moves);
  }
}

// The counts of the published schedules: each sends n (n-1) chunks, in n-2+log2(n) rounds.
TEST(Stragglar, OneThousandAndTwentyFourMembersTakeLessThanASecond) {
  const double before_s = test::processor_seconds();
  for (const Member n : {256u, 512u, 1024u}) {
    const StragglarSchedule schedule = stragglar_doubling(n);
    EXPECT_EQ(schedule.rounds(), fewest_stragglar_rounds(n));
    std::size_t sends = 0;
    for (std::uint32_t r = 0; r < schedule.rounds(); ++r) sends += schedule.round(r).size();
    EXPECT_EQ(sends, std::size_t{n} * (n - 1));
  }
  EXPECT_LT(test::processor_seconds() - before_s, 1.0);
}

// From the description of the paper's 4-GPU kernel: 0x3(0) | 1x3(1), 0>2(0) | 2x3(2), 0<>1(0,1) | 0<>2(1,2), 3>1(2).
TEST(Stragglar, FourMembers) {
  using Row = std::vector<std::array<std::uint32_t, 3>>;
  const std::vector<Row> expected{{{0, 3, 0}, {3, 0, 0}},
                                  {{1, 3, 1}, {3, 1, 1}, {0, 2, 0}},
                                  {{2, 3, 2}, {3, 2, 2}, {0, 1, 0}, {1, 0, 1}},
                                  {{0, 2, 1}, {2, 0, 2}, {3, 1, 2}}};
  std::vector<Row> ours;
  for (const auto& round : moves_of(stragglar_doubling(4))) {
    Row& row = ours.emplace_back();
    for (const auto& move : round) row.push_back({move.from, move.to, move.chunk});
  }
  EXPECT_EQ(ours, expected);
}

TEST(Stragglar, PublishedSchedulesKeepTheSameRulesInAsManyRounds) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  for (const Member n : {4u, 8u}) {
    std::ifstream in(data / "oracles" / ("stragglar_schedule_n" + std::to_string(n) + ".json"));
    Moves published;
    const nlohmann::json file = nlohmann::json::parse(in);
    for (const auto& round : file.at("sends_src_dst_chunk_mode")) {
      auto& row = published.emplace_back();
      for (const auto& send : round) row.push_back({send.at(0), send.at(1), send.at(2), send.at(3) == "reduce"});
    }
    expect_correct(n, published);
    EXPECT_EQ(published.size(), stragglar_doubling(n).rounds());
  }
}

/// Rounds of the published synthesizer for even n that are no power of two.
const std::map<Member, std::uint32_t>& published_rounds() {
  static const std::map<Member, std::uint32_t> rounds{
      {6, 7},     {10, 12},   {12, 15},   {14, 17},   {18, 21},  {20, 24}, {22, 26},  {24, 27},  {26, 33},
      {28, 33},   {30, 36},   {34, 40},   {36, 44},   {38, 45},  {40, 47}, {42, 48},  {44, 50},  {46, 53},
      {48, 57},   {50, 58},   {52, 59},   {54, 65},   {56, 64},  {58, 65}, {60, 69},  {62, 73},  {66, 75},
      {68, 81},   {70, 79},   {72, 83},   {76, 85},   {80, 91},  {84, 93}, {88, 101}, {92, 103}, {96, 108},
      {100, 111}, {112, 124}, {120, 134}, {124, 136}, {126, 139}};
  return rounds;
}

TEST(Stragglar, OtherEvenNumbersTakeNoMoreRoundsThanPublished) {
  for (const auto& [n, rounds] : published_rounds()) {
    if (n > test::test_cases(62)) break;
    const StragglarSchedule schedule = stragglar_matching(n);
    EXPECT_LE(schedule.rounds(), rounds) << n;
    EXPECT_GE(schedule.rounds(), fewest_stragglar_rounds(n)) << n;
    if (n <= 24) {
      EXPECT_EQ(schedule.rounds(), fewest_stragglar_rounds(n)) << n;
    }
    if (n <= test::test_cases(30)) expect_correct(n, moves_of(schedule));
    RecordProperty("rounds_" + std::to_string(n), static_cast<int>(schedule.rounds()));
  }
}

TEST(Stragglar, OddNumbersLeaveOneMemberOutInEveryRound) {
  for (Member n = 3; n < 50; n += 2) {
    const StragglarSchedule schedule = stragglar_matching(n);
    EXPECT_GE(schedule.rounds(), fewest_stragglar_rounds(n)) << n;
    // Observed: 1.25 times the fewest and less. Ring, the alternative, has 2(n-1) steps.
    EXPECT_LE(schedule.rounds(), fewest_stragglar_rounds(n) * 5 / 4) << n;
    expect_correct(n, moves_of(schedule));
  }
}

// No pair survives from one round to the next: a member with one port is re-pointed every round.
TEST(Stragglar, NoPairStaysForTwoRounds) {
  for (const Member n : {4u, 8u, 16u, 32u, 64u}) {
    std::set<MemberPair> before;
    for (const auto& round : moves_of(stragglar_doubling(n))) {
      std::set<MemberPair> now;
      for (const auto& move : round) now.emplace(move.from, move.to);
      for (const MemberPair& pair : now) EXPECT_FALSE(before.contains(pair)) << n;
      before = now;
    }
  }
}

class StragglarPlan : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const {
    return registry_.find("stragglar").expand(call);
  }
  CollectiveRegistry registry_ = CollectiveRegistry::builtin();
};

TEST_F(StragglarPlan, AnyMemberMayBeLate) {
  for (const Member n : {2u, 3u, 6u, 8u, 13u}) {
    for (Member late = 0; late < n; ++late) {
      const CollectiveCall call{.members = n, .size = {100'003}, .straggler = late};
      const auto plan = expand(call);
      for (Member m = 0; m < n; ++m) EXPECT_EQ(plan->starts_without(m), m == late);
      for (const auto order : {ArrivalOrder::kOldestFirst, ArrivalOrder::kNewestFirst, ArrivalOrder::kRandom}) {
        const auto report = testing::replay(call, *plan, {.order = order});
        EXPECT_TRUE(report.correct) << n << ", late " << late << ": " << report.problem;
      }
      for (std::uint32_t round = 0; round < plan->rounds(); ++round) {
        // The reduce-scatter goes on without it. In the rounds of a power of two it always sends a chunk.
        const bool without = n > 2 && round == 0;
        EXPECT_LE(plan->sends_from(late, round), without ? 0u : 1u);
        if (n == 8 && !without) {
          EXPECT_EQ(plan->sends_from(late, round), 1u);
        }
      }
    }
  }
}

TEST_F(StragglarPlan, TheLastMemberIsLateWhenNobodyKnows) {
  EXPECT_TRUE(expand({.members = 6, .size = {60}})->starts_without(5));
  EXPECT_THROW(static_cast<void>(expand({.members = 6, .size = {60}, .straggler = 6})), InternalError);
}

TEST_F(StragglarPlan, RoundsOfTheReduceScatterAndOfTheSchedule) {
  // n = 8: a ring of 7 with 6 x 7 sends in round 0, then 9 rounds with 8 x 7 sends.
  const auto plan = expand({.members = 8, .size = {7000}});
  EXPECT_EQ(plan->rounds(), 10u);
  EXPECT_EQ(plan->send_count(), 98u);
  EXPECT_EQ(plan->pairs(0).size(), 7u);
  EXPECT_EQ(plan->send(0).bytes, Bytes{1000});
}

TEST_F(StragglarPlan, LargeGroups) {
  for (const Member n : {34u, 35u, 36u, 37u, 38u, 39u, 40u, 64u, 128u}) {
    const CollectiveCall call{.members = n, .size = {1'000'003}, .straggler = n / 3};
    const auto plan = expand(call);
    for (const bool by_rounds : {false, true}) {
      const auto report = testing::replay(call, *plan, {.order = ArrivalOrder::kRandom, .by_rounds = by_rounds});
      EXPECT_TRUE(report.correct) << n << ": " << report.problem;
    }
  }
}

// 65,536 members would need 2^32 moves of 16 bytes, and 1,000 minutes of search.
TEST_F(StragglarPlan, NotAmongMoreMembersThanAScheduleCanBeMadeFor) {
  const CollectiveAlgorithm& stragglar = registry_.find("stragglar");
  for (const Member n : {2u, 3u, 511u, 512u, 1024u, 4096u})
    EXPECT_TRUE(stragglar.supports(CollectiveOp::kAllReduce, n)) << n;
  for (const Member n : {513u, 1000u, 8192u, 65536u}) EXPECT_FALSE(stragglar.supports(CollectiveOp::kAllReduce, n)) << n;
}

// With a message of 1 ps and no bandwidth to speak of, the time counts the rounds: 509 of the ring, and 509 + 9 at the
// least.
TEST_F(StragglarPlan, ACostNeedsNoSearchAmongMany) {
  CostModel on;
  on.rail = {Duration{1}, Duration{0}, Bandwidth::from_gb_per_s(1e6)};
  const double before = test::processor_seconds();
  const auto cost =
      registry_.find("stragglar").cost({.op = CollectiveOp::kAllReduce, .members = 511, .size = Bytes{0}}, on);
  EXPECT_LT(test::processor_seconds() - before, 1.0);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->picoseconds, (511 - 2) + (511 - 2 + 9));
}

TEST_F(StragglarPlan, TheSameScheduleEveryTime) {
  const StragglarSchedule a = stragglar_matching(22);
  const StragglarSchedule b = stragglar_matching(22);
  ASSERT_EQ(a.rounds(), b.rounds());
  for (std::uint32_t r = 0; r < a.rounds(); ++r) {
    ASSERT_EQ(a.round(r).size(), b.round(r).size());
    for (std::size_t i = 0; i < a.round(r).size(); ++i) {
      EXPECT_EQ(a.round(r)[i].from, b.round(r)[i].from);
      EXPECT_EQ(a.round(r)[i].to, b.round(r)[i].to);
      EXPECT_EQ(a.round(r)[i].chunk, b.round(r)[i].chunk);
    }
  }
}

}  // namespace
}  // namespace photonrail
