// What a reinforcement learning job did, step by step.
#pragma once

#include "photonrail/units.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace photonrail {

struct RlStep {
  Duration step{};        ///< from the end of the step before to that of its refit
  Duration generation{};  ///< from the begin of its first sample to the end of its last
  Duration log_probabilities{};
  Duration training{};
  Duration refit{};
  Duration refit_announced{};     ///< so long before it began controllers had the requests of all of its ranks
  Duration offload{};             ///< on shared GPUs: what makes room for training goes to the hosts
  Duration reload{};              ///< ... and comes back
  Duration tail{};                ///< from when nine tenths of its samples were complete to the last
  std::uint32_t last_engine = 0;  ///< which completed the last sample
  double slot_use = 0.0;          ///< mean time of a sample over `generation`
  double staleness = 0.0;         ///< versions, mean of its samples
  struct Tokens {
    double responses = 0.0;     ///< of all samples
    double prompts = 0.0;       ///< ... each sample with its own copy
    std::uint32_t longest = 0;  ///< of the longest response
  };
  Tokens tokens{};
  struct Stale {
    std::uint32_t most = 0;     ///< versions
    std::uint32_t dropped = 0;  ///< samples that were too old, and made again
  };
  Stale stale{};
  std::uint32_t optimizer_steps = 0;
};

struct RlResult {
  struct Ranks {
    std::uint32_t all = 0;
    std::uint32_t generation = 0;  ///< that have engines
    std::uint32_t training = 0;
  };
  Ranks ranks{};
  std::uint32_t samples = 0;  ///< of a step
  std::vector<RlStep> steps;
  std::vector<std::uint64_t> staleness;  ///< samples by versions
  std::uint64_t made_again = 0;          ///< samples that were lost with their engine
  std::uint64_t prompt_tokens = 0;       ///< of samples when an engine took them, contexts after tool calls among them
  std::uint64_t cached_tokens = 0;       ///< ... whose KV was there
  std::uint64_t preemptions = 0;         ///< of samples, for want of KV blocks
  std::uint64_t recomputed_tokens = 0;   ///< whose KV had been lost
  double offloaded_bytes = 0.0;          ///< to hosts and back, of all GPUs
  double swapped_bytes = 0.0;            ///< KV of responses that waited for tools, out and in
  Duration tool_wait{};  ///< of engines that stood still while samples of theirs waited for tools, summed up
  std::uint64_t tool_calls = 0;
  std::uint64_t tool_hits = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> hits_by_depth;  ///< calls, hits
};

}  // namespace photonrail
