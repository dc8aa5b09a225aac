// `photonrail explain` and `photonrail import chakra`: one call each.
#include "command/command.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

class Explain : public Command {};

TEST_F(Explain, SaysWhatBoundsARunAndTheWorthOfItsResources) {
  const std::string file = (fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/quickstart.json").string();
  const Outcome text = run("explain '" + file + "'");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("the critical path, whole run"));
  EXPECT_THAT(text.out, HasSubstr("NIC ports, x 1.1"));
  EXPECT_THAT(text.out, HasSubstr("electrical rails, in place of optical"));
  const Outcome outcome = run("explain '" + file + "' --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json explained = json::parse(outcome.out);
  double sum = 0.0;
  for (const json& part : explained["critical_path"]["parts"]) sum += part["time_s"].get<double>();
  EXPECT_NEAR(sum, explained["makespan_s"].get<double>(), 1e-9);
  for (const json& of : explained["worth"]) EXPECT_TRUE(of.contains("gain") || of.contains("error")) << of;
}

// Served requests are judged by their first token, steps of reinforcement learning by the mean step; each says its parts.
TEST_F(Explain, SpeaksOfTheFirstTokenAndOfStepsWhereThereIsNoPath) {
  const auto file = [](const char* name) {
    return " '" + (fs::path(PHOTONRAIL_SOURCE_DIR) / "configs" / name / "quickstart.json").string() + "'";
  };
  const std::string few = file("serving") + " --set /workload/serving/requests/count=200";
  const json served = json::parse(run("explain --json" + few).out);
  double parts = 0.0;
  for (const auto& [part, summary] : served["ttft_parts_s"].items()) parts += summary["mean"].get<double>();
  EXPECT_NEAR(parts, served["ttft_s"].get<double>(), 1e-9);
  EXPECT_THAT(run("explain" + few).out, HasSubstr(": the mean TTFT, part by part\n"));
  ASSERT_EQ(run("run --quiet --out rl" + file("rl")).status, 0);
  const json result = json::parse(read(folder_ / "rl/result.json"));
  const json learned = json::parse(run("explain --json" + file("rl")).out);
  EXPECT_EQ(learned["step_s"], result["rl"]["mean"]["step_s"]);
  EXPECT_LT(learned["step_s"].get<double>(), 0.5 * learned["makespan_s"].get<double>());  // of several steps
  for (const json& of : learned["worth"]) {
    const double step = of["step_s"];
    EXPECT_NEAR(of["gain"].get<double>(), 1.0 - step / learned["step_s"].get<double>(), 1e-9) << of["resource"];
  }
}

// 32 GPUs generate and 32 train; each of 1,024 samples has a prompt of 200 tokens, which training has too.
TEST_F(Explain, TokensOfAPhaseAreItsRateTimesItsGpus) {
  const std::string file = (fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/rl/quickstart.json").string();
  ASSERT_EQ(run("run --quiet --out rl '" + file + "'").status, 0);
  const json result = json::parse(read(folder_ / "rl/result.json"));
  for (const json& step : result["rl"]["steps"]) {
    const auto tokens = [&](const std::string& phase) {
      return step[phase + "_tokens_per_s_gpu"].get<double>() * step[phase + "_s"].get<double>() * 32;
    };
    const double responses = step["response_tokens"];
    EXPECT_NEAR(tokens("generation"), responses, 1e-3);
    EXPECT_NEAR(tokens("log_probabilities"), responses + 1024 * 200, 1e-3);
    EXPECT_NEAR(tokens("training"), responses + 1024 * 200, 1e-3);
  }
}

// What is no scenario of one job says which command takes it.
TEST_F(Explain, SaysWhichCommandTakesAnotherFile) {
  const auto error_of = [&](const char* name) {
    const Outcome outcome = run("explain '" + (fs::path(PHOTONRAIL_SOURCE_DIR) / "configs" / name).string() + "'");
    EXPECT_EQ(outcome.status, 2) << name;
    return outcome.err;
  };
  EXPECT_THAT(error_of("jobs/optical.json"), HasSubstr("one job only, and here are 2 (`photonrail run` takes them"));
  EXPECT_THAT(error_of("infragraph/optical-rails.yaml"), HasSubstr("`photonrail import`: infragraph FILE"));
  EXPECT_THAT(error_of("astra-sim/system.json"), HasSubstr("`photonrail import astra FOLDER`"));
}

// The run takes 0.1 s, as most of its sends are folded; from all of them the runs of all resources would take 33 s.
TEST_F(Explain, ForecastsFromTheFirstRun) {
  const std::string file = (fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/papers/training/deepseek-v3-h100.json").string();
  const Outcome outcome = run("explain '" + file + "'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::Not(HasSubstr("will take about 33 s")));
}

TEST_F(Explain, ATraceBecomesAScenarioInOneCall) {
  const std::string folder = (fs::path(PHOTONRAIL_SOURCE_DIR) / "traces/llama3-8b-tp4-pp2-dp2").string();
  const Outcome outcome = run("import chakra '" + folder + "' -o job.json --gpus-per-server 4");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("wrote job.json: 16 ranks, "));
  EXPECT_THAT(outcome.out, HasSubstr("guessed:"));
  EXPECT_THAT(outcome.out, HasSubstr("groups of tp"));
  EXPECT_EQ(run("run job.json --quiet").status, 0) << read(folder_ / ".err");
  EXPECT_EQ(run("import chakra nowhere -o other.json").status, 2);
  EXPECT_FALSE(fs::exists(folder_ / "other.json"));
}

}  // namespace
}  // namespace photonrail::test
