// One rank's Chrome trace of PyTorch's profiler (Kineto), down to the GPU kernels and the profiler's steps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats::kineto {

/// Holds what an NCCL kernel says of its call. Absent: the trace does not say.
struct Call {
  std::string collective;  ///< "Collective name"
  std::string dtype;
  std::optional<std::uint64_t> in_elements;
  std::optional<std::uint64_t> out_elements;
  std::optional<std::uint64_t> group_size;
  std::string group;                 ///< "Process Group Name"
  std::string description;           ///< "Process Group Description"
  std::vector<std::uint32_t> ranks;  ///< "Process Group Ranks", ranks of the job, as listed
  bool ranks_cut = false;            ///< the list has "...": PyTorch cuts long ones
  bool uneven_split = false;         ///< "In split size" has different numbers
  std::optional<std::uint64_t> source;
  std::optional<std::uint64_t> destination;
};

/// A time of the trace in nanoseconds, Kineto's resolution.
using Nanoseconds = std::int64_t;

struct Kernel {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
  std::uint32_t stream = 0;
  std::optional<std::uint32_t> call;  ///< index into Trace::calls; none: it computes
};

struct Span {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};

struct Trace {
  std::vector<Kernel> kernels;  ///< in the order of the file
  std::vector<Call> calls;
  std::map<std::uint64_t, Span> host_steps;  ///< ProfilerStep#N as the host saw it
  std::map<std::uint64_t, Span> gpu_steps;   ///< and the GPU
  std::optional<std::uint64_t> rank;         ///< distributedInfo
  std::optional<std::uint64_t> world_size;
};

/// Streams through the JSON: only what is kept takes memory. Throws ConfigError whose `where` is the byte or the event.
[[nodiscard]] Trace parse_trace(std::string_view json);

}  // namespace photonrail::formats::kineto
