// The runs that a search keeps, and those of others that share the folder: runs.jsonl, or shards/I-of-N.jsonl.
#pragma once

#include "photonrail/study/plan.hpp"
#include "studies/plan/outcome.hpp"
#include "studies/record_log.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::plan {

class Folder {
 public:
  using Record = std::pair<std::uint64_t, Outcome>;  // candidate and what it gave

  /// Nothing is kept.
  Folder() = default;
  /// Throws ConfigError: the folder is of another plan.
  Folder(const Plan& plan, const PlanOptions& options);

  /// Returns the records that no call has returned; looks for them every two seconds only, so that it may be none. Throws
  /// ConfigError.
  [[nodiscard]] std::vector<Record> news();
  void add(const Record& record);

 private:
  void read_others(std::vector<Record>& records);

  std::filesystem::path directory_{};
  std::filesystem::path own_{};
  std::string head_{};
  studies::RecordLog log_{};
  bool is_read_ = false;                                  // the own log
  std::chrono::steady_clock::time_point looked_{};        // at those of others
  std::map<std::filesystem::path, std::size_t> lines_{};  // that were read, by file of others
};

}  // namespace photonrail::plan
