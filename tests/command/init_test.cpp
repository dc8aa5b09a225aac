// `photonrail init`: what it writes is a scenario that validates and runs.
#include "command/command.hpp"

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

class Init : public Command {};

TEST_F(Init, AGridOfOptionsValidatesAndRuns) {
  int written = 0;
  for (const char* model : {"llama3_8b", "mixtral_8x7b", "deepseek_v2"}) {
    for (const char* cluster :
         {"--servers 2 --gpus-per-server 1", "--servers 2 --gpus-per-server 8", "--servers 6 --gpus-per-server 4"}) {
      for (const char* rail : {"--rail electrical", "--controller opus", "--controller rotor --switch rotor"}) {
        const std::string file = "s" + std::to_string(written++) + ".json";
        const std::string options = std::string(" --model ") + model + " " + cluster + " " + rail + " --sequence 2048";
        const Outcome init = run("init " + file + options);
        ASSERT_EQ(init.status, 0) << options << ": " << init.err;
        EXPECT_EQ(init.out, "wrote " + file + "; photonrail run " + file + " runs it\n");
        EXPECT_THAT(read(folder_ / file), HasSubstr("// "));
      }
    }
  }
  std::string files;
  for (int i = 0; i < written; ++i) files += " s" + std::to_string(i) + ".json";
  const Outcome valid = run("validate" + files);
  EXPECT_EQ(valid.status, 0) << valid.err;
  // Each kind of rail once, of the first model on the second cluster.
  const Outcome done = run("run s3.json s4.json s5.json --quiet --out out --set /workload/training/global_batch=2");
  EXPECT_EQ(done.status, 0) << done.err;
}

TEST_F(Init, ADenseModelIsShardedAndAnotherTakesTheFewestStages) {
  ASSERT_EQ(run("init one.json --servers 16 --gpus-per-server 8").status, 0);
  EXPECT_THAT(read(folder_ / "one.json"), HasSubstr("\"tp\": 8, \"pp\": 1, \"dp\": 16, \"fsdp\": true"));
  // Experts over 32 ranks make one stage fit: 2.6e9 parameters a GPU of 18 bytes each are 46 GB.
  ASSERT_EQ(run("init large.json --servers 32 --gpus-per-server 8 --model deepseek_v3").status, 0);
  EXPECT_THAT(read(folder_ / "large.json"), HasSubstr("\"tp\": 8, \"pp\": 1, \"dp\": 32, \"ep\": 32, \"zero1\": true"));
  EXPECT_THAT(run("validate large.json").err, ::testing::Not(HasSubstr("memory")));
  ASSERT_EQ(run("init asked.json --servers 16 --gpus-per-server 8 --tp 4 --pp 2").status, 0);
  EXPECT_THAT(read(folder_ / "asked.json"), HasSubstr("\"tp\": 4, \"pp\": 2, \"dp\": 16"));
}

TEST_F(Init, AsksAndTakesAnEmptyLineForTheDefault) {
  std::ofstream(folder_ / "answers") << "llama3_70b\n8\n\nh100\nelectrical\n";
  const Outcome outcome = run("init --questions asked.json <answers");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("model (photonrail list models) [llama3_8b] "));
  const json scenario = json::parse(read(folder_ / "asked.json"), nullptr, true, true);
  EXPECT_EQ(scenario["workload"]["training"]["model"], "llama3_70b");
  EXPECT_EQ(scenario["cluster"]["servers"], 8);
  EXPECT_EQ(scenario["cluster"]["gpus_per_server"], 8);
  EXPECT_EQ(scenario["cluster"]["gpu"]["preset"], "h100");
  EXPECT_FALSE(scenario.contains("controller"));
}

TEST_F(Init, WithoutAFileItWritesToStandardOutput) {
  EXPECT_EQ(run("init --servers 2 --gpus-per-server 1").out.substr(0, 2), "//");
  // Its input is no terminal: it does not ask.
  EXPECT_EQ(run("init </dev/null").status, 0);
}

// 192 ports hold pods of 48 servers at most, and 32 divide 128.
TEST_F(Init, WhereOneSwitchIsTooSmallThereArePods) {
  ASSERT_EQ(run("init wide.json --servers 128").status, 0);
  EXPECT_THAT(read(folder_ / "wide.json"), HasSubstr("\"pods\": { \"servers\": 32, \"joined_by\": \"optical\" }"));
  EXPECT_EQ(run("validate wide.json").status, 0);
}

TEST_F(Init, TakesAFileOfHuggingFace) {
  fs::create_directories(folder_ / "tiny");
  std::ofstream(folder_ / "tiny/config.json")
      << R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 4,
            "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 4096, "vocab_size": 32000,
            "max_position_embeddings": 2048})";
  ASSERT_EQ(run("init own.json --model tiny --servers 2 --gpus-per-server 2").status, 0) << read(folder_ / ".err");
  EXPECT_THAT(read(folder_ / "own.json"), HasSubstr("tiny/config.json"));
  EXPECT_EQ(run("run own.json --quiet").status, 0);
}

TEST_F(Init, WhatItCannotWriteItRefuses) {
  const Outcome too_small = run("init wide.json --model llama3_405b --servers 127");
  EXPECT_EQ(too_small.status, 2);
  EXPECT_THAT(too_small.err, HasSubstr("--switch polatis_6000: has 192 ports, and a rail of 127 servers needs 254 (with as "
                                       "many: lumentum_r300, polatis_7000,"));
  EXPECT_THAT(run("init --servers 2 --gpus-per-server 1 --controller magic").err, HasSubstr("there is no controller"));
  EXPECT_THAT(run("init --servers 2 --gpu h900").err, HasSubstr("known: "));
  EXPECT_THAT(run("init --servers 2 --gpus-per-server 1 --tp 4").err, HasSubstr("do not fit the cluster"));
  EXPECT_EQ(run("init --servers 0").status, 2);
}

}  // namespace
}  // namespace photonrail::test
