// Everything a run depends on, as one value.
#pragma once

#include "photonrail/cluster.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/cost.hpp"
#include "photonrail/random.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/training.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

enum class Fidelity : std::uint8_t { kExact, kStream };
enum class CommLanes : std::uint8_t { kPerCommunicator, kOne };
/// What collectives of one communicator do that are ready at the same time.
enum class ConcurrentCollectives : std::uint8_t {
  kInTurn,   ///< one after another, as a communication library runs them
  kTogether  ///< all at once: they share the links chunk by chunk, as the simulators behind published results run them
};

struct ExecutorSpec {
  CommLanes comm_lanes = CommLanes::kPerCommunicator;
  ConcurrentCollectives concurrent = ConcurrentCollectives::kInTurn;
  /// A send of at most so many bytes is done for its sender at once (it went into a buffer of the communication
  /// library, 4 MiB by default in NCCL); its bytes still travel when the receive is posted.
  Bytes buffered_send{4 << 20};
};

/// Whom an algorithm that works around one late member (CollectiveAlgorithm::expects_straggler) takes it to be.
enum class StragglerChoice : std::uint8_t {
  kEager,      ///< whoever is missing when all others have come
  kPredicted,  ///< whoever came last to the communicator's operation before; the first time as kEager
  kKnown       ///< CollectiveSpec::straggler_rank; in groups without it as kEager
};

struct CollectiveSpec {
  /// The algorithm for each op, by CollectiveOp.
  std::array<std::string, kCollectiveOpCount> algorithm{"ring", "ring",     "ring", "direct", "direct",
                                                        "ring", "pairwise", "ring", "ring",   "direct"};
  std::uint32_t chunks = 1;  ///< pipelined pieces of a collective
  StragglerChoice straggler = StragglerChoice::kEager;
  RankId straggler_rank{};
  /// Algorithms that come with the scenario (see plan_file.hpp), which go before built-in ones of the same name.
  std::vector<std::shared_ptr<const CollectiveAlgorithm>> own{};

  /// The one of `own` with the name, or null.
  [[nodiscard]] const CollectiveAlgorithm* find_own(std::string_view name) const;
};

/// Ranks that are late or slow, in every step. Where several name a rank, delays add up and slowdowns multiply.
struct StragglerSpec {
  enum class Whom : std::uint8_t { kListed, kAll, kOneAtRandom };

  Whom whom = Whom::kAll;       ///< kOneAtRandom: one rank of the job, drawn anew for each step
  std::vector<RankId> ranks{};  ///< kListed
  double slowdown = 1.0;        ///< computations on the GPU take so many times as long; at least 1
  /// Before the rank's first task of a step, as a computation would hold it up; drawn for each rank and step.
  DelayDistribution delay{};
  std::vector<Duration> trace{};  ///< if not empty, in place of `delay`: of step i it is trace[i modulo size]
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
  std::vector<StageMemory> memory;  ///< of a generated training job: what a GPU of each pipeline stage holds; else empty
  std::vector<StragglerSpec> stragglers;
  std::optional<Pricing> pricing;  ///< none: the result has no cost
  RunSpec run{};
  Time start{};  ///< of one of several jobs: when it begins
  /// Jobs that share the cluster, at most 255: each a scenario of its own on GPUs of its own, with its own controllers,
  /// whose cluster is this one, and whose run counts but for fidelity and folding, which are this one's. Then this scenario
  /// has no graph, and nothing but name, cluster and run of it counts.
  std::vector<Scenario> jobs{};

  /// Throws ConfigError whose `where` is a JSON pointer: the parts must be valid and fit each other.
  void validate() const;
};

}  // namespace photonrail
