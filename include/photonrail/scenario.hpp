// Everything a run depends on, as one value.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/collective/choice.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/execution.hpp"
#include "photonrail/study/cost.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/training.hpp"

#include <optional>
#include <string>
#include <vector>

namespace photonrail {

struct Scenario {
  std::string name = "unnamed";
  std::string why;
  ClusterSpec cluster{};
  std::vector<GpuId> gpu_of_rank;  ///< the placement; one GPU a rank, no GPU twice
  ControllerSpec controller{};
  ExecutorSpec executor{};
  CollectiveSpec collectives{};
  TaskGraph graph;
  std::vector<StageMemory> memory;  ///< of a generated training job: what a GPU of each pipeline stage holds; else empty
  std::vector<StragglerSpec> stragglers;
  std::optional<Pricing> pricing;  ///< none: the result has no cost
  RunSpec run{};
  Time start{};  ///< of one of several jobs: when it begins
  /// Jobs that share the cluster, at most 255: each a scenario of its own on GPUs of its own, with its own controllers,
  /// whose cluster is this one, and whose run counts but for fidelity and folding, which are this one's. Then this scenario
  /// has no graph, and nothing but name, cluster and run of it counts.
  std::vector<Scenario> jobs{};

  /// Throws ConfigError whose `where` is the field, "cluster.nic.ports": the parts must be valid and fit each other.
  void validate() const;
};

}  // namespace photonrail
