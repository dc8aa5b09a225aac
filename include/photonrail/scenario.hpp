// Everything a run depends on, as one value.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/collective/choice.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/execution.hpp"
#include "photonrail/study/cost.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/training.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace photonrail {

class Workload;

/// One job: its work, the GPUs that it runs on, and what serves it.
struct JobSpec {
  std::string name = "unnamed";
  std::vector<GpuId> gpu_of_rank;  ///< the placement; one GPU a rank, no GPU twice
  ControllerSpec controller{};
  ExecutorSpec executor{};
  CollectiveSpec collectives{};
  TaskGraph graph;
  /// Null: every rank repeats its program of `graph`. Else an agent launches the work while the run goes on, and `graph` is
  /// idle_graph() of the ranks (workload/agent.hpp).
  std::shared_ptr<const Workload> workload{};
  std::vector<StageMemory> memory;   ///< of a generated training job: what a GPU of each pipeline stage holds; else empty
  std::optional<TrainingWork> work;  ///< of a generated training job: of one step
  std::vector<StragglerSpec> stragglers;
  RunSpec run{};
  /// Number of ranks at the end of the graph that are no GPUs, but hosts of storage that receive checkpoints
  /// (with_checkpoint()); the result has no accounts of them.
  std::uint32_t storage_ranks = 0;
  Time start{};  ///< of one of several jobs: when it begins
};

/// A job on a cluster, or several jobs that share it.
struct Scenario : JobSpec {
  /// Where a scenario comes from. Nothing in a run depends on it.
  struct Source {
    std::vector<std::string> overrides;  ///< "/json/pointer=value", in the order in which they were applied
    /// Of the scenario after all overrides and of the files that it names, 16 hexadecimal digits (docs/guide/sweeps.md);
    /// empty where the scenario is not from a file.
    std::string hash;

    friend bool operator==(const Source&, const Source&) = default;
  };

  std::string why;
  ClusterSpec cluster{};
  std::optional<Pricing> pricing;  ///< none: the result has no cost
  /// Jobs that share the cluster, at most 255, each on GPUs of its own and with its own controllers. Their runs count but
  /// for fidelity, folding and accuracy of the network, which are the scenario's. Then the scenario has no graph, and of
  /// what it is as a job nothing but name and run counts.
  std::vector<JobSpec> jobs{};
  Source source{};

  /// Returns one of the jobs as it is without the others. REQUIRES: job < jobs.size().
  [[nodiscard]] Scenario alone(std::size_t job) const;

  /// Throws ConfigError whose `where` is the field, "cluster.nic.ports": the parts must be valid and fit each other.
  void validate() const;

  /// Returns what is valid and yet looks like a mistake, each a complete line: what the graph's reader accepted with a
  /// doubt, a job that needs more memory than a GPU has, rates that no such device has, GPUs that reach all of their peak
  /// by default, tensor parallelism over several servers. A run's result has the same lines.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// Why the job could not run on such GPUs; "" where it could, or where that is not known.
  [[nodiscard]] std::string infeasible() const;
  /// Of the fullest GPU of generated training jobs, as in a run's result.
  [[nodiscard]] std::optional<double> peak_memory_bytes() const;
};

}  // namespace photonrail
