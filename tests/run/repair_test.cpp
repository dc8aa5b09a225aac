// Circuits that a fault took are lit again when the ports are repaired, whatever the policy.
#include "photonrail/error.hpp"
#include "run/job.hpp"
#include "run/scripted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

/// Rank 0 sends rank 1 1 MB, which take 20 us, over circuits that take 1 us.
Job one_message(const std::string& controller) {
  Job job(2);
  job.send(0, 1, 1'000'000).receive(0, 1, 1'000'000);
  job.optical(us(1), controller).build();
  if (controller == "static") job.scenario.controller.circuits = {{GpuId{0}, GpuId{1}}, {GpuId{1}, GpuId{0}}};
  return job;
}

Duration makespan_with(Job job, PortFault fault) {
  job.scenario.cluster.rail.faults = {fault};
  const RunResult result = simulate(job.scenario);
  EXPECT_TRUE(books_balance(result));
  return result.makespan;
}

std::string error_of(const Scenario& scenario) {
  try {
    static_cast<void>(simulate(scenario));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

class Repair : public ::testing::TestWithParam<const char*> {};

TEST_P(Repair, LightsTheCircuitAgain) {
  // Lit at 1 us; until the fault at 5 us 4 of the 20 us are through. Repaired at 15, lit at 16, and 16 us are left.
  EXPECT_EQ(makespan_with(one_message(GetParam()), {.at = Time{us(5)}, .lasts = us(10)}), us(32));
}

TEST_P(Repair, AfterAFaultOfNoLengthCostsAReconfiguration) {
  // 4 of the 20 us are through at 5 us; lit again at 6.
  EXPECT_EQ(makespan_with(one_message(GetParam()), {.at = Time{us(5)}, .lasts = us(0)}), us(22));
}

TEST_P(Repair, OfAFaultFromTheBeginningLightsWhatWasRefused) {
  // Refused at 0; asked for, or lit again, at 10 us.
  EXPECT_EQ(makespan_with(one_message(GetParam()), {.at = Time{us(0)}, .lasts = us(10)}), us(31));
}

TEST_P(Repair, WithoutADelayOfTheSwitchTakesNoTime) {
  Job job = one_message(GetParam());
  job.scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant({});
  EXPECT_EQ(makespan_with(std::move(job), {.at = Time{us(5)}, .lasts = us(0)}), us(20));
}

TEST_P(Repair, OfAStuckPortLightsWhatWasRefused) {
  EXPECT_EQ(makespan_with(one_message(GetParam()), {.kind = PortFault::Kind::kStuck, .at = Time{us(0)}, .lasts = us(10)}),
            us(31));
}

class FailedForGood : public ::testing::TestWithParam<const char*> {};

// No two ports of equal number are sound at both ends: port 1 of server 0 goes to port 0 of server 1.
TEST_P(FailedForGood, LeavesPortsOfOtherNumbers) {
  Job job = one_message(GetParam());
  job.scenario.cluster.nic.ports = 2;
  job.scenario.cluster.rail.faults = {{.server = 0, .port = 0, .at = Time{us(0)}},
                                      {.server = 1, .port = 1, .at = Time{us(0)}}};
  const RunResult result = simulate(job.scenario);
  EXPECT_TRUE(books_balance(result));
  EXPECT_EQ(result.makespan, us(21));  // 1 for the circuit, 20 over one port
}

INSTANTIATE_TEST_SUITE_P(Policies, FailedForGood,
                         ::testing::ValuesIn(std::vector<const char*>{"solstice", "bvn", "max_weight", "mixnet", "lru",
                                                                      "opus"}));

TEST_P(Repair, OfAFaultThatIsDetectedMeanwhileIsTheSame) {
  // Detected at 8 us, when nothing can be done; repaired at 15 and lit at 16, as without a detection time.
  EXPECT_EQ(makespan_with(one_message(GetParam()), {.at = Time{us(5)}, .lasts = us(10), .detection = us(3)}), us(32));
}

TEST_P(Repair, OfAFaultThatWasNotDetectedYetNeedsNoReconfiguration) {
  // 4 of the 20 us are through at 5; from 15 on the circuit that was never taken carries the other 16.
  EXPECT_EQ(makespan_with(one_message(GetParam()), {.at = Time{us(5)}, .lasts = us(10), .detection = us(12)}), us(31));
}

TEST_P(Repair, OfAFaultThatDoesNotComeChangesNothing) {
  const RunResult without = simulate(one_message(GetParam()).scenario);
  Job job = one_message(GetParam());
  job.scenario.cluster.rail.faults = {{.at = Time{ms(3)}, .lasts = us(10), .detection = us(3)}};
  StragglerSpec gpu;
  gpu.at = Time{ms(3)};
  gpu.stops = true;
  job.scenario.stragglers = {gpu};
  EXPECT_EQ(simulate(job.scenario).makespan, without.makespan);
}

INSTANTIATE_TEST_SUITE_P(Policies, Repair,
                         ::testing::ValuesIn(std::vector<const char*>{"solstice", "bvn", "topoopt", "static_split",
                                                                      "opus_artifact", "static", "opus", "coalesce",
                                                                      "max_weight", "mixnet", "harvest", "lru"}),
                         [](const auto& policy) { return std::string(policy.param); });

TEST(RepairOfOneOfTwoServers, LeavesWhatTheControllerMadeOfThePortsMeanwhile) {
  // Server 0 sends to 1 and then to 2; the circuit to 1 fails for good at server 1, while nothing is on it any more. What
  // the controller lit since then stays: 1 + 20 us for the first, 1 + 20 for the second.
  Job job(3);
  job.send(0, 1, 1'000'000).receive(0, 1, 1'000'000);
  job.send(0, 2, 1'000'000).receive(0, 2, 1'000'000);
  job.scenario.executor.buffered_send = Bytes{0};
  job.optical(us(1), "opus").build();
  job.scenario.cluster.rail.faults = {{.server = 1, .at = Time{us(21.5)}, .lasts = us(5)}};
  const RunResult result = simulate(job.scenario);
  EXPECT_EQ(result.makespan, us(42));
  EXPECT_EQ(result.reconfigurations.count, 2u);
}

TEST(RepairBetweenJobs, HappensInEachOfSeveralJobs) {
  Scenario all;
  Job job = one_message("solstice");
  all.cluster = job.scenario.cluster;
  all.cluster.servers = 4;
  all.cluster.rail.faults = {{.at = Time{us(5)}, .lasts = us(10)}};
  for (const std::size_t first : {0, 2}) {
    JobSpec& made = all.jobs.emplace_back(job.scenario);
    made.name = "job " + std::to_string(first);
    made.gpu_of_rank = {GpuId{first}, GpuId{first + 1}};
  }
  const RunResult result = simulate(all);
  EXPECT_EQ(result.jobs[0].makespan, us(32));
  EXPECT_EQ(result.jobs[1].makespan, us(32));
}

TEST(RepairBetweenSteps, GoesOnBesideStepsThatAreToCome) {
  // At 40 us the controller will point server 0 from server 1 to server 2; its circuit fails in the middle of a message.
  Job job(3);
  job.send(0, 1, 1'000'000).receive(0, 1, 1'000'000);
  job.detach(0).send(0, 2, 1'000'000).receive(0, 2, 1'000'000);
  job.scenario.executor.buffered_send = Bytes{0};
  job.optical(us(1)).build();
  job.scenario.cluster.rail.faults = {{.server = 1, .at = Time{us(5)}, .lasts = us(10)}};
  std::uint32_t asked = 0;
  const RunResult result = run_scripted(job.scenario, [&asked](const FabricView&) -> Decision {
    if (asked++ > 0) return std::nullopt;
    Decision decision(CircuitPlan{{{PortId{0}, PortId{1}}}, {}});
    decision.steps.push_back({CircuitPlan{{{PortId{0}, PortId{2}}}, {}}, When::kAt, Time{us(40)}});
    return decision;
  });
  // The first message is through at 1 + 4 + 10 + 1 + 16 = 32 us. The second is lit at 41, and takes 20.
  EXPECT_EQ(result.makespan, us(61));
  EXPECT_EQ(result.reconfigurations.count, 3u);
}

TEST(RepairInMessages, IsNamedWhereAJobCannotFinish) {
  Job job = one_message("static");
  job.scenario.controller.circuits = {{GpuId{1}, GpuId{0}}};  // not the one that it needs
  job.scenario.cluster.rail.faults = {{.at = Time{us(5)}, .lasts = us(10)}, {.at = Time{ms(3)}}};
  const std::string error = error_of(job.scenario);
  EXPECT_THAT(error, HasSubstr("every port of every server failed from 0.000005 s to 0.000015 s"));
  EXPECT_THAT(error, HasSubstr("every port of every server failed at 0.003000 s"));
}

}  // namespace
}  // namespace photonrail::test
