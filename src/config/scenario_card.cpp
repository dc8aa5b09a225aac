// CCL-Bench workload cards as scenarios, and scenarios as cards.
#include "config/scenario_parts.hpp"
#include "formats/card/card.hpp"
#include "photonrail/cluster/device.hpp"
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"

#include <algorithm>

namespace photonrail {

namespace {

using json::Json;

formats::card::KnownNames known_names() {
  formats::card::KnownNames known;
  for (const ModelPreset& preset : model_presets()) known.models.push_back({preset.key, preset.spec.latent.has_value()});
  for (const GpuPreset& preset : gpu_presets()) known.gpus.emplace_back(preset.key);
  return known;
}

// The training section as the scenario's own reader understands it.
std::optional<TrainingSpec> training_of(const Json& root, const std::filesystem::path& directory) {
  if (json::find_at(root, "/workload/training") == nullptr) return std::nullopt;
  return config::read_training_spec_of_file(root, directory);
}

double gbit_per_s(Bandwidth rate, std::uint32_t count) { return rate.bytes_per_second * count / 1e9 * 8.0; }

}  // namespace

std::string scenario_from_card(const std::filesystem::path& card) {
  const std::string text = formats::card::read(card, known_names()).dump(2) + "\n";
  static_cast<void>(parse_scenario(text, card.parent_path(), card.string() + " as a scenario"));  // or says what is wrong
  return text;
}

std::string card_from_scenario(const std::filesystem::path& file, std::span<const Override> overrides) {
  return card_from_scenario(file, overrides, Registries{});
}

std::string card_from_scenario(const std::filesystem::path& file, std::span<const Override> overrides,
                               const Registries& known) {
  const std::string text = formats::read_file(file);  // once: it may be a pipe
  const Scenario scenario = parse_scenario(text, file.parent_path(), file.string(), overrides, known);
  if (!scenario.jobs.empty())
    throw ConfigError(file.string() + ": /jobs", "a card is about one job", "export a scenario with a \"workload\"");
  Json root = json::parse_json(text, file.string());
  config::apply_overrides(root, overrides);
  const Json* const parameters = json::find_at(root, "/workload/training/precision/parameters");
  const ClusterSpec& cluster = scenario.cluster;
  const auto& presets = gpu_presets();
  const bool is_preset =
      std::any_of(presets.begin(), presets.end(), [&](const GpuPreset& p) { return p.key == cluster.gpu.name; });
  return formats::card::write({.description = scenario.why.empty() ? scenario.name : scenario.why,
                               .precision = parameters != nullptr ? parameters->string() : "bf16",
                               .iterations = scenario.run.iterations,
                               .topology = cluster.rail.kind == RailKind::kOptical ? "optical_rails" : "electrical_rails",
                               .nic_gbit_per_s = gbit_per_s(cluster.nic.per_port, cluster.nic.ports),
                               .scale_up_gbit_per_s = gbit_per_s(cluster.scale_up.per_gpu, 1),
                               .gpu = (is_preset ? "nvidia_" : "") + cluster.gpu.name,
                               .gpus_per_server = cluster.gpus_per_server,
                               .training = training_of(root, file.parent_path())},
                              scenario.graph);
}

}  // namespace photonrail
