// The parts that carry operations, each built alone, with circuits that the test opens.
#include "execution/capacity_loads.hpp"
#include "execution/deadlock_report.hpp"
#include "execution/executor.hpp"
#include "execution/gpu_pool.hpp"
#include "execution/issue_order.hpp"
#include "execution/lanes.hpp"
#include "execution/mean.hpp"
#include "execution/observer_list.hpp"
#include "execution/operation.hpp"
#include "execution/operation_table.hpp"
#include "execution/part_fixture.hpp"
#include "execution/plan_ways.hpp"
#include "execution/proxy_queue.hpp"
#include "execution/schedule.hpp"
#include "execution/starter.hpp"
#include "execution/time_accounting.hpp"
#include "execution/transfers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::execution {

using fabric::CircuitListener;
using network::DeliveryListener;

namespace {

using test::FakeCircuits;
using test::PartFixture;
using test::us;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

test::Job all_reduce_of_two() {
  test::Job job(2);
  const auto dp = job.group({0, 1});
  job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, 100'000'000);
  return job;
}

TEST(OperationTable, MembersOfOneCallMeet) {
  PartFixture part(all_reduce_of_two());
  const Task& task = part.graph().program(RankId{0u}).task(TaskId{0u});
  const Seat first = part.operations.seat(RankId{0u}, task, 0);
  const Seat second = part.operations.seat(RankId{1u}, task, 0);
  EXPECT_EQ(first.op, second.op);
  EXPECT_EQ(second.member, 1u);
  EXPECT_NE(part.operations.seat(RankId{0u}, task, 1).op, first.op) << "another iteration is another operation";
  EXPECT_THAT(part.operations.live(), ElementsAre(first.op, part.operations.seat(RankId{0u}, task, 1).op));
  part.operations.retire(first.op);
  EXPECT_EQ(part.operations.live().size(), 1u);
  EXPECT_NE(part.operations.plan_of(RankId{0u}, task), nullptr);
  EXPECT_EQ(part.operations.live().size(), 1u) << "looking at a plan makes no operation";
}

TEST(Operation, TagsNameOperationAndSend) {
  const std::uint64_t tag = tag_of(7, 9);
  EXPECT_EQ(op_of(tag), 7u);
  EXPECT_EQ(send_of(tag), 9u);
}

// 100 MB among 2: each rank sends 50 MB twice. On one server none of them leaves it.
TEST(CapacityLoads, CountBytesBetweenServers) {
  const auto rail_bytes = [](std::uint32_t gpus_per_server) {
    test::Job job(2, gpus_per_server);
    job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 100'000'000);
    PartFixture part(std::move(job));
    const Task& task = part.graph().program(RankId{0u}).task(TaskId{0u});
    const Operation& op = part.operations[part.operations.seat(RankId{0u}, task, 0).op];
    CapacityLoads loads;
    EXPECT_EQ(loads.count(op, part.fabric), loads.count(op, part.fabric)) << "the second is looked up";
    return loads.count(op, part.fabric);
  };
  EXPECT_EQ(rail_bytes(1), Bytes{200'000'000});
  EXPECT_EQ(rail_bytes(2), Bytes{0});
}

TEST(PlanWays, AreOnePathWhileEachSendHasCapacitiesOfTheSameRateToItself) {
  test::Job job(4, 4);
  const auto tp = job.group({0, 1, 2, 3});
  job.collective(tp, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 100'000'000);
  PartFixture part(std::move(job), Fidelity::kStream);
  const Task& task = part.graph().program(RankId{0u}).task(TaskId{0u});
  Operation& op = part.operations[part.operations.seat(RankId{0u}, task, 0).op];
  network::Network& network = part.fabric.network();
  PlanWays ways;
  EXPECT_FALSE(ways.of(op, part.fabric)) << "members are missing";
  part.operations.arrivals().add_all(op, TaskId{0u}, {});
  const auto found = ways.of(op, part.fabric);
  ASSERT_TRUE(found);
  const network::Path* path = &found->path;
  ASSERT_EQ(path->parts, 4u);
  for (SendIndex i = 0; i < 4; ++i) {
    const Send send = op.plan().send(i);
    const network::Path alone = way_of(part.fabric, op, {send.from, send.to}).path;
    EXPECT_THAT(path->part(i).hops(), ::testing::ElementsAreArray(alone.hops()));
    EXPECT_EQ(path->latency, alone.latency);
  }
  // Its latency counts what the pieces of a step keep a link busy, so that another rate makes another path.
  const Bandwidth rate = network.rate_of_parts(*path);
  const std::vector<topology::CapacityId> hops(path->hops().begin(), path->hops().end());
  network.set_rate(hops.front(), {rate.bytes_per_second / 2});
  EXPECT_FALSE(ways.of(op, part.fabric)) << "one way is slower than the others";
  for (const topology::CapacityId hop : hops) network.set_rate(hop, {rate.bytes_per_second / 2});
  const auto again = ways.of(op, part.fabric);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->path.latency, way_of(part.fabric, op, {0, 1}).path.latency);
  EXPECT_EQ(&again->standing, &found->standing);
}

TEST(PlanWays, SendsOfOtherPlansGoOneByOne) {
  test::Job job(4, 4);
  const auto tp = job.group({0, 1, 2, 3});
  job.collective(tp, {0, 1, 2, 3}, CollectiveOp::kAllReduce, 100'000'000);
  PartFixture exact(std::move(job));
  const Task& task = exact.graph().program(RankId{0u}).task(TaskId{0u});
  Operation& op = exact.operations[exact.operations.seat(RankId{0u}, task, 0).op];
  exact.operations.arrivals().add_all(op, TaskId{0u}, {});
  PlanWays ways;
  EXPECT_FALSE(ways.of(op, exact.fabric)) << "its sends wait for each other";
}

// 100 MB among 2: each rank sends 50 MB twice, at 50 GB/s 1 ms each.
TEST(Executor, RunsAJobOnElectricalRails) {
  PartFixture part(all_reduce_of_two());
  FakeCircuits circuits;
  ExecutorOptions options;
  Executor executor(part.graph(), options, part.context(), circuits);
  struct NoCircuits : CircuitListener {
    void circuit_changed(RailId, Circuit, CircuitState) override {}
    void command_done(RailId, std::uint32_t) override {}
    void circuit_missed(RailId, std::uint64_t, std::uint32_t, std::uint32_t) override {}
    void circuit_back(RailId, std::uint64_t, std::uint32_t, std::uint32_t) override {}
    void rail_changed(RailId) override {}
    void light_back(RailId) override {}
  } none;
  part.fabric.attach(executor.deliveries(), none);
  executor.begin();
  part.run_all();
  EXPECT_TRUE(executor.finished());
  EXPECT_EQ(executor.tasks_done(), 2u);
  EXPECT_THAT(executor.ends(), ElementsAre(Time{us(2000)}));
  EXPECT_THAT(circuits.calls, ::testing::Not(::testing::Contains("enter 0"))) << "electrical rails have no rounds";
}

TEST(Executor, SaysWhoWaitsForWhom) {
  test::Job job(2);
  const auto dp = job.group({0, 1});
  job.collective(dp, {0}, CollectiveOp::kAllReduce, 100);
  PartFixture part(std::move(job));
  FakeCircuits circuits;
  Executor executor(part.graph(), {}, part.context(), circuits);
  executor.begin();
  part.run_all();
  EXPECT_FALSE(executor.finished());
  EXPECT_THAT(executor.stuck(), ElementsAre(HasSubstr("waits for rank 1 to reach it")));
}

struct Done : MemberListener {
  void member_done(OpId, Member member) override { members.push_back(member); }
  bool all_done(OpId, const LockstepGroup&) override { return false; }
  void exchange_began(RankId, Dimension) override { ++running; }
  void exchange_ended(RankId, Dimension) override { --running; }
  int running = 0;
  std::vector<Member> members;
};

// On optical rails the sends of a round wait until its circuits are held.
TEST(Transfers, SendsWaitForTheirRound) {
  test::Job job = all_reduce_of_two();
  job.optical(us(10));
  PartFixture part(std::move(job));
  FakeCircuits circuits;
  Done done;
  Transfers transfers(part.context(), circuits, done);
  const Task& task = part.graph().program(RankId{0u}).task(TaskId{0u});
  const OpId id = part.operations.seat(RankId{0u}, task, 0).op;
  Operation& op = part.operations[id];
  part.operations.arrivals().add_all(op, TaskId{0u}, {});
  transfers.start(id);
  EXPECT_THAT(circuits.calls, ElementsAre("enter 0"));
  transfers.round_opened(id, 0);
  EXPECT_THAT(circuits.calls, ElementsAre("enter 0", "send 0>1", "send 1>0"));
  EXPECT_EQ(circuits.running, 1u);
  const std::vector<std::uint64_t> first = circuits.tags;
  for (const std::uint64_t tag : first) transfers.delivered(tag);  // the reduced halves go on
  EXPECT_TRUE(done.members.empty());
  for (std::size_t i = 2; i < 4; ++i) transfers.delivered(circuits.tags[i]);
  EXPECT_THAT(circuits.calls.back(), HasSubstr("sender done round done"));
  EXPECT_THAT(done.members, ElementsAre(0u, 1u));
}

TEST(IssueOrder, HoldsBackUntilItsTurn) {
  test::Job job(2);
  const auto a = job.group({0, 1});
  job.collective(a, {0, 1}, CollectiveOp::kAllReduce, 100).collective(a, {0, 1}, CollectiveOp::kAllReduce, 100);
  PartFixture part(std::move(job));
  FakeCircuits circuits;
  const Schedule order{{{TaskId{1u}, {}}, {TaskId{0u}, {}}}, {{TaskId{1u}, {}}, {TaskId{0u}, {}}}};
  const RankBehaviour behaviour{.scheduled = true};
  IssueOrder issue(part.graph(), part.operations, circuits, behaviour, {.followed = &order});
  issue.begin_iteration(RankId{0u}, 0);
  EXPECT_TRUE(issue.takes_turns(RankId{0u}, TaskId{0u}));
  issue.hold_back(RankId{0u}, {TaskId{0u}, {}});
  EXPECT_FALSE(issue.next_in_turn(RankId{0u})) << "task 1 comes first";
  EXPECT_EQ(issue.turn(RankId{0u}), TaskId{1u});
  issue.hold_back(RankId{0u}, {TaskId{1u}, {}});
  EXPECT_EQ(issue.next_in_turn(RankId{0u})->task, TaskId{1u});
  EXPECT_EQ(issue.next_in_turn(RankId{0u})->task, TaskId{0u});
  issue.complete(RankId{0u}, TaskId{1u}, 0);
  EXPECT_THAT(circuits.progress, ElementsAre(std::pair{0u, std::size_t{0}}, std::pair{0u, std::size_t{1}}));
}

TEST(Lanes, TellsOfAnOrderThatTheProgramsDoNotSay) {
  PartFixture part(all_reduce_of_two());
  folding::OrderAmbiguity ambiguity;
  Lanes lanes(part.graph(), {}, &ambiguity);
  const Task& task = part.graph().program(RankId{0u}).task(TaskId{0u});
  const OpId a = part.operations.seat(RankId{0u}, task, 0).op;
  part.operations.arrivals().add_all(part.operations[a], TaskId{0u}, {});
  lanes.enqueue(a, part.operations[a]);
  EXPECT_FALSE(ambiguity.found());
  lanes.enqueue(a, part.operations[a]);  // as another operation with equal keys would
  EXPECT_TRUE(ambiguity.found());
  EXPECT_THAT(ambiguity.why(), HasSubstr("one lane at one instant"));
}

TEST(TimeAccounting, PartsAddUpToTheMakespan) {
  TimeAccounting accounting(1);
  const RankId rank{0u};
  accounting.compute_began(rank, Time{10});
  accounting.running_began(rank, Dimension::kDp, Time{15});
  accounting.compute_ended(rank, Time{20});
  accounting.running_ended(rank, Dimension::kDp, Time{30});
  accounting.waiting_began(rank, Dimension::kDp, Time{30});
  accounting.waiting_ended(rank, Dimension::kDp, Time{34});
  const Accounts accounts = accounting.finish(Time{40});
  EXPECT_EQ(accounts.ranks[0], (RankTime{Duration{10}, Duration{10}, Duration{4}, Duration{16}}));
}

TEST(Mean, IsExactWhereASumWouldNotFit) {
  Mean mean(3);
  for (int i = 0; i < 3; ++i) mean.add(kLongest);
  EXPECT_EQ(mean.value(), kLongest);
}

struct Launched : ProxyListener {
  void launch(std::uint64_t tag) override { tags.push_back(tag); }
  void fenced(std::uint64_t tag) override { tags.push_back(tag + 100); }
  std::vector<std::uint64_t> tags;
};

TEST(ProxyQueues, AFenceWaitsForWhatIsBeforeIt) {
  engine::Engine engine;
  Launched launched;
  ProxyQueues proxies(engine, launched);
  proxies.send(RankId{0u}, 1);
  proxies.fence(RankId{0u}, 2, us(3));
  proxies.send(RankId{0u}, 3);
  EXPECT_THAT(launched.tags, ElementsAre(1u));
  proxies.arrived(RankId{0u});
  engine.run();
  EXPECT_THAT(launched.tags, ElementsAre(1u, 102u, 3u));
  EXPECT_EQ(engine.now(), Time{us(3)});
}

struct Delivered : DeliveryListener {
  void delivered(std::uint64_t tag) override { tags.push_back(tag); }
  std::vector<std::uint64_t> tags;
};

TEST(GpuPool, TilesWaitForAFreeProcessor) {
  PartFixture part;
  Delivered done;
  GpuPool gpus(part.engine, part.gpus, part.accounting, part.stragglers, done);
  LocalStep step;
  step.kind = LocalStep::Kind::kTiles;
  step.processors = 2;
  step.tiles = 3;  // two at once, then one: two tile times
  step.tile_flops = 1e6;
  gpus.compute(RankId{0u}, 0, step, 5);
  const Time end = part.run_all();
  EXPECT_THAT(done.tags, ElementsAre(5u));
  EXPECT_EQ(end, Time{part.gpus.of(RankId{0u}).compute_time(2e6, {}) * 2});
}

TEST(ObserverList, NotifiesInOrder) {
  struct Named : Observer {
    Named(std::vector<int>& list, int own) : heard(list), name(own) {}
    void end(Time) override { heard.push_back(name); }
    std::vector<int>& heard;
    int name;
  };
  std::vector<int> heard;
  Named first(heard, 1);
  Named second(heard, 2);
  Observer* const all[] = {&first, &second};
  const ObserverList list(all);
  EXPECT_FALSE(list.empty());
  list.notify([](Observer& observer) { observer.end({}); });
  EXPECT_THAT(heard, ElementsAre(1, 2));
}

TEST(ArrivalWriter, SayWhoIsThereAndWhoIsMissing) {
  PartFixture part(all_reduce_of_two());
  const Task& task = part.graph().program(RankId{0u}).task(TaskId{0u});
  Operation& op = part.operations[part.operations.seat(RankId{0u}, task, 0).op];
  ArrivalWriter& arrivals = part.operations.arrivals();
  arrivals.add(op, 1, TaskId{7u}, {});
  EXPECT_FALSE(arrivals.count_in(op, 1)) << "one of two";
  EXPECT_EQ(op.arrival.arrived(), 1u);
  EXPECT_EQ(op.arrival.first_missing(), 0u);
  EXPECT_FALSE(op.arrival.ready());
  arrivals.expect(op, Time{5}, Time{40}, false);
  EXPECT_EQ(op.arrival.lane_due(), Time::never());
  arrivals.expect(op, Time{9}, Time{50}, true);
  EXPECT_EQ(op.arrival.expected(), Time{9}) << "the latest start";
  EXPECT_EQ(op.arrival.due(), Time{40}) << "the earliest deadline";
  EXPECT_EQ(op.arrival.lane_due(), Time{40});
  arrivals.begin(op);
  EXPECT_EQ(op.arrival.due(), Time::never());
  arrivals.add_all(op, TaskId{1u}, {});
  EXPECT_TRUE(op.arrival.ready());
  EXPECT_EQ(op.arrival.arrived(), 2u);
}

TEST(ArrivalWriter, MoveTheCauseOnlyToALaterOne) {
  Operation op;
  ArrivalWriter arrivals(false);
  arrivals.wait_for(op, {Time{5}, 1});
  arrivals.wait_for(op, {Time{3}, 9});
  EXPECT_EQ(op.cause.reconfigurations(), 1u);
  arrivals.wait_for(op, {Time{5}, 2});
  EXPECT_EQ(op.cause.latest().at, Time{5});
  EXPECT_EQ(op.cause.reconfigurations(), 2u);
  arrivals.begin(op);
  EXPECT_EQ(op.cause.latest().at, Time{});
}

TEST(ArrivalWriter, RememberWhoCameLastWhereThatPredicts) {
  Operation op;
  op.key.communicator = CommunicatorId{3u};
  ArrivalWriter predicting(true);
  EXPECT_FALSE(predicting.last(CommunicatorId{3u}));
  predicting.record_last(op, 5);
  EXPECT_EQ(predicting.last(CommunicatorId{3u}), 5u);
  EXPECT_FALSE(predicting.last(CommunicatorId{2u}));
  ArrivalWriter other(false);
  other.record_last(op, 5);
  EXPECT_FALSE(other.last(CommunicatorId{3u}));
}

// What execution reads it cannot write: a second writer of an operation does not compile.
template <class T>
concept Writable = requires(T& of) {
  of = T{};
};
static_assert(!Writable<Arrival> && !Writable<BindingCause>);

// Rank 0 is at its collective, rank 1 never comes; the other operation has all it needs but its lane.
TEST(DeadlockReport, NamesTheTaskTheGroupAndThePeerThatIsMissing) {
  test::Job job(2);
  const auto dp = job.group({0, 1});
  job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, 100).collective(dp, {0, 1}, CollectiveOp::kAllReduce, 100);
  PartFixture part(std::move(job));
  FakeCircuits circuits;
  const RankBehaviour behaviour;
  const IssueOrder order(part.graph(), part.operations, circuits, behaviour, {});
  const RunContext run = part.context();
  const DeadlockReport report(part.graph(), run, circuits, order);
  EXPECT_THAT(report.lines(2), ElementsAre("no rank waits for another, yet 2 are not done"));
  const auto seat = [&](std::uint32_t task) -> Operation& {
    return part.operations[part.operations.seat(RankId{0u}, part.graph().program(RankId{0u}).task(TaskId{task}), 0).op];
  };
  part.operations.arrivals().add_all(seat(0), TaskId{0u}, {});
  part.operations.arrivals().add(seat(1), 0, TaskId{1u}, {});
  EXPECT_THAT(report.lines(2),
              ElementsAre(AllOf(HasSubstr("rank 0, task 1"), HasSubstr("waits for rank 1 to reach it")),
                          AllOf(HasSubstr("rank 0, task 0"), HasSubstr("waits for its communication lane")),
                          AllOf(HasSubstr("rank 1, task 0"), HasSubstr("communication lane"))))
      << "what waits for another operation comes last";
}

}  // namespace
}  // namespace photonrail::execution
