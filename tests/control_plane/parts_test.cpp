// The parts of the control plane, each built alone.
#include "control_plane/board_fixture.hpp"
#include "control_plane/command_log.hpp"
#include "control_plane/control_context.hpp"
#include "control_plane/control_plane.hpp"
#include "control_plane/missing_circuit.hpp"
#include "control_plane/pair_queue.hpp"
#include "control_plane/port_mirror.hpp"
#include "control_plane/rail_circuits.hpp"
#include "control_plane/rail_traffic.hpp"
#include "control_plane/request_board.hpp"
#include "control_plane/request_list.hpp"
#include "control_plane/request_order.hpp"
#include "control_plane/round_circuits.hpp"
#include "support/processor_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::control_plane {

using fabric::OpticalRail;
using fabric::RailCrossing;

namespace {

using test::BoardFixture;
using test::PartFixture;
using test::us;
using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(PairQueue, KeepsPairsInOrderWithWhatWaits) {
  PairQueue queue;
  queue.add({2, 3}, Bytes{10}, Time{5});
  queue.add({0, 1}, Bytes{1}, Time{7});
  queue.add({2, 3}, Bytes{20}, Time{9});
  queue.list();
  EXPECT_THAT(queue.pairs(), ElementsAre(ServerPair{0, 1}, ServerPair{2, 3}));
  EXPECT_THAT(queue.bytes(), ElementsAre(Bytes{1}, Bytes{30}));
  EXPECT_EQ(queue.oldest().pair, (ServerPair{2, 3})) << "it has waited since 5";
  EXPECT_FALSE(queue.remove({2, 3}, 1, Bytes{10}));
  EXPECT_EQ(queue.sends({2, 3}), 1u);
  EXPECT_TRUE(queue.remove({2, 3}, 1, Bytes{20}));
  EXPECT_FALSE(queue.has({2, 3}));
  EXPECT_TRUE(queue.remove({0, 1}, 1, Bytes{1}));
  EXPECT_TRUE(queue.empty());
}

// A hundred thousand pairs come and go in any order: a change costs as much as a row is long, not as all pairs are.
TEST(PairQueue, ManyPairsComeAndGoInTheTimeOfARow) {
  constexpr std::uint32_t kPairs = 1 << 17;
  const auto pair = [](std::uint32_t i) {
    const std::uint32_t mixed = i * 40503u % kPairs;  // odd: every pair once
    return ServerPair{mixed / 256, mixed % 256};
  };
  const double before = test::processor_seconds();
  PairQueue queue;
  for (std::uint32_t i = 0; i < kPairs; ++i) queue.add(pair(i), Bytes{1}, Time{i});
  EXPECT_EQ(queue.size(), kPairs);
  for (std::uint32_t i = 0; i < kPairs; ++i) ASSERT_TRUE(queue.remove(pair(i), 1, Bytes{1}));
  EXPECT_TRUE(queue.empty());
  EXPECT_LT(test::processor_seconds() - before, 2.0);
}

TEST(CommandLog, OnlyTheTimeAfterTheDecisionIsExposed) {
  CommandLog log;
  log.add(Time{100}, Time{150}, {Time{90}, 2});
  log.begin_finish(0, Time{150});
  log.expose(Duration{80});  // waited from 70; the first 30 were for ports
  log.end_finish();
  log.expose(Duration{80});  // of no command
  ReconfigurationSummary summary;
  log.summarize(summary);
  EXPECT_EQ(summary.total, Duration{50});
  EXPECT_EQ(summary.exposed, Duration{50});
  EXPECT_EQ(log.lit_cause().reconfigurations, 3u);
}

// What waited for commands 0 and 1, both done at 150, opens with the second of them. Command 2 is done then, too, and has
// no circuit of it; command 3 has, and was done before.
TEST(CommandLog, CommandsThatAreDoneInOneInstantAreExposedAlike) {
  CommandLog log;
  const Circuit wanted{PortId{0}, PortId{1}};
  const Circuit other{PortId{2}, PortId{3}};
  for (const Circuit circuit : {wanted, wanted, other, wanted}) log.add(Time{100}, Time{150}, {}, {{}, 1, {circuit}});
  for (const auto& [command, at] : {std::pair(3u, Time{140}), std::pair(2u, Time{150}), std::pair(0u, Time{150})}) {
    log.begin_finish(command, at);
    log.end_finish();
  }
  log.begin_finish(1, Time{150});
  log.expose(Duration{30}, Time{150}, [&](Circuit c) { return c == wanted; });
  log.end_finish();
  log.expose(Duration{40}, Time{160}, [](Circuit) { return true; });  // of no command
  ReconfigurationSummary summary;
  log.summarize(summary);
  EXPECT_EQ(summary.exposed, Duration{60});
}

// Commands 0 and 2 are done, in the order 2, 0; command 1 never is. Each counts, whenever it was folded into the totals.
TEST(CommandLog, CountsCommandsThatAreDoneInAnyOrder) {
  CommandLog log;
  for (std::int64_t i = 0; i < 3; ++i) log.add(Time{100 * i}, Time{100 * i + 50}, {}, {Dimension::kDp, 7});
  for (const std::uint32_t command : {2u, 0u}) {
    log.begin_finish(command, Time{300});
    log.expose(Duration{20});
    log.end_finish();
  }
  EXPECT_EQ(log.size(), 3u);
  ReconfigurationSummary summary;
  log.summarize(summary);
  log.count_circuits(summary);
  EXPECT_EQ(summary.count, 3u);
  EXPECT_EQ(summary.total, Duration{150});
  EXPECT_EQ(summary.exposed, Duration{40});
  EXPECT_EQ(summary.circuits, 21u);
  ASSERT_EQ(summary.by_change.size(), 1u);
  EXPECT_EQ(summary.by_change.begin()->second.count, 3u);
  log.add(Time{400}, Time{450}, {});
  log.begin_finish(3, Time{450});
  log.end_finish();
  log.begin_finish(1, Time{460});
  log.end_finish();
  EXPECT_EQ(log.size(), 4u);
}

TEST(RailTraffic, ALaterIterationEndsThePresentOne) {
  RailTraffic traffic;
  traffic.add(0, {1, 0}, Bytes{5});
  traffic.add(0, {1, 0}, Bytes{6});
  traffic.add(1, {0, 1}, Bytes{7});
  ASSERT_EQ(traffic.past().size(), 1u);
  EXPECT_EQ(traffic.past()[0].bytes, Bytes{11});
  EXPECT_EQ(traffic.now()[0].bytes, Bytes{7});
}

TEST(RequestList, KeepsTheOrderOfInsertion) {
  RequestList list;
  CircuitRequest a;
  a.id = RequestId{4u};
  CircuitRequest b;
  b.id = RequestId{2u};
  list.push_back(a);
  list.insert(0, b);
  EXPECT_THAT(list.slots(), ElementsAre(2u, 4u));
  b.asked = 3;
  list.update(b);
  EXPECT_EQ(list.views()[0].asked, 3u);
  list.erase(2);
  EXPECT_THAT(list.slots(), ElementsAre(4u));
}

TEST(RequestList, WithoutAnOrderItKnowsWhatIsInIt) {
  RequestList list;
  list.drop_order();
  for (const std::uint32_t slot : {4u, 7u, 2u, 9u}) {
    CircuitRequest view;
    view.id = RequestId{slot};
    list.push_back(view);
  }
  list.erase(7);
  list.erase(7);  // not there any more
  list.erase(1);  // never was
  EXPECT_THAT(list.slots(), ::testing::UnorderedElementsAre(4u, 2u, 9u));
  EXPECT_TRUE(list.views().empty());
  list.clear();
  EXPECT_TRUE(list.empty());
  CircuitRequest again;
  again.id = RequestId{9};
  list.push_back(again);
  EXPECT_THAT(list.slots(), ::testing::ElementsAre(9u));
}

TEST(RequestBoard, ARequestIsCompleteWhenEveryMemberAsked) {
  BoardFixture f;
  const execution::OpId op = f.operation();
  const RailId rail{0u};
  for (Member m = 0; m < 3; ++m) {
    f.board.ask(op, 0, m, TaskId{0u});
    f.run_all();
    EXPECT_EQ(f.board.complete(rail).views().size(), m == 2 ? 1u : 0u);
  }
  f.board.ask(op, 0, 1, TaskId{0u});  // idempotent
  EXPECT_THAT(f.board.complete(rail).views()[0].pairs, ElementsAre(ServerPair{0, 1}, ServerPair{1, 2}, ServerPair{2, 0}));
  EXPECT_EQ(f.changes, 3);
  f.board.block(op, 0);
  EXPECT_EQ(f.board.blocked(rail).size(), 1u);
  int served = 0;
  f.board.serve(op, 0, [&](const Request& request) { served += request.rail == rail; });
  EXPECT_EQ(served, 1);
  EXPECT_TRUE(f.board.complete(rail).empty());
}

TEST(RequestBoard, PairsWaitOneByOne) {
  BoardFixture f;
  const execution::OpId op = f.operation();
  const RailCrossing crossing{RailId{0u}, 0, 1};
  f.board.pair_waits(op, 0, crossing, Bytes{5}, 0);
  f.board.pair_waits(op, 0, crossing, Bytes{6}, 0);
  EXPECT_EQ(f.board.complete(RailId{0u}).views().size(), 1u);
  f.board.pair_served(op, 0, crossing, 2, Bytes{11});
  EXPECT_TRUE(f.board.complete(RailId{0u}).empty());
}

// Two groups whose programs say the same, each over both rails, want the port of server 0 on rail 1 at one instant. The
// second group asks first, as the network happens to tell of its members first.
test::Job two_groups_alike() {
  test::Job job(6, 2);
  for (const auto& ranks : {std::vector<std::size_t>{0, 3}, std::vector<std::size_t>{1, 5}})
    job.collective(job.group(ranks), ranks, CollectiveOp::kAllGather, 1000);
  job.optical(us(10));
  return job;
}

TEST(RequestBoard, RequestsThatTheProgramsDoNotOrderGoByTheirGroups) {
  for (const bool by_port : {false, true}) {
    PartFixture parts(two_groups_alike());
    BoardFixture listener;
    const ControlContext run{parts.engine,    parts.fabric,  parts.operations,     parts.accounting,
                             parts.observers, listener.spec, listener.run.factory, 1};
    RequestChannel channel(parts.engine, listener.spec, 2, 1);
    PolicyNeeds needs;
    if (by_port) needs.view = {ViewPart::kByPort};
    folding::OrderAmbiguity ambiguity;
    RequestBoard board(run, needs, channel, listener, &ambiguity);
    for (const std::size_t first : {1u, 0u}) {
      const RankId rank{first};
      const execution::OpId op = parts.operations.seat(rank, parts.graph().program(rank).task(TaskId{0u}), 0).op;
      for (Member m = 0; m < 2; ++m) board.ask(op, 0, m, TaskId{0u});
      parts.run_all();
      EXPECT_EQ(ambiguity.found(), first == 0) << "once both want the port";
    }
    const std::vector<const CircuitRequest*> order = in_order(board, RailId{1u});
    ASSERT_EQ(order.size(), 2u);
    EXPECT_LT(order[0]->communicator, order[1]->communicator);
  }
}

TEST(MissingCircuit, NamesTheTwoRanks) {
  BoardFixture f;
  const execution::Operation& op = f.operations[f.operation()];
  execution::Link link;
  link.pair = {1, 2};
  link.way.crossing = f.run.fabric.crossing(op.gpus[1], op.gpus[2]);
  EXPECT_THAT(missing_circuit(f.run, op, link).text, StartsWith(" waits for a circuit from rank 1 to rank 2"));
}

TEST(RailCircuits, AreOfTheRailThatEachPairCrosses) {
  BoardFixture f;
  const execution::Operation& op = f.operations[f.operation()];
  const auto rails = rail_circuits(f.fabric, op.gpus, *op.runnable);
  ASSERT_EQ(rails.size(), 1u);
  EXPECT_THAT(rails.at(RailId{0u}).pairs, ElementsAre(ServerPair{0, 1}, ServerPair{1, 2}, ServerPair{2, 0}));
  EXPECT_TRUE(rails.at(RailId{0u}).bytes.empty()) << "the plan does not say them";
}

struct ExchangeOfThree : PartFixture {
  ExchangeOfThree() : PartFixture(job_of_three()) {}
  static test::Job job_of_three() {
    test::Job job(3);
    job.collective(job.group({0, 1, 2}), {0, 1, 2}, CollectiveOp::kAllToAll, 300);
    job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "pairwise";
    job.optical(us(10));
    return job;
  }
};

// Of two rounds, each member to its next and to the one after that; a second look finds the same object.
TEST(RoundCircuits, AreKeptForEachRound) {
  ExchangeOfThree f;
  RoundCircuits rounds(f.fabric);
  const execution::OpId id = f.operations.seat(RankId{0u}, f.graph().program(RankId{0u}).task(TaskId{0u}), 0).op;
  const execution::Operation& op = f.operations[id];
  const RoundLinks* const first = rounds.of(op, 0);
  const RoundLinks& second = *rounds.of(op, 1);
  ASSERT_EQ(second.crossings.size(), 3u);
  EXPECT_EQ(second.crossings[1].pair, (MemberPair{1, 0}));
  EXPECT_EQ(second.crossings[1].over->to, 0u);
  EXPECT_EQ(second.participants, 3u);
  EXPECT_THAT(second.rails.at(RailId{0u}).pairs, ElementsAre(ServerPair{0, 2}, ServerPair{1, 0}, ServerPair{2, 1}));
  EXPECT_EQ(rounds.of(op, 0), first);
}

TEST(PortMirror, ShowsWhatTheSwitchDid) {
  BoardFixture f;
  OpticalRail& rail = f.fabric.rail(RailId{0u});
  PortMirror mirror(rail, f.fabric.plant().spec(), false);
  mirror.sync();
  EXPECT_TRUE(mirror.transmit()[0].peer.is_none());
}

/// The whole control plane with execution's side written down.
struct PlaneFixture : BoardFixture, execution::RoundListener, execution::LaneArbiter {
  void round_opened(execution::OpId, std::uint32_t round) override { opened.push_back(round); }
  [[nodiscard]] bool may_take_circuits(execution::OpId) override { return true; }
  void lacks_circuits(execution::OpId) override { ++lacked; }
  void has_circuits(execution::OpId) override {}
  std::vector<std::uint32_t> opened;
  int lacked = 0;
};

// Requests, a decision, 10 us of switching: the round opens then.
TEST(ControlPlane, OpensARoundWhenItsCircuitsAreLit) {
  PlaneFixture f;
  ControlPlane plane(f.run, nullptr);
  test::FakeDeliveries deliveries;
  f.fabric.attach(deliveries, plane);
  plane.service().attach(f, f);
  plane.begin();
  const execution::OpId id = f.operation();
  execution::Operation& op = f.operations[id];
  f.operations.arrivals().add_all(op, TaskId{0u}, {});
  execution::RoundProgress& round = op.transfer.rounds.emplace_back();
  round.sends_left = {2, 2, 2};
  round.work_left = {4, 4, 4};
  round.work = 6;
  for (Member m = 0; m < 3; ++m) plane.service().request(id, 0, m, TaskId{0u});
  plane.service().enter(id, 0);
  EXPECT_EQ(f.run_all(), Time{us(10)});
  EXPECT_EQ(f.lacked, 1);
  EXPECT_THAT(f.opened, ElementsAre(0u));
  EXPECT_EQ(plane.service().missing(id).text, "");
  ReconfigurationSummary summary;
  plane.summarize({}, summary);
  EXPECT_EQ(summary.count, 1u);
}

}  // namespace
}  // namespace photonrail::control_plane
