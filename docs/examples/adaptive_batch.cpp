// Runs an agent of one's own in code.
#include "adaptive_batch.hpp"

#include <iostream>

int main() {
  pr::Scenario scenario;
  scenario.cluster.servers = 4;
  scenario.cluster.gpus_per_server = 1;
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) scenario.gpu_of_rank.push_back(pr::GpuId{gpu});
  scenario.graph = pr::idle_graph(4);
  AdaptiveBatch agent(100, 20ms);
  const pr::RunResult result = pr::simulate(scenario, agent);
  std::cout << result.launches[0].count << " steps in " << pr::to_seconds(result.makespan) << " s\n";
  return result.launches[0].count == 8 ? 0 : 1;
}
