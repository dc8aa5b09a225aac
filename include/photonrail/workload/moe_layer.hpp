// Whole layers of a mixture of experts: dispatch, the experts' computation and combine, one after another or as one
// pipeline.
#pragma once

#include "photonrail/collective/traffic_matrix.hpp"
#include "photonrail/workload/moe.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace photonrail {

/// Describes how a receiver learns that the bytes of a message to another server have arrived: by a signal behind them.
/// What keeps the signal behind them differs (Perseus, arXiv 2605.00686). Messages within a server need none of it.
enum class FencePolicy : std::uint8_t {
  kNone,             ///< the message says it itself
  kEachMessage,      ///< coupled: message, fence, signal, one after another through the sender's only queue
  kEachDestination,  ///< decoupled: all messages to a destination, one fence, their signals
  kNic               ///< the NIC orders them: nothing waits but the signal
};

struct MoeLayerSpec {
  MoeSpec traffic{};
  std::uint32_t ffn = 1;            ///< width of an expert's hidden layer
  bool gated = false;               ///< two matrices up (SwiGLU) instead of one
  std::uint32_t tile_rows = 128;    ///< tokens of a tile (FlashMoE, arXiv 2506.04667)
  std::uint32_t tile_columns = 64;  ///< elements of a token in a tile
  std::uint32_t processors = 131;   ///< of a GPU that compute tiles: multiprocessors, without one that administers
  FencePolicy fences = FencePolicy::kNone;
  Duration fence{};  ///< from the arrival of the last byte until the sender's fence is over

  /// Throws ConfigError whose `where` is the field, "traffic.experts".
  void validate() const;

  friend bool operator==(const MoeLayerSpec&, const MoeLayerSpec&) = default;
};

/// The exchanges of such layers, as MoeTraffic has them, and beside them each layer as one operation: the pipeline of
/// FlashMoE. A member sends one message for each expert, and 8 bytes where no token chose it. It becomes tiles of the first
/// matrix when it arrives, a row of tiles of the second when that row of the first is complete, and the row goes back.
///
/// A layer that is done exchange by exchange computes the same tiles, and each matrix as a whole: flops().
///
/// Leaves out: the gate and the weighted sum of combine, the copy into the message's buffer, messages of single tiles
/// within a server, rows of several messages in one tile, the backward pass, and what tiles and other kernels of the GPU
/// take from each other.
class MoeLayers final : public TrafficSource {
 public:
  /// Throws ConfigError (see MoeLayerSpec::validate()).
  explicit MoeLayers(MoeLayerSpec spec);

  [[nodiscard]] const MoeLayerSpec& spec() const { return spec_; }
  [[nodiscard]] const MoeTraffic& traffic() const { return traffic_; }
  /// The number of a layer in one piece; the numbers of its exchanges are those of traffic().
  /// REQUIRES: layer and micro-batch exist.
  [[nodiscard]] std::uint32_t number(std::uint32_t layer, std::uint32_t micro_batch) const;

  [[nodiscard]] std::optional<Member> members(std::uint32_t number) const override;
  [[nodiscard]] bool drifts() const override { return traffic_.drifts(); }
  /// Returns the matrix of a whole layer: both exchanges.
  [[nodiscard]] TrafficMatrix matrix(const DemandQuery& query) const override;
  /// Null for an exchange.
  [[nodiscard]] std::unique_ptr<const SendPlan> plan(const DemandQuery& query,
                                                     std::span<const std::uint32_t> servers) const override;
  /// Of all tiles on the member, in whole rounds of its processors: those of the first matrix, then those of the second.
  [[nodiscard]] double flops(const DemandQuery& query, Member member) const override;

 private:
  [[nodiscard]] std::uint32_t exchanges() const;
  [[nodiscard]] Routing routing(const DemandQuery& query) const;

  MoeLayerSpec spec_;
  MoeTraffic traffic_;
};

}  // namespace photonrail
