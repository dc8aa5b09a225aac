// FLOPs, bytes of memory traffic and parameters of the parts of a model, on one tensor-parallel rank.
#pragma once

#include "photonrail/training.hpp"

#include <cstdint>

namespace photonrail {

struct Work {
  double flops = 0.0;
  Bytes memory{};  ///< read and written
};

/// A part of the model between two exchanges of tensor parallelism, for one micro-batch.
struct PartCost {
  std::int64_t parameters = 0;
  Work forward;
  Work backward;
};

struct ModelCost {
  PartCost embedding;
  PartCost attention;
  PartCost mlp;
  PartCost head;           ///< last norm, output projection and loss
  Bytes activation;        ///< what passes between two layers: a micro-batch in full
  Bytes activation_shard;  ///< the part of it that one rank holds under sequence parallelism
};

/// REQUIRES: spec is valid.
[[nodiscard]] ModelCost model_cost(const TrainingSpec& spec);

/// Adam on `parameters` of one rank: no FLOPs counted, it is bound by memory.
[[nodiscard]] Work optimizer_work(const TrainingSpec& spec, std::int64_t parameters);

}  // namespace photonrail
