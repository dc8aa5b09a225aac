// A profile of an engine's kernels: a folder of CSV files in the columns of LLMServingSim 2.0's profiler, plain or gzip.
//   dense.csv         layer, tokens, time_us: kernels of one layer by the tokens of a step; "embedding" and
//                     "final_layernorm" are once in a model, "layernorm" is twice in a layer
//   per_sequence.csv  layer, sequences, time_us: "lm_head", "sampler"
//   attention.csv     prefill_chunk, kv_prefill, n_decode, kv_decode, time_us: grids, which may have gaps
//   moe.csv           tokens, activated_experts, time_us: of models with experts
#pragma once

#include "serving/engine/kernel_tables.hpp"

#include <filesystem>

namespace photonrail::formats {

/// Throws ConfigError with the file, and the line where one is wrong.
[[nodiscard]] serving::KernelTables read_kernel_tables(const std::filesystem::path& folder);

}  // namespace photonrail::formats
