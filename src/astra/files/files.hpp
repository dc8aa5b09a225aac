// The parts of read_astra(): a file each.
#pragma once

#include "json/json.hpp"
#include "photonrail/formats/astra.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace photonrail::astra {

/// The system file. Keys that it does not know become warnings.
[[nodiscard]] AnalyticalSystem read_system(const std::filesystem::path& file, std::vector<std::string>& warnings);

[[nodiscard]] std::vector<AnalyticalDimension> read_network(const std::filesystem::path& file,
                                                            std::vector<std::string>& warnings);

/// Throws ConfigError when the file says anything but that there is none.
void check_remote_memory(const std::filesystem::path& file);

/// Communicator groups by name, each as the place in AnalyticalJob::groups plus 1.
class GroupTable {
 public:
  explicit GroupTable(std::size_t ranks) : ranks_(ranks) {}

  void read_file(const std::filesystem::path& file);
  /// A JSON list of { "pg_name", "ranks" } from the trace of `where`. What a file or an earlier trace said stays.
  void read_text(const std::string& json, const std::string& where);
  /// Throws ConfigError without a place when there is no such group. "" and "0": all ranks.
  [[nodiscard]] std::uint32_t find(const std::string& name) const;
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& groups() const { return groups_; }

 private:
  void define(const std::string& name, std::vector<std::uint32_t> ranks);

  std::size_t ranks_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::map<std::string, std::uint32_t> by_name_;
};

/// The tasks of every rank and the groups, into `job`, whose network is known.
void read_workload(const AstraOptions& options, AnalyticalJob& job);

}  // namespace photonrail::astra
