// Messages inside engines as traffic: what the steps of a run send, behind its computations.
#pragma once

#include "photonrail/workload/agent.hpp"
#include "rl/spec.hpp"

#include <cstdint>

namespace photonrail::rl {

class EngineFlows {
 public:
  explicit EngineFlows(const RlSpec& spec);

  [[nodiscard]] bool any() const { return reduced_ > 0.0 || forwarded_ > 0.0; }
  /// Launches the all-reduces of stages and the sends between them for `tokens` that went through the engine whose first
  /// rank is given; returns how many launches there are. All layers of all steps together: a step's own latencies are in
  /// its time.
  [[nodiscard]] std::uint32_t launch(std::uint64_t tokens, RankId first, LaunchLabel label, WorkSink& sink) const;

 private:
  collective::WeightLayout engine_;
  double reduced_ = 0.0;    ///< bytes a token that ranks of a stage all-reduce
  double forwarded_ = 0.0;  ///< bytes a token and rank from a stage to the next
};

/// Bytes between GPUs and the memory of their hosts: neighbouring GPUs share a link, each an equal part.
/// Launches a computation of the host on the ranks of each link; returns how many.
[[nodiscard]] std::uint32_t launch_host_moves(const OffloadSpec& offload, double bytes, std::uint32_t ranks,
                                              LaunchLabel label, WorkSink& sink);

}  // namespace photonrail::rl
