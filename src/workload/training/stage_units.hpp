// The layers of a part of the model, in units: what FSDP gathers and data parallelism reduces as one.
#pragma once

#include "photonrail/training.hpp"
#include "workload/training/layer_cost.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::workload {

/// The layers of a virtual stage: [first, first + count). Parts differ by one layer at the most; the first ones have more.
struct LayerRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
[[nodiscard]] LayerRange part_layers(const TrainingSpec& spec, std::uint32_t virtual_stage);

/// A layer, the embedding, or the output head.
struct Unit {
  enum class Kind : std::uint8_t { kEmbedding, kLayer, kHead };
  Kind kind = Kind::kLayer;
  std::string name;
  bool experts = false;         ///< instead of an MLP
  std::uint32_t layer = 0;      ///< from the model's number of layers on: the layers of modules that predict further tokens
  std::int64_t parameters = 0;  ///< on one rank, before sharding; without experts that are spread in another way
  std::int64_t expert_parameters = 0;  ///< those
  std::int64_t borrowed = 0;           ///< used here, owned by another unit: the tied embedding of the head
  LayerKind has{};                     ///< of a layer
  bool predicts = false;               ///< a module that predicts a further token: it ends with the head once more
  bool in_bf16 = false;                ///< its products (MixedPrecision)
};

/// In forward order.
[[nodiscard]] std::vector<Unit> part_units(const TrainingSpec& spec, const ModelCost& cost, std::uint32_t virtual_stage);

}  // namespace photonrail::workload
