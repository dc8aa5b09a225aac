// Laws that every run obeys, whatever the job, the cluster and the controller: checked on jobs drawn at random.
#include "photonrail/error.hpp"
#include "photonrail/testing/tiny_job.hpp"
#include "run/drawing.hpp"
#include "run/matching_observer.hpp"
#include "support/test_cases.hpp"
#include "topology/plant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace photonrail::test {

using topology::CapacityId;
using topology::Plant;

namespace {

const std::uint64_t kRandomJobs = test_cases(3000);
const std::uint64_t kSequentialCases = test_cases(1250);

// Bytes on the wire of one call, from the definitions of the algorithms.
std::int64_t closed_form(const Call& call) {
  const auto n = static_cast<std::int64_t>(call.members.size());
  switch (call.op) {
    case CollectiveOp::kAllReduce:
      return 2 * (n - 1) * call.bytes;
    case CollectiveOp::kAllGather:
      return n * (n - 1) * call.bytes;
    case CollectiveOp::kScatter:
      return call.bytes - (call.bytes / n + (call.root < call.bytes % n ? 1 : 0));
    case CollectiveOp::kBarrier:
      return 0;
    case CollectiveOp::kSend:
      return call.bytes;
    default:  // reduce-scatter, broadcast, reduce, gather, all-to-all
      return (n - 1) * call.bytes;
  }
}

void check_traffic(const Drawing& job, const RunResult& result) {
  std::array<std::int64_t, kDimensionCount> bytes{};
  std::array<std::uint64_t, kDimensionCount> operations{};
  for (const Call& call : job.calls) {
    if (call.members.size() == 1) continue;
    bytes[static_cast<std::size_t>(call.dimension)] += closed_form(call) * job.scenario.run.iterations;
    operations[static_cast<std::size_t>(call.dimension)] += job.scenario.run.iterations;
  }
  for (std::size_t d = 0; d < kDimensionCount; ++d) {
    EXPECT_EQ(result.traffic[d].bytes.count, bytes[d]);
    EXPECT_EQ(result.traffic[d].operations, operations[d]);
    EXPECT_LE(result.traffic[d].exposed, result.traffic[d].busy);
  }
}

// What the busiest port has to carry, and what a rank has to compute.
void check_lower_bounds(const Drawing& job, const RunResult& result) {
  const Plant plant(job.scenario.cluster.plant());
  const ClusterSpec& cluster = job.scenario.cluster;
  std::map<CapacityId, double> load;
  for (const Call& call : job.calls) {
    if (call.members.size() == 1) continue;
    const auto plan = job.plan_of(call);
    for (SendIndex i = 0; i < plan->send_count(); ++i) {
      const Send send = plan->send(i);
      const GpuId from = job.gpu(call, send.from);
      const GpuId to = job.gpu(call, send.to);
      const auto bytes = static_cast<double>(send.bytes.count) * job.scenario.run.iterations;
      if (plant.server_of(from) == plant.server_of(to)) {
        load[plant.scale_up_out(from)] += bytes;
        load[plant.scale_up_in(to)] += bytes;
      } else {
        load[plant.nic_out(plant.gpu(plant.server_of(from), plant.local_of(to)), 0)] += bytes;
        load[plant.nic_in(to, 0)] += bytes;
      }
    }
  }
  for (const auto& [capacity, bytes] : load) {
    const bool nic = capacity >= plant.nic_out(GpuId{0u}, 0);
    const double rate =
        nic ? cluster.nic.per_port.bytes_per_second * cluster.nic.ports : cluster.scale_up.per_gpu.bytes_per_second;
    EXPECT_GE(to_seconds(result.makespan), bytes / rate * (1 - 1e-9));
  }
  for (std::size_t r = 0; r < job.ranks(); ++r) {
    EXPECT_EQ(result.ranks[r].compute, job.compute_of_rank[r] * job.scenario.run.iterations);
  }
}

void check_books(const RunResult& result) {
  EXPECT_TRUE(books_balance(result));
  for (const RankTime& rank : result.ranks) {
    EXPECT_GE(rank.compute, Duration{});
    EXPECT_GE(rank.exposed_communication, Duration{});
    EXPECT_GE(rank.reconfiguration_wait, Duration{});
    EXPECT_GE(rank.peer_wait, Duration{});
  }
  Duration exposed{};
  for (const DimensionTraffic& traffic : result.traffic) exposed += traffic.exposed;
  // Each of the six means is rounded down, and so is their sum's.
  EXPECT_LE(exposed, result.mean_rank_time().exposed_communication);
  EXPECT_GE(exposed + Duration{kDimensionCount}, result.mean_rank_time().exposed_communication);
  const ReconfigurationSummary& r = result.reconfigurations;
  EXPECT_GE(r.hidden_share().value_or(0.0), 0.0);
  EXPECT_LE(r.hidden_share().value_or(0.0), 1.0);
  EXPECT_LE(r.critical_path, r.count);
  EXPECT_EQ(std::accumulate(r.per_rail.begin(), r.per_rail.end(), std::uint64_t{0}), r.count);
  EXPECT_EQ(std::accumulate(result.iterations.begin(), result.iterations.end(), Duration{}), result.makespan);
}

RunResult run_checked(const Drawing& job) {
  CircuitsAreAMatching matching;
  testing::HistoryHash hash;
  Observer* const observers[] = {&matching, &hash};
  const RunResult result = simulate(job.scenario, observers);
  testing::HistoryHash again;
  Observer* const second[] = {&again};
  EXPECT_EQ(simulate(job.scenario, second).makespan, result.makespan);
  EXPECT_EQ(hash.value(), again.value()) << "the same scenario has the same history";
  std::uint64_t ends = 0;  // of operations on their ranks
  for (const Call& call : job.calls) ends += call.members.size() > 1 ? call.members.size() : 0;
  EXPECT_EQ(matching.done, ends * job.scenario.run.iterations);
  check_books(result);
  check_traffic(job, result);
  check_lower_bounds(job, result);
  return result;
}

TEST(Properties, EveryRunFinishesAndItsBooksBalance) {
  for (std::uint64_t seed = 1; seed <= kRandomJobs; ++seed) {
    Shape shape;
    shape.rail = seed % 4 == 0 ? RailKind::kElectrical : RailKind::kOptical;
    const Drawing job(seed, shape);
    SCOPED_TRACE(describe(job, seed));
    try {
      (void)run_checked(job);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (::testing::Test::HasFailure()) return;
  }
}

// Ranks that do one thing at a time on ports of their own: circuits can only add waiting, and cost nothing when they take
// no time. (With overlap this is no law: a delay can make two operations meet in a better order.)
TEST(Properties, CircuitsOnlyDelayAJobWhoseRanksDoOneThingAtATime) {
  for (std::uint64_t seed = 1; seed <= kSequentialCases; ++seed) {
    Shape shape;
    shape.sequential = true;
    Drawing job(seed, shape);
    SCOPED_TRACE(describe(job, seed));
    try {
      const RunResult optical = run_checked(job);
      job.scenario.controller.request = job.scenario.controller.service = Duration{};
      job.scenario.controller.command = job.scenario.controller.acknowledgement = Duration{};
      job.scenario.cluster.rail.optical.reconfiguration = {};
      job.scenario.cluster.rail.optical.link_up = {};
      const RunResult instant = run_checked(job);
      for (const RankTime& rank : instant.ranks) EXPECT_EQ(rank.reconfiguration_wait, Duration{});
      job.scenario.cluster.rail.kind = RailKind::kElectrical;
      job.scenario.controller = {};
      const RunResult electrical = run_checked(job);
      EXPECT_GE(optical.makespan, electrical.makespan);
      EXPECT_EQ(instant.makespan, electrical.makespan);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace photonrail::test
