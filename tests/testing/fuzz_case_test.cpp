// A small case is one job in three forms: a value, a scenario, a file.
#include "photonrail/testing/fuzz.hpp"

#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/testing/laws.hpp"
#include "photonrail/testing/tiny_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace photonrail::test {
namespace {

using namespace testing;

std::uint64_t history_of(const Scenario& scenario) {
  HistoryHash hash;
  Observer* const observers[] = {&hash};
  (void)simulate(scenario, observers);
  return hash.value();
}

TEST(FuzzCase, TheFileIsTheScenario) {
  RandomStream random(3, "test");
  for (const PolicyUnderTest& subject : subjects_of(ControllerRegistry::builtin())) {
    for (int i = 0; i < 10; ++i) {
      const FuzzCase drawn = draw_case(random);
      const ControllerSpec& setting = subject.settings[drawn.setting % subject.settings.size()];
      const Scenario scenario = under(subject, setting, scenario_of(drawn));
      const std::string text = to_json(drawn, scenario, subject.factory);
      const Scenario read = parse_scenario(text, ".");
      EXPECT_EQ(read.cluster.gpus(), drawn.ranks());
      EXPECT_EQ(read.graph.task_count(), scenario.graph.task_count());
      EXPECT_EQ(history_of(read), history_of(scenario)) << text;
    }
  }
}

TEST(FuzzCase, DrawnCasesAreValidAndOfManyKinds) {
  RandomStream random(1, "test");
  std::size_t sends = 0;
  std::size_t rings = 0;
  std::size_t two_rails = 0;
  std::size_t overlaps = 0;
  for (int i = 0; i < 200; ++i) {
    const FuzzCase drawn = draw_case(random);
    ASSERT_TRUE(valid(drawn)) << i;
    two_rails += drawn.gpus_per_server == 2 ? 1 : 0;
    for (const FuzzCall& call : drawn.calls) {
      sends += call.op == CollectiveOp::kSend ? 1 : 0;
      rings += call.members.size() > 2 ? 1 : 0;
      overlaps += call.overlaps ? 1 : 0;
    }
  }
  for (const std::size_t kind : {sends, rings, two_rails, overlaps}) EXPECT_GT(kind, 20u);
}

TEST(FuzzCase, WhatCannotBeHeldIsNotValid) {
  FuzzCase fuzz_case;
  fuzz_case.servers = 3;
  EXPECT_FALSE(valid(fuzz_case)) << "no call";
  fuzz_case.calls = {{.op = CollectiveOp::kAllReduce, .members = {0, 1, 2}}};
  EXPECT_TRUE(valid(fuzz_case));
  fuzz_case.calls = {{.op = CollectiveOp::kAllReduce, .members = {0, 1, 3}}};
  EXPECT_FALSE(valid(fuzz_case)) << "there is no rank 3";
  fuzz_case.calls = {{.op = CollectiveOp::kAllReduce, .members = {1, 0}}};
  EXPECT_FALSE(valid(fuzz_case)) << "not in order";
  fuzz_case.calls = {{.op = CollectiveOp::kSend, .members = {1, 0}}};
  EXPECT_TRUE(valid(fuzz_case));
  // In one of the shifts ranks 0 and 1, of one server, send to ranks 3 and 5: on rail 1 both leave from server 0.
  fuzz_case.gpus_per_server = 2;
  fuzz_case.calls = {{.op = CollectiveOp::kAllToAll, .members = {0, 1, 3, 5}}};
  EXPECT_FALSE(valid(fuzz_case));
  fuzz_case.ports = 2;
  EXPECT_TRUE(valid(fuzz_case));
}

// Two sends of 1 MB at 50 GB/s, one after the other: 2 x 20 us; before each a switching of 100 us, 3 us of link bring-up
// and four messages of 1 us; 2 us of latency; 5 us of compute. Twice.
TEST(FuzzCase, SerialTimeIsTheSumOfEverything) {
  using std::chrono::microseconds;
  FuzzCase fuzz_case;
  fuzz_case.switching = microseconds(100);
  fuzz_case.link_up = microseconds(3);
  fuzz_case.request = microseconds(1);
  fuzz_case.latency = microseconds(2);
  fuzz_case.iterations = 2;
  fuzz_case.calls = {{.members = {0, 1}, .compute_us = {5, 0}}, {.members = {1, 0}}};
  EXPECT_EQ(serial_time(fuzz_case), Duration{microseconds(2 * (2 * (20 + 100 + 3 + 4 + 2) + 5))});
}

// Whatever may be made simpler is: the simplest case has nothing simpler that is valid.
TEST(FuzzCase, SimplerEnds) {
  RandomStream random(2, "test");
  for (int i = 0; i < 20; ++i) {
    FuzzCase fuzz_case = draw_case(random);
    for (int steps = 0;; ++steps) {
      ASSERT_LT(steps, 300);
      const std::vector<FuzzCase> all = simpler(fuzz_case);
      const auto next = std::find_if(all.begin(), all.end(), valid);
      if (next == all.end()) break;
      fuzz_case = *next;
    }
    EXPECT_EQ(fuzz_case.ranks(), 2u);
    EXPECT_EQ(fuzz_case.calls.size(), 1u);
    EXPECT_EQ(fuzz_case.calls[0].op, CollectiveOp::kSend);
    EXPECT_LE(fuzz_case.calls[0].bytes, 4096);
    EXPECT_EQ(fuzz_case.setting, 0u);
  }
}

}  // namespace
}  // namespace photonrail::test
