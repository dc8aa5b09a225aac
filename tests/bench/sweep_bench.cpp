// A sweep of 1,000 small points, on one thread and on two: points a second, with everything that is kept of them.
#include "bench/folder.hpp"
#include "photonrail/study/sweep.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace photonrail::bench {
namespace {

constexpr const char* kSweep = R"({ "schema": "photonrail.sweep/1",
  "base": { "schema": "photonrail.scenario/1",
    "cluster": { "servers": 8, "gpus_per_server": 1, "nic": { "ports": 1, "port_gb_per_s": 50 },
                 "rail": { "kind": "optical", "switch": { "reconfiguration_us": 100 } } },
    "controller": { "name": "opus" }, "collectives": { "all_reduce": "stragglar" },
    "stragglers": [ { "ranks": "random", "delay_ms": 25 } ],
    "workload": { "collective": { "op": "all_reduce", "bytes": 1073741824 } }, "run": { "iterations": 10 } },
  "axes": [ { "pointer": "/cluster/rail/switch/reconfiguration_us", "log_range": { "from": 1, "to": 10000, "points": 1000 } } ] })";

void sweep_points(benchmark::State& state) {
  const Folder folder;
  const auto file = folder.path() / "sweep.json";
  std::ofstream(file) << kSweep;
  SweepObserver nobody;
  for (auto _ : state) {
    std::filesystem::remove_all(folder.path() / "out");
    SweepOptions options;
    options.directory = folder.path() / "out";
    options.jobs = static_cast<std::uint32_t>(state.range(0));
    benchmark::DoNotOptimize(run_sweep(read_sweep(file), options, nobody));
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(sweep_points)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace photonrail::bench
