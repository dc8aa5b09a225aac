// "operators" and "overlap" of a training job: what times its operators, and how a system runs them.
#include "config/scenario_operators.hpp"

#include "photonrail/formats/operators.hpp"
#include "photonrail/workload/training_operators.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::config {

namespace {

void read_again(const JsonReader& list, TrainingOperators& how) {
  using Again = RecomputedOperators;
  for (const JsonReader& item : list.elements()) {
    how.again.*item.choice<bool Again::*>({{"norms", &Again::norms},
                                           {"activations", &Again::activations},
                                           {"up_projections", &Again::up_projections},
                                           {"mlp", &Again::mlp},
                                           {"experts", &Again::experts}}) = true;
  }
}

void read_host(JsonReader section, TrainingOperators& how) {
  section.read_duration("kernel_launch", how.kernel_launch);
  how.operator_call = how.kernel_launch;
  section.read_duration("operator_call", how.operator_call);
  if (const auto v = section.optional("graphs")) {
    using enum CudaGraphs;
    how.graphs = v->choice<CudaGraphs>({{"none", kNone}, {"layers", kLayers}, {"step", kStep}});
  }
  if (const auto v = section.optional("waits_for_routing")) how.host_waits_for_routing = v->boolean();
  section.finish();
}

void read_attention(const JsonReader& value, TrainingOperators& how) {
  enum class Kernel : std::uint8_t { kFused, kUnfused, kDropout };
  const Kernel kernel = value.choice<Kernel>(
      {{"fused", Kernel::kFused}, {"unfused", Kernel::kUnfused}, {"unfused_dropout", Kernel::kDropout}});
  how.attention.fused = kernel == Kernel::kFused;
  how.attention.dropout = kernel == Kernel::kDropout;
}

/// The datasheet of a GPU of which no more than the scenario says is known: its peak is that of every precision.
OperatorTimes roofline_of(const GpuSpec& gpu) {
  OperatorRoofline roofline;
  roofline.bf16_tflops = roofline.fp8_tflops = roofline.fp4_tflops = gpu.peak_tflops;
  roofline.memory_gb_per_s = gpu.memory_gb_per_s;
  roofline.compute_efficiency = gpu.compute_efficiency;
  return OperatorTimes(roofline);
}

/// A GPU without tables of its own: the share of the roofline that another one's table has, under its own data sheet.
OperatorTimes borrowed(JsonReader device, const std::string& from, const std::filesystem::path& folder) {
  const auto tables = in_section(device, {}, [&] { return operator_tables(from, folder); });
  OperatorRoofline own = operator_device(*tables);
  const auto read = [&](std::string_view key, double& into) {
    if (const auto v = device.optional(key)) into = v->positive(1e9);
  };
  read("bf16_tflops", own.bf16_tflops);
  read("fp8_tflops", own.fp8_tflops);
  read("fp4_tflops", own.fp4_tflops);
  read("memory_gb_per_s", own.memory_gb_per_s);
  device.finish();
  return OperatorTimes(own, tables, true);
}

/// Where the times of operators come from.
struct TimesSource {
  bool tables = false;
  std::filesystem::path folder;
};

/// `tables_key`: names other tables than those of the GPU.
OperatorTimes read_times(JsonReader& section, const char* tables_key, const TimesSource& source, const GpuSpec& gpu) {
  std::string key = gpu.name;
  if (const auto v = section.optional(tables_key)) key = v->string();
  if (const auto v = section.optional("borrowed_by")) return borrowed(*v, key, source.folder);
  if (!source.tables) return roofline_of(gpu);
  return in_section(section, {}, [&] { return operator_times(key, source.folder); });
}

OperatorPrecision product_precision(const JsonReader& value) {
  using enum OperatorPrecision;
  return value.choice<OperatorPrecision>({{"bf16", kBf16}, {"fp8", kFp8}, {"mxfp8", kFp8Block}, {"nvfp4", kFp4}});
}

void read_bf16_layers(JsonReader section, MixedPrecision& mixed) {
  if (const auto v = section.optional("first")) mixed.first_layers = v->count(0, 1'000'000);
  if (const auto v = section.optional("last")) mixed.last_layers = v->count(0, 1'000'000);
  if (const auto v = section.optional("predictions")) mixed.predictions = v->boolean();
  section.finish();
}

/// What GPUs of one job may differ in.
void read_of_gpu(JsonReader& section, TrainingOperators& how) {
  if (const auto v = section.optional("precision")) how.precision = product_precision(*v);
  if (const auto v = section.optional("precision_of")) {
    how.mixed.products.clear();
    for (const auto& [name, precision] : v->members()) how.mixed.products.push_back({name, product_precision(precision)});
  }
  if (const auto v = section.optional("bf16_layers")) read_bf16_layers(*v, how.mixed);
  if (const auto v = section.optional("scores")) {
    how.scores = v->choice<OperatorPrecision>({{"bf16", OperatorPrecision::kBf16}, {"fp8", OperatorPrecision::kFp8}});
  }
  if (const auto v = section.optional("factor")) how.factor = v->positive(100.0);
  if (const auto v = section.optional("host")) read_host(*v, how);
}

using Operators = std::shared_ptr<const TrainingOperators>;

/// Those of an unlike GPU: the job's, but for what "unlike" says of GPUs with its name.
Operators operators_of(const GpuSpec& gpu, JsonReader section, const TimesSource& source, const TrainingOperators& job) {
  auto how = std::make_shared<TrainingOperators>(job);
  how->gpu = gpu.name;
  std::optional<JsonReader> own;
  if (const auto all = section.optional("unlike")) {
    for (const auto& [name, entry] : all->members()) {
      if (name == gpu.name) own = entry;
    }
  }
  if (own) {
    how->times = read_times(*own, "tables", source, gpu);
    read_of_gpu(*own, *how);
    own->finish();
  } else {
    how->times =
        source.tables ? in_section(section, {}, [&] { return operator_times(gpu.name, source.folder); }) : roofline_of(gpu);
  }
  return how;
}

// A preset that the cluster has not is no error: an axis of a sweep may be the model.
void require_known(const JsonReader& unlike, const ClusterSpec& cluster) {
  std::vector<std::string> known;
  for (const GpuPreset& preset : gpu_presets()) known.emplace_back(preset.key);
  for (const UnlikeGpus& some : cluster.unlike) {
    if (some.gpu) known.push_back(some.gpu->name);
  }
  for (const auto& [name, entry] : unlike.members()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    entry.fail("is neither a GPU of /cluster/unlike_gpus nor a preset", "photonrail list gpus");
  }
}

void read_unlike(JsonReader& section, const TimesSource& source, const ClusterSpec& cluster, const Placement& placement,
                 TrainingSpec& spec) {
  if (const auto unlike = section.optional("unlike")) require_known(*unlike, cluster);
  if (!cluster.has_other_models() || spec.parallelism.ranks() > cluster.gpus()) return;  // too many are refused later
  std::vector<Operators> of_entry{nullptr};
  for (std::size_t i = 0; i < cluster.unlike.size(); ++i) {
    const auto& gpu = cluster.unlike[i].gpu;
    of_entry.emplace_back();
    for (std::size_t j = 0; gpu && j < i; ++j) {
      if (cluster.unlike[j].gpu == gpu) of_entry.back() = of_entry[j + 1];  // equal GPUs run the same programs
    }
    if (gpu && !of_entry.back()) of_entry.back() = operators_of(*gpu, section, source, *spec.operators);
  }
  const std::vector<std::uint32_t> entry_of_gpu = cluster.unlike_of_gpus();
  for (const GpuId gpu : place(placement, spec.parallelism.ranks(), true)) {
    const bool there = gpu.index() < entry_of_gpu.size();  // or the placement is refused later
    spec.operators_of_ranks.push_back(there ? of_entry[entry_of_gpu[gpu.index()]] : nullptr);
  }
}

}  // namespace

void read_operators(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                    const Placement& placement, TrainingSpec& spec) {
  auto how = std::make_shared<TrainingOperators>();
  TimesSource source;
  if (const auto v = section.optional("folder")) source.folder = read_path(*v, directory);
  source.tables = section.child("times").choice<bool>({{"tables", true}, {"roofline", false}});
  how->times = read_times(section, "gpu", source, cluster.gpu);
  read_of_gpu(section, *how);
  if (const auto v = section.optional("frozen_weights")) how->frozen_weights = v->boolean();
  if (const auto v = section.optional("attention")) read_attention(*v, *how);
  if (const auto v = section.optional("rotary")) {
    how->attention.fused_rotary = v->choice<bool>({{"fused", true}, {"framework", false}});
    if (!spec.model.latent) v->fail("only latent attention has a choice", "leave it out");
  }
  if (const auto v = section.optional("experts")) {
    how->expert_kernels.grouped = v->choice<bool>({{"grouped", true}, {"one_by_one", false}});
  }
  if (const auto v = section.optional("expert_biases")) {
    using enum ExpertBiases;
    how->expert_kernels.biases = v->choice<ExpertBiases>({{"fused", kFused}, {"bf16", kBf16}, {"fp32", kFp32}});
  }
  if (const auto v = section.optional("stash_experts")) how->expert_kernels.stashed = v->boolean();
  if (const auto v = section.optional("ranks_a_copy")) how->ranks_a_copy = v->count(1, 1'000'000);
  if (const auto v = section.optional("recompute")) read_again(*v, *how);
  spec.operators = std::move(how);
  read_unlike(section, source, cluster, placement, spec);
  section.finish();
}

void read_overlap(JsonReader section, TrainingSpec& spec) {
  if (const auto v = section.optional("tensor")) spec.overlap.tensor = v->boolean();
  if (const auto v = section.optional("experts")) spec.overlap.experts = v->boolean();
  const auto in_pairs = [&](const JsonReader& value) {
    if (!spec.overlap.experts) value.fail("passes run in pairs with \"experts\" only", "set \"experts\" to true");
  };
  if (const auto v = section.optional("pairing")) {
    spec.overlap.by_layer = v->choice<bool>({{"by_layer", true}, {"turn_by_turn", false}});
    in_pairs(*v);
  }
  if (const auto v = section.optional("delay_weights")) {
    spec.overlap.delay_weights = v->boolean();
    in_pairs(*v);
  }
  section.finish();
}

}  // namespace photonrail::config
