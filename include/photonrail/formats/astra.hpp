// A second model of a job, beside the simulation: the rules by which ASTRA-sim's analytical back ends time a job, so that
// its users can compare before they move on to rails (docs/models/astra-sim.md), in whole nanoseconds ("cycles"); and
// ASTRA-sim's own inputs: its system file, its analytical network file, communicator groups and Chakra traces. Readers
// throw ConfigError with the file and the place in it.
#pragma once

#include "photonrail/collective.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace photonrail {

/// Describes how the members of one network dimension are joined.
enum class AnalyticalShape : std::uint8_t { kRing, kFullyConnected, kSwitch };

struct AnalyticalDimension {
  AnalyticalShape shape = AnalyticalShape::kRing;
  std::uint32_t members = 2;  ///< 2 and more
  double gib_per_s = 1.0;     ///< of a link, each direction: 2^30 bytes per second, above 0
  double latency_ns = 0.0;    ///< of a hop; 0 and more
};

enum class AnalyticalAlgorithm : std::uint8_t { kRing, kDirect, kHalvingDoubling, kDoubleBinaryTree };

struct AnalyticalImplementation {
  AnalyticalAlgorithm algorithm = AnalyticalAlgorithm::kRing;
  std::uint32_t window = 0;    ///< direct: messages of a member in flight; 0: all
  bool whole_network = false;  ///< one algorithm over all ranks in place of one for each dimension
};

/// One implementation for each dimension, from the innermost; fewer: the dimensions beyond take no part.
using AnalyticalImplementations = std::vector<AnalyticalImplementation>;

/// Which collective's chunks go first on a dimension: of the latest, of the earliest, or of the highest priority.
enum class AnalyticalOrder : std::uint8_t { kLifo, kFifo, kExplicit };

struct AnalyticalSystem {
  AnalyticalOrder order = AnalyticalOrder::kLifo;
  std::uint64_t endpoint_delay_ns = 10;  ///< between a message's arrival and the next one's departure
  std::uint32_t active_chunks = 1;       ///< of a rank on a dimension at a time
  std::uint32_t chunks = 1;              ///< of a collective
  AnalyticalImplementations all_reduce, all_gather, reduce_scatter, all_to_all;
  bool hierarchical_all_reduce = true;  ///< reduce-scatters inwards and all-gathers back; false: an all-reduce a dimension
  double memory_gb_per_s = 0.0;         ///< 1e9 bytes per second; reductions and the roofline; 0: unknown
  bool roofline = false;                ///< computations by the roofline; false: as recorded
  double peak_tflops = 0.0;             ///< with the roofline
  bool replay = false;                  ///< every task takes its recorded time, communication too
};

struct AnalyticalTask {
  enum class Kind : std::uint8_t { kNothing, kCompute, kSend, kReceive, kCollective };

  std::string name;  ///< for messages
  Kind kind = Kind::kNothing;
  bool on_cpu = false;
  CollectiveOp op =
      CollectiveOp::kAllReduce;  ///< all-reduce, all-gather, reduce-scatter, all-to-all; broadcast takes recorded_ns
  std::uint32_t group = 0;       ///< of a collective: 0 all ranks, else 1 + index into AnalyticalJob::groups
  std::uint32_t peer = 0;        ///< of a send or receive: the other rank
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;         ///< of communication; all-gather: the shard of a rank
  std::uint32_t dimensions = ~0U;  ///< of a collective of all ranks: a bit for each dimension that takes part
  std::int64_t priority = 0;       ///< with AnalyticalOrder::kExplicit
  double flops = 0.0;
  double memory_bytes = 0.0;         ///< of a computation
  std::uint64_t recorded_ns = 0;     ///< 0: none
  std::vector<std::uint32_t> after;  ///< tasks of the same rank, by position
};

struct AnalyticalJob {
  std::vector<AnalyticalDimension> network;  ///< innermost first; the product of members is the number of ranks
  AnalyticalSystem system;
  std::vector<std::vector<std::uint32_t>> groups;  ///< ranks, in the order of their ring
  std::vector<std::vector<AnalyticalTask>> ranks;  ///< tasks of each rank
  std::vector<std::string> warnings;               ///< what was accepted with a doubt, and what is not modelled

  [[nodiscard]] std::uint32_t rank_count() const;
  /// Throws ConfigError naming the field.
  void validate() const;
};

/// Unaware: a message takes hops x latency + bytes / bandwidth whatever else is sent. Aware: links carry one message after
/// another, and each hop stores a message before it forwards it.
enum class AnalyticalBackend : std::uint8_t { kCongestionUnaware, kCongestionAware };

struct AnalyticalResult {
  std::vector<std::uint64_t> finish_ns;   ///< by rank
  std::vector<std::uint64_t> exposed_ns;  ///< by rank: what its computations do not account for
  std::uint64_t messages = 0;
  std::uint64_t events = 0;
};

/// Throws ConfigError for what validate() finds, DeadlockError when ranks wait for what never comes.
[[nodiscard]] AnalyticalResult simulate_analytical(const AnalyticalJob& job, AnalyticalBackend backend);

struct AstraOptions {
  std::filesystem::path system;         ///< JSON
  std::filesystem::path network;        ///< YAML
  std::filesystem::path workload;       ///< prefix of Chakra traces: <prefix>.<rank>.et
  std::filesystem::path comm_groups;    ///< JSON: name to ranks; empty, or a name with "empty" in it: none
  std::filesystem::path remote_memory;  ///< JSON that says NO_MEMORY_EXPANSION; empty: none
};

/// Returns what ASTRA-sim's analytical back ends would simulate. What is not modelled is an error where it would change the
/// cycles, else a line of AnalyticalJob::warnings.
[[nodiscard]] AnalyticalJob read_astra(const AstraOptions& options);

/// One line a rank, "sys[0] finished, 43000 cycles, exposed communication 43000 cycles.", as ASTRA-sim's log has it: what
/// its users' scripts look for.
[[nodiscard]] std::string astra_log(const AnalyticalResult& result);

/// The job as a photonrail scenario (JSON), on electrical rails: the innermost of several dimensions is the scale-up
/// domain, the others are rails. Paths in it are relative to `directory`, or absolute where `directory` is empty. `why` in
/// it names what the scenario says otherwise than the files.
[[nodiscard]] std::string scenario_from_astra(const AstraOptions& options, const std::filesystem::path& directory);

}  // namespace photonrail
