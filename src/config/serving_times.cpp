#include "config/serving_times.hpp"

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
    fields::time<&TimesFile::model, &KernelModel::reduce>("reduce", "us",
                                                          "With `tp`: an all-reduce, two a layer, beside its "
                                                          "bytes.")
        .refuse_unless("!law", kOfKernels)
        .or_else("8 us, and messages between servers"),
    fields::rate<&TimesFile::model, &KernelModel::reduce_rate>("reduce_gb_per_s", "Bytes of the tensor over this.")
        .refuse_unless("!law", kOfKernels)
        .or_else("that of a ring over the scale-up ports, and between servers over the NICs"),
    fields::own(
        "host", fields::object_shape(kHostTimes),
        [](const Reading& at) { fields::read(at.value, kHostTimes, &into<TimesFile>(at).model.host); },
        "What the host adds.")
        .by("model.host")
        .refuse_unless("!law", kOfKernels)
        .or_else("0"),
};

// An all-reduce of an engine's GPUs: a ring over the scale-up ports. Of an engine over several servers: a reduce-scatter
// inside each, an all-reduce of each part between them over the NICs, up and down a tree of messages, and a gather.
void set_reduce(const ClusterSpec& cluster, std::uint32_t tp, KernelModel& model) {
  model.reduce = Duration{8'000'000};
  if (tp <= 1) return;
  const double inside = std::min(tp, cluster.gpus_per_server);
  const double servers = tp / inside;
  double per_byte = 2.0 * (inside - 1.0) / (inside * cluster.scale_up.of_gpu().bytes_per_second);
  if (servers > 1.0) {
    per_byte += 2.0 * (servers - 1.0) / (servers * inside * cluster.nic.per_port.bytes_per_second * cluster.nic.ports);
    const auto messages = 2 * static_cast<std::int64_t>(std::ceil(std::log2(servers)));
    model.reduce += (cluster.nic.latency + cluster.nic.message_overhead) * messages;
  }
  model.reduce_rate = {1.0 / per_byte};
}

OperatorTimes operator_times_of(const JsonReader* section, const TimesFile& file, const GpuSpec& gpu) {
  if (file.tables) return in_section(*section, {}, [&] { return formats::operators::operator_times(gpu.name, {}); });
  OperatorRoofline roofline;
  roofline.bf16_tflops = roofline.fp8_tflops = roofline.fp4_tflops = gpu.peak_tflops;
  roofline.memory_gb_per_s = gpu.memory_gb_per_s;
  roofline.compute_efficiency = gpu.compute_efficiency;
  return OperatorTimes(roofline);
}

}  // namespace

constexpr fields::Section kServingTimesSection{kTimesFields};

std::shared_ptr<const serving::StepTime> step_times(const std::optional<JsonReader>& section,
                                                    const serving::ServedModel& served, const serving::EngineSpec& engine,
                                                    bool flows, const ServingContext& context) {
  TimesFile file;
  set_reduce(context.cluster, served.tp, file.model);
  if (section) fields::read(*section, kServingTimesSection, &file, &context);
  if (flows) file.model.reduce_rate = {1e30};
  if (file.law) return std::make_shared<serving::LinearStepTime>(*file.law);
  file.model.layers = served.model.layers;
  file.model.hidden = served.model.hidden;
  file.model.tp = served.tp;
  file.model.max_tokens = engine.token_budget;
  if (!file.kernels.empty()) {
    if (served.model.moe) {
      file.model.experts = served.model.moe->experts;
      file.model.top_k = served.model.moe->top_k;
    }
    return in_section(*section, {}, [&] {
      return std::make_shared<serving::KernelStepTime>(formats::read_kernel_tables(file.kernels), file.model);
    });
  }
  const JsonReader* const at = section ? &*section : nullptr;
  return std::make_shared<serving::KernelStepTime>(
      serving::kernels_of(served, operator_times_of(at, file, context.cluster.gpu), engine.token_budget,
                          engine.max_sequences),
      file.model);
}

}  // namespace photonrail::config
