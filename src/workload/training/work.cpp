#include "photonrail/training.hpp"
#include "workload/training/layer_cost.hpp"

namespace photonrail {

using workload::Cost;
using workload::model_cost;
using workload::ModelCost;

namespace {

double flops(const Cost& cost) { return cost.forward.flops + cost.input.flops + cost.weight.flops; }

}  // namespace

// The whole model on one rank, a sequence at a time: what parallelism divides, repeats or pads is not in it.
TrainingWork training_work(const TrainingSpec& spec) {
  spec.validate();
  TrainingSpec one = spec;
  one.parallelism = ParallelismSpec{};
  one.micro_batch = 1;
  one.operators = nullptr;
  const ModelCost cost = model_cost(one);
  double of_sequence = flops(cost.embedding.whole()) + flops(cost.head.whole());
  for (std::uint32_t layer = 0; layer < spec.model.layers + spec.model.predicted_tokens; ++layer) {
    const LayerKind kind = spec.model.layer_kind(layer);
    if (kind.attention) of_sequence += flops((kind.window ? cost.windowed : cost.attention).whole());
    if (kind.mamba) of_sequence += flops(cost.mamba.whole());
    of_sequence += kind.experts ? flops(cost.experts.whole()) : 0.0;
    of_sequence += kind.mlp ? flops(cost.mlp.whole()) : 0.0;
    if (layer >= spec.model.layers) of_sequence += flops(cost.prediction.whole()) + flops(cost.head.whole());
  }
  const double sequences = spec.global_batch;
  return {sequences * spec.sequence, sequences * of_sequence};
}

}  // namespace photonrail
