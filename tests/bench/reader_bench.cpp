// Files in. Bytes are those of the files; an item is a task.
#include "bench/folder.hpp"
#include "bench/jobs.hpp"
#include "bench/report.hpp"
#include "support/shared_data.hpp"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

namespace photonrail::bench {
namespace {

namespace fs = std::filesystem;

void measure_reading(benchmark::State& state, const ChakraOptions& options, std::uint64_t bytes) {
  std::uint64_t items = 0;
  std::uint64_t read = 0;
  for (auto _ : state) {
    items += read_chakra(options).task_count();
    read += bytes;
  }
  report(state, items);
  state.SetBytesProcessed(static_cast<std::int64_t>(read));
}

// A trace that this project wrote: Llama-3-8B under TP4 PP2 DP2, `micro_batches` of them.
void reader_chakra(benchmark::State& state) {
  TrainingSpec spec;
  spec.model = model_preset("llama3_8b");
  spec.parallelism = {4, 2, 2, true};
  spec.sequence = 8192;
  spec.global_batch = 2 * static_cast<std::uint32_t>(state.range(0));
  const Folder folder;
  const fs::path prefix = folder.path() / "job";
  std::uint64_t bytes = 0;
  for (const fs::path& file : write_chakra(make_training_graph(spec), prefix)) bytes += fs::file_size(file);
  measure_reading(state, {.prefix = prefix, .comm_groups = folder.path() / "job.json", .dimensions = {}}, bytes);
}
BENCHMARK(reader_chakra)
    ->ArgName("micro_batches")
    ->Arg(8)
    ->Arg(64)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void reader_chakra_recorded(benchmark::State& state) {
  const auto data = test::shared_data();
  if (!data) {
    state.SkipWithError("SKIPPED, NOT MEASURED: no shared data; set PHOTONRAIL_SHARED_DATA to it");
    return;
  }
  const fs::path folder = *data / "chakra" / "opus-smoke-dp2-pp2-tp2";
  std::uint64_t bytes = 0;
  for (const auto& file : fs::directory_iterator(folder)) bytes += file.file_size();
  measure_reading(state, {.prefix = folder / "workload", .comm_groups = folder / "workload.json", .dimensions = {}}, bytes);
}
BENCHMARK(reader_chakra_recorded)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace photonrail::bench
