// "workload/serving" in a scenario: runs from a file, and what wrong files say.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "support/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

std::string scenario_with(const std::string& serving, const std::string& servers = "3") {
  return R"({"schema": "photonrail.scenario/1", "name": "served",
            "cluster": {"servers": )" +
         servers + R"(, "gpus_per_server": 2, "gpu": "h100", "scale_up": {"gb_per_s": 450},
                        "nic": {"port_gb_per_s": 50, "latency_us": 2}, "rail": {"kind": "electrical"}},
            "workload": {"serving": {"model": "llama3_8b", )" +
         serving + "}}}";
}

const std::string kRequests = R"("requests": {"concurrency": 4, "input": 500, "output": 20, "count": 40})";
const std::string kLaw = R"("times": {"law": {"fixed_us": 1000, "prefill_token_us": 10, "decode_us": 20}})";

std::string refusal(const std::string& serving, const std::string& servers = "3") {
  try {
    static_cast<void>(parse_scenario(scenario_with(serving, servers), "."));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ServingScenario, RunsOnOnePoolOfAllServersByDefault) {
  const RunResult result = simulate(parse_scenario(scenario_with(kRequests + ", " + kLaw), "."));
  ASSERT_TRUE(result.serving.has_value());
  EXPECT_EQ(result.serving->engines.size(), 6U);
  EXPECT_EQ(result.serving->finished, 40U);
  EXPECT_EQ(result.serving->ttft.p50, Duration{6'000'000'000});  // 1 ms + 500 x 10 us, on an engine of its own
  EXPECT_THAT(to_json(result), HasSubstr("\"ttft_s\""));
  for (const RankTime& time : result.ranks) EXPECT_EQ(time.total(), result.makespan);
}

// A step of the roofline reads the weights once: 16.1 GB over 3.35 TB/s at 80 % is 6 ms.
TEST(ServingScenario, WithoutTimesTheRooflineOfTheGpuCounts) {
  const RunResult result = simulate(parse_scenario(scenario_with(kRequests), "."));
  EXPECT_GT(to_seconds(result.serving->tpot.mean), 0.004);
  EXPECT_LT(to_seconds(result.serving->tpot.mean), 0.010);
}

TEST(ServingScenario, PrefillAndDecodeApartSendTheirKv) {
  const std::string pools = R"(, "pools": [{"role": "prefill", "servers": [0], "tp": 2}, {"role": "decode", "tp": 2}])";
  const RunResult result = simulate(parse_scenario(scenario_with(kRequests + ", " + kLaw + pools), "."));
  EXPECT_EQ(result.serving->engines.size(), 3U);
  EXPECT_EQ(result.serving->transfers, 40U);
  EXPECT_EQ(result.serving->transfer_bytes, 40U * 500U * 131'072U);  // 2 x 32 layers x 8 heads x 128 x 2 bytes a token
  EXPECT_EQ(result.launches.back().bytes.count, static_cast<std::int64_t>(result.serving->transfer_bytes));
}

TEST(ServingScenario, SaysWhatIsWrong) {
  EXPECT_THAT(refusal(kLaw), HasSubstr("/workload/serving"));
  EXPECT_THAT(refusal(R"("requests": {"input": 5, "output": 5})"), HasSubstr("\"concurrency\" or \"trace\""));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"tp": 3}])"), HasSubstr("tp 3 does not divide the 2 GPUs of a server"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"role": "decode"}])"), HasSubstr("one needs the other"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"servers": [0, 1, 2]}, {"name": "b"}])"), HasSubstr("has no GPUs"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"servers": [0]}, {"servers": [0]}])"),
              HasSubstr("server 0 is in two pools"));
  EXPECT_THAT(refusal(kRequests + R"(, "times": {"law": {"fixed_us": 0}})"), HasSubstr("a step takes no time"));
  EXPECT_THAT(refusal(kRequests + R"(, "engine": {"memory_share": 0.1})"), HasSubstr("the model does not fit"));
  EXPECT_THAT(refusal(kRequests + R"(, "times": {"kernels": "/nowhere"})"), HasSubstr("/nowhere: is no folder"));
  EXPECT_THAT(refusal(kRequests + R"(, "slo": {"ttft": 3})"), HasSubstr("/workload/serving/slo"));
}

TEST(ServingScenario, ATraceSaysWhichLineIsWrong) {
  const Folder folder;
  const auto trace = [&](const std::string& text) {
    std::ofstream(folder.path() / "trace.csv") << text;
    return refusal(R"("requests": {"trace": ")" + (folder.path() / "trace.csv").string() + "\"}, " + kLaw);
  };
  EXPECT_EQ(trace("arrival_ms,input_tokens,output_tokens\n0,10,2\n5,10,2\n"), "accepted");
  EXPECT_THAT(trace("arrival_ms,input_tokens,output_tokens\n5,10,2\n0,10,2\n"),
              HasSubstr("trace.csv:3: the request comes before"));
  EXPECT_THAT(trace("arrival_ms,input_tokens,output_tokens\n5,ten,2\n"), HasSubstr("trace.csv:2: \"ten\" is no number"));
  EXPECT_THAT(trace("time,tokens\n5,10\n"), HasSubstr("no known trace of requests"));
  EXPECT_THAT(trace("arrival_ms,input_tokens,output_tokens\n"), HasSubstr("has no requests"));
  EXPECT_EQ(trace("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,10,2\n2023-11-16 18:15:47.0,3,4\n"),
            "accepted");
  EXPECT_EQ(
      trace(
          "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n"),
      "accepted");
  EXPECT_EQ(trace(R"({"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [0, 1]})"), "accepted");
  EXPECT_THAT(trace(R"({"timestamp": 0, "input_length": 600})"), HasSubstr("trace.csv:1"));
}

}  // namespace
}  // namespace photonrail::test
