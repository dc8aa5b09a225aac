// What a process that runs a shard writes: lines in a file of its own, so that it needs no lock that a network file
// system may not keep, and a process that dies, restarts or runs twice does not damage the results of others.
#pragma once

#include "photonrail/study/sweep.hpp"
#include "studies/record_log.hpp"
#include "studies/sweep/database.hpp"
#include "studies/sweep/record.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace photonrail::sweep {

class ShardWriter {
 public:
  ShardWriter(const std::filesystem::path& directory, const Shard& shard, std::string sweep_hash);
  /// Throws ConfigError; lines written before stay.
  void add(const Record& record);

 private:
  std::string sweep_hash_;
  studies::RecordLog log_;
};

/// What is wrong with the lines of a file of records.
struct ShardDamage {
  Shard shard;  ///< to which the lines belong
  std::vector<std::string> lines;
};

/// Every whole record of the sweep in shards/*.jsonl, by name of the file.
[[nodiscard]] std::vector<ShardDamage> each_shard_record(const std::filesystem::path& directory,
                                                         const std::string& sweep_hash,
                                                         const std::function<void(const Record&)>& use);
/// The same of results.jsonl.
[[nodiscard]] ShardDamage each_table_record(const std::filesystem::path& directory, const std::string& sweep_hash,
                                            const std::function<void(const Record&)>& use);
/// The exit statuses by point of all that shards need not do: their own, and what results.jsonl has.
[[nodiscard]] std::vector<std::optional<int>> shard_statuses(const std::filesystem::path& directory,
                                                             const Manifest& manifest,
                                                             std::vector<ShardDamage>* damage = nullptr);
/// Puts what shards have into the database, and where that was mended, what results.jsonl has. Of a point that two have,
/// the first counts.
std::vector<ShardDamage> merge_shards(const std::filesystem::path& directory, const std::string& sweep_hash,
                                      Database& database);
/// The sentences about lines that may be records of points without one: the points may be lost with them.
[[nodiscard]] std::vector<std::string> losses(const std::vector<ShardDamage>& damage,
                                              const std::vector<std::optional<int>>& statuses);

}  // namespace photonrail::sweep
