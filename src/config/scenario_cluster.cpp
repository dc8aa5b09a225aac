// The "cluster" section.
#include "config/scenario_parts.hpp"
#include "config/sections.hpp"
#include "photonrail/cluster/device.hpp"

namespace photonrail::config {

namespace {

using fields::either;
using fields::Field;
using fields::Reading;
using fields::Shape;

constexpr std::uint32_t kMaxServers = 1'000'000;
constexpr std::uint32_t kMaxGpusPerServer = 65'536;
constexpr std::uint32_t kMaxRails = 1024;  // with switches and controllers of their own, or below a crossbar
constexpr std::uint32_t kMaxNicPorts = 64;

std::vector<std::string> gpu_words(const Registries& /*known*/) {
  std::vector<std::string> words;
  for (const GpuPreset& preset : gpu_presets()) words.emplace_back(preset.key);
  return words;
}

// Where the efficiency comes from (calibrated_scenario): for people, nothing depends on it.
constexpr Field kCalibrationFields[] = {
    fields::noted("measured_step_s", fields::positive_shape(1e9), "The step that was measured."),
    fields::noted("simulated_step_s", fields::positive_shape(1e9), "The step that the fitted efficiency gives."),
    fields::noted("source", fields::text_shape(), "Where the measurement comes from."),
    fields::noted("photonrail_version", fields::text_shape(), "The version that fitted it."),
};
constexpr Section kCalibration{kCalibrationFields};

constexpr Field kGpuFields[] = {
    fields::own(
        "preset", fields::text_shape(gpu_words), [](const Reading& at) { into<GpuSpec>(at) = at.value.lookup(gpu_preset); },
        "The GPU whose values the other keys change: `photonrail list gpus`.")
        .or_else("none"),
    fields::positive<&GpuSpec::peak_tflops>("peak_tflops", 1e9, "Dense, at the precision of the job.")
        .must_if("!preset", "a GPU without a \"preset\" needs it"),
    fields::positive<&GpuSpec::memory_gb_per_s>("memory_gb_per_s", 1e9, "Bandwidth of its memory.")
        .must_if("!preset", "a GPU without a \"preset\" needs it"),
    fields::number<&GpuSpec::memory_gb>("memory_gb", 0.0, 1e9, "Capacity of its memory; 0: unknown.")
        .or_else("of the preset, else 0"),
    fields::own(
        "compute_efficiency", fields::positive_shape(1.0),
        [](const Reading& at) {
          into<GpuSpec>(at).compute_efficiency = number_of(at);
          into<GpuSpec>(at).efficiency_assumed = false;
        },
        "The share of the peak that kernels reach.")
        .or_else("1"),
    fields::number<&GpuSpec::power_w>("power_w", 0.0, 1e6, "Power while it computes, for the energy of a step; 0: unknown.")
        .or_else("of the preset, else 0"),
    fields::own(
        "calibration", fields::object_shape(kCalibration),
        [](const Reading& at) { fields::read(at.value, kCalibration, nullptr); },
        "Where the efficiency comes from; nothing depends on it.")
        .or_else("none"),
};

void check_gpu(const Reading& at) {
  if (!at.section.has("preset") && !at.section.has("memory_gb")) into<GpuSpec>(at).memory_gb = 0.0;  // unknown
}

GpuSpec read_gpu(const JsonReader& gpu) {
  if (gpu.is_string()) return gpu.lookup(gpu_preset);
  GpuSpec spec;
  fields::read(gpu, kGpuSection, &spec);
  return spec;
}

constexpr Shape kGpuName = fields::text_shape(gpu_words);
constexpr Shape kGpuShape = either(fields::object_shape(kGpuSection), kGpuName);

constexpr Field kNicFields[] = {
    fields::count<&NicSpec::ports>("ports", 1, kMaxNicPorts, "Ports of a NIC, which every GPU has.").or_else("1"),
    fields::rate<&NicSpec::per_port>("port_gb_per_s", "Rate of a port in each direction.").by("per_port").or_else("50"),
    fields::time<&NicSpec::latency>("latency", "ns", "From GPU to GPU over a rail with one switch.").or_else("0"),
    fields::time<&NicSpec::message_overhead>("message_overhead", "ns",
                                             "The port's gap between messages; scale-up messages pay it too.")
        .or_else("0"),
    fields::count<&NicSpec::gpus>("gpus", 1, kMaxGpusPerServer,
                                  "Neighbouring GPUs of a server that share a NIC and its ports (72 GPUs with 18 NICs: 4); "
                                  "a divisor of `gpus_per_server`, above 1 on electrical rails only.")
        .or_else("1"),
    fields::positive<&NicSpec::optical_budget_db>("optical_budget_db", 1000.0,
                                                  "Loss that a pair of transceivers bridges; on optical rails with "
                                                  "`insertion_loss_db` or `pip`.")
        .or_else("not checked"),
};

template <std::vector<std::uint32_t> UnlikeGpus::*Member>
void store_numbers(const Reading& at) {
  const Shape& shape = *at.field.shape.element;
  for (const JsonReader& number : at.value.elements()) {
    (into<UnlikeGpus>(at).*Member).push_back(number.count(0, static_cast<std::uint32_t>(shape.greatest)));
  }
}

constexpr Shape kServerNumber = fields::whole_shape(0, kMaxServers);
constexpr Shape kLocalIndex = fields::whole_shape(0, kMaxGpusPerServer);
constexpr Field kUnlikeFields[] = {
    fields::own("servers", fields::list_shape(kServerNumber), store_numbers<&UnlikeGpus::servers>,
                "The servers of these GPUs.")
        .must("the servers, numbered from 0"),
    fields::own("gpus", fields::list_shape(kLocalIndex), store_numbers<&UnlikeGpus::gpus>, "Their local indices.")
        .or_else("all of a server"),
    fields::own(
        "gpu", kGpuShape, [](const Reading& at) { into<UnlikeGpus>(at).gpu = read_gpu(at.value); },
        "Their model: its roofline times FLOPs and bytes, its tables the operators of a training job. A time that a "
        "trace gives stays, with a warning.")
        .or_else("that of the cluster"),
    fields::positive<&UnlikeGpus::speed>("speed", 1e3,
                                         "Computations take 1 / speed of the time on their GPU, those whose time is given "
                                         "too; 0.001 or more.")
        .must_if("!gpu", "0.5: computations take twice as long; or \"gpu\", another model")
        .or_else("1"),
    fields::number<&UnlikeGpus::memory_gb>("memory_gb", 0.0, 1e9, "A job has to fit the smallest.")
        .or_else("that of their GPU"),
};
constexpr Section kUnlike{kUnlikeFields};

constexpr Shape kSiteServers = fields::whole_shape(0, kMaxServers);
constexpr Shape kSiteNumber = fields::whole_shape(0, SitesSpec::kMax);
constexpr Field kSiteLinkFields[] = {
    fields::own(
        "between", fields::list_shape(kSiteNumber),
        [](const Reading& at) {
          std::vector<std::uint32_t> sites;
          for (const JsonReader& site : at.value.elements()) sites.push_back(site.count(0, SitesSpec::kMax));
          if (sites.size() != 2) at.value.fail("must be the numbers of two sites", "[0, 1]");
          into<SiteLink>(at).a = sites[0];
          into<SiteLink>(at).b = sites[1];
        },
        "The two sites that it joins, numbered from 0.")
        .must("the numbers of two sites, as in [0, 1]"),
    fields::rate<&SiteLink::rate>("gb_per_s", "Its rate in each direction, which all rails share.").by("rate").must(),
    fields::time<&SiteLink::latency>("latency", "us", "Added to what crosses it.").or_else("0"),
};
constexpr Section kSiteLinks{kSiteLinkFields};
constexpr Field kSitesFields[] = {
    fields::own(
        "servers", fields::list_shape(kSiteServers),
        [](const Reading& at) {
          for (const JsonReader& each : at.value.elements()) {
            into<SitesSpec>(at).servers.push_back(each.count(0, kMaxServers));
          }
          if (into<SitesSpec>(at).servers.empty()) at.value.fail("has no site", "the servers of each site");
        },
        "Servers of each site, which are consecutive; they add up to the cluster's.")
        .must("the servers of each site, as in [4, 4]"),
    fields::parts<kSiteLinks, &SitesSpec::links>("links",
                                                 "Links between two sites each; a message crosses the fewest that lead to "
                                                 "its end.")
        .or_else("none: of one site"),
};
constexpr Section kSites{kSitesFields};

constexpr Field kClusterFields[] = {
    fields::count<&ClusterSpec::servers>("servers", 1, kMaxServers, "Servers, each a scale-up domain.").must(),
    fields::count<&ClusterSpec::gpus_per_server>("gpus_per_server", 1, kMaxGpusPerServer,
                                                 "GPUs of a server, and rails; above 1024 with a torus or a ring and "
                                                 "electrical rails only.")
        .must(),
    fields::own(
        "gpu", kGpuShape, [](const Reading& at) { into<ClusterSpec>(at).gpu = read_gpu(at.value); },
        "The GPUs: a name of `photonrail list gpus`, or their values.")
        .or_else("989 TFLOP/s, 4800 GB/s, 141 GB"),
    fields::own(
        "scale_up", kScaleUpShape, [](const Reading& at) { read_scale_up(at.value, into<ClusterSpec>(at).scale_up); },
        "What joins the GPUs of a server: a measured fabric by its name, or its values.")
        .or_else("450 GB/s"),
    fields::part<kNicSection, &ClusterSpec::nic>("nic", "The NIC of each GPU."),
    fields::parts<kUnlike, &ClusterSpec::unlike>("unlike_gpus",
                                                 "GPUs that differ from `gpu`, by one factor or by a model of their own, "
                                                 "each entry for some servers.")
        .by("unlike")
        .or_else("none"),
    fields::part<kSites, &ClusterSpec::sites>("sites", "Sites of the cluster, joined by links that messages share.")
        .or_else("one site"),
    fields::own(
        "rail", fields::object_shape(kRailSection),
        [](const Reading& at) { into<ClusterSpec>(at).rail = read_rail(at.value, folder_of(at)); },
        "The switches of the rails.")
        .or_else("electrical rails"),
};

void check_cluster(const Reading& at) {
  const auto& spec = into<ClusterSpec>(at);
  if (spec.gpus_per_server <= kMaxRails) return;
  if (!spec.scale_up.shape.crossbar() && spec.rail.kind != RailKind::kOptical) return;
  at.section.fail_at(
      "gpus_per_server",
      "must be from 1 to 1024 with a crossbar or optical rails, but is " + std::to_string(spec.gpus_per_server),
      "\"scale_up\" with \"torus\" or \"ring\", and electrical rails");
}

}  // namespace

constexpr Section kGpuSection{kGpuFields, check_gpu};
constexpr Section kNicSection{kNicFields};
constexpr Section kClusterSection{kClusterFields, check_cluster};

ClusterSpec read_cluster(JsonReader section, const std::filesystem::path& directory) {
  ClusterSpec spec;
  const FileContext context(directory);
  fields::read(section, kClusterSection, &spec, &context);
  in_section(section, kClusterSection, [&] { spec.validate(); });
  return spec;
}

}  // namespace photonrail::config
