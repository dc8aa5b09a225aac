// Tasks that name a demand, and what the builder asks of it.
#include "photonrail/task_graph.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace photonrail {
namespace {

using ::testing::HasSubstr;

/// Two ranks, a program each, one group; the source has one matrix for `members`.
struct Pair {
  TaskGraphBuilder builder{2};
  CommunicatorId group = builder.add_communicator("both", {RankId{0}, RankId{1}}, Dimension::kEp);
  ProgramId a = builder.add_program();
  ProgramId b = builder.add_program();

  explicit Pair(Member members = 2) {
    auto table = std::make_shared<DemandTable>();
    table->add(TrafficMatrix(members));
    builder.set_demands(std::move(table));
  }
  TaskGraph build() {
    builder.assign(RankId{0}, a, {group});
    builder.assign(RankId{1}, b, {group});
    return std::move(builder).build();
  }
};

TEST(Demand, IsKeptInTheTask) {
  Pair job;
  for (const ProgramId p : {job.a, job.b}) {
    job.builder.add_all_to_all(p, 0, 1, Bytes{10});
    job.builder.add_collective(p, 0, CollectiveOp::kAllToAll, Bytes{10}, {}, {}, 1);  // an all-to-all has no root
  }
  const TaskGraph graph = job.build();
  ASSERT_NE(graph.demands(), nullptr);
  EXPECT_EQ(graph.demands()->members(1), 2u);
  const TaskGraph copy = graph;
  EXPECT_EQ(copy.demands(), graph.demands());
  EXPECT_EQ(graph.program(RankId{0}).task(TaskId{0}).demand(), 1u);
  EXPECT_EQ(graph.program(RankId{0}).task(TaskId{1}).demand(), 0u);
}

TEST(Demand, OfMembersMustAgree) {
  Pair job;
  job.builder.add_all_to_all(job.a, 0, 1, Bytes{10});
  job.builder.add_collective(job.b, 0, CollectiveOp::kAllToAll, Bytes{10});
  EXPECT_THAT(test::error_of([&] { (void)job.build(); }).what(), HasSubstr("says demand 1, rank 1 task 0 says demand 0"));
}

TEST(Demand, MustExistAndFitTheGroup) {
  Pair absent;
  Pair larger(3);
  Pair none;
  none.builder.set_demands(nullptr);
  for (const ProgramId p : {absent.a, absent.b}) absent.builder.add_all_to_all(p, 0, 2, Bytes{10});
  for (const ProgramId p : {larger.a, larger.b}) larger.builder.add_all_to_all(p, 0, 1, Bytes{10});
  for (const ProgramId p : {none.a, none.b}) none.builder.add_all_to_all(p, 0, 1, Bytes{10});
  EXPECT_THAT(test::error_of([&] { (void)absent.build(); }).what(), HasSubstr("names demand 2, which does not exist"));
  EXPECT_THAT(test::error_of([&] { (void)larger.build(); }).what(), HasSubstr("is for 3 members, but there are 2"));
  EXPECT_THAT(test::error_of([&] { (void)none.build(); }).what(), HasSubstr("names demand 1, which does not exist"));
}

}  // namespace
}  // namespace photonrail
