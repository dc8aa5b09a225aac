// Times of steps from tables: what they lack, and what they say twice.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "serving/engine/kernel_tables.hpp"
#include "support/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

// What reading a served model with these times says.
std::string read_with_times(const std::string& times, const std::string& model, const std::string& gpu) {
  const std::string text =
      R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 1, "gpus_per_server": 2, "gpu": ")" + gpu +
      R"(", "rail": {"kind": "electrical"}}, "workload": {"serving": {"model": ")" + model +
      R"(", "requests": {"concurrency": 4, "input": 500, "output": 20, "count": 40}, "times": )" + times + "}}}";
  try {
    static_cast<void>(parse_scenario(text, "."));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

// A profile that lacks what a step needs would give steps that take no time for it; a size that is there twice has two
// times.
TEST(ServingProfiles, AProfileThatLacksAShapeIsRefused) {
  const Folder folder;
  const std::string attention = "prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n";
  const std::string chunk = "16,0,0,0,5\n32,0,0,0,9\n";
  const std::string decode = "0,0,1,16,2\n0,0,1,1024,4\n";
  const auto write = [&](const char* name, const std::string& text) { folder.write(name, text); };
  const auto told = [&](const std::string& model = "llama3_8b") {
    return read_with_times(R"({"kernels": ")" + folder.path().string() + "\"}", model, "h100");
  };
  write("dense.csv", "layer,tokens,time_us\nqkv_proj,1,3\nqkv_proj,8,2\no_proj,1,2\nlayernorm,1,1\ndown_proj,1,4\n");
  write("per_sequence.csv", "layer,sequences,time_us\nlm_head,1,3\n");
  write("attention.csv", attention + chunk + decode);
  EXPECT_EQ(told(), "accepted");
  const std::string experts = "qwen3_30b_a3b";
  const std::string place = folder.path().string();
  EXPECT_THAT(told(experts), HasSubstr(place + "/moe.csv: is missing, and the scenario's model has experts"));
  write("moe.csv", "tokens,activated_experts,time_us\n1,8,50\n");
  EXPECT_EQ(told(experts), "accepted");
  EXPECT_THAT(told(), HasSubstr(place + "/moe.csv: is of a model with experts"));
  write("moe.csv", "tokens,activated_experts,time_us\n1,8,50\n1,8,60\n");
  EXPECT_THAT(told(experts), HasSubstr(place + "/moe.csv: has a size twice"));
  std::filesystem::remove(folder.path() / "moe.csv");
  write("attention.csv", attention + decode);
  EXPECT_THAT(told(), HasSubstr(place + "/attention.csv: lacks chunks of prompts"));
  write("attention.csv", attention + chunk);
  EXPECT_THAT(told(), HasSubstr(place + "/attention.csv: lacks decodes alone"));
  write("attention.csv", attention + chunk + decode + decode);
  EXPECT_THAT(told(), HasSubstr(place + "/attention.csv: has a size twice"));
  write("per_sequence.csv", "layer,sequences,time_us\nhead,1,3\n");
  write("attention.csv", attention + chunk + decode);
  EXPECT_THAT(told(), HasSubstr(place + "/per_sequence.csv: lacks the kernel \"lm_head\""));
}

// Beyond the last point a kernel goes on as it went: one that became faster takes no less than nothing.
TEST(ServingProfiles, NoKernelOfAProfileTakesLessThanNothing) {
  const serving::Curve falling({{1.0, 3.0}, {8.0, 2.0}});
  EXPECT_DOUBLE_EQ(falling.at(4.5), 2.5);
  EXPECT_DOUBLE_EQ(falling.at(15.0), 1.0);
  EXPECT_DOUBLE_EQ(falling.at(8192.0), 0.0);
}

// What the built-in tables of a GPU do not have is not taken from its roofline in silence.
TEST(ServingProfiles, TablesOfAGpuThatLackAShapeAreRefused) {
  const auto on = [](const std::string& gpu, const std::string& more = "") {
    return read_with_times(R"({"operators": "tables"})" + more, "llama3_8b", gpu);
  };
  const std::string fp8 = R"(, "kv_precision": "fp8")";
  EXPECT_EQ(on("a100"), "accepted");
  EXPECT_EQ(on("h100", fp8), "accepted");
  EXPECT_THAT(on("a100", fp8), HasSubstr("/workload/serving/times/operators: the tables of a100 lack attention of decodes "
                                         "whose cache has 8 bits"));
  EXPECT_THAT(on("h100", R"(, "kv_precision": "fp32")"), HasSubstr("whose cache has 32 bits"));
}

}  // namespace
}  // namespace photonrail::test
