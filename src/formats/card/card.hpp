// CCL-Bench workload cards (YAML; github.com/cornell-sysphotonics/ccl-bench): a card as the JSON of a scenario, and a job
// as a card. The names that a card may use and the scenario that is written come from the caller.
#pragma once

#include "json/json.hpp"
#include "photonrail/task_graph.hpp"
#include "photonrail/training.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace photonrail::formats::card {

/// A model that a card may name.
struct KnownModel {
  std::string key;
  bool latent_attention = false;
};
struct KnownNames {
  std::vector<KnownModel> models;
  std::vector<std::string> gpus;
};

/// The card as `photonrail.scenario/1`; the caller reads that as a scenario. Throws ConfigError with the card and the place
/// in it: no YAML, unknown models and GPUs (with what is known), counts that contradict each other.
[[nodiscard]] json::Json read(const std::filesystem::path& card, const KnownNames& known);

/// Holds what a card says of a job.
struct Card {
  std::string description;
  std::string precision = "bf16";  ///< of the parameters
  std::uint32_t iterations = 1;
  std::string topology;              ///< "optical_rails" or "electrical_rails"
  double nic_gbit_per_s = 0.0;       ///< of a GPU, each direction
  double scale_up_gbit_per_s = 0.0;  ///< of a GPU, each direction
  std::string gpu;
  std::uint32_t gpus_per_server = 1;
  std::optional<TrainingSpec> training;  ///< none: the groups of the task graph show the parallelism
};

/// The card as YAML.
[[nodiscard]] std::string write(const Card& card, const TaskGraph& graph);

}  // namespace photonrail::formats::card
