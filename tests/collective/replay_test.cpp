// A proof is worth what it refuses: plans that are broken in one place, and plans that lie about themselves.
#include "photonrail/testing/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace photonrail {
namespace {

using ::testing::HasSubstr;

/// A plan taken apart, to be changed and put together again.
struct Draft {
  Member members = 0;
  std::uint32_t chunks = 0;
  std::vector<Send> sends;
  std::vector<std::vector<SendIndex>> after;
  std::vector<std::vector<ChunkRun>> more;  ///< the data beyond the first run

  explicit Draft(const SendPlan& plan)
      : members(plan.members()), chunks(plan.chunk_count()), after(plan.send_count()), more(plan.send_count()) {
    std::vector<SendIndex> released;
    for (SendIndex i = 0; i < plan.send_count(); ++i) {
      sends.push_back(plan.send(i));
      plan.data(i, more[i]);
      more[i].erase(more[i].begin());
      released.clear();
      plan.released_by(i, released);
      for (const SendIndex next : released) after[next].push_back(i);
    }
  }

  [[nodiscard]] std::unique_ptr<const SendPlan> build() const {
    SendPlanBuilder builder(members, chunks);
    for (std::size_t i = 0; i < sends.size(); ++i)
      builder.add(sends[i], after[i], i < more.size() ? more[i] : std::vector<ChunkRun>{});
    return std::move(builder).build();
  }

  /// Takes send `gone` out; what waited for it does not any more.
  void drop(SendIndex gone) {
    sends.erase(sends.begin() + gone);
    after.erase(after.begin() + gone);
    more.erase(more.begin() + gone);
    for (std::vector<SendIndex>& waits : after) {
      std::erase(waits, gone);
      for (SendIndex& i : waits) i -= i > gone ? 1 : 0;
    }
  }
};

std::unique_ptr<const SendPlan> replayed_plan(std::string_view algorithm, const CollectiveCall& call) {
  return CollectiveRegistry::builtin().find(algorithm).expand(call);
}

CollectiveCall all_reduce(Member members = 4) {
  return {.op = CollectiveOp::kAllReduce, .members = members, .size = {1000}, .pieces = 2};
}

/// The problem that the replay finds when `change` was made to the ring all-reduce of four; "" when it finds none.
std::string problem_of(const std::function<void(Draft&)>& change) {
  Draft draft(*replayed_plan("ring", all_reduce()));
  change(draft);
  return testing::replay(all_reduce(), *draft.build()).problem;
}

void expect_same(const SendPlan& a, const SendPlan& b) {
  ASSERT_EQ(a.send_count(), b.send_count());
  EXPECT_EQ(a.initial_sends(), b.initial_sends());
  EXPECT_EQ(a.most_waits(), b.most_waits());
  EXPECT_EQ(a.chunk_count(), b.chunk_count());
  EXPECT_EQ(a.wire_bytes(), b.wire_bytes());
  EXPECT_EQ(a.critical_sends(), b.critical_sends());
  ASSERT_EQ(a.rounds(), b.rounds());
  for (std::uint32_t round = 0; round < a.rounds(); ++round) {
    EXPECT_EQ(a.pairs(round), b.pairs(round));
    for (Member m = 0; m < a.members(); ++m) {
      EXPECT_EQ(a.sends_from(m, round), b.sends_from(m, round));
      EXPECT_EQ(a.sends_to(m, round), b.sends_to(m, round));
    }
  }
  for (SendIndex i = 0; i < a.send_count(); ++i) {
    EXPECT_EQ(a.waits_for(i), b.waits_for(i));
    std::vector<SendIndex> of_a;
    std::vector<SendIndex> of_b;
    a.released_by(i, of_a);
    b.released_by(i, of_b);
    EXPECT_THAT(of_a, ::testing::UnorderedElementsAreArray(of_b));
    std::vector<ChunkRun> data_of_a;
    std::vector<ChunkRun> data_of_b;
    a.data(i, data_of_a);
    b.data(i, data_of_b);
    EXPECT_EQ(data_of_a, data_of_b);
  }
}

TEST(Replay, AListIsAsGoodAsItsFormula) {
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  for (const auto& algorithm : registry.all()) {
    for (int op = 0; op < kCollectiveOpCount; ++op) {
      for (const Member members : {2u, 3u, 8u}) {
        CollectiveCall call{
            .op = static_cast<CollectiveOp>(op), .members = members, .size = {1001}, .root = 1, .pieces = 3};
        if (!algorithm->supports(call.op, members)) continue;
        const auto formula = algorithm->expand(call);
        const auto list = Draft(*formula).build();
        expect_same(*formula, *list);
        EXPECT_EQ(testing::replay(call, *list).problem, "") << algorithm->name() << " " << name(call.op);
      }
    }
  }
}

TEST(Replay, CatchesASendThatIsDropped) {
  const auto total = replayed_plan("ring", all_reduce())->send_count();
  for (SendIndex i = 0; i < total; ++i) {
    EXPECT_NE(problem_of([&](Draft& draft) { draft.drop(i); }), "") << "send " << i;
  }
}

TEST(Replay, CatchesASendThatIsDuplicated) {
  // Send 0 reduces chunk 6 into member 1: once more and member 0 would count twice.
  const std::string problem = problem_of([](Draft& draft) {
    draft.sends.push_back(draft.sends[0]);
    draft.after.push_back({0});
  });
  EXPECT_THAT(problem, HasSubstr("adds a contribution that is in already"));
}

TEST(Replay, CatchesAReductionThatReplaces) {
  for (SendIndex i = 0; i < 24; ++i) {  // the reduce-scatter: 3 steps * 2 pieces * 4 members
    EXPECT_THAT(problem_of([&](Draft& draft) { draft.sends[i].reduce = false; }), HasSubstr("lacks the contribution"));
  }
}

TEST(Replay, CatchesACopyThatAdds) {
  for (SendIndex i = 24; i < 48; ++i) {
    EXPECT_NE(problem_of([&](Draft& draft) { draft.sends[i].reduce = true; }), "") << "send " << i;
  }
}

TEST(Replay, CatchesTheWrongChunk) {
  for (SendIndex i = 0; i < 48; ++i) {  // 1000 bytes in 8 chunks are 125 each, so that only the data can tell
    EXPECT_NE(problem_of([&](Draft& draft) { draft.sends[i].first_chunk ^= 1; }), "") << "send " << i;
  }
}

TEST(Replay, CatchesTheWrongBytes) {
  EXPECT_THAT(problem_of([](Draft& draft) { draft.sends[9].bytes = {124}; }), HasSubstr("124 in place of 125 bytes"));
}

TEST(Replay, CatchesADependencyThatIsMissing) {
  // In a lucky order the message arrives in time all the same; not so when its pair is the one that starves.
  for (SendIndex i = 8; i < 48; ++i) {  // all but the initial sends, 2 pieces * 4 members
    Draft draft(*replayed_plan("ring", all_reduce()));
    draft.after[i].clear();
    const auto plan = draft.build();
    bool caught = false;
    for (std::uint64_t pair = 0; pair < 4; ++pair) {
      caught |= !testing::replay(all_reduce(), *plan, {.order = testing::ArrivalOrder::kStarveOne, .seed = pair}).correct;
    }
    EXPECT_TRUE(caught) << "send " << i;
  }
}

TEST(Replay, CatchesDataThatTheSenderDoesNotHave) {
  const CollectiveCall call{.op = CollectiveOp::kBroadcast, .members = 3, .size = {9}};
  Draft draft(*replayed_plan("ring", call));
  draft.after[1].clear();  // 1 to 2, before 0 to 1 arrived
  EXPECT_THAT(testing::replay(call, *draft.build(), {.order = testing::ArrivalOrder::kNewestFirst}).problem,
              HasSubstr("leaves before its sender has the data"));
}

TEST(Replay, CatchesTheWrongRoot) {
  CollectiveCall call{.op = CollectiveOp::kReduce, .members = 5, .size = {9}, .root = 1};
  const auto plan = replayed_plan("ring", call);
  call.root = 2;
  EXPECT_THAT(testing::replay(call, *plan).problem, HasSubstr("in the end member 2 lacks"));
}

TEST(Replay, CatchesARoundThatGoesBack) {
  const CollectiveCall call{.op = CollectiveOp::kAllToAll, .members = 4, .size = {16}};
  Draft draft(*replayed_plan("pairwise", call));
  for (Send& send : draft.sends) send.round = 2 - send.round;
  EXPECT_THAT(testing::replay(call, *draft.build()).problem, HasSubstr("goes back a round"));
}

TEST(Replay, CatchesRoundsThatOneMemberLeavesInTheWrongOrder) {
  // Both sends are free and go the same way: the first in line would wait for the round after the second.
  SendPlanBuilder builder(2, 2);
  builder.add({.from = 0, .to = 1, .bytes = {5}, .first_chunk = 0, .round = 1});
  builder.add({.from = 0, .to = 1, .bytes = {5}, .first_chunk = 1, .round = 0});
  const auto plan = std::move(builder).build();
  const CollectiveCall call{.op = CollectiveOp::kSend, .size = {10}, .pieces = 2};
  EXPECT_THAT(testing::replay(call, *plan).problem, HasSubstr("in a later round"));
}

/// A sound plan with one false statement about itself.
class Liar : public SendPlan {
 public:
  enum class Lie { kNone, kWaits, kMost, kWire, kPairs, kFrom, kTo, kCritical, kMembers, kReleased, kInitial, kCircle };

  explicit Liar(Lie lie) : lie_(lie), truth_(replayed_plan("ring", all_reduce())) {}

  Member members() const override { return truth_->members() + off(Lie::kMembers); }
  SendIndex send_count() const override { return truth_->send_count(); }
  SendIndex initial_sends() const override { return truth_->initial_sends() + 1000 * off(Lie::kInitial); }
  Send send(SendIndex i) const override { return truth_->send(i); }
  std::uint32_t waits_for(SendIndex i) const override { return truth_->waits_for(i) + (i == 20 ? off(Lie::kWaits) : 0); }
  void released_by(SendIndex arrived, std::vector<SendIndex>& out) const override {
    truth_->released_by(arrived, out);
    if (lie_ == Lie::kReleased && arrived == 0) out.push_back(48);
    if (lie_ == Lie::kCircle && arrived == 46) out.push_back(10);
  }
  std::uint32_t rounds() const override { return truth_->rounds(); }
  std::vector<MemberPair> pairs(std::uint32_t round) const override {
    auto pairs = truth_->pairs(round);
    if (lie_ == Lie::kPairs) std::swap(pairs[0], pairs[1]);
    return pairs;
  }
  std::uint32_t sends_from(Member m, std::uint32_t r) const override { return truth_->sends_from(m, r) + off(Lie::kFrom); }
  std::uint32_t sends_to(Member m, std::uint32_t r) const override { return truth_->sends_to(m, r) + off(Lie::kTo); }
  std::uint32_t most_waits() const override { return truth_->most_waits() + off(Lie::kMost); }
  std::uint32_t chunk_count() const override { return truth_->chunk_count(); }
  Bytes wire_bytes() const override { return truth_->wire_bytes() + Bytes{off(Lie::kWire)}; }
  std::uint32_t critical_sends() const override { return truth_->critical_sends() + off(Lie::kCritical); }

 private:
  [[nodiscard]] std::uint32_t off(Lie lie) const { return lie_ == lie ? 1 : 0; }

  Lie lie_;
  std::unique_ptr<const SendPlan> truth_;
};

TEST(Replay, CatchesAPlanThatLies) {
  using Lie = Liar::Lie;
  const auto problem = [](Lie lie) { return testing::replay(all_reduce(), Liar(lie)).problem; };
  EXPECT_EQ(problem(Lie::kNone), "");
  EXPECT_THAT(problem(Lie::kWaits), HasSubstr("waits_for is 2 in place of 1"));
  EXPECT_THAT(problem(Lie::kMost), HasSubstr("most_waits is 2 in place of 1"));
  EXPECT_THAT(problem(Lie::kWire), HasSubstr("wire_bytes is 6001 in place of 6000"));  // 2 * 3 * 1000
  EXPECT_THAT(problem(Lie::kPairs), HasSubstr("pairs()"));
  EXPECT_THAT(problem(Lie::kFrom), HasSubstr("sends_from"));
  EXPECT_THAT(problem(Lie::kTo), HasSubstr("sends_to"));
  EXPECT_THAT(problem(Lie::kCritical), HasSubstr("critical_sends is 7 in place of 6"));  // 2 * 3
  EXPECT_THAT(problem(Lie::kMembers), HasSubstr("members()"));
  EXPECT_THAT(problem(Lie::kReleased), HasSubstr("does not exist"));
  EXPECT_THAT(problem(Lie::kInitial), HasSubstr("initial_sends"));
  EXPECT_NE(problem(Lie::kCircle), "");
}

}  // namespace
}  // namespace photonrail
