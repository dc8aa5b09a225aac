// The writers of a pipeline stage's program write about this model: the spec, the costs, and the units that the stage has.
#pragma once

#include "workload/pipeline/actions.hpp"
#include "workload/training/layer_cost.hpp"
#include "workload/training/stage_pass.hpp"
#include "workload/training/stage_units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace photonrail::workload {

struct StageModel {
  /// REQUIRES: spec is valid. Both outlive the object. `of_experts`: demands of their all-to-alls; null: even.
  StageModel(const TrainingSpec& of, std::uint32_t number, const MoeTraffic* of_experts)
      : spec(of),
        stage(number),
        experts(of_experts),
        shape(of.pipeline()),
        book(of.operators ? std::make_unique<OperatorBook>(*of.operators) : nullptr),
        cost(model_cost(of, book.get())) {
    for (std::uint32_t c = 0; c < shape.chunks_held(); ++c) units.push_back(part_units(spec, cost, virtual_stage(c)));
    const auto kept = [](const Unit& unit) { return unit.in_bf16; };
    for (const auto& chunk : units) {
      if (!cost_in_bf16 && std::any_of(chunk.begin(), chunk.end(), kept)) cost_in_bf16 = model_cost(of, book.get(), true);
    }
  }

  [[nodiscard]] std::uint32_t virtual_stage(std::uint32_t chunk) const { return shape.virtual_stage({stage, chunk}); }
  /// The unit that a pass comes to as its `number`-th: backward passes begin with the last one.
  [[nodiscard]] const Unit& unit_of(const StagePass& pass, std::size_t number) const {
    const auto& of_chunk = units[pass.step.chunk];
    return of_chunk[pass.forward() ? number : of_chunk.size() - 1 - number];
  }
  [[nodiscard]] const ModelCost& cost_of(const Unit& unit) const { return unit.in_bf16 ? *cost_in_bf16 : cost; }
  [[nodiscard]] const PartCost& attention_of(const Unit& unit) const {
    return unit.has.window ? cost_of(unit).windowed : cost_of(unit).attention;
  }
  /// Returns true when a pair of passes runs layer by layer.
  [[nodiscard]] bool by_layer() const { return spec.overlap.experts && spec.overlap.by_layer; }
  /// GPUs that run the stage.
  [[nodiscard]] double ranks() const { return spec.parallelism.ranks() / static_cast<double>(spec.parallelism.pp); }
  /// Returns true when what comes from another stage is a tp-th that has to be gathered (TrainingSpec::scatter_messages).
  [[nodiscard]] bool gathers_messages() const {
    return spec.scatter_messages && !spec.sequence_parallel && spec.parallelism.tp > 1;
  }
  /// Returns the bytes of an activation between stages.
  [[nodiscard]] Bytes message() const {
    return spec.sequence_parallel || gathers_messages() ? cost.activation_shard : cost.activation;
  }

  const TrainingSpec& spec;
  std::uint32_t stage;
  const MoeTraffic* experts;
  PipelineShape shape;
  std::unique_ptr<OperatorBook> book;  ///< null: computations are timed by the GPU's roofline
  ModelCost cost;
  std::optional<ModelCost> cost_in_bf16{};  ///< of units that are kept in it, where the stage has some
  std::vector<std::vector<Unit>> units;     ///< by chunk, in forward order
};

}  // namespace photonrail::workload
