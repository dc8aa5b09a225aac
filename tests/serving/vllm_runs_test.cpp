// Runs of vLLM that were measured request by request, with the kernel tables of their GPU and nothing fitted.
#include "formats/csv.hpp"
#include "formats/serving/kernel_files.hpp"
#include "serving/one_engine.hpp"
#include "support/shared_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace photonrail::serving {
namespace {

struct MeasuredRun {
  const char* folder;
  const char* operators;
  EngineSpec engine;
  KernelModel model;
  double ttft, tpot, e2e;  // greatest median error, percent
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

double ms_of(Time time) { return to_seconds(time) * 1e3; }

struct Errors {
  std::vector<double> ttft, tpot, e2e;
  double mean_ttft = 0.0, mean_tpot = 0.0, mean_e2e = 0.0;
};

void expect_run(const std::filesystem::path& data, const MeasuredRun& run, bool same_requests_as_rival) {
  const std::filesystem::path folder = data / "serving" / "v2";
  KernelModel model = run.model;
  model.graph_tokens = std::min(2 * run.engine.max_sequences, 512U);  // what vLLM captures by default
  const KernelStepTime times(formats::read_kernel_tables(folder / "vllm_operators" / run.operators), model);
  struct Row {
    double arrival, prompt, output, ttft, tpot, e2e;
  };
  std::vector<Row> rows;
  const std::filesystem::path file =
      folder / "vllm_runs" / run.folder / (same_requests_as_rival ? "llmservingsim.csv" : "requests.csv");
  formats::read_csv(file,
                    {same_requests_as_rival ? "arrival_ms" : "queued_ms", "input_tokens", "output_tokens", "ttft_ms",
                     "tpot_ms", "latency_ms"},
                    [&](std::size_t line, const std::vector<std::string>& cells) {
                      double n[6];
                      for (std::size_t i = 0; i < 6; ++i) n[i] = formats::csv_number(file, line, cells[i], 0.0, 1e9);
                      rows.push_back({n[0], n[1], n[2], n[3], n[4], n[5]});
                    });
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.arrival < b.arrival; });
  std::vector<Arrival> arrivals;
  for (const Row& row : rows) {
    Arrival arrival{Time{from_seconds(row.arrival / 1e3)}, {}};
    arrival.request.prompt = static_cast<std::uint32_t>(row.prompt);
    arrival.request.output = static_cast<std::uint32_t>(row.output);
    arrivals.push_back(arrival);
  }
  const OneEngine result = run_one_engine(run.engine, arrivals, times);
  Errors errors;
  std::uint64_t preemptions = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Outcome& outcome = result.outcomes[i];
    ASSERT_TRUE(outcome.last.has_value());
    const double ttft = ms_of(*outcome.first) - rows[i].arrival;
    const double tpot = (ms_of(*outcome.last) - ms_of(*outcome.first)) / (rows[i].output - 1.0);
    const double e2e = ms_of(*outcome.last) - rows[i].arrival;
    errors.ttft.push_back(std::abs(ttft / rows[i].ttft - 1.0) * 100);
    errors.tpot.push_back(std::abs(tpot / rows[i].tpot - 1.0) * 100);
    errors.e2e.push_back(std::abs(e2e / rows[i].e2e - 1.0) * 100);
    preemptions += outcome.preemptions;
  }
  std::printf("%s%s: %zu requests, %llu steps, %llu preemptions; median error TTFT %.1f, TPOT %.1f, E2E %.1f %%\n",
              run.folder, same_requests_as_rival ? ", LLMServingSim's rows" : "", rows.size(),
              static_cast<unsigned long long>(result.steps), static_cast<unsigned long long>(preemptions),
              median(errors.ttft), median(errors.tpot), median(errors.e2e));
  if (same_requests_as_rival) return;
  EXPECT_LE(median(errors.ttft), run.ttft);
  EXPECT_LE(median(errors.tpot), run.tpot);
  EXPECT_LE(median(errors.e2e), run.e2e);
}

EngineSpec vllm_engine(std::uint64_t blocks, std::uint32_t sequences) {
  EngineSpec engine;
  engine.blocks = blocks;
  engine.max_sequences = sequences;
  engine.token_budget = 2048;
  return engine;
}

KernelModel one_gpu() {
  KernelModel model{.layers = 32, .hidden = 4096};
  model.max_tokens = 2048;
  return model;
}

KernelModel two_gpus() {
  KernelModel model{.layers = 64, .hidden = 5120, .tp = 2};
  model.max_tokens = 2048;
  // What LLMServingSim's description of the machine says of a ring: twice a latency of 20 us, 16 GB/s.
  model.reduce = Duration{40'000'000};
  return model;
}

// 2,588 blocks as recorded. The others have no record; nothing is preempted there, so that any large number does.
TEST(ServingVllmRunsData, AreWithinTheirGoals) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const MeasuredRun runs[] = {
      {"rtx4090_llama31_8b_tp1", "rtx4090_llama-3.1-8b_tp1", vllm_engine(2588, 256), one_gpu(), 3, 3, 2},
      {"rtxpro6000_llama31_8b_tp1", "rtxpro6000_llama-3.1-8b_tp1", vllm_engine(30000, 128), one_gpu(), 10, 3, 5},
      {"rtxpro6000_qwen3_32b_tp2", "rtxpro6000_qwen3-32b_tp2", vllm_engine(30000, 128), two_gpus(), 4, 2, 3},
  };
  for (const MeasuredRun& run : runs) {
    expect_run(data, run, false);
    expect_run(data, run, true);
  }
}

}  // namespace
}  // namespace photonrail::serving
