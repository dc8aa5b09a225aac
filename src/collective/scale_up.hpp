// Collectives inside a scale-up domain (NVLink) as they were measured: curves over the size of the message, made of the
// protocols of the library (LL, LL128, Simple), in-switch reduction (NVLS) and pairwise exchanges.
//
// A ring of n members takes s steps (all-gather and reduce-scatter n - 1, all-reduce 2 (n - 1)) and moves s / n of the
// bytes through each link: time = launch + s x step + bytes s / n x per byte; all-gather and reduce-scatter also copy a
// member's own n-th. The library takes the protocol that is fastest, as here; its real choice is coarser, which is most of
// the error. Leaves out: CUDA graphs (launch is in every time), channels taken from computation, more than one collective
// at once.
#pragma once

#include "photonrail/collective.hpp"
#include "photonrail/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::collective {

enum class ScaleUpProtocol : std::uint8_t { kLl, kLl128, kSimple, kNvls, kPairwiseLl, kPairwiseSimple };
[[nodiscard]] std::string_view to_string(ScaleUpProtocol protocol);

/// time = launch + steps x step + megabytes moved x per_megabyte. All 0: the fabric has no such protocol.
struct ProtocolCost {
  double launch_us = 0.0;
  double step_us = 0.0;
  double us_per_megabyte = 0.0;  ///< of 10^6 bytes; 1,000 / it is GB/s

  [[nodiscard]] bool exists() const { return launch_us > 0.0 || us_per_megabyte > 0.0; }
  friend bool operator==(const ProtocolCost&, const ProtocolCost&) = default;
};

/// The fabric of one kind of server.
struct ScaleUpFabric {
  std::string name{};
  ProtocolCost ll{};                  ///< ring; 8-byte stores with flags, half of the bytes or less are data
  ProtocolCost ll128{};               ///< ring; 120 of 128 bytes are data
  ProtocolCost simple{};              ///< ring; whole chunks, then a flag
  double copy_us_per_megabyte = 0.0;  ///< of a member's own share, out of place
  ProtocolCost nvls{};                ///< all-reduce in the switch: each link carries (1 + 1/n) of the bytes
  ProtocolCost pairwise_ll{};         ///< all-to-all
  ProtocolCost pairwise_simple{};
  std::uint32_t measured_ranks = 8;  ///< more members than this are extrapolated
  std::string source{};
};

/// Fitted to measured curves (a100, h100, h200, b200, gb200: every second size of each curve, docs/validation.md), and with
/// the constants of the library's own tuner for comparison (nccl_tuner_...).
[[nodiscard]] const std::vector<ScaleUpFabric>& scale_up_fabrics();
/// Throws ConfigError that lists what is known.
[[nodiscard]] const ScaleUpFabric& scale_up_fabric(std::string_view name);

struct ScaleUpTime {
  Duration time{};
  ScaleUpProtocol protocol = ScaleUpProtocol::kSimple;
  bool extrapolated = false;  ///< more members than measured, or more than 512 MiB or less than 512 bytes
};

/// `bytes`: all-reduce the tensor, all-gather the gathered result, reduce-scatter the input, all-to-all the input of a
/// member. Throws ConfigError: another operation, fewer than 2 members, negative bytes.
[[nodiscard]] ScaleUpTime scale_up_time(const ScaleUpFabric& fabric, CollectiveOp op, std::uint32_t ranks, Bytes bytes);
/// Returns true when the fabric has the protocol, and it is one for the operation.
[[nodiscard]] bool scale_up_serves(const ScaleUpFabric& fabric, CollectiveOp op, ScaleUpProtocol protocol);
/// With one protocol. Throws ConfigError also where the fabric does not have it for the operation.
[[nodiscard]] Duration scale_up_time(const ScaleUpFabric& fabric, CollectiveOp op, std::uint32_t ranks, Bytes bytes,
                                     ScaleUpProtocol protocol);

/// Bytes of the tensor and microseconds of an all-reduce inside a server by an inference engine's own kernel in a CUDA
/// graph, without NCCL's launch, ascending; measured with 4 and 8 GPUs (GB200: 4) of the names above. Other numbers of
/// GPUs: the curve of the next larger one, else of the largest, at equal bytes on a link. Empty: not measured on such a
/// GPU.
[[nodiscard]] std::vector<std::pair<double, double>> graph_all_reduce(std::string_view gpu, std::uint32_t ranks);

}  // namespace photonrail::collective
