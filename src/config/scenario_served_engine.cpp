// The "engine" of the "workload/serving" section: how it batches.
#include "config/scenario_serving.hpp"
#include "config/sections.hpp"
#include "photonrail/simulate.hpp"

#include <string>
#include <vector>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Word;
using serving::EngineSpec;
using serving::IntakeRules;

constexpr Word<serving::Preemption> kPreemptions[] = {{"recompute", serving::Preemption::kRecompute},
                                                      {"swap", serving::Preemption::kSwap}};
constexpr Word<serving::Admission> kAdmissions[] = {{"first_chunk", serving::Admission::kFirstChunk},
                                                    {"prompt", serving::Admission::kPrompt},
                                                    {"prompt_and_output", serving::Admission::kPromptAndOutput}};
constexpr Word<serving::QueueOrder> kOrders[] = {{"arrival", serving::QueueOrder::kArrival},
                                                 {"priority", serving::QueueOrder::kPriority},
                                                 {"shortest", serving::QueueOrder::kShortest}};
constexpr Field kSpeculationFields[] = {
    fields::count<&serving::Speculation::drafts>("drafts", 1, 64, "Tokens that are proposed a step.").must(),
    fields::number<&serving::Speculation::acceptance>("acceptance", 0, 1, "Of one, after those before it.").must(),
    fields::time<&serving::Speculation::draft>("draft", "us", "To propose one, for the whole batch.").or_else("0"),
};
constexpr fields::Section kSpeculation{kSpeculationFields};

std::vector<std::string> scheduler_words(const Registries& known) {
  std::vector<std::string> names;
  for (const SchedulerFactory& factory : known.schedulers.all()) names.push_back(factory.name);
  return names;
}

constexpr Field kEngineFields[] = {
    fields::count<&ServedEngine::spec, &EngineSpec::max_sequences>("max_sequences", 1, 1e6, "Requests that run at once.")
        .or_else("256"),
    fields::count<&ServedEngine::spec, &EngineSpec::token_budget>("token_budget", 1, 1e6, "Tokens of a step.")
        .or_else("8192"),
    fields::count<&ServedEngine::spec, &EngineSpec::long_prefill>("long_prefill_tokens", 0, 1e6,
                                                                  "Greatest chunk of one prompt; 0: the budget.")
        .or_else("0"),
    fields::count<&ServedEngine::spec, &EngineSpec::block_tokens>("block_tokens", 1, 65536, "Tokens of a KV block.")
        .or_else("16"),
    fields::count<&ServedEngine::spec, &EngineSpec::blocks>("blocks", 1, 4e9, "KV blocks of an engine.")
        .or_else("from the GPU's memory"),
    fields::number<&ServedEngine::memory_share>("memory_share", 0.01, 1, "Of the GPU's memory that the engine takes.")
        .or_else("0.9"),
    fields::number<&ServedEngine::reserved_gb>("reserved_gb", 0, 1e6, "Of this, for activations and the framework.")
        .or_else("2"),
    fields::flag<&ServedEngine::spec, &EngineSpec::prefix_caching>("prefix_caching",
                                                                   "Blocks with the same content are shared.")
        .or_else("true"),
    fields::word<kPreemptions, &ServedEngine::spec, &EngineSpec::preemption>("preemption",
                                                                             "What becomes of the KV of a "
                                                                             "preempted request.")
        .or_else("`\"recompute\"`"),
    fields::rate<&ServedEngine::swap_rate>("swap_gb_per_s", "From an engine to its host and back.")
        .only_if("preemption=swap")
        .or_else("of a pool with `offload` that says it"),
    fields::word<kAdmissions, &ServedEngine::spec, &EngineSpec::admission>("admission",
                                                                           "For what blocks must be free before a "
                                                                           "request begins.")
        .or_else("`\"first_chunk\"`"),
    fields::word<kOrders, &ServedEngine::spec, &EngineSpec::order>("order", "Which waiting request is next.")
        .or_else("`\"arrival\"`"),
    fields::count<&ServedEngine::spec, &EngineSpec::slice_tokens>(
        "slice_tokens", 1, 1e6,
        "After so many tokens a request gives way to one that waits, and goes to the end of the queue.")
        .or_else("none gives way"),
    fields::flag<&ServedEngine::spec, &EngineSpec::intake, &IntakeRules::ahead>(
        "decide_ahead",
        "A step is decided when the one before it begins (overlap, asynchronous scheduling): who comes meanwhile waits for "
        "the one after it.")
        .or_else("false"),
    fields::count<&ServedEngine::spec, &EngineSpec::intake, &IntakeRules::poll_steps>(
        "poll_steps", 1, 1e6,
        "New requests are looked for after so many steps of decodes, and after each with prompts (SGLang's "
        "`scheduler-recv-interval`).")
        .or_else("1"),
    fields::count<&ServedEngine::spec, &EngineSpec::intake, &IntakeRules::wait_steps>(
        "wait_steps", 0, 1e6,
        "Beside decodes, requests are held back for so many steps (TensorRT-LLM's `batch_wait_timeout_iters`).")
        .or_else("0"),
    fields::count<&ServedEngine::spec, &EngineSpec::intake, &IntakeRules::wait_tokens>(
        "wait_tokens", 1, 1e6, "Of a step, with which they are not held back.")
        .or_else("`token_budget`"),
    fields::flag<&ServedEngine::spec, &EngineSpec::intake, &IntakeRules::prompts_alone>(
        "prompts_alone", "Steps with prompts have no decodes (SGLang).")
        .or_else("false"),
    fields::part<kSpeculation, &ServedEngine::spec, &EngineSpec::speculation>("speculation", "Drafts that a step verifies.")
        .or_else("none"),
    fields::own(
        "scheduler", fields::text_shape(scheduler_words),
        [](const Reading& at) {
          const SchedulerRegistry* const known = context_of<ServingContext>(at).schedulers;
          if (known == nullptr) at.value.fail("is of engines that serve requests", "remove it");
          into<ServedEngine>(at).spec.policy = at.value.lookup([&](const std::string& word) { return known->make(word); });
        },
        "Decides the steps, in place of vLLM's rules: a name of `photonrail list schedulers`.")
        .or_else("vLLM's rules"),
};

}  // namespace

constexpr fields::Section kServedEngineSection{kEngineFields};

}  // namespace photonrail::config
