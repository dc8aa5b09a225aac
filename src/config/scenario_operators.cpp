// "operators" and "overlap" of a training job: what times its operators, and how a system runs them.
#include "config/scenario_operators.hpp"
#include "config/sections.hpp"

#include "formats/operators/operators.hpp"
#include "photonrail/workload/training_operators.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Shape;
using fields::Word;

using Again = RecomputedOperators;
constexpr Word<bool Again::*> kAgain[] = {{"norms", &Again::norms},
                                          {"activations", &Again::activations},
                                          {"up_projections", &Again::up_projections},
                                          {"mlp", &Again::mlp},
                                          {"experts", &Again::experts}};

constexpr Word<CudaGraphs> kGraphs[] = {
    {"none", CudaGraphs::kNone}, {"layers", CudaGraphs::kLayers}, {"step", CudaGraphs::kStep}};
constexpr Field kHostFields[] = {
    fields::time<&TrainingOperators::kernel_launch>("kernel_launch", "ns",
                                                    "Of the host for a kernel that is in no graph and that a library "
                                                    "launches in a loop: the products of experts one by "
                                                    "one.")
        .or_else("8 us"),
    fields::then([](const Reading& at) {
      auto& how = into<TrainingOperators>(at);
      how.operator_call = how.kernel_launch;
    }),
    fields::time<&TrainingOperators::operator_call>(
        "operator_call", "ns",
        "Of the host for any other kernel in no graph, which the framework calls by itself; 22 us on Grace.")
        .or_else("as `kernel_launch`"),
    fields::word<kGraphs, &TrainingOperators::graphs>(
        "graphs",
        "CUDA graphs: the host launches every kernel; those of routed experts "
        "only; none.")
        .or_else("`\"step\"`"),
    fields::flag<&TrainingOperators::host_waits_for_routing>(
        "waits_for_routing",
        "The host reads how many tokens each expert has before it launches them, so that its time adds up; else the longer "
        "of host and GPU counts.")
        .or_else("true"),
};
constexpr Section kHost{kHostFields};

enum class Kernel : std::uint8_t { kFused, kUnfused, kDropout };
constexpr Word<Kernel> kKernels[] = {
    {"fused", Kernel::kFused}, {"unfused", Kernel::kUnfused}, {"unfused_dropout", Kernel::kDropout}};

/// The datasheet of a GPU of which no more than the scenario says is known: its peak is that of every precision.
OperatorTimes roofline_of(const GpuSpec& gpu) {
  OperatorRoofline roofline;
  roofline.bf16_tflops = roofline.fp8_tflops = roofline.fp4_tflops = gpu.peak_tflops;
  roofline.memory_gb_per_s = gpu.memory_gb_per_s;
  roofline.compute_efficiency = gpu.compute_efficiency;
  return OperatorTimes(roofline);
}

constexpr Field kBorrowedFields[] = {
    fields::positive<&OperatorRoofline::bf16_tflops>("bf16_tflops", 1e9, "Its peak in bf16."),
    fields::positive<&OperatorRoofline::fp8_tflops>("fp8_tflops", 1e9, "Its peak in fp8."),
    fields::positive<&OperatorRoofline::fp4_tflops>("fp4_tflops", 1e9, "Its peak in fp4."),
    fields::positive<&OperatorRoofline::memory_gb_per_s>("memory_gb_per_s", 1e9, "Bandwidth of its memory."),
};
constexpr Section kBorrowed{kBorrowedFields};

/// A GPU without tables of its own: the share of the roofline that another one's table has, under its own data sheet.
OperatorTimes borrowed(const JsonReader& device, const std::string& from, const std::filesystem::path& folder) {
  const auto tables = in_section(device, {}, [&] { return formats::operators::operator_tables(from, folder); });
  OperatorRoofline own = formats::operators::operator_device(*tables);
  fields::read(device, kBorrowed, &own);
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
  return in_section(section, {}, [&] { return formats::operators::operator_times(key, source.folder); });
}

/// The values that lines of the table take from the caller.
struct OperatorContext : FileContext {
  OperatorContext(const std::filesystem::path& folder, const GpuSpec& of_job, bool latent)
      : FileContext(folder), gpu(of_job), latent_attention(latent) {}
  const GpuSpec& gpu;
  bool latent_attention;
  mutable TimesSource source{};
};

using Precision = OperatorPrecision;
constexpr Word<Precision> kPrecisions[] = {
    {"bf16", Precision::kBf16}, {"fp8", Precision::kFp8}, {"mxfp8", Precision::kFp8Block}, {"nvfp4", Precision::kFp4}};
constexpr Word<Precision> kScores[] = {{"bf16", Precision::kBf16}, {"fp8", Precision::kFp8}};

constexpr Field kBf16Fields[] = {
    fields::count<&MixedPrecision::first_layers>("first", 0, 1'000'000, "Layers at the beginning of the model.")
        .by("")
        .or_else("0"),
    fields::count<&MixedPrecision::last_layers>("last", 0, 1'000'000, "Layers at its end.").by("").or_else("0"),
    fields::flag<&MixedPrecision::predictions>("predictions", "Also modules that predict further tokens.")
        .by("")
        .or_else("false"),
};
constexpr Section kBf16{kBf16Fields};

constexpr Shape kProductPrecision = fields::text_shape(fields::words_of<kPrecisions>);
constexpr Field kGpuOperatorFields[] = {
    fields::word<kPrecisions, &TrainingOperators::precision>(
        "precision",
        "Of the products of layers, casts included; head and router are bf16. A GPU whose tables lack it computes in the "
        "next wider one that it has, without casts, and a warning says so.")
        .or_else("`\"bf16\"`"),
    fields::own(
        "precision_of", fields::map_shape(kProductPrecision),
        [](const Reading& at) {
          auto& products = into<TrainingOperators>(at).mixed.products;
          products.clear();
          for (const auto& [name, precision] : at.value.members()) {
            products.push_back({name, fields::meaning<kPrecisions>(precision)});
          }
        },
        "Of one product by its name (`attention.qkv`, `mamba.out`, `experts.latent_down`, `shared.up`; a wrong one "
        "lists them all), or of all that begin with it and a dot (`attention`); the longest name counts.")
        .by("mixed.products")
        .or_else("none"),
    fields::part<kBf16, &TrainingOperators::mixed>("bf16_layers", "Layers that have all products in bf16.")
        .by("mixed.last_layers")
        .or_else("none"),
    fields::word<kScores, &TrainingOperators::scores>("scores", "Of the core of attention.").or_else("`\"bf16\"`"),
    fields::positive<&TrainingOperators::factor>("factor", 100.0,
                                                 "Every time that comes from a table is this many times the table's: what "
                                                 "`calibrate --rows` fits.")
        .or_else("1"),
    fields::group<kHost>("host", "What the host takes to launch kernels."),
};
constexpr Section kGpuOperators{kGpuOperatorFields};

constexpr Field borrowed_by() {
  return fields::known(
             "borrowed_by", fields::object_shape(kBorrowed),
             "A GPU without tables takes the other's share of the roofline under its own data sheet; all its times "
             "count as extrapolated.")
      .or_else("none");
}

template <const char* TablesKey>
void store_times(const Reading& at) {
  const auto& context = context_of<OperatorContext>(at);
  into<TrainingOperators>(at).times = read_times(at.section, TablesKey, context.source, context.gpu);
}

constexpr char kTablesKey[] = "tables";
constexpr Field kUnlikeOperatorFields[] = {
    fields::known("tables", fields::text_shape(), "Whose tables.").or_else("its own"),
    borrowed_by(),
    fields::then(store_times<kTablesKey>),
    fields::include<kGpuOperators>(),
};
constexpr Section kUnlikeGpu{kUnlikeOperatorFields};

constexpr Word<bool> kTimes[] = {{"tables", true}, {"roofline", false}};
constexpr Word<bool> kRotary[] = {{"fused", true}, {"framework", false}};
constexpr Word<bool> kExpertKernels[] = {{"grouped", true}, {"one_by_one", false}};
constexpr Word<ExpertBiases> kBiases[] = {
    {"fused", ExpertBiases::kFused}, {"bf16", ExpertBiases::kBf16}, {"fp32", ExpertBiases::kFp32}};
constexpr char kGpuKey[] = "gpu";
constexpr Shape kUnlikeEntry = fields::object_shape(kUnlikeGpu);
constexpr Shape kAgainWord = fields::text_shape(fields::words_of<kAgain>);

constexpr Field kOperatorFields[] = {
    fields::own(
        "folder", kPathShape,
        [](const Reading& at) { context_of<OperatorContext>(at).source.folder = read_path(at.value, folder_of(at)); },
        "A folder with tables of one's own, which go first.")
        .or_else("none"),
    fields::own(
        "times", fields::text_shape(fields::words_of<kTimes>),
        [](const Reading& at) { context_of<OperatorContext>(at).source.tables = fields::meaning<kTimes>(at.value); },
        "Measured tables, with the roofline where they have nothing near; or the roofline of the cluster's GPU "
        "alone.")
        .must(),
    fields::known("gpu", fields::text_shape(), "Whose tables (`photonrail operators info`).").or_else("the cluster's GPU"),
    borrowed_by(),
    fields::then(store_times<kGpuKey>),
    fields::include<kGpuOperators>(),
    fields::flag<&TrainingOperators::frozen_weights>(
        "frozen_weights",
        "Only adapters learn: no products for the gradients of weights, no reduction of them, no optimizer.")
        .or_else("false"),
    fields::own(
        "attention", fields::text_shape(fields::words_of<kKernels>),
        [](const Reading& at) {
          const Kernel kernel = fields::meaning<kKernels>(at.value);
          into<TrainingOperators>(at).attention.fused = kernel == Kernel::kFused;
          into<TrainingOperators>(at).attention.dropout = kernel == Kernel::kDropout;
        },
        "Unfused: scores go to memory and back; with dropout masks.")
        .or_else("`\"fused\"`"),
    fields::own(
        "rotary", fields::text_shape(fields::words_of<kRotary>),
        [](const Reading& at) {
          into<TrainingOperators>(at).attention.fused_rotary = fields::meaning<kRotary>(at.value);
          if (!context_of<OperatorContext>(at).latent_attention)
            at.value.fail("only latent attention has a choice", "leave it out");
        },
        "Of latent attention, which alone may have it: rotary embedding and the joins of heads in a kernel, or in "
        "operators of the framework.")
        .or_else("`\"fused\"`"),
    fields::word<kExpertKernels, &TrainingOperators::expert_kernels, &ExpertKernels::grouped>(
        "experts", "One kernel for all experts of a rank, or one for each product of each.")
        .or_else("`\"grouped\"`"),
    fields::word<kBiases, &TrainingOperators::expert_kernels, &ExpertKernels::biases>(
        "expert_biases",
        "Clamps and biases of routed experts in the kernels, or operators of the framework, the second bias in that "
        "precision.")
        .or_else("`\"fused\"`"),
    fields::flag<&TrainingOperators::expert_kernels, &ExpertKernels::stashed>(
        "stash_experts",
        "What routed experts keep for their backward pass is copied out of buffers of a fixed size and back, as whole-step "
        "graphs without a capacity need.")
        .or_else("false"),
    fields::count<&TrainingOperators::ranks_a_copy>(
        "ranks_a_copy", 1, 1'000'000,
        "With `dispatch` `\"copy_per_rank\"` or `\"hybrid_ep\"`: the neighbouring ranks, those of a server, that share one "
        "copy; a divisor of `ep`.")
        .or_else("1"),
    fields::own(
        "recompute", fields::list_shape(kAgainWord),
        [](const Reading& at) {
          for (const JsonReader& part : at.value.elements()) {
            into<TrainingOperators>(at).again.*fields::meaning<kAgain>(part) = true;
          }
        },
        "Computed again in the backward pass, beside `recompute` of the job; up-projections of latent attention; "
        "experts with their exchanges.")
        .by("again")
        .or_else("`[]`"),
    fields::known(
        "unlike", fields::map_shape(kUnlikeEntry),
        "What differs on GPUs of `/cluster/unlike_gpus`, by their name (`custom` where they have none; presets that "
        "the cluster has not are passed over).")
        .or_else("none"),
};
constexpr Alias kOperatorAliases[] = {{"attention.dropout", "attention"}};

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
    OperatorContext context(source.folder, gpu, false);
    context.source = source;
    fields::read(*own, kUnlikeGpu, how.get(), &context);
  } else {
    how->times = source.tables
                     ? in_section(section, {}, [&] { return formats::operators::operator_times(gpu.name, source.folder); })
                     : roofline_of(gpu);
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

constexpr Section kOperatorsSection{kOperatorFields, nullptr, kOperatorAliases};

void read_operators(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                    const Placement& placement, TrainingSpec& spec) {
  auto how = std::make_shared<TrainingOperators>();
  const OperatorContext context(directory, cluster.gpu, spec.model.latent.has_value());
  fields::read_open(section, kOperatorsSection, how.get(), &context);
  spec.operators = std::move(how);
  read_unlike(section, context.source, cluster, placement, spec);
  section.finish();
}

namespace {

void need_pairs(const Reading& at) {
  if (!into<TrainingSpec>(at).overlap.experts)
    at.value.fail("passes run in pairs with \"experts\" only", "set \"experts\" to true");
}

constexpr Word<bool> kPairings[] = {{"by_layer", true}, {"turn_by_turn", false}};
constexpr Field kOverlapFields[] = {
    fields::flag<&TrainingSpec::overlap, &OverlapSpec::tensor>("tensor",
                                                               "Exchanges of sequence parallelism run beside the products "
                                                               "next to them.")
        .or_else("false"),
    fields::flag<&TrainingSpec::overlap, &OverlapSpec::experts>("experts",
                                                                "`1f1b` and `interleaved`: forward and backward passes in "
                                                                "pairs, so that the all-to-alls of one run beside the "
                                                                "other.")
        .or_else("false"),
    fields::own(
        "pairing", fields::text_shape(fields::words_of<kPairings>),
        [](const Reading& at) {
          into<TrainingSpec>(at).overlap.by_layer = fields::meaning<kPairings>(at.value);
          need_pairs(at);
        },
        "With `experts`: layer by layer of both passes, so that each exchange has a computation of the other pass "
        "beside it; or part by part in turn, which hides about half of the exchanges.")
        .by("by_layer")
        .or_else("`\"by_layer\"`"),
    fields::own(
        "delay_weights", fields::flag_shape(),
        [](const Reading& at) {
          into<TrainingSpec>(at).overlap.delay_weights = at.value.boolean();
          need_pairs(at);
        },
        "With `experts`: gradients of experts' weights are computed once the tokens' gradients have left.")
        .or_else("true"),
};

}  // namespace

constexpr Section kOverlapSection{kOverlapFields};

void read_overlap(JsonReader section, TrainingSpec& spec) { fields::read(std::move(section), kOverlapSection, &spec); }

}  // namespace photonrail::config
