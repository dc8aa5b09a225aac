// The sections of a scenario file, each read from its JSON into its value. All throw ConfigError at the JSON pointer.
#pragma once

#include "config/json_reader.hpp"
#include "photonrail/config.hpp"
#include "photonrail/scenario.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::config {

/// Puts each value where its pointer says; objects on the way are made when they are missing.
void apply_overrides(Json& root, std::span<const Override> overrides);

[[nodiscard]] ClusterSpec read_cluster(JsonReader section);
/// `section` absent: electrical, where the rails are.
[[nodiscard]] ControllerSpec read_controller(std::optional<JsonReader> section, RailKind rails);
[[nodiscard]] ExecutorSpec read_executor(JsonReader section);
[[nodiscard]] CollectiveSpec read_collectives(JsonReader section, const std::filesystem::path& directory);
/// An algorithm that comes as a file, {"msccl": FILE} and the like, relative to `directory`: puts it into the spec and
/// returns its name.
[[nodiscard]] std::string read_algorithm_file(JsonReader value, CollectiveOp op, const std::filesystem::path& directory,
                                              CollectiveSpec& collectives);
[[nodiscard]] RunSpec read_run(JsonReader section);

/// How ranks get their GPUs; nothing given: rank r on GPU r.
struct Placement {
  std::string pointer = "/placement";
  std::vector<std::string> order;               ///< dimensions, innermost first, as GPUs are filled
  std::vector<std::string> rank_order;          ///< the same, as ranks are numbered; empty for a training workload
  std::map<std::string, std::uint32_t> sizes;   ///< of the dimensions; empty for a training workload
  std::optional<std::vector<GpuId>> explicit_;  ///< rank_to_gpu
};
[[nodiscard]] Placement read_placement(JsonReader section);
/// The GPU of each rank. `generated`: the workload is a training job, whose rank numbering is the order already.
[[nodiscard]] std::vector<GpuId> place(const Placement& placement, std::size_t ranks, bool generated);

struct Workload {
  TaskGraph graph;
  bool generated = false;  ///< by the training generator
};
/// `at` names the workload in the error when `ranks` do not fit the cluster.
void check_fit(const std::string& at, std::uint64_t ranks, const ClusterSpec& cluster);
/// Reads the files that the section names, relative to `directory`. A collective workload sets its algorithm.
[[nodiscard]] Workload read_workload(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                                     const Placement& placement, CollectiveSpec& collectives);
[[nodiscard]] TrainingSpec read_training_spec(JsonReader section, const Placement& placement);
[[nodiscard]] TaskGraph read_training(const JsonReader& section, const ClusterSpec& cluster, const Placement& placement);
[[nodiscard]] TaskGraph read_collective_workload(JsonReader section, const std::filesystem::path& directory,
                                                 const ClusterSpec& cluster, CollectiveSpec& collectives);

/// A path with ${NAME} and ${NAME:-default} from the environment; relative to `directory`.
[[nodiscard]] std::filesystem::path read_path(const JsonReader& value, const std::filesystem::path& directory);

/// `e` told from further out: its place, a JSON pointer or words, put below `pointer`.
[[nodiscard]] ConfigError below(const std::string& pointer, const ConfigError& e);

}  // namespace photonrail::config
