// The parts of the network that flows with shared capacities need, each alone. Rates are in bytes per picosecond.
#include "network/capacity_flows.hpp"
#include "network/departure_agenda.hpp"
#include "network/epoch_flows.hpp"
#include "network/level_check.hpp"
#include "network/level_solver.hpp"
#include "network/progressive_filling.hpp"
#include "network/shared_flows.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace photonrail::network {
namespace {

using ::testing::ElementsAre;

FlowId take(FlowTable& flows, std::initializer_list<CapacityId> hops, std::int64_t bytes) {
  Path path;
  for (const CapacityId hop : hops) path.add(hop);
  return flows.take(path, Bytes{bytes}, 0, kNone);
}

void pass(engine::Engine& engine, std::int64_t picoseconds) {
  struct Nothing {
    void happens(std::uint64_t) {}
  } nothing;
  engine.schedule(engine.now() + Duration{picoseconds}, engine::Phase::kFinish,
                  engine::Action::to<&Nothing::happens>(nothing));
  engine.step();
}

// A level of 2 serves 20 bytes to each in 10 ps. Of 100 and 50 bytes 80 and 30 are left; the second ends 15 ps later.
TEST(CapacityFlows, BoundFlowsAreServedAtOneRateAndEndInTheOrderOfWhatTheyHaveLeft) {
  engine::Engine engine;
  FlowTable flows;
  CapacityFlows lists(engine, flows);
  lists.resize(2);
  EXPECT_TRUE(lists.empty(0));
  const HopSlot a = flows[take(flows, {0, 1}, 100)].first_hop;
  const HopSlot b = flows[take(flows, {0}, 50)].first_hop;
  lists.bind(a, 100.0);
  lists.bind(b, 50.0);
  EXPECT_EQ(lists.bound(0).front().slot, b);
  EXPECT_EQ(lists.bound(0).back().other, 1u) << "the other capacity of a path of two";
  pass(engine, 10);
  EXPECT_EQ(lists.unsent(a, 2.0), 80.0);
  EXPECT_EQ(lists.first_end(0, 2.0), Time{25});
  EXPECT_EQ(lists.first_end(0, 0.0), Time::never());
  lists.advance(0, 2.0);
  EXPECT_EQ(lists.remaining(a), 80.0);
  EXPECT_EQ(lists.remaining(b), 30.0);
  EXPECT_EQ(lists.first_end(0, 1.0), Time{40}) << "30 bytes at the new level";
  lists.unbind(b);
  EXPECT_EQ(lists.bound(0).front().slot, a);
}

TEST(CapacityFlows, CrossingFlowsKnowTheirPlaceWhenOthersGo) {
  engine::Engine engine;
  FlowTable flows;
  CapacityFlows lists(engine, flows);
  lists.resize(1);
  std::vector<HopSlot> slots;
  for (int i = 0; i < 3; ++i) {
    slots.push_back(flows[take(flows, {0}, 1)].first_hop);
    lists.add_other(slots.back(), kNone);
  }
  lists.drop_other(slots[0]);
  lists.set_bottleneck(slots[2], 7);
  lists.drop_other(slots[1]);
  ASSERT_EQ(lists.others(0).size(), 1u);
  EXPECT_EQ(lists.others(0).front().slot, slots[2]);
  EXPECT_EQ(lists.others(0).front().bottleneck, 7u);
}

struct DepartureLog {
  engine::Engine engine;
  DepartureAgenda agenda{engine, engine::Action::to<&DepartureLog::depart>(*this)};
  std::map<CapacityId, std::int64_t> ends;
  std::vector<std::pair<CapacityId, std::int64_t>> found;

  void depart(std::uint64_t) {
    agenda.begin_departure();
    for (CapacityId id = agenda.due(); id != kNone; id = agenda.due()) {
      found.emplace_back(id, engine.now().since_start().count());
      agenda.remove(id);
    }
    update();
  }
  void set(CapacityId id, std::int64_t end) {
    ends[id] = end;
    agenda.mark(id);
  }
  void update() {
    agenda.update([&](CapacityId id) { return ends.contains(id) ? Time{ends.at(id)} : Time::never(); });
  }
};

TEST(DepartureAgenda, OneEventAtTheFirstOfAllEnds) {
  DepartureLog log;
  log.agenda.resize(4);
  log.set(2, 30);
  log.set(0, 10);
  log.set(1, 30);
  log.set(3, 20);
  log.update();
  EXPECT_EQ(log.engine.pending(), 1u);
  log.set(3, 5);  // earlier than all
  log.ends.erase(2);
  log.agenda.mark(2);  // it has none any more
  log.update();
  log.engine.run();
  EXPECT_THAT(log.found, ElementsAre(std::pair(3u, 5), std::pair(0u, 10), std::pair(1u, 30)));
}

TEST(DepartureAgenda, CapacitiesThatAreDueTogetherComeInTheirOrder) {
  DepartureLog log;
  log.agenda.resize(3);
  for (const CapacityId id : {2u, 0u, 1u}) log.set(id, 7);
  log.update();
  log.engine.run();
  EXPECT_THAT(log.found, ElementsAre(std::pair(0u, 7), std::pair(1u, 7), std::pair(2u, 7)));
}

// A chain of three capacities whose flows are frozen nowhere yet.
struct FillingSite {
  FillingSite() { lists.resize(rates.size()); }
  HopSlot add(std::initializer_list<CapacityId> hops) {
    const HopSlot first = flows[take(flows, hops, 1000)].first_hop;
    for (std::size_t i = 0; i < hops.size(); ++i) lists.add_other(first + static_cast<HopSlot>(i), kNone);
    return first;
  }
  std::vector<double> levels() {
    filling.run();
    std::vector<double> found;
    for (CapacityId id = 0; id < rates.size(); ++id) found.push_back(filling[id].level);
    return found;
  }

  std::vector<double> rates{1.0, 2.0, 9.0};
  engine::Engine engine;
  FlowTable flows;
  CapacityFlows lists{engine, flows};
  ProgressiveFilling filling{flows, lists, rates};
};

// Capacity 0 has two flows, each at 1/2; what the one on both leaves of capacity 1 is 3/2 for the other there.
TEST(ProgressiveFilling, TheCapacityThatIsFullFirstLeavesTheRestToTheOthers) {
  FillingSite site;
  const HopSlot both = site.add({0, 1});
  const HopSlot first = site.add({0});
  const HopSlot second = site.add({1});
  EXPECT_THAT(site.levels(), ElementsAre(0.5, 1.5, kUnlimited));
  EXPECT_THAT(site.filling.moved(), ElementsAre(both, first, second)) << "in the order of their levels";
  EXPECT_EQ(site.filling[1].left, 1.5);
  EXPECT_EQ(site.filling[1].fastest, 0.5) << "of what is frozen elsewhere";
}

// As above with a third flow on all three and one on the last two: capacity 0 has three flows at 1/3, which leave 4/3 of
// capacity 1 for two, 2/3 each; the last limits none.
TEST(ProgressiveFilling, PathsOfThree) {
  FillingSite site;
  site.add({0, 1});
  site.add({0});
  site.add({1});
  site.add({0, 1, 2});
  site.add({1, 2});
  const std::vector<double> levels = site.levels();
  EXPECT_DOUBLE_EQ(levels[0], 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(levels[1], 2.0 / 3.0);
  EXPECT_EQ(levels[2], kUnlimited);
}

// What has its bottleneck where it is frozen again stays: only the flow that had it elsewhere moves.
TEST(ProgressiveFilling, FlowsThatAreFrozenWhereTheyAreBoundDoNotMove) {
  FillingSite site;
  const HopSlot both = site.add({0, 1});
  const HopSlot second = site.add({1});
  site.lists.drop_other(both + 1);  // bound on capacity 1, although capacity 0 is full first
  site.lists.bind(both + 1, 1000.0);
  site.lists.set_bottleneck(both, 1);
  site.lists.drop_other(second);
  site.lists.bind(second, 1000.0);
  EXPECT_THAT(site.levels(), ElementsAre(1.0, 1.0, kUnlimited));
  EXPECT_THAT(site.filling.moved(), ElementsAre(both));
}

struct SolverSite {
  explicit SolverSite(const std::vector<double>& of_capacities) : rates(of_capacities) {
    lists.resize(rates.size());
    agenda.resize(rates.size());
    solver.resize(rates.size());
    for (CapacityId id = 0; id < rates.size(); ++id) solver.change_rate(id, rates[id]);
  }
  void depart(std::uint64_t) {}
  FlowId add(std::initializer_list<CapacityId> hops) {
    const FlowId id = take(flows, hops, 1000);
    solver.add(id);
    return id;
  }
  std::vector<double> levels() {
    std::vector<double> found;
    for (CapacityId id = 0; id < rates.size(); ++id) found.push_back(solver.level(id));
    return found;
  }

  std::vector<double> rates;
  engine::Engine engine;
  FlowTable flows;
  CapacityFlows lists{engine, flows};
  DepartureAgenda agenda{engine, engine::Action::to<&SolverSite::depart>(*this)};
  LevelSolver solver{{engine, flows, lists, agenda, rates}, 100};
};

// Capacities 1 and 2; a flow on both, one on each. The first has level 1/2; it leaves 3/2 of the second, which limits one
// flow. When the flow on both has gone, the others have a capacity each: 1 and 2.
TEST(LevelSolver, TheClassicChainAndWhatItBecomesWhenItsLongFlowLeaves) {
  SolverSite site({1.0, 2.0});
  const FlowId both = site.add({0, 1});
  site.add({0});
  site.add({1});
  site.solver.settle();
  EXPECT_THAT(site.levels(), ElementsAre(0.5, 1.5));
  EXPECT_EQ(site.solver.flows_solved(), 3u) << "each gets its bottleneck once: the lowest level is solved first";
  site.solver.remove(both);
  site.solver.settle();
  EXPECT_THAT(site.levels(), ElementsAre(1.0, 2.0));
}

// 4 instead of 1 limits neither of the flows on it: both have half of 2 there.
TEST(LevelSolver, ACapacityThatLimitsNoFlowHasNoLevel) {
  SolverSite site({1.0, 2.0});
  site.add({0, 1});
  site.add({0, 1});
  site.solver.settle();
  EXPECT_THAT(site.levels(), ElementsAre(0.5, kUnlimited));
  site.rates[0] = 4.0;
  site.solver.change_rate(0, 3.0);
  site.solver.settle();
  EXPECT_THAT(site.levels(), ElementsAre(kUnlimited, 1.0));
}

struct DepartingSite {
  engine::Engine engine;
  FlowTable flows;
  std::vector<double> rates{1.0, 1.0};
  SharedFlows shared{
      {engine, flows, rates},
      {engine::Action::to<&DepartingSite::depart>(*this), engine::Action::to<&DepartingSite::depart_in_epoch>(*this)},
      0.0,
      100};
  std::vector<std::pair<FlowId, std::int64_t>> left;

  void depart(std::uint64_t) {
    for (const FlowId id : shared.take_leaving()) left.emplace_back(id, engine.now().since_start().count());
  }
  void depart_in_epoch(std::uint64_t) { FAIL() << "there are no epochs"; }
};

// Two flows of 100 bytes at 1/2, and a third of 300 on the second capacity alone, with 1/2 until 200 and then 1: 200 bytes
// are left at 200, so that it ends at 400.
TEST(SharedFlows, FlowsLeaveWhenTheirBytesAreSent) {
  DepartingSite site;
  site.shared.resize(2);
  for (const CapacityId id : {0u, 1u}) site.shared.change_rate(id);
  const FlowId a = take(site.flows, {0, 1}, 100);
  const FlowId b = take(site.flows, {0}, 100);
  const FlowId c = take(site.flows, {1}, 300);
  EXPECT_TRUE(site.shared.none_on(1));
  for (const FlowId id : {a, b, c}) site.shared.add(id);
  EXPECT_FALSE(site.shared.none_on(1));
  site.shared.settle();
  EXPECT_EQ(site.shared.rate(site.flows[c]), 0.5);
  EXPECT_EQ(site.shared.unsent(site.flows[c]), 300.0);
  std::vector<FlowId> on_second;
  site.shared.for_each(1, [&](FlowId id) { on_second.push_back(id); });
  EXPECT_THAT(on_second, ::testing::UnorderedElementsAre(a, c));
  site.engine.run();
  ASSERT_EQ(site.left.size(), 3u);
  std::sort(site.left.begin(), site.left.end());
  EXPECT_THAT(site.left, ElementsAre(std::pair(a, 200), std::pair(b, 200), std::pair(c, 400)));
}

/// Runs all events until `end`.
void run_to(engine::Engine& engine, Time end) {
  struct Mark {
    void reach(std::uint64_t) { reached = true; }
    bool reached = false;
  } mark;
  engine.schedule(end, engine::Phase::kFinish, engine::Action::to<&Mark::reach>(mark));
  while (!mark.reached) engine.step();
}

/// Flows of one capacity of 5 bytes per picosecond, of which those that end soon are taken together.
struct EpochSite {
  EpochSite() {
    lists.resize(1);
    agenda.resize(1);
    solver.resize(1);
    epochs.resize(1);
    solver.change_rate(0, available[0]);
  }
  void depart(std::uint64_t) {
    agenda.begin_departure();
    solver.remove(first);
    epochs.begin();
  }
  void end_of_epoch(std::uint64_t) { epochs.take_ended(ended); }
  FlowId add(std::int64_t bytes) {
    const FlowId id = take(flows, {0}, bytes);
    solver.add(id);
    return id;
  }

  std::vector<double> rates{5.0};
  std::vector<double> available{5.0};
  engine::Engine engine;
  FlowTable flows;
  CapacityFlows lists{engine, flows};
  DepartureAgenda agenda{engine, engine::Action::to<&EpochSite::depart>(*this)};
  LevelSolver solver{{engine, flows, lists, agenda, available}, 100};
  EpochFlows epochs{
      {engine, flows, lists, agenda, solver, rates, available}, engine::Action::to<&EpochSite::end_of_epoch>(*this), 0.5};
  FlowId first = 0;
  std::vector<FlowId> ended;
};

// Five flows at 1 byte per picosecond: 100 bytes end at 100. Half of the 4 that are left may be in an epoch: the two that
// would end at 104, which get their 8 bytes at an even 2 bytes per picosecond. The other two share 3 until 104, then 5.
TEST(EpochFlows, FlowsThatEndSoonAreTakenTogetherAndTheRestShareWhatTheyLeave) {
  EpochSite site;
  EXPECT_EQ(site.epochs.least_crowd(), 4u);
  site.first = site.add(100);
  const FlowId a = site.add(104);
  const FlowId b = site.add(104);
  for (int i = 0; i < 2; ++i) site.add(1000);
  struct Look {
    void at(std::uint64_t) {
      level = site.solver.level(0);
      rate = site.epochs.rate(site.flows[flow]);
      unsent = site.epochs.unsent(site.flows[flow]);
      reserved = !site.epochs.none_on(0);
      site.epochs.for_each(0, [this](FlowId) { ++in_epoch; });
    }
    EpochSite& site;
    FlowId flow;
    double level = 0.0;
    double rate = 0.0;
    double unsent = 0.0;
    bool reserved = false;
    int in_epoch = 0;
  } look{site, a}, after{site, a};
  site.engine.schedule(Time{102}, engine::Phase::kFinish, engine::Action::to<&Look::at>(look));
  site.engine.schedule(Time{105}, engine::Phase::kFinish, engine::Action::to<&Look::at>(after));
  run_to(site.engine, Time{110});
  EXPECT_EQ(site.epochs.epochs(), 1u);
  EXPECT_EQ(site.epochs.flows(), 2u);
  EXPECT_EQ(look.level, 1.5);
  EXPECT_EQ(look.rate, 1.0);
  EXPECT_EQ(look.unsent, 2.0);
  EXPECT_TRUE(look.reserved);
  EXPECT_EQ(look.in_epoch, 2);
  EXPECT_THAT(site.ended, ::testing::UnorderedElementsAre(a, b));
  EXPECT_EQ(after.level, 2.5);
  EXPECT_FALSE(after.reserved);
}

// What an epoch has taken goes back to the solver with what it has left: at 102 each has sent 2 of its 4 bytes, and the
// four flows share 5.
TEST(EpochFlows, AnEpochThatIsDissolvedGivesItsFlowsBack) {
  EpochSite site;
  site.first = site.add(100);
  const FlowId a = site.add(104);
  site.add(104);
  for (int i = 0; i < 2; ++i) site.add(1000);
  struct Dissolve {
    void at(std::uint64_t) { site.epochs.dissolve(); }
    EpochSite& site;
  } dissolve{site};
  site.engine.schedule(Time{102}, engine::Phase::kFinish, engine::Action::to<&Dissolve::at>(dissolve));
  run_to(site.engine, Time{102});
  site.solver.settle();
  EXPECT_TRUE(site.epochs.none_on(0));
  EXPECT_EQ(site.flows[a].remaining, 2.0);
  EXPECT_EQ(site.solver.level(0), 1.25);
  EXPECT_TRUE(site.ended.empty());
}

// Capacity 0 of 6 has three flows, one of which capacity 1 of 1 limits: 1, and 2.5 each for the others.
TEST(LevelCheck, KnowsTheFairRates) {
  engine::Engine engine;
  FlowTable flows;
  CapacityFlows lists(engine, flows);
  lists.resize(2);
  const HopSlot slow = flows[take(flows, {0, 1}, 100)].first_hop;
  lists.add_other(slow, 1);
  lists.bind(slow + 1, 100.0);
  for (int i = 0; i < 2; ++i) lists.bind(flows[take(flows, {0}, 100)].first_hop, 100.0);
  const std::vector<double> rates{6.0, 1.0};
  EXPECT_NO_THROW(check_levels(flows, lists, rates, {2.5, 1.0}));
  EXPECT_THROW(check_levels(flows, lists, rates, {2.4, 1.0}), InternalError);
  EXPECT_THROW(check_levels(flows, lists, {0.0, 1.0}, {2.5, 1.0}), InternalError) << "a capacity that stopped";
  EXPECT_NO_THROW(check_levels(flows, lists, {0.0, 1.0}, {0.0, 0.0}));
  lists.unbind(slow + 1);
  flows[0].bottleneck = kNone;
  EXPECT_THROW(check_levels(flows, lists, rates, {2.5, 1.0}), InternalError) << "a flow that was not solved";
}

}  // namespace
}  // namespace photonrail::network
