#include "sweep/shards.hpp"

#include "json/file_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

namespace photonrail::sweep {

namespace {

constexpr const char* kFolder = "shards";

[[noreturn]] void cannot_write(const std::filesystem::path& path, int error) {
  throw ConfigError(path.string(), "cannot write: " + std::generic_category().message(error),
                    "the folder must exist, have room and be writable; what was recorded is kept");
}

// A last line without its end was cut off by the death of its process.
void each_line(const std::filesystem::path& file, const std::string& sweep_hash,
               const std::function<void(const Record&)>& use) {
  if (std::error_code error; !std::filesystem::exists(file, error)) return;  // nothing was recorded yet
  json::require_regular(file);
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line) && !in.eof();) {
    if (const auto record = from_line(line, sweep_hash)) use(*record);
  }
}

}  // namespace

ShardWriter::ShardWriter(const std::filesystem::path& directory, const Shard& shard, std::string sweep_hash)
    : sweep_hash_(std::move(sweep_hash)) {
  std::error_code error;
  create_directories(directory / kFolder, error);
  if (error) cannot_write(directory / kFolder, error.value());
  const std::string stem = std::to_string(shard.index) + "-of-" + std::to_string(shard.count) + "." + host_name() + "." +
                           std::to_string(::getpid());
  for (int n = 1; file_ < 0; ++n) {
    path_ = directory / kFolder / (stem + "." + std::to_string(n) + ".jsonl");
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0 && errno != EEXIST) cannot_write(path_, errno);
  }
}

ShardWriter::~ShardWriter() { ::close(file_); }

void ShardWriter::add(const Record& record) {
  const std::string line = to_line(record, sweep_hash_) + "\n";
  for (std::size_t at = 0; at < line.size();) {
    const auto written = ::write(file_, line.data() + at, line.size() - at);
    if (written < 0 && errno != EINTR) cannot_write(path_, errno);
    if (written > 0) at += static_cast<std::size_t>(written);
  }
}

void each_shard_record(const std::filesystem::path& directory, const std::string& sweep_hash,
                       const std::function<void(const Record&)>& use) {
  std::error_code error;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory / kFolder, error)) {
    if (entry.path().extension() == ".jsonl") files.insert(entry.path());
  }
  for (const auto& file : files) each_line(file, sweep_hash, use);
}

std::vector<std::optional<int>> shard_statuses(const std::filesystem::path& directory, const Manifest& manifest) {
  std::vector<std::optional<int>> statuses(manifest.points);
  const auto note = [&](const Record& record) {
    if (record.point < statuses.size()) statuses[record.point] = record.exit_status;
  };
  each_shard_record(directory, manifest.hash, note);
  each_line(directory / "results.jsonl", manifest.hash, note);
  return statuses;
}

void merge_shards(const std::filesystem::path& directory, const std::string& sweep_hash, Database& database) {
  const auto statuses = database.exit_statuses();
  each_shard_record(directory, sweep_hash, [&](const Record& record) {
    if (record.point < statuses.size() && !statuses[record.point]) database.add(record);
  });
}

}  // namespace photonrail::sweep
