// What a controller may answer, and what is checked, with controllers written on the spot. Ports of 50 GB/s: 20 ps a byte.
#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "run/scripted.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

CircuitPlan circuits(std::initializer_list<std::pair<std::size_t, std::size_t>> pairs) {
  CircuitPlan plan;
  for (const auto& [from, to] : pairs) plan.connect.push_back({PortId{from}, PortId{to}});
  return plan;
}

/// Rank 0 sends 4 ms to rank 1, and then 1 ms to rank 2.
Job two_sends(Duration delay = ms(1)) {
  Job job(3);
  job.optical(delay, "scripted");
  job.send(0, 1, 4 * kMs).receive(0, 1, 4 * kMs).send(0, 2, kMs).receive(0, 2, kMs);
  job.build();
  return job;
}

TEST(Decision, StepsAreCarriedOutOneAfterTheOther) {
  bool said = false;
  // The second step waits for the first one's bytes, which keep the port of rank 0: lit at 1 ms, through at 5, lit at 6.
  const RunResult result = run_scripted(two_sends().scenario, [&](const FabricView&) -> Decision {
    if (std::exchange(said, true)) return std::nullopt;
    Decision decision;
    decision.steps = {{circuits({{0, 1}})}, {circuits({{0, 2}}), When::kDrained}};
    return decision;
  });
  EXPECT_TRUE(books_balance(result));
  EXPECT_EQ(result.reconfigurations.count, 2u);
  EXPECT_EQ(result.makespan, ms(7));
}

TEST(Decision, AStepAtATimeWaitsForIt) {
  bool said = false;
  const RunResult result = run_scripted(two_sends().scenario, [&](const FabricView&) -> Decision {
    if (std::exchange(said, true)) return std::nullopt;
    Decision decision;
    decision.steps = {{circuits({{0, 1}}), When::kAt, Time{ms(2)}}, {circuits({{0, 2}}), When::kAt, Time{ms(10)}}};
    return decision;
  });
  // Lit at 3, through at 7; lit at 11, through at 12.
  EXPECT_EQ(result.makespan, ms(12));
}

TEST(Decision, LaterStepsReplaceThoseThatAreLeft) {
  int asked = 0;
  const RunResult result = run_scripted(two_sends().scenario, [&](const FabricView&) -> Decision {
    ++asked;
    Decision decision;
    if (asked == 1) decision.steps = {{circuits({{0, 1}}), When::kAt, Time{ms(100)}}};
    if (asked == 1) decision.ask_again = Time{ms(3)};
    if (asked == 2) decision.steps = {{circuits({{0, 1}})}, {circuits({{0, 2}}), When::kDrained}};
    return decision;
  });
  // Asked at 0, and when the requests came; whichever was second said it, at 0.
  EXPECT_EQ(result.makespan, ms(7));
}

TEST(Decision, IsAskedAgainWhenItSaidSo) {
  std::vector<Time> asked;
  const RunResult result = run_scripted(two_sends().scenario, [&](const FabricView& view) -> Decision {
    asked.push_back(view.now);
    if (view.now < Time{ms(2)}) {
      Decision wait;
      wait.ask_again = Time{ms(2)};
      return wait;
    }
    if (view.transmit[0].in_use) return std::nullopt;
    return circuits({{0, view.requests.empty() || view.requests[0].pairs[0].to == 1 ? 1u : 2u}});
  });
  EXPECT_THAT(asked, ::testing::Contains(Time{ms(2)}));
  // Lit at 3, through at 7; then 8 and 9.
  EXPECT_EQ(result.makespan, ms(9));
}

// Rank 0 sends to 1 all the time. 0->2 is to be lit once the port is out of use: from then on the sends that follow do not
// get hold of 0->1 again.
TEST(Decision, ADrainingCircuitTakesNobodyNew) {
  Job job(3);
  job.optical(ms(1), "scripted");
  for (int i = 0; i < 3; ++i) job.send(0, 1, 4 * kMs).receive(0, 1, 4 * kMs);
  job.detach(0).send(0, 2, kMs, 7).receive(0, 2, kMs, 7);
  job.build();
  std::vector<Time> lit;
  bool drained = false;
  const RunResult result = run_scripted(job.scenario, [&](const FabricView& view) -> Decision {
    if (view.now == Time{} && view.transmit[0].peer.is_none()) return circuits({{0, 1}});
    if (view.now >= Time{ms(1)} && !std::exchange(drained, true)) return Step{circuits({{0, 2}}), When::kDrained};
    if (view.now < Time{ms(1)} || !view.transmit[0].draining) {
      const bool idle = view.transmit[0].lit && !view.transmit[0].in_use;
      const bool wanted = !view.requests.empty() && view.requests[0].pairs[0].to == 1;
      if (idle && wanted && view.transmit[0].peer == PortId{2u}) return circuits({{0, 1}});
      return std::nullopt;
    }
    return std::nullopt;
  });
  // 0->1 is lit at 1; the first send is through at 5. Then 0->2: lit at 6, through at 7. Back: lit at 8, two sends of 4.
  EXPECT_EQ(result.makespan, ms(16));
}

TEST(Decision, AStepMayPreempt) {
  for (const bool preempt : {false, true}) {
    Job job(3);
    job.optical(ms(1), "scripted");
    job.send(0, 1, 4 * kMs).receive(0, 1, 4 * kMs);
    job.detach(0).send(0, 2, kMs, 7).receive(0, 2, kMs, 7);
    job.build();
    int step = 0;
    const Script script = [&](const FabricView& view) -> Decision {
      Decision decision;
      if (step == 0) {
        decision.steps = {{circuits({{0, 1}})},
                          {circuits({{0, 2}}), When::kAt, Time{ms(3)}, preempt},
                          {circuits({{0, 1}}), When::kDrained}};
      }
      step += view.now >= Time{} ? 1 : 0;
      return decision;
    };
    if (preempt) {
      // 2 of 4 ms until 3; 0->2 lit at 4, through at 5; back at 6, the rest until 8.
      const RunResult result = run_scripted(job.scenario, script);
      EXPECT_EQ(result.makespan, ms(8));
      EXPECT_TRUE(books_balance(result));
    } else {
      EXPECT_THROW((void)run_scripted(job.scenario, script), ControllerError);
    }
  }
}

// Two positions with one port: 0->1 and 1->0 are lit together in the only round; a slot of 10 ms, dark for 1 of it. A send
// of 20 ms, when circuits that are the same in every round are never darkened: 1 + 20. With three positions each pair is
// lit every other slot.
TEST(Decision, ATimetableTurnsWhateverIsAsked) {
  Job job(3);
  job.optical(ms(1), "scripted");
  job.send(0, 1, 20 * kMs).receive(0, 1, 20 * kMs);
  job.build();
  const RunResult result = run_scripted(job.scenario, [](const FabricView& view) -> Decision {
    Decision decision;
    if (view.now > Time{} || !view.transmit[0].peer.is_none()) return decision;
    decision.timetable =
        Timetable{{circuits({{0, 1}, {1, 2}, {2, 0}}), circuits({{0, 2}, {2, 1}, {1, 0}})}, ms(10), Time{}};
    return decision;
  });
  // Lit in 1..10, 21..30, 41..: 9 + 9 + 2.
  EXPECT_EQ(result.makespan, ms(43));
  EXPECT_TRUE(books_balance(result));
}

// No circuit is in use while rank 0 computes for 995 ms: the timetable is suspended, and is where it would be when the send
// comes: 99 slots are over, of which the hundredth (odd) has 0->2 lit; 0->1 comes at 1000 + 1.
TEST(Decision, ATimetableThatNobodyUsesCostsNothingAndIsWhereItShouldBe) {
  Job job(3);
  job.optical(ms(1), "scripted");
  job.compute(0, ms(995)).send(0, 1, kMs).receive(0, 1, kMs);
  job.build();
  const RunResult result = run_scripted(job.scenario, [](const FabricView& view) -> Decision {
    Decision decision;
    if (view.now > Time{} || !view.transmit[0].peer.is_none()) return decision;
    decision.timetable =
        Timetable{{circuits({{0, 1}, {1, 2}, {2, 0}}), circuits({{0, 2}, {2, 1}, {1, 0}})}, ms(10), Time{}};
    return decision;
  });
  EXPECT_EQ(result.makespan, ms(1002));
  EXPECT_LT(result.reconfigurations.count, 12u);
}

TEST(Decision, ASlotThatIsTooShortIsSaid) {
  const Script script = [](const FabricView&) -> Decision {
    Decision decision;
    decision.timetable = Timetable{{circuits({{0, 1}})}, ms(1), Time{}};
    return decision;
  };
  EXPECT_THROW((void)run_scripted(two_sends().scenario, script), ControllerError);
}

// ---- what is checked

TEST(Checks, AServerIsNotJoinedToItself) {
  const Script script = [](const FabricView&) -> Decision { return circuits({{0, 0}}); };
  EXPECT_THROW((void)run_scripted(two_sends().scenario, script), ControllerError);
}

TEST(Checks, WhoWaitsLongerThanTheBoundIsNamed) {
  Job job = two_sends();
  job.scenario.controller.starvation = ms(20);
  const Script keep = [](const FabricView&) -> Decision { return std::nullopt; };
  try {
    (void)run_scripted(job.scenario, keep);
    FAIL();
  } catch (const ControllerError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'scripted' on rail 0 at 0.02"), HasSubstr("send of group"),
                                    HasSubstr("server 0 to 1"), HasSubstr("(starvation)")));
  }
  job.scenario.controller.starvation = Duration{0};
  EXPECT_THROW((void)run_scripted(job.scenario, keep), DeadlockError);
}

TEST(Checks, ABoundThatNobodyReachesChangesNothing) {
  Job job = two_sends();
  const auto follow = [](const FabricView& view) -> Decision {
    if (view.requests.empty() || view.transmit[0].in_use) return std::nullopt;
    return circuits({{0, view.requests[0].pairs[0].to}});
  };
  EXPECT_EQ(run_scripted(job.scenario, follow).makespan, ms(7));
  job.scenario.controller.starvation = ms(2);
  EXPECT_EQ(run_scripted(job.scenario, follow).makespan, ms(7));
}

TEST(Checks, EndlessRepointingIsSaid) {
  const Script script = [](const FabricView& view) -> Decision {
    return circuits({{1, view.transmit[1].peer == PortId{2u} ? 0u : 2u}});
  };
  try {
    (void)run_scripted(two_sends().scenario, script);
    FAIL();
  } catch (const ControllerError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("10000 times in a row"), HasSubstr("send of group")));
  }
}

TEST(Checks, WhoAsksAgainForEverDoesNotKeepAStuckJobGoing) {
  const Script script = [](const FabricView& view) -> Decision {
    Decision decision;
    decision.ask_again = view.now + us(1);
    return decision;
  };
  EXPECT_THROW((void)run_scripted(two_sends().scenario, script), DeadlockError);
}

// ---- what is shown

TEST(View, ShowsBytesThatAreLeft) {
  std::vector<std::int64_t> left;
  std::vector<std::int64_t> wanted;
  const RunResult result =
      run_scripted(PolicyNeeds{.view = {ViewPart::kBytes}}, two_sends().scenario, [&](const FabricView& view) {
        if (view.transmit[0].in_use) left.push_back(view.transmit[0].bytes_left.count);
        if (!view.requests.empty() && wanted.empty()) wanted.push_back(view.requests[0].bytes[0].count);
        Decision decision;
        decision.ask_again = Time{ms(3)};
        if (view.now == Time{ms(3)}) decision.ask_again = Time{ms(4)};
        if (!view.requests.empty() && !view.transmit[0].in_use) {
          decision.steps = {{circuits({{0, view.requests[0].pairs[0].to}})}};
        }
        return decision;
      });
  EXPECT_EQ(result.makespan, ms(7));
  EXPECT_THAT(wanted, ElementsAre(4 * kMs));
  // Lit at 1: of 4 ms 2 are left at 3, and 1 at 4.
  EXPECT_THAT(left, ::testing::IsSupersetOf({2 * kMs, kMs}));
}

// An empty list would pass for an answer.
TEST(View, WhatAPolicyDidNotAskForCannotBeRead) {
  const auto reads = [](const auto& look) {
    return [look](const FabricView& view) -> Decision {
      if (!view.requests.empty()) look(view);
      return std::nullopt;
    };
  };
  for (const auto& [look, part] : std::initializer_list<std::pair<Script, const char*>>{
           {reads([](const FabricView& v) { (void)v.requests[0].bytes.size(); }), "kBytes"},
           {reads([](const FabricView& v) { (void)v.requests[0].next.empty(); }), "kRounds"},
           {reads([](const FabricView& v) { (void)v.schedule.begin(); }), "kSchedule"},
           {reads([](const FabricView& v) { (void)std::span<const PairTraffic>(v.traffic_now); }), "kTraffic"}}) {
    try {
      (void)run_scripted(two_sends().scenario, look);
      ADD_FAILURE() << part;
    } catch (const ControllerError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("which it did not ask for: add ViewPart::") + part));
    }
  }
}

TEST(View, ShowsWhoWaitsSinceWhen) {
  Job job(2);
  job.optical(ms(1), "scripted");
  job.compute(1, ms(2));
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, kMs);
  job.build();
  bool seen = false;
  (void)run_scripted(job.scenario, [&](const FabricView& view) -> Decision {
    if (view.requests.empty()) return std::nullopt;
    const CircuitRequest& demand = view.requests[0];
    if (!std::exchange(seen, true)) {
      EXPECT_EQ(demand.op, CollectiveOp::kAllReduce);
      EXPECT_EQ(demand.requesters.size(), 2u);
      EXPECT_EQ(demand.requesters[0].rank, RankId{0u});
      EXPECT_EQ(demand.requesters[0].since, Time{});
      EXPECT_EQ(demand.requesters[1].rank, RankId{1u});
      EXPECT_EQ(demand.requesters[1].since, Time{ms(2)});
    }
    return circuits({{0, 1}, {1, 0}});
  });
  EXPECT_TRUE(seen);
}

TEST(View, ShowsTheKnownScheduleAndWhereRanksStand) {
  std::vector<std::uint32_t> stands;
  const RunResult result =
      run_scripted(PolicyNeeds{.view = {ViewPart::kSchedule}}, two_sends().scenario, [&](const FabricView& view) {
        EXPECT_EQ(view.schedule.size(), 3u);
        const RankSchedule& rank = view.schedule[0];
        EXPECT_EQ(rank.position, 0u);
        EXPECT_EQ(rank.operations.size(), 2u);
        EXPECT_EQ(rank.operations[0].start, Duration{});
        EXPECT_EQ(rank.operations[1].start, ms(4));
        EXPECT_EQ(rank.operations[1].pairs[0], (ServerPair{0, 2}));
        EXPECT_EQ(rank.operations[1].bytes[0].count, kMs);
        EXPECT_EQ(view.schedule[2].operations.size(), 1u);
        if (stands.empty() || stands.back() != rank.next) stands.push_back(rank.next);
        if (view.requests.empty() || view.transmit[0].in_use) return Decision{};
        return Decision{circuits({{0, view.requests[0].pairs[0].to}})};
      });
  EXPECT_EQ(result.makespan, ms(7));
  EXPECT_THAT(stands, ElementsAre(0, 1, 2));
}

TEST(View, ShowsTheRoundsThatCome) {
  Job job(4);
  job.optical(ms(1), "scripted");
  job.scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "pairwise";
  job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kAllToAll, 4 * kMs);
  job.build();
  std::vector<std::size_t> to_come;
  const RunResult result =
      run_scripted(PolicyNeeds{.view = {ViewPart::kRounds}}, job.scenario, [&](const FabricView& view) -> Decision {
        CircuitPlan plan;
        for (const CircuitRequest& demand : view.requests) {
          to_come.push_back(demand.next.size());
          for (const RoundView& round : demand.next) EXPECT_EQ(round.bytes[0].count, kMs);
          for (const ServerPair pair : demand.pairs) {
            if (view.transmit[pair.from].in_use) return std::nullopt;
            plan.connect.push_back({view.port(pair.from, 0), view.port(pair.to, 0)});
          }
        }
        return plan;
      });
  EXPECT_THAT(to_come, ::testing::IsSupersetOf({2u, 1u, 0u}));
  EXPECT_EQ(result.makespan, ms(6));  // three rounds of 1 ms, and 1 ms to light each
}

TEST(View, ShowsTheTrafficOfThePastIteration) {
  Job job = two_sends();
  job.scenario.run.iterations = 2;
  std::vector<PairTraffic> past;
  (void)run_scripted(PolicyNeeds{.view = {ViewPart::kTraffic}}, job.scenario, [&](const FabricView& view) -> Decision {
    past.assign(view.traffic.begin(), view.traffic.end());
    if (view.requests.empty() || view.transmit[0].in_use) return std::nullopt;
    return circuits({{0, view.requests[0].pairs[0].to}});
  });
  ASSERT_EQ(past.size(), 2u);
  EXPECT_EQ(past[0].pair, (ServerPair{0, 1}));
  EXPECT_EQ(past[0].bytes.count, 4 * kMs);
  EXPECT_EQ(past[1].pair, (ServerPair{0, 2}));
  EXPECT_EQ(past[1].bytes.count, kMs);
}

TEST(View, ForwardsWhenThePolicyWantsIt) {
  Job job(3);
  job.optical(ms(1), "scripted");
  job.send(0, 2, 4 * kMs).receive(0, 2, 4 * kMs);
  job.build();
  const Script line = [](const FabricView&) -> Decision { return circuits({{0, 1}, {1, 2}}); };
  EXPECT_EQ(run_scripted(PolicyNeeds{.hops = 2}, job.scenario, line).makespan, ms(5));
  EXPECT_THROW((void)run_scripted(PolicyNeeds{.hops = 1}, job.scenario, line), DeadlockError);
}

}  // namespace
}  // namespace photonrail::test
