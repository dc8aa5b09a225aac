#include "photonrail/study/sweep.hpp"
#include "studies/sweep/database.hpp"
#include "studies/sweep/shards.hpp"
#include "studies/sweep/slurm.hpp"

namespace photonrail {

SweepStatus sweep_status(const std::filesystem::path& directory) {
  const auto manifest = sweep::read_manifest(directory);
  if (!manifest) throw ConfigError(directory.string(), "there is no sweep here", "no manifest.json");
  std::vector<std::optional<int>> statuses(manifest->points);
  if (sweep::has_database(directory)) {
    statuses = sweep::Database(directory, *manifest, sweep::Database::Access::kRead).exit_statuses();
  }
  SweepStatus status;
  status.name = manifest->name;
  const auto damage = sweep::each_shard_record(directory, manifest->hash, [&](const sweep::Record& record) {
    if (record.point >= statuses.size() || statuses[record.point]) return;
    statuses[record.point] = record.exit_status;
    ++status.unmerged;
  });
  status.summary.points = manifest->points;
  for (std::uint32_t point = 0; point < statuses.size(); ++point) {
    if (!statuses[point]) {
      status.missing.push_back(point);
    } else {
      ++(*statuses[point] == 0 ? status.summary.done : status.summary.failed);
    }
  }
  status.damaged = sweep::losses(damage, statuses);
  status.running = sweep::Lock::holder(directory);
  status.slurm = sweep::slurm_state(directory);
  return status;
}

}  // namespace photonrail
