// A job in code, run on electrical rails and on optical ones under Opus: four ranks in four servers, two stages of two.
// Each stage reduces its gradients, then the first sends to the second.
#include "photonrail/simulate.hpp"

#include <chrono>
#include <iostream>

namespace pr = photonrail;
using namespace std::chrono_literals;

namespace {

pr::TaskGraph job() {
  pr::TaskGraphBuilder graph(4);
  const pr::RankId rank[] = {pr::RankId{0}, pr::RankId{1}, pr::RankId{2}, pr::RankId{3}};
  constexpr pr::Bytes kSize{100'000'000};
  // A program is written once for all ranks that do the same; slots stand for their communicators.
  const auto first = graph.add_program();
  const auto reduced = graph.add_collective(first, 0, pr::CollectiveOp::kAllReduce, kSize, "gradients");
  const pr::TaskId after_reduction[] = {reduced};
  graph.add_send(first, 1, kSize, 0, "activations", after_reduction);

  const auto second = graph.add_program();
  const auto received = graph.add_receive(second, 0, kSize, 0, "activations");
  const pr::TaskId after_receive[] = {received};
  graph.add_delay(second, 20ms, "forward", after_receive);

  const auto dp = graph.add_communicator("dp", {rank[0], rank[1]}, pr::Dimension::kDp);
  for (const int r : {0, 1}) {
    const auto link = graph.link(rank[r], rank[r + 2], pr::Dimension::kPp);
    graph.assign(rank[r], first, {dp, link});
    graph.assign(rank[r + 2], second, {link});
  }
  return std::move(graph).build();
}

pr::Scenario scenario(bool optical) {
  pr::Scenario s;
  s.name = optical ? "opus" : "electrical";
  s.cluster.servers = 4;  // of one GPU with a 50 GB/s port
  s.graph = job();
  for (std::uint32_t r = 0; r < 4; ++r) s.gpu_of_rank.push_back(pr::GpuId{r});
  if (optical) {
    s.cluster.rail.kind = pr::RailKind::kOptical;
    s.cluster.rail.optical.reconfiguration = pr::DelayDistribution::constant(10ms);
    s.controller.name = "opus";
  }
  return s;
}

}  // namespace

int main() {
  const auto electrical = pr::simulate(scenario(false)).makespan;
  const auto opus = pr::simulate(scenario(true)).makespan;
  std::cout << "electrical " << pr::to_seconds(electrical) << " s, opus " << pr::to_seconds(opus) << " s\n";
  // An all-reduce of two and a send, 100 MB at 50 GB/s each: 2 + 2 ms; 20 ms of compute. Opus adds a delay before each.
  return electrical == 24ms && opus == 44ms ? 0 : 1;
}
