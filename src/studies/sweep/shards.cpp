#include "studies/sweep/shards.hpp"

#include "json/json.hpp"

#include <unistd.h>

#include <set>
#include <system_error>
#include <utility>

namespace photonrail::sweep {

namespace {

constexpr const char* kFolder = "shards";

// A line of another sweep is a record all the same; one without a seal is known by its content.
bool is_of_another_sweep(const studies::LogLine& line, std::string_view sweep_hash) {
  const auto parsed = json::parse_if_json(line.text);
  const json::Json* const of = parsed ? parsed->find("sweep_hash") : nullptr;
  return line.sealed || (of != nullptr && of->is_string() && *of != sweep_hash);
}

std::vector<std::string> each_record_in(const std::filesystem::path& file, const std::string& sweep_hash,
                                        const std::function<void(const Record&)>& use) {
  return studies::read_log(file, {}, [&](const studies::LogLine& line) {
    const auto record = from_line(line.text, sweep_hash);
    if (record) use(*record);
    return record || is_of_another_sweep(line, sweep_hash);
  });
}

// "2-of-8.HOST.PROCESS.1.jsonl"; all points for a file with another name.
Shard shard_of_file(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  name = name.substr(0, name.find('.'));
  const std::size_t of = name.find("-of-");
  try {
    return of == std::string::npos ? Shard{} : Shard::parse(name.substr(0, of) + "/" + name.substr(of + 4));
  } catch (const ConfigError&) {
    return {};
  }
}

}  // namespace

ShardWriter::ShardWriter(const std::filesystem::path& directory, const Shard& shard, std::string sweep_hash)
    : sweep_hash_(std::move(sweep_hash)),
      log_(studies::RecordLog::in_new_file(directory / kFolder, std::to_string(shard.index) + "-of-" +
                                                                    std::to_string(shard.count) + "." + host_name() + "." +
                                                                    std::to_string(::getpid()))) {}

void ShardWriter::add(const Record& record) { log_.add(to_line(record, sweep_hash_)); }

std::vector<ShardDamage> each_shard_record(const std::filesystem::path& directory, const std::string& sweep_hash,
                                           const std::function<void(const Record&)>& use) {
  std::error_code error;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory / kFolder, error)) {
    if (entry.path().extension() == ".jsonl") files.insert(entry.path());
  }
  std::vector<ShardDamage> damage;
  for (const auto& file : files) {
    auto lines = each_record_in(file, sweep_hash, use);
    if (!lines.empty()) damage.push_back({shard_of_file(file), std::move(lines)});
  }
  return damage;
}

ShardDamage each_table_record(const std::filesystem::path& directory, const std::string& sweep_hash,
                              const std::function<void(const Record&)>& use) {
  return {Shard{}, each_record_in(directory / "results.jsonl", sweep_hash, use)};
}

std::vector<std::optional<int>> shard_statuses(const std::filesystem::path& directory, const Manifest& manifest,
                                               std::vector<ShardDamage>* damage) {
  std::vector<std::optional<int>> statuses(manifest.points);
  const auto note = [&](const Record& record) {
    if (record.point < statuses.size()) statuses[record.point] = record.exit_status;
  };
  std::vector<ShardDamage> found = each_shard_record(directory, manifest.hash, note);
  found.push_back(each_table_record(directory, manifest.hash, note));
  if (damage != nullptr) *damage = std::move(found);
  return statuses;
}

std::vector<ShardDamage> merge_shards(const std::filesystem::path& directory, const std::string& sweep_hash,
                                      Database& database) {
  const auto statuses = database.exit_statuses();
  const auto add = [&](const Record& record) {
    if (record.point < statuses.size() && !statuses[record.point]) database.add(record);
  };
  auto damage = each_shard_record(directory, sweep_hash, add);
  if (database.is_mended()) static_cast<void>(each_table_record(directory, sweep_hash, add));
  return damage;
}

std::vector<std::string> losses(const std::vector<ShardDamage>& damage, const std::vector<std::optional<int>>& statuses) {
  std::vector<std::string> all;
  for (const auto& [shard, lines] : damage) {
    bool is_missing = false;
    for (std::size_t p = shard.index - 1; p < statuses.size(); p += shard.count) is_missing |= !statuses[p];
    if (is_missing) all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

}  // namespace photonrail::sweep
