#include "columns.hpp"
#include "commands.hpp"
#include "core/counted.hpp"
#include "photonrail/cluster/device.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/config.hpp"
#include "photonrail/controller.hpp"
#include "photonrail/report.hpp"

#include <cmath>
#include <iostream>
#include <utility>

namespace photonrail::command {

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string whole(double value, const char* unit) { return std::to_string(std::llround(value)) + " " + unit; }

std::string unless_zero(double value, const std::string& text) { return value == 0.0 ? "-" : text; }

std::string keys_of(const std::vector<ControllerParameter>& parameters) {
  std::string keys;
  for (const ControllerParameter& parameter : parameters) keys += (keys.empty() ? " [" : ", ") + parameter.describe();
  return keys.empty() ? keys : keys + "]";
}

Rows controllers(const Registries& known) {
  Rows rows;
  for (const ControllerFactory& factory : known.controllers.all()) {
    const std::string claims = factory.claims.describe();
    rows.push_back({factory.name, factory.summary + keys_of(factory.parameters) + (claims.empty() ? "" : "; " + claims)});
  }
  return rows;
}

Rows agents(const Registries& known) {
  Rows rows;
  for (const AgentFactory& factory : known.agents.all())
    rows.push_back({factory.name, factory.summary + keys_of(factory.parameters)});
  return rows;
}

Rows schedulers(const Registries& known) {
  Rows rows;
  for (const SchedulerFactory& factory : known.schedulers.all()) rows.push_back({factory.name, factory.summary});
  return rows;
}

std::string ops_of(const CollectiveAlgorithm& algorithm) {
  std::string text;
  for (int i = 0; i < kCollectiveOpCount; ++i) {
    const auto op = static_cast<CollectiveOp>(i);
    // A send has two members, and an algorithm may want a power of two: ask for both.
    if (!algorithm.supports(op, 2) && !algorithm.supports(op, 8)) continue;
    text += (text.empty() ? "" : ", ") + std::string(name(op));
  }
  return text;
}

Rows collectives(const Registries& known) {
  Rows rows;
  for (const auto& algorithm : known.collectives.all()) {
    rows.push_back({std::string(algorithm->name()), std::string(algorithm->summary()) + " (" + ops_of(*algorithm) + ")"});
  }
  return rows;
}

Rows models(const Registries&) {
  Rows rows;
  for (const ModelPreset& preset : model_presets()) {
    const ModelSpec& model = preset.spec;
    rows.push_back({preset.key, std::to_string(std::llround(model.parameters() / 1e6)) + " M parameters",
                    core::counted(model.layers, "layer") + " of " + std::to_string(model.hidden), preset.note});
  }
  return rows;
}

Rows gpus(const Registries&) {
  Rows rows;
  for (const GpuPreset& preset : gpu_presets()) {
    const GpuSpec& gpu = preset.spec;
    rows.push_back({std::string(preset.key), whole(gpu.peak_tflops, "TFLOP/s"), whole(gpu.memory_gb_per_s, "GB/s"),
                    unless_zero(gpu.memory_gb, whole(gpu.memory_gb, "GB")), std::string(preset.note)});
  }
  return rows;
}

Rows switches(const Registries&) {
  Rows rows;
  for (const OpticalSwitchPreset& preset : optical_switch_presets()) {
    const OpticalSwitchSpec& spec = preset.spec;
    rows.push_back({std::string(preset.key), spec.ports == 0 ? "any ports" : core::counted(spec.ports, "port"),
                    to_text(spec.reconfiguration.typical()), unless_zero(spec.power_w, whole(spec.power_w, "W")),
                    std::string(preset.note)});
  }
  return rows;
}

Rows catalogues(const Registries&) {
  Rows rows;
  for (const PriceCatalogue& c : price_catalogues()) {
    rows.push_back({c.name, core::counted(c.gpus_per_server, "GPU") + " a server",
                    whole(c.port.bytes_per_second / 1e9, "GB/s"),
                    std::to_string(c.electrical_switch.ports) + "-port switches", c.note});
  }
  return rows;
}

Rows schedules(const Registries&) {
  Rows rows;
  for (const PipelineScheduleInfo& info : pipeline_schedules()) {
    rows.push_back({std::string(info.name), std::string(info.paper), std::string(info.summary)});
  }
  return rows;
}

using Table = std::pair<std::string, Rows (*)(const Registries&)>;

const std::vector<Table>& tables() {
  static const std::vector<Table> kTables{
      {"controllers", controllers}, {"collectives", collectives}, {"models", models},         {"gpus", gpus},
      {"switches", switches},       {"schedules", schedules},     {"catalogues", catalogues}, {"agents", agents},
      {"schedulers", schedulers}};
  return kTables;
}

}  // namespace

const std::vector<std::string>& list_kinds() {
  static const std::vector<std::string> kKinds = [] {
    std::vector<std::string> names;
    for (const auto& [name, table] : tables()) names.push_back(name);
    return names;
  }();
  return kKinds;
}

void list(const std::string& kind, const Registries& known) {
  for (const auto& [name, table] : tables()) {
    if (name != kind) continue;
    std::cout << in_columns(table(known));
  }
}

}  // namespace photonrail::command
