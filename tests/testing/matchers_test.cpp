// Matchers, on answers whose faults are known; a scripted controller, alone and in a run.
#include "photonrail/testing/matchers.hpp"

#include "photonrail/testing/policy_kit.hpp"
#include "photonrail/testing/tiny_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace photonrail::test {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using ::testing::AllOf;
using ::testing::Not;

TEST(Matchers, AnAnswerIsHeldAgainstItsView) {
  RailView rail(4);
  rail.in_use({0, 1}).lit({2, 3});
  ScriptedController script;
  script.connect({{2, 1}}).connect({{2, 0}}).connect({{1, 0}, {1, 2}}).keep();
  // 2->1 takes the receive fibre of 0->1, which is in use, and the transmit fibre of 2->3.
  EXPECT_THAT(ask(script, rail.view()), AllOf(KeepsMatching(), Not(NeverTearsDownBusyCircuits()), Connects(2, 1),
                                              Darkens(0, 1), Darkens(2, 3), Not(KeepsEverything())));
  EXPECT_THAT(ask(script, rail.view()),
              AllOf(KeepsMatching(), NeverTearsDownBusyCircuits(), Connects(2, 0), Not(Connects(0, 2)), Darkens(2, 3)));
  EXPECT_THAT(ask(script, rail.view()), Not(KeepsMatching()));  // one port, two circuits
  EXPECT_THAT(ask(script, rail.view()), AllOf(KeepsEverything(), KeepsMatching(), NeverTearsDownBusyCircuits()));
  EXPECT_EQ(script.lines_left(), 0u);
  EXPECT_THAT(ask(script, rail.view()), KeepsEverything());
}

TEST(Matchers, WhatMayGoDarkIsNotTornDown) {
  RailView rail(3);
  rail.in_use({0, 1});
  const auto taking = [&rail](When when, bool preempt) {
    return judge(rail.view(), Step{.plan = rail.plan({{0, 2}}), .when = when, .at = Time{}, .preempt = preempt});
  };
  EXPECT_THAT(taking(When::kNow, false), Not(NeverTearsDownBusyCircuits()));
  EXPECT_THAT(taking(When::kNow, true), NeverTearsDownBusyCircuits());
  EXPECT_THAT(taking(When::kDrained, false), NeverTearsDownBusyCircuits());
  EXPECT_THAT(taking(When::kAt, false), Not(NeverTearsDownBusyCircuits()));  // at 0: that is now
  EXPECT_THAT(taking(When::kNow, true), Darkens(0, 1));
}

TEST(Matchers, EveryRoundOfATimetableIsAMatching) {
  RailView rail(3);
  Decision decision;
  decision.timetable = Timetable{.rounds = {rail.plan({{0, 1}}), rail.plan({{1, 2}})}, .slot = 1ms, .start = Time{}};
  EXPECT_THAT(judge(rail.view(), decision), AllOf(KeepsMatching(), Connects(0, 1), Connects(1, 2)));
  decision.timetable->rounds[1].connect.push_back({PortId{0}, PortId{2}});  // takes the receive fibre of 1->2
  EXPECT_THAT(judge(rail.view(), decision), Not(KeepsMatching()));
}

TEST(ScriptedController, TakesPortsThatAreFree) {
  RailView rail(3, 2);
  rail.lit({0, 1});  // port 0 of each
  ScriptedController script;
  script.connect({{0, 2}, {1, 2}}).disconnect({{0, 1}});
  EXPECT_EQ(script.decide(rail.view()).plan(), (CircuitPlan{{{PortId{1}, PortId{4}}, {PortId{2}, PortId{5}}}, {}}));
  EXPECT_EQ(script.decide(rail.view()).plan(), (CircuitPlan{{}, {PortId{0}}}));
}

// 1 MB at 50 GB/s: 20 us. The circuit is ordered at 3 ms and takes 10 ms; it is held for 20 us.
TEST(ScriptedController, RunsAJobByTheClock) {
  TinyJob job(2);
  job.optical(10ms, "script").send(0, 1, 1'000'000).receive(0, 1, 1'000'000);
  ScriptedController script;
  script.connect_at(Time{3ms}, {{0, 1}});
  Transcript said;
  Registries known;
  known.controllers.add(overheard(script.factory("script"), said));
  EXPECT_EQ(job.run({}, known).makespan, 13ms + 20us);
  EXPECT_THAT(said, AllOf(KeepsMatching(), NeverTearsDownBusyCircuits(), Connects(0, 1), Not(Connects(1, 0))));
  ASSERT_EQ(said.changes.size(), 1u);
  EXPECT_EQ(said.changes[0].at, Time{3ms});
  EXPECT_GT(said.asked, 1u);
}

TEST(Transcript, StopsAPolicyThatIsAskedTooOften) {
  Transcript said;
  said.most = 2;
  RailView rail(2);
  const auto policy = overheard(ScriptedController().factory("silent"), said).make({}, RailId{0}, 1, 1);
  EXPECT_TRUE(policy->decide(rail.view()).keeps());
  EXPECT_TRUE(policy->decide(rail.view()).keeps());
  EXPECT_THROW((void)policy->decide(rail.view()), Restless);
}

}  // namespace
}  // namespace photonrail::test
