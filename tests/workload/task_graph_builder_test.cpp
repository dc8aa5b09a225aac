#include "photonrail/error.hpp"
#include "photonrail/task_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<RankId> ranks(std::initializer_list<std::size_t> values) {
  std::vector<RankId> result;
  for (const std::size_t v : values) result.emplace_back(v);
  return result;
}

/// The message of the ConfigError that `action` throws.
std::string config_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

/// Two ranks with a program each, and one group of both.
struct TwoRanks {
  TaskGraphBuilder builder{2};
  CommunicatorId group = builder.add_communicator("both", ranks({0, 1}), Dimension::kDp);
  ProgramId a = builder.add_program();
  ProgramId b = builder.add_program();

  TaskGraph build() {
    builder.assign(RankId{0}, a, {group});
    builder.assign(RankId{1}, b, {group});
    return std::move(builder).build();
  }
};

/// One rank that only computes.
struct OneRank {
  TaskGraphBuilder builder{1};
  ProgramId p = builder.add_program();

  TaskGraph build() {
    builder.assign(RankId{0}, p, {});
    return std::move(builder).build();
  }
};

// What a task of another kind would have is zero, and a number has one meaning.
TEST(Task, HasWhatItsKindHas) {
  const Task delay = Task::delay(Duration{9});
  EXPECT_EQ(delay.time(), Duration{9});
  EXPECT_EQ(delay.memory(), Bytes{});
  EXPECT_EQ(delay.size(), Bytes{});
  const Task compute = Task::compute(2.0, Bytes{7}, Stream::kHost);
  EXPECT_EQ(compute.time(), std::nullopt);
  EXPECT_EQ(compute.memory(), Bytes{7});
  EXPECT_EQ(compute.size(), Bytes{});
  const Task broadcast = Task::collective(1, CollectiveOp::kBroadcast, Bytes{5}, 3);
  EXPECT_EQ(broadcast.root(), 3u);
  EXPECT_EQ(broadcast.demand(), 0u);
  EXPECT_EQ(broadcast.size(), Bytes{5});
  EXPECT_EQ(broadcast.memory(), Bytes{});
  const Task uneven = Task::all_to_all(1, 4, Bytes{5});
  EXPECT_EQ(uneven.root(), 0u);
  EXPECT_EQ(uneven.demand(), 4u);
  EXPECT_EQ(Task::collective(1, CollectiveOp::kAllToAll, Bytes{5}, 3).demand(), 0u) << "a root is no number of a matrix";
  EXPECT_EQ(Task::demand_compute(1, 4, 2.0).demand(), 4u);
  EXPECT_EQ(Task::demand_compute(1, 4, 2.0).root(), 0u);
  EXPECT_EQ(Task::receive(0, 2, Bytes{5}).kind, TaskKind::kReceive);
}

// The slots of a program of one rank are numbered in the order in which its tasks first name a communicator.
TEST(TaskGraphBuilder, TasksOfOneRankNameTheirCommunicators) {
  TaskGraphBuilder builder(2);
  const auto both = builder.add_communicator("both", {RankId{0}, RankId{1}}, Dimension::kDp);
  const auto forth = builder.link(RankId{0}, RankId{1}, Dimension::kPp);
  const ProgramId first = builder.add_program();
  builder.add_send(first, forth, Bytes{1}, 0);
  builder.add_collective(first, both, CollectiveOp::kAllReduce, Bytes{2});
  builder.add_collective(first, both, CollectiveOp::kAllReduce, Bytes{3});
  const ProgramId second = builder.add_program();
  builder.add_receive(second, forth, Bytes{1}, 0);
  builder.add_collective(second, both, CollectiveOp::kAllReduce, Bytes{2});
  builder.add_collective(second, both, CollectiveOp::kAllReduce, Bytes{3});
  builder.assign(RankId{0}, first);
  builder.assign(RankId{1}, second);
  const TaskGraph graph = std::move(builder).build();
  EXPECT_THAT(graph.slots(RankId{0}), ElementsAre(forth, both));
  EXPECT_EQ(graph.program(RankId{0}).task(TaskId{0}).slot, 0u);
  EXPECT_EQ(graph.program(RankId{0}).task(TaskId{2}).slot, 1u);
}

TEST(TaskGraphBuilder, KeepsTasksNamesAndSuccessors) {
  OneRank job;
  const TaskId a = job.builder.add_compute(job.p, 5.0, Bytes{7}, "a");
  const TaskId b = job.builder.add_delay(job.p, Duration{9}, "", std::vector{a}, Stream::kHost);
  const TaskId c = job.builder.add_compute(job.p, 1.0, Bytes{1}, "c", std::vector{b, a, a});
  const TaskGraph graph = job.build();
  const Program& program = graph.program(RankId{0});
  EXPECT_EQ(program.task(a).flops, 5.0);
  EXPECT_EQ(program.task(a).memory(), Bytes{7});
  EXPECT_EQ(program.task(b).time(), Duration{9});
  EXPECT_EQ(program.task(b).stream, Stream::kHost);
  EXPECT_EQ(program.name(a), "a");
  EXPECT_EQ(program.name(b), "");
  EXPECT_EQ(program.name(c), "c");
  // c names a twice: it counts once.
  EXPECT_THAT(program.successors(a), ElementsAre(b, c));
  EXPECT_THAT(program.successors(b), ElementsAre(c));
  EXPECT_TRUE(program.successors(c).empty());
  EXPECT_EQ(program.task(a).waits, 0u);
  EXPECT_EQ(program.task(b).waits, 1u);
  EXPECT_EQ(program.task(c).waits, 2u);
}

TEST(TaskGraphBuilder, MayDependOnATaskThatComesLater) {
  OneRank job;
  const TaskId first = job.builder.add_compute(job.p, 1.0, {}, "first", std::vector{TaskId{1}});
  const TaskId second = job.builder.add_compute(job.p, 1.0, {}, "second");
  const TaskGraph graph = job.build();
  EXPECT_THAT(graph.program(RankId{0}).successors(second), ElementsAre(first));
  EXPECT_EQ(graph.program(RankId{0}).name(TaskId{1}), "second");
}

TEST(TaskGraphBuilder, AcceptsEmptyPrograms) {
  OneRank job;
  const TaskGraph graph = job.build();
  EXPECT_EQ(graph.task_count(), 0u);
  EXPECT_TRUE(graph.program(RankId{0}).tasks().empty());
}

TEST(TaskGraphBuilder, CountsTasksOverRanksThatShareAProgram) {
  TaskGraphBuilder builder(3);
  const ProgramId p = builder.add_program();
  builder.add_compute(p, 1.0, {});
  builder.add_compute(p, 1.0, {});
  for (std::size_t r = 0; r < 3; ++r) builder.assign(RankId{r}, p, {});
  const TaskGraph graph = std::move(builder).build();
  EXPECT_EQ(graph.programs().size(), 1u);
  EXPECT_EQ(graph.task_count(), 6u);
}

TEST(TaskGraphBuilder, RefusesADependencyOnItself) {
  OneRank job;
  job.builder.add_compute(job.p, 1.0, {}, "loop", std::vector{TaskId{0}});
  EXPECT_THAT(config_error([&] { job.build(); }), HasSubstr("task 0 ('loop') waits for itself"));
}

TEST(TaskGraphBuilder, RefusesADependencyOnNothing) {
  OneRank job;
  job.builder.add_compute(job.p, 1.0, {}, "x", std::vector{TaskId{4}});
  EXPECT_THAT(config_error([&] { job.build(); }), HasSubstr("task 0 ('x') waits for task 4, which does not exist"));
}

TEST(TaskGraphBuilder, NamesTheTasksOfACycleAndNoOthers) {
  OneRank job;
  // before -> b -> d -> c -> b, and after hangs behind the cycle.
  const TaskId before = job.builder.add_compute(job.p, 1.0, {}, "before");
  const TaskId b = job.builder.add_compute(job.p, 1.0, {}, "b", std::vector{before, TaskId{2}});
  job.builder.add_compute(job.p, 1.0, {}, "c", std::vector{TaskId{3}});
  const TaskId d = job.builder.add_compute(job.p, 1.0, {}, "d", std::vector{b});
  job.builder.add_compute(job.p, 1.0, {}, "after", std::vector{d});
  const std::string message = config_error([&] { job.build(); });
  EXPECT_THAT(message, HasSubstr("rank 0 (program 0)"));
  EXPECT_THAT(message, HasSubstr("task 1 ('b') -> task 3 ('d') -> task 2 ('c') -> task 1 ('b')"));
  EXPECT_THAT(message, Not(HasSubstr("before")));
  EXPECT_THAT(message, Not(HasSubstr("after")));
}

TEST(TaskGraphBuilder, NumbersCallsBySlotAndMessagesByTag) {
  TaskGraphBuilder builder(2);
  const CommunicatorId group = builder.add_communicator("g", ranks({1, 0}), Dimension::kDp);
  const CommunicatorId there = builder.link(RankId{0}, RankId{1}, Dimension::kPp);
  const ProgramId a = builder.add_program();
  const ProgramId b = builder.add_program();
  const std::vector<std::uint32_t> tags{7, 3, 7};
  builder.add_collective(a, 0, CollectiveOp::kAllReduce, {8});
  for (const std::uint32_t tag : tags) builder.add_send(a, 1, Bytes{10 + tag}, tag);
  builder.add_collective(a, 0, CollectiveOp::kAllGather, {8});
  // The receiver asks for tag 3 first: only equal tags meet.
  for (const std::uint32_t tag : {3u, 7u, 7u}) builder.add_receive(b, 1, Bytes{10 + tag}, tag);
  builder.add_collective(b, 0, CollectiveOp::kAllReduce, {8});
  builder.add_collective(b, 0, CollectiveOp::kAllGather, {8});
  builder.assign(RankId{0}, a, {group, there});
  builder.assign(RankId{1}, b, {group, there});
  const TaskGraph graph = std::move(builder).build();
  const auto matches = [&](std::size_t rank) {
    std::vector<std::uint32_t> result;
    for (const Task& t : graph.program(RankId{rank}).tasks()) result.push_back(t.match);
    return result;
  };
  EXPECT_THAT(matches(0), ElementsAre(0, 0, 0, 1, 1));  // all-reduce, 7, 3, 7, all-gather
  EXPECT_THAT(matches(1), ElementsAre(0, 0, 1, 0, 1));  // 3, 7, 7, all-reduce, all-gather
  EXPECT_TRUE(graph.warnings().empty());
  EXPECT_THAT(graph.communicators()[group.index()].members, ElementsAre(RankId{0}, RankId{1}));
}

TEST(TaskGraphBuilder, MakesOneLinkPerDirection) {
  TaskGraphBuilder builder(2);
  const CommunicatorId there = builder.link(RankId{0}, RankId{1}, Dimension::kPp);
  const CommunicatorId back = builder.link(RankId{1}, RankId{0}, Dimension::kPp);
  EXPECT_NE(there, back);
  EXPECT_EQ(there, builder.link(RankId{0}, RankId{1}, Dimension::kPp));
}

TEST(TaskGraphBuilder, RefusesCallsThatDisagreeAboutTheOperation) {
  TwoRanks job;
  job.builder.add_collective(job.a, 0, CollectiveOp::kAllReduce, {8}, "x");
  job.builder.add_collective(job.a, 0, CollectiveOp::kAllReduce, {8}, "y");
  job.builder.add_collective(job.b, 0, CollectiveOp::kAllReduce, {8}, "x");
  job.builder.add_collective(job.b, 0, CollectiveOp::kAllGather, {8}, "z");
  const std::string message = config_error([&] { job.build(); });
  EXPECT_THAT(message, HasSubstr("communicator both, call 2"));
  EXPECT_THAT(message, HasSubstr("rank 0 task 1 ('y') says all_reduce"));
  EXPECT_THAT(message, HasSubstr("rank 1 task 1 ('z') says all_gather"));
}

TEST(TaskGraphBuilder, RefusesCallsThatDisagreeAboutTheSize) {
  TwoRanks job;
  job.builder.add_collective(job.a, 0, CollectiveOp::kAllReduce, {8}, "x");
  job.builder.add_collective(job.b, 0, CollectiveOp::kAllReduce, {9}, "x");
  const std::string message = config_error([&] { job.build(); });
  EXPECT_THAT(message, HasSubstr("8 bytes"));
  EXPECT_THAT(message, HasSubstr("9 bytes"));
}

TEST(TaskGraphBuilder, ComparesRootsOfRootedCallsOnlyAndNoSizesOfBarriers) {
  TwoRanks good;
  good.builder.add_collective(good.a, 0, CollectiveOp::kAllReduce, {8}, "", {}, 0);
  good.builder.add_collective(good.b, 0, CollectiveOp::kAllReduce, {8}, "", {}, 1);
  good.builder.add_collective(good.a, 0, CollectiveOp::kBarrier, {0});
  good.builder.add_collective(good.b, 0, CollectiveOp::kBarrier, {4});
  EXPECT_EQ(good.build().task_count(), 4u);

  TwoRanks bad;
  bad.builder.add_collective(bad.a, 0, CollectiveOp::kBroadcast, {8}, "", {}, 0);
  bad.builder.add_collective(bad.b, 0, CollectiveOp::kBroadcast, {8}, "", {}, 1);
  const std::string message = config_error([&] { bad.build(); });
  EXPECT_THAT(message, HasSubstr("root 0"));
  EXPECT_THAT(message, HasSubstr("root 1"));

  TwoRanks outside;
  outside.builder.add_collective(outside.a, 0, CollectiveOp::kBroadcast, {8}, "", {}, 2);
  outside.builder.add_collective(outside.b, 0, CollectiveOp::kBroadcast, {8}, "", {}, 2);
  EXPECT_THAT(config_error([&] { outside.build(); }), HasSubstr("has root 2, but there are 2 members"));
}

TEST(TaskGraphBuilder, RefusesAMessageOfTwoSizes) {
  TaskGraphBuilder builder(2);
  const CommunicatorId link = builder.link(RankId{1}, RankId{0}, Dimension::kPp);
  const ProgramId a = builder.add_program();
  const ProgramId b = builder.add_program();
  builder.add_receive(a, 0, {8}, 5, "in");
  builder.add_send(b, 0, {9}, 5, "out");
  builder.assign(RankId{0}, a, {link});
  builder.assign(RankId{1}, b, {link});
  const std::string message = config_error([&] { static_cast<void>(std::move(builder).build()); });
  EXPECT_THAT(message, HasSubstr("tag 5"));
  EXPECT_THAT(message, HasSubstr("rank 1 task 0 ('out') sends 9 bytes, rank 0 task 0 ('in') expects 8"));
}

TEST(TaskGraphBuilder, RefusesTheWrongEndOfALink) {
  TaskGraphBuilder builder(2);
  const CommunicatorId link = builder.link(RankId{1}, RankId{0}, Dimension::kPp);
  const ProgramId p = builder.add_program();
  builder.add_send(p, 0, {8}, 0);
  builder.assign(RankId{0}, p, {link});
  builder.assign(RankId{1}, p, {link});
  EXPECT_THAT(config_error([&] { static_cast<void>(std::move(builder).build()); }),
              HasSubstr("rank 0 task 0 is not a receive"));
}

TEST(TaskGraphBuilder, RefusesASendOnAGroup) {
  TwoRanks job;
  job.builder.add_send(job.a, 0, {8}, 0);
  EXPECT_THAT(config_error([&] { job.build(); }), HasSubstr("communicator both"));
}

TEST(TaskGraphBuilder, WarnsOfCallsThatAMemberNeverMakes) {
  TwoRanks job;
  job.builder.add_collective(job.b, 0, CollectiveOp::kAllReduce, {8}, "x");
  job.builder.add_collective(job.b, 0, CollectiveOp::kAllReduce, {8}, "y");
  job.builder.add_collective(job.a, 0, CollectiveOp::kAllReduce, {8}, "x");
  const TaskGraph graph = job.build();
  ASSERT_EQ(graph.warnings().size(), 1u);
  EXPECT_THAT(graph.warnings()[0], HasSubstr("communicator both: rank 0 makes 1 calls, rank 1 makes 2"));
  EXPECT_THAT(graph.warnings()[0], HasSubstr("rank 1 task 1 ('y')"));
}

TEST(TaskGraphBuilder, WarnsInFullOfEightCommunicatorsAndCountsTheRest) {
  // Eleven links with a send and no receive: eight lines, and one for the other three.
  TaskGraphBuilder builder(12);
  const ProgramId sender = builder.add_program();
  const ProgramId silent = builder.add_program();
  std::vector<CommunicatorId> links;
  for (std::uint32_t i = 0; i < 11; ++i) {
    builder.add_send(sender, i, {8}, 2);
    links.push_back(builder.link(RankId{0}, RankId{i + 1}, Dimension::kPp));
    builder.assign(RankId{i + 1}, silent, {});
  }
  builder.assign(RankId{0}, sender, links);
  builder.warn("from the reader");
  const TaskGraph graph = std::move(builder).build();
  ASSERT_EQ(graph.warnings().size(), 10u);
  EXPECT_EQ(graph.warnings()[0], "from the reader");
  EXPECT_THAT(graph.warnings()[1], HasSubstr("link.0>1: 1 send and 0 receives"));
  EXPECT_THAT(graph.warnings()[9], HasSubstr("and 3 more"));
}

TEST(TaskGraphBuilder, RefusesBadCommunicators) {
  TaskGraphBuilder builder(2);
  const auto add = [&](std::vector<RankId> members, bool point_to_point = false) {
    return config_error([&] { builder.add_communicator("c", std::move(members), Dimension::kDp, point_to_point); });
  };
  EXPECT_THAT(add({}), HasSubstr("has no members"));
  EXPECT_THAT(add(ranks({0, 2})), HasSubstr("rank 2 is not a rank of the job"));
  EXPECT_THAT(add(ranks({1, 1})), HasSubstr("rank 1 is a member twice"));
  EXPECT_THAT(add(ranks({1}), true), HasSubstr("point to point"));
  EXPECT_EQ(add(ranks({1})), "no ConfigError");  // groups of one occur in traces
}

TEST(TaskGraphBuilder, RefusesBadAssignments) {
  const auto build = [](const std::function<void(TwoRanks&)>& fill) {
    TwoRanks job;
    job.builder.add_collective(job.a, 1, CollectiveOp::kAllReduce, {8}, "x");
    return config_error([&] {
      fill(job);
      static_cast<void>(std::move(job.builder).build());
    });
  };
  EXPECT_THAT(build([](TwoRanks& j) { j.builder.assign(RankId{0}, j.b, {}); }), HasSubstr("rank 1: has no program"));
  EXPECT_THAT(build([](TwoRanks& j) { j.builder.assign(RankId{2}, j.a, {}); }), HasSubstr("rank 2: is not a rank"));
  EXPECT_THAT(build([](TwoRanks& j) {
                j.builder.assign(RankId{0}, j.a, {j.group});
                j.builder.assign(RankId{1}, j.b, {j.group});
              }),
              HasSubstr("rank 0: task 0 ('x') communicates on slot 1, which is not given"));
  EXPECT_THAT(build([](TwoRanks& j) {
                j.builder.assign(RankId{0}, j.a, {j.group, j.group});
                j.builder.assign(RankId{1}, j.b, {});
              }),
              HasSubstr("rank 0: has communicator both in two slots"));
  EXPECT_THAT(build([](TwoRanks& j) {
                const CommunicatorId alone = j.builder.add_communicator("alone", ranks({1}), Dimension::kDp);
                j.builder.assign(RankId{0}, j.a, {j.group, alone});
                j.builder.assign(RankId{1}, j.b, {});
              }),
              HasSubstr("communicator alone, which it is not a member of"));
}

TEST(TaskGraphBuilder, RefusesAmountsThatMakeNoSense) {
  OneRank job;
  EXPECT_THAT(config_error([&] { job.builder.add_compute(job.p, -1.0, {}, "x"); }), HasSubstr("task 0 ('x')"));
  EXPECT_THROW(job.builder.add_delay(job.p, Duration{-1}), ConfigError);
  EXPECT_THROW(job.builder.add_send(job.p, 0, Bytes{-1}, 0), ConfigError);
  EXPECT_THROW(job.builder.add_compute(ProgramId{9}, 1.0, {}), ConfigError);
}

}  // namespace
}  // namespace photonrail
