// The communicators of a pipeline stage's program: which it needs, and how many members each has.
#pragma once

#include "photonrail/training.hpp"
#include "workload/training/rank_grid.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace photonrail::workload {

/// Holds what a slot of a stage's program stands for. Groups first, then ends of links.
enum class SlotUse : std::uint8_t {
  kTensor,
  kExpert,
  kExpertTensor,  ///< only where it is not the tensor group
  kData,          ///< gradients of what is not an expert; with fsdp or zero1 its shards
  kDataMirror,    ///< DualPipe: the same of the stage's second copy
  kReplicate,     ///< replicas of shards
  kExpertData,    ///< gradients of experts, where they are spread in another way than the rest
  kExpertDataMirror,
  kExpertReplicate,
  kEmbedding,  ///< the two copies of tied embeddings
  kPipeline,   ///< all stages: the norm of the gradients
  kContextOut,
  kContextIn,
  kToNext,
  kFromNext,
  kToPrevious,
  kFromPrevious
};
[[nodiscard]] constexpr bool is_link(SlotUse use) { return use >= SlotUse::kContextOut; }

/// The slots of a stage's program, in order: only those that it needs.
[[nodiscard]] std::vector<SlotUse> stage_slots(const TrainingSpec& spec, std::uint32_t stage);

/// The group of a slot that is no link, as seen from `stage`.
[[nodiscard]] GroupShape group_shape(const TrainingSpec& spec, std::uint32_t stage, SlotUse use);
[[nodiscard]] GroupShape context_ring(const ParallelismSpec& p);

/// Returns true when routed experts are spread in another way than the rest of a layer.
[[nodiscard]] bool experts_apart(const TrainingSpec& spec);

/// Returns how many ranks hold one shard each of what is not an expert, and of experts. 1: nothing is sharded.
[[nodiscard]] std::uint32_t shards(const TrainingSpec& spec);
[[nodiscard]] std::uint32_t expert_shards(const TrainingSpec& spec);

[[nodiscard]] Dimension dimension_of(SlotUse use);
[[nodiscard]] std::string_view group_name(SlotUse use);

}  // namespace photonrail::workload
