#include "config/serving_times.hpp"

#include "collective/scale_up.hpp"
#include "formats/operators/operators.hpp"
#include "formats/serving/kernel_files.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

namespace photonrail::config {

namespace {

using fields::Field;
using fields::Reading;
using fields::Word;
using serving::HostTimes;
using serving::KernelModel;
using serving::LinearLaw;

struct TimesFile {
  std::optional<LinearLaw> law;
  std::filesystem::path kernels;
  bool tables = false;
  bool rotates_apart = false;
  std::optional<std::uint32_t> graph_tokens;
  KernelModel model;
};

constexpr Field kLawFields[] = {
    fields::time<&LinearLaw::fixed>("fixed", "us", "Of every step.").must(),
    fields::time<&LinearLaw::prefill_token>("prefill_token", "us", "Each token of a prompt.").or_else("0"),
    fields::time<&LinearLaw::decode>("decode", "us", "Each token that is decoded.").or_else("0"),
    fields::time<&LinearLaw::cached_token>("cached_token", "ns", "Each token that a decode reads.").or_else("0"),
};
constexpr fields::Section kLawSection{kLawFields, [](const Reading& at) {
                                        if (into<LinearLaw>(at).fixed <= Duration{})
                                          at.section.fail("a step takes no time", "give \"fixed_us\" above 0");
                                      }};
constexpr Field kHostTimeFields[] = {
    fields::time<&HostTimes::step>("step", "us", "Each step.").or_else("0"),
    fields::time<&HostTimes::sequence>("request", "us", "Each request of a step.").or_else("0"),
    fields::time<&HostTimes::token>("token", "us", "Each token of a step.").or_else("0"),
};
constexpr fields::Section kHostTimes{kHostTimeFields};
constexpr Word<bool> kOperatorWords[] = {{"roofline", false}, {"tables", true}};
constexpr Word<bool> kRotaryWords[] = {{"in_attention", false}, {"apart", true}};
constexpr std::string_view kOfKernels = "a law has all of a step in it";
constexpr Field kTimesFields[] = {
    fields::part<kLawSection, &TimesFile::law>("law", "Four constants.").or_else("none"),
    fields::own(
        "kernels", kPathShape, [](const Reading& at) { into<TimesFile>(at).kernels = read_path(at.value, folder_of(at)); },
        "A profile of one's own: a folder with `dense.csv`, `per_sequence.csv`, `attention.csv` and, with experts, "
        "`moe.csv`.")
        .refuse_unless("!law", kOfKernels)
        .or_else("none"),
    fields::word<kOperatorWords, &TimesFile::tables>("operators",
                                                     "Without a profile: the GPU's tables of operators, or its "
                                                     "roofline.")
        .refuse_unless("!law&!kernels", "the profile or the law says it")
        .by("tables")
        .or_else("`\"roofline\"`"),
    fields::word<kRotaryWords, &TimesFile::rotates_apart>(
        "rotary",
        "Rotary embedding and the write of KV: in the kernel of attention, "
        "as in TensorRT-LLM, or kernels of their own, as in vLLM and SGLang.")
        .refuse_unless("!law&!kernels", "the profile or the law says it")
        .or_else("`\"in_attention\"`"),
    fields::time<&TimesFile::model, &KernelModel::reduce>("reduce", "us",
                                                          "With `tp`: an all-reduce, two a layer, beside its "
                                                          "bytes.")
        .refuse_unless("!law", kOfKernels)
        .or_else("by tables, that of the engines' own kernel on such GPUs; else 8 us; and messages between servers"),
    fields::rate<&TimesFile::model, &KernelModel::reduce_rate>("reduce_gb_per_s", "Bytes of the tensor over this.")
        .refuse_unless("!law", kOfKernels)
        .or_else("as `reduce`; else that of a ring over the scale-up ports, and between servers over the NICs"),
    fields::count<&TimesFile::graph_tokens>("graph_tokens", 0, 1e9,
                                            "Steps of at most so many tokens run as CUDA graphs, of sizes as vLLM captures "
                                            "them: their tokens are padded, but for attention and the head; 0: none.")
        .refuse_unless("!law", kOfKernels)
        .or_else("twice `max_sequences`, at most 512"),
    fields::time<&TimesFile::model, &KernelModel::eager_layer>("eager_layer", "us",
                                                               "Each layer of steps with more than `graph_tokens` takes at "
                                                               "least this: the host launches their kernels one by one.")
        .refuse_unless("!law", kOfKernels)
        .or_else("0"),
    fields::own(
        "host", fields::object_shape(kHostTimes),
        [](const Reading& at) { fields::read(at.value, kHostTimes, &into<TimesFile>(at).model.host); },
        "What the host adds.")
        .by("model.host")
        .refuse_unless("!law", kOfKernels)
        .or_else("0"),
};

constexpr Duration kNotGiven{-1};
constexpr double kFixedReduceUs = 8.0;  // where nothing is measured

// What an all-reduce of an engine over several servers adds to that inside each: an all-reduce of each part between them
// over the NICs, up and down a tree of messages.
struct BetweenServers {
  double us = 0.0;
  double us_per_byte = 0.0;
};

BetweenServers between_servers(const ClusterSpec& cluster, std::uint32_t tp) {
  const double inside = std::min(tp, cluster.gpus_per_server);
  const double servers = tp / inside;
  if (servers <= 1.0) return {};
  const auto messages = 2 * static_cast<std::int64_t>(std::ceil(std::log2(servers)));
  return {to_seconds((cluster.nic.latency + cluster.nic.message_overhead) * messages) * 1e6,
          2e6 * (servers - 1.0) / (servers * inside * cluster.nic.per_port.bytes_per_second * cluster.nic.ports)};
}

// What the file does not say of an all-reduce of an engine's GPUs: the measured kernel, else a ring over the scale-up
// ports.
void set_reduce(const ClusterSpec& cluster, std::uint32_t tp, bool tables, KernelModel& model) {
  const bool has_fixed = model.reduce != kNotGiven;
  const bool has_rate = model.reduce_rate.bytes_per_second > 0.0;
  const BetweenServers beyond = between_servers(cluster, tp);
  const std::uint32_t inside = std::min(tp, cluster.gpus_per_server);
  if (tables && tp > 1 && !has_fixed && !has_rate) {
    auto points = collective::graph_all_reduce(cluster.gpu.name, inside);
    for (auto& [bytes, us] : points) us += beyond.us + bytes * beyond.us_per_byte;
    if (!points.empty()) model.measured_reduce = serving::Curve(std::move(points));
  }
  if (!has_fixed) model.reduce = from_seconds((kFixedReduceUs + beyond.us) * 1e-6);
  if (has_rate) return;
  const double ring = 2e6 * (inside - 1.0) / (inside * cluster.scale_up.of_gpu().bytes_per_second);
  model.reduce_rate = {1e6 / std::max(ring + beyond.us_per_byte, 1e-12)};
}

// Bytes are traffic: the fixed time is that of the smallest tensor.
void leave_bytes_out(KernelModel& model) {
  if (!model.measured_reduce.empty()) model.reduce = from_seconds(model.measured_reduce.at(0.0) * 1e-6);
  model.measured_reduce = {};
  model.reduce_rate = {1e30};
}

OperatorTimes operator_times_of(const JsonReader* section, const TimesFile& file, const serving::ServedModel& served,
                                const GpuSpec& gpu) {
  if (file.tables) {
    OperatorTimes times = in_section(*section, {}, [&] { return formats::operators::operator_times(gpu.name, {}); });
    if (const std::string missing = serving::not_in_tables(served, times); !missing.empty()) {
      section->fail_at("operators", "the tables of " + gpu.name + " lack " + missing,
                       "\"roofline\", \"kernels\" of your own, or another GPU");
    }
    return times;
  }
  OperatorRoofline roofline;
  roofline.bf16_tflops = roofline.fp8_tflops = roofline.fp4_tflops = gpu.peak_tflops;
  roofline.memory_gb_per_s = gpu.memory_gb_per_s;
  roofline.compute_efficiency = gpu.compute_efficiency;
  return OperatorTimes(roofline);
}

// Errors name the file of the profile.
std::shared_ptr<const serving::StepTime> profiled_times(const TimesFile& file) {
  try {
    return std::make_shared<serving::KernelStepTime>(formats::read_kernel_tables(file.kernels), file.model);
  } catch (const ConfigError& error) {
    throw ConfigError((file.kernels / error.where()).string(), error.problem(), error.hint());
  }
}

}  // namespace

constexpr fields::Section kServingTimesSection{kTimesFields};

std::shared_ptr<const serving::StepTime> step_times(const std::optional<JsonReader>& section,
                                                    const serving::ServedModel& served, const serving::EngineSpec& engine,
                                                    bool flows, const ServingContext& context) {
  TimesFile file;
  file.model.reduce = kNotGiven;
  file.model.reduce_rate = {};
  if (section) fields::read(*section, kServingTimesSection, &file, &context);
  set_reduce(context.cluster, served.tp, file.tables, file.model);
  if (flows) leave_bytes_out(file.model);
  if (file.law) return std::make_shared<serving::LinearStepTime>(*file.law);
  file.model.layers = served.model.layers;
  file.model.hidden = served.model.hidden;
  file.model.tp = served.tp;
  file.model.max_tokens = engine.token_budget;
  file.model.graph_tokens = file.graph_tokens.value_or(std::min(engine.max_sequences, 256U) * 2);
  if (!file.kernels.empty()) {
    if (served.model.moe) {
      file.model.experts = served.model.moe->experts;
      file.model.top_k = served.model.moe->top_k;
    }
    return profiled_times(file);
  }
  const JsonReader* const at = section ? &*section : nullptr;
  serving::ServedModel with_kernels = served;
  with_kernels.rotates_apart = file.rotates_apart;
  return std::make_shared<serving::KernelStepTime>(
      serving::kernels_of(with_kernels, operator_times_of(at, file, served, context.cluster.gpu), engine.token_budget,
                          engine.max_sequences),
      file.model);
}

}  // namespace photonrail::config
