// Collectives of one communicator that are ready at the same time: in turn, or together.
#include "run/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace photonrail {
namespace {

using test::Job;
using test::ms;
using enum ConcurrentCollectives;

constexpr std::int64_t kTenMs = 500'000'000;  // an all-reduce of two members at 50 GB/s: S bytes each way

struct Way {
  ConcurrentCollectives concurrent = kInTurn;
  CommLanes lanes = CommLanes::kPerCommunicator;
  Fidelity fidelity = Fidelity::kExact;
  bool optical = false;
  bool folding = true;
};

std::vector<Way> all_ways(ConcurrentCollectives concurrent) {
  std::vector<Way> ways;
  for (const CommLanes lanes : {CommLanes::kPerCommunicator, CommLanes::kOne}) {
    for (const Fidelity fidelity : {Fidelity::kExact, Fidelity::kStream}) {
      for (const bool optical : {false, true}) {
        for (const bool folding : {false, true}) ways.push_back({concurrent, lanes, fidelity, optical, folding});
      }
    }
  }
  return ways;
}

void set(Job& job, const Way& way) {
  if (way.optical) job.optical(ms(1));
  job.scenario.executor.concurrent = way.concurrent;
  job.scenario.executor.comm_lanes = way.lanes;
  job.scenario.run.fidelity = way.fidelity;
  job.scenario.run.folding = way.folding;
}

// Two all-reduces are ready at once; 5 ms of computation wait for the first. In turn they end at 10 and 20 ms, and the
// computation hides beside the second. Together both have half of the links: they end at 20 ms, the computation at 25.
TEST(Together, CollectivesOfOneCommunicatorShareTheLinks) {
  for (const ConcurrentCollectives concurrent : {kInTurn, kTogether}) {
    for (const Way& way : all_ways(concurrent)) {
      Job job(2);
      const auto dp = job.group({0, 1});
      job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, kTenMs);
      for (const std::size_t rank : {0, 1}) job.compute(rank, ms(5)).detach(rank);
      job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, kTenMs);
      set(job, way);
      const RunResult result = job.run();
      const Duration circuits = way.optical ? ms(1) : Duration{};
      EXPECT_EQ(result.makespan, circuits + (concurrent == kTogether ? ms(25) : ms(20)));
      EXPECT_TRUE(test::books_balance(result));
    }
  }
}

// The second is ready 4 ms later: the first has done 4 of its 10 ms alone and shares the rest, until 16 ms; the second has
// then done 6 and ends at 20 ms.
TEST(Together, ALaterCollectiveJoinsTheFirst) {
  for (const Way& way : all_ways(kTogether)) {
    Job job(2);
    const auto dp = job.group({0, 1});
    job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, kTenMs);
    for (const std::size_t rank : {0, 1}) job.compute(rank, ms(10)).detach(rank).compute(rank, ms(4));
    job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, kTenMs);
    set(job, way);
    const Duration circuits = way.optical ? ms(1) : Duration{};
    // With circuits the first begins 1 ms late: it has done 3 ms alone, ends at 1 + 3 + 14 = 18 and the computation at 28.
    EXPECT_EQ(job.run().makespan, way.optical ? ms(28) : ms(26)) << to_seconds(circuits);
  }
}

// One lane a GPU: what another communicator has ready first goes before a later collective that could join.
TEST(Together, OnOneLaneACollectiveDoesNotOvertakeAnotherCommunicator) {
  Job job(2);
  const auto dp = job.group({0, 1});
  const auto other = job.group({0, 1}, Dimension::kEp);
  job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, kTenMs);
  for (const std::size_t rank : {0, 1}) job.detach(rank);
  job.collective(other, {0, 1}, CollectiveOp::kAllReduce, kTenMs);
  for (const std::size_t rank : {0, 1}) job.compute(rank, ms(1)).detach(rank);
  job.collective(dp, {0, 1}, CollectiveOp::kAllReduce, kTenMs);
  set(job, {.concurrent = kTogether, .lanes = CommLanes::kOne});
  // 10 ms each, one after another; the computation after the second runs beside the third.
  EXPECT_EQ(job.run().makespan, ms(30));
}

// Messages between two ranks stay in order, as those of a connection do.
TEST(Together, MessagesOfAPairGoInTurn) {
  Job job(2);
  job.scenario.executor.buffered_send = Bytes{0};
  job.send(0, 1, kTenMs).detach(0).send(0, 1, kTenMs, 1);
  job.receive(0, 1, kTenMs).compute(1, ms(5)).detach(1).receive(0, 1, kTenMs, 1);
  set(job, {.concurrent = kTogether});
  EXPECT_EQ(job.run().makespan, ms(20));
}

}  // namespace
}  // namespace photonrail
