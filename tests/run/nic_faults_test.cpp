// NICs that GPUs share; NICs that are slow for a time, on both kinds of rails; NICs of electrical rails that fail; and what
// of it is booked.
#include "photonrail/error.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "run/job.hpp"
#include "support/folded.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

/// Rank 0 sends rank 1 1 MB, which take 20 us; on optical rails the circuit takes 1 us before.
Job message_of_20_us(const std::string& controller) {
  Job job(2);
  job.send(0, 1, 1'000'000).receive(0, 1, 1'000'000);
  if (controller != "electrical") job.optical(us(1), controller);
  job.build();
  if (controller == "static") job.scenario.controller.circuits = {{GpuId{0}, GpuId{1}}, {GpuId{1}, GpuId{0}}};
  return job;
}

PortFault slow(double rate, Time at = {}, std::optional<Duration> lasts = {}) {
  PortFault fault{.kind = PortFault::Kind::kSlow, .at = at, .lasts = lasts};
  fault.rate = rate;
  return fault;
}

PortFault of_server(std::uint32_t server, PortFault fault) {
  fault.server = server;
  return fault;
}

// Two switched domains; GPU i of one all-reduces 1 MB with GPU i of the other, all pairs at once. A ring of two sends
// 2 x 1/2 MB each way, 20 us at the 50 GB/s of a NIC; the k pairs of a NIC have 1 / k of it each.
TEST(SharedNics, GiveEachGpuItsPartInDomainsOfAllSizes) {
  for (const std::uint32_t gpus : {8u, 72u, 576u}) {
    for (const std::uint32_t each : {1u, 4u, 8u}) {
      Job job(2 * gpus, gpus);
      job.scenario.cluster.nic.gpus = each;  // 72 GPUs with 18 NICs: 4
      for (std::size_t i = 0; i < gpus; ++i) {
        job.collective(job.group({i, gpus + i}), {i, gpus + i}, CollectiveOp::kAllReduce, 1'000'000);
      }
      const RunResult result = job.run();
      EXPECT_EQ(result.makespan, us(20.0 * each)) << gpus << " GPUs, " << each << " a NIC";
      EXPECT_TRUE(books_balance(result));
    }
  }
}

class SlowNic : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static Duration makespan(std::vector<PortFault> faults) {
    Job job = message_of_20_us(GetParam());
    job.scenario.cluster.rail.faults = std::move(faults);
    const RunResult result = job.run();
    EXPECT_TRUE(books_balance(result));
    return result.makespan;
  }
  [[nodiscard]] static Duration begin() { return std::string(GetParam()) == "electrical" ? us(0) : us(1); }
};

TEST_P(SlowNic, CarriesItsShareMeanwhile) {
  // From 4 us after its begin on, a quarter of the rate for 10 us: 4 + 2.5 of 20 us are through then.
  const Time at{begin() + us(4)};
  EXPECT_EQ(makespan({slow(0.25, at, us(10))}), begin() + us(4) + us(10) + us(13.5));
  EXPECT_EQ(makespan({of_server(0, slow(0.25, at, us(10)))}), begin() + us(27.5)) << "that sends";
  EXPECT_EQ(makespan({of_server(1, slow(0.25, at, us(10)))}), begin() + us(27.5)) << "that receives";
}

TEST_P(SlowNic, SeveralOfOneMultiplyAndTheSlowerEndDecides) {
  EXPECT_EQ(makespan({slow(0.5)}), begin() + us(40));
  EXPECT_EQ(makespan({slow(0.5), of_server(1, slow(0.5))}), begin() + us(80));
  EXPECT_EQ(makespan({of_server(0, slow(0.5)), of_server(1, slow(0.25))}), begin() + us(80));
}

TEST_P(SlowNic, WithAllOfItsRateChangesNothing) {
  const auto history = [](const std::vector<PortFault>& faults) {
    Job job = message_of_20_us(GetParam());
    job.scenario.cluster.rail.faults = faults;
    job.scenario.run.folding = false;
    testing::HistoryHash hash;
    Observer* const observers[] = {&hash};
    static_cast<void>(job.run(observers));
    return hash.value();
  };
  const std::uint64_t without = history({});
  EXPECT_EQ(history({slow(1.0, Time{us(3)}, us(4))}), without);
  EXPECT_EQ(history({slow(0.5, Time{ms(3)})}), without) << "after the end";
  EXPECT_NE(history({slow(0.5, Time{us(3)}, us(4))}), without);
}

INSTANTIATE_TEST_SUITE_P(Policies, SlowNic,
                         ::testing::ValuesIn(std::vector<const char*>{"electrical", "static", "opus", "max_weight", "bvn"}),
                         [](const auto& policy) { return std::string(policy.param); });

TEST(SlowPort, LeavesTheOtherPortsOfItsNicAsTheyAre) {
  // Two circuits of 10 us; of one of them half: three quarters of the rate.
  Job job = message_of_20_us("opus");
  job.scenario.cluster.nic.ports = 2;
  job.scenario.cluster.rail.faults = {{.kind = PortFault::Kind::kSlow, .server = 0, .port = 1, .rate = 0.5}};
  EXPECT_EQ(job.run().makespan, us(1) + Duration{13'333'334});  // 40 / 3 us, rounded up
}

/// Four ranks all-reduce 60 MB; the NIC of rank 2 is slow.
Scenario slow_ring(bool optical, Fidelity fidelity) {
  Job job(4);
  for (std::size_t r = 0; r < 4; ++r) job.compute(r, us(100));
  job.collective(job.group({0, 1, 2, 3}), {0, 1, 2, 3}, CollectiveOp::kAllReduce, 60'000'000);
  if (optical) job.optical(us(10));
  job.build();
  job.scenario.run.fidelity = fidelity;
  job.scenario.cluster.rail.faults = {of_server(2, slow(0.5))};
  return job.scenario;
}

TEST(SlowNicInARing, SetsThePaceOfAllAndFoldedIsUnfolded) {
  for (const bool optical : {false, true}) {
    const RunResult result = expect_same_folded(slow_ring(optical, Fidelity::kExact));
    // 2 x 3 chunks of 15 MB at 25 GB/s.
    EXPECT_EQ(result.makespan, us(100) + (optical ? us(10) : us(0)) + 6 * us(600));
    EXPECT_EQ(result.folding.off, "some ports fail, or are stuck or slow");
  }
}

TEST(SlowNicInARing, StreamIsAFlowAtTheRateOfTheSlowest) {
  const Duration exact = simulate(slow_ring(true, Fidelity::kExact)).makespan;
  const Duration stream = simulate(slow_ring(true, Fidelity::kStream)).makespan;
  EXPECT_EQ(stream, exact);  // without latencies the two are the same
}

TEST(FailedNic, OnElectricalRailsCarriesNothingMeanwhile) {
  Job job = message_of_20_us("electrical");
  job.scenario.cluster.rail.faults = {{.server = 1, .at = Time{us(5)}, .lasts = us(10)}};
  EXPECT_EQ(job.run().makespan, us(30));
  job.scenario.cluster.rail.faults = {{.rail = RailId{0u}, .server = 1, .at = Time{us(25)}, .lasts = us(10)}};
  EXPECT_EQ(job.run().makespan, us(20));
}

TEST(FailedNic, IsNamedWhereTheJobCannotFinish) {
  Job job = message_of_20_us("electrical");
  job.scenario.cluster.rail.faults = {{.server = 1, .at = Time{us(5)}}};
  try {
    static_cast<void>(job.run());
    FAIL();
  } catch (const DeadlockError& error) {
    EXPECT_NE(std::string(error.what()).find("every NIC of server 1 failed at 0.000005 s"), std::string::npos)
        << error.what();
  }
}

TEST(Detection, OfAGpuThatStopsIsBookedApart) {
  Job job(2);
  job.compute(0, ms(10)).compute(1, ms(10));
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 50'000'000);  // 1 ms
  job.build();
  StragglerSpec stop;
  stop.whom = StragglerSpec::Whom::kListed;
  stop.ranks = {RankId{0u}};
  stop.at = Time{ms(5)};
  stop.lasts = ms(4);
  stop.stops = true;
  job.scenario.stragglers = {stop};
  const RunResult at_once = job.run();
  EXPECT_EQ(at_once.ranks[0].compute, ms(14));
  job.scenario.stragglers[0].detection = ms(3);
  const RunResult late = expect_same_folded(job.scenario);
  EXPECT_TRUE(books_balance(late));
  EXPECT_EQ(late.makespan, at_once.makespan);
  EXPECT_EQ(late.ranks[0].detection, ms(3));
  EXPECT_EQ(late.ranks[0].compute, ms(11));
  EXPECT_EQ(late.ranks[1].detection, ms(0));
  EXPECT_EQ(late.ranks[1].peer_wait, ms(4));
  job.scenario.stragglers.push_back(job.scenario.stragglers[0]);  // two of one time are detected at once
  job.scenario.stragglers[1].at = Time{ms(6)};
  EXPECT_EQ(job.run().ranks[0].detection, ms(4));
}

TEST(Detection, OfLightThatIsGoneIsBookedApart) {
  // Lit at 1 us, dark at 5, known at 8, repaired at 15, lit at 16; 16 of 20 us are left then.
  Job job = message_of_20_us("opus");
  job.scenario.cluster.rail.faults = {{.at = Time{us(5)}, .lasts = us(10), .detection = us(3)}};
  const RunResult result = job.run();
  EXPECT_TRUE(books_balance(result));
  EXPECT_EQ(result.makespan, us(32));
  for (const RankTime& rank : result.ranks) EXPECT_EQ(rank.detection, us(3));
}

}  // namespace
}  // namespace photonrail::test
