// What a process that runs a shard writes: lines in a file of its own, so that it needs no lock that a network file
// system may not keep, and a process that dies, restarts or runs twice does not damage the results of others.
#pragma once

#include "photonrail/study/sweep.hpp"
#include "sweep/database.hpp"
#include "sweep/record.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace photonrail::sweep {

class ShardWriter {
 public:
  ShardWriter(const std::filesystem::path& directory, const Shard& shard, std::string sweep_hash);
  ~ShardWriter();
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;

  /// Throws ConfigError; lines written before stay.
  void add(const Record& record);

 private:
  std::filesystem::path path_;
  std::string sweep_hash_;
  int file_ = -1;
};

/// Every whole record of the sweep in shards/*.jsonl, by name of the file.
void each_shard_record(const std::filesystem::path& directory, const std::string& sweep_hash,
                       const std::function<void(const Record&)>& use);
/// The exit statuses by point of all that shards need not do: their own, and what results.jsonl has.
[[nodiscard]] std::vector<std::optional<int>> shard_statuses(const std::filesystem::path& directory,
                                                             const Manifest& manifest);
/// Puts what shards have into the database. Of a point that two have, the first counts.
void merge_shards(const std::filesystem::path& directory, const std::string& sweep_hash, Database& database);

}  // namespace photonrail::sweep
