#include "workload/weights.hpp"

#include <algorithm>
#include <cmath>

namespace photonrail::workload {

namespace {

double routed_expert_parameters(const ModelSpec& model) {
  const double width = model.moe->latent != 0 ? model.moe->latent : model.hidden;
  const double biases = model.biases ? (matrices(model.mlp) - 1.0) * model.expert_ffn() + model.hidden : 0.0;
  return matrices(model.mlp) * width * model.expert_ffn() + biases;
}

}  // namespace

// A layer has what a model with it has more than one that ends before it.
std::vector<collective::WeightUnit> weight_units(const ModelSpec& model, double element_bytes) {
  const auto bytes = [&](double parameters) { return Bytes{std::llround(parameters * element_bytes)}; };
  std::vector<collective::WeightUnit> units;
  const double embedding = static_cast<double>(model.hidden) * (static_cast<double>(model.vocabulary) + model.positions);
  units.push_back({.dense = bytes(embedding)});
  ModelSpec shorter = model;
  shorter.predicted_tokens = 0;
  shorter.layers = 0;
  double before = shorter.parameters();
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    shorter.layers = layer + 1;
    const double until = shorter.parameters();
    collective::WeightUnit& unit = units.emplace_back();
    if (model.layer_kind(layer).experts) {
      unit.experts = model.moe->experts;
      unit.expert = bytes(routed_expert_parameters(model));
    }
    unit.dense = bytes(until - before - (unit.experts > 0 ? unit.experts * routed_expert_parameters(model) : 0.0));
    before = until;
  }
  // The rest has the head, the last norm and the modules behind the layers.
  const double rest =
      model.parameters() - before + (model.tied_embeddings ? 0.0 : static_cast<double>(model.hidden) * model.vocabulary);
  units.push_back({.dense = bytes(std::max(0.0, rest))});
  return units;
}

}  // namespace photonrail::workload
