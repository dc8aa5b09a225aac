// The machines of the control plane that act in time, each driven through its interface: the services that give circuits to
// rounds and pairs, the agent of a rail, the sequencer of its decisions, and the schedule that controllers see.
#include "control_plane/board_fixture.hpp"
#include "control_plane/control_plane.hpp"
#include "control_plane/pair_service.hpp"
#include "control_plane/plan_sequencer.hpp"
#include "control_plane/profiled_schedule.hpp"
#include "control_plane/rail_agent.hpp"
#include "control_plane/round_service.hpp"
#include "execution/transfers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::control_plane {
namespace {

using execution::OpId;
using test::BoardFixture;
using test::us;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Circuit circuit(std::size_t from, std::size_t to) { return {PortId{from}, PortId{to}}; }

/// A rail whose circuits the test lights by hand; it notifies no control plane.
struct LitByHand : BoardFixture, fabric::CircuitListener {
  void circuit_changed(RailId, Circuit, CircuitState) override {}
  void command_done(RailId, std::uint32_t command) override { done.push_back(command); }
  void circuit_missed(RailId, std::uint64_t, std::uint32_t, std::uint32_t) override {}
  void circuit_back(RailId, std::uint64_t, std::uint32_t, std::uint32_t) override {}
  void rail_changed(RailId) override {}
  void light_back(RailId) override {}

  [[nodiscard]] fabric::OpticalRail& rail() { return fabric.rail(RailId{0u}); }
  /// The circuits can be used 10 us later.
  void light(std::vector<Circuit> circuits) {
    (void)rail().apply({std::move(circuits), {}}, {});
    run_all();
  }
  [[nodiscard]] std::vector<std::uint32_t> holders() {
    std::vector<std::uint32_t> found;
    for (const device::OpticalSwitch::Fibre& port : rail().crossbar().transmit()) found.push_back(port.in_use);
    return found;
  }
  std::vector<std::uint32_t> done;
};

/// An all-gather of three members whose sends go through a service: rank r sends to rank r + 1.
template <class Service>
struct ServiceFixture : LitByHand, execution::MemberListener, execution::LaneArbiter {
  ServiceFixture() {
    fabric.attach(transfers, *this);
    service.attach(transfers, *this);
    run.operations.arrivals().add_all(run.operations[id], TaskId{0u}, {});
    for (Member m = 0; m < 3; ++m) service.request(id, 0, m, TaskId{0u});
    transfers.start(id);
    run_all();
  }
  void member_done(OpId, Member member) override { members.push_back(member); }
  [[nodiscard]] bool all_done(OpId, const execution::LockstepGroup&) override { return false; }
  void exchange_began(RankId, Dimension) override {}
  void exchange_ended(RankId, Dimension) override {}
  [[nodiscard]] bool may_take_circuits(OpId) override { return lane; }
  void lacks_circuits(OpId) override { ++lacked; }
  void has_circuits(OpId) override { ++got; }

  OpId id = operation();
  ControlPlane plane{run, nullptr};
  Service service{run, plane};
  execution::Transfers transfers{context(), service, *this};
  std::vector<Member> members;
  bool lane = true;
  int lacked = 0;
  int got = 0;
};

// Two of the three circuits of the ring are no use: none is held. With the third all are, until the last byte of each.
TEST(RoundService, TakesAllCircuitsOfARoundOrNone) {
  ServiceFixture<RoundService> f;
  EXPECT_EQ(f.lacked, 1);
  f.light({circuit(0, 1), circuit(1, 2)});
  f.service.try_open(f.id, 0);
  EXPECT_EQ(f.got, 0);
  EXPECT_THAT(f.holders(), ElementsAre(0u, 0u, 0u));
  EXPECT_THAT(f.service.missing(f.id).text, HasSubstr("from rank 2 to rank 0"));
  f.light({circuit(2, 0)});
  f.service.try_open(f.id, 0);
  EXPECT_EQ(f.got, 1);
  EXPECT_THAT(f.holders(), ElementsAre(1u, 1u, 1u));
  f.run_all();
  EXPECT_THAT(f.members, ::testing::UnorderedElementsAre(0u, 1u, 2u));
  EXPECT_THAT(f.holders(), ElementsAre(0u, 0u, 0u));
}

TEST(RoundService, ARoundWhoseLaneIsTakenWaitsWithItsCircuitsLit) {
  ServiceFixture<RoundService> f;
  f.light({circuit(0, 1), circuit(1, 2), circuit(2, 0)});
  f.lane = false;
  f.service.retry(f.id);
  EXPECT_THAT(f.holders(), ElementsAre(0u, 0u, 0u));
  EXPECT_THAT(f.service.missing(f.id).text, HasSubstr("communication lane"));
  f.lane = true;
  f.service.retry(f.id);
  EXPECT_THAT(f.holders(), ElementsAre(1u, 1u, 1u));
}

// Each pair has its circuit for itself: the first sends while the others wait, and gives it back when its bytes are there.
TEST(PairService, APairSendsWhenItsOwnCircuitIsLit) {
  ServiceFixture<PairService> f;
  EXPECT_EQ(f.lacked, 0) << "operations that are served pair by pair keep their lanes";
  f.light({circuit(0, 1)});
  f.service.try_open(f.id, 0);
  EXPECT_THAT(f.holders(), ElementsAre(1u, 0u, 0u));
  f.run_all();
  EXPECT_THAT(f.holders(), ElementsAre(0u, 0u, 0u)) << "the next piece has not arrived at rank 0 yet";
  EXPECT_THAT(f.members, IsEmpty());
  EXPECT_THAT(f.service.missing(f.id).text, HasSubstr("from rank 1 to rank 2"));
  f.light({circuit(1, 2), circuit(2, 0)});
  for (int turn = 0; turn < 6 && f.members.size() < 3; ++turn) {
    f.service.try_open(f.id, 0);
    f.run_all();
  }
  EXPECT_THAT(f.members, ::testing::UnorderedElementsAre(0u, 1u, 2u));
  EXPECT_EQ(f.service.missing(f.id).text, "");
}

struct AgentFixture : LitByHand, RetryListener, ViewSource {
  AgentFixture() { fabric.attach(deliveries, *this); }
  void requests_changed(RailId, execution::CriticalPathTag cause) override { agent.notify(cause); }
  void circuits_available(RailId) override { ++available; }
  [[nodiscard]] SharedView shared_view(RailId) override { return {}; }
  void command_done(RailId, std::uint32_t command) override { agent.command_done(command); }
  void ask() {
    const OpId id = operation();
    for (Member m = 0; m < 3; ++m) board.ask(id, 0, m, TaskId{0u});
    board.block(id, 0);
  }

  test::FakeDeliveries deliveries;
  ReconfigurationTerms terms{};
  int available = 0;
  RailAgent agent{run, needs, {board, channel, *this, *this, terms}, RailId{0u}};
};

// Opus lights the ring of an operation that all members have asked for: three circuits in one command.
TEST(RailAgent, AsksItsControllerAfterBeginAndHasItsDecisionCarriedOut) {
  AgentFixture f;
  f.ask();
  f.run_all();
  EXPECT_EQ(f.agent.commands().size(), 0u) << "the job has not begun";
  f.agent.begin();
  EXPECT_EQ(f.run_all(), Time{us(10)});
  EXPECT_EQ(f.agent.commands().size(), 1u);
  EXPECT_TRUE(f.rail().is_lit(PortId{0u}) && f.rail().is_lit(PortId{1u}) && f.rail().is_lit(PortId{2u}));
  EXPECT_GE(f.available, 1);
  EXPECT_EQ(f.agent.lit_cause().reconfigurations, 1u);
  EXPECT_EQ(f.agent.why_nothing_turns(), "");
}

TEST(RailAgent, DecidesNothingWhileItsControllerIsDown) {
  AgentFixture f;
  f.agent.begin();
  f.agent.go_down();
  EXPECT_TRUE(f.agent.is_down());
  f.ask();
  f.run_all();
  EXPECT_EQ(f.agent.commands().size(), 0u);
}

TEST(RailAgent, DecidesNothingAfterTheEnd) {
  AgentFixture f;
  f.agent.begin();
  f.run_all();
  f.agent.end();
  struct Later {
    void at(std::uint64_t) { f.ask(); }
    AgentFixture& f;
  } later{f};
  f.engine.schedule(Time{us(1)}, engine::Phase::kFinish, engine::Action::to<&Later::at>(later));
  f.run_all();
  EXPECT_EQ(f.agent.commands().size(), 0u);
}

// 0 -> 1 at once, and 0 -> 2 when that circuit can be used, 10 us later.
TEST(PlanSequencer, AStepWaitsForTheCircuitsOfTheOneBefore) {
  LitByHand f;
  test::FakeDeliveries deliveries;
  f.fabric.attach(deliveries, f);
  PlanSequencer sequencer(f.engine, f.rail(), f.channel, RailId{0u});
  std::vector<PlanSequencer::Issued> issued;
  Decision decision;
  decision.steps = {{{{circuit(0, 1)}, {}}}, {{{circuit(0, 2)}, {}}}};
  sequencer.take(std::move(decision), issued);
  ASSERT_EQ(issued.size(), 1u);
  EXPECT_THAT(issued[0].command.change.connect, ElementsAre(circuit(0, 1)));
  sequencer.proceed(issued);
  EXPECT_EQ(issued.size(), 1u) << "the first step is under way";
  EXPECT_EQ(sequencer.next(true), Time{us(10)});
  f.run_all();
  ASSERT_THAT(f.done, ElementsAre(issued[0].command.id));
  sequencer.done(f.done[0]);
  sequencer.proceed(issued);
  ASSERT_EQ(issued.size(), 2u);
  EXPECT_THAT(issued[1].command.change.connect, ElementsAre(circuit(0, 2)));
  EXPECT_EQ(issued[1].decided, Time{us(10)});
}

// A timetable of two rounds of 50 us that begins at 0: its next turns are at 0, 50, 100 us; without use it stands still
// after one turn of both, unless operations wait.
TEST(PlanSequencer, ATimetableTurnsBySlotsUntilItIsNotUsed) {
  LitByHand f;
  test::FakeDeliveries deliveries;
  f.fabric.attach(deliveries, f);
  PlanSequencer sequencer(f.engine, f.rail(), f.channel, RailId{0u});
  std::vector<PlanSequencer::Issued> issued;
  Decision decision;
  decision.timetable = Timetable{{{{circuit(0, 1)}, {}}, {{circuit(0, 2)}, {}}}, us(50), Time{}};
  sequencer.take(std::move(decision), issued);
  EXPECT_TRUE(sequencer.rotates());
  EXPECT_EQ(sequencer.next(false), Time{us(50)});
  struct Turn {
    void at(std::uint64_t) { sequencer.proceed(issued); }
    PlanSequencer& sequencer;
    std::vector<PlanSequencer::Issued>& issued;
  } turn{sequencer, issued};
  for (int slot = 1; slot <= 3; ++slot) {
    f.engine.schedule(Time{us(50.0 * slot)}, engine::Phase::kDecide, engine::Action::to<&Turn::at>(turn));
  }
  f.run_all();
  ASSERT_EQ(issued.size(), 4u);
  EXPECT_THAT(issued[3].command.change.connect, ElementsAre(circuit(0, 2)));
  EXPECT_TRUE(issued[3].rotation);
  EXPECT_FALSE(sequencer.next(false)) << "no bytes moved for a whole turn";
  EXPECT_EQ(sequencer.next(true), Time{us(200)}) << "operations wait for its circuits";
  sequencer.forget();
  EXPECT_FALSE(sequencer.rotates());
}

// The ring of three servers: every rank has one operation on rail 0, with the three pairs and the bytes of each.
TEST(ProfiledSchedule, ShowsTheOperationsOfEachRankWithTheirCircuits) {
  BoardFixture f;
  execution::PlanCache plans{f.algorithms, nullptr, {.pair_bytes = true}};
  execution::OperationTable operations{f.graph(), f.placement, f.fabric, plans, nullptr};
  execution::Schedule order(3);
  for (std::uint32_t r = 0; r < 3; ++r) order[r] = {{TaskId{0u}, Time{us(7)}}};
  ProfiledSchedule schedule(f.graph(), operations, f.fabric, f.job_.scenario.gpu_of_rank, order);
  const auto rail = schedule.rail(RailId{0u});
  ASSERT_EQ(rail.size(), 3u);
  for (std::uint32_t r = 0; r < 3; ++r) {
    EXPECT_EQ(rail[r].rank, RankId{r});
    EXPECT_EQ(rail[r].position, r);
    ASSERT_EQ(rail[r].operations.size(), 1u);
    EXPECT_EQ(rail[r].operations[0].start, us(7));
    EXPECT_EQ(rail[r].next, 0u);
  }
  const ScheduledOperation& operation = rail[0].operations[0];
  EXPECT_THAT(operation.pairs, ElementsAre(ServerPair{0, 1}, ServerPair{1, 2}, ServerPair{2, 0}));
  // An all-gather of 30 MB a member: each link of the ring carries those of two members.
  std::vector<std::int64_t> bytes;
  for (const Bytes b : operation.bytes) bytes.push_back(b.count);
  EXPECT_THAT(bytes, ElementsAre(60'000'000, 60'000'000, 60'000'000));
  schedule.set_progress(RankId{1u}, 2, 1);
  EXPECT_EQ(schedule.rail(RailId{0u})[1].next, 1u);
  EXPECT_EQ(schedule.rail(RailId{0u})[1].iteration, 2u);
  EXPECT_EQ(schedule.rail(RailId{0u})[0].next, 0u);
}

}  // namespace
}  // namespace photonrail::control_plane
