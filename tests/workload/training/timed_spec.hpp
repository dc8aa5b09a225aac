// Training jobs whose operators are timed by a GPU of round numbers.
#pragma once

#include "photonrail/training.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "workload/training/small_spec.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

namespace photonrail::test {

/// 1 TFLOP/s and 1,000 GB/s without a fixed time, so that operators take FLOPs or bytes x 1.25, x 4 one element at a time.
inline OperatorTimes plain_gpu() {
  OperatorRoofline gpu;
  gpu.bf16_tflops = 1.0;
  gpu.memory_gb_per_s = 1000.0;
  gpu.kernel = Duration{};
  gpu.element_gb_per_s = 250.0;
  return OperatorTimes(gpu);
}

inline TrainingSpec timed(const std::function<void(TrainingOperators&)>& change = {}) {
  TrainingSpec spec = small_spec();
  auto how = std::make_shared<TrainingOperators>();
  how->times = plain_gpu();
  if (change) change(*how);
  spec.operators = how;
  return spec;
}

/// 8 experts on 2 ranks, 2 of them for a token.
inline TrainingSpec with_experts(const std::function<void(TrainingOperators&)>& change = {}) {
  TrainingSpec spec = timed(change);
  spec.model.moe = ExpertSpec{.experts = 8, .top_k = 2, .ffn = 32, .shared = 1};
  spec.parallelism = {.tp = 1, .pp = 2, .dp = 4, .ep = 2};
  spec.sequence_parallel = true;
  return spec;
}

inline const OperatorUse* find(const OperatorUsage& usage, const std::string& begin) {
  const auto at = std::find_if(usage.operators.begin(), usage.operators.end(),
                               [&](const OperatorUse& use) { return use.name.starts_with(begin); });
  return at == usage.operators.end() ? nullptr : &*at;
}

inline double times_of(const OperatorUsage& usage, const std::string& begin) {
  double sum = 0.0;
  for (const OperatorUse& use : usage.operators) sum += use.name.starts_with(begin) ? use.times : 0.0;
  return sum;
}

}  // namespace photonrail::test
