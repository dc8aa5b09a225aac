// Several jobs on one cluster.
#include "photonrail/error.hpp"
#include "report/ccl_bench.hpp"
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace photonrail::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Jobs on one cluster of servers with a GPU each.
class Cluster {
 public:
  explicit Cluster(std::uint32_t servers) {
    all.cluster.servers = servers;
    all.run.fidelity = Fidelity::kExact;
  }

  Cluster& optical(Duration delay) {
    all.cluster.rail.kind = RailKind::kOptical;
    all.cluster.rail.optical.reconfiguration = DelayDistribution::constant(delay);
    return *this;
  }
  /// Leaves of two servers, whose uplinks have half the bandwidth of their ports: radix x o / (1 + o) = 3 x 2 / 3 = 2.
  Cluster& oversubscribed() {
    all.cluster.rail.switch_radix = 3;
    all.cluster.rail.oversubscription = 2.0;
    return *this;
  }

  Cluster& add(Job& job, const std::string& name, const std::vector<std::size_t>& servers) {
    job.build();
    JobSpec& made = all.jobs.emplace_back(job.scenario);
    made.name = name;
    made.controller.name = all.cluster.rail.kind == RailKind::kOptical ? "opus" : "electrical";
    made.gpu_of_rank.clear();
    for (const std::size_t server : servers) made.gpu_of_rank.push_back(GpuId{server});
    return *this;
  }
  /// A message from its rank 0 to its rank 1.
  Cluster& add_message(const std::string& name, std::vector<std::size_t> servers, std::int64_t bytes) {
    Job job(2);
    job.send(0, 1, bytes).receive(0, 1, bytes);
    return add(job, name, servers);
  }

  RunResult run(std::span<Observer* const> observers = {}) const { return simulate(all, observers); }
  [[nodiscard]] std::string error() const {
    try {
      run();
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  }

  Scenario all;
};

void expect_same(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.makespan, b.makespan);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.ranks, b.ranks);
  EXPECT_EQ(a.traffic, b.traffic);
  EXPECT_EQ(a.windows, b.windows);
  EXPECT_EQ(a.reconfigurations.count, b.reconfigurations.count);
  EXPECT_EQ(a.reconfigurations.exposed, b.reconfigurations.exposed);
}

/// Four ranks: rings of all and of pairs in turn, so that circuits change.
Job changing(std::uint32_t iterations) {
  Job job(4);
  const CommunicatorId all = job.group({0, 1, 2, 3});
  const CommunicatorId low = job.group({0, 1}, Dimension::kTp);
  const CommunicatorId high = job.group({2, 3}, Dimension::kTp);
  job.collective(all, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 7 * kMegabyte);
  for (std::size_t r = 0; r < 4; ++r) job.compute(r, us(50.0 + 13.0 * static_cast<double>(r)));
  job.collective(low, {0, 1}, CollectiveOp::kAllGather, 3 * kMegabyte);
  job.collective(high, {2, 3}, CollectiveOp::kAllGather, 5 * kMegabyte);
  job.scenario.run.iterations = iterations;
  return job;
}

TEST(Jobs, OnDisjointServersOfOpticalRailsTakeExactlyTheTimeAlone) {
  Cluster cluster(10);
  cluster.optical(us(300));
  Job first = changing(3);
  Job second = changing(2);
  cluster.add(first, "first", {0, 3, 4, 9}).add(second, "second", {8, 1, 2, 5}).add_message("third", {6, 7}, kMegabyte);
  cluster.all.jobs[1].controller.parameters.set("mode", "provisioned");
  cluster.all.jobs[1].start = Time{us(777)};
  const RunResult result = cluster.run();
  ASSERT_THAT(result.jobs, SizeIs(3));
  for (std::size_t j = 0; j < 3; ++j) {
    SCOPED_TRACE(j);
    const RunResult& job = result.jobs[j];
    EXPECT_EQ(job.alone, job.makespan);
    EXPECT_EQ(job.slowdown(), 1.0);
    Scenario alone = cluster.all.alone(j);
    alone.start = Time{};
    alone.run.folding = false;
    expect_same(job, simulate(alone));
  }
  EXPECT_EQ(result.jobs[1].start, Time{us(777)});
  // The message: its circuit, and 20 us.
  EXPECT_EQ(result.jobs[2].makespan, us(320));
  EXPECT_EQ(result.makespan, std::max(result.jobs[0].makespan, us(777) + result.jobs[1].makespan));
}

TEST(Jobs, InterfereOnOversubscribedUplinks) {
  // Both cross the uplinks of the first leaf, 2 x 50 / 2 = 50 GB/s. Together 25 GB/s each: the first is done with 5 MB
  // after 200 us, alone after 100. The second has 5 of its 10 MB left, which take 100 us: 300 us, alone 200.
  Cluster cluster(4);
  cluster.oversubscribed();
  cluster.add_message("short", {0, 2}, 5 * kMegabyte).add_message("long", {1, 3}, 10 * kMegabyte);
  const RunResult result = cluster.run();
  EXPECT_EQ(result.jobs[0].makespan, us(200));
  EXPECT_EQ(result.jobs[0].alone, us(100));
  EXPECT_DOUBLE_EQ(result.jobs[0].slowdown(), 2.0);
  EXPECT_EQ(result.jobs[1].makespan, us(300));
  EXPECT_EQ(result.jobs[1].alone, us(200));
  EXPECT_DOUBLE_EQ(result.jobs[1].slowdown(), 1.5);
  EXPECT_EQ(result.makespan, us(300));
}

TEST(Jobs, ThatBeginLaterInterfereForLess) {
  // The first alone for 60 us: 3 of its 5 MB. Then both at 25 GB/s: its last 2 MB take 80 us, 140 us in all. The second had
  // 2 of its 10 MB by then; the rest takes 160 us: 80 + 160 = 240.
  Cluster cluster(4);
  cluster.oversubscribed();
  cluster.add_message("short", {0, 2}, 5 * kMegabyte).add_message("long", {1, 3}, 10 * kMegabyte);
  cluster.all.jobs[1].start = Time{us(60)};
  const RunResult result = cluster.run();
  EXPECT_EQ(result.jobs[0].makespan, us(140));
  EXPECT_EQ(result.jobs[1].makespan, us(240));
  EXPECT_THAT(result.jobs[1].iterations, ElementsAre(us(240)));
  EXPECT_EQ(result.makespan, us(300));
}

TEST(Jobs, BooksOfEachAndOfAllBalance) {
  Cluster cluster(10);
  cluster.optical(us(300));
  Job first = changing(3);
  Job second = changing(2);
  cluster.add(first, "first", {0, 3, 4, 9}).add(second, "second", {8, 1, 2, 5});
  cluster.all.jobs[0].start = Time{us(500)};
  const RunResult result = cluster.run();
  EXPECT_TRUE(books_balance(result));
  EXPECT_THAT(result.ranks, SizeIs(8));
  for (const RunResult& job : result.jobs) EXPECT_TRUE(books_balance(job));
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    EXPECT_EQ(result.traffic[d].bytes, result.jobs[0].traffic[d].bytes + result.jobs[1].traffic[d].bytes);
    EXPECT_EQ(result.traffic[d].operations, result.jobs[0].traffic[d].operations + result.jobs[1].traffic[d].operations);
  }
  const auto& [a, b] = std::pair{result.jobs[0].reconfigurations, result.jobs[1].reconfigurations};
  EXPECT_EQ(result.reconfigurations.count, a.count + b.count);
  EXPECT_EQ(result.reconfigurations.total, a.total + b.total);
  EXPECT_THAT(result.reconfigurations.per_rail, ElementsAre(a.count + b.count));
}

TEST(Jobs, OneAloneIsTheSameAsAScenario) {
  Cluster cluster(4);
  cluster.optical(us(300));
  Job job = changing(2);
  cluster.add(job, "only", {0, 1, 2, 3});
  Scenario alone = cluster.all.alone(0);
  alone.run.folding = false;
  expect_same(cluster.run().jobs[0], simulate(alone));
}

TEST(Jobs, WaitForEachOthersCommandsAtTheSwitch) {
  // Both want a circuit at 0. The switch takes a command every 400 us: the second's circuit is lit at 400 + 300 us.
  Cluster cluster(4);
  cluster.optical(us(300));
  cluster.all.cluster.rail.optical.command_gap = us(400);
  cluster.add_message("first", {0, 1}, kMegabyte).add_message("second", {2, 3}, kMegabyte);
  const RunResult result = cluster.run();
  EXPECT_EQ(result.jobs[0].makespan, us(320));
  EXPECT_EQ(result.jobs[1].makespan, us(720));
  EXPECT_EQ(result.jobs[1].alone, us(320));
}

TEST(Jobs, SufferWhenTheWholeSwitchIsDark) {
  // Circuits of both are lit at 1 ms. The first wants others at 1.1 ms, which darkens the switch until 2.1 ms; the second's
  // 50 MB, which need 1 ms, stand still meanwhile: 3 ms, alone 2 ms.
  Cluster cluster(5);
  cluster.optical(ms(1));
  cluster.all.cluster.rail.optical.darkness = DarkScope::kSwitch;
  Job first(3);
  first.send(0, 1, 5 * kMegabyte).receive(0, 1, 5 * kMegabyte);
  first.send(0, 2, 5 * kMegabyte).receive(0, 2, 5 * kMegabyte);
  first.scenario.executor.buffered_send = Bytes{0};
  cluster.add(first, "first", {0, 1, 2}).add_message("second", {3, 4}, 50 * kMegabyte);
  const RunResult result = cluster.run();
  EXPECT_EQ(result.jobs[0].makespan, us(2200));
  EXPECT_EQ(result.jobs[1].makespan, ms(3));
  EXPECT_EQ(result.jobs[1].alone, ms(2));
}

TEST(Jobs, MayNotTouchPortsOfOthers) {
  Cluster cluster(4);
  cluster.optical(us(300));
  cluster.add_message("first", {0, 1}, kMegabyte).add_message("second", {2, 3}, kMegabyte);
  cluster.all.jobs[1].controller.name = "static";
  cluster.all.jobs[1].controller.circuits = {{GpuId{2}, GpuId{3}}, {GpuId{0}, GpuId{1}}};
  EXPECT_THAT(cluster.error(), HasSubstr("controller 'static' on rail 0 at 0.000000 s: port 0 belongs to server 0, whose "
                                         "GPU on this rail is not the job's"));
}

/// Says what it is shown.
class Witness : public Controller {
 public:
  Decision decide(const FabricView& view) override {
    std::string text = "own";
    for (const ServerIndex p : view.own) text += " " + std::to_string(p);
    throw ControllerError(text);
  }
};

TEST(Jobs, ShowControllersWhichPositionsAreTheirs) {
  Cluster cluster(4);
  cluster.optical(us(300));
  cluster.add_message("only", {3, 1}, kMegabyte);
  cluster.all.jobs[0].controller.name = "witness";
  Registries registries;
  ControllerFactory factory;
  factory.name = "witness";
  factory.make = [](const ControllerSpec&, RailId, std::uint32_t, std::uint32_t) -> std::unique_ptr<Controller> {
    return std::make_unique<Witness>();
  };
  registries.controllers.add(std::move(factory));
  try {
    static_cast<void>(simulate(cluster.all, {}, registries));
    FAIL();
  } catch (const ControllerError& e) {
    EXPECT_THAT(e.what(), HasSubstr("own 3 1"));
  }
}

TEST(Jobs, ThatAreStuckAreNamed) {
  Cluster cluster(4);
  Job stuck(2);
  stuck.send(0, 1, 100 * kMegabyte).compute(1, us(1));
  cluster.add_message("fine", {0, 1}, kMegabyte).add(stuck, "stuck", {2, 3});
  try {
    cluster.run();
    FAIL();
  } catch (const DeadlockError& e) {
    ASSERT_FALSE(e.stuck().empty());
    for (const std::string& line : e.stuck()) EXPECT_THAT(line, HasSubstr("stuck: rank 0, task 0 'send'"));
  }
}

TEST(Jobs, AreChecked) {
  const auto error_of = [](const std::function<void(Cluster&)>& spoil) {
    Cluster cluster(4);
    cluster.add_message("a", {0, 1}, kMegabyte).add_message("b", {2, 3}, kMegabyte);
    spoil(cluster);
    return cluster.error();
  };
  EXPECT_EQ(error_of([](Cluster&) {}), "none");
  EXPECT_THAT(error_of([](Cluster& c) { c.all.jobs[1].gpu_of_rank[0] = GpuId{1}; }),
              HasSubstr("jobs[1]: rank 0 is on GPU 1, which runs job a"));
  EXPECT_THAT(error_of([](Cluster& c) { c.all.jobs[1].name = "a"; }), HasSubstr("jobs[1].name: job 0 is called a already"));
  EXPECT_THAT(error_of([](Cluster& c) { c.all.jobs[0].start = Time{us(-1)}; }), HasSubstr("jobs[0].start"));
  EXPECT_THAT(error_of([](Cluster& c) { c.all.jobs[1].gpu_of_rank[1] = GpuId{4}; }), HasSubstr("jobs[1].gpu_of_rank[1]"));
  EXPECT_THAT(error_of([](Cluster& c) { c.all.graph = c.all.jobs[0].graph; }), HasSubstr("graph"));
}

/// Keeps what it is told.
class Notes : public Observer {
 public:
  void begin(const Scenario& scenario) override {
    gpus = scenario.gpu_of_rank;
    for (const Communicator& c : scenario.graph.communicators()) groups.push_back(c.name);
  }
  void operation(const OperationEvent& event) override {
    if (event.state == OperationEvent::State::kDone) done[event.sequence].push_back({event.rank, event.communicator});
  }
  void iteration(RankId rank, std::uint32_t, Time at) override { ends[rank] = at.since_start(); }
  void end(Time at) override { makespan = at.since_start(); }

  std::vector<GpuId> gpus;
  std::vector<std::string> groups;
  std::map<std::uint32_t, std::vector<std::pair<RankId, CommunicatorId>>> done;
  std::map<RankId, Duration> ends;
  Duration makespan{};
};

TEST(Jobs, ShowObserversTheRanksOfAll) {
  Cluster cluster(4);
  cluster.add_message("a", {0, 1}, kMegabyte).add_message("b", {3, 2}, 2 * kMegabyte);
  Notes notes;
  Observer* const observers[] = {&notes};
  const RunResult result = cluster.run(observers);
  EXPECT_THAT(notes.gpus, ElementsAre(GpuId{0}, GpuId{1}, GpuId{3}, GpuId{2}));
  EXPECT_THAT(notes.groups, ElementsAre("a/link.0>1", "b/link.0>1"));
  ASSERT_THAT(notes.done, SizeIs(2));
  std::vector<RankId> ranks;
  for (const auto& [sequence, ends] : notes.done) {
    for (const auto& [rank, group] : ends) {
      ranks.push_back(rank);
      EXPECT_EQ(group.index(), rank.index() / 2);
    }
  }
  EXPECT_THAT(ranks, ::testing::UnorderedElementsAre(RankId{0}, RankId{1}, RankId{2}, RankId{3}));
  EXPECT_EQ(notes.ends.at(RankId{3}), us(40));
  EXPECT_EQ(notes.makespan, result.makespan);
  EXPECT_EQ(result.makespan, us(40));
}

// The second job has a switch, and ports, before it begins.
TEST(Jobs, ThatHaveNotBegunDecideNothingWhenTheirSwitchIsDarkOrTheirPortsFail) {
  for (const char* controller : {"opus", "rotor", "solstice", "lru", "coalesce"}) {
    SCOPED_TRACE(controller);
    Cluster cluster(4);
    cluster.optical(us(10));
    cluster.all.cluster.rail.optical.darkness = DarkScope::kSwitch;
    cluster.all.cluster.rail.faults = {{.at = Time{us(15)}, .lasts = us(2)},
                                       {.server = 2, .at = Time{us(100)}, .lasts = us(900)}};
    cluster.add_message("first", {0, 1}, kMegabyte).add_message("second", {2, 3}, kMegabyte);
    for (JobSpec& job : cluster.all.jobs) job.controller.name = controller;
    cluster.all.jobs[1].start = Time{ms(2)};
    const RunResult result = cluster.run();
    EXPECT_GT(result.jobs[0].makespan, us(30));
    EXPECT_LT(result.jobs[0].makespan, ms(1));
    EXPECT_GE(result.jobs[1].makespan, us(30)) << "a circuit, and 1 MB";
    EXPECT_LT(result.jobs[1].makespan, ms(1));
    EXPECT_TRUE(books_balance(result));
  }
}

TEST(Jobs, MayBeMeasuredByCclBenchsMetrics) {
  Cluster cluster(4);
  Job pair(2);
  pair.collective(pair.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, kMegabyte);
  pair.scenario.run.iterations = 3;
  cluster.add(pair, "pair", {0, 1}).add_message("later", {2, 3}, kMegabyte);
  cluster.all.jobs[1].start = Time{us(50)};
  report::CclBenchObserver metrics;
  Observer* const observers[] = {&metrics};
  const RunResult result = cluster.run(observers);
  EXPECT_EQ(result.makespan, us(70));
  // Of the first rank: an all-reduce of 1 MB a step. The windows are those of the job with most steps.
  EXPECT_DOUBLE_EQ(metrics.metrics().collective_vol_total_gb, 0.001);
  EXPECT_THAT(metrics.metrics().traffic_window, SizeIs(3));
}

TEST(Jobs, AnErrorOfAPolicyPointsAtTheJobThatHasIt) {
  Cluster cluster(6);
  cluster.optical(us(100)).add_message("first", {0, 1}, kMegabyte).add_message("second", {2, 3}, kMegabyte);
  cluster.all.jobs[1].controller.name = "rotor";
  cluster.all.jobs[1].controller.parameters.set("slot", us(1));
  try {
    cluster.run();
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.where(), "jobs[1].controller.parameters.slot");
  }
  cluster.all.controller = cluster.all.jobs[0].controller = cluster.all.jobs[1].controller;  // that of the whole scenario
  try {
    cluster.run();
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.where(), "controller.parameters.slot");
  }
}

}  // namespace
}  // namespace photonrail::test
