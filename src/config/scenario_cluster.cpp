// The "cluster" section.
#include "config/scenario_parts.hpp"
#include "photonrail/cluster/device.hpp"

namespace photonrail::config {

namespace {

constexpr std::uint32_t kMaxServers = 1'000'000;
constexpr std::uint32_t kMaxGpusPerServer = 65'536;
constexpr std::uint32_t kMaxRails = 1024;  // with switches and controllers of their own, or below a crossbar
constexpr std::uint32_t kMaxNicPorts = 64;

// Where the efficiency comes from (calibrated_scenario): for people, nothing depends on it.
void check_calibration(JsonReader section) {
  for (const char* key : {"measured_step_s", "simulated_step_s"}) {
    if (const auto v = section.optional(key)) static_cast<void>(v->positive(1e9));
  }
  for (const char* key : {"source", "photonrail_version"}) {
    if (const auto v = section.optional(key)) static_cast<void>(v->string());
  }
  section.finish();
}

GpuSpec read_gpu(JsonReader gpu) {
  if (gpu.is_string()) return gpu.lookup(gpu_preset);
  GpuSpec spec;
  const auto preset = gpu.optional("preset");
  if (preset) spec = preset->lookup(gpu_preset);
  const auto required = [&](std::string_view key, double& into) {
    if (preset && !gpu.optional(key)) return;
    into = gpu.child(key, "a GPU without a \"preset\" needs it").positive(1e9);
  };
  required("peak_tflops", spec.peak_tflops);
  required("memory_gb_per_s", spec.memory_gb_per_s);
  if (const auto v = gpu.optional("memory_gb")) {
    spec.memory_gb = v->number(0.0, 1e9);
  } else if (!preset) {
    spec.memory_gb = 0.0;  // unknown
  }
  if (const auto v = gpu.optional("compute_efficiency")) {
    spec.compute_efficiency = v->positive(1.0);
    spec.efficiency_assumed = false;
  }
  if (const auto v = gpu.optional("power_w")) spec.power_w = v->number(0.0, 1e6);
  if (const auto v = gpu.optional("calibration")) check_calibration(*v);
  gpu.finish();
  return spec;
}

void read_nic(JsonReader section, NicSpec& spec) {
  if (const auto v = section.optional("ports")) spec.ports = v->count(1, kMaxNicPorts);
  if (const auto v = section.optional("port_gb_per_s")) spec.per_port = v->bandwidth();
  section.read_duration("latency", spec.latency);
  section.read_duration("message_overhead", spec.message_overhead);
  if (const auto v = section.optional("gpus")) spec.gpus = v->count(1, kMaxGpusPerServer);
  if (const auto v = section.optional("optical_budget_db")) spec.optical_budget_db = v->positive(1000.0);
  section.finish();
}

std::vector<std::uint32_t> read_numbers(const JsonReader& list, std::uint32_t most) {
  std::vector<std::uint32_t> numbers;
  for (const JsonReader& number : list.elements()) numbers.push_back(number.count(0, most));
  return numbers;
}

UnlikeGpus read_unlike(JsonReader section) {
  UnlikeGpus unlike;
  unlike.servers = read_numbers(section.child("servers", "the servers, numbered from 0"), kMaxServers);
  if (const auto v = section.optional("gpus")) unlike.gpus = read_numbers(*v, kMaxGpusPerServer);
  if (const auto v = section.optional("gpu")) unlike.gpu = read_gpu(*v);
  const auto speed = section.optional("speed");
  if (!speed && !unlike.gpu) section.missing("speed", "0.5: computations take twice as long; or \"gpu\", another model");
  if (speed) unlike.speed = speed->positive(1e3);
  if (const auto v = section.optional("memory_gb")) unlike.memory_gb = v->number(0.0, 1e9);
  section.finish();
  return unlike;
}

}  // namespace

ClusterSpec read_cluster(JsonReader section, const std::filesystem::path& directory) {
  ClusterSpec spec;
  spec.servers = section.child("servers").count(1, kMaxServers);
  spec.gpus_per_server = section.child("gpus_per_server").count(1, kMaxGpusPerServer);
  if (const auto v = section.optional("gpu")) spec.gpu = read_gpu(*v);
  if (const auto v = section.optional("scale_up")) read_scale_up(*v, spec.scale_up);
  if (const auto v = section.optional("nic")) read_nic(*v, spec.nic);
  if (const auto list = section.optional("unlike_gpus")) {
    for (const JsonReader& unlike : list->elements()) spec.unlike.push_back(read_unlike(unlike));
  }
  if (const auto v = section.optional("rail")) spec.rail = read_rail(*v, directory);
  if (spec.gpus_per_server > kMaxRails && (spec.scale_up.shape.crossbar() || spec.rail.kind == RailKind::kOptical)) {
    section.fail_at(
        "gpus_per_server",
        "must be from 1 to 1024 with a crossbar or optical rails, but is " + std::to_string(spec.gpus_per_server),
        "\"scale_up\" with \"torus\" or \"ring\", and electrical rails");
  }
  section.finish();
  in_section(section, cluster_keys(), [&] { spec.validate(); });
  return spec;
}

}  // namespace photonrail::config
