// What a run accounts for beyond time: what a training job achieves, commands by change, quantiles, utilisation.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/folded.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <numeric>

namespace photonrail::test {
namespace {

using nlohmann::json;

json training(const std::string& controller) {
  json text = {{"schema", "photonrail.scenario/1"},
               {"cluster",
                {{"servers", 4},
                 {"gpus_per_server", 2},
                 {"gpu", {{"preset", "h200"}, {"compute_efficiency", 0.5}}},
                 {"nic", {{"ports", 1}, {"port_gb_per_s", 50}, {"latency_us", 2}}},
                 {"rail", {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 5}}}}}}},
               {"controller", {{"name", controller}}},
               {"workload",
                {{"training",
                  {{"model", {{"preset", "llama3_8b"}, {"layers", 4}}},
                   {"sequence", 1024},
                   {"global_batch", 8},
                   {"parallelism", {{"tp", 2}, {"dp", 2}, {"pp", 2}, {"fsdp", true}}}}}}},
               {"run", {{"iterations", 2}}}};
  if (controller == "electrical") text["cluster"]["rail"] = {{"kind", "electrical"}};
  return text;
}

Scenario parse(const json& text) { return parse_scenario(text.dump(), "."); }

// By hand, of a model with h = 4096, 32 heads of 128, 8 KV heads, ffn 14336, V = 128256, for a token in a sequence of s:
// a layer: 2 h (4096 + 2 x 1024) + 2 x 4096 h + 3 x 2 h x 14336 of products with weights, and 2 x 2 s x 4096 of scores and
// values; the head 2 h V. Backward takes twice as much.
TEST(TrainingWork, IsThatOfTheModel) {
  TrainingSpec spec;
  spec.model.layers = 4;
  spec.sequence = 1024;
  spec.global_batch = 8;
  const double h = 4096;
  const double layer = 2 * h * (4096 + 2 * 1024) + 2 * 4096 * h + 6 * h * 14336 + 4 * 1024.0 * 4096;
  const double step = 3 * (4 * layer + 2 * h * 128256) * 8 * 1024;
  EXPECT_NEAR(training_work(spec).flops / step, 1.0, 1e-12);
  EXPECT_EQ(training_work(spec).tokens, 8 * 1024);
  // However it is split, and whatever is computed again, the model is the same.
  TrainingSpec split = spec;
  split.parallelism.tp = 2;
  split.parallelism.pp = 2;
  split.parallelism.dp = 2;
  split.recompute = Recompute::kFull;
  EXPECT_EQ(training_work(split), training_work(spec));
}

TEST(RunResult, SaysWhatATrainingJobAchieves) {
  const Scenario scenario = parse(training("opus"));
  const RunResult result = simulate(scenario);
  const double step = to_seconds(result.iterations[1]);  // the steady one
  EXPECT_NEAR(result.tokens_per_s().value(), 8 * 1024 / step, 1e-6);
  EXPECT_NEAR(result.mfu().value(), scenario.work->flops / (step * 8 * 989e12), 1e-12);
  EXPECT_GT(result.mfu().value(), 0.0);
  EXPECT_LT(result.mfu().value(), 0.5);  // the efficiency of the kernels
  EXPECT_EQ(result.memory.size(), 2u);
  EXPECT_EQ(result.peak_memory_bytes().value(), std::max(result.memory[0].total(), result.memory[1].total()));
  EXPECT_FALSE(RunResult{}.tokens_per_s());
  EXPECT_FALSE(RunResult{}.mfu());
  EXPECT_FALSE(RunResult{}.peak_memory_bytes());
}

TEST(RunResult, CommandsAndWaitsByDimensionAddUp) {
  const RunResult result = simulate(parse(training("opus")));
  const ReconfigurationSummary& all = result.reconfigurations;
  ASSERT_GT(all.count, 0u);
  CommandTotals sum;
  for (const auto& [change, totals] : all.by_change) {
    EXPECT_TRUE(change.second == Dimension::kDp || change.second == Dimension::kPp);  // tp stays in the server
    sum.count += totals.count;
    sum.circuits += totals.circuits;
    sum.total += totals.total;
    sum.exposed += totals.exposed;
  }
  EXPECT_EQ(sum.count, all.count);
  EXPECT_EQ(sum.circuits, all.circuits);
  EXPECT_EQ(sum.total, all.total);
  EXPECT_EQ(sum.exposed, all.exposed);
  EXPECT_TRUE(all.by_change.contains({Dimension::kDp, Dimension::kPp}));
  // The mean of each is rounded down.
  Duration waits{};
  for (const DimensionTraffic& traffic : result.traffic) waits += traffic.reconfiguration_wait;
  const Duration mean = result.mean_rank_time().reconfiguration_wait;
  EXPECT_GT(mean, Duration{});
  EXPECT_LE(mean - waits, Duration{6});
  EXPECT_GE(mean, waits);
}

TEST(RunResult, QuantilesCountEveryOperation) {
  for (const char* controller : {"opus", "electrical", "max_weight"}) {
    const RunResult result = simulate(parse(training(controller)));
    for (const auto& [dimension, times] : result.operation_times) {
      EXPECT_EQ(times.count(), result.traffic[static_cast<std::size_t>(dimension)].operations) << controller;
      EXPECT_LE(times.quantile(1.0), result.makespan);
    }
    EXPECT_EQ(result.circuit_waits.empty(), std::string(controller) == "electrical");
    for (const auto& [dimension, waits] : result.circuit_waits) EXPECT_GT(waits.quantile(0.0), Duration{}) << controller;
  }
}

// A ring of 2 (n - 1) steps of 1/n of 1 MB keeps every port busy from the first to the last byte, without latency.
TEST(RunResult, ARingWithoutLatencyUsesItsPortsAllTheTime) {
  const json text = {{"schema", "photonrail.scenario/1"},
                     {"cluster",
                      {{"servers", 4},
                       {"gpus_per_server", 1},
                       {"nic", {{"port_gb_per_s", 50}, {"latency_ns", 0}}},
                       {"rail", {{"kind", "electrical"}}}}},
                     {"workload", {{"collective", {{"op", "all_reduce"}, {"bytes", 1000000}}}}}};
  const RunResult result = simulate(parse(text));
  ASSERT_TRUE(result.utilisation);
  EXPECT_NEAR(result.utilisation->rail_ports, 1.0, 1e-9);
  EXPECT_EQ(result.utilisation->scale_up, 0.0);
  EXPECT_EQ(result.utilisation->switching, 0.0);
}

TEST(RunResult, FoldedRunsHaveTheSameAccount) {
  for (const char* controller : {"opus", "electrical"}) {
    json text = training(controller);
    text["workload"]["training"]["parallelism"] = {{"tp", 2}, {"dp", 4}, {"pp", 1}, {"fsdp", true}};
    const RunResult folded = expect_same_folded(parse(text));
    EXPECT_LT(folded.folding.classes, folded.folding.ranks) << controller;
  }
}

TEST(RunResult, OfSeveralJobsTheSumHasAll) {
  json text = training("opus");
  const json job = text["workload"];
  text.erase("workload");
  text["cluster"]["servers"] = 8;
  text["jobs"] = {{{"name", "a"}, {"servers", {0, 1, 2, 3}}, {"workload", job}},
                  {{"name", "b"}, {"servers", {4, 5, 6, 7}}, {"workload", job}, {"start_s", 0.01}}};
  const RunResult result = simulate(parse(text));
  ASSERT_EQ(result.jobs.size(), 2u);
  std::uint64_t commands = 0;
  for (const auto& [change, totals] : result.reconfigurations.by_change) commands += totals.count;
  EXPECT_EQ(commands, result.reconfigurations.count);
  for (const auto& [dimension, times] : result.operation_times) {
    EXPECT_EQ(times.count(), result.traffic[static_cast<std::size_t>(dimension)].operations);
  }
  for (const RunResult& of : result.jobs) {
    EXPECT_GT(of.tokens_per_s().value(), 0.0);
    EXPECT_EQ(of.controller.name, "opus");
    EXPECT_GT(of.utilisation->rail_ports, result.utilisation->rail_ports);  // the sum has the time before b began
  }
  EXPECT_FALSE(result.tokens_per_s());
}

}  // namespace
}  // namespace photonrail::test
