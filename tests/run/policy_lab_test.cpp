// What every policy of the Opus family has to show on jobs whose answer is known.
#include "photonrail/observer.hpp"
#include "run/job.hpp"
#include "support/sizes.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

struct Way {
  std::string name;
  std::function<void(ControllerSpec&)> set;
};
std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }

std::vector<Way> ways() {
  std::vector<Way> list;
  for (const std::string mode : {"on_demand", "provisioned"}) {
    for (const std::string order : {"scheduled", "free"}) {
      const std::string name = mode + (order == "free" ? "_free" : "");
      list.push_back({"opus_" + name, [mode, order](ControllerSpec& spec) {
                        spec.name = "opus";
                        spec.parameters.set("mode", mode).set("order", order);
                      }});
    }
  }
  list.push_back({"oracle", [](ControllerSpec& spec) { spec.name = "oracle"; }});
  list.push_back({"coalesce", [](ControllerSpec& spec) { spec.name = "coalesce"; }});
  list.push_back({"coalesce_unrehearsed", [](ControllerSpec& spec) {
                    spec.name = "coalesce";
                    spec.parameters.set("rehearse", 0.0);
                  }});
  list.push_back({"artifact_by_circuit", [](ControllerSpec& spec) {
                    spec.name = "opus_artifact";
                    spec.parameters.set("granularity", std::string("circuit"));
                    spec.parameters.set("lock", std::string("none")).set("retry", std::string("release"));
                  }});
  return list;
}

class PolicyLab : public ::testing::TestWithParam<Way> {
 protected:
  Job job(std::size_t ranks, Duration delay) const {
    Job job(ranks);
    job.optical(delay);
    GetParam().set(job.scenario.controller);
    return job;
  }
};

// k rounds of an all-reduce in {0,1},{2,3}, then in {0,2},{1,3}, one port a rank: 2k all-reduces, and one delay for each
// change of groups; the first circuits are one change too.
TEST_P(PolicyLab, AlternatingGroupsPayOneDelayAChange) {
  for (const int rounds : {1, 2, 4, 8}) {
    for (const double delay : {0.0, 0.5, 1.0, 10.0}) {
      Job lab = job(4, ms(delay));
      const auto a = lab.group({0, 1});
      const auto b = lab.group({2, 3});
      const auto c = lab.group({0, 2});
      const auto d = lab.group({1, 3});
      for (int k = 0; k < rounds; ++k) {
        lab.collective(a, {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
        lab.collective(b, {2, 3}, CollectiveOp::kAllReduce, 1 << 30);
        lab.collective(c, {0, 2}, CollectiveOp::kAllReduce, 1 << 30);
        lab.collective(d, {1, 3}, CollectiveOp::kAllReduce, 1 << 30);
      }
      const RunResult result = lab.run();
      EXPECT_EQ(result.makespan, 2 * rounds * (kGiB + ms(delay))) << rounds << " rounds, " << delay << " ms";
      EXPECT_TRUE(books_balance(result));
    }
  }
}

// Compute, a ring, a hop and the ring again: a longer delay is never a shorter step.
TEST_P(PolicyLab, StepsGrowWithTheDelay) {
  Duration last{};
  for (const double delay : {0.0, 0.1, 1.0, 5.0, 20.0, 100.0}) {
    Job lab = job(4, ms(delay));
    const auto a = lab.group({0, 1});
    const auto b = lab.group({2, 3});
    for (int k = 0; k < 3; ++k) {
      lab.collective(a, {0, 1}, CollectiveOp::kAllGather, 1 << 28);
      lab.collective(b, {2, 3}, CollectiveOp::kAllGather, 1 << 28);
      for (const std::size_t rank : {0, 1}) {
        lab.compute(rank, ms(7)).send(rank, rank + 2, 1 << 26, static_cast<std::uint32_t>(k));
        lab.receive(rank, rank + 2, 1 << 26, static_cast<std::uint32_t>(k)).compute(rank + 2, ms(7));
      }
    }
    const RunResult result = lab.run();
    EXPECT_GE(result.makespan, last) << delay << " ms";
    EXPECT_TRUE(books_balance(result));
    last = result.makespan;
  }
}

class DarkCircuits : public Observer {
 public:
  void circuit(const CircuitEvent& event) override { count += event.state == CircuitState::kDark ? 1 : 0; }
  int count = 0;
};

// Only a pipeline of two stages on the rail: both directions fit on one port, and stay.
TEST_P(PolicyLab, APipelineAloneNeverTearsDownACircuit) {
  Job lab = job(2, ms(10));
  for (std::uint32_t k = 0; k < 4; ++k) {
    lab.compute(0, ms(5)).send(0, 1, 1 << 26, k);
    lab.receive(0, 1, 1 << 26, k).compute(1, ms(10)).send(1, 0, 1 << 26, k);
    lab.receive(1, 0, 1 << 26, k);
  }
  DarkCircuits dark;
  Observer* const observers[] = {&dark};
  const RunResult result = lab.run(observers);
  EXPECT_EQ(dark.count, 0);
  EXPECT_LE(result.reconfigurations.count, 2u) << "one for each direction, at most";
}

INSTANTIATE_TEST_SUITE_P(Ways, PolicyLab, ::testing::ValuesIn(ways()), [](const auto& way) { return way.param.name; });

// The published simulator's ways on the trace that shows them: {0,1} and {2,3} are two stages, and the second ring is asked
// for while the first is in use.
class Artifact : public ::testing::Test {
 protected:
  static Duration step(const std::string& lock, const std::string& retry) {
    Job job(4);
    job.optical(Duration{}, "opus_artifact");
    job.scenario.controller.parameters.set("lock", lock).set("retry", retry);
    const auto a = job.group({0, 1});
    const auto b = job.group({2, 3});
    job.collective(a, {0, 1}, CollectiveOp::kAllReduce, 1 << 30);
    job.compute(2, ms(1)).collective(b, {2, 3}, CollectiveOp::kAllReduce, 1 << 30);
    job.detach(2).compute(2, ms(30));  // an event of its own: at 31 ms, behind the first
    return job.run().makespan;
  }
};

// The rings end at 21.5 and 22.5 ms, the computation at 31 ms.
TEST_F(Artifact, WithoutALockRingsOnDisjointCircuitsOverlap) { EXPECT_EQ(step("none", "release"), ms(31)); }

// At 1 ms the first ring has bytes on their way, for 21.5 ms: refused, and served at its end.
TEST_F(Artifact, OneLockRunsThemOneAfterTheOther) { EXPECT_EQ(step("fabric", "release"), 2 * kGiB); }

// The second ring is not notified that the first is over: rank 2 looks again when its own computation ends, at 31 ms.
TEST_F(Artifact, ARefusedRequestWaitsForAnEventOfItsOwn) { EXPECT_EQ(step("fabric", "own_event"), ms(31) + kGiB); }

}  // namespace
}  // namespace photonrail::test
