// Everything a run depends on, as one value.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/task_graph.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace photonrail {

enum class Fidelity : std::uint8_t { kExact, kStream };
enum class CommLanes : std::uint8_t { kPerCommunicator, kOne };

struct ExecutorSpec {
  CommLanes comm_lanes = CommLanes::kPerCommunicator;
  /// A send of at most so many bytes is done for its sender at once (it went into a buffer of the communication
  /// library, 4 MiB by default in NCCL); its bytes still travel when the receive is posted.
  Bytes buffered_send{4 << 20};
};

struct CollectiveSpec {
  /// The algorithm for each op, by CollectiveOp.
  std::array<std::string, kCollectiveOpCount> algorithm{"ring", "ring",     "ring", "direct", "direct",
                                                        "ring", "pairwise", "ring", "ring",   "direct"};
  std::uint32_t chunks = 1;  ///< pipelined pieces of a collective
};

struct RunSpec {
  std::uint32_t iterations = 1;
  std::uint64_t seed = 1;
  Fidelity fidelity = Fidelity::kStream;
  /// Ranks that nothing tells apart are simulated once, where that changes no result. See RunResult::folding.
  bool folding = true;
};

struct Scenario {
  std::string name = "unnamed";
  std::string why;
  ClusterSpec cluster{};
  std::vector<GpuId> gpu_of_rank;  ///< the placement; one GPU a rank, no GPU twice
  ControllerSpec controller{};
  ExecutorSpec executor{};
  CollectiveSpec collectives{};
  TaskGraph graph;
  RunSpec run{};

  /// Throws ConfigError whose `where` is a JSON pointer: the parts must be valid and fit each other.
  void validate() const;
};

}  // namespace photonrail
