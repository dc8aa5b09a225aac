// An observer: the longest wait for circuits of a run, and who waited.
#include "photonrail/simulate.hpp"

#include <chrono>
#include <iostream>
#include <map>

namespace pr = photonrail;
using namespace std::chrono_literals;

namespace {

class LongestWait : public pr::Observer {
 public:
  void operation(const pr::OperationEvent& event) override {
    using State = pr::OperationEvent::State;
    const auto key = std::pair{event.rank, event.sequence};
    if (event.state == State::kWaitingForCircuits) since_[key] = event.at;
    const auto waited = since_.find(key);
    if (event.state != State::kRunning || waited == since_.end()) return;
    if (event.at - waited->second > longest) {
      longest = event.at - waited->second;
      rank = event.rank;
    }
    since_.erase(waited);
  }

  pr::Duration longest{};
  pr::RankId rank;

 private:
  std::map<std::pair<pr::RankId, std::uint32_t>, pr::Time> since_;
};

/// Two servers of one GPU; an all-reduce over an OCS that needs 10 ms.
pr::Scenario scenario() {
  pr::TaskGraphBuilder graph(2);
  const auto group = graph.add_communicator("both", {pr::RankId{0}, pr::RankId{1}}, pr::Dimension::kDp);
  const auto program = graph.add_program();
  graph.add_collective(program, 0, pr::CollectiveOp::kAllReduce, pr::Bytes{1'000'000});
  pr::Scenario s;
  s.cluster.servers = 2;
  s.cluster.rail.kind = pr::RailKind::kOptical;
  s.cluster.rail.optical.reconfiguration = pr::DelayDistribution::constant(10ms);
  s.controller.name = "opus";
  for (std::uint32_t r = 0; r < 2; ++r) {
    graph.assign(pr::RankId{r}, program, {group});
    s.gpu_of_rank.push_back(pr::GpuId{r});
  }
  s.graph = std::move(graph).build();
  return s;
}

}  // namespace

int main() {
  LongestWait watch;
  pr::Observer* const observers[] = {&watch};
  const pr::RunResult result = pr::simulate(scenario(), observers);
  std::cout << "rank " << watch.rank.value << " waited " << pr::to_seconds(watch.longest) << " s of "
            << pr::to_seconds(result.makespan) << " s\n";
  return watch.longest == 10ms ? 0 : 1;
}
