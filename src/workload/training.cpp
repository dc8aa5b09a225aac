// One training step of a dense decoder-only transformer as a task graph: tensor parallelism as in Megatron-LM (Shoeybi
// et al., arXiv 1909.08053; with sequence parallelism Korthikanti et al., arXiv 2205.05198), pipeline parallelism under
// GPipe or 1F1B (Narayanan et al., arXiv 2104.04473), data parallelism plain or fully sharded (Zhao et al., arXiv
// 2304.11277). FLOPs and memory traffic: layer_cost.cpp.
//
// Layers are split as evenly as they go; where they do not divide, the first stages have one more. The embedding is on
// the first stage, the output head and the loss on the last. An FSDP unit is a layer, the embedding, or the head; its
// shards are padded to the same number of parameters. Every unit is gathered for each forward and each backward pass, one
// unit ahead within a pass (the first gather of a pass waits for the end of the pass before it); its gradients are
// reduce-scattered after each backward pass. Plain data parallelism reduces gradients in the last backward pass only.
// Where tp exceeds the KV heads, they are repeated. A stage posts the receive of its next input when a pass ends.
//
// Leaves out: the discount of causal masking; overlap of a tensor-parallel exchange with the compute next to it, and the
// second all-gather of an input that arXiv 2205.05198 stores in shards; the all-reduces of the vocabulary-parallel loss,
// of norm gradients under sequence parallelism, of repeated KV heads, and of the gradient norm; bucketing of gradients;
// sharding of only the optimizer state (ZeRO-1) or gradients (ZeRO-2); interleaved and zero-bubble schedules; selective
// recomputation; tied embeddings; the capacity of memory; dropout, data loading and check-points; context and expert
// parallelism.
#include "photonrail/training.hpp"

#include "photonrail/error.hpp"
#include "workload/stage_program.hpp"

#include <string>

namespace photonrail {

namespace {

/// Ranks as points of tp x dp x pp, numbered in the order that the job gives.
class RankGrid {
 public:
  explicit RankGrid(const TrainingSpec& spec) : shape_(spec.parallelism) {
    std::uint32_t stride = 1;
    for (const std::string& dimension : spec.order) {
      const bool tensor = dimension == "tp";
      const bool data = dimension == "dp";
      (tensor ? tp_stride_ : data ? dp_stride_ : pp_stride_) = stride;
      stride *= tensor ? shape_.tp : data ? shape_.dp : shape_.pp;
    }
  }

  [[nodiscard]] std::uint32_t stage(RankId r) const { return r.value / pp_stride_ % shape_.pp; }
  [[nodiscard]] RankId neighbour(RankId r, std::int32_t stages) const {
    return RankId{static_cast<std::size_t>(std::int64_t{r.value} + std::int64_t{stages} * pp_stride_)};
  }
  [[nodiscard]] std::vector<RankId> tensor_group(RankId r) const { return group(r, tp_stride_, shape_.tp); }
  [[nodiscard]] std::vector<RankId> data_group(RankId r) const { return group(r, dp_stride_, shape_.dp); }

 private:
  static std::vector<RankId> group(RankId r, std::uint32_t stride, std::uint32_t extent) {
    const std::uint32_t first = r.value - r.value / stride % extent * stride;
    std::vector<RankId> members;
    for (std::uint32_t i = 0; i < extent; ++i) members.emplace_back(std::size_t{first} + std::size_t{i} * stride);
    return members;
  }

  ParallelismSpec shape_;
  std::uint32_t tp_stride_ = 1;
  std::uint32_t dp_stride_ = 1;
  std::uint32_t pp_stride_ = 1;
};

/// The group communicator of every rank in one dimension; groups are numbered by their lowest rank.
template <class GroupOf>
std::vector<CommunicatorId> add_groups(TaskGraphBuilder& builder, std::uint32_t ranks, Dimension dimension,
                                       const GroupOf& group_of) {
  std::vector<CommunicatorId> of(ranks, CommunicatorId::none());
  std::uint32_t number = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (!of[r].is_none()) continue;
    const std::vector<RankId> members = group_of(RankId{r});
    if (members.size() < 2 || members.front() != RankId{r}) continue;
    const CommunicatorId id =
        builder.add_communicator(std::string(name(dimension)) + "." + std::to_string(number++), members, dimension);
    for (const RankId member : members) of[member.index()] = id;
  }
  return of;
}

}  // namespace

TaskGraph make_training_graph(const TrainingSpec& spec) {
  spec.validate();
  const std::uint32_t ranks = spec.parallelism.ranks();
  const RankGrid grid(spec);
  TaskGraphBuilder builder(ranks);
  const auto tensor = add_groups(builder, ranks, Dimension::kTp, [&](RankId r) { return grid.tensor_group(r); });
  const auto data = add_groups(builder, ranks, Dimension::kDp, [&](RankId r) { return grid.data_group(r); });

  std::vector<ProgramId> program_of_stage;
  for (std::uint32_t s = 0; s < spec.parallelism.pp; ++s) program_of_stage.push_back(write_stage_program(builder, spec, s));

  const auto communicator = [&](RankId r, SlotUse use) {
    switch (use) {
      case SlotUse::kTensor:
        return tensor[r.index()];
      case SlotUse::kData:
        return data[r.index()];
      case SlotUse::kForwardIn:
        return builder.link(grid.neighbour(r, -1), r, Dimension::kPp);
      case SlotUse::kForwardOut:
        return builder.link(r, grid.neighbour(r, 1), Dimension::kPp);
      case SlotUse::kBackwardIn:
        return builder.link(grid.neighbour(r, 1), r, Dimension::kPp);
      case SlotUse::kBackwardOut:
        return builder.link(r, grid.neighbour(r, -1), Dimension::kPp);
    }
    fail_check("a known slot use", __FILE__, __LINE__);
  };
  for (std::size_t i = 0; i < ranks; ++i) {
    const RankId rank{i};
    const std::uint32_t stage = grid.stage(rank);
    std::vector<CommunicatorId> slots;
    for (const SlotUse use : stage_slots(spec.parallelism, stage)) slots.push_back(communicator(rank, use));
    builder.assign(rank, program_of_stage[stage], std::move(slots));
  }
  return std::move(builder).build();
}

}  // namespace photonrail
