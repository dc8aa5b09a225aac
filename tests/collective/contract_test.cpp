// What every built-in algorithm owes for every op that it supports.
#include "photonrail/collective.hpp"
#include "photonrail/testing/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace photonrail {
namespace {

using testing::ArrivalOrder;
using testing::ReplayOptions;

const CollectiveRegistry& registry() {
  static const CollectiveRegistry builtin = CollectiveRegistry::builtin();
  return builtin;
}

struct Case {
  std::string algorithm;
  CollectiveOp op = CollectiveOp::kAllReduce;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.algorithm << " " << name(c.op); }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& algorithm : registry().all()) {
    for (int i = 0; i < kCollectiveOpCount; ++i) {
      const auto op = static_cast<CollectiveOp>(i);
      if (algorithm->supports(op, 2)) cases.push_back({std::string(algorithm->name()), op});
    }
  }
  return cases;
}

bool has_root(CollectiveOp op) {
  return op == CollectiveOp::kReduce || op == CollectiveOp::kGather || op == CollectiveOp::kScatter ||
         op == CollectiveOp::kBroadcast;
}

/// 1, 3 and 4 pieces, on 1, 2 and 3 ports, and the root at either end and in the middle.
std::vector<CollectiveCall> calls_among(CollectiveOp op, Member n) {
  std::vector<CollectiveCall> all;
  for (const Member root : has_root(op) ? std::set<Member>{0, n / 2, n - 1} : std::set<Member>{0}) {
    for (const auto& [pieces, ports] : {std::pair{1u, 1u}, {3u, 2u}, {4u, 3u}}) {
      all.push_back({.op = op, .members = n, .size = {1'000'003}, .root = root, .pieces = pieces, .ports = ports});
    }
  }
  return all;
}

/// Every group size from 2 (a send has no other) to `most`.
std::vector<CollectiveCall> calls(CollectiveOp op, Member most) {
  std::vector<CollectiveCall> all;
  for (Member n = 2; n <= (op == CollectiveOp::kSend ? 2 : most); ++n) {
    for (const CollectiveCall& call : calls_among(op, n)) all.push_back(call);
  }
  return all;
}

std::string describe(const CollectiveCall& call) {
  return std::to_string(call.members) + " members, " + std::to_string(call.size.count) + " bytes, root " +
         std::to_string(call.root) + ", " + std::to_string(call.pieces) + " pieces";
}

class CollectiveContract : public ::testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] static const CollectiveAlgorithm& algorithm() { return registry().find(GetParam().algorithm); }
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const {
    return algorithm().expand(call);
  }

  void expect_correct(const CollectiveCall& call, const ReplayOptions& options = {}) const {
    const auto plan = expand(call);
    const auto report = testing::replay(call, *plan, options);
    EXPECT_TRUE(report.correct) << describe(call) << ": " << report.problem;
    EXPECT_EQ(report.arrived, plan->send_count());
  }
};

TEST_P(CollectiveContract, MovesTheDataForEverySize) {
  for (CollectiveCall call : calls(GetParam().op, 40)) {
    // Nothing, one byte, fewer bytes than members, an even cut, and the odd size of the call.
    const bool first = call.pieces == 1 && call.root == 0;
    for (const std::int64_t size : first ? std::set<std::int64_t>{0, 1, std::int64_t{call.members} - 1,
                                                                  std::int64_t{call.members} * 12, call.size.count}
                                         : std::set<std::int64_t>{call.size.count}) {
      call.size = {size};
      expect_correct(call);
    }
  }
}

TEST_P(CollectiveContract, MovesTheDataInLargeGroups) {
  if (GetParam().op == CollectiveOp::kSend) return;
  for (const Member n : {64u, 127u, 128u}) {
    const CollectiveCall call{
        .op = GetParam().op, .members = n, .size = {1'000'003}, .root = has_root(GetParam().op) ? n / 3 : 0};
    expect_correct(call);
    if (n == 64) expect_correct(call, {.order = ArrivalOrder::kRandom, .by_rounds = true});
  }
}

TEST_P(CollectiveContract, MovesTheDataInEveryOrderOfArrival) {
  for (const CollectiveCall& call : calls(GetParam().op, 20)) {
    expect_correct(call, {.order = ArrivalOrder::kNewestFirst});
    for (const std::uint64_t seed : {1u, 2u, 3u}) expect_correct(call, {.order = ArrivalOrder::kRandom, .seed = seed});
  }
}

TEST_P(CollectiveContract, MovesTheDataWhicheverPairIsSlow) {
  for (const CollectiveCall& call : calls(GetParam().op, 9)) {
    const std::uint64_t pairs = std::uint64_t{call.members} * (call.members - 1);
    for (std::uint64_t pair = 0; pair < pairs; ++pair)
      expect_correct(call, {.order = ArrivalOrder::kStarveOne, .seed = pair});
  }
}

TEST_P(CollectiveContract, MovesTheDataOnCircuitsThatFollowTheRounds) {
  for (const CollectiveCall& call : calls(GetParam().op, 20)) {
    expect_correct(call, {.by_rounds = true});
    expect_correct(call, {.order = ArrivalOrder::kNewestFirst, .by_rounds = true});
    expect_correct(call, {.order = ArrivalOrder::kRandom, .by_rounds = true});
  }
}

/// The least bytes on the wire, S = size, n = members, from what each member must receive.
std::int64_t least_bytes(const CollectiveCall& call) {
  const std::int64_t others = call.members - 1;
  const std::int64_t size = call.size.count;
  switch (call.op) {
    case CollectiveOp::kAllReduce:  // each byte of the tensor takes n-1 additions, then n-1 members need the sum
      return 2 * others * size;
    case CollectiveOp::kReduce:         // n-1 additions a byte
    case CollectiveOp::kReduceScatter:  // n-1 additions a byte
    case CollectiveOp::kBroadcast:      // n-1 members need each byte
    case CollectiveOp::kGather:         // the root needs n-1 shards of S
    case CollectiveOp::kAllToAll:       // n members send S but for their own share; the n shares kept are S together
      return others * size;
    case CollectiveOp::kAllGather:  // n shards of S, each needed by n-1 members
      return others * size * call.members;
    case CollectiveOp::kScatter:  // S but for the root's own share
      return size - share(call.size, call.members, call.root).count;
    case CollectiveOp::kBarrier:
      return 0;
    case CollectiveOp::kSend:
      return size;
  }
  return -1;
}

TEST_P(CollectiveContract, SendsNoByteTooManyWhereItSaysSo) {
  for (const CollectiveCall& call : calls(GetParam().op, 40)) {
    const std::int64_t bytes = expand(call)->wire_bytes().count;
    if (algorithm().claims(call.op, call.members).least_bytes) {
      EXPECT_EQ(bytes, least_bytes(call)) << describe(call);
    } else {
      EXPECT_GE(bytes, least_bytes(call)) << describe(call);
    }
  }
}

/// Members that a member sends to, or receives from, in a round: the most of all.
std::uint32_t partners(const SendPlan& plan) {
  std::uint32_t most = 0;
  for (std::uint32_t round = 0; round < plan.rounds(); ++round) {
    std::vector<std::uint32_t> to(plan.members());
    std::vector<std::uint32_t> from(plan.members());
    for (const auto& [sender, receiver] : plan.pairs(round)) most = std::max({most, ++to[sender], ++from[receiver]});
  }
  return most;
}

TEST_P(CollectiveContract, EveryRoundIsAMatchingWhereItSaysSo) {
  for (const CollectiveCall& call : calls(GetParam().op, 40)) {
    if (!algorithm().claims(call.op, call.members).matchings) continue;
    EXPECT_EQ(partners(*expand(call)), 1u) << describe(call);
  }
}

// With no bytes and links of 1 ps, what an algorithm needs is its number of sends in a row.
TEST_P(CollectiveContract, ItsCostCountsItsSendsAndItsCircuits) {
  CostModel on;
  on.rail.latency = Duration{1};
  for (CollectiveCall call : calls(GetParam().op, 40)) {
    call.size = {};
    const auto cost = algorithm().cost(call, on);
    ASSERT_TRUE(cost.has_value()) << describe(call);
    const auto plan = expand(call);
    EXPECT_NEAR(cost->picoseconds, plan->critical_sends(), 1e-9) << describe(call);
    EXPECT_EQ(cost->partners, partners(*plan)) << describe(call);
    std::uint32_t sets = 1;
    for (std::uint32_t round = 1; round < plan->rounds(); ++round)
      sets += plan->pairs(round) != plan->pairs(round - 1) ? 1 : 0;
    EXPECT_EQ(cost->circuits, sets) << describe(call);
  }
}

std::string test_name(const ::testing::TestParamInfo<Case>& test) {
  return test.param.algorithm + "_" + std::string(name(test.param.op));
}

INSTANTIATE_TEST_SUITE_P(Builtin, CollectiveContract, ::testing::ValuesIn(all_cases()), test_name);

}  // namespace
}  // namespace photonrail
