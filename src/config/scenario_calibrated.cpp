// A scenario with a fitted compute efficiency, as its file would say it.
#include "config/gzip.hpp"
#include "config/scenario_parts.hpp"
#include "photonrail/config.hpp"
#include "photonrail/version.hpp"

namespace photonrail {

namespace {

using config::Json;
using OrderedJson = nlohmann::ordered_json;

// `value` with the keys of its objects as they stand in `pattern`; keys that are not there come last.
OrderedJson in_order_of(const Json& value, const OrderedJson& pattern) {
  if (!value.is_object() || !pattern.is_object()) return OrderedJson::parse(value.dump());
  OrderedJson ordered = OrderedJson::object();
  for (const auto& [key, like] : pattern.items()) {
    if (value.contains(key)) ordered[key] = in_order_of(value.at(key), like);
  }
  for (const auto& [key, child] : value.items()) {
    if (!ordered.contains(key)) ordered[key] = OrderedJson::parse(child.dump());
  }
  return ordered;
}

// The GPU as an object: a preset by name becomes {"preset": ...}, none at all the default spelled out.
Json gpu_object(const Json& cluster) {
  const auto given = cluster.find("gpu");
  if (given == cluster.end()) {
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
  const std::string text = config::read_file(file);
  Json root = config::parse_json(text, file.string());
  config::apply_overrides(root, overrides);
  if (!root.is_object() || !root.contains("cluster") || !root["cluster"].is_object()) {
    throw ConfigError(file.string() + ": /cluster", "missing", "is this a scenario?");
  }
  Json gpu = gpu_object(root["cluster"]);
  gpu["compute_efficiency"] = calibration.compute_efficiency;
  gpu["calibration"] = {{"measured_step_s", to_seconds(calibration.measured)},
                        {"simulated_step_s", to_seconds(calibration.simulated)},
                        {"photonrail_version", version()}};
  if (!source.empty()) gpu["calibration"]["source"] = source;
  root["cluster"]["gpu"] = std::move(gpu);
  return in_order_of(root, OrderedJson::parse(text, nullptr, true, true)).dump(2) + "\n";
}

}  // namespace photonrail
