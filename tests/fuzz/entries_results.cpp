// Files that runs and sweeps write, read back.
#include "fuzz/entry.hpp"

#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/sweep.hpp"
#include "report/compare.hpp"
#include "report/page.hpp"

#include <map>

namespace photonrail::fuzz {

namespace {

namespace fs = std::filesystem;

const char* const kSweep = R"({"schema": "photonrail.sweep/1", "name": "s", "base": "base.json", "axes": [
    {"pointer": "/cluster/nic/port_gb_per_s", "values": [10, 20]}]})";

RunResult run(TraceWriter* trace) {
  const Scenario scenario = parse_scenario(kScenario, ".");
  std::vector<Observer*> observers;
  if (trace != nullptr) observers.push_back(trace);
  return simulate(scenario, observers);
}

// A folder of a sweep of two points that are done, made once a process, and copied for each test that damages it.
struct SweepFolder {
  std::string manifest, database, table, lines;
};

SweepFolder make_sweep(const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  write(folder / "base.json", kScenario);
  write(folder / "sweep.json", kSweep);
  SweepObserver quiet;
  SweepOptions options;
  options.directory = folder / "out";
  options.jobs = 1;
  static_cast<void>(run_sweep(read_sweep(folder / "sweep.json"), options, quiet));
  const fs::path out = folder / "out";
  return {content(out / "manifest.json"), content(out / "results.db"), content(out / "results.csv"),
          content(out / "results.jsonl")};
}

SweepFolder sweep_folder(const fs::path& folder) { return make_sweep(folder / "made"); }

// A fresh folder with what a sweep left, before one of its files is damaged.
fs::path put_sweep(const SweepFolder& files, const fs::path& folder, bool database) {
  const fs::path out = folder / "sweep";
  fs::remove_all(out);
  fs::create_directories(out / "shards");
  write(out / "manifest.json", files.manifest);
  if (database) write(out / "results.db", files.database);
  return out;
}

const SweepFolder& known_sweep(const fs::path& folder) {
  static const SweepFolder files = sweep_folder(folder);
  return files;
}

// Each act is tried; what the first one that fails says is what is thrown.
void all_of(std::initializer_list<void (*)(const fs::path&)> acts, const fs::path& folder) {
  std::string first_where, first_what;
  for (const auto act : acts) {
    try {
      act(folder);
    } catch (const ConfigError& error) {
      if (error.where().empty()) throw;
      first_where = error.where();
      first_what = error.problem();
    }
  }
  if (!first_where.empty()) throw ConfigError(first_where, first_what);
}

void look(const fs::path& folder) { static_cast<void>(sweep_status(folder)); }
void show(const fs::path& folder) { static_cast<void>(report::read_page_data(folder)); }
void merge(const fs::path& folder) { static_cast<void>(merge_sweep(folder)); }

}  // namespace

void read_result(std::string_view data, const fs::path& folder) {
  const fs::path out = folder / "result";
  fs::create_directories(out);
  write(out / "result.json", data);
  all_of({show, [](const fs::path& f) { static_cast<void>(report::compare_paths(f / "result.json", f / "result.json")); }},
         out);
}
std::vector<std::string> result_seeds(const fs::path&) { return {to_json(run(nullptr))}; }

void read_trace(std::string_view data, const fs::path& folder) {
  static const std::string result = to_json(run(nullptr));
  const fs::path out = folder / "traced";
  fs::create_directories(out);
  write(out / "result.json", result);
  write(out / "trace.json", data);
  show(out);
}
std::vector<std::string> trace_seeds(const fs::path& folder) {
  TraceWriter writer;
  static_cast<void>(run(&writer));
  writer.write(folder / "seed_trace.json");
  return {content(folder / "seed_trace.json")};
}

void read_table(std::string_view data, const fs::path& folder) {
  write(folder / "a.csv", data);
  write(folder / "b.csv", known_sweep(folder).table);
  static_cast<void>(report::compare_paths(folder / "a.csv", folder / "b.csv"));
  static_cast<void>(report::compare_paths(folder / "b.csv", folder / "a.csv"));
}
std::vector<std::string> table_seeds(const fs::path& folder) { return {known_sweep(folder).table}; }

void read_database(std::string_view data, const fs::path& folder) {
  const fs::path out = put_sweep(known_sweep(folder), folder, false);
  write(out / "results.db", data);
  all_of({look, show, merge}, out);
}
std::vector<std::string> database_seeds(const fs::path& folder) { return {known_sweep(folder).database}; }

void read_shard(std::string_view data, const fs::path& folder) {
  const fs::path out = put_sweep(known_sweep(folder), folder, false);
  write(out / "shards" / "1-of-1.host.1.1.jsonl", data);
  all_of({look, merge, show}, out);
}
std::vector<std::string> shard_seeds(const fs::path& folder) { return {known_sweep(folder).lines}; }

void read_manifest(std::string_view data, const fs::path& folder) {
  const fs::path out = put_sweep(known_sweep(folder), folder, true);
  write(out / "manifest.json", data);
  all_of({look, merge}, out);
}
std::vector<std::string> manifest_seeds(const fs::path& folder) { return {known_sweep(folder).manifest}; }

}  // namespace photonrail::fuzz
