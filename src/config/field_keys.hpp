// Where a scenario file has the fields that checks name: one row for each, beside the readers of the same keys.
#pragma once

#include "json/field_keys.hpp"
#include "json/json_reader.hpp"

#include <span>
#include <string>

namespace photonrail::config {

using json::FieldKey;
using json::FieldPlaces;

// Fields of the value that a section is read into, and their keys below the section.
[[nodiscard]] std::span<const FieldKey> scenario_keys();     ///< Scenario, the whole file
[[nodiscard]] std::span<const FieldKey> cluster_keys();      ///< ClusterSpec, "cluster"
[[nodiscard]] std::span<const FieldKey> cost_keys();         ///< Pricing, "cost"
[[nodiscard]] std::span<const FieldKey> run_keys();          ///< RunSpec, "run"
[[nodiscard]] std::span<const FieldKey> controller_keys();   ///< ControllerSpec, "controller"
[[nodiscard]] std::span<const FieldKey> executor_keys();     ///< ExecutorSpec, "executor"
[[nodiscard]] std::span<const FieldKey> collectives_keys();  ///< CollectiveSpec, "collectives"
[[nodiscard]] std::span<const FieldKey> stragglers_keys();   ///< a list of StragglerSpec, "stragglers"
[[nodiscard]] std::span<const FieldKey> workload_keys();     ///< the task graph, "workload"
[[nodiscard]] std::span<const FieldKey> placement_keys();    ///< the GPU of each rank, "placement"
[[nodiscard]] std::span<const FieldKey> training_keys();     ///< TrainingSpec, "workload/training"
[[nodiscard]] std::span<const FieldKey> moe_keys();          ///< MoeSpec, "workload/collective/moe"
[[nodiscard]] std::span<const FieldKey> moe_layer_keys();    ///< MoeLayerSpec, "workload/moe_layer"

/// check(); what it says of a field is put at the place that the section has for it, and any other error below the section.
template <class Check>
decltype(auto) in_section(const json::JsonReader& section, std::span<const FieldKey> keys, Check&& check);

/// `e` in the context of a section: its place, a JSON pointer or words, is put below `pointer`.
[[nodiscard]] ConfigError below(const std::string& pointer, const ConfigError& e);

template <class Check>
decltype(auto) in_section(const json::JsonReader& section, std::span<const FieldKey> keys, Check&& check) {
  try {
    return check();
  } catch (const core::FieldError& e) {
    FieldPlaces places;
    places.add("", section.pointer(), &section.json(), keys);
    throw places.located(e);
  } catch (const ConfigError& e) {
    throw below(section.pointer(), e);
  }
}

}  // namespace photonrail::config
