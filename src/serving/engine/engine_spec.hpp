// How one engine batches its requests.
#pragma once

#include "photonrail/units.hpp"
#include "photonrail/workload/scheduling.hpp"

#include <cstdint>
#include <memory>

namespace photonrail::serving {

enum class Preemption : std::uint8_t {
  kRecompute,  ///< its blocks are lost; prompt and generated tokens are computed again as one prefill
  kSwap        ///< its blocks go to other memory and come back, which steps wait for
};

/// What must be free before a waiting request is admitted.
enum class Admission : std::uint8_t {
  kFirstChunk,      ///< blocks of its first chunk (vLLM V1)
  kPrompt,          ///< ... of its whole prompt, and 1 % of all beside it where others run (Sarathi and vLLM in Vidur)
  kPromptAndOutput  ///< ... of all tokens that it will ever have, so that nothing is preempted (Orca)
};

enum class QueueOrder : std::uint8_t {
  kArrival,   ///< a preempted request goes to the front; the last of the running is preempted
  kPriority,  ///< least number first, then arrival; the last in this order is preempted
  kShortest   ///< shortest prompt first, then arrival; as kPriority
};

/// Tokens that a draft proposes and one step verifies (Leviathan et al., ICML 2023): each is accepted with the same
/// probability until the first that is not.
struct Speculation {
  std::uint32_t drafts = 0;  ///< tokens that are proposed for each step; 0: none
  double acceptance = 0.7;   ///< of one, in [0, 1]
  Duration draft{};          ///< what proposing one takes, for the whole batch
};

/// When an engine takes requests that wait, beside free blocks, budget and places.
struct IntakeRules {
  bool ahead = false;  ///< a step is decided when the one before it begins: who comes meanwhile is not in it
  std::uint32_t poll_steps =
      0;  ///< new requests are looked for after so many steps of decodes, and after each with prompts
  std::uint32_t wait_steps = 0;   ///< beside decodes they are held back for so many steps
  std::uint32_t wait_tokens = 0;  ///< ... unless a step with them has so many tokens; 0: the budget
  bool prompts_alone = false;     ///< steps with prompts have no decodes

  [[nodiscard]] bool operator==(const IntakeRules&) const = default;
};

struct EngineSpec {
  std::uint32_t max_sequences = 256;  ///< that run at once
  std::uint32_t token_budget = 8192;  ///< of a step
  std::uint32_t long_prefill = 0;     ///< greatest chunk of one request; 0: the budget
  std::uint32_t block_tokens = 16;
  std::uint32_t keys_per_block = 1;  ///< of Request::keys: more than 1 where other engines have smaller blocks
  std::uint64_t blocks = 0;          ///< of the KV memory
  bool prefix_caching = true;
  Preemption preemption = Preemption::kRecompute;
  Admission admission = Admission::kFirstChunk;
  Duration swap_block{};  ///< to bring a block to the other memory or back, where that is no traffic (PoolSpec::offload)
  /// Above 0: a request that has got so many tokens since it was admitted gives way to one that waits, and goes to the end
  /// of the queue, so that prompts share the engine fairly (AQUA, arXiv 2407.21255).
  std::uint32_t slice_tokens = 0;
  QueueOrder order = QueueOrder::kArrival;
  Speculation speculation{};
  IntakeRules intake{};
  std::shared_ptr<const SchedulingPolicy> policy{};  ///< decides steps in place of vLLM's rules

  /// False: it has a policy, and beside it rules that a policy takes over.
  [[nodiscard]] bool leaves_rules_to_policy() const {
    return policy == nullptr || (speculation.drafts == 0 && slice_tokens == 0 && order == QueueOrder::kArrival &&
                                 admission == Admission::kFirstChunk && intake == IntakeRules{});
  }
};
inline constexpr const char* kRulesOfPolicies =
    "remove speculation, slice_tokens, order, admission, decide_ahead, poll_steps, wait_steps and prompts_alone";

}  // namespace photonrail::serving
