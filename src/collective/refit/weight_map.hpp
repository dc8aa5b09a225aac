// Which rank holds which weights of a model before a refit, and which rank needs which afterwards: exact maps of bytes.
#pragma once

#include "photonrail/collective/traffic_matrix.hpp"
#include "photonrail/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace photonrail::collective {

/// The weights of a layer, of the embedding or of the head: what tensor parallelism divides, and the routed experts.
struct WeightUnit {
  Bytes dense{};
  std::uint32_t experts = 0;
  Bytes expert{};  ///< of one

  friend bool operator==(const WeightUnit&, const WeightUnit&) = default;
};

/// How ranks divide the weights. The units are split over the pipeline stages evenly. Of the ranks / pp of a stage, tp is
/// innermost; experts lie over the same ranks as etp x ep, etp innermost. What is left are copies.
struct WeightLayout {
  Member ranks = 1;
  std::uint32_t pp = 1;
  std::uint32_t tp = 1;
  std::uint32_t ep = 1;
  std::uint32_t etp = 1;

  [[nodiscard]] std::uint32_t stage_ranks() const { return ranks / pp; }
  /// Throws ConfigError whose `where` is the field, "tp". `experts`: of a layer, or 0.
  void validate(std::uint32_t experts) const;

  friend bool operator==(const WeightLayout&, const WeightLayout&) = default;
};

/// Bytes that the same ranks hold and the same ranks need.
struct WeightShard {
  Bytes bytes{};
  std::vector<Member> holders;  ///< ascending
  std::vector<Member> needers;  ///< ascending; some may be holders
};

/// A run of bytes of one unit.
struct WeightRange {
  static constexpr std::uint32_t kDense = 0xffffffff;
  std::uint32_t unit = 0;
  std::uint32_t expert = kDense;
  Bytes first{};
  Bytes bytes{};
  std::size_t shard = 0;
};

struct WeightMap {
  std::vector<WeightShard> shards;  ///< in the order of the units that they begin in
  std::vector<WeightRange> ranges;  ///< every byte of the model once, in the order of the units
};

/// Training ranks are members from 0, those of the engines members from `first_engine`, engine after engine.
/// REQUIRES: both layouts are valid.
[[nodiscard]] WeightMap map_weights(std::span<const WeightUnit> units, const WeightLayout& training,
                                    const WeightLayout& engine, Member engines, Member first_engine);

}  // namespace photonrail::collective
