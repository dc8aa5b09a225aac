// "operators" and "overlap" of a training job: what times its operators, and how a system runs them.
#include "config/scenario_operators.hpp"

#include "photonrail/formats/operators.hpp"
#include "photonrail/workload/training_operators.hpp"

#include <string>

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
  how.fused_attention = kernel == Kernel::kFused;
  how.attention_dropout = kernel == Kernel::kDropout;
}

/// The datasheet of a GPU of which no more than the scenario says is known: low precisions run as bf16.
OperatorTimes roofline_of(const GpuSpec& gpu) {
  OperatorRoofline roofline;
  roofline.bf16_tflops = gpu.peak_tflops;
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

OperatorTimes read_times(JsonReader& section, const std::filesystem::path& folder, const GpuSpec& gpu) {
  const bool tables = section.child("times").choice<bool>({{"tables", true}, {"roofline", false}});
  std::string key = gpu.name;
  if (const auto v = section.optional("gpu")) key = v->string();
  if (const auto v = section.optional("borrowed_by")) return borrowed(*v, key, folder);
  if (!tables) return roofline_of(gpu);
  return in_section(section, {}, [&] { return operator_times(key, folder); });
}

}  // namespace

std::shared_ptr<const TrainingOperators> read_operators(JsonReader section, const std::filesystem::path& directory,
                                                        const GpuSpec* gpu) {
  auto how = std::make_shared<TrainingOperators>();
  std::filesystem::path folder;
  if (const auto v = section.optional("folder")) folder = read_path(*v, directory);
  // Where only the shape of the job counts, no tables are read.
  how->times = read_times(section, folder, gpu == nullptr ? GpuSpec{} : *gpu);
  if (const auto v = section.optional("precision")) {
    using enum OperatorPrecision;
    how->precision = v->choice<OperatorPrecision>({{"bf16", kBf16}, {"fp8", kFp8}, {"mxfp8", kFp8Block}, {"nvfp4", kFp4}});
  }
  if (const auto v = section.optional("scores")) {
    how->scores = v->choice<OperatorPrecision>({{"bf16", OperatorPrecision::kBf16}, {"fp8", OperatorPrecision::kFp8}});
  }
  if (const auto v = section.optional("frozen_weights")) how->frozen_weights = v->boolean();
  if (const auto v = section.optional("factor")) how->factor = v->positive(100.0);
  if (const auto v = section.optional("attention")) read_attention(*v, *how);
  if (const auto v = section.optional("experts")) {
    how->grouped_experts = v->choice<bool>({{"grouped", true}, {"one_by_one", false}});
  }
  if (const auto v = section.optional("stash_experts")) how->stashes_experts = v->boolean();
  if (const auto v = section.optional("ranks_a_copy")) how->ranks_a_copy = v->count(1, 1'000'000);
  if (const auto v = section.optional("recompute")) read_again(*v, *how);
  if (const auto v = section.optional("host")) read_host(*v, *how);
  section.finish();
  return how;
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
