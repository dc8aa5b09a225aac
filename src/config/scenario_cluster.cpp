// The "cluster" section.
#include "config/scenario_parts.hpp"
#include "photonrail/device.hpp"

namespace photonrail::config {

namespace {

constexpr std::uint32_t kMostServers = 1'000'000;
constexpr std::uint32_t kMostGpusPerServer = 1024;
constexpr std::uint32_t kMostNicPorts = 64;

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
  if (const auto v = gpu.optional("compute_efficiency")) spec.compute_efficiency = v->positive(1.0);
  if (const auto v = gpu.optional("power_w")) spec.power_w = v->number(0.0, 1e6);
  if (const auto v = gpu.optional("calibration")) check_calibration(*v);
  gpu.finish();
  return spec;
}

void read_scale_up(JsonReader section, ScaleUpSpec& spec) {
  if (const auto v = section.optional("gb_per_s")) spec.per_gpu = v->bandwidth();
  section.read_duration("latency", spec.latency);
  section.finish();
}

void read_nic(JsonReader section, NicSpec& spec) {
  if (const auto v = section.optional("ports")) spec.ports = v->count(1, kMostNicPorts);
  if (const auto v = section.optional("port_gb_per_s")) spec.per_port = v->bandwidth();
  section.read_duration("latency", spec.latency);
  section.read_duration("message_overhead", spec.message_overhead);
  section.finish();
}

}  // namespace

DelayDistribution read_delay(JsonReader value, double picoseconds) {
  if (!value.is_object()) return DelayDistribution::constant(value.in_picoseconds(picoseconds));
  using Kind = DelayDistribution::Kind;
  DelayDistribution delay;
  delay.kind =
      value.child("distribution")
          .choice<Kind>({{"uniform", Kind::kUniform}, {"normal", Kind::kNormal}, {"log_normal", Kind::kLogNormal}});
  const auto time = [&](std::string_view key) { return value.child(key).in_picoseconds(picoseconds); };
  if (delay.kind == Kind::kUniform) {
    delay.a = time("least");
    delay.b = time("greatest");
    if (delay.b < delay.a) value.fail_at("greatest", "must not be less than \"least\"");
  } else if (delay.kind == Kind::kNormal) {
    delay.a = time("mean");
    delay.b = time("deviation");
  } else {
    delay.a = time("median");
    delay.sigma = value.child("sigma").number(0.0, 2.0);  // the bound of ClusterSpec::validate
  }
  value.finish();
  return delay;
}

namespace {

OpticalSwitchSpec read_switch(JsonReader section) {
  if (section.is_string()) return section.lookup(optical_switch_preset);
  OpticalSwitchSpec spec;
  const auto preset = section.optional("preset");
  if (preset) spec = preset->lookup(optical_switch_preset);
  if (const auto v = section.optional("ports")) spec.ports = v->count(1, 1'000'000'000);
  if (const auto v = section.timed("reconfiguration", "ms")) {
    spec.reconfiguration = read_delay(v->first, v->second);
  } else if (!preset) {
    section.fail_at("reconfiguration_ms", "missing", "a switch without a \"preset\" needs it (any of _ns, _us, _ms, _s)");
  }
  section.read_duration("link_up", spec.link_up, "ms");
  if (const auto v = section.optional("power_w")) spec.power_w = v->number(0.0, 1e9);
  if (const auto v = section.optional("usd_per_port")) spec.usd_per_port = v->number(0.0, 1e9);
  section.finish();
  return spec;
}

void read_electrical(JsonReader& rail, RailSpec& spec) {
  for (const char* key : {"switch", "forwarding", "on_dark"}) {
    rail.refuse(key, "electrical rails have no circuits", "remove it, or set \"kind\" to \"optical\"");
  }
  if (const auto v = rail.optional("radix")) spec.switch_radix = v->count(2, 1'000'000);
  if (const auto v = rail.optional("oversubscription")) spec.oversubscription = v->number(1.0, 1e6);
  rail.read_duration("tier_latency", spec.tier_latency);
}

void read_optical(JsonReader& rail, RailSpec& spec) {
  for (const char* key : {"radix", "oversubscription", "tier_latency_ns", "tier_latency_us"}) {
    rail.refuse(key, "only electrical rails have it", "remove it; the ports of an OCS are /cluster/rail/switch/ports");
  }
  spec.optical = read_switch(rail.child("switch", "optical rails need a switch: the name of a preset or an object"));
  if (const auto v = rail.optional("forwarding")) spec.forwarding = v->boolean();
  if (const auto v = rail.optional("on_dark")) {
    spec.on_dark = v->choice<OnDark>({{"error", OnDark::kError}, {"pause", OnDark::kPause}});
  }
}

RailSpec read_rail(JsonReader rail) {
  RailSpec spec;
  spec.kind = rail.child("kind", "\"electrical\" or \"optical\"")
                  .choice<RailKind>({{"electrical", RailKind::kElectrical}, {"optical", RailKind::kOptical}});
  spec.kind == RailKind::kOptical ? read_optical(rail, spec) : read_electrical(rail, spec);
  rail.finish();
  return spec;
}

}  // namespace

ClusterSpec read_cluster(JsonReader section) {
  ClusterSpec spec;
  spec.servers = section.child("servers").count(1, kMostServers);
  spec.gpus_per_server = section.child("gpus_per_server").count(1, kMostGpusPerServer);
  if (const auto v = section.optional("gpu")) spec.gpu = read_gpu(*v);
  if (const auto v = section.optional("scale_up")) read_scale_up(*v, spec.scale_up);
  if (const auto v = section.optional("nic")) read_nic(*v, spec.nic);
  if (const auto v = section.optional("rail")) spec.rail = read_rail(*v);
  section.finish();
  try {
    spec.validate();
  } catch (const ConfigError& e) {
    throw below(section.pointer(), e);
  }
  return spec;
}

}  // namespace photonrail::config
