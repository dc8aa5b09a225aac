// The sections of a scenario file, each read from its JSON into its value. All throw ConfigError at the JSON pointer.
#pragma once

#include "collective/refit/refit.hpp"
#include "config/graph_cache.hpp"
#include "config/json_reader.hpp"
#include "formats/input_file.hpp"
#include "formats/path.hpp"
#include "photonrail/config.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/training.hpp"
#include "photonrail/workload/moe.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace photonrail::config {

using formats::inline_or_file;
using formats::read_file;
using formats::read_path;

/// Puts each value where its pointer says; objects on the way are made when they are missing.
void apply_overrides(Json& root, std::span<const Override> overrides);

/// The scenario of a file that is JSON already, whose relative paths are relative to `directory`. `graphs`: of traces that
/// were read before; null reads them.
[[nodiscard]] Scenario read_scenario_json(const Json& root, const std::filesystem::path& directory, const Registries& known,
                                          GraphCache* graphs = nullptr);

/// A plain number is a constant; an object is a distribution whose times are in the unit of the key, `picoseconds`. A file
/// of samples is relative to `directory`.
[[nodiscard]] DelayDistribution read_delay(JsonReader value, double picoseconds, const std::filesystem::path& directory);
[[nodiscard]] ClusterSpec read_cluster(JsonReader section, const std::filesystem::path& directory);
void read_scale_up(JsonReader section, ScaleUpSpec& spec);
[[nodiscard]] RailSpec read_rail(JsonReader rail, const std::filesystem::path& directory);
/// `section` absent: electrical, where the rails are.
[[nodiscard]] ControllerSpec read_controller(std::optional<JsonReader> section, const ClusterSpec& cluster,
                                             const std::filesystem::path& directory, const ControllerRegistry& known);
/// The keys of "controller" that every controller of optical rails has. The caller calls finish().
void read_control_plane(JsonReader& controller, const std::filesystem::path& directory, const ControllerFactory& policy,
                        ControllerSpec& into);
[[nodiscard]] ExecutorSpec read_executor(JsonReader section);
[[nodiscard]] CollectiveSpec read_collectives(JsonReader section, const std::filesystem::path& directory,
                                              const CollectiveRegistry& known);
/// The name of an algorithm, or "auto".
[[nodiscard]] std::string read_algorithm_name(JsonReader value, const CollectiveRegistry& known);
/// An algorithm that comes as a file, {"msccl": FILE} and the like, relative to `directory`: puts it into the spec and
/// returns its name.
[[nodiscard]] std::string read_algorithm_file(JsonReader value, CollectiveOp op, const std::filesystem::path& directory,
                                              CollectiveSpec& collectives);
[[nodiscard]] RunSpec read_run(JsonReader section);
/// The accuracy of the network.
void read_network(JsonReader section, RunSpec& into);
/// A list of servers of a cluster that has `count` of them, each once.
[[nodiscard]] std::vector<std::uint32_t> read_servers(const JsonReader& list, std::uint32_t count);
/// The "server_faults" section: servers that stop with all their GPUs and NICs.
struct ServerFault {
  std::uint32_t server = 0;
  Time at{};
  std::optional<Duration> lasts{};
  Duration detection{};
};
[[nodiscard]] std::vector<ServerFault> read_server_faults(const JsonReader& section, std::uint32_t servers);
/// Of their NICs. On electrical rails nothing detects these.
void fail_nics(const std::vector<ServerFault>& faults, ClusterSpec& cluster);
/// Of the GPUs of the ranks that a job, which is placed, has in the servers.
void stop_gpus(const std::vector<ServerFault>& faults, std::uint32_t gpus_per_server, JobSpec& job);
/// The agent of a job that serves requests carries out failures of servers, and of GPUs that stop for a time: they are its
/// engines', and no longer the job's.
void give_failures_to_agent(const std::vector<ServerFault>& faults, Scenario& job);
[[nodiscard]] std::vector<StragglerSpec> read_stragglers(const JsonReader& section, const std::filesystem::path& directory);

/// `section` absent: the catalogue that fits the NIC, and the physical rule.
[[nodiscard]] Pricing read_cost(std::optional<JsonReader> section, const std::filesystem::path& directory,
                                const ClusterSpec& cluster);

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
  bool generated = false;              ///< by the training generator
  std::vector<StageMemory> memory{};   ///< of a generated job, by pipeline stage
  std::optional<TrainingWork> work{};  ///< of a generated job
  std::vector<double> state{};         ///< bytes that a rank of each program saves in a checkpoint; empty: not known
  std::shared_ptr<const photonrail::Workload> decided{};  ///< an agent launches the work; the graph is idle
};
/// The section "checkpoint" of a workload, where it is there: puts it into the graph of a job that is placed. `state`: of
/// the workload. `shared`: other jobs have servers of the cluster.
void read_checkpoint(const JsonReader& workload, const std::vector<double>& state, bool shared, const ClusterSpec& cluster,
                     JobSpec& job);

/// `at` names the workload in the error when `ranks` do not fit the cluster.
void check_fit(const std::string& at, std::uint64_t ranks, const ClusterSpec& cluster);
/// Reads the files that the section names, relative to `directory`. A collective workload sets its algorithm.
[[nodiscard]] Workload read_workload(JsonReader section, const std::filesystem::path& directory, const ClusterSpec& cluster,
                                     const Placement& placement, CollectiveSpec& collectives, const Registries& known,
                                     GraphCache* graphs);
/// The section "agent" of a workload, which launches `step` where there is one.
[[nodiscard]] Workload read_agent(JsonReader section, const ClusterSpec& cluster, const AgentRegistry& known,
                                  std::optional<Workload> step);

/// What readers look names up in, and where paths begin.
struct ReadContext {
  const std::filesystem::path& directory;
  const Registries& known;
  GraphCache* graphs = nullptr;  ///< of traces that were read before; null reads them
};

/// The sections that say what a job is and how it is run; what is absent has its default.
struct JobSections {
  std::string pointer{};                 ///< of the object that they are in
  std::optional<JsonReader> workload{};  ///< must be there
  std::optional<JsonReader> placement{};
  std::optional<JsonReader> controller{};
  std::optional<JsonReader> executor{};
  std::optional<JsonReader> collectives{};
  std::optional<JsonReader> stragglers{};
};
/// Reads the rest of a job that has its run. `servers`: those of the cluster that it has, by its own
/// numbers; empty: all.
void read_job(const JobSections& sections, const std::vector<std::uint32_t>& servers, const ReadContext& context,
              const ClusterSpec& cluster, JobSpec& into);
/// The "jobs" section. `defaults`: sections for jobs that have none of their own. `shared`: with the cluster and the run.
[[nodiscard]] std::vector<JobSpec> read_jobs(const JsonReader& list, const JobSections& defaults,
                                             const ReadContext& context, const Scenario& shared);

/// `cluster`: whose GPUs time operators.
[[nodiscard]] TrainingSpec read_training_spec(JsonReader section, const std::filesystem::path& directory,
                                              const Placement& placement, const ClusterSpec& cluster);
/// The same of a whole scenario file, of which no other job and nothing that the specification does not need is read.
[[nodiscard]] TrainingSpec read_training_spec_of_file(const Json& root, const std::filesystem::path& directory);
[[nodiscard]] Workload read_training(const JsonReader& section, const std::filesystem::path& directory,
                                     const ClusterSpec& cluster, const Placement& placement);
/// The name of a preset, the path of a file, or an object with dimensions, which may begin with a preset.
[[nodiscard]] ModelSpec read_model_section(JsonReader model, const std::filesystem::path& directory);
/// `photonrail.model/1`, under that name.
[[nodiscard]] ModelPreset read_model_file(JsonReader top, std::string key);
/// `photonrail.catalogue/1`, under that name.
[[nodiscard]] PriceCatalogue read_catalogue_file(JsonReader top, std::string name);
[[nodiscard]] TaskGraph read_collective_workload(JsonReader section, const std::filesystem::path& directory,
                                                 const ClusterSpec& cluster, CollectiveSpec& collectives,
                                                 const CollectiveRegistry& known);
/// `photonrail.graph/1`
[[nodiscard]] TaskGraph read_graph(JsonReader top);

[[nodiscard]] Workload read_serving(const JsonReader& section, const std::filesystem::path& directory,
                                    const ClusterSpec& cluster, const SchedulerRegistry& known);
[[nodiscard]] TaskGraph read_moe_layer_workload(JsonReader section, const std::filesystem::path& directory,
                                                const ClusterSpec& cluster);

/// The traffic of a refit.
[[nodiscard]] std::shared_ptr<const collective::RefitTraffic> read_refit(const JsonReader& section,
                                                                         const std::filesystem::path& directory);

/// A reinforcement learning job.
[[nodiscard]] Workload read_rl(const JsonReader& section, const std::filesystem::path& directory,
                               const ClusterSpec& cluster);

/// A square array of arrays of bytes, row = sender.
[[nodiscard]] TrafficMatrix read_demand(const JsonReader& value);

/// Bytes of an element, by the name of its format.
[[nodiscard]] std::uint32_t read_precision(const JsonReader& value);

}  // namespace photonrail::config
