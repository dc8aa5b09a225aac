// The GPU of each rank, which times the computations that are FLOPs and bytes.
#pragma once

#include "execution/straggler_injector.hpp"
#include "photonrail/cluster.hpp"
#include "photonrail/ids.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::execution {

class RankGpus {
 public:
  /// `cluster` must outlive the object. `gpu_of_rank`: in a folded run, one of the GPUs that the rank stands for.
  RankGpus(const ClusterSpec& cluster, std::span<const GpuId> gpu_of_rank) : cluster_(cluster) {
    if (!cluster.has_other_models()) return;
    const std::vector<std::uint32_t> unlike = cluster.unlike_of_gpus();
    for (const GpuId gpu : gpu_of_rank) numbers_.push_back(unlike[gpu.index()]);
  }

  [[nodiscard]] const GpuSpec& of(RankId rank) const {
    return numbers_.empty() ? cluster_.gpu : cluster_.gpu_model(numbers_[rank.index()]);
  }

 private:
  const ClusterSpec& cluster_;
  std::vector<std::uint32_t> numbers_;  // in ClusterSpec::unlike, by rank; empty where all GPUs are of one model
};

/// Describes how long computations of ranks take.
struct RankCompute {
  /// All must outlive the object.
  RankCompute(const ClusterSpec& cluster, std::span<const GpuId> gpu_of_rank, std::span<const StragglerSpec> late,
              std::uint64_t seed)
      : gpus(cluster, gpu_of_rank), stragglers(late, gpu_of_rank.size(), seed) {}

  RankGpus gpus;
  StragglerInjector stragglers;
};

}  // namespace photonrail::execution
