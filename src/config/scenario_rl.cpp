// "rl": a reinforcement learning job, from prompts to the refit.
#include "config/refit_words.hpp"
#include "config/scenario_operators.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "config/serving_times.hpp"
#include "rl/spec.hpp"
#include "run/rl_workload.hpp"

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Word;
using namespace rl;

constexpr Word<LengthSpec::Kind> kLengthKinds[] = {{"constant", LengthSpec::Kind::kConstant},
                                                   {"uniform", LengthSpec::Kind::kUniform},
                                                   {"log_normal", LengthSpec::Kind::kLogNormal}};
constexpr Field kResponseLengthFields[] = {
    fields::word<kLengthKinds, &LengthSpec::kind>("distribution", "The law.").or_else("`\"log_normal\"`"),
    fields::number<&LengthSpec::mean>("mean", 1.0, 0x1p24, "Tokens, after the cut.").must(),
    fields::number<&LengthSpec::sigma>("sigma", 0.0, 3.0, "Deviation of the logarithm, before the cut.")
        .refuse_unless("!distribution=constant|uniform", "only log_normal has a sigma")
        .or_else("0.6"),
    fields::count<&LengthSpec::most>("most", 0, 0x1p24, "Tokens at which a response is cut; 0: what an engine's KV holds.")
        .or_else("0"),
};
constexpr Section kResponseLengths{kResponseLengthFields};

constexpr Field kPromptFields[] = {
    fields::count<&PromptSpec::count>("count", 1, 1'000'000, "Prompts of a step.").must(),
    fields::count<&PromptSpec::responses>("responses", 1, 100'000, "To each prompt.").must(),
    fields::count<&PromptSpec::tokens>("tokens", 1, 0x1p24, "Of a prompt.").or_else("100"),
    fields::part<kResponseLengths, &PromptSpec::lengths>("lengths", "Of responses.").must(),
};
constexpr Section kPrompts{kPromptFields};

constexpr Field kEngineFailureFields[] = {
    fields::count<&EngineFailure::engine>("engine", 0, 0x1p20, "Its number, from 0.").must(),
    fields::time<&EngineFailure::at>("at", "s", "When it stops.").must(),
    fields::time<&EngineFailure::lasts>("lasts", "s", "Until it is there again, with weights.").or_else("for good"),
};
constexpr Section kEngineFailure{kEngineFailureFields};

void store_batching(const Reading& at) {
  auto& generation = into<GenerationSpec>(at);
  ServedEngine engine;
  fields::read(at.value, kServedEngineSection, &engine, at.context);
  if (engine.spec.preemption == serving::Preemption::kSwap && engine.swap_rate.bytes_per_second <= 0.0)
    at.value.fail("swaps KV at a rate that is not known", "give \"swap_gb_per_s\"");
  generation.batching = engine.spec;
  generation.memory_share = engine.memory_share;
  generation.reserved = engine.reserved_gb * 1e9;
  generation.swap_rate = engine.swap_rate;
}

constexpr Word<double> kBytesOf[] = {{"fp4", 0.5}, {"fp8", 1.0}, {"bf16", 2.0}, {"fp32", 4.0}};
constexpr Word<bool> kMessagesInside[] = {{"timed", false}, {"flows", true}};
constexpr Field kGenerationFields[] = {
    fields::count<&GenerationSpec::engines>("engines", 1, 0x1p20, "How many.").must(),
    fields::part<kWeightLayoutSection, &GenerationSpec::engine>(
        "engine", "Ranks of one: `ranks` = `tp` x `pp`. Experts are divided in either way; a step takes as long.")
        .must(),
    fields::own("batching", fields::object_shape(kServedEngineSection), store_batching,
                "How an engine batches, as `workload/serving/engine`."),
    fields::word<kBytesOf, &GenerationSpec::weight_bytes>("precision", "Of weights.")
        .by("weight_bytes")
        .or_else("`\"bf16\"`"),
    fields::word<kBytesOf, &GenerationSpec::kv_element_bytes>("kv_precision", "Of KV.")
        .by("kv_element_bytes")
        .or_else("`\"bf16\"`"),
    fields::known("times", fields::object_shape(kServingTimesSection),
                  "How long a step takes, as `workload/serving/times`.")
        .or_else("the GPU's roofline"),
    fields::count<&GenerationSpec::longest_run>("longest_run", 1, 1'000'000,
                                                "Asynchronous: decode steps after which an engine takes what has come.")
        .or_else("64"),
    fields::word<kMessagesInside, &GenerationSpec::flows>(
        "collectives", "Messages inside an engine: in the times, or traffic behind each run of steps.")
        .by("flows")
        .or_else("`\"timed\"`"),
    fields::parts<kEngineFailure, &GenerationSpec::failures>(
        "failures", "Engines that stop: other ones make their responses again from the beginning.")
        .or_else("none"),
};
constexpr Section kGeneration{kGenerationFields};

constexpr Field kPhaseFields[] = {
    fields::part<kParallelismSection, &TrainingPhase::step, &TrainingSpec::parallelism>("parallelism",
                                                                                        "The sizes of the dimensions.")
        .by("step.parallelism")
        .must(),
    fields::include<kTrainingOptionsSection, &TrainingPhase::step>("step"),
    fields::own(
        "operators", fields::object_shape(kOperatorsSection),
        [](const Reading& at) {
          const auto& context = context_of<ServingContext>(at);
          read_operators(at.value, context.directory, context.cluster, Placement{}, into<TrainingPhase>(at).step);
        },
        "Operators one by one, each with a time.")
        .by("step.operators")
        .or_else("the GPU's roofline times whole parts of a layer"),
    fields::flag<&TrainingPhase::packed>(
        "packing", "Micro-batches are filled with responses; else each has one, padded to the longest.")
        .by("packed")
        .or_else("true"),
    fields::count<&TrainingPhase::micro_batch_tokens>("micro_batch_tokens", 1, 0x1p24,
                                                      "With `packing`: that a micro-batch holds at most.")
        .refuse_unless("!packing=false", "without packing a micro-batch has one response")
        .or_else("the longest response of the batch and its prompt"),
    fields::count<&TrainingPhase::passes>(
        "passes", 0, 100, "Forward passes before training: log-probabilities of the policy, of a reference.")
        .or_else("2"),
    fields::flag<&TrainingPhase::critic>("critic",
                                         "A second model of this size values the responses in a pass of its own, and is "
                                         "trained.")
        .or_else("false"),
    fields::count<&TrainingPhase::mini_batches>("mini_batches", 1, 1'000'000,
                                                "Optimizer steps, a divisor of the responses.")
        .or_else("1"),
};
constexpr Section kPhase{kPhaseFields};

constexpr Field kRewardFields[] = {
    fields::time<&RewardSpec::response>("response", "ms", "Of a response.").or_else("0"),
    fields::count<&RewardSpec::workers>("workers", 0, 1'000'000, "That score at once; 0: any number.").or_else("0"),
};
constexpr Section kRewards{kRewardFields};

constexpr Word<CacheKind> kCaches[] = {{"none", CacheKind::kNone}, {"prefix_tree", CacheKind::kPrefixTree}};
constexpr Word<InFlight> kInFlight[] = {{"wait", InFlight::kWait}, {"run_twice", InFlight::kRunTwice}};
constexpr fields::Shape kProbability = fields::positive_shape(1.0);
constexpr Field kToolFields[] = {
    fields::number<&ToolSpec::calls>("calls", 0.0, 1000.0, "Mean of a response; their number is geometric.").or_else("3"),
    fields::own_time(
        "call", "s", fields::kTimeUnits, kDelayShape,
        [](const Reading& at) { into<ToolSpec>(at).call = read_delay(at.value, at.picoseconds, folder_of(at)); },
        "What a call runs; the same call after the same history always as long.")
        .must(),
    fields::own(
        "choices", fields::list_shape(kProbability),
        [](const Reading& at) {
          auto& choices = into<ToolSpec>(at).choices;
          choices.clear();
          for (const JsonReader& p : at.value.elements()) choices.push_back(number_of(p, kProbability));
        },
        "Probabilities of the calls that a response may make next.")
        .or_else("one call"),
    fields::count<&ToolSpec::result_tokens>("result_tokens", 0, 0x1p24, "That a result adds to the context.").or_else("0"),
    fields::word<kCaches, &ToolSpec::cache>("cache", "Who answers what was asked before.").or_else("`\"none\"`"),
    fields::count<&ToolSpec::tree, &PrefixTreeOptions::budget>("budget", 1, 1'000'000,
                                                               "Sandboxes that a task's tree keeps.")
        .by("tree.budget")
        .or_else("50"),
    fields::own_time(
        "time_to_live", "s", fields::kTimeUnits, fields::time_shape(),
        [](const Reading& at) { into<ToolSpec>(at).tree.seconds_to_live = to_seconds(fields::duration_of(at)); },
        "Of what the tree knows, since it was made.")
        .or_else("for good"),
    fields::word<kInFlight, &ToolSpec::in_flight>("in_flight", "A call that another response of the task has running.")
        .or_else("`\"wait\"`"),
    fields::time<&ToolSpec::build>("build", "ms", "Of a sandbox.").or_else("0"),
    fields::time<&ToolSpec::fork>("fork", "ms", "Of a copy of one that is kept.").or_else("0"),
    fields::flag<&ToolSpec::forks_ahead>("forks_ahead", "Copies are made before they are asked for.").or_else("false"),
    fields::count<&ToolSpec::sandboxes>("sandboxes", 0, 1'000'000, "That run at once; 0: any number.").or_else("0"),
    fields::count<&ToolSpec::servers>("servers", 1, 1'000'000, "Of the cache, each with its tasks.").or_else("1"),
    fields::time<&ToolSpec::look_up>("look_up", "us", "On a server, one after another.").or_else("0"),
    fields::time<&ToolSpec::network>("network", "us", "To a server and back.").or_else("0"),
};
constexpr Section kTools{kToolFields};

constexpr Word<KvAfter> kKvAfter[] = {{"kept", KvAfter::kKept}, {"recomputed", KvAfter::kRecomputed}};
constexpr Field kRefitPhaseFields[] = {
    fields::word<kRefitWays, &RefitPhase::way>("by", "As `collective/refit/by`.").or_else("`\"ring_per_rail\"`"),
    fields::word<kBytesOf, &RefitPhase::weight_bytes>("precision", "Of a weight on the wire.")
        .by("weight_bytes")
        .or_else("`\"bf16\"`"),
    fields::own(
        "share", fields::positive_shape(1.0), [](const Reading& at) { into<RefitPhase>(at).share = number_of(at); },
        "As `collective/refit/share`.")
        .or_else("1"),
    fields::count<&RefitPhase::pieces>("pieces", 1, 1'000'000, "As `collective/refit/pieces`.").or_else("64"),
    fields::flag<&RefitPhase::overlap>(
        "overlap",
        "The weights of a pipeline stage go when it has trained, while others still train; else all when all have.")
        .or_else("false"),
    fields::word<kKvAfter, &RefitPhase::kv_after>("kv_after", "The KV of responses in flight under new weights.")
        .or_else("`\"kept\"`"),
};
constexpr Section kRefitPhase{kRefitPhaseFields};

enum class ModeName : std::uint8_t { kOnPolicy, kOneStepOff, kAsync };
constexpr Word<ModeName> kRlModes[] = {
    {"on_policy", ModeName::kOnPolicy}, {"one_step_off", ModeName::kOneStepOff}, {"async", ModeName::kAsync}};
constexpr Word<bool> kBatchOrders[] = {{"as_completed", false}, {"in_order", true}};
constexpr Word<WaitingKv> kWaitingKv[] = {
    {"stays", WaitingKv::kStays}, {"swapped", WaitingKv::kSwapped}, {"dropped", WaitingKv::kDropped}};

void store_mode(const Reading& at) {
  ModeSpec& mode = into<RlSpec>(at).mode;
  const ModeName name = fields::meaning<kRlModes>(at.value);
  mode.ahead = name == ModeName::kOnPolicy ? 0.0 : 1.0;
  mode.partial = name == ModeName::kAsync;
}

constexpr Field kRlFields[] = {
    fields::own(
        "model", fields::text_shape(model_words, true),
        [](const Reading& at) {
          if (!at.value.is_string()) at.value.fail("a model is named here", "the name of a preset, or the path of a model");
          into<RlSpec>(at).model = read_model_section(at.value, folder_of(at));
        },
        "A name of `photonrail list models`, or the path of a model.")
        .must("the name of a preset"),
    fields::part<kPrompts, &RlSpec::prompts>("prompts", "What is asked.").must(),
    fields::own(
        "mode", fields::text_shape(fields::words_of<kRlModes>), store_mode,
        "Generation and training take turns; or a batch is generated while the one before is trained; or both go on "
        "all the time, with new weights for responses in flight.")
        .or_else("`\"on_policy\"`"),
    fields::number<&RlSpec::mode, &ModeSpec::ahead>(
        "ahead", 0.0, 1000.0, "Batches that may be begun beyond what the engines' weights are due for.")
        .by("mode.ahead")
        .refuse_unless("mode=async", "only async has a choice")
        .or_else("1"),
    fields::word<kBatchOrders, &RlSpec::mode, &ModeSpec::in_order>(
        "batches", "A training step takes the responses that are complete first, or those that were begun first (NeMo RL).")
        .by("mode.in_order")
        .refuse_unless("mode=async", "else a batch is complete before the next is begun")
        .or_else("`\"as_completed\"`"),
    fields::count<&RlSpec::mode, &ModeSpec::oldest>("oldest", 0, 1'000'000, "Versions; older samples are made again.")
        .by("mode.oldest")
        .or_else("1000"),
    fields::flag<&RlSpec::mode, &ModeSpec::shared>("colocated",
                                                   "Engines are on the training ranks, else on the ranks behind them.")
        .by("mode.shared")
        .or_else("false"),
    fields::count<&RlSpec::mode, &ModeSpec::steps>("steps", 1, 1'000'000, "Training steps.").by("mode.steps").or_else("3"),
    fields::part<kGeneration, &RlSpec::generation>("generation", "The engines.").must(),
    fields::part<kPhase, &RlSpec::training>("training", "Ranks that train, from rank 0.").must(),
    fields::part<kRewards, &RlSpec::rewards>("rewards", "How responses are scored."),
    fields::part<kTools, &RlSpec::tools>("tools", "Calls that responses make.").or_else("none"),
    fields::word<kWaitingKv, &RlSpec::waiting_kv>(
        "waiting_kv",
        "KV of a response that waits for a tool: held; on the host or a peer until the answer; or free for others, and "
        "what they took is computed again.")
        .or_else("`\"stays\"`"),
    fields::rate<&RlSpec::swap_rate>("swap_gb_per_s", "From an engine, all its ranks together, and back.")
        .refuse_unless("waiting_kv=swapped", "only swapped KV moves")
        .or_else("25"),
    fields::part<kRefitPhase, &RlSpec::refit>("refit", "How new weights reach the engines."),
    fields::flag<&RlSpec::offload, &OffloadSpec::training_state>(
        "offload", "With `colocated`: parameters and optimizer of training go to the host for generation, and back.")
        .by("offload.training_state")
        .refuse_unless("colocated=true", "engines have GPUs of their own")
        .or_else("false"),
    fields::number<&RlSpec::offload, &OffloadSpec::bytes>("offload_bytes", 0.0, 1e15,
                                                          "With `colocated`: what a GPU moves beside that, each way.")
        .by("offload.bytes")
        .or_else("0"),
    fields::rate<&RlSpec::offload, &OffloadSpec::rate>("offload_gb_per_s", "Each way.").by("offload.rate").or_else("25"),
    fields::count<&RlSpec::offload, &OffloadSpec::gpus_per_link>("offload_gpus_per_link", 1, 1024,
                                                                 "Neighbouring GPUs that share one link to their host.")
        .by("offload.gpus_per_link")
        .refuse_unless("colocated=true", "engines have GPUs of their own")
        .or_else("1"),
    fields::time<&RlSpec::other>("other", "s", "Of each step: data, scheduling.").or_else("0"),
};

constexpr Alias kRlAliases[] = {{"mode.batch", "prompts"},
                                {"training.step.model.*", "model"},
                                {"training.step.sequence", "training/micro_batch_tokens"},
                                {"training.step.micro_batch", "training/micro_batch_tokens"},
                                {"training.step.global_batch", "prompts"},
                                {"training.step.pipeline.stages", "training/parallelism/pp"},
                                {"training.step.pipeline.chunks", "training/parallelism/virtual_stages"},
                                {"training.step.pipeline.micro_batches", "prompts"},
                                {"training.step.pipeline.paired", "training/overlap/experts"},
                                {"refit.training.ranks", "training/parallelism"},
                                {"refit.training.*", "training/parallelism/*"},
                                {"refit.engine.*", "generation/engine/*"},
                                {"refit.engines", "generation/engines"},
                                {"refit.units", "model"}};

}  // namespace

constexpr Section kRlSection{kRlFields, nullptr, kRlAliases};

namespace {

RlSpec read_rl_spec(const JsonReader& section, const std::filesystem::path& directory, const ClusterSpec& cluster) {
  RlSpec spec;
  const ServingContext context(directory, cluster);
  fields::read(section, kRlSection, &spec, &context);
  spec.mode.batch = spec.prompts.count * spec.prompts.responses;
  if (cluster.gpu.memory_gb <= 0.0) section.fail("the memory of the GPU is not known", "give /cluster/gpu/memory_gb");
  spec.memory = cluster.gpu.memory_gb * 1e9;
  spec.training.step.model = spec.model;
  JsonReader reader = section;
  JsonReader generation = reader.child("generation");
  spec.generation.times = step_times(generation.optional("times"), served_model(spec), spec.generation.batching,
                                     spec.generation.flows, context);
  return spec;
}

}  // namespace

Workload read_rl(const JsonReader& section, const std::filesystem::path& directory, const ClusterSpec& cluster) {
  const RlSpec spec = read_rl_spec(section, directory, cluster);
  check_fit(section.pointer(), spec.ranks(), cluster);
  return in_section(section, kRlSection, [&]() -> Workload {
    Workload read;
    const auto workload = std::make_shared<const run::RlWorkload>(spec);
    read.graph = workload->graph();
    read.decided = workload;
    const double most = spec.prompts.tokens + spec.prompts.lengths.mean;
    const double held = kv_tokens(spec) / most;
    const double wanted = static_cast<double>(spec.mode.batch) / spec.generation.engines;
    if (wanted > held) {
      read.graph.warn(section.pointer() + "/generation: an engine has KV for " + std::to_string(static_cast<int>(held)) +
                      " responses of mean length, and gets " + std::to_string(static_cast<int>(wanted)) +
                      " of a step: some wait, or are preempted and computed again");
    }
    return read;
  });
}

}  // namespace photonrail::config
