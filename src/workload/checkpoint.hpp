// Checkpoints in the step: what the ranks of a job save, and over which network, as tasks of its graph.
#pragma once

#include "photonrail/ids.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::workload {

/// Where the state of the ranks goes. kPeer: into the memory of the GPU at the same place in another server of the job,
/// through its rail (Gemini, Wang et al., SOSP 2023). kStorage: to hosts of storage on the rails, through the NIC. kOwn:
/// over a network of its own, of which each rank has a share that it shares with nothing.
enum class CheckpointTarget : std::uint8_t { kPeer, kStorage, kOwn };

struct CheckpointTraffic {
  CheckpointTarget target = CheckpointTarget::kPeer;
  /// Holds what each rank saves, by rank; 0: nothing.
  std::vector<Bytes> bytes{};
  /// A blocking checkpoint of the state after the step is part of the step: it begins when the rank has nothing else to do,
  /// and the next step when it is over. An asynchronous one of the state before the step goes beside the step's work.
  bool asynchronous = false;
  /// The copy goes out in so many equal parts, one in each of so many steps; asynchronous.
  std::uint32_t over_steps = 1;
  /// From the GPU to the host's memory, before anything leaves; the GPU computes nothing meanwhile. In each step of the
  /// part that leaves in it. 0 bytes per second: no such copy.
  Bandwidth to_host{0.0};
  std::uint32_t distance = 1;  ///< kPeer: the state goes so many servers further, modulo those of the job
  std::uint32_t servers = 1;  ///< kStorage: the last servers of the cluster, whose GPUs stand for the NICs of storage hosts
  Bandwidth own_rate{0.0};    ///< kOwn: of each rank
  Duration own_latency{};     ///< kOwn
};

/// The graph with the checkpoint in it, the GPUs of its ranks, and how many ranks at its end are hosts of storage.
struct CheckpointedGraph {
  TaskGraph graph;
  std::vector<GpuId> gpu_of_rank;
  std::uint32_t storage_ranks = 0;
};

/// Adds the tasks of one checkpoint (a part of it, `over_steps`) to a step. With storage on the rails each rank sends to
/// the GPU at its place in server `cluster_servers` - servers + (its server modulo servers). A step that saves nothing is
/// the graph as it was.
///
/// Time of a rank's checkpoint alone on its way, blocking: bytes / to_host + latency + bytes / rate.
///
/// Leaves out: the memory that a copy takes, writes to disks behind the NIC, erasure coding, restoring.
///
/// Throws ConfigError whose `where` is the field ("checkpoint.distance"): a peer that is the rank itself or has no rank,
/// servers of storage that run ranks, a network of its own without a rate. REQUIRES: bytes and gpu_of_rank have an entry
/// for each rank.
[[nodiscard]] CheckpointedGraph with_checkpoint(const TaskGraph& graph, std::span<const GpuId> gpu_of_rank,
                                                std::uint32_t gpus_per_server, std::uint32_t cluster_servers,
                                                const CheckpointTraffic& traffic);

}  // namespace photonrail::workload
