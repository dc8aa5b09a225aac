// Jobs that start late, held to an agent that launches them.
#include "run/drawing.hpp"
#include "support/test_cases.hpp"
#include "workload/agents.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace photonrail::test {
namespace {

// Two jobs of which one starts late, on leaves with narrow uplinks that they share; and the same two as arrivals in one job
// that has all GPUs.
TEST(LateJobs, AJobThatStartsLateIsAnArrival) {
  std::size_t together = 0;
  for (std::uint64_t seed = 0; seed < test_cases(100); ++seed) {
    const Drawing drawn(seed, {.rail = RailKind::kElectrical});
    Scenario one = drawn.scenario;
    one.run.iterations = 1 + static_cast<std::uint32_t>(seed % 3);
    const std::size_t ranks = one.graph.ranks();
    const std::uint32_t gpus = one.cluster.gpus();
    one.cluster.servers *= 2;
    one.cluster.rail.switch_radix = 3;
    one.cluster.rail.oversubscription = 2.0;
    Scenario other = one;
    other.name = "late";
    other.start = Time{us(static_cast<double>(seed * 37 % 500))};
    for (GpuId& gpu : other.gpu_of_rank) gpu = GpuId{gpu.value + gpus};
    Scenario jobs = one;
    jobs.graph = TaskGraph{};
    jobs.gpu_of_rank.clear();
    jobs.jobs = {one, other};
    const RunResult expected = simulate(jobs);

    Scenario all = one;
    all.run.iterations = 1;
    all.graph = idle_graph(2 * ranks);
    all.gpu_of_rank.insert(all.gpu_of_rank.end(), other.gpu_of_rank.begin(), other.gpu_of_rank.end());
    const auto graph = std::make_shared<const TaskGraph>(one.graph);
    std::size_t placed = 0;
    workload::Arrivals agent({{Time{}, graph, one.run.iterations}, {other.start, graph, one.run.iterations}},
                             [&](std::size_t wanted, const std::vector<bool>&) {
                               std::vector<RankId> of_job;
                               for (std::size_t r = 0; r < wanted; ++r) of_job.emplace_back(placed * wanted + r);
                               ++placed;
                               return of_job;
                             });
    const RunResult result = simulate(all, agent);
    ASSERT_EQ(result.makespan, expected.makespan) << "seed " << seed;
    for (std::size_t j = 0; j < 2; ++j) {
      ASSERT_EQ(agent.records()[j].ended, expected.jobs[j].start + expected.jobs[j].makespan) << "seed " << seed;
    }
    if (agent.records()[0].ended > other.start) ++together;
  }
  EXPECT_GT(together, 20u);
}

}  // namespace
}  // namespace photonrail::test
