#include "rl/prefix_tree.hpp"
#include "photonrail/core/random.hpp"
#include "rl/hit_share.hpp"
#include "support/shared_data.hpp"

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace photonrail::rl {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<CallId> calls(std::string_view letters) { return {letters.begin(), letters.end()}; }

std::vector<EnvironmentId> put_at(PrefixTree& tree, std::string_view history, EnvironmentId environment, double now) {
  const std::vector<CallValue> values(history.size());
  return tree.put(calls(history), environment, values, now);
}

TEST(PrefixTree, FindsWholeHistoriesAndTheDeepestEnvironment) {
  PrefixTree tree;
  tree.put(calls("ab"), 1, std::vector<CallValue>{{10, 0.5}, {11, 1.5}}, 1.0);
  EXPECT_FALSE(tree.get(calls("b"), 2.0));  // the same call after another history
  ASSERT_TRUE(tree.get(calls("a"), 2.0));
  EXPECT_EQ(tree.get(calls("a"), 2.0)->environment, 0u);
  EXPECT_EQ(tree.get(calls("ab"), 2.0)->value.value, 11u);
  EXPECT_DOUBLE_EQ(tree.get(calls("ab"), 2.0)->value.seconds, 1.5);
  const auto match = tree.prefix_match(calls("abca"), 3.0);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->environment, 1u);
  EXPECT_EQ(match->depth, 2u);
  EXPECT_FALSE(tree.prefix_match(calls("a"), 3.0));  // known, but its sandbox was not kept
}

// Budget 3, down to int(0.7 x 3) = 2: the fourth environment evicts two. Leaves first, the oldest first: ab (made at 2) and
// c (3); a (1) has a child. A referenced one is skipped.
TEST(PrefixTree, EvictsLeavesFirstThenTheOldest) {
  for (const bool referenced : {false, true}) {
    PrefixTree tree({.budget = 3});
    put_at(tree, "a", 1, 1.0);
    put_at(tree, "ab", 2, 2.0);
    put_at(tree, "c", 3, 3.0);
    if (referenced) {
      EXPECT_TRUE(tree.prefix_match(calls("ab"), 3.5));
      EXPECT_THAT(put_at(tree, "d", 4, 4.0), ElementsAre(3u, 4u));
    } else {
      EXPECT_THAT(put_at(tree, "d", 4, 4.0), ElementsAre(2u, 3u));
    }
    EXPECT_EQ(tree.environments(), 2u);
    EXPECT_TRUE(tree.get(calls("c"), 5.0));  // values stay
    if (referenced) tree.unref(2);
  }
}

TEST(PrefixTree, OneEnvironmentANodeAndOneNodeAnEnvironment) {
  PrefixTree tree;
  EXPECT_THAT(put_at(tree, "a", 1, 1.0), IsEmpty());
  EXPECT_THAT(put_at(tree, "a", 2, 2.0), ElementsAre(2u));  // the first stays
  EXPECT_THAT(put_at(tree, "ab", 1, 3.0), IsEmpty());       // moved on: "a" loses it
  EXPECT_EQ(tree.environments(), 1u);
  EXPECT_EQ(tree.get(calls("a"), 4.0)->environment, 0u);
  EXPECT_EQ(tree.get(calls("ab"), 4.0)->environment, 1u);
}

TEST(PrefixTree, CutsWhatHasExpiredWithItsSubtree) {
  PrefixTree tree({.seconds_to_live = 10.0});
  put_at(tree, "a", 1, 0.0);
  put_at(tree, "ab", 2, 8.0);
  EXPECT_TRUE(tree.get(calls("ab"), 10.0));
  EXPECT_FALSE(tree.get(calls("ab"), 10.5));  // "a" is older than 10 s
  EXPECT_EQ(tree.environments(), 0u);
  put_at(tree, "a", 3, 11.0);
  EXPECT_FALSE(tree.get(calls("ab"), 11.0));
}

/// Plays one of the recorded operations. Values in the file are the letters of the history.
class TreeReplay {
 public:
  explicit TreeReplay(std::uint32_t budget) : tree_({.budget = budget}) {}

  void play(const json& op) {
    const std::string kind = op["op"];
    const double now = op["t"];
    if (kind == "put") return put(op, now);
    if (kind == "unref") return tree_.unref(number(op["env"]));
    const std::vector<CallId> history = letters(op["calls"]);
    if (kind == "get") {
      const auto found = tree_.get(history, now);
      ASSERT_EQ(found.has_value(), op["hit"].get<bool>()) << op;
      if (!found) return;
      EXPECT_EQ(found->environment, number(op["env"])) << op;
      EXPECT_EQ(values_[found->value.value], op["value"].get<std::string>()) << op;
      EXPECT_DOUBLE_EQ(found->value.seconds, op["seconds"].get<double>()) << op;
      return;
    }
    const auto match = tree_.prefix_match(history, now);
    ASSERT_EQ(match.has_value(), op["hit"].get<bool>()) << op;
    if (!match) return;
    EXPECT_EQ(match->environment, number(op["env"])) << op;
    EXPECT_EQ(match->depth, op["history"].size()) << op;
  }

 private:
  static std::vector<CallId> letters(const json& list) {
    std::vector<CallId> history;
    for (const auto& call : list) history.push_back(static_cast<CallId>(call.get<std::string>()[0]));
    return history;
  }
  static EnvironmentId number(const json& name) {
    return name.is_null() ? 0 : static_cast<EnvironmentId>(std::stoul(name.get<std::string>().substr(1)));
  }
  void put(const json& op, double now) {
    std::string so_far;
    std::vector<CallValue> values;
    for (std::size_t i = 0; i < op["history"].size(); ++i) {
      so_far += op["history"][i].get<std::string>();
      values.push_back({values_.size(), op["seconds"][i].get<double>()});
      values_.push_back(so_far);
    }
    std::vector<EnvironmentId> removed;
    for (const auto& name : op["removed"]) removed.push_back(number(name));
    EXPECT_EQ(tree_.put(letters(op["history"]), number(op["env"]), values, now), removed) << op;
  }

  PrefixTree tree_;
  std::vector<std::string> values_;
};

TEST(PrefixTree, AnswersTheRecordedOperationsOfTvcache) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const json recorded = json::parse(std::ifstream(data / "rl_rows" / "prefix_tree.json"));
  std::size_t operations = 0;
  for (const auto& sequence : recorded["sequences"]) {
    TreeReplay replay(sequence["budget"]);
    for (const auto& op : sequence["operations"]) {
      replay.play(op);
      ++operations;
    }
  }
  EXPECT_EQ(operations, 480u);
}

// D = 1, R = 2: the second rollout finds a call of probability p with p: (p1^2 + p2^2) / 2 of all calls.
TEST(ExpectedHitShare, OfTwoRolloutsByHand) {
  EXPECT_NEAR(expected_hit_share(2, 1, std::vector{0.9, 0.1}), (0.81 + 0.01) / 2, 1e-12);
  EXPECT_NEAR(expected_hit_share(4, 3, std::vector{1.0}), 0.75, 1e-12);
}

/// Rollouts one after another through the tree, an environment kept at the end of each.
double simulated_hit_share(std::uint32_t rollouts, std::uint32_t depth, std::span<const double> choices, int tasks) {
  RandomStream random(1, "hit share");
  std::uint64_t hits = 0;
  for (int task = 0; task < tasks; ++task) {
    PrefixTree tree;
    for (std::uint32_t r = 0; r < rollouts; ++r) {
      std::vector<CallId> history;
      for (std::uint32_t d = 0; d < depth; ++d) {
        double draw = random.uniform();
        CallId call = 0;
        while (call + 1 < choices.size() && draw >= choices[call]) draw -= choices[call++];
        history.push_back(call);
        if (tree.get(history, r)) {
          ++hits;
        } else {
          tree.put(history, r * depth + d + 1, std::vector<CallValue>(history.size()), r);
        }
      }
    }
  }
  return static_cast<double>(hits) / (static_cast<double>(tasks) * rollouts * depth);
}

// The reference's figures, to their last digit; the tree agrees to 1 %.
TEST(ExpectedHitShare, AgreesWithTheTreeAndTheReference) {
  struct Case {
    std::uint32_t rollouts, depth;
    std::vector<double> choices;
    double share;
  };
  for (const Case& c : {Case{16, 5, {0.9, 0.1}, 0.771}, Case{16, 10, {0.9, 0.1}, 0.629}, Case{16, 10, {0.97, 0.03}, 0.810},
                        Case{64, 10, {0.9, 0.1}, 0.805}, Case{16, 10, {0.8, 0.1, 0.1}, 0.388}}) {
    const double expected = expected_hit_share(c.rollouts, c.depth, c.choices);
    EXPECT_NEAR(expected, c.share, 0.0006);
    EXPECT_NEAR(simulated_hit_share(c.rollouts, c.depth, c.choices, c.rollouts > 16 ? 150 : 400) / expected, 1.0, 0.01);
  }
}

}  // namespace
}  // namespace photonrail::rl
