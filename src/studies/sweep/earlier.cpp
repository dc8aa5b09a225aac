#include "studies/sweep/earlier.hpp"

#include "json/seal.hpp"
#include "photonrail/version.hpp"
#include "report/replace_file.hpp"
#include "studies/sweep/shards.hpp"

#include <chrono>
#include <map>
#include <ostream>
#include <set>
#include <system_error>
#include <thread>

namespace photonrail::sweep {

namespace {

namespace fs = std::filesystem;

constexpr const char* kEarlierFolder = "earlier";
constexpr auto kMaxWaitForRetiring = std::chrono::minutes(1);
constexpr auto kBetweenTries = std::chrono::milliseconds(50);

void keep_records(const fs::path& directory, const Manifest& there) {
  Database database = Database::mended(directory, there, [](const std::string&) {});
  merge_shards(directory, there.hash, database);
  if (database.summary().done == 0) return;
  std::error_code error;
  create_directories(directory / kEarlierFolder, error);
  report::replace_file(directory / kEarlierFolder / (there.hash + ".jsonl"), [&](std::ostream& lines) {
    std::uint32_t number = 0;
    database.each([&](const Record& record) {
      if (record.exit_status == 0) lines << json::with_seal(to_line(record, there.hash), number++) << '\n';
    });
  });
}

void retire(const fs::path& directory, const Manifest& there) {
  if (has_database(directory) || exists(directory / "shards")) keep_records(directory, there);
  Database::remove(directory);
  std::error_code ignored;
  for (const char* name : {"results.csv", "results.jsonl", "notes.json", "manifest.json"})
    fs::remove(directory / name, ignored);
}

}  // namespace

bool is_earlier_state(const Manifest& there, const Manifest& now) {
  return there.hash != now.hash && there.file == now.file && there.version == now.version;
}

void retire_earlier_state(const fs::path& directory, const Manifest& now) {
  const auto until = std::chrono::steady_clock::now() + kMaxWaitForRetiring;
  while (true) {
    const auto there = read_manifest(directory);
    if (!there || !is_earlier_state(*there, now)) return;
    try {
      const Lock lock(directory);
      const auto again = read_manifest(directory);  // another process may have been faster
      if (again && is_earlier_state(*again, now)) retire(directory, *again);
      return;
    } catch (const FolderInUse&) {
      if (std::chrono::steady_clock::now() > until) throw;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

bool has_earlier_states(const fs::path& directory) {
  std::error_code ignored;
  return exists(directory / kEarlierFolder, ignored);
}

void each_earlier_record(const fs::path& directory, const std::vector<MissingPoint>& missing,
                         const std::function<void(std::uint32_t point, const Record&)>& use) {
  std::map<std::string, std::vector<std::uint32_t>> points_of;  // by scenario hash
  for (const MissingPoint& point : missing) points_of[point.scenario_hash].push_back(point.point);
  std::error_code error;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory / kEarlierFolder, error)) {
    if (entry.path().extension() == ".jsonl") files.insert(entry.path());
  }
  for (const fs::path& file : files) {
    // A line that was altered is no loss that is to be told of: its point runs again.
    static_cast<void>(studies::read_log(file, {}, [&](const studies::LogLine& line) {
      const auto record = from_line(line.text, file.stem().string());
      const auto points = record && record->version == version() ? points_of.find(record->scenario_hash) : points_of.end();
      if (points == points_of.end()) return true;
      for (const std::uint32_t point : points->second) use(point, *record);
      return true;
    }));
  }
}

}  // namespace photonrail::sweep
