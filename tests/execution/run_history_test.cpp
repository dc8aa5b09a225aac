#include "execution/run_history.hpp"

#include "execution/capacity_loads.hpp"
#include "execution/part_fixture.hpp"
#include "run/operation_places.hpp"

#include <gtest/gtest.h>

namespace photonrail::execution {
namespace {

using test::PartFixture;

test::Job computation_and_reduction() {
  test::Job job(2);
  job.compute(0, test::us(3)).compute(1, test::us(5));
  job.collective(job.group({0, 1}), {0, 1}, CollectiveOp::kAllReduce, 100'000'000);
  return job;
}

OperationEvent event_at(std::uint64_t at_us, std::uint32_t rank, OperationEvent::State state) {
  OperationEvent event;
  event.at = Time{} + test::us(static_cast<double>(at_us));
  event.communicator = CommunicatorId{0u};
  event.op = CollectiveOp::kAllReduce;
  event.rank = RankId{rank};
  event.task = TaskId{1u};
  event.state = state;
  return event;
}

// Ranks compute until 3 and 5 us, wait for circuits from 5 to 6 us, and are done at 9 us.
void tell(RunHistory& history) {
  using enum OperationEvent::State;
  history.compute({Time{}, Time{} + test::us(3), RankId{0u}, TaskId{0u}});
  history.operation(event_at(3, 0, kArrived));
  history.compute({Time{}, Time{} + test::us(5), RankId{1u}, TaskId{0u}});
  history.operation(event_at(5, 1, kArrived));
  for (const std::uint32_t rank : {0u, 1u}) history.operation(event_at(5, rank, kWaitingForCircuits));
  for (const std::uint32_t rank : {0u, 1u}) history.operation(event_at(6, rank, kRunning));
  for (const std::uint32_t rank : {0u, 1u}) history.operation(event_at(9, rank, kDone));
  for (const std::uint32_t rank : {0u, 1u}) history.iteration(RankId{rank}, 0, Time{} + test::us(9));
}

TEST(RunHistory, KeepsWhatWasWaitedForAndWhatCompleted) {
  PartFixture part(computation_and_reduction());
  RunHistory history(part.graph(), Bytes{}, 1);
  tell(history);
  ASSERT_EQ(history.operations().size(), 1u);
  const OperationRecord& operation = history.operations()[0];
  EXPECT_EQ(operation.started, Time{} + test::us(5));
  EXPECT_EQ(operation.members[0].arrived, Time{} + test::us(3));
  ASSERT_EQ(operation.members[1].waits.size(), 1u);
  EXPECT_EQ(operation.members[1].waits[0].second, Time{} + test::us(6));
  ASSERT_EQ(history.completions(RankId{1u}).size(), 2u);
  EXPECT_TRUE(history.completions(RankId{1u})[0].is_computation());
  EXPECT_EQ(history.position(RankId{1u}, TaskId{1u}, 0), 1u);
  EXPECT_EQ(history.began(RankId{0u}, 1), Time{} + test::us(9));
  EXPECT_EQ(history.last_rank(), RankId{0u});
}

// An all-reduce of 100 MB among two ranks sends 100 MB over each NIC of 50 GB/s: 2 ms. In 4 ms the NIC is half busy, in 8
// ms latencies are what takes the time.
TEST(OperationPlaces, AreWhatIsBusyWhileTheOperationRuns) {
  PartFixture part(computation_and_reduction());
  RunHistory history(part.graph(), Bytes{}, 1);
  tell(history);
  CapacityLoads loads(true);
  const Task& task = part.graph().program(RankId{0u}).task(TaskId{1u});
  const Operation& op = part.operations[part.operations.seat(RankId{0u}, task, 0).op];
  EXPECT_EQ(loads.count(op, part.fabric), Bytes{200'000'000});
  ASSERT_EQ(loads.load_of(op.sequence).size(), 2u);
  EXPECT_EQ(loads.load_of(op.sequence)[0].bytes, 100e6);
  EXPECT_EQ(loads.totals().size(), 2u);
  const run::OperationPlaces places(history, loads, part.fabric, {0u});
  EXPECT_EQ(places.find(0, test::ms(4)).place, Place::kPort);
  EXPECT_DOUBLE_EQ(places.find(0, test::ms(4)).utilisation, 0.5);
  EXPECT_EQ(places.find(0, test::ms(8)).place, Place::kLatency);
  EXPECT_EQ(places.name_of(places.find(0, test::ms(4)).capacity), "NIC of GPU 0");
}

}  // namespace
}  // namespace photonrail::execution
