// The "rail" section of "cluster": its switches, their delays, planes, pods and faults.
#include "config/scenario_parts.hpp"
#include "photonrail/cluster/device.hpp"

namespace photonrail::config {

namespace {

std::vector<Duration> read_samples(const JsonReader& list, double picoseconds) {
  std::vector<Duration> samples;
  for (const JsonReader& sample : list.elements()) samples.push_back(sample.in_picoseconds(picoseconds));
  if (samples.empty()) list.fail("has no samples", "measured delays, in the unit of the key");
  return samples;
}

}  // namespace

DelayDistribution read_delay(JsonReader value, double picoseconds, const std::filesystem::path& directory) {
  if (!value.is_object()) return DelayDistribution::constant(value.in_picoseconds(picoseconds));
  using enum DelayDistribution::Kind;
  DelayDistribution delay;
  delay.kind = value.child("distribution")
                   .choice<DelayDistribution::Kind>(
                       {{"uniform", kUniform}, {"normal", kNormal}, {"log_normal", kLogNormal}, {"empirical", kEmpirical}});
  const auto time = [&](std::string_view key) { return value.child(key).in_picoseconds(picoseconds); };
  if (delay.kind == kUniform) {
    delay.a = time("least");
    delay.b = time("greatest");
    if (delay.b < delay.a) value.fail_at("greatest", "must not be less than \"least\"");
  } else if (delay.kind == kNormal) {
    delay.a = time("mean");
    delay.b = time("deviation");
  } else if (delay.kind == kLogNormal) {
    delay.a = time("median");
    delay.sigma = value.child("sigma").number(0.0, 2.0);  // the bound of ClusterSpec::validate
  } else {
    delay.samples = inline_or_file(value.child("samples", "an array of delays, or the path of a JSON file that holds one"),
                                   directory, [&](const JsonReader& list) { return read_samples(list, picoseconds); });
  }
  value.finish();
  return delay;
}

namespace {

PipMeshSpec read_pip(JsonReader section) {
  PipMeshSpec mesh;
  mesh.rows = section.child("rows", "rows of hexagons").count(1, 64);
  mesh.columns = section.child("columns", "hexagons of a row").count(1, 64);
  if (const auto v = section.optional("cell_loss_db")) mesh.cell_loss_db = v->number(0.01, 20.0);
  if (const auto v = section.optional("port_loss_db")) mesh.port_loss_db = v->number(0.0, 20.0);
  if (const auto v = section.optional("crosstalk_db")) mesh.crosstalk_db = v->number(-100.0, -3.0);
  section.finish();
  return mesh;
}

OpticalSwitchSpec read_switch(JsonReader section, const std::filesystem::path& directory) {
  if (section.is_string()) return section.lookup(optical_switch_preset);
  OpticalSwitchSpec spec;
  const auto preset = section.optional("preset");
  if (preset) spec = preset->lookup(optical_switch_preset);
  if (const auto v = section.optional("ports")) spec.ports = v->count(1, 1'000'000'000);
  if (const auto v = section.timed("reconfiguration", "ms")) {
    spec.reconfiguration = read_delay(v->first, v->second, directory);
  } else if (!preset) {
    section.missing("reconfiguration_ms", "a switch without a \"preset\" needs it (any of _ns, _us, _ms, _s)");
  }
  section.read_duration("settle", spec.settle, "ms");
  section.read_duration("link_up", spec.link_up, "ms");
  if (const auto v = section.optional("dark")) {
    spec.darkness = v->choice<DarkScope>({{"ports", DarkScope::kPorts}, {"switch", DarkScope::kSwitch}});
  }
  section.read_duration("batching", spec.batching, "us");
  if (const auto v = section.optional("commands_per_s")) {
    const double rate = v->number(1e-3, 1e12);
    spec.command_gap = round_up_picoseconds(1e12 / rate);
  }
  if (const auto v = section.optional("insertion_loss_db")) spec.insertion_loss_db = v->number(0.0, 1000.0);
  if (const auto v = section.optional("pip")) spec.pip = read_pip(*v);
  if (const auto v = section.optional("power_w")) spec.power_w = v->number(0.0, 1e9);
  if (const auto v = section.optional("usd_per_port")) spec.usd_per_port = v->number(0.0, 1e9);
  section.finish();
  return spec;
}

PodSpec read_pods(JsonReader section) {
  using enum PodSpec::Layer;
  PodSpec pods;
  pods.servers = section.child("servers", "servers of a pod").count(1, 1'000'000);
  pods.layer = section.child("joined_by", R"("electrical" or "optical")")
                   .choice<PodSpec::Layer>({{"electrical", kElectrical}, {"optical", kOptical}});
  if (pods.layer == kOptical) {
    section.refuse("oversubscription", "circuits between pods cannot be shared",
                   "an optical layer has an uplink for every NIC port; remove it");
  }
  if (const auto v = section.optional("oversubscription")) pods.oversubscription = v->number(1.0, 1e6);
  section.read_duration("latency", pods.latency);
  section.finish();
  return pods;
}

PortFault read_fault(JsonReader section) {
  constexpr std::uint32_t kMaxNumber = 1'000'000'000;
  PortFault fault;
  using enum PortFault::Kind;
  fault.kind = section.child("kind", R"("failed", "stuck" or "slow")")
                   .choice<PortFault::Kind>({{"failed", kFailed}, {"stuck", kStuck}, {"slow", kSlow}});
  if (fault.kind == kSlow) fault.rate = section.child("rate", "the share of its rate that it has left").number(1e-6, 1.0);
  if (const auto v = section.optional("rail")) fault.rail = RailId{v->count(0, kMaxNumber)};
  if (const auto v = section.optional("server")) fault.server = v->count(0, kMaxNumber);
  if (const auto v = section.optional("port")) fault.port = v->count(0, kMaxNumber);
  if (const auto v = section.optional("plane")) fault.plane = v->count(0, kMaxNumber);
  fault.detection = section.duration("detection", "ms").value_or(Duration{});
  section.read_time("at", fault.at, "ms");
  fault.lasts = section.duration("lasts", "ms");
  section.finish();
  return fault;
}

void read_faults(JsonReader& rail, RailSpec& spec) {
  if (const auto v = rail.optional("faults")) {
    for (const JsonReader& fault : v->elements()) spec.faults.push_back(read_fault(fault));
  }
}

void read_electrical(JsonReader& rail, RailSpec& spec) {
  for (const char* key : {"switch", "forwarding", "on_dark", "planes", "pods"}) {
    rail.refuse(key, "electrical rails have no circuits", "remove it, or set \"kind\" to \"optical\"");
  }
  if (const auto v = rail.optional("radix")) spec.switch_radix = v->count(2, 1'000'000);
  if (const auto v = rail.optional("oversubscription")) spec.oversubscription = v->number(1.0, 1e6);
  rail.read_duration("tier_latency", spec.tier_latency);
  read_faults(rail, spec);
}

void read_optical(JsonReader& rail, const std::filesystem::path& directory, RailSpec& spec) {
  for (const char* key : {"radix", "oversubscription", "tier_latency_ns", "tier_latency_us"}) {
    rail.refuse(key, "only electrical rails have it", "remove it; the ports of an OCS are /cluster/rail/switch/ports");
  }
  spec.optical =
      read_switch(rail.child("switch", "optical rails need a switch: the name of a preset or an object"), directory);
  if (const auto v = rail.optional("forwarding")) spec.forwarding = v->boolean();
  if (const auto v = rail.optional("on_dark")) {
    spec.on_dark = v->choice<OnDark>({{"error", OnDark::kError}, {"pause", OnDark::kPause}});
  }
  if (const auto v = rail.optional("planes")) spec.planes = v->count(1, 1'000'000);
  if (const auto v = rail.optional("pods")) spec.pods = read_pods(*v);
  read_faults(rail, spec);
}

}  // namespace

RailSpec read_rail(JsonReader rail, const std::filesystem::path& directory) {
  RailSpec spec;
  spec.kind = rail.child("kind", "\"electrical\" or \"optical\"")
                  .choice<RailKind>({{"electrical", RailKind::kElectrical}, {"optical", RailKind::kOptical}});
  spec.kind == RailKind::kOptical ? read_optical(rail, directory, spec) : read_electrical(rail, spec);
  rail.finish();
  return spec;
}

}  // namespace photonrail::config
