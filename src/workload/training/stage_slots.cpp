#include "workload/training/stage_slots.hpp"

#include "photonrail/error.hpp"

#include <algorithm>

namespace photonrail::workload {

namespace {

std::uint32_t data_members(const ParallelismSpec& p) { return p.cp * p.dp / p.dp_replicate; }
std::uint32_t expert_data_members(const ParallelismSpec& p) {
  return p.tp * p.cp * (p.dp / p.dp_replicate) / (p.expert_tp() * p.ep);
}

bool mirrored(const TrainingSpec& s) { return s.schedule == PipelineSchedule::kDualPipe; }

/// A group inside a stage; DualPipe: with the same positions of the stage that holds the other copy.
GroupShape data_shape(const TrainingSpec& s, std::uint32_t stage, std::uint32_t stride, std::uint32_t extent) {
  GroupShape shape{stride, extent};
  if (!mirrored(s)) return shape;
  const ParallelismSpec& p = s.parallelism;
  const std::uint32_t lower = std::min(stage, p.pp - 1 - stage);
  shape.outer_stride = (p.pp - 1 - 2 * lower) * p.tp * p.cp * p.dp;
  shape.outer_extent = 2;
  return shape;
}

std::vector<SlotUse> group_uses(const TrainingSpec& s, std::uint32_t stage) {
  using enum SlotUse;
  const ParallelismSpec& p = s.parallelism;
  const bool experts = s.model.moe.has_value();
  std::vector<SlotUse> uses{kTensor};
  if (experts) uses.push_back(kExpert);
  if (experts && p.expert_tp() != p.tp) uses.push_back(kExpertTensor);
  uses.push_back(kData);
  if (mirrored(s)) uses.push_back(kDataMirror);
  uses.push_back(kReplicate);
  if (experts_apart(s)) {
    uses.push_back(kExpertData);
    if (mirrored(s)) uses.push_back(kExpertDataMirror);
    uses.push_back(kExpertReplicate);
  }
  if (s.model.tied_embeddings && (stage == 0 || stage + 1 == p.pp)) uses.push_back(kEmbedding);
  if (s.clip_gradients) uses.push_back(kPipeline);
  return uses;
}

}  // namespace

bool experts_apart(const TrainingSpec& spec) {
  const ParallelismSpec& p = spec.parallelism;
  return spec.model.moe && (p.ep > 1 || p.expert_tp() != p.tp);
}

std::uint32_t shards(const TrainingSpec& spec) {
  const ParallelismSpec& p = spec.parallelism;
  return p.fsdp || p.zero1 ? data_members(p) * (mirrored(spec) ? 2 : 1) : 1;
}

std::uint32_t expert_shards(const TrainingSpec& spec) {
  const ParallelismSpec& p = spec.parallelism;
  return p.fsdp || p.zero1 ? expert_data_members(p) * (mirrored(spec) ? 2 : 1) : 1;
}

GroupShape context_ring(const ParallelismSpec& p) { return {p.tp, p.cp}; }

GroupShape group_shape(const TrainingSpec& spec, std::uint32_t stage, SlotUse use) {
  const ParallelismSpec& p = spec.parallelism;
  const std::uint32_t replica = p.tp * p.cp * (p.dp / p.dp_replicate);
  const std::uint32_t stage_size = p.tp * p.cp * p.dp;
  switch (use) {
    case SlotUse::kTensor:
      return {1, p.tp};
    case SlotUse::kExpertTensor:
      return {1, p.expert_tp()};
    case SlotUse::kExpert:
      return {p.expert_tp(), p.ep};
    case SlotUse::kData:
    case SlotUse::kDataMirror:
      return data_shape(spec, stage, p.tp, data_members(p));
    case SlotUse::kExpertData:
    case SlotUse::kExpertDataMirror:
      return data_shape(spec, stage, p.expert_tp() * p.ep, expert_data_members(p));
    case SlotUse::kReplicate:
    case SlotUse::kExpertReplicate:
      return {replica, p.dp_replicate};
    case SlotUse::kEmbedding:
      return {stage_size * std::max(1u, p.pp - 1), p.pp > 1 ? 2u : 1u};
    case SlotUse::kPipeline:
      return {stage_size, p.pp};
    default:
      fail_check("a group", __FILE__, __LINE__);
  }
}

std::vector<SlotUse> stage_slots(const TrainingSpec& spec, std::uint32_t stage) {
  using enum SlotUse;
  const ParallelismSpec& p = spec.parallelism;
  std::vector<SlotUse> slots;
  for (const SlotUse use : group_uses(spec, stage)) {
    if (group_shape(spec, stage, use).members() > 1) slots.push_back(use);
  }
  if (p.cp > 1) slots.insert(slots.end(), {kContextOut, kContextIn});
  // Chunks of one stage that follow the chunks of another close the stages to a ring.
  const bool ring = p.virtual_stages > 1 && p.pp > 1;
  const bool two = ring && p.pp == 2;  // the next stage is the previous one
  if (stage > 0 || ring) slots.insert(slots.end(), {kFromPrevious, kToPrevious});
  if ((stage + 1 < p.pp || ring) && !two) slots.insert(slots.end(), {kToNext, kFromNext});
  return slots;
}

Dimension dimension_of(SlotUse use) {
  switch (use) {
    case SlotUse::kTensor:
    case SlotUse::kExpertTensor:
      return Dimension::kTp;
    case SlotUse::kExpert:
      return Dimension::kEp;
    case SlotUse::kContextOut:
    case SlotUse::kContextIn:
      return Dimension::kCp;
    case SlotUse::kData:
    case SlotUse::kDataMirror:
    case SlotUse::kReplicate:
    case SlotUse::kExpertData:
    case SlotUse::kExpertDataMirror:
    case SlotUse::kExpertReplicate:
      return Dimension::kDp;
    default:
      return Dimension::kPp;
  }
}

std::string_view group_name(SlotUse use) {
  switch (use) {
    case SlotUse::kTensor:
      return "tp";
    case SlotUse::kExpert:
      return "ep";
    case SlotUse::kExpertTensor:
      return "etp";
    case SlotUse::kData:
      return "dp";
    case SlotUse::kDataMirror:
      return "dp_mirror";
    case SlotUse::kReplicate:
      return "dp_replicate";
    case SlotUse::kExpertData:
      return "expert_dp";
    case SlotUse::kExpertDataMirror:
      return "expert_dp_mirror";
    case SlotUse::kExpertReplicate:
      return "expert_dp_replicate";
    case SlotUse::kEmbedding:
      return "embedding";
    case SlotUse::kPipeline:
      return "pp";
    default:
      fail_check("a group", __FILE__, __LINE__);
  }
}

}  // namespace photonrail::workload
