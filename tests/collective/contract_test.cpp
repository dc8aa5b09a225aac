// What every built-in algorithm owes for every op that it supports.
#include "photonrail/collective.hpp"
#include "photonrail/testing/replay.hpp"

#include <gtest/gtest.h>

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

/// Group sizes 2 .. 33 (2 for a send), 1, 3 and 4 pieces, and the root at either end and in the middle.
std::vector<CollectiveCall> calls(CollectiveOp op) {
  std::vector<CollectiveCall> all;
  for (Member n = 2; n <= (op == CollectiveOp::kSend ? 2u : 33u); ++n) {
    for (const Member root : has_root(op) ? std::set<Member>{0, n / 2, n - 1} : std::set<Member>{0}) {
      for (const std::uint32_t pieces : {1u, 3u, 4u}) {
        all.push_back({.op = op, .members = n, .size = {1'000'003}, .root = root, .pieces = pieces});
      }
    }
  }
  return all;
}

std::string describe(const CollectiveCall& call) {
  return std::to_string(call.members) + " members, " + std::to_string(call.size.count) + " bytes, root " +
         std::to_string(call.root) + ", " + std::to_string(call.pieces) + " pieces";
}

class CollectiveContract : public ::testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] std::unique_ptr<const SendPlan> expand(const CollectiveCall& call) const {
    return registry().find(GetParam().algorithm).expand(call);
  }

  void expect_correct(const CollectiveCall& call, const ReplayOptions& options = {}) const {
    const auto plan = expand(call);
    const auto report = testing::replay(call, *plan, options);
    EXPECT_TRUE(report.correct) << describe(call) << ": " << report.problem;
    EXPECT_EQ(report.arrived, plan->send_count());
  }
};

TEST_P(CollectiveContract, MovesTheDataForEverySize) {
  for (CollectiveCall call : calls(GetParam().op)) {
    // Nothing, one byte, fewer bytes than members, an even cut, and the odd size of the call.
    for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, std::int64_t{call.members} - 1,
                                    std::int64_t{call.members} * 12, call.size.count}) {
      call.size = {size};
      expect_correct(call);
    }
  }
}

TEST_P(CollectiveContract, MovesTheDataInEveryOrderOfArrival) {
  for (const CollectiveCall& call : calls(GetParam().op)) {
    expect_correct(call, {.order = ArrivalOrder::kNewestFirst});
    for (const std::uint64_t seed : {1u, 2u, 3u}) expect_correct(call, {.order = ArrivalOrder::kRandom, .seed = seed});
  }
}

TEST_P(CollectiveContract, MovesTheDataWhicheverPairIsSlow) {
  for (const CollectiveCall& call : calls(GetParam().op)) {
    if (call.members > 9) continue;
    const std::uint64_t pairs = std::uint64_t{call.members} * (call.members - 1);
    for (std::uint64_t pair = 0; pair < pairs; ++pair)
      expect_correct(call, {.order = ArrivalOrder::kStarveOne, .seed = pair});
  }
}

TEST_P(CollectiveContract, MovesTheDataOnCircuitsThatFollowTheRounds) {
  for (const CollectiveCall& call : calls(GetParam().op)) {
    expect_correct(call, {.by_rounds = true});
    expect_correct(call, {.order = ArrivalOrder::kNewestFirst, .by_rounds = true});
    expect_correct(call, {.order = ArrivalOrder::kRandom, .by_rounds = true});
  }
}

/// Bytes on the wire, S = size, n = members. Every algorithm of the table is free of redundant transfers, so that the
/// number depends on the op only: it counts who must receive what.
std::int64_t wire_bytes(const CollectiveCall& call) {
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

TEST_P(CollectiveContract, SendsNoByteTooMany) {
  for (const CollectiveCall& call : calls(GetParam().op)) {
    EXPECT_EQ(expand(call)->wire_bytes().count, wire_bytes(call)) << describe(call);
  }
}

/// The latency term. A ring passes on n-1 times, all-reduce and barrier twice as often; pairwise has n-1 rounds; direct
/// sends wait for nothing; StragglAR reduce-scatters in n-2 steps, then come its rounds, of which there may be up to a
/// tenth and two more than n-2+log2(n) (stragglar_test.cpp). Pieces follow each other and do not wait for each other.
std::uint32_t critical_sends(const Case& c, Member n, const SendPlan& plan) {
  if (c.algorithm == "direct") return 1;
  if (c.algorithm == "stragglar") return n == 2 ? 1 : n - 2 + plan.rounds() - 1;
  const bool twice = c.op == CollectiveOp::kAllReduce || c.op == CollectiveOp::kBarrier;
  return (twice ? 2 : 1) * (n - 1);
}

TEST_P(CollectiveContract, LatencyTerm) {
  for (const CollectiveCall& call : calls(GetParam().op)) {
    const auto plan = expand(call);
    EXPECT_EQ(plan->critical_sends(), critical_sends(GetParam(), call.members, *plan)) << describe(call);
  }
}

TEST_P(CollectiveContract, EveryRoundButDirectAllToAllIsAMatching) {
  if (GetParam().algorithm == "direct" && GetParam().op == CollectiveOp::kAllToAll) {
    // All n(n-1) pairs at once, as documented.
    EXPECT_EQ(expand({.op = CollectiveOp::kAllToAll, .members = 5, .size = {5}})->pairs(0).size(), 20u);
    return;
  }
  for (const CollectiveCall& call : calls(GetParam().op)) {
    const auto plan = expand(call);
    for (std::uint32_t round = 0; round < plan->rounds(); ++round) {
      std::set<Member> senders;
      std::set<Member> receivers;
      for (const auto& [from, to] : plan->pairs(round)) {
        EXPECT_TRUE(senders.insert(from).second) << describe(call) << " round " << round;
        EXPECT_TRUE(receivers.insert(to).second) << describe(call) << " round " << round;
      }
    }
  }
}

std::string test_name(const ::testing::TestParamInfo<Case>& test) {
  return test.param.algorithm + "_" + std::string(name(test.param.op));
}

INSTANTIATE_TEST_SUITE_P(Builtin, CollectiveContract, ::testing::ValuesIn(all_cases()), test_name);

}  // namespace
}  // namespace photonrail
