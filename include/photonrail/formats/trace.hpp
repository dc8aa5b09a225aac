// Recorded traces in, Chakra traces out. Everything here throws ConfigError with the file and the place in it.
#pragma once

#include "photonrail/task_graph.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace photonrail {

enum class SizeUnit : std::uint8_t { kBytes, kElements };
enum class ComputeTime : std::uint8_t { kRoofline, kTrace };

struct ChakraOptions {
  std::filesystem::path prefix;           ///< files are <prefix>.<rank>.et, ranks from 0
  std::filesystem::path comm_groups;      ///< JSON of groups; empty: only the world, or groups in metadata nodes
  SizeUnit size_unit = SizeUnit::kBytes;  ///< of comm_size and tensor_size
  std::uint32_t element_bytes = 2;        ///< with kElements
  ComputeTime compute_time = ComputeTime::kRoofline;
  std::map<std::string, Dimension> dimensions;  ///< by group name, "world", "p2p" for all sends; others stay kOther
};

/// Reads a Chakra trace, one file a rank. Throws ConfigError naming file and node (or byte offset) on what it cannot
/// accept; what it can accept with a doubt is in TaskGraph::warnings().
[[nodiscard]] TaskGraph read_chakra(const ChakraOptions& options);

/// Writes <prefix>.<rank>.et for every rank and <prefix>.json with the groups. Existing files are replaced only when all
/// are complete. A fixed time is written in whole microseconds, rounded up, and exactly in the attribute
/// photonrail_duration_ps, which read_chakra prefers. Returns what was written.
std::vector<std::filesystem::path> write_chakra(const TaskGraph& graph, const std::filesystem::path& prefix);

struct KinetoOptions {
  /// A pattern whose last part has one '*' for the rank, or a folder of rank<N>_trace.json (or .json.gz).
  std::filesystem::path files;
  std::optional<std::uint64_t> iteration;  ///< only the kernels that begin in ProfilerStep#N; none: all
};

/// Reads the Chrome traces of PyTorch's profiler (Kineto), one a rank, from 0. NCCL kernels become collectives, sends and
/// receives, with the sizes of their arguments; other kernels become computations of fixed time. A task waits for what had
/// ended in the trace when it began. Throws ConfigError with file and event. See docs/formats/kineto.md for what it leaves
/// out.
[[nodiscard]] TaskGraph read_kineto(const KinetoOptions& options);

}  // namespace photonrail
