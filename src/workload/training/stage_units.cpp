#include "workload/training/stage_units.hpp"

#include "workload/training/stage_slots.hpp"

#include <algorithm>
#include <numeric>

namespace photonrail::workload {

namespace {

Unit layer_unit(const TrainingSpec& spec, const ModelCost& cost, std::uint32_t layer) {
  const ModelSpec& m = spec.model;
  Unit unit{Unit::Kind::kLayer, "layer" + std::to_string(layer), false, layer};
  unit.has = m.layer_kind(layer);
  unit.experts = unit.has.experts;
  unit.predicts = layer >= m.layers;
  unit.in_bf16 = spec.operators && spec.operators->mixed.in_bf16(layer, m.layers);
  if (unit.has.attention) unit.parameters += cost.attention.parameters;
  if (unit.has.mamba) unit.parameters += cost.mamba.parameters;
  if (unit.has.mlp) unit.parameters += cost.mlp.parameters;
  if (unit.experts) unit.parameters += cost.experts.parameters;
  if (unit.predicts) unit.parameters += cost.prediction.parameters;
  if (unit.experts) (experts_apart(spec) ? unit.expert_parameters : unit.parameters) += cost.expert_parameters;
  return unit;
}

Unit head_unit(const TrainingSpec& spec, const ModelCost& cost) {
  Unit unit{Unit::Kind::kHead, "head", false, 0, cost.head.parameters};
  if (!spec.model.tied_embeddings || spec.parallelism.pp > 1) return unit;
  unit.borrowed = cost.embedding.parameters - std::int64_t{spec.model.hidden} * spec.model.positions;
  unit.parameters -= unit.borrowed;
  return unit;
}

}  // namespace

LayerRange part_layers(const TrainingSpec& spec, std::uint32_t virtual_stage) {
  if (!spec.stage_layers.empty()) {
    const auto own = spec.stage_layers.begin() + virtual_stage;
    return {std::accumulate(spec.stage_layers.begin(), own, 0U), *own};
  }
  const std::uint32_t parts = spec.pipeline().virtual_stages();
  const std::uint32_t ends = spec.ends_count_as_layers ? 1 : 0;
  const std::uint32_t places = spec.model.layers + ends * (2 + spec.model.predicted_tokens);
  const auto begin = [&](std::uint32_t part) { return part * (places / parts) + std::min(part, places % parts); };
  // Place 0 is the embedding's and the last ones are those of further predictions and the head, where these count.
  const std::uint32_t first = std::max(begin(virtual_stage), ends) - ends;
  const std::uint32_t end =
      std::min(begin(virtual_stage + 1) - std::min(begin(virtual_stage + 1), ends), spec.model.layers);
  return {first, end - std::min(first, end)};
}

std::vector<Unit> part_units(const TrainingSpec& spec, const ModelCost& cost, std::uint32_t virtual_stage) {
  std::vector<Unit> units;
  const auto [first, count] = part_layers(spec, virtual_stage);
  if (virtual_stage == 0) units.push_back({Unit::Kind::kEmbedding, "embedding", false, 0, cost.embedding.parameters});
  for (std::uint32_t l = first; l < first + count; ++l) units.push_back(layer_unit(spec, cost, l));
  if (virtual_stage + 1 < spec.pipeline().virtual_stages()) return units;
  for (std::uint32_t i = 0; i < spec.model.predicted_tokens; ++i) {
    units.push_back(layer_unit(spec, cost, spec.model.layers + i));
  }
  units.push_back(head_unit(spec, cost));
  return units;
}

}  // namespace photonrail::workload
