// An agent: the batch of the next step follows from the time that the last one took.
#pragma once

#include <photonrail/simulate.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

namespace pr = photonrail;
using namespace std::chrono_literals;

/// Each rank computes 1 ms a sample, and all sum up 100 MB.
inline pr::Fragment adaptive_step(std::size_t ranks, std::uint64_t samples) {
  pr::Fragment step;
  for (std::size_t r = 0; r < ranks; ++r) step.ranks.emplace_back(r);
  pr::TaskGraphBuilder graph(ranks);
  const auto program = graph.add_program();
  const pr::TaskId computed[] = {graph.add_delay(program, samples * 1ms, "samples")};
  graph.add_collective(program, 0, pr::CollectiveOp::kAllReduce, pr::Bytes{100'000'000}, "gradients", computed);
  const auto dp = graph.add_communicator("dp", step.ranks, pr::Dimension::kDp);
  for (const pr::RankId rank : step.ranks) graph.assign(rank, program, {dp});
  step.graph = std::make_shared<const pr::TaskGraph>(std::move(graph).build());
  return step;
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
    if (left_ > 0) sink.launch(adaptive_step(sink.ranks(), std::min(batch, left_)));
  }
  bool finished() const override { return left_ == 0; }
  std::vector<std::string> kinds() const override { return {"step"}; }

  std::uint64_t batch = 1;

 private:
  std::uint64_t left_;
  pr::Duration target_;
};
