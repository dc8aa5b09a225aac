#include "run/plausibility.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <set>

namespace photonrail::run {

namespace {

std::string short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", bytes / 1e9);
  return text;
}

/// What devices of one kind have. Outside of it a value was probably written in another unit.
struct Range {
  const char* what;  ///< the field of ClusterSpec
  double least;
  double greatest;
  const char* unit;
  const char* hint;
};

// The fastest NIC port announced is 1.6 Tb/s (NVIDIA ConnectX-9, 2025), the slowest of a GPU cluster in use 10 Gb/s.
constexpr Range kPort{"nic.per_port", 0.5, 200.0, "GB/s", "400 Gb/s is 50 GB/s"};
// NVLink 6: 1,800 GB/s a direction (NVIDIA Vera Rubin, 2025); PCIe 3.0 x4: 4 GB/s.
constexpr Range kScaleUp{"scale_up.per_gpu", 2.0, 2000.0, "GB/s", "a direction and GPU; 3.6 Tb/s is 450 GB/s"};
// NVIDIA Rubin Ultra, dense FP4: 50,000; a CPU core: 0.1.
constexpr Range kPeak{"gpu.peak_tflops", 0.1, 60e3, "TFLOP/s", "1e12 operations a second, dense"};
// HBM4E of NVIDIA Rubin Ultra: 32 TB/s; DDR4: 20 GB/s a channel.
constexpr Range kMemoryRate{"gpu.memory_gb_per_s", 10.0, 40e3, "GB/s", "3.35 TB/s is 3350 GB/s"};
constexpr Range kMemory{"gpu.memory_gb", 1.0, 2000.0, "GB", "1e9 bytes; 0 where it is unknown"};

void check(const Range& range, double value, std::vector<std::string>& lines) {
  if (value >= range.least && value <= range.greatest) return;
  lines.push_back("cluster." + std::string(range.what) + " is " + short_number(value) + " " + range.unit +
                  ", which no such device has (" + short_number(range.least) + " to " + short_number(range.greatest) +
                  "): is it in another unit? " + range.hint);
}

// Whichever rank runs the fullest stage: the smallest of the GPUs. 0: unknown.
double least_memory_gb(const ClusterSpec& cluster) {
  double least = cluster.gpu.memory_gb;
  for (const UnlikeGpus& unlike : cluster.unlike) {
    if (unlike.memory_gb > 0.0 && least > 0.0) least = std::min(least, unlike.memory_gb);
  }
  return least;
}

const StageMemory* fullest(const Scenario& job) {
  const auto most = std::max_element(job.memory.begin(), job.memory.end(),
                                     [](const auto& a, const auto& b) { return a.total() < b.total(); });
  return most == job.memory.end() ? nullptr : &*most;
}

/// One line for the stage that needs most, when a GPU does not have it.
void check_memory(const Scenario& job, std::vector<std::string>& lines) {
  if (job.infeasible().empty()) return;
  const StageMemory& stage = *fullest(job);
  lines.push_back("the plan does not fit the GPU: " + job.infeasible() + " (parameters " + gigabytes(stage.parameters) +
                  ", gradients " + gigabytes(stage.gradients) + ", optimizer " + gigabytes(stage.optimizer) +
                  ", activations " + gigabytes(stage.activations) + ")");
}

bool computes(const TaskGraph& graph) {
  return std::any_of(graph.programs().begin(), graph.programs().end(), [](const Program& program) {
    const auto tasks = program.tasks();
    return std::any_of(tasks.begin(), tasks.end(),
                       [](const Task& task) { return task.kind == TaskKind::kCompute && task.flops > 0.0; });
  });
}

void check_efficiency(const Scenario& job, std::vector<std::string>& lines) {
  const GpuSpec& gpu = job.cluster.gpu;
  if (!gpu.efficiency_assumed || gpu.compute_efficiency != 1.0 || !computes(job.graph)) return;
  lines.push_back(
      "computations are taken to reach all of the GPU's peak, since cluster.gpu.compute_efficiency is not given: "
      "kernels of real jobs reach 0.4 to 0.6; set it, or fit it with photonrail calibrate");
}

void check_tensor_parallelism(const Scenario& job, std::vector<std::string>& lines) {
  const auto& groups = job.graph.communicators();
  for (const Communicator& group : groups) {
    if (group.dimension != Dimension::kTp || group.point_to_point) continue;
    std::set<std::uint32_t> servers;
    for (const RankId rank : group.members)
      servers.insert(job.gpu_of_rank[rank.index()].value / job.cluster.gpus_per_server);
    if (servers.size() < 2) continue;
    lines.push_back("tensor parallelism is wider than a server: group " + group.name + " has " +
                    std::to_string(group.members.size()) + " ranks on " + std::to_string(servers.size()) + " servers of " +
                    std::to_string(job.cluster.gpus_per_server) +
                    " GPUs, so that every layer waits for the rails; tp within a server, or placement order tp first");
    return;
  }
}

}  // namespace

std::vector<std::string> cluster_warnings(const ClusterSpec& cluster) {
  std::vector<std::string> lines;
  check(kPort, cluster.nic.per_port.bytes_per_second / 1e9, lines);
  check(kScaleUp, cluster.scale_up.of_gpu().bytes_per_second / 1e9, lines);
  check(kPeak, cluster.gpu.peak_tflops, lines);
  check(kMemoryRate, cluster.gpu.memory_gb_per_s, lines);
  if (cluster.gpu.memory_gb != 0.0) check(kMemory, cluster.gpu.memory_gb, lines);
  return lines;
}

std::vector<std::string> job_warnings(const Scenario& job) {
  std::vector<std::string> lines = job.graph.warnings();
  check_memory(job, lines);
  check_efficiency(job, lines);
  check_tensor_parallelism(job, lines);
  return lines;
}

void describe(const Scenario& scenario, RunResult& result) {
  result.cluster = scenario.cluster;
  result.controller = scenario.controller;
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
    for (std::string& line : run::job_warnings(*this)) lines.push_back(std::move(line));
  }
  for (const Scenario& job : jobs) {
    for (const std::string& line : run::job_warnings(job)) lines.push_back(job.name + ": " + line);
  }
  return lines;
}

std::string Scenario::infeasible() const {
  for (const Scenario& job : jobs) {
    if (const std::string problem = job.infeasible(); !problem.empty()) return job.name + ": " + problem;
  }
  const StageMemory* const stage = run::fullest(*this);
  const double memory_gb = run::least_memory_gb(cluster);
  if (stage == nullptr || memory_gb == 0.0 || stage->total() <= memory_gb * 1e9) return {};
  return "stage " + std::to_string(stage - memory.data()) + " needs " + run::gigabytes(stage->total()) +
         " GB, and a GPU has " + run::gigabytes(memory_gb * 1e9);
}

}  // namespace photonrail
