// The "workload/training" section: a model and its parallelism.
#include "config/scenario_operators.hpp"
#include "config/scenario_parts.hpp"
#include "photonrail/training.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "workload/training/memory.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace photonrail::config {

namespace {

constexpr std::uint32_t kMaxDegree = 1'000'000;

ParallelismSpec read_parallelism(JsonReader section) {
  ParallelismSpec spec;
  const auto read = [&](std::string_view key, std::uint32_t& into) {
    if (const auto v = section.optional(key)) into = v->count(1, kMaxDegree);
  };
  read("tp", spec.tp);
  read("cp", spec.cp);
  read("pp", spec.pp);
  read("dp", spec.dp);
  read("ep", spec.ep);
  read("etp", spec.etp);
  read("virtual_stages", spec.virtual_stages);
  read("dp_replicate", spec.dp_replicate);
  if (const auto v = section.optional("fsdp")) spec.fsdp = v->boolean();
  if (const auto v = section.optional("zero1")) spec.zero1 = v->boolean();
  section.finish();
  return spec;
}

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

PipelineSchedule read_schedule(const JsonReader& value) {
  const std::string word = value.string();
  std::vector<std::string> known;
  for (const PipelineScheduleInfo& info : pipeline_schedules()) {
    if (info.name == word) return info.schedule;
    known.emplace_back(info.name);
  }
  value.fail("unknown value \"" + word + "\"", suggest(word, known));
}

void read_fsdp(JsonReader section, TrainingSpec& spec) {
  if (!spec.parallelism.fsdp) section.fail("parameters are not sharded", "set \"parallelism/fsdp\" to true, or remove it");
  if (const auto v = section.optional("reshard_after_forward")) spec.reshard_after_forward = v->boolean();
  if (const auto v = section.optional("prefetch")) spec.prefetch = v->count(0, 1'000);
  section.finish();
}

void read_gradients(JsonReader section, TrainingSpec& spec) {
  if (const auto v = section.optional("every_micro_batch")) {
    if (!spec.parallelism.fsdp) v->fail("only fsdp may reduce after every micro-batch", "remove it");
    spec.reduce_every_micro_batch = v->boolean();
  }
  if (const auto v = section.optional("overlap")) spec.overlap_gradients = v->boolean();
  if (const auto v = section.optional("overlap_parameters")) spec.overlap_parameters = v->boolean();
  if (const auto v = section.optional("bucket_mb")) spec.bucket = {static_cast<std::int64_t>(v->number(0.0, 1e9) * 1e6)};
  if (const auto v = section.optional("clip")) spec.clip_gradients = v->boolean();
  section.finish();
}

void read_precisions(JsonReader section, TrainingSpec& spec) {
  if (const auto p = section.optional("parameters")) spec.parameter_bytes = read_precision(*p);
  if (const auto g = section.optional("gradients")) spec.gradient_bytes = read_precision(*g);
  section.finish();
}

void read_experts(JsonReader section, const std::filesystem::path& directory, TrainingSpec& spec) {
  MoeSpec traffic;
  traffic.dispatch_bytes = traffic.combine_bytes = spec.parameter_bytes;
  read_moe(section, directory, traffic);
  section.finish();
  spec.moe = std::move(traffic);
}

void read_options(JsonReader& section, const std::filesystem::path& directory, TrainingSpec& spec) {
  if (const auto v = section.optional("schedule")) spec.schedule = read_schedule(*v);
  if (const auto v = section.optional("recompute")) {
    using enum Recompute;
    spec.recompute = v->choice<Recompute>({{"none", kNone}, {"selective", kSelective}, {"full", kFull}});
  }
  const auto flag = [&](std::string_view key, bool& into) {
    if (const auto v = section.optional(key)) into = v->boolean();
  };
  flag("sequence_parallel", spec.sequence_parallel);
  flag("scatter_messages", spec.scatter_messages);
  flag("causal", spec.causal);
  flag("ends_count_as_layers", spec.ends_count_as_layers);
  flag("average_loss", spec.average_loss);
  if (const auto v = section.optional("stage_layers")) {
    for (const JsonReader& layers : v->elements()) spec.stage_layers.push_back(layers.count(0, kMaxDegree));
  }
  if (const auto v = section.optional("precision")) read_precisions(*v, spec);
  if (const auto v = section.optional("moe")) read_experts(*v, directory, spec);
  if (const auto v = section.optional("fsdp")) read_fsdp(*v, spec);
  if (const auto v = section.optional("gradients")) read_gradients(*v, spec);
  if (const auto v = section.optional("overlap")) read_overlap(*v, spec);
  if (const auto v = section.optional("dispatch")) {
    enum class Dispatch : std::uint8_t { kExpert, kRank, kHybridEp };
    using enum Dispatch;
    const auto way =
        v->choice<Dispatch>({{"copy_per_expert", kExpert}, {"copy_per_rank", kRank}, {"hybrid_ep", kHybridEp}});
    spec.one_copy_per_rank = way != kExpert;
    spec.gathers_routing = way == kHybridEp;
  }
}

std::uint64_t rank_count(const ParallelismSpec& p) {
  std::uint64_t ranks = 1;
  for (const std::uint32_t size : {p.tp, p.cp, p.pp, p.dp}) {
    ranks = std::min<std::uint64_t>(ranks, std::numeric_limits<std::uint32_t>::max()) * size;
  }
  return ranks;
}

}  // namespace

TrainingSpec read_training_spec(JsonReader section, const std::filesystem::path& directory, const Placement& placement,
                                const ClusterSpec& cluster) {
  TrainingSpec spec;
  spec.model = read_model_section(section.child("model", "the name of a preset or an object"), directory);
  spec.parallelism = read_parallelism(section.child("parallelism"));
  spec.sequence = section.child("sequence").count(1, 100'000'000);
  spec.global_batch = section.child("global_batch").count(1, 100'000'000);
  if (const auto v = section.optional("micro_batch")) spec.micro_batch = v->count(1, 100'000'000);
  read_options(section, directory, spec);
  if (const auto v = section.optional("operators")) read_operators(*v, directory, cluster, placement, spec);
  section.finish();
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

// By pipeline stage: the state of the optimizer, of which ranks that have the same save equal parts. Where it is not
// sharded, experts have fewer copies than the rest: their part is not known.
std::vector<double> saved_state(const TrainingSpec& spec, const std::vector<StageMemory>& memory) {
  const ParallelismSpec& p = spec.parallelism;
  const std::uint32_t copies = p.fsdp ? p.dp_replicate : p.zero1 ? 1 : p.cp * p.dp;
  std::vector<double> state;
  if (copies > 1 && spec.model.moe && p.ep > 1) return state;
  for (const StageMemory& stage : memory) state.push_back(stage.optimizer / copies);
  return state;
}

}  // namespace

Workload read_training(const JsonReader& section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                       const Placement& placement) {
  const TrainingSpec spec = read_training_spec(section, directory, placement, cluster);
  // Before a graph of that size is built.
  check_fit(section.pointer() + "/parallelism", rank_count(spec.parallelism), cluster);
  return in_section(section, training_keys(), [&]() -> Workload {
    TrainingStep step = make_training_step(spec);
    std::vector<StageMemory> memory = workload::memory_of_stages(spec);
    std::vector<double> state = saved_state(spec, memory);
    return {std::move(step.graph), true, std::move(memory), std::move(step.work), std::move(state)};
  });
}

}  // namespace photonrail::config
