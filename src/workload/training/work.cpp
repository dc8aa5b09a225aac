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
  const ModelCost cost = model_cost(one);
  double of_sequence = flops(cost.embedding.whole()) + flops(cost.head.whole());
  for (std::uint32_t layer = 0; layer < spec.model.layers; ++layer) {
    of_sequence += flops(cost.attention.whole());
    of_sequence += flops((spec.model.has_experts(layer) ? cost.experts : cost.mlp).whole());
  }
  const double sequences = spec.global_batch;
  return {sequences * spec.sequence, sequences * of_sequence};
}

}  // namespace photonrail
