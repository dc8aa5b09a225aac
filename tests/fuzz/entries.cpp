#include "fuzz/entry.hpp"

#include "formats/operators/operators.hpp"
#include "formats/synthesis/topology_and_sketch.hpp"
#include "json/text.hpp"
#include "photonrail/collective.hpp"
#include "photonrail/collective/plan_file.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/study/sweep.hpp"
#include "support/source_dir.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <new>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace photonrail::fuzz {

namespace {

namespace fs = std::filesystem;

fs::path source(const char* path) { return fs::path(PHOTONRAIL_SOURCE_DIR) / path; }

std::vector<std::string> files_of(const char* folder, const std::string& extension, std::size_t most) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source(folder))) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  files.resize(std::min(files.size(), most));
  std::vector<std::string> texts;
  for (const fs::path& file : files) texts.push_back(content(file));
  return texts;
}

// ---- JSON, pointers

void read_json(std::string_view data, const fs::path&) {
  const auto lenient = json::parse_if_json(data);
  std::istringstream stream{std::string(data)};
  try {
    static_cast<void>(json::parse_listed(stream, "stream", "list", [](const json::Json&) {}));
  } catch (const ConfigError&) {
    if (lenient) throw std::logic_error("a text is JSON for one reader and none for another");
  }
  const json::Json value = json::parse_json(data, "text");
  if (json::parse_json(value.dump(), "dump") != value || json::parse_json(value.dump(2), "dump") != value)
    throw std::logic_error("a value is another after it was written and read");
  if (json::parse_json(value.canonical(), "dump").canonical() != value.canonical())
    throw std::logic_error("the canonical text of a value is not one");
}

std::vector<std::string> json_seeds(const fs::path&) {
  return {"{\"a\": [1, -2, 3.5e-7, \"x\\u00e9\\n\", null, true], \"list\": [{\"b\": {}}, []] } // end\n", "[[[[]]], 1e308]",
          kScenario};
}

// One override a line, put on a scenario in turn.
void read_pointers(std::string_view data, const fs::path& folder) {
  std::vector<Override> overrides;
  std::istringstream lines{std::string(data)};
  for (std::string line; std::getline(lines, line);) overrides.push_back(Override::parse(line));
  static_cast<void>(parse_scenario(kScenario, folder, "scenario.json", overrides));
}

std::vector<std::string> pointer_seeds(const fs::path&) {
  return {
      "/cluster/servers=4\n/cluster/rail/switch/reconfiguration_us=1.5\n/run/seed=7",
      "/workload/collective/ranks=2\n/stragglers=[{\"rank\": 0, \"slowdown\": 2}]\n/workload/collective/algorithm=direct",
      "/controller={\"name\": \"lru\"}\n/cluster/gpu={\"preset\": \"h200\"}\n/cluster/gpu/memory_gb=9\n/why=a~b"};
}

// ---- inputs of a run

void read_scenario_text(std::string_view data, const fs::path& folder) {
  static_cast<void>(parse_scenario(data, folder, "scenario.json"));
}
std::vector<std::string> scenario_seeds(const fs::path&) {
  std::vector<std::string> seeds{kScenario};
  for (std::string& text : files_of("configs/switches", ".json", 8)) seeds.push_back(std::move(text));
  for (std::string& text : files_of("configs/jobs", ".json", 2)) seeds.push_back(std::move(text));
  for (std::string& text : files_of("configs", ".json", 4)) seeds.push_back(std::move(text));
  seeds.emplace_back(R"({"schema": "photonrail.scenario/1",
    "cluster": {"servers": 2, "gpus_per_server": 1, "rail": {"kind": "electrical"}},
    "workload": {"collective": {"op": "all_to_all", "demand": [[0, 5], [7, 0]], "repeat": 3}}})");
  return seeds;
}

void read_sweep_text(std::string_view data, const fs::path& folder) {
  write(folder / "base.json", kScenario);
  write(folder / "sweep.json", data);
  const Sweep sweep = read_sweep(folder / "sweep.json");
  for (std::size_t i = 0; i < std::min<std::size_t>(sweep.points.size(), 3); ++i)
    static_cast<void>(scenario_of(sweep, sweep.points[i]));
}
std::vector<std::string> sweep_seeds(const fs::path&) {
  return {R"({"schema": "photonrail.sweep/1", "name": "s", "why": "w", "base": "base.json", "seeds": [1, 2], "axes": [
      {"pointer": "/cluster/nic/port_gb_per_s", "log_range": {"from": 10, "to": 1000, "points": 3}},
      {"pointer": "/cluster/servers", "range": {"from": 2, "to": 4, "step": 1}, "when": {"port_gb_per_s": [10, 100]}},
      {"zip": {"/collectives/chunks": [1, 2], "/workload/collective/bytes": [1000, 2000]}}],
      "derived": [{"pointer": "/workload/collective/ranks", "product": ["/cluster/servers", 2], "divided_by": [1]}],
      "exclude": [{"chunks": 2, "servers": 3}]})",
          R"({"schema": "photonrail.sweep/1", "repetitions": 2, "base": "base.json", "axes": [{"name": "v", "variants": {
      "a": {"/controller/name": "lru"}, "b": {"/why": "x"}}}]})"};
}

void read_graph_text(std::string_view data, const fs::path& folder) {
  write(folder / "graph.json", data);
  static_cast<void>(read_task_graph(folder / "graph.json"));
}
std::vector<std::string> graph_seeds(const fs::path&) {
  return {R"({"schema": "photonrail.graph/1", "ranks": 3, "communicators": {"w": {"ranks": "all", "dimension": "dp"},
      "p": {"ranks": [0, 2]}}, "tasks": [{"rank": "all", "id": "a", "compute_us": 10},
      {"rank": [0, 2], "flops": 1e9, "memory_bytes": 1000, "after": ["a"]},
      {"rank": "all", "id": "b", "collective": "all_reduce", "communicator": "w", "bytes": 1000000, "after": ["a"]},
      {"rank": [0, 2], "collective": "all_to_all", "communicator": "p", "demand": [[0, 1], [2, 0]]},
      {"rank": 0, "send_to": 1, "bytes": 5, "tag": 3}, {"rank": 1, "receive_from": 0, "bytes": 5, "tag": 3, "after": ["b"]}]})"};
}

// Two ranks.
void read_chakra_files(std::string_view data, const fs::path& folder) {
  const auto [first, second] = split(data);
  write(folder / "t.0.et", first);
  write(folder / "t.1.et", second);
  ChakraOptions options;
  options.prefix = folder / "t";
  write(folder / "t.json", R"({"all": [0, 1]})");
  options.comm_groups = folder / "t.json";
  options.dimensions["world"] = Dimension::kDp;
  static_cast<void>(read_chakra(options));
}
std::vector<std::string> chakra_seeds(const fs::path& folder) {
  const Scenario scenario = parse_scenario(R"({"schema": "photonrail.scenario/1",
      "cluster": {"servers": 2, "gpus_per_server": 1, "rail": {"kind": "electrical"}},
      "workload": {"collective": {"op": "all_reduce", "bytes": 5000, "repeat": 3, "arrival_delay_us": {"1": 5}}}})",
                                           folder);
  write_chakra(scenario.graph, folder / "seed");
  return {joined(content(folder / "seed.0.et"), content(folder / "seed.1.et"))};
}

void read_chakra_groups(std::string_view data, const fs::path& folder) {
  for (const char* file : {"seed.0.et", "seed.1.et"}) {
    if (!fs::exists(folder / file)) static_cast<void>(chakra_seeds(folder));
  }
  write(folder / "groups.json", data);
  ChakraOptions options;
  options.prefix = folder / "seed";
  options.comm_groups = folder / "groups.json";
  static_cast<void>(read_chakra(options));
}
std::vector<std::string> chakra_group_seeds(const fs::path&) { return {R"({"all": [0, 1], "0": [0, 1], "group.0": [1]})"}; }

void read_kineto_files(std::string_view data, const fs::path& folder) {
  const auto [first, second] = split(data);
  write(folder / "rank0_trace.json", first);
  write(folder / "rank1_trace.json", second);
  static_cast<void>(read_kineto({folder, {}}));
}
std::vector<std::string> kineto_seeds(const fs::path&) {
  const auto file = [](const char* rank) {
    return std::string(R"({"schemaVersion": 1, "distributedInfo": {"rank": )") + rank +
           R"(, "world_size": 2}, "traceEvents": [
      {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 0, "dur": 100},
      {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 0.125, "dur": 10, "args": {"stream": 7}},
      {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "ts": 12, "dur": 20, "args": {"stream": 20,
       "Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": 2, "dtype": "Float",
       "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}}]})";
  };
  return {joined(file("0"), file("1"))};
}

// ---- plans

void read_msccl_text(std::string_view data, const fs::path&) { static_cast<void>(parse_msccl(data, "plan.xml")); }
std::vector<std::string> msccl_seeds(const fs::path&) {
  std::vector<std::string> seeds;
  for (const char* algorithm : {"ring", "direct"}) {
    const CollectiveCall call{.op = CollectiveOp::kAllReduce, .members = 3, .size = Bytes{900}};
    seeds.push_back(msccl_xml(call, *CollectiveRegistry::builtin().find(algorithm).expand(call), "x"));
  }
  return seeds;
}

template <auto read>
void read_file_as(std::string_view data, const fs::path& folder) {
  write(folder / "file.json", data);
  static_cast<void>(read(folder / "file.json"));
}
std::vector<std::string> taccl_seeds(const fs::path&) {
  return {R"({"sccl_type": "algorithm", "name": "x", "collective": {"name": "Allgather", "nodes": 2},
      "input_map": {"0": [0], "1": [1]}, "output_map": {"0": [0, 1], "1": [0, 1]},
      "steps": [{"sends": [[0, 0, 1, 5, 0], [1, 1, 0, 5, 0]]}]})"};
}
std::vector<std::string> topology_seeds(const fs::path&) {
  return {R"({"schema": "photonrail.topology/1", "nodes": 3, "send_ports": 2, "links": [
      {"from": 0, "to": 1, "gb_per_s": 50, "latency_us": 1, "both_ways": true}, {"from": 1, "to": 2, "gb_per_s": 25},
      {"from": 2, "to": 0, "gb_per_s": 25}]})"};
}
std::vector<std::string> sketch_seeds(const fs::path&) {
  return {R"({"schema": "photonrail.sketch/1", "links": {"only": [[0, 1]], "without": [[1, 0]]},
      "switches": [{"nodes": [0, 1], "connections": "fewest"}], "symmetries": [{"offset": 2, "group": 4}]})"};
}

// ---- cards, models, catalogues

std::vector<std::string> card_seeds(const fs::path& folder) {
  const char* const training = R"({"schema": "photonrail.scenario/1",
    "cluster": {"servers": 2, "gpus_per_server": 2, "gpu": "h200", "rail": {"kind": "electrical"}},
    "workload": {"training": {"model": "llama3_8b", "sequence": 1024, "global_batch": 4, "schedule": "1f1b",
      "parallelism": {"tp": 2, "pp": 2}}}})";
  write(folder / "card_seed.json", training);
  return {card_from_scenario(folder / "card_seed.json")};
}
std::vector<std::string> model_seeds(const fs::path&) {
  std::vector<std::string> seeds = files_of("configs/models", ".json", 20);
  for (std::string& seed : files_of("tests/config/huggingface", ".json", 20)) seeds.push_back(std::move(seed));
  return seeds;
}
std::vector<std::string> catalogue_seeds(const fs::path&) { return files_of("configs/catalogues", ".json", 3); }
PriceCatalogue read_catalogue(const fs::path& file) { return price_catalogue(file.string()); }

// A datasheet and a table; what can be read answers a query.
void read_operator_table(std::string_view data, const fs::path& folder) {
  const auto [device, table] = split(data);
  write(folder / "table.csv", table);
  const formats::operators::ImportedOperatorTable imported =
      formats::operators::import_operator_table(folder / "table.csv");
  fs::create_directories(folder / "x1");
  write(folder / "x1/device.csv", device);
  fs::create_directories((folder / imported.name).parent_path());
  write(folder / imported.name, imported.text);
  const OperatorTimes times = formats::operators::operator_times("x1", folder);
  static_cast<void>(times.time(MatrixProduct{OperatorPrecision::kBf16, 3000, 1000, 7}));
  static_cast<void>(times.time(GroupedProduct{OperatorPrecision::kBf16, 100, 64, 32, 4, 2, 8}));
  static_cast<void>(formats::operators::operator_table_errors("x1", false, folder));
}
std::vector<std::string> operator_table_seeds(const fs::path&) {
  const std::string device =
      "# photonrail.operators/1\n# kind: device\nquantity,value\nbf16_tflops,100\nmemory_gb_per_s,1000\n"
      "multiprocessors,108\ntile_128x256,1\n";
  const std::string head = "# photonrail.operators/1\n# gpu: x1\n# precision: bf16\n# source: a bench\n# kind: ";
  return {joined(device, head + "products\nm,n,k,time_us\n16,32,32,2.5\n4096,32,32,6e3\n17,32,64,3\n16,64,64,4\n"),
          joined(device, head + "experts\ngated,hidden,ffn,top_k,experts,tp,ep,tokens,time_ms\n1,64,32,2,8,1,2,64,0.1\n0,"
                                "64,32,2,8,1,2,128,1\n"),
          joined(device, head + "attention\nhead_dim,window,kv_heads,heads,batch,sequence,time_us\n128,0,8,32,1,1024,9\n64,"
                                "128,1,1,2,2048,7\n")};
}

}  // namespace

const char* const kScenario = R"({"schema": "photonrail.scenario/1", "name": "two servers",
  "cluster": {"servers": 2, "gpus_per_server": 2, "nic": {"ports": 2, "port_gb_per_s": 25},
    "rail": {"kind": "optical", "switch": {"ports": 16, "reconfiguration_us": 10}}},
  "controller": {"name": "opus", "mode": "on_demand"}, "collectives": {"chunks": 2},
  "placement": {"rank_to_gpu": [0, 2, 1, 3]},
  "workload": {"collective": {"op": "all_reduce", "algorithm": "ring", "bytes": 100000, "ranks": 4}},
  "run": {"iterations": 2, "seed": 3, "fidelity": "stream"}})";

const std::vector<Entry>& entries() {
  static const std::vector<Entry> table{
      {"json", read_json, json_seeds},
      {"pointers", read_pointers, pointer_seeds},
      {"scenario", read_scenario_text, scenario_seeds},
      {"sweep", read_sweep_text, sweep_seeds},
      {"graph", read_graph_text, graph_seeds},
      {"chakra", read_chakra_files, chakra_seeds},
      {"chakra_groups", read_chakra_groups, chakra_group_seeds},
      {"kineto", read_kineto_files, kineto_seeds},
      {"msccl", read_msccl_text, msccl_seeds},
      {"taccl", read_file_as<read_taccl>, taccl_seeds},
      {"topology", read_file_as<formats::synthesis::read_synthesis_topology>, topology_seeds},
      {"sketch", read_file_as<formats::synthesis::read_synthesis_sketch>, sketch_seeds},
      {"card", read_file_as<scenario_from_card>, card_seeds},
      {"model", read_file_as<read_model>, model_seeds},
      {"catalogue", read_file_as<read_catalogue>, catalogue_seeds},
      {"operators", read_operator_table, operator_table_seeds},
      {"result", read_result, result_seeds},
      {"trace", read_trace, trace_seeds},
      {"table", read_table, table_seeds},
      {"database", read_database, database_seeds},
      {"shard", read_shard, shard_seeds},
      {"manifest", read_manifest, manifest_seeds},
      {"astra_machine", read_astra_machine, astra_machine_seeds},
      {"astra_workload", read_astra_workload, astra_workload_seeds},
      {"infragraph", read_infragraph, infragraph_seeds},
      {"goodput", read_goodput_text, goodput_seeds},
      {"faults", read_faults_text, faults_seeds},
      {"allocation", read_allocation, allocation_seeds},
      {"plan", read_plan_text, plan_seeds},
#ifdef PHOTONRAIL_FUZZ_COMMAND
      {"command", read_command, command_seeds},
      {"links_run", run_links, links_seeds},
      {"goodput_run", run_goodput_text, goodput_run_seeds},
      {"allocation_run", run_allocation, allocation_run_seeds},
      {"serving_run", run_agents, serving_run_seeds},
      {"rl_run", run_agents, rl_run_seeds},
      {"rows_run", run_rows, rows_run_seeds},
#endif
  };
  return table;
}

std::ostream& operator<<(std::ostream& out, const Entry& entry) { return out << entry.name; }

std::string verdict(const Entry& entry, std::string_view data, const fs::path& folder) {
  try {
    entry.read(data, folder);
    return {};
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    if (error.where().empty()) return "no place in: " + text;
    if (is_raw(text, "json.exception", data)) return "a raw message: " + text;
    if (error.problem().empty()) return "no problem in: " + text;
    return {};
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return std::string("not a ConfigError: ") + error.what();
  }
}

bool is_raw(std::string_view message, std::string_view word, std::string_view input) {
  return message.find(word) != std::string_view::npos && input.find(word) == std::string_view::npos;
}

std::string joined(std::string_view first, std::string_view second) {
  return std::to_string(first.size()) + "\n" + std::string(first) + std::string(second);
}

Two split(std::string_view data) {
  std::size_t size = 0;
  const auto end = std::from_chars(data.data(), data.data() + data.size(), size).ptr;
  data.remove_prefix(static_cast<std::size_t>(end - data.data()));
  if (!data.empty()) data.remove_prefix(1);
  size = std::min(size, data.size());
  return {data.substr(0, size), data.substr(size)};
}

void write(const fs::path& file, std::string_view data) {
  fs::remove(file);  // overwriting a file makes some file systems wait for the disk
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(data.data(), static_cast<std::streamsize>(data.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace photonrail::fuzz
