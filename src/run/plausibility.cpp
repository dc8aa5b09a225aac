#include "run/plausibility.hpp"

#include "core/counted.hpp"
#include "core/printed.hpp"
#include "fabric/mesh_routes.hpp"
#include "photonrail/cluster/device.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

namespace photonrail::run {

namespace {

std::string short_number(double x) { return core::printed("%.4g", x); }

std::string gigabytes(double bytes) { return core::printed("%.1f", bytes / 1e9); }

/// Holds what devices of one kind have. Outside of it a value was probably written in another unit.
struct Range {
  const char* what;  ///< in words that a reader of a file and a caller of the library know
  double least;
  double greatest;
  const char* unit;
  const char* hint;
};

// The fastest NIC port announced is 1.6 Tb/s (NVIDIA ConnectX-9, 2025), the slowest of a GPU cluster in use 10 Gb/s.
constexpr Range kPort{"the rate of a NIC port", 0.5, 200.0, "GB/s", "400 Gb/s is 50 GB/s"};
// NVLink 6: 1,800 GB/s a direction (NVIDIA Vera Rubin, 2025); PCIe 3.0 x4: 4 GB/s.
constexpr Range kScaleUp{"the scale-up rate of a GPU", 2.0, 2000.0, "GB/s", "a direction and GPU; 3.6 Tb/s is 450 GB/s"};
// NVIDIA Rubin Ultra, dense FP4: 50,000; a CPU core: 0.1.
constexpr Range kPeak{"the peak", 0.1, 60e3, "TFLOP/s", "1e12 operations a second, dense"};
// HBM4E of NVIDIA Rubin Ultra: 32 TB/s; DDR4: 20 GB/s a channel.
constexpr Range kMemoryRate{"the memory rate", 10.0, 40e3, "GB/s", "3.35 TB/s is 3350 GB/s"};
constexpr Range kMemory{"the memory", 1.0, 2000.0, "GB", "1e9 bytes; 0 where it is unknown"};

constexpr const char* kGpu = "the GPU";

std::string gpu_of_unlike(std::size_t number) { return "the GPU of unlike GPUs[" + std::to_string(number) + "]"; }

void check(const Range& range, double value, std::vector<std::string>& lines, const std::string& of = {}) {
  if (value >= range.least && value <= range.greatest) return;
  lines.push_back(range.what + (of.empty() ? "" : " of " + of) + " is " + short_number(value) + " " + range.unit +
                  ", which no such device has (" + short_number(range.least) + " to " + short_number(range.greatest) +
                  "): is it in another unit? " + range.hint);
}

void check_gpu(const GpuSpec& gpu, std::vector<std::string>& lines, const std::string& of) {
  check(kPeak, gpu.peak_tflops, lines, of);
  check(kMemoryRate, gpu.memory_gb_per_s, lines, of);
  if (gpu.memory_gb != 0.0) check(kMemory, gpu.memory_gb, lines, of);
}

// Whichever rank runs the fullest stage: the smallest of the GPUs. 0: unknown.
double least_memory_gb(const ClusterSpec& cluster) {
  double least = cluster.gpu.memory_gb;
  for (std::uint32_t i = 1; i <= cluster.unlike.size(); ++i) {
    if (least > 0.0 && cluster.memory_gb(i) > 0.0) least = std::min(least, cluster.memory_gb(i));
  }
  return least;
}

const StageMemory* fullest(const JobSpec& job) {
  const auto most = std::max_element(job.memory.begin(), job.memory.end(),
                                     [](const auto& a, const auto& b) { return a.total() < b.total(); });
  return most == job.memory.end() ? nullptr : &*most;
}

/// Why the fullest stage does not fit GPUs of so much memory; "" where it does, and where either is not known.
std::string too_full(const JobSpec& job, double memory_gb) {
  const StageMemory* const stage = fullest(job);
  if (stage == nullptr || memory_gb == 0.0 || stage->total() <= memory_gb * 1e9) return {};
  return "stage " + std::to_string(stage - job.memory.data()) + " needs " + gigabytes(stage->total()) +
         " GB, and a GPU has " + gigabytes(memory_gb * 1e9);
}

/// One line for the stage that needs most, when a GPU does not have it.
void check_memory(const JobSpec& job, const ClusterSpec& cluster, std::vector<std::string>& lines) {
  const std::string problem = too_full(job, least_memory_gb(cluster));
  if (problem.empty()) return;
  const StageMemory& stage = *fullest(job);
  lines.push_back("the plan does not fit the GPU: " + problem + " (parameters " + gigabytes(stage.parameters) +
                  ", gradients " + gigabytes(stage.gradients) + ", optimizer " + gigabytes(stage.optimizer) +
                  ", activations " + gigabytes(stage.activations) + ")");
}

// A mesh is the largest there is of its kind when it has what its ports need; crossbars have sizes that are known.
void check_ports(const ClusterSpec& cluster, std::vector<std::string>& lines) {
  const RailSpec& rail = cluster.rail;
  const OpticalSwitchSpec& ocs = rail.optical;
  if (rail.kind != RailKind::kOptical || ocs.pip) return;
  const auto& presets = optical_switch_presets();
  const auto own = std::find_if(presets.begin(), presets.end(), [&](const auto& p) { return p.key == ocs.name; });
  std::uint32_t most = 0;
  for (const OpticalSwitchPreset& preset : presets) most = std::max(most, preset.spec.ports);
  const bool pods = rail.pods.servers > 0;
  const std::uint64_t needed =
      (pods ? 4ULL * rail.pods.servers : 2ULL * cluster.servers) * (cluster.nic.ports / rail.planes);
  const std::uint64_t ports = ocs.ports == 0 ? needed : ocs.ports;
  const std::string hint =
      ": delay and loss are those of one pass of a switch that large; planes or pods keep switches small";
  if (own != presets.end() && own->spec.ports > 0 && ports > own->spec.ports) {
    lines.push_back("the optical switch of a rail has " + core::counted(ports, "port") + ", and a " + ocs.name + " has " +
                    std::to_string(own->spec.ports) + hint);
  } else if (ports > most) {
    lines.push_back((ocs.ports == 0 ? "a rail needs an optical switch of " : "the optical switch of a rail has ") +
                    core::counted(ports, "port") + ", more than any that is known has (" + std::to_string(most) + ")" +
                    hint);
  }
}

// Circuits that no setting of the mesh can make: jobs that need them end unfinished.
void check_mesh(const ClusterSpec& cluster, std::vector<std::string>& lines) {
  if (cluster.rail.kind != RailKind::kOptical || !cluster.rail.optical.pip) return;
  const fabric::LightReach reach = fabric::reach_of_circuits(*fabric::switch_of(cluster));
  if (reach.unjoined == 0) return;
  const std::uint32_t of_plane = cluster.nic.ports / cluster.rail.planes;
  const auto server = [&](std::uint32_t fibre) { return std::to_string(fibre / 2 / of_plane); };
  const bool forward = reach.apart.a % 2 == 0;  // even: a transmit fibre
  lines.push_back("the mesh of a rail's optical switch has no way for " + std::to_string(reach.unjoined) +
                  " of its circuits, such as from server " + server(forward ? reach.apart.a : reach.apart.b) +
                  " to server " + server(forward ? reach.apart.b : reach.apart.a) +
                  ", whatever else is lit: a job that needs one cannot finish; another number of hexagons moves the ports");
}

bool computes(const TaskGraph& graph) {
  return std::any_of(graph.programs().begin(), graph.programs().end(), [](const Program& program) {
    const auto tasks = program.tasks();
    return std::any_of(tasks.begin(), tasks.end(),
                       [](const Task& task) { return task.kind == TaskKind::kCompute && task.flops > 0.0; });
  });
}

void check_efficiency(const JobSpec& job, const ClusterSpec& cluster, std::vector<std::string>& lines) {
  const auto check = [&](const GpuSpec& gpu, const std::string& whose) {
    if (!gpu.efficiency_assumed || gpu.compute_efficiency != 1.0 || !computes(job.graph)) return;
    lines.push_back("computations are taken to reach all of the GPU's peak, since the compute_efficiency of " + whose +
                    " is not given: kernels of real jobs reach 0.4 to 0.6; set it, or fit it with "
                    "photonrail calibrate");
  };
  check(cluster.gpu, kGpu);
  for (std::size_t i = 0; i < cluster.unlike.size(); ++i) {
    if (cluster.unlike[i].gpu) check(*cluster.unlike[i].gpu, gpu_of_unlike(i));
  }
}

bool has_given_time(const Program& program) {
  const auto tasks = program.tasks();
  return std::any_of(tasks.begin(), tasks.end(), [](const Task& task) {
    return task.kind == TaskKind::kCompute && task.stream == Stream::kGpu && task.time().value_or(Duration{}) > Duration{};
  });
}

// Operators of a training job have the times of the GPU that they run on, those of a trace the times of the GPU that it was
// recorded on.
void check_given_times(const JobSpec& job, const ClusterSpec& cluster, std::vector<std::string>& lines) {
  if (!cluster.has_other_models() || (job.work && job.work->operators)) return;
  const std::vector<std::uint32_t> unlike = cluster.unlike_of_gpus();
  for (std::size_t r = 0; r < job.gpu_of_rank.size(); ++r) {
    const std::size_t gpu = job.gpu_of_rank[r].index();
    const std::uint32_t number = gpu < unlike.size() ? unlike[gpu] : 0;
    if (number == 0 || !cluster.unlike[number - 1].gpu || cluster.unlike[number - 1].speed != 1.0) continue;
    if (!has_given_time(job.graph.program(RankId{r}))) continue;
    lines.push_back("computations of rank " + std::to_string(r) + " whose time is given take as long on its " +
                    cluster.gpu_model(number).name + " as on a " + cluster.gpu.name + ": the speed of unlike GPUs[" +
                    std::to_string(number - 1) + "] changes them");
    return;
  }
}

void check_tensor_parallelism(const JobSpec& job, const ClusterSpec& cluster, std::vector<std::string>& lines) {
  const auto& groups = job.graph.communicators();
  for (const Communicator& group : groups) {
    if (group.dimension != Dimension::kTp || group.point_to_point) continue;
    std::set<std::uint32_t> servers;
    for (const RankId rank : group.members) servers.insert(job.gpu_of_rank[rank.index()].value / cluster.gpus_per_server);
    if (servers.size() < 2) continue;
    lines.push_back("tensor parallelism is wider than a server: group " + group.name + " has " +
                    core::counted(group.members.size(), "rank") + " on " + core::counted(servers.size(), "server") +
                    " of " + core::counted(cluster.gpus_per_server, "GPU") +
                    ", so that every layer waits for the rails; tp within a server, or placement order tp first");
    return;
  }
}

}  // namespace

std::vector<std::string> cluster_warnings(const ClusterSpec& cluster) {
  std::vector<std::string> lines;
  check(kPort, cluster.nic.per_port.bytes_per_second / 1e9, lines);
  check(kScaleUp, cluster.scale_up.of_gpu().bytes_per_second / 1e9, lines);
  check_gpu(cluster.gpu, lines, kGpu);
  for (std::size_t i = 0; i < cluster.unlike.size(); ++i) {
    if (cluster.unlike[i].gpu) check_gpu(*cluster.unlike[i].gpu, lines, gpu_of_unlike(i));
  }
  check_ports(cluster, lines);
  check_mesh(cluster, lines);
  return lines;
}

std::vector<std::string> job_warnings(const JobSpec& job, const ClusterSpec& cluster) {
  std::vector<std::string> lines = job.graph.warnings();
  check_memory(job, cluster, lines);
  check_efficiency(job, cluster, lines);
  check_given_times(job, cluster, lines);
  check_tensor_parallelism(job, cluster, lines);
  return lines;
}

void check_first_step(const Scenario& scenario, RunResult& result) {
  if (result.iterations.size() < 2) return;
  const Time end = Time{} + result.iterations.front();
  std::size_t failures = 0;
  bool later = false;
  const auto note = [&](Time at, const std::optional<Duration>& lasts) {
    ++failures;
    later = later || !lasts || at + *lasts > end;
  };
  for (const PortFault& fault : scenario.cluster.rail.faults) note(fault.at, fault.lasts);
  for (const ScaleUpFault& fault : scenario.cluster.scale_up.faults) note(fault.at, fault.lasts);
  for (const StragglerSpec& straggler : scenario.stragglers) {
    if (straggler.at) note(*straggler.at, straggler.lasts);
  }
  if (failures == 0 || later) return;
  result.warnings.push_back("all failures are over within the first step (" +
                            short_number(to_seconds(result.iterations.front())) +
                            " s), and the mean of the later steps, by which runs are compared, has nothing of them: read "
                            "iteration_s and makespan_s, or give one iteration, or a later time");
}

void describe(const Scenario& scenario, const Registries& registries, RunResult& result) {
  result.cluster = scenario.cluster;
  result.peak_tflops = scenario.cluster.peak_tflops(
      std::span(scenario.gpu_of_rank).first(scenario.gpu_of_rank.size() - scenario.storage_ranks));
  result.controller = registries.controllers.find(scenario.controller.name).with_words(scenario.controller);
  result.source = scenario.source;
  result.memory = scenario.memory;
  result.work = scenario.work;
  result.infeasible = scenario.infeasible();
}

}  // namespace photonrail::run

namespace photonrail {

std::vector<std::string> Scenario::warnings() const {
  std::vector<std::string> lines = run::cluster_warnings(cluster);
  if (jobs.empty()) {
    for (std::string& line : run::job_warnings(*this, cluster)) lines.push_back(std::move(line));
  }
  for (const JobSpec& job : jobs) {
    for (const std::string& line : run::job_warnings(job, cluster)) lines.push_back(job.name + ": " + line);
  }
  return lines;
}

std::string Scenario::infeasible() const {
  const double memory_gb = run::least_memory_gb(cluster);
  for (const JobSpec& job : jobs) {
    if (const std::string problem = run::too_full(job, memory_gb); !problem.empty()) return job.name + ": " + problem;
  }
  return run::too_full(*this, memory_gb);
}

std::optional<double> Scenario::peak_memory_bytes() const {
  std::optional<double> peak;
  const auto add = [&](const JobSpec& job) {
    for (const StageMemory& stage : job.memory) peak = std::max(peak.value_or(0.0), stage.total());
  };
  add(*this);
  std::for_each(jobs.begin(), jobs.end(), add);
  return peak;
}

}  // namespace photonrail
