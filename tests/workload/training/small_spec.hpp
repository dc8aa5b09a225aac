// A training job small enough to count by hand.
#pragma once

#include "photonrail/training.hpp"

namespace photonrail::test {

/// 5 layers, h = 64, ffn = 96, 8 heads of 8, 4 KV heads (kv = 32), V = 160; tp 2, pp 2, dp 2; 4 micro-batches of 2 x 16
/// tokens. The stages do not share the layers evenly: they have 3 and 2.
inline TrainingSpec small_spec() {
  TrainingSpec spec;
  spec.model = {"small", 5, 64, 96, 8, 4, 160};
  spec.parallelism = {.tp = 2, .pp = 2, .dp = 2};
  spec.sequence = 16;
  spec.global_batch = 16;
  spec.micro_batch = 2;
  return spec;
}

/// The published dimensions of Llama 3 8B (arXiv 2407.21783, table 3).
inline ModelSpec llama3_8b() { return {"llama3_8b", 32, 4096, 14336, 32, 8, 128256}; }

}  // namespace photonrail::test
