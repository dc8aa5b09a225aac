// What keeps one state for ranks that do the same, each part built alone.
#include "execution/lockstep.hpp"
#include "execution/issue_order.hpp"
#include "execution/lockstep_groups.hpp"
#include "execution/part_fixture.hpp"
#include "execution/rank_progress.hpp"
#include "execution/time_accounting.hpp"
#include "photonrail/core/random.hpp"
#include "support/test_cases.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace photonrail::execution {
namespace {

using test::PartFixture;

// 2 servers of 3 GPUs; each server has a group of all, and ranks 0 and 3 one between servers.
Scenario two_servers(bool one_program) {
  Scenario scenario;
  scenario.cluster.servers = 2;
  scenario.cluster.gpus_per_server = 3;
  TaskGraphBuilder builder(6);
  const std::vector<CommunicatorId> inside{
      builder.add_communicator("a", {RankId{0u}, RankId{1u}, RankId{2u}}, Dimension::kTp),
      builder.add_communicator("b", {RankId{3u}, RankId{4u}, RankId{5u}}, Dimension::kTp)};
  const CommunicatorId all = builder.add_communicator(
      "all", {RankId{0u}, RankId{1u}, RankId{2u}, RankId{3u}, RankId{4u}, RankId{5u}}, Dimension::kDp);
  const std::vector<ProgramId> programs{builder.add_program(), builder.add_program()};
  for (const ProgramId p : programs) {
    builder.add_collective(p, 0, CollectiveOp::kAllReduce, Bytes{1000});
    builder.add_collective(p, 1, CollectiveOp::kAllReduce, Bytes{1000});
  }
  builder.add_delay(programs[1], Duration{1});
  for (std::uint32_t r = 0; r < 6; ++r) {
    scenario.gpu_of_rank.push_back(GpuId{r});
    builder.assign(RankId{r}, programs[r == 1 && !one_program ? 1 : 0], {inside[r / 3], all});
  }
  scenario.graph = std::move(builder).build();
  return scenario;
}

struct Groups {
  explicit Groups(bool one_program) : part(test::Job(2)), scenario(two_servers(one_program)) {
    fabric::Fabric fabric{part.engine, scenario.cluster, fabric::FabricSettings{}};
    const auto placement = folding::MemberPlacement::of(scenario.graph, scenario.gpu_of_rank);
    const OperationTable operations{scenario.graph, placement, fabric, part.plans, nullptr};
    const RankGpus gpus{scenario.cluster, scenario.gpu_of_rank};
    groups = LockstepGroups(scenario.graph, operations, gpus);
  }
  PartFixture part;
  Scenario scenario;
  LockstepGroups groups;
};

TEST(LockstepGroups, AreThoseOfCollectivesInsideAServer) {
  const Groups of(true);
  const LockstepGroup* const second = of.groups.of(CommunicatorId{1u});
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->first, RankId{3u});
  EXPECT_EQ(second->size, 3u);
  EXPECT_EQ(&of.groups.of(RankId{4u}), second);
  EXPECT_EQ(of.groups.of(CommunicatorId{2u}), nullptr) << "it leaves the server";
  EXPECT_EQ(LockstepGroups().of(CommunicatorId{0u}), nullptr);
}

TEST(LockstepGroups, HaveOneProgram) {
  const Groups of(false);
  EXPECT_EQ(of.groups.of(CommunicatorId{0u}), nullptr) << "rank 1 has another";
  EXPECT_NE(of.groups.of(CommunicatorId{1u}), nullptr);
}

struct OneByOne : ProgramListener, ComputeListener, MemberListener {
  void iteration_began(RankId, std::uint32_t, double) override {}
  void all_ranks_finished() override {}
  void task_ready(RankId, TaskId, CriticalPathTag) override { ++ready; }
  void streams_pending() override {}
  void computed(RankId, TaskId, CriticalPathTag) override {}
  void computed_by_all(const LockstepGroup&, TaskId, CriticalPathTag) override {}
  void member_done(OpId, Member) override {}
  bool all_done(OpId, const LockstepGroup&) override { return false; }
  void exchange_began(RankId, Dimension) override {}
  void exchange_ended(RankId, Dimension) override {}
  int ready = 0;
};

// Task 0 computes, task 1 is a collective of the four, tasks 2 and 3 compute after it.
struct FourInAServer {
  static test::Job job() {
    test::Job job(4, 4);
    const auto tp = job.group({0, 1, 2, 3}, Dimension::kTp);
    for (const std::size_t rank : {0, 1, 2, 3}) job.compute(rank, test::us(5));
    job.collective(tp, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 1000);
    for (const std::size_t rank : {0, 1, 2, 3}) job.compute(rank, test::us(5)).detach(rank);
    return job;
  }
  FourInAServer() { progress.begin(); }
  [[nodiscard]] RunContext with_groups() {
    RunContext context = part.context();
    context.lockstep = &groups;
    return context;
  }

  PartFixture part{job(), Fidelity::kStream};
  LockstepGroups groups{part.graph(), part.operations, part.gpus};
  RunContext run = with_groups();
  OneByOne told;
  test::FakeCircuits circuits;
  RankBehaviour behaviour;
  IssueOrder order{part.graph(), part.operations, circuits, behaviour, {}};
  ComputeStreams streams{part.graph(), {}, run, told};
  Transfers transfers{run, circuits, told};
  Starter starter{run, {streams, transfers, circuits, order}, Lanes(part.graph(), {}, nullptr), false};
  RankProgress progress{part.graph(), 1, run, told};
  Lockstep lockstep{part.graph(), run, {circuits, streams, progress, starter, told}};
};

TEST(Lockstep, TakesAGroupToItsCollective) {
  FourInAServer server;
  ASSERT_EQ(server.told.ready, 4) << "each rank begins by itself";
  const LockstepGroup* const group = server.groups.of(CommunicatorId{0u});
  ASSERT_NE(group, nullptr);
  EXPECT_TRUE(server.lockstep.complete(*group, TaskId{0u}, {}));
  EXPECT_EQ(server.told.ready, 4) << "no rank is told";
  ASSERT_EQ(server.part.operations.live().size(), 1u);
  const Operation& op = server.part.operations[server.part.operations.live().front()];
  EXPECT_TRUE(op.complete() && op.arrival.ready());
  EXPECT_EQ(server.progress.tasks_done(), 4u);
}

TEST(Lockstep, LeavesRanksThatAreNotEqualToThemselves) {
  FourInAServer server;
  server.progress.complete(RankId{2u}, TaskId{0u}, {});
  EXPECT_FALSE(server.lockstep.complete(*server.groups.of(CommunicatorId{0u}), TaskId{0u}, {}));
  EXPECT_EQ(server.progress.tasks_done(), 1u);
}

// Changes of a group at once, and of each rank: the same accounts, whatever happens to single ranks in between.
TEST(TimeAccounting, AGroupHasTheAccountsOfItsRanks) {
  const LockstepGroup group{CommunicatorId{0u}, RankId{1u}, 3, 0};
  for (std::uint64_t seed = 0; seed < test::test_cases(200); ++seed) {
    TimeAccounting together(5);
    TimeAccounting apart(5);
    RandomStream random(seed, "accounts");
    std::vector<std::function<void(Time)>> ends;  // in any order
    Time now{};
    const auto later = [&] { now += Duration{static_cast<std::int64_t>(random.below(4) * 10)}; };
    for (int step = 0; step < 60; ++step) {
      later();
      const RankId rank{random.below(5)};
      const auto d = static_cast<Dimension>(random.below(3));
      const std::uint64_t what = random.below(5);
      if (what == 0) {
        together.compute_began(group, now);
        for (std::uint32_t m = 0; m < 3; ++m) apart.compute_began(group.rank(m), now);
        ends.emplace_back([&](Time at) {
          together.compute_ended(group, at);
          for (std::uint32_t m = 0; m < 3; ++m) apart.compute_ended(group.rank(m), at);
        });
      } else if (what == 1) {
        together.running_began(group, d, now);
        for (std::uint32_t m = 0; m < 3; ++m) apart.running_began(group.rank(m), d, now);
        ends.emplace_back([&, d](Time at) {
          together.running_ended(group, d, at);
          for (std::uint32_t m = 0; m < 3; ++m) apart.running_ended(group.rank(m), d, at);
        });
      } else if (random.below(4) == 0) {
        for (TimeAccounting* accounting : {&together, &apart}) {
          what == 2 ? accounting->waiting_began(rank, d, now) : accounting->running_began(rank, d, now);
        }
        ends.emplace_back([&, rank, d, what](Time at) {
          for (TimeAccounting* accounting : {&together, &apart}) {
            what == 2 ? accounting->waiting_ended(rank, d, at) : accounting->running_ended(rank, d, at);
          }
        });
      }
      while (!ends.empty() && (ends.size() > 4 || random.below(2) == 0)) {
        later();
        const auto at = ends.begin() + static_cast<std::ptrdiff_t>(random.below(ends.size()));
        (*at)(now);
        ends.erase(at);
      }
      EXPECT_EQ(together.reconfiguration_wait(RankId{0u}, now), apart.reconfiguration_wait(RankId{0u}, now));
    }
    for (const auto& end : ends) end(now);
    const Accounts a = together.finish(now + Duration{7});
    const Accounts b = apart.finish(now + Duration{7});
    ASSERT_EQ(a.ranks, b.ranks) << "seed " << seed;
    EXPECT_EQ(a.traffic, b.traffic);
    EXPECT_EQ(a.circuit_waits, b.circuit_waits);
  }
}

}  // namespace
}  // namespace photonrail::execution
