// The "workload/training" section: a model and its parallelism.
#include "config/scenario_parts.hpp"
#include "photonrail/training.hpp"

#include <algorithm>

namespace photonrail::config {

namespace {

ModelSpec read_model(JsonReader model) {
  if (model.is_string()) return model.lookup(model_preset);
  ModelSpec spec;
  const auto preset = model.optional("preset");
  if (preset) spec = preset->lookup(model_preset);
  const auto read = [&](std::string_view key, std::uint32_t& into, std::uint32_t greatest) {
    if (preset && !model.optional(key)) return;
    into = model.child(key, "a model without a \"preset\" needs it").count(1, greatest);
  };
  read("layers", spec.layers, 10'000);
  read("hidden", spec.hidden, 1'000'000);
  read("ffn", spec.ffn, 10'000'000);
  read("heads", spec.heads, 100'000);
  read("kv_heads", spec.kv_heads, 100'000);
  read("vocabulary", spec.vocabulary, 100'000'000);
  model.finish();
  return spec;
}

ParallelismSpec read_parallelism(JsonReader section) {
  ParallelismSpec spec;
  const auto read = [&](std::string_view key, std::uint32_t& into) {
    if (const auto v = section.optional(key)) into = v->count(1, 1'000'000);
  };
  read("tp", spec.tp);
  read("pp", spec.pp);
  read("dp", spec.dp);
  read("virtual_stages", spec.virtual_stages);
  for (const char* key : {"cp", "ep"}) {
    const auto v = section.optional(key);
    if (v && v->count(1, 1'000'000) != 1) {
      v->fail(std::string(key) + " is not simulated yet for generated jobs",
              "set it to 1; a Chakra trace may contain such groups");
    }
  }
  if (const auto v = section.optional("fsdp")) spec.fsdp = v->boolean();
  section.finish();
  return spec;
}

PipelineSchedule read_schedule(const JsonReader& value) {
  const std::string word = value.string();
  std::vector<std::string> known;
  for (const PipelineScheduleInfo& info : pipeline_schedules()) {
    if (info.name == word) return info.schedule;
    known.emplace_back(info.name);
  }
  value.fail("unknown schedule \"" + word + "\"", suggest(word, known));
}

std::uint32_t read_precision(const JsonReader& value) {
  return value.choice<std::uint32_t>({{"fp8", 1}, {"bf16", 2}, {"fp16", 2}, {"fp32", 4}});
}

// The generator numbers ranks in the order of the placement. Dimensions that are left out have size 1.
std::vector<std::string> training_order(const Placement& placement, const ParallelismSpec& parallelism) {
  if (!placement.sizes.empty()) {
    throw ConfigError(placement.pointer + "/sizes", "a training workload has its sizes in /workload/training/parallelism",
                      "remove \"sizes\" and \"rank_order\"");
  }
  std::vector<std::string> order = placement.order;
  const std::vector<std::pair<std::string, std::uint32_t>> sizes{
      {"tp", parallelism.tp}, {"dp", parallelism.dp}, {"pp", parallelism.pp}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != "tp" && order[i] != "dp" && order[i] != "pp") {
      throw ConfigError(placement.pointer + "/order/" + std::to_string(i), "unknown dimension \"" + order[i] + "\"",
                        suggest(order[i], {"tp", "dp", "pp"}));
    }
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

}  // namespace

TrainingSpec read_training_spec(JsonReader section, const Placement& placement) {
  TrainingSpec spec;
  spec.model = read_model(section.child("model", "the name of a preset or an object"));
  spec.parallelism = read_parallelism(section.child("parallelism"));
  spec.sequence = section.child("sequence").count(1, 100'000'000);
  spec.global_batch = section.child("global_batch").count(1, 100'000'000);
  if (const auto v = section.optional("micro_batch")) spec.micro_batch = v->count(1, 100'000'000);
  if (const auto v = section.optional("schedule")) spec.schedule = read_schedule(*v);
  if (const auto v = section.optional("recompute")) {
    spec.recompute = v->choice<Recompute>({{"none", Recompute::kNone}, {"full", Recompute::kFull}});
  }
  if (const auto v = section.optional("sequence_parallel")) spec.sequence_parallel = v->boolean();
  if (auto v = section.optional("precision")) {
    if (const auto p = v->optional("parameters")) spec.parameter_bytes = read_precision(*p);
    if (const auto g = v->optional("gradients")) spec.gradient_bytes = read_precision(*g);
    v->finish();
  }
  section.finish();
  spec.order = training_order(placement, spec.parallelism);
  return spec;
}

TaskGraph read_training(const JsonReader& section, const ClusterSpec& cluster, const Placement& placement) {
  const TrainingSpec spec = read_training_spec(section, placement);
  const std::uint64_t ranks = std::uint64_t{spec.parallelism.tp} * spec.parallelism.pp * spec.parallelism.dp;
  check_fit(section.pointer() + "/parallelism", ranks, cluster);  // before a graph of that size is built
  try {
    return make_training_graph(spec);
  } catch (const ConfigError& e) {
    throw below(section.pointer(), e);
  }
}

}  // namespace photonrail::config
