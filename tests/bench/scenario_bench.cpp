// Whole scenarios through simulate(). An item is a message that was delivered; in the training jobs a task.
// Time is the processor time of all threads (reading uses several).
#include "bench/folder.hpp"
#include "bench/jobs.hpp"
#include "bench/report.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "support/shared_data.hpp"
#include "support/source_dir.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

namespace photonrail::bench {
namespace {

enum class Item { kMessage, kTask };

void measure(benchmark::State& state, const Scenario& scenario, Item item = Item::kMessage) {
  std::uint64_t items = 0;
  std::uint64_t events = 0;
  for (auto _ : state) {
    const RunResult result = simulate(scenario);
    items += item == Item::kMessage ? result.engine.sends : scenario.graph.task_count();
    events += result.engine.events;
  }
  report(state, items);
  state.counters["events"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kAvgIterations);
}

std::uint32_t argument(const benchmark::State& state, std::size_t index = 0) {
  return static_cast<std::uint32_t>(state.range(index));
}

void scenario_ring_exact(benchmark::State& state) {
  measure(state, ring_all_reduce(argument(state), Fidelity::kExact, argument(state, 1)));
}
BENCHMARK(scenario_ring_exact)
    ->ArgNames({"ranks", "chunks"})
    ->ArgsProduct({{64, 128, 256, 512, 1024, 2048}, {1}})
    ->Args({1024, 4})
    ->Unit(benchmark::kMillisecond);

void scenario_ring_stream(benchmark::State& state) { measure(state, ring_all_reduce(argument(state), Fidelity::kStream)); }
BENCHMARK(scenario_ring_stream)->ArgName("ranks")->RangeMultiplier(2)->Range(64, 2048)->Unit(benchmark::kMillisecond);

void scenario_all_to_all_pairwise(benchmark::State& state) {
  measure(state, collective_job(CollectiveOp::kAllToAll, argument(state), Bytes{1 << 28}, Fidelity::kExact));
}
BENCHMARK(scenario_all_to_all_pairwise)->ArgName("ranks")->Arg(256)->Unit(benchmark::kMillisecond);

// Pair by pair, each send in its own time, under the policies that do so: two all-to-alls.
void scenario_all_to_all_by_pair(benchmark::State& state, const char* policy) {
  measure(state, skewed_all_to_all(argument(state), policy));
}
BENCHMARK_CAPTURE(scenario_all_to_all_by_pair, mixnet, "mixnet")
    ->ArgName("ranks")
    ->RangeMultiplier(2)
    ->Range(16, 128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scenario_all_to_all_by_pair, max_weight, "max_weight")
    ->ArgName("ranks")
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scenario_all_to_all_by_pair, bvn, "bvn")->ArgName("ranks")->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scenario_all_to_all_by_pair, solstice, "solstice")
    ->ArgName("ranks")
    ->Arg(128)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scenario_all_to_all_by_pair, rotor, "rotor")
    ->ArgName("ranks")
    ->RangeMultiplier(2)
    ->Range(16, 128)
    ->Unit(benchmark::kMillisecond);
// The bound of them all.
BENCHMARK_CAPTURE(scenario_all_to_all_by_pair, oracle, "oracle")->ArgName("ranks")->Arg(128)->Unit(benchmark::kMillisecond);

// An item is a launch of one all-reduce among eight ranks, under a policy or on electrical rails.
void scenario_launches(benchmark::State& state, const std::string& policy, Fidelity fidelity) {
  Scenario scenario = idle_ranks(!policy.empty(), fidelity);
  if (!policy.empty()) scenario.controller.name = policy;
  std::uint64_t launches = 0;
  for (auto _ : state) {
    LaunchAfterLaunch agent(8, argument(state));
    launches += simulate(scenario, agent).launches[0].count;
  }
  report(state, launches);
}
BENCHMARK_CAPTURE(scenario_launches, electrical_exact, "", Fidelity::kExact)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scenario_launches, electrical_stream, "", Fidelity::kStream)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scenario_launches, circuits_exact, "lru", Fidelity::kExact)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scenario_launches, circuits_stream, "lru", Fidelity::kStream)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scenario_launches, max_weight, "max_weight", Fidelity::kStream)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scenario_launches, mixnet, "mixnet", Fidelity::kStream)->Arg(100'000)->Unit(benchmark::kMillisecond);

// An item is a timer that an agent is told of.
void scenario_timers(benchmark::State& state) {
  const Scenario scenario = idle_ranks(false, Fidelity::kStream);
  for (auto _ : state) {
    TimerAfterTimer agent(argument(state));
    benchmark::DoNotOptimize(simulate(scenario, agent));
  }
  report(state, argument(state) * static_cast<std::uint64_t>(state.iterations()));
}
BENCHMARK(scenario_timers)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// All messages at one instant, through the solver.
void scenario_all_to_all_at_once(benchmark::State& state) {
  Scenario scenario = collective_job(CollectiveOp::kAllToAll, argument(state), Bytes{1 << 28}, Fidelity::kExact);
  scenario.collectives.algorithm[static_cast<std::size_t>(CollectiveOp::kAllToAll)] = "direct";
  measure(state, scenario);
}
BENCHMARK(scenario_all_to_all_at_once)->ArgName("ranks")->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

void scenario_grid(benchmark::State& state) { measure(state, grid_job(argument(state), 2, Bytes{64 << 20})); }
BENCHMARK(scenario_grid)->ArgName("side")->Arg(64)->Unit(benchmark::kMillisecond);

void measure_with_reading(benchmark::State& state, const std::filesystem::path& file) {
  std::uint64_t tasks = 0;
  for (auto _ : state) {
    const Scenario scenario = read_scenario(file);
    benchmark::DoNotOptimize(simulate(scenario));
    tasks += scenario.graph.task_count();
  }
  report(state, tasks);
}

void scenario_quickstart(benchmark::State& state) {
  measure_with_reading(state, std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "configs" / "quickstart.json");
}
BENCHMARK(scenario_quickstart)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

void scenario_smoke(benchmark::State& state) {
  const auto data = test::shared_data();
  if (!data) {
    state.SkipWithError("SKIPPED, NOT MEASURED: no shared data; set PHOTONRAIL_SHARED_DATA to it");
    return;
  }
  ::setenv("PHOTONRAIL_SHARED_DATA", data->c_str(), 1);  // the scenario names its trace by it
  measure_with_reading(state, std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "configs/papers/opus/smoke-provisioned.json");
}
BENCHMARK(scenario_smoke)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

// A trace of 128 ranks that this project wrote, with reading: Llama-3-70B under TP8 PP4 DP4, 48 MB of files.
void scenario_trace_128(benchmark::State& state) {
  TrainingSpec spec;
  spec.model = model_preset("llama3_70b");
  spec.parallelism = {8, 4, 4, false};
  spec.sequence = 8192;
  spec.global_batch = 4 * argument(state);
  const Folder folder;
  Scenario scenario = on_optical_rails(training_job(spec, Fidelity::kStream));
  scenario.run.folding = true;
  std::uint64_t bytes = 0;
  for (const auto& file : write_chakra(scenario.graph, folder.path() / "job")) bytes += std::filesystem::file_size(file);
  const ChakraOptions options{.prefix = folder.path() / "job", .comm_groups = folder.path() / "job.json", .dimensions = {}};
  std::uint64_t tasks = 0;
  std::uint64_t read = 0;
  for (auto _ : state) {
    scenario.graph = read_chakra(options);
    scenario.graph.infer_dimensions(scenario.gpu_of_rank, scenario.cluster.gpus_per_server);
    benchmark::DoNotOptimize(simulate(scenario));
    tasks += scenario.graph.task_count();
    read += bytes;
  }
  report(state, tasks);
  state.SetBytesProcessed(static_cast<std::int64_t>(read));
  state.counters["file_mb"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(scenario_trace_128)->ArgName("micro_batches")->Arg(15)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

// Many ranks whose files differ in groups and peers alone, read without a run.
void scenario_trace_reading(benchmark::State& state) {
  const Folder folder;
  std::uint64_t bytes = 0;
  for (const auto& file : write_chakra(make_training_graph(dense_405b(argument(state) / 128)), folder.path() / "job")) {
    bytes += std::filesystem::file_size(file);
  }
  const ChakraOptions options{.prefix = folder.path() / "job", .comm_groups = folder.path() / "job.json", .dimensions = {}};
  std::uint64_t tasks = 0;
  std::uint64_t read = 0;
  for (auto _ : state) {
    tasks += read_chakra(options).task_count();
    read += bytes;
  }
  report(state, tasks);
  state.SetBytesProcessed(static_cast<std::int64_t>(read));
}
BENCHMARK(scenario_trace_reading)->ArgName("gpus")->Arg(1024)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

// 128 GPUs for each data-parallel rank.
void scenario_training_stream(benchmark::State& state) {
  measure(state, training_job(dense_405b(argument(state) / 128), Fidelity::kStream), Item::kTask);
}
BENCHMARK(scenario_training_stream)->ArgName("gpus")->RangeMultiplier(2)->Range(128, 8192)->Unit(benchmark::kMillisecond);

void scenario_training_stream_opus(benchmark::State& state) {
  measure(state, on_optical_rails(training_job(dense_405b(argument(state) / 128), Fidelity::kStream)), Item::kTask);
}
BENCHMARK(scenario_training_stream_opus)
    ->ArgName("gpus")
    ->RangeMultiplier(2)
    ->Range(128, 8192)
    ->Unit(benchmark::kMillisecond);

void scenario_training_jittered_opus(benchmark::State& state) {
  const Scenario job = on_optical_rails(training_job(dense_405b(argument(state) / 128), Fidelity::kStream));
  measure(state, with_late_ranks(job), Item::kTask);
}
BENCHMARK(scenario_training_jittered_opus)
    ->ArgName("gpus")
    ->RangeMultiplier(2)
    ->Range(128, 16384)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// Experts and context over several servers, folded.
void scenario_experts_opus(benchmark::State& state) {
  measure(state, expert_step(argument(state), argument(state, 1), true), Item::kTask);
}
BENCHMARK(scenario_experts_opus)
    ->ArgNames({"gpus", "ep"})
    ->Args({1024, 64})
    ->Args({2048, 8})
    ->Args({2048, 16})
    ->Args({2048, 32})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void scenario_experts_electrical(benchmark::State& state) {
  measure(state, expert_step(argument(state), 64, false), Item::kTask);
}
BENCHMARK(scenario_experts_electrical)
    ->ArgName("gpus")
    ->RangeMultiplier(2)
    ->Range(1024, 16384)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void scenario_context_opus(benchmark::State& state) { measure(state, context_step(2048, argument(state)), Item::kTask); }
BENCHMARK(scenario_context_opus)
    ->ArgName("cp")
    ->RangeMultiplier(2)
    ->Range(1, 4)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// Many steps, every rank: memory does not grow with them.
void scenario_training_steps(benchmark::State& state) {
  Scenario scenario = on_optical_rails(training_job(dense_405b(2), Fidelity::kStream));
  scenario.run.iterations = argument(state);
  measure(state, scenario, Item::kTask);
}
BENCHMARK(scenario_training_steps)->ArgName("steps")->Arg(1)->Arg(100)->Iterations(1)->Unit(benchmark::kMillisecond);

// Ten ways are rehearsed, and the best is run.
void scenario_training_coalesce(benchmark::State& state) {
  Scenario scenario = on_optical_rails(training_job(dense_405b(argument(state) / 128), Fidelity::kStream));
  scenario.run.folding = true;
  scenario.controller = {};
  scenario.controller.name = "coalesce";
  measure(state, scenario, Item::kTask);
}
BENCHMARK(scenario_training_coalesce)->ArgName("gpus")->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

void measure_folded_job(benchmark::State& state, Scenario scenario) {
  scenario.run.folding = true;
  if (const RunResult result = simulate(scenario); !result.folding.off.empty()) {
    return state.SkipWithError(result.folding.off.c_str());
  }
  measure(state, scenario, Item::kTask);
}

void scenario_training_context(benchmark::State& state) {
  TrainingSpec spec = dense_405b(2048 / 128 / argument(state));
  spec.parallelism.cp = argument(state);
  spec.parallelism.fsdp = true;
  measure_folded_job(state, on_optical_rails(training_job(spec, Fidelity::kStream)));
}
BENCHMARK(scenario_training_context)->ArgName("cp")->Arg(1)->Arg(2)->Arg(4)->Unit(benchmark::kMillisecond);

// Experts over all rails of eight servers.
void scenario_training_experts(benchmark::State& state) {
  TrainingSpec spec = dense_405b(1);
  spec.model.moe = ExpertSpec{.experts = 256, .top_k = 8, .ffn = 2048};
  spec.parallelism = {.tp = 1, .pp = 16, .dp = argument(state) / 16, .ep = 64};
  spec.global_batch = 4 * spec.parallelism.dp;
  measure_folded_job(state, training_job(spec, Fidelity::kStream));
}
BENCHMARK(scenario_training_experts)->ArgName("gpus")->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);

// Ranks that nothing tells apart are simulated once; with the making of the graph, and with `written` its result as a file.
void measure_folded(benchmark::State& state, bool written) {
  const Folder folder;
  std::uint64_t tasks = 0;
  for (auto _ : state) {
    Scenario scenario = on_optical_rails(training_job(dense_405b(argument(state) / 128), Fidelity::kStream));
    scenario.run.folding = true;
    const RunResult result = simulate(scenario);
    if (!result.folding.off.empty()) state.SkipWithError(result.folding.off.c_str());
    if (written) write_file(folder.path() / "result.json", to_json(result));
    tasks += scenario.graph.task_count();
  }
  report(state, tasks);
}

void scenario_training_folded_opus(benchmark::State& state) { measure_folded(state, false); }
BENCHMARK(scenario_training_folded_opus)
    ->ArgName("gpus")
    ->Arg(128)
    ->Arg(2048)
    ->Arg(16384)
    ->Arg(131072)
    ->Arg(1 << 20)
    ->Unit(benchmark::kMillisecond);

void scenario_training_folded_written(benchmark::State& state) { measure_folded(state, true); }
BENCHMARK(scenario_training_folded_written)->ArgName("gpus")->Arg(1 << 20)->Iterations(1)->Unit(benchmark::kMillisecond);

void scenario_training_exact_opus(benchmark::State& state) {
  measure(state, on_optical_rails(training_job(dense_405b(argument(state) / 128), Fidelity::kExact)), Item::kTask);
}
BENCHMARK(scenario_training_exact_opus)->ArgName("gpus")->Arg(2048)->Iterations(1)->Unit(benchmark::kMillisecond);

// Making the graph, without running it.
void scenario_training_graph(benchmark::State& state) {
  TrainingSpec spec = dense_405b(argument(state) / 128);
  spec.parallelism.fsdp = true;
  std::uint64_t tasks = 0;
  for (auto _ : state) tasks += make_training_graph(spec).task_count();
  report(state, tasks);
}
BENCHMARK(scenario_training_graph)->ArgName("gpus")->Arg(2048)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace photonrail::bench
