// Steps of verl (fully_async.md), of which two are calibrated by and the others are predicted. docs/models/rl.md says what
// the rows do not say.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/shared_data.hpp"
#include "support/test_cases.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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
  double reference = 0.0;
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
    const auto seconds = [&](const char* key) {
      return row.value(key, json()).is_null() ? 0.0 : share * row[key].get<double>();
    };
    VerlRow& of = rows[row["id"]];
    of = {step, seconds("old_logprob_s"), seconds("reference_s"), seconds("update_actor_s"), 0.0};
    of.rest = step - of.log_probabilities - of.reference - of.update - seconds("generation_or_wait_s");
  }
  return rows;
}

/// The part of a phase that stays on any number of GPUs, of its times on 32 and on 128: a + b / n.
double constant_part(double on_32, double on_128) { return (4.0 * on_128 - on_32) / 3.0; }

/// The mean of all steps but the first and the last, on servers of 8 H20.
double middle_step(const json& rl, std::uint32_t gpus) {
  const json scenario{
      {"schema", "photonrail.scenario/1"},
      {"cluster",
       {{"servers", gpus / 8},
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

struct VerlModel {
  const char* preset;
  std::uint32_t tokens;  ///< of a response, in the mean
  std::uint32_t most;
  double host_ms;  ///< of a decode step
  json parallelism;
};

struct VerlJob {
  std::uint32_t gpus = 32;
  std::uint32_t trains = 0;  ///< asynchronous: so many of them; 0: colocated
  std::uint32_t passes = 1;
  double other_s = 0.0;
  double ahead = 0.5;
};

// Calibrated on the colocated rows alone: 470 tokens a response with 55 % of the peak are what training takes beside its
// constant part, and 3 ms of the host a decode step, up to the cut at 28,672 tokens, are what generation takes.
const VerlModel kDense{"llama3_8b", 470, 28672, 3.0, {{"tp", 4}, {"zero1", true}}};

// Engines of two GPUs. Asynchronous training needs no log-probabilities of the policy: engines keep those of their own.
double verl_seconds(const VerlModel& model, const VerlJob& job) {
  const std::uint32_t trains = job.trains > 0 ? job.trains : job.gpus;
  const std::uint32_t generate = job.trains > 0 ? job.gpus - job.trains : job.gpus;
  json parallelism = model.parallelism;
  parallelism["dp"] = trains / parallelism.value("tp", 1U);
  json rl{{"model", model.preset},
          {"prompts",
           {{"count", 512},
            {"responses", 16},
            {"tokens", 100},
            {"lengths", {{"mean", model.tokens}, {"sigma", 1.5}, {"most", model.most}}}}},
          {"mode", job.trains > 0 ? "async" : "on_policy"},
          {"steps", job.trains > 0 ? 6 : 3},
          {"generation",
           {{"engines", generate / 2},
            {"engine", {{"ranks", 2}, {"tp", 2}, {"etp", 2}}},
            {"times", {{"host", {{"step_ms", model.host_ms}}}}},
            {"batching", {{"max_sequences", 1024}}}}},
          {"training",
           {{"parallelism", parallelism},
            {"causal", true},
            {"micro_batch_tokens", 32768},
            {"passes", job.passes},
            {"mini_batches", 16}}},
          {"other_s", job.other_s}};
  if (job.trains > 0) {
    rl["ahead"] = job.ahead;
  } else {
    rl["colocated"] = true;
  }
  return middle_step(rl, job.gpus);
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
    const double together = verl_seconds(kDense, {gpus, 0, 1, update + scored + sync.rest});
    const double apart = verl_seconds(kDense, {gpus, gpus / 2, 0, update});
    std::printf("%u GPUs: colocated %.0f s measured, %.0f s; asynchronous %.0f, %.0f s; gain %.2f, %.2f\n", gpus, sync.step,
                together, async.step, apart, sync.step / async.step, together / apart);
    EXPECT_NEAR(together / sync.step, 1.0, 0.15);  // calibrated
    EXPECT_NEAR(apart / async.step, 1.0, 0.15);
    EXPECT_NEAR(together / apart / (sync.step / async.step), 1.0, 0.05);
  }
  if (!all) return;
  EXPECT_NEAR(verl_seconds(kDense, {64, 32, 0, update}) / rows.at("7b_64_fully_async").step, 1.0, 0.15);
  EXPECT_GT(rows.at("7b_128_staleness_0").step, rows.at("7b_128_staleness_0.5").step);
  EXPECT_GT(verl_seconds(kDense, {128, 64, 0, update, 0.0}), verl_seconds(kDense, {128, 64, 0, update, 0.5}));
}

// The host's time of a decode step is that of NeMo RL's rows, and responses are as long as the update says beside its
// constant part; the policy's log-probabilities keep as long a part as the reference's. These parts
// follow from the phases of both rows, as there is one colocated row: without them, 32 GPUs would train four times as long
// as 128, where 2.1 times were measured, and the asynchronous step would be longer.
TEST(VerlRows, ExpertsGainFromAsynchronousSteps) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  if (test_cases(1) == 1) GTEST_SKIP() << "in the night";
  std::map<std::string, VerlRow> rows = verl_rows(data);
  const VerlRow& sync = rows.at("30b_128_colocate_sync");
  const VerlRow& async = rows.at("30b_128_fully_async");
  const double update = constant_part(async.update, sync.update);
  const double reference = constant_part(async.reference, sync.reference);
  const VerlModel experts{"qwen3_30b_a3b", 1327, 8192, 27.1, {{"ep", 8}, {"etp", 1}, {"zero1", true}}};
  const double together = verl_seconds(experts, {128, 0, 2, update + 2 * reference + sync.rest});
  const double apart = verl_seconds(experts, {128, 32, 1, update + reference});
  std::printf("30B: colocated %.0f s measured, %.0f s; asynchronous %.0f, %.0f s; gain %.2f, %.2f\n", sync.step, together,
              async.step, apart, sync.step / async.step, together / apart);
  EXPECT_NEAR(together / sync.step, 1.0, 0.15);
  EXPECT_NEAR(apart / async.step, 1.0, 0.15);
  EXPECT_GT(together / apart, 1.5);
}

// Four GPUs generate for 501 s, beside 467 s of log-probabilities and update on the others; the rest follows. A few short
// responses of these times: what the step is made of, and not the work.
TEST(VerlRows, OneStepOffFollowsFromItsPhases) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const json file = json::parse(std::ifstream(data / "rl_rows" / "v2" / "verl_steps.json"));
  const auto found = std::find_if(file["rows"].begin(), file["rows"].end(),
                                  [](const json& row) { return row["id"] == "one_step_megatron_async"; });
  ASSERT_NE(found, file["rows"].end());
  const double step = (*found)["step_s"];
  const double generates = (*found)["generate_sequences_s"];
  const double trains = (*found)["old_logprob_s"].get<double>() + (*found)["update_actor_s"].get<double>();
  const double rest = step - trains - (*found)["generation_or_wait_s"].get<double>();
  const json rl{
      {"model", "llama3_8b"},
      {"prompts",
       {{"count", 12}, {"responses", 1}, {"tokens", 100}, {"lengths", {{"distribution", "constant"}, {"mean", 100}}}}},
      {"mode", "one_step_off"},
      {"steps", 4},
      {"generation",
       {{"engines", 2},
        {"engine", {{"ranks", 2}, {"tp", 2}}},
        {"times", {{"law", {{"fixed_us", generates / 100 * 1e6}}}}}}},
      {"training", {{"parallelism", {{"tp", 4}, {"dp", 3}}}, {"passes", 0}}},
      {"rewards", {{"response_ms", rest * 1e3}}},
      {"other_s", trains}};
  const double ours = middle_step(rl, 16);
  std::printf("one step off: %.0f s measured, %.0f s\n", step, ours);
  EXPECT_NEAR(ours, std::max(generates, trains) + rest, 2.0);
  EXPECT_NEAR(ours / step, 1.0, 0.15);
}

}  // namespace
}  // namespace photonrail::test
