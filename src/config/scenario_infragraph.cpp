// InfraGraph's infrastructures as scenarios, and clusters of scenarios as infrastructures.
#include "config/scenario_parts.hpp"
#include "core/inside.hpp"
#include "formats/infragraph/infragraph.hpp"
#include "formats/input_file.hpp"
#include "photonrail/config.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/simulate.hpp"

namespace photonrail {

namespace {

using json::Json;

double nanoseconds(Duration d) { return static_cast<double>(d.count()) / 1e3; }

// As the scenario has the number; what it does not say, as the cluster has it.
double rate(const Json& root, const std::string& pointer, Bandwidth otherwise) {
  const Json* const value = json::find_at(root, pointer);
  return value != nullptr && value->is_number() ? value->number() : otherwise.bytes_per_second / 1e9;
}

// Signs that a name of the schema may not have become dashes.
std::string as_name(const std::string& text) {
  std::string name = text.empty() ? "photonrail" : text;
  for (char& c : name) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' || c == '_';
    if (!is_word) c = '-';
  }
  return name;
}

}  // namespace

std::string scenario_from_infragraph(const std::filesystem::path& file) {
  const Json value = formats::infragraph::read_value(file);
  formats::infragraph::ClusterSection section;
  std::string name;
  core::inside(file.string(), [&] {
    const auto document = formats::infragraph::read_document(value);
    name = document.name;
    section = formats::infragraph::cluster_of(document);
  });
  std::string why = "The cluster of " + file.filename().string() + ".";
  for (const std::string& remark : section.remarks) why += " " + remark;
  const Json* const kind = json::find_at(section.cluster, "/rail/kind");
  const bool optical = kind != nullptr && kind->is_string() && kind->string() == "optical";
  Json scenario = Json::object();
  scenario["schema"] = Json("photonrail.scenario/1");
  scenario["name"] = Json(name);
  scenario["why"] = Json(why);
  scenario["cluster"] = std::move(section.cluster);
  const ControllerRegistry known = ControllerRegistry::builtin();
  if (optical) scenario["controller"] = Json{{"name", Json(known.first_that_decides()->name)}};  // as photonrail init
  scenario["workload"] = Json{{"collective", Json{{"op", Json("all_reduce")}, {"bytes", Json(1'000'000'000)}}}};
  const std::string text = scenario.dump(2) + "\n";
  static_cast<void>(parse_scenario(text, file.parent_path(), file.string() + " as a scenario"));  // or says what is wrong
  return text;
}

std::string infragraph_from_scenario(const std::filesystem::path& file, std::span<const Override> overrides,
                                     const Registries& known) {
  const std::string text = formats::read_file(file);  // once: it may be a pipe
  const Scenario scenario = parse_scenario(text, file.parent_path(), file.string(), overrides, known);
  Json root = json::parse_json(text, file.string());
  config::apply_overrides(root, overrides);
  const Json* const cluster = root.find("cluster");
  if (cluster == nullptr)
    throw ConfigError(file.string() + ": /cluster", "is not in the file itself",
                      "photonrail import astra writes one that has it");
  const ClusterSpec& spec = scenario.cluster;
  if (const Json* const samples = json::find_at(*cluster, "/rail/switch/reconfiguration_ms/samples");
      samples != nullptr && samples->is_string())
    throw ConfigError(file.string() + ": /cluster/rail/switch/reconfiguration_ms/samples", "is the path of a file",
                      "the samples themselves: an infrastructure stands alone");
  const formats::infragraph::ClusterFacts facts{
      .name = as_name(scenario.name),
      .description = scenario.why,
      .servers = spec.servers,
      .gpus_per_server = spec.gpus_per_server,
      .nic_ports = spec.nic.ports,
      .planes = spec.rail.kind == RailKind::kOptical ? spec.rail.planes : 1,
      .optical = spec.rail.kind == RailKind::kOptical,
      .port_gb_per_s = rate(*cluster, "/nic/port_gb_per_s", spec.nic.per_port),
      .nic_latency_ns = nanoseconds(spec.nic.latency),
      .scale_up_gb_per_s = rate(*cluster, "/scale_up/gb_per_s", spec.scale_up.per_gpu),
      .scale_up_latency_ns = nanoseconds(spec.scale_up.latency)};
  return formats::infragraph::infrastructure_of(facts, *cluster).dump(2) + "\n";
}

}  // namespace photonrail
