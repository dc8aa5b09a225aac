// `plan`.
#include "command/command.hpp"
#include "support/source_dir.hpp"

#include <cstdlib>
#include <string>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

TEST_F(Command, PlanFindsTheBestAndProvesIt) {
  const std::string file = "'" + std::string(PHOTONRAIL_SOURCE_DIR) + "/configs/plans/llama3-8b-64.json'";
  const Outcome told = run("plan " + file + " --out plan --limit 1h --jobs 2");
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("tp 2, pp 1, dp 32"));
  EXPECT_THAT(told.out, HasSubstr("proven"));
  EXPECT_THAT(told.out, HasSubstr("memory of a GPU"));
  EXPECT_THAT(told.out, HasSubstr("from the base to the best"));
  EXPECT_THAT(told.out, HasSubstr("efficiency of GPUs"));
  EXPECT_THAT(told.out, HasSubstr("as good up to a delay of"));
  EXPECT_EQ(run("run plan/best.json").status, 0);
  EXPECT_EQ(run("sweep plan/around.json --out around").status, 0);
  EXPECT_EQ(run("report plan -o plan.html").status, 0);
  EXPECT_THAT(read(folder_ / "plan.html"), HasSubstr("\"plan\":{"));
  const Outcome again = run("plan " + file + " --out plan --json");
  EXPECT_EQ(again.status, 0) << again.err;
  const json result = json::parse(again.out);
  EXPECT_EQ(result["reused"], result["simulated"]);
  EXPECT_EQ(result["gap"], 0.0);
  EXPECT_GT(result["excluded"], result["simulated"]);
}

// The step is a middle one of the run, as the table of the best run says too.
TEST_F(Command, PlanDividesTheGpusOfReinforcement) {
  json file = json::parse(read(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/plans/rl-split.json"));
  file["base"]["workload"]["rl"]["prompts"]["count"] = 4;
  file["axes"] = {file["axes"][0], file["axes"][1]};  // divisions and modes
  json& divisions = file["axes"][0]["variants"];
  while (divisions.size() > 2) divisions.erase(divisions.begin());
  write("split.json", file);
  const Outcome told = run("plan split.json --out plan --limit 1h --jobs 2 --json");
  EXPECT_EQ(told.status, 0) << told.err;
  const json plan = json::parse(told.out);
  EXPECT_EQ(plan["open"], 0);
  EXPECT_EQ(run("run plan/best.json --out best").status, 0);
  const json mean = json::parse(read(folder_ / "best/result.json"))["rl"]["mean"];
  EXPECT_NEAR(plan["best"][0]["step_s"].get<double>(), mean["step_s"].get<double>(), 1e-9);
}

TEST_F(Command, PlanAnswersAQuestionWithoutAFile) {
  const Outcome told = run("plan --model llama3_8b --gpus 8 --gpu h100 --batch 16 --limit 1h");
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("llama3_8b on 8 GPUs"));
}

// In the place of sbatch a program that only takes the script, whose tasks run here, one after the other.
TEST_F(Command, PlanRunsAsAnArrayJob) {
  fs::create_directories(folder_ / "bin");
  std::ofstream(folder_ / "bin/sbatch") << "#!/bin/sh\necho 4711\n";
  fs::permissions(folder_ / "bin/sbatch", fs::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", ((folder_ / "bin").string() + ":" + path).c_str(), 1);
  const std::string file = "'" + std::string(PHOTONRAIL_SOURCE_DIR) + "/configs/plans/llama3-8b-64.json'";
  const Outcome sent = run("plan " + file + " --out out --launcher slurm --points-per-task 130 --limit 1h --time 1:00:00");
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(sent.status, 0) << sent.err;
  EXPECT_THAT(sent.out, HasSubstr("submitted job 4711, 3 tasks"));  // 384 candidates
  EXPECT_THAT(read(folder_ / "out/slurm/job.sh"), HasSubstr("#SBATCH --time=1:00:00\n"));
  const auto task = [this](int number) {
    const std::string line = "cd '" + folder_.string() + "' && SLURM_ARRAY_TASK_ID=" + std::to_string(number) +
                             " bash out/slurm/job.sh >task.txt 2>&1";
    EXPECT_EQ(std::system(line.c_str()), 0) << read(folder_ / "task.txt");
    return read(folder_ / "task.txt");
  };
  for (const int number : {1, 2, 3}) EXPECT_THAT(task(number), HasSubstr(" 0 open"));
  // A task that died while it wrote a record, and comes back.
  const fs::path log = folder_ / "out/shards/1-of-3.jsonl";
  const auto size = fs::file_size(log);
  fs::resize_file(log, size - 20);
  EXPECT_THAT(task(1), HasSubstr(" 0 open"));
  const json together = json::parse(run("plan " + file + " --out out --limit 1h --json").out);
  const json alone = json::parse(run("plan " + file + " --limit 1h --json").out);
  EXPECT_EQ(together["best"][0]["objectives"], alone["best"][0]["objectives"]);
  EXPECT_EQ(together["gap"], 0.0);
  EXPECT_EQ(together["open"], 0);
  EXPECT_GT(together["reused"], 0);
  EXPECT_THAT(run("plan " + file + " --out out --set /workload/training/sequence=4096").err, HasSubstr("another folder"));
  EXPECT_EQ(run("plan " + file + " --launcher slurm").status, 2);
  EXPECT_EQ(run("plan " + file + " --out out2 --launcher slurm --shard 1/2").status, 2);
  EXPECT_EQ(run("plan --model llama3_8b --out out2 --launcher slurm").status, 2);
  EXPECT_EQ(run("plan " + file + " --out out2 --shard 3/2").status, 2);
}

TEST_F(Command, PlanRefusesWhatItCannotSearch) {
  EXPECT_EQ(run("plan").status, 2);
  EXPECT_EQ(run("plan --model llama3_8b --gpus 12").status, 2);
  const Outcome limit = run("plan --model llama3_8b --limit 0s");
  EXPECT_EQ(limit.status, 2);
  EXPECT_THAT(limit.err, HasSubstr("--limit"));
  const auto refusal = [this](const char* key, const json& value) {
    json file = json::parse(read(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/plans/llama3-8b-64.json"));
    file[key] = value;
    write("plan.json", file);
    const Outcome outcome = run("plan plan.json --limit 1h");
    EXPECT_EQ(outcome.status, 2) << key;
    return outcome.err + outcome.out;
  };
  EXPECT_THAT(refusal("shapes", {{"tp", json::array()}}), HasSubstr("/shapes/tp"));
  EXPECT_THAT(refusal("objective", "usd_per_trillion_tokens"), HasSubstr("has no prices"));
  EXPECT_THAT(refusal("limits", {{"usd", 1}}), HasSubstr("no candidate can run"));
  const Outcome small = run("plan --model llama3_405b --gpus 8 --gpu h100 --limit 1h");
  EXPECT_EQ(small.status, 2);
  EXPECT_THAT(small.out, HasSubstr("no candidate can run; the nearest is"));
}

}  // namespace
}  // namespace photonrail::test
