// A scenario with a fitted compute efficiency, as its file would say it.
#include "config/scenario_parts.hpp"
#include "formats/input_file.hpp"
#include "photonrail/config.hpp"
#include "photonrail/version.hpp"

namespace photonrail {

namespace {

using json::Json;
// The GPU as an object: a preset by name becomes {"preset": ...}, none at all the default spelled out.
Json gpu_object(const Json& cluster) {
  const Json* const given = cluster.find("gpu");
  if (given == nullptr) {
    const GpuSpec standard;
    return {{"peak_tflops", standard.peak_tflops},
            {"memory_gb_per_s", standard.memory_gb_per_s},
            {"memory_gb", standard.memory_gb}};
  }
  if (given->is_string()) return {{"preset", *given}};
  return *given;
}

}  // namespace

std::string calibrated_scenario(const std::filesystem::path& file, std::span<const Override> overrides,
                                const Calibration& calibration, std::string_view source) {
  return calibrated_scenario(formats::read_file(file), file.string(), overrides, calibration, source);
}

std::string calibrated_scenario(std::string_view json, std::string_view file, std::span<const Override> overrides,
                                const Calibration& calibration, std::string_view source) {
  const std::string name(file);
  Json root = json::parse_json(json, name);
  config::apply_overrides(root, overrides);
  Json* const cluster = root.find("cluster");
  if (cluster == nullptr || !cluster->is_object()) throw ConfigError(name + ": /cluster", "missing", "is this a scenario?");
  Json gpu = gpu_object(*cluster);
  if (!gpu.is_object()) throw ConfigError(name + ": /cluster/gpu", "must be a name or an object");
  gpu["compute_efficiency"] = calibration.compute_efficiency;
  gpu["calibration"] = {{"measured_step_s", to_seconds(calibration.measured)},
                        {"simulated_step_s", to_seconds(calibration.simulated)},
                        {"photonrail_version", version()}};
  if (!source.empty()) gpu["calibration"]["source"] = source;
  (*cluster)["gpu"] = std::move(gpu);
  return root.dump(2) + "\n";
}

}  // namespace photonrail
