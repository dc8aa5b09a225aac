#include "studies/plan/folder.hpp"

#include "photonrail/error.hpp"

#include <algorithm>
#include <system_error>

namespace photonrail::plan {

Folder::Folder(const Plan& plan, const PlanOptions& options) : directory_(options.directory) {
  if (directory_.empty()) return;
  head_ = "{\"plan\":\"" + hash_of(plan) + "\"}";
  own_ = directory_ / "runs.jsonl";
  if (options.shard > 0) {
    own_ = directory_ / "shards" / (std::to_string(options.shard) + "-of-" + std::to_string(options.shards) + ".jsonl");
    std::error_code error;
    std::filesystem::create_directories(own_.parent_path(), error);  // the log says what is wrong
  }
  log_ = studies::RecordLog(own_, head_);
}

std::vector<Folder::Record> Folder::news() {
  constexpr std::chrono::seconds kBetween{2};
  std::vector<Record> records;
  const auto now = std::chrono::steady_clock::now();
  if (directory_.empty() || (is_read_ && now - looked_ < kBetween)) return records;
  looked_ = now;
  if (!is_read_) {
    for (const std::string& record : log_.records()) records.push_back(outcome_of(record));
  }
  is_read_ = true;
  read_others(records);
  return records;
}

void Folder::read_others(std::vector<Record>& records) {
  std::vector<std::filesystem::path> files{directory_ / "runs.jsonl"};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_ / "shards", error)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    if (file == own_) continue;
    std::size_t& read = lines_[file];
    const auto use = [&](const studies::LogLine& line) {
      if (line.number == 1 && line.text != head_)
        throw ConfigError(file.string(), "is of another plan, or of another version", "another folder");
      if (line.number > std::max<std::size_t>(1, read)) records.push_back(outcome_of(line.text));
      read = std::max(read, line.number);
      return true;
    };
    static_cast<void>(studies::read_log(file, head_, use));  // what was damaged is run again
  }
}

void Folder::add(const Record& record) {
  if (!directory_.empty()) log_.add(text_of(record.second, record.first));
}

}  // namespace photonrail::plan
