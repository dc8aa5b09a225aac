// How the responses of a batch are divided into micro-batches of data-parallel ranks.
#pragma once

#include <cstdint>
#include <span>

namespace photonrail::rl {

/// What a micro-batch holds at most, and how many ranks share the batch.
struct PackingLimits {
  std::uint32_t ranks = 1;           ///< data-parallel
  std::uint32_t tokens = 0;          ///< of a micro-batch, a longer response is alone; 0: those of the longest
  bool packed = true;                ///< else a micro-batch has one response, padded to the longest of the batch
  std::uint32_t micro_multiple = 1;  ///< that the schedule needs of the number of micro-batches
  std::uint32_t micro_least = 1;     ///< ... and at least so many
  std::uint32_t token_multiple = 1;  ///< that a sequence is divided into evenly
};

/// Micro-batches that are alike: `sequences` of `sequence` tokens each.
struct Packing {
  std::uint32_t sequence = 1;
  std::uint32_t sequences = 1;
  std::uint32_t micro_batches = 1;  ///< of a rank

  friend auto operator<=>(const Packing&, const Packing&) = default;
};

/// Packs responses by best fit, the longest first, and divides the tokens evenly over the micro-batches that this makes: so
/// many sequences as long as the one that the average token is in, so that both the tokens and the scores of attention come
/// out. Leaves out: ranks whose micro-batches differ. REQUIRES: there are responses.
[[nodiscard]] Packing pack(std::span<const std::uint32_t> tokens, const PackingLimits& limits);

}  // namespace photonrail::rl
