// Files in: scenarios, models, prices, task graphs, and by formats/trace.hpp recorded traces. Everything here throws
// ConfigError with the file and the place in it.
#pragma once

#include "photonrail/formats/trace.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/study/calibrate.hpp"
#include "photonrail/study/cost.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/training.hpp"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail {

struct Registries;  // simulate.hpp

/// `--set /json/pointer=value`: the value is JSON, or a bare string when it is not.
struct Override {
  std::string pointer;
  std::string value;

  /// Throws ConfigError when the text has no '=' or the pointer does not begin with '/'.
  [[nodiscard]] static Override parse(std::string_view text);
};

/// Reads `photonrail.scenario/1` and everything that it names (traces, groups). Relative paths are relative to the file.
/// Unknown keys are errors; the JSON pointer of the trouble is in the message.
[[nodiscard]] Scenario read_scenario(const std::filesystem::path& file, std::span<const Override> overrides = {});
/// The same from text; relative paths are relative to `directory`, and `file` is what errors call it.
[[nodiscard]] Scenario parse_scenario(std::string_view json, const std::filesystem::path& directory,
                                      std::string_view file = "scenario", std::span<const Override> overrides = {});
/// The same for a caller with controllers and collectives of its own, which simulate() is then given too: `known` has
/// every name that the file may use.
[[nodiscard]] Scenario read_scenario(const std::filesystem::path& file, std::span<const Override> overrides,
                                     const Registries& known);
[[nodiscard]] Scenario parse_scenario(std::string_view json, const std::filesystem::path& directory, std::string_view file,
                                      std::span<const Override> overrides, const Registries& known);

/// Returns what an error of a run of a scenario says, with the fields that it names as the keys of a scenario file: a check
/// of a Scenario speaks of "cluster.nic.per_port", the file of /cluster/nic/port_gb_per_s. Readers of files do so by
/// themselves.
[[nodiscard]] std::string file_words(const std::exception& error);

/// The training job of a scenario file without its task graph: whatever of the file it does not need is not looked at.
/// Throws ConfigError when the workload is another, or the job cannot exist.
[[nodiscard]] TrainingSpec read_training_spec(const std::filesystem::path& file, std::span<const Override> overrides = {});
/// The JSON of the scenario in `file` after `overrides`, with the fitted efficiency in /cluster/gpu and its provenance in
/// /cluster/gpu/calibration. `source`: where the measured step comes from, may be empty. Comments are lost; relative paths
/// in it stay relative to the folder of `file`.
[[nodiscard]] std::string calibrated_scenario(const std::filesystem::path& file, std::span<const Override> overrides,
                                              const Calibration& calibration, std::string_view source);
/// The same of the text of a scenario; `file` is what errors call it.
[[nodiscard]] std::string calibrated_scenario(std::string_view json, std::string_view file,
                                              std::span<const Override> overrides, const Calibration& calibration,
                                              std::string_view source);

/// A CCL-Bench workload card (YAML; github.com/cornell-sysphotonics/ccl-bench) as the JSON of a scenario on electrical
/// rails, for people to go on with. Keys: docs/reference/scenario.md. Throws ConfigError: unknown models and GPUs list what
/// is known; a plan that cannot be simulated is refused.
[[nodiscard]] std::string scenario_from_card(const std::filesystem::path& card);

/// The other way: any scenario as a card. A workload without a "training" section shows its parallelism by its groups.
[[nodiscard]] std::string card_from_scenario(const std::filesystem::path& file, std::span<const Override> overrides = {});
[[nodiscard]] std::string card_from_scenario(const std::filesystem::path& file, std::span<const Override> overrides,
                                             const Registries& known);

/// A model that comes with the library: `configs/models/KEY.json`.
struct ModelPreset {
  std::string key;
  std::string note;
  ModelSpec spec;
};
/// Lists the presets by key, ascending.
[[nodiscard]] const std::vector<ModelPreset>& model_presets();
/// Throws ConfigError that lists what is known.
[[nodiscard]] const ModelSpec& model_preset(std::string_view key);
/// Reads `photonrail.model/1`, a file like those.
[[nodiscard]] ModelPreset read_model(const std::filesystem::path& file);

/// The price catalogues that come with the library, `configs/catalogues/NAME.json`, by name, ascending.
[[nodiscard]] const std::vector<PriceCatalogue>& price_catalogues();
/// One of them, or a `photonrail.catalogue/1` file: a word that ends in .json or has a '/'. Throws ConfigError.
[[nodiscard]] PriceCatalogue price_catalogue(std::string_view name_or_file);
/// Returns what a scenario takes that names none: the slowest of them whose ports carry `port`, or else the fastest.
[[nodiscard]] const PriceCatalogue& price_catalogue_for(Bandwidth port);
/// Finds a rule by name(). Throws ConfigError that lists what is known.
[[nodiscard]] CostRule cost_rule(std::string_view name);

/// Reads `photonrail.graph/1`, a task graph as JSON.
[[nodiscard]] TaskGraph read_task_graph(const std::filesystem::path& file);

// InfraGraph, the schema of infrastructure that goes with Chakra's traces (github.com/Keysight/infragraph, 2.4): devices of
// components, instances of devices, edges between them, and annotations.

/// A scenario (JSON) on the cluster of an infrastructure file (YAML or JSON; an `Infrastructure`, or one with its
/// `annotations` as get_graph returns them), with an all-reduce of all GPUs as the workload to go on with. Servers are
/// instances of devices with xpu components; every edge from a server to a switch is a NIC port. `why` in it names what the
/// file leaves open, or says otherwise. Refused: servers that differ, more than one tier of switches, a cluster that is not
/// wired by rails.
[[nodiscard]] std::string scenario_from_infragraph(const std::filesystem::path& file);

/// The cluster of a scenario as an infrastructure (JSON, which is YAML too) with annotations: counts, rates (GB/s) and
/// latencies (ns) are the schema's own; what it has no words for (GPUs, circuit switches, delays, pods) are attributes
/// "photonrail/..." of nodes, by the pointer of the key below /cluster, so that scenario_from_infragraph() gives the same
/// cluster back.
[[nodiscard]] std::string infragraph_from_scenario(const std::filesystem::path& file, std::span<const Override> overrides,
                                                   const Registries& known);

}  // namespace photonrail
