// The parts of folding, each built alone.
#include "fabric/sheets.hpp"
#include "folding/call_table.hpp"
#include "folding/circuit_pairs.hpp"
#include "folding/circuit_sheets.hpp"
#include "folding/colour_refinement.hpp"
#include "folding/folding.hpp"
#include "folding/id_table.hpp"
#include "folding/member_placement.hpp"
#include "folding/order_ambiguity.hpp"
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace photonrail::folding {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(IdTable, EqualKeysHaveEqualNumbersInTheOrderOfTheirComing) {
  IdTable ids;
  const std::vector<std::uint32_t> a{1, 2};
  const std::vector<std::uint32_t> b{2, 1};
  EXPECT_EQ(ids.number(a), 0u);
  EXPECT_EQ(ids.number(b), 1u);
  EXPECT_EQ(ids.number(a), 0u);
  EXPECT_EQ(ids.size(), 2u);
}

TEST(OrderAmbiguity, TheFirstReportCounts) {
  OrderAmbiguity ambiguity;
  EXPECT_FALSE(ambiguity.found());
  ambiguity.report("one");
  ambiguity.report("two");
  EXPECT_EQ(ambiguity.why(), "one");
}

struct Built {
  explicit Built(test::Job made) : job(std::move(made)) { job.build(); }
  [[nodiscard]] FoldingInput input() const {
    return {job.scenario.graph, job.scenario.gpu_of_rank, job.scenario.cluster, algorithms};
  }
  test::Job job;
  CollectiveRegistry registry = CollectiveRegistry::builtin();
  collective::AlgorithmTable algorithms{job.scenario.collectives, registry};
};

// Programs are equal where TinyJob gives every rank its own with the same tasks.
test::Job ring_of_four() {
  test::Job job(4);
  const auto dp = job.group({0, 1, 2, 3});
  job.collective(dp, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 400);
  return job;
}

TEST(CallTable, EqualProgramsShareTheirCalls) {
  const Built built(ring_of_four());
  const CallTable calls(built.job.scenario.graph, built.algorithms);
  EXPECT_EQ(calls.problem(), "");
  EXPECT_EQ(calls.programs(), 1u);
  ASSERT_EQ(calls.calls(CommunicatorId{0u}).size(), 1u);
  EXPECT_EQ(calls.calls(CommunicatorId{0u})[0].members, 4u);
}

TEST(ColourRefinement, ARingOfEqualRanksIsOneClass) {
  const Built built(ring_of_four());
  const CallTable calls(built.job.scenario.graph, built.algorithms);
  const FoldingInput job = built.input();
  const GroupLayouts layouts(job, calls);
  EXPECT_EQ(layouts.unit(CommunicatorId{0u}), 1u);
  const ColourRefinement refinement(job, calls, layouts, false);
  EXPECT_EQ(refinement.problem(), "");
  EXPECT_EQ(refinement.classes(), 1u);
  EXPECT_EQ(refinement.groups()[0].period, 1u);
}

// A group of four in two servers of two: its members come back to where they were when they are moved by two.
TEST(GroupLayouts, AGridOfServersAndRailsTurnsByServers) {
  test::Job job(4, 2);
  const auto ep = job.group({0, 1, 2, 3});
  job.collective(ep, {0, 1, 2, 3}, CollectiveOp::kAllToAll, 400);
  const Built built(std::move(job));
  const CallTable calls(built.job.scenario.graph, built.algorithms);
  const FoldingInput input = built.input();
  const GroupLayouts layouts(input, calls);
  EXPECT_EQ(layouts.problem(), "");
  EXPECT_TRUE(layouts.by_server());
  EXPECT_EQ(layouts.unit(CommunicatorId{0u}), 2u);
  EXPECT_EQ(layouts.sender(RankId{0u}, RankId{3u}), RankId{1u}) << "rail 1 of the first server";
}

TEST(Sheets, ArePairsOfGpus) {
  fabric::Sheets sheets;
  EXPECT_TRUE(sheets.empty());
  for (std::uint32_t i = 0; i < 100; ++i) sheets.set(GpuId{i}, GpuId{2 * i}, i + 1);
  sheets.set(GpuId{7u}, GpuId{14u}, 5);
  EXPECT_EQ(sheets.of(GpuId{7u}, GpuId{14u}), 5u);
  EXPECT_EQ(sheets.of(GpuId{99u}, GpuId{198u}), 100u);
  EXPECT_EQ(sheets.of(GpuId{14u}, GpuId{7u}), 0u) << "a pair has a direction";
}

SheetAttempt sheets_of(const Built& built) {
  const CallTable calls(built.job.scenario.graph, built.algorithms);
  const FoldingInput job = built.input();
  const GroupLayouts layouts(job, calls);
  const ColourRefinement classes(job, calls, layouts, false);
  CircuitPairs pairs(job, calls, layouts, classes);
  return circuit_sheets(job, pairs, classes);
}

// Of an exchange of four the circuits to the second and third next have sheets 1 and 2, told of the first member alone.
TEST(CircuitSheets, TellTheShiftsOfAnExchangeApart) {
  test::Job job(4);
  job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kAllToAll, 400);
  const SheetAttempt attempt = sheets_of(Built(std::move(job)));
  ASSERT_TRUE(attempt.sheets);
  EXPECT_EQ(attempt.sheets->of(GpuId{0u}, GpuId{1u}), 0u);
  EXPECT_EQ(attempt.sheets->of(GpuId{0u}, GpuId{2u}), 1u);
  EXPECT_EQ(attempt.sheets->of(GpuId{0u}, GpuId{3u}), 2u);
}

// The next of rank 0 in the ring of four is its next in the ring of two, that of rank 1 is not.
TEST(CircuitSheets, AreNotWhereUsesAgreeForSomeRanksOnly) {
  test::Job job(4);
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 400);
  job.collective(job.group({2, 3}), {2, 3}, CollectiveOp::kAllReduce, 400);
  job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kAllReduce, 400);
  const SheetAttempt attempt = sheets_of(Built(std::move(job)));
  EXPECT_FALSE(attempt.sheets);
  EXPECT_EQ(std::set<std::uint32_t>(attempt.mixed.begin(), attempt.mixed.end()).size(), 2u);
}

TEST(Folding, StandsForAllRanksOfAClass) {
  const Built built(ring_of_four());
  const FoldingAttempt attempt = fold(built.input());
  ASSERT_TRUE(attempt.folding) << attempt.why_not;
  EXPECT_EQ(attempt.folding->graph.ranks(), 1u);
  EXPECT_THAT(attempt.folding->class_of_rank, ElementsAre(0u, 0u, 0u, 0u));
  EXPECT_THAT(attempt.folding->plant.stands_for, ElementsAre(4u));
}

TEST(Folding, SaysWhyNot) {
  test::Job job(2);
  job.compute(0, Duration{5}).compute(1, Duration{6});
  const Built built(std::move(job));
  EXPECT_THAT(fold(built.input()).why_not, HasSubstr("tasks of its own"));
}

TEST(MemberPlacement, ListsTheGpusOfEachGroup) {
  const Built built(ring_of_four());
  const auto placement = MemberPlacement::of(built.job.scenario.graph, built.job.scenario.gpu_of_rank);
  EXPECT_EQ(placement.group(CommunicatorId{0u}).size(), 4u);
}

}  // namespace
}  // namespace photonrail::folding
