// Steps of verl (fully_async.md), of which two are calibrated by and the others are predicted. docs/models/rl.md says what
// the rows do not say.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/shared_data.hpp"
#include "support/test_cases.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

namespace photonrail::test {
namespace {

using nlohmann::json;

/// What a row says of the mean of its first 100 steps: the phases that it prints are means of a longer run, in which
/// responses grow, and keep their shares.
struct VerlRow {
  double step = 0.0;
  double log_probabilities = 0.0;
  double update = 0.0;
  double rest = 0.0;
};

std::map<std::string, VerlRow> verl_rows(const std::filesystem::path& data) {
  std::map<std::string, VerlRow> rows;
  const json file = json::parse(std::ifstream(data / "rl_rows" / "v2" / "verl_steps.json"));
  for (const json& row : file["rows"]) {
    if (!row.contains("first_100_steps_s")) continue;
    const double step = row["first_100_steps_s"].get<double>() / 100.0;
    const double share = step / row["step_s"].get<double>();
    const auto seconds = [&](const char* key) { return row[key].is_null() ? 0.0 : share * row[key].get<double>(); };
    VerlRow& of = rows[row["id"]];
    of = {step, seconds("old_logprob_s"), seconds("update_actor_s"), 0.0};
    of.rest = step - of.log_probabilities - of.update - seconds("generation_or_wait_s");
  }
  return rows;
}

/// The part of a phase that stays on any number of GPUs, of its times on 32 and on 128: a + b / n.
double constant_part(double on_32, double on_128) { return (4.0 * on_128 - on_32) / 3.0; }

struct VerlJob {
  std::uint32_t gpus = 32;
  bool asynchronous = false;  ///< on halves of them, without log-probabilities: engines keep those of their own
  double other_s = 0.0;
  double ahead = 0.5;
};

// Calibrated on the colocated rows alone: 470 tokens a response with 55 % of the peak are what training takes beside its
// constant part, and 3 ms of the host a decode step, up to the cut at 28,672 tokens, are what generation takes.
double verl_seconds(const VerlJob& job) {
  const std::uint32_t each = job.asynchronous ? job.gpus / 2 : job.gpus;
  json rl{
      {"model", "llama3_8b"},
      {"prompts",
       {{"count", 512}, {"responses", 16}, {"tokens", 100}, {"lengths", {{"mean", 470}, {"sigma", 1.5}, {"most", 28672}}}}},
      {"mode", job.asynchronous ? "async" : "on_policy"},
      {"steps", job.asynchronous ? 6 : 3},
      {"generation",
       {{"engines", each / 2},
        {"engine", {{"ranks", 2}, {"tp", 2}}},
        {"times", {{"host", {{"step_ms", 3}}}}},
        {"batching", {{"max_sequences", 1024}}}}},
      {"training",
       {{"parallelism", {{"tp", 4}, {"dp", each / 4}, {"zero1", true}}},
        {"causal", true},
        {"micro_batch_tokens", 32768},
        {"passes", job.asynchronous ? 0 : 1},
        {"mini_batches", 16}}},
      {"other_s", job.other_s}};
  if (job.asynchronous) {
    rl["ahead"] = job.ahead;
  } else {
    rl["colocated"] = true;
  }
  const json scenario{
      {"schema", "photonrail.scenario/1"},
      {"cluster",
       {{"servers", job.gpus / 8},
        {"gpus_per_server", 8},
        {"gpu", {{"peak_tflops", 148}, {"memory_gb_per_s", 4000}, {"memory_gb", 96}, {"compute_efficiency", 0.55}}},
        {"scale_up", {{"gb_per_s", 450}, {"latency_us", 1}}},
        {"nic", {{"ports", 1}, {"port_gb_per_s", 50}, {"latency_us", 2}}},
        {"rail", {{"kind", "electrical"}}}}},
      {"workload", {{"rl", rl}}},
      {"run", {{"seed", 1}, {"fidelity", "stream"}}}};
  const RlResult result = *simulate(parse_scenario(scenario.dump(), ".")).rl;
  double sum = 0.0;
  for (std::size_t i = 1; i + 1 < result.steps.size(); ++i) sum += to_seconds(result.steps[i].step);
  return sum / static_cast<double>(result.steps.size() - 2);
}

// Updates shrink by 1.7 only from 32 to 128 GPUs, so that three quarters of a minute are a part that stays: half the GPUs
// do not take twice as long. With that part the gains of asynchronous steps follow.
TEST(VerlRows, AsynchronousGainsFollowFromTheColocatedSteps) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  std::map<std::string, VerlRow> rows = verl_rows(data);
  const VerlRow& few = rows.at("7b_32_colocate_sync");
  const VerlRow& many = rows.at("7b_128_colocate_sync");
  const double update = constant_part(few.update, many.update);
  const double scored = constant_part(few.log_probabilities, many.log_probabilities);
  EXPECT_NEAR(update, 75.4, 0.5);
  const bool all = test_cases(1) > 1;
  for (const std::uint32_t gpus : {32u, 128u}) {
    if (gpus > 32 && !all) continue;
    const VerlRow& sync = gpus == 32 ? few : many;
    const VerlRow& async = rows.at("7b_" + std::to_string(gpus) + "_fully_async");
    const double together = verl_seconds({gpus, false, update + scored + sync.rest});
    const double apart = verl_seconds({gpus, true, update});
    std::printf("%u GPUs: colocated %.0f s measured, %.0f s; asynchronous %.0f, %.0f s; gain %.2f, %.2f\n", gpus, sync.step,
                together, async.step, apart, sync.step / async.step, together / apart);
    EXPECT_NEAR(together / sync.step, 1.0, 0.15);  // calibrated
    EXPECT_NEAR(apart / async.step, 1.0, 0.15);
    EXPECT_NEAR(together / apart / (sync.step / async.step), 1.0, 0.05);
  }
  if (!all) return;
  EXPECT_NEAR(verl_seconds({64, true, update}) / rows.at("7b_64_fully_async").step, 1.0, 0.15);
  EXPECT_GT(rows.at("7b_128_staleness_0").step, rows.at("7b_128_staleness_0.5").step);
  EXPECT_GT(verl_seconds({128, true, update, 0.0}), verl_seconds({128, true, update, 0.5}));
}

}  // namespace
}  // namespace photonrail::test
