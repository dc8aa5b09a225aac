// An agent: the batch of the next step follows from the time that the last one took.
#include "photonrail/simulate.hpp"
#include "photonrail/workload/agent.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

namespace pr = photonrail;
using namespace std::chrono_literals;

namespace {

/// On four ranks: each computes 1 ms a sample, and all sum up 100 MB.
pr::Fragment step(std::uint64_t samples) {
  const std::vector<pr::RankId> ranks{pr::RankId{0}, pr::RankId{1}, pr::RankId{2}, pr::RankId{3}};
  pr::TaskGraphBuilder graph(ranks.size());
  const auto program = graph.add_program();
  const pr::TaskId computed[] = {graph.add_delay(program, samples * 1ms, "samples")};
  graph.add_collective(program, 0, pr::CollectiveOp::kAllReduce, pr::Bytes{100'000'000}, "gradients", computed);
  const auto dp = graph.add_communicator("dp", ranks, pr::Dimension::kDp);
  for (const pr::RankId rank : ranks) graph.assign(rank, program, {dp});
  return {std::make_shared<const pr::TaskGraph>(std::move(graph).build()), ranks};
}

class AdaptiveBatch : public pr::WorkloadAgent {
 public:
  AdaptiveBatch(std::uint64_t samples, pr::Duration target) : left_(samples), target_(target) {}

  void on(const pr::WorkEvent& event, pr::WorkSink& sink) override {
    if (event.kind == pr::WorkEvent::Kind::kLaunchDone) {
      left_ -= std::min(batch, left_);
      const bool fast = event.now - event.launched < target_;
      batch = fast ? 2 * batch : std::max<std::uint64_t>(batch / 2, 1);
    }
    if (left_ > 0) sink.launch(step(std::min(batch, left_)));
  }
  bool finished() const override { return left_ == 0; }
  std::vector<std::string> kinds() const override { return {"step"}; }

  std::uint64_t batch = 1;

 private:
  std::uint64_t left_;
  pr::Duration target_;
};

}  // namespace

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
