// The "workload/training" section: a model and its parallelism.
#include "config/scenario_operators.hpp"
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "photonrail/training.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "workload/training/memory.hpp"
#include "workload/training/rank_grid.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;

constexpr std::uint32_t kMaxDegree = 1'000'000;

constexpr Field kParallelismFields[] = {
    fields::count<&ParallelismSpec::tp>("tp", 1, kMaxDegree, "Tensor parallel.").or_else("1"),
    fields::count<&ParallelismSpec::cp>("cp", 1, kMaxDegree, "Context parallel.").or_else("1"),
    fields::count<&ParallelismSpec::pp>("pp", 1, kMaxDegree, "Pipeline stages.").or_else("1"),
    fields::count<&ParallelismSpec::dp>("dp", 1, kMaxDegree, "Data parallel.").or_else("1"),
    fields::count<&ParallelismSpec::ep>("ep", 1, kMaxDegree, "Experts over tp x cp x dp; etp x ep divides these.")
        .or_else("1"),
    fields::count<&ParallelismSpec::etp>("etp", 1, kMaxDegree,
                                         "Ranks that share the matrices of an expert, a divisor of tp.")
        .or_else("`tp`"),
    fields::count<&ParallelismSpec::virtual_stages>(
        "virtual_stages", 1, kMaxDegree,
        "Model chunks of a pipeline stage: 2 or more for `\"interleaved\"`, any number for `\"bfs\"`, else 1.")
        .or_else("1"),
    fields::count<&ParallelismSpec::dp_replicate>("dp_replicate", 1, kMaxDegree,
                                                  "With `fsdp`: replicas of the sharded model, a divisor of dp.")
        .or_else("1"),
    fields::flag<&ParallelismSpec::fsdp>("fsdp", "Shard parameters over cp x dp.").or_else("false"),
    fields::flag<&ParallelismSpec::zero1>("zero1", "Shard the optimizer over cp x dp.").or_else("false"),
};

// The generator numbers ranks in the order of the placement. Dimensions that are left out have size 1.
std::vector<std::string> training_order(const Placement& placement, const ParallelismSpec& parallelism) {
  if (!placement.sizes.empty()) {
    throw ConfigError(placement.pointer + "/sizes", "a training workload has its sizes in /workload/training/parallelism",
                      "remove \"sizes\" and \"rank_order\"");
  }
  std::vector<std::string> order = placement.order;
  const std::vector<std::pair<std::string, std::uint32_t>> sizes{
      {"tp", parallelism.tp}, {"cp", parallelism.cp}, {"dp", parallelism.dp}, {"pp", parallelism.pp}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string at = placement.pointer + "/order/" + std::to_string(i);
    if (order[i] == "ep" || order[i] == "etp") {
      throw ConfigError(at, "\"" + order[i] + "\" has no place of its own: experts are laid over tp, cp and dp",
                        "remove it");
    }
    if (std::any_of(sizes.begin(), sizes.end(), [&](const auto& known) { return known.first == order[i]; })) continue;
    throw ConfigError(at, "unknown dimension \"" + order[i] + "\"", suggest(order[i], {"tp", "cp", "dp", "pp"}));
  }
  for (const auto& [dimension, size] : sizes) {
    if (std::find(order.begin(), order.end(), dimension) != order.end()) continue;
    if (size > 1 && !placement.order.empty()) {
      throw ConfigError(placement.pointer + "/order",
                        "\"" + dimension + "\" has size " + std::to_string(size) + " and is not named",
                        "name every dimension, innermost first");
    }
    order.push_back(dimension);
  }
  return order;
}

/// The values that lines of the table take from the caller.
struct TrainingContext : FileContext {
  TrainingContext(const std::filesystem::path& folder, const Placement& of_ranks, const ClusterSpec& of_job)
      : FileContext(folder), placement(of_ranks), cluster(of_job) {}
  const Placement& placement;
  const ClusterSpec& cluster;
};

std::vector<std::string> schedule_words(const Registries& /*known*/) {
  std::vector<std::string> words;
  for (const PipelineScheduleInfo& info : pipeline_schedules()) words.emplace_back(info.name);
  return words;
}

PipelineSchedule read_schedule(const JsonReader& value) {
  const std::string word = value.string();
  std::vector<std::string> known;
  for (const PipelineScheduleInfo& info : pipeline_schedules()) {
    if (info.name == word) return info.schedule;
    known.emplace_back(info.name);
  }
  value.fail("unknown value \"" + word + "\"", suggest(word, known));
}

constexpr Field kFsdpFields[] = {
    fields::flag<&TrainingSpec::reshard_after_forward>("reshard_after_forward", "Gathered again for the backward pass.")
        .or_else("true"),
    fields::count<&TrainingSpec::prefetch>("prefetch", 0, 1'000, "Units that are gathered ahead of the one in use.")
        .or_else("1"),
};
constexpr Section kFsdp{kFsdpFields};

constexpr Field kGradientFields[] = {
    fields::own(
        "every_micro_batch", fields::flag_shape(),
        [](const Reading& at) {
          auto& spec = into<TrainingSpec>(at);
          if (!spec.parallelism.fsdp) at.value.fail("only fsdp may reduce after every micro-batch", "remove it");
          spec.reduce_every_micro_batch = at.value.boolean();
        },
        "With `fsdp`: reduced after each backward pass, else after the last.")
        .by("reduce_every_micro_batch")
        .or_else("true"),
    fields::flag<&TrainingSpec::overlap_gradients>("overlap", "Reduced beside the backward pass, else after it.")
        .by("overlap_gradients")
        .or_else("true"),
    fields::flag<&TrainingSpec::overlap_parameters>("overlap_parameters",
                                                    "With `zero1`: parameters are gathered before their first use, "
                                                    "else after the optimizer.")
        .or_else("false"),
    fields::own(
        "bucket_mb", fields::number_shape(0.0, 1e9),
        [](const Reading& at) { into<TrainingSpec>(at).bucket = {static_cast<std::int64_t>(number_of(at) * 1e6)}; },
        "Without `fsdp`: reduced in buckets of this many 10^6 bytes; 0: layer by layer.")
        .by("bucket")
        .or_else("0"),
    fields::flag<&TrainingSpec::clip_gradients>("clip", "All-reduce the norm of the gradients before the optimizer.")
        .by("clip_gradients")
        .or_else("false"),
};
constexpr Section kGradients{kGradientFields};

template <std::uint32_t TrainingSpec::*Member>
constexpr Field precision(std::string_view key, std::string_view doc) {
  return fields::own(
      key, fields::text_shape(precision_words),
      [](const Reading& at) { into<TrainingSpec>(at).*Member = read_precision(at.value); }, doc);
}

constexpr Field kPrecisionFields[] = {
    precision<&TrainingSpec::parameter_bytes>("parameters", "Of parameters and activations.")
        .by("parameter_bytes")
        .or_else("`\"bf16\"`"),
    precision<&TrainingSpec::gradient_bytes>("gradients", "Of gradients.").by("gradient_bytes").or_else("`\"fp32\"`"),
};
constexpr Section kPrecision{kPrecisionFields};

constexpr Word<Recompute> kRecompute[] = {
    {"none", Recompute::kNone}, {"selective", Recompute::kSelective}, {"full", Recompute::kFull}};

enum class Dispatch : std::uint8_t { kExpert, kRank, kHybridEp };
constexpr Word<Dispatch> kDispatch[] = {
    {"copy_per_expert", Dispatch::kExpert}, {"copy_per_rank", Dispatch::kRank}, {"hybrid_ep", Dispatch::kHybridEp}};

void store_experts(const Reading& at) {
  auto& spec = into<TrainingSpec>(at);
  MoeSpec traffic;
  traffic.dispatch_bytes = traffic.combine_bytes = spec.parameter_bytes;
  fields::read(at.value, kMoeTrafficSection, &traffic, at.context);
  spec.moe = std::move(traffic);
}

constexpr Shape kLayers = fields::whole_shape(0, kMaxDegree);
constexpr Field kOptionFields[] = {
    fields::own(
        "schedule", fields::text_shape(schedule_words),
        [](const Reading& at) { into<TrainingSpec>(at).schedule = read_schedule(at.value); }, "Of the pipeline.")
        .or_else("`\"1f1b\"`"),
    fields::word<kRecompute, &TrainingSpec::recompute>("recompute",
                                                       "Activations: nothing, the core of attention, or every layer again.")
        .or_else("`\"none\"`"),
    fields::flag<&TrainingSpec::sequence_parallel>("sequence_parallel",
                                                   "Tp traffic as all-gather and reduce-scatter instead of all-reduce.")
        .or_else("true"),
    fields::flag<&TrainingSpec::scatter_messages>("scatter_messages",
                                                  "Pp without `sequence_parallel`: a tp rank sends a tp-th of an "
                                                  "activation, and the next stage gathers it; else each "
                                                  "sends all of it.")
        .or_else("false"),
    fields::flag<&TrainingSpec::causal>("causal", "Count half of the attention scores.").or_else("false"),
    fields::flag<&TrainingSpec::ends_count_as_layers>("ends_count_as_layers",
                                                      "The embedding and the head take the place of a layer each in the "
                                                      "split over stages.")
        .or_else("false"),
    fields::flag<&TrainingSpec::average_loss>("average_loss", "All-reduce the loss once a step.").or_else("false"),
    fields::own(
        "stage_layers", fields::list_shape(kLayers),
        [](const Reading& at) {
          for (const JsonReader& layers : at.value.elements()) {
            into<TrainingSpec>(at).stage_layers.push_back(static_cast<std::uint32_t>(whole_of(layers, kLayers)));
          }
        },
        "Layers of each virtual stage, in forward order, `pp` x `virtual_stages` of them; they add up to the "
        "model's. The embedding is on the first, predictions and the head on the last.")
        .or_else("split evenly"),
    fields::group<kPrecision>("precision", "Formats of numbers."),
    fields::own("moe", fields::object_shape(kMoeTrafficSection), store_experts,
                "How the tokens of the model's experts move.")
        .or_else("even routing"),
    fields::own(
        "fsdp", fields::object_shape(kFsdp),
        [](const Reading& at) {
          if (!into<TrainingSpec>(at).parallelism.fsdp)
            at.value.fail("parameters are not sharded", "set \"parallelism/fsdp\" to true, or remove it");
          fields::read(at.value, kFsdp, at.into, at.context);
        },
        "With `parallelism/fsdp`: how parameters are gathered.")
        .by("."),
    fields::group<kGradients>("gradients", "How gradients are reduced."),
    fields::own(
        "overlap", fields::object_shape(kOverlapSection),
        [](const Reading& at) { read_overlap(at.value, into<TrainingSpec>(at)); }, "What runs beside each other."),
    fields::own(
        "dispatch", fields::text_shape(fields::words_of<kDispatch>),
        [](const Reading& at) {
          const Dispatch way = fields::meaning<kDispatch>(at.value);
          into<TrainingSpec>(at).one_copy_per_rank = way != Dispatch::kExpert;
          into<TrainingSpec>(at).gathers_routing = way == Dispatch::kHybridEp;
        },
        "Even routing: a token is sent once to each of its experts, or once to each rank that has some of them; "
        "`\"hybrid_ep\"`: before that every rank gathers and scans which experts the tokens of the group chose.")
        .by("one_copy_per_rank")
        .or_else("`\"copy_per_expert\"`"),
};
constexpr Shape kModelName = fields::text_shape(model_words, true);
}  // namespace

constexpr Section kParallelismSection{kParallelismFields};
constexpr Section kTrainingOptionsSection{kOptionFields};

namespace {

constexpr Field kTrainingFields[] = {
    fields::own(
        "model", fields::either(fields::object_shape(kModelSection), kModelName),
        [](const Reading& at) { into<TrainingSpec>(at).model = read_model_section(at.value, folder_of(at)); },
        "A name of `photonrail list models`, the path of a model, or its dimensions.")
        .must("the name of a preset or an object"),
    fields::part<kParallelismSection, &TrainingSpec::parallelism>("parallelism", "The sizes of the dimensions.").must(),
    fields::count<&TrainingSpec::sequence>("sequence", 1, 100'000'000, "Tokens.").must(),
    fields::count<&TrainingSpec::global_batch>("global_batch", 1, 100'000'000,
                                               "Sequences in a step; a multiple of dp x `micro_batch`.")
        .must(),
    fields::count<&TrainingSpec::micro_batch>("micro_batch", 1, 100'000'000,
                                              "Sequences in a micro-batch of one data-parallel rank.")
        .or_else("1"),
    fields::include<kTrainingOptionsSection>(),
    fields::own(
        "operators", fields::object_shape(kOperatorsSection),
        [](const Reading& at) {
          const auto& context = context_of<TrainingContext>(at);
          read_operators(at.value, context.directory, context.cluster, context.placement, into<TrainingSpec>(at));
        },
        "Operators one by one, each with a time.")
        .or_else("the GPU's roofline times whole parts of a layer"),
};

constexpr Alias kTrainingAliases[] = {
    {"pipeline.stages", "parallelism/pp"},
    {"pipeline.chunks", "parallelism/virtual_stages"},
    {"pipeline.micro_batches", "global_batch"},
    {"pipeline.paired", "overlap/experts"},
    {"gathers_routing", "dispatch"},
    {"operators_of_ranks", "operators/unlike"},
    // The traffic of experts takes these from the model and the batch.
    {"moe.experts", "model/moe/experts"},
    {"moe.top_k", "model/moe/top_k"},
    {"moe.tokens", "micro_batch"},
};

std::uint64_t rank_count(const ParallelismSpec& p) {
  std::uint64_t ranks = 1;
  for (const std::uint32_t size : {p.tp, p.cp, p.pp, p.dp}) {
    ranks = std::min<std::uint64_t>(ranks, std::numeric_limits<std::uint32_t>::max()) * size;
  }
  return ranks;
}

}  // namespace

constexpr Section kTrainingSection{kTrainingFields, nullptr, kTrainingAliases};

TrainingSpec read_training_spec(JsonReader section, const std::filesystem::path& directory, const Placement& placement,
                                const ClusterSpec& cluster) {
  TrainingSpec spec;
  const TrainingContext context(directory, placement, cluster);
  fields::read(std::move(section), kTrainingSection, &spec, &context);
  spec.order = training_order(placement, spec.parallelism);
  return spec;
}

TrainingSpec read_training_spec_of_file(const Json& root, const std::filesystem::path& directory) {
  JsonReader top(root);
  const auto placed = top.optional("placement");
  JsonReader workload = top.child("workload");
  const JsonReader section = workload.child("training", "this is about training jobs only");
  const bool timed = section.has("operators");
  const auto cluster = timed ? top.optional("cluster") : std::nullopt;
  return read_training_spec(section, directory, placed ? read_placement(*placed) : Placement{},
                            cluster ? read_cluster(*cluster, directory) : ClusterSpec{});
}

namespace {

// By program, of which a stage has one for each kind of its GPUs: the state of the optimizer, of which ranks that have the
// same save equal parts. Where it is not sharded, experts have fewer copies than the rest: their part is not known.
std::vector<double> saved_state(const TrainingSpec& spec, const std::vector<StageMemory>& memory, const TaskGraph& graph) {
  const ParallelismSpec& p = spec.parallelism;
  const std::uint32_t copies = p.fsdp ? p.dp_replicate : p.zero1 ? 1 : p.cp * p.dp;
  std::vector<double> state;
  if (copies > 1 && spec.model.moe && p.ep > 1) return state;
  const workload::RankGrid grid(spec);
  for (std::uint32_t position = 0; position < grid.positions(); ++position) {
    const std::size_t program = graph.program_of(grid.rank(position)).index();
    if (state.size() <= program) state.resize(program + 1);
    state[program] = memory[grid.stage(position)].optimizer / copies;
  }
  return state;
}

}  // namespace

Workload read_training(const JsonReader& section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                       const Placement& placement) {
  const TrainingSpec spec = read_training_spec(section, directory, placement, cluster);
  // Before a graph of that size is built.
  check_fit(section.pointer() + "/parallelism", rank_count(spec.parallelism), cluster);
  return in_section(section, kTrainingSection, [&]() -> Workload {
    TrainingStep step = make_training_step(spec);
    std::vector<StageMemory> memory = workload::memory_of_stages(spec);
    std::vector<double> state = saved_state(spec, memory, step.graph);
    return {std::move(step.graph), true, std::move(memory), std::move(step.work), std::move(state)};
  });
}

}  // namespace photonrail::config
