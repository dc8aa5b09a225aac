// A sweep as an array job of Slurm: each task runs a shard. And what Slurm knows of the jobs of a folder.
#pragma once

#include "photonrail/study/sweep.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace photonrail::sweep {

/// The keys of a profile: docs/reference/sweep.md, "Slurm profile".
struct SlurmProfile {
  std::string partition;              ///< empty: the cluster's default
  std::string time;                   ///< as sbatch takes it; empty: the partition's
  std::uint32_t points_per_task = 0;  ///< 0: as many tasks as 64, or one a point
  std::uint32_t cpus_per_task = 1;    ///< threads of a task
  std::vector<std::string> options;   ///< further ones for sbatch, "--account=x"
};

/// Reads `photonrail.slurm/1`. Throws ConfigError.
[[nodiscard]] SlurmProfile read_slurm_profile(const std::filesystem::path& file);

/// The command of every task of an array job: `program OPTIONS VERB FILE --set ... --out DIR --jobs CPUS`, and behind it
/// `--shard I/N`, which alone differs.
struct SlurmArray {
  std::string verb;                            ///< "sweep": also of the job's name and the first line of its script
  std::filesystem::path program;               ///< as the nodes find it
  std::vector<std::filesystem::path> plugins;  ///< that it loads
  std::vector<std::string> before;             ///< further options before the verb
  std::filesystem::path file;                  ///< that the verb reads
  std::vector<std::string> set;                ///< values of --set
  std::filesystem::path directory;             ///< of --out; gets slurm/, with script, logs and numbers of jobs
  std::vector<std::string> behind;             ///< further options of the verb
  std::uint64_t points = 0;                    ///< shared out over the tasks
};

struct SlurmJob {
  std::string id;  ///< empty: nothing was missing, and nothing submitted
  std::uint32_t tasks = 0;
  std::filesystem::path script;
};

/// Merges what shards of earlier jobs left in `options.directory`, checks all points that are missing, writes the script
/// of an array job and submits it. `program`: the command as the nodes find it, photonrail or one with the controllers and
/// collectives of `known` (command.hpp). Of `options`, jobs and memory go to the tasks. Throws ConfigError: as run_sweep(),
/// or there is no sbatch, or it refuses.
SlurmJob submit_to_slurm(const Sweep& sweep, const SweepOptions& options, const SlurmProfile& profile,
                         const std::filesystem::path& program, const Registries& known = {});

/// Writes the script of an array job and submits it. Throws ConfigError: there is no sbatch, or it refuses.
SlurmJob submit_array(const SlurmArray& array, const SlurmProfile& profile);

/// A line for each job that was submitted for `directory`.
[[nodiscard]] std::vector<std::string> slurm_state(const std::filesystem::path& directory);

}  // namespace photonrail::sweep
