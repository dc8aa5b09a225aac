// What results count, what traces say, and schedulers of a user that come to no end.
#include "formats/serving/request_traces.hpp"
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/workload/scheduling.hpp"
#include "serving/served.hpp"
#include "support/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace photonrail::serving {
namespace {

using test::Folder;
using ::testing::HasSubstr;

// Three requests come at once to one place: one runs, one is refused beside it and one with it. The one after the warm-up
// of three keeps its limit, so that all that count do.
TEST(ServingBooks, RefusedRequestsOfTheWarmUpAreNoneThatCount) {
  EngineSpec engine = plain_engine();
  engine.max_sequences = 1;
  ServingSpec spec = one_pool({kMs, {}, {}, {}}, engine);
  Trace trace;
  for (const int second : {0, 0, 0, 1}) trace.rows.push_back({Time{from_seconds(second)}, 1, 1});
  spec.requests.trace = std::make_shared<Trace>(trace);
  spec.requests.count = 4;
  spec.routing.max_waiting = 1;
  spec.warm_up = 3;
  spec.slo = SloSpec{};
  spec.slo->ttft = 10 * kMs;
  const ServingResult r = served(spec);
  EXPECT_EQ(r.refused, 2U);
  EXPECT_EQ(r.warm_up, 3U);
  EXPECT_EQ(r.ttft.count, 1U);
  EXPECT_EQ(r.slo->share, 1.0);
}

// Two requests of 30 + 10 tokens in four blocks of 16: the first lacks a third one when both have computed 32, so that the
// second gives way. Computed again are these 32, of which a copy on the host leaves none.
TEST(ServingBooks, TokensAreComputedAgainThatHadBeenComputed) {
  for (const Preemption preemption : {Preemption::kRecompute, Preemption::kSwap}) {
    EngineSpec engine = plain_engine(4);
    engine.preemption = preemption;
    ServingSpec spec = one_pool({kMs, {}, {}, {}}, engine);
    spec.requests.concurrency = 2;
    spec.requests.count = 2;
    spec.requests.input = tokens(30);
    spec.requests.output = tokens(10);
    const ServingResult r = served(spec);
    EXPECT_EQ(r.engines[0].preemptions, 1U);
    EXPECT_EQ(r.engines[0].prompt_tokens, 60U);
    EXPECT_EQ(r.engines[0].recomputed_tokens, preemption == Preemption::kSwap ? 0U : 32U);
  }
}

// What a decode engine computes first, beside KV that came, is no prompt.
TEST(ServingBooks, DecodeEnginesComputeNoPrompts) {
  ServingSpec spec;
  spec.pools = {pool(PoolRole::kPrefill, 1, 0, {kMs, {}, {}, {}}, plain_engine()),
                pool(PoolRole::kDecode, 1, 1, {kMs, {}, {}, {}}, plain_engine())};
  spec.transfer.bytes_per_token = 1e5;
  spec.transfer.layers = 10;
  spec.requests.concurrency = 2;
  spec.requests.count = 5;
  spec.requests.input = tokens(100);
  spec.requests.output = tokens(3);
  const ServingResult r = served(spec);
  EXPECT_EQ(r.engines[0].prompt_tokens, 500U);
  EXPECT_EQ(r.engines[1].prompt_tokens, 0U);
}

class Decided : public SchedulingPolicy {
 public:
  explicit Decided(StepDecision beside) : beside_(std::move(beside)) {}
  [[nodiscard]] std::string name() const override { return "odd"; }
  [[nodiscard]] StepDecision decide(const EngineView& view) const override {
    if (view.running.empty()) return beside_;
    return {{0}, {}, {}};
  }

 private:
  StepDecision beside_;
};

std::string end_of(StepDecision beside) {
  EngineSpec engine = plain_engine();
  engine.policy = std::make_shared<Decided>(std::move(beside));
  ServingSpec spec = one_pool({kUs, {}, {}, {}}, engine);
  spec.requests.concurrency = 2;
  spec.requests.count = 2;
  spec.requests.input = tokens(100);
  spec.requests.output = tokens(2);
  try {
    static_cast<void>(served(spec));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "served";
}

TEST(ServingBooks, ASchedulerThatComesToNoEndIsNamed) {
  EXPECT_THAT(end_of({{}, {}, {{0, 1}}}), HasSubstr("the scheduler odd preempts without end"));
  EXPECT_THAT(end_of({}), HasSubstr("its scheduler odd runs none"));
}

std::string trace_error(const std::string& text) {
  const Folder folder;
  try {
    static_cast<void>(formats::read_request_trace(folder.write("trace.csv", text)));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "read";
}

// BurstGPT's rows of failed requests have no answer, and its first file is of 61 days.
TEST(ServingBooks, TracesSayWhatIsLeftOutAndMayBeLong) {
  const std::string head = "Timestamp,Session ID,Model,Request tokens,Response tokens,Total tokens,Log Type\n";
  const std::string rows =
      "5,1,ChatGPT,472,18,490,API log\n45,1,ChatGPT,100,0,100,API log\n5200045,2,GPT-4,10,20,30,API log\n";
  const Folder folder;
  for (const char* mark : {"", "\xef\xbb\xbf"}) {  // as some programs begin a text
    const Trace trace = formats::read_request_trace(folder.write("burst.csv", mark + head + rows));
    ASSERT_EQ(trace.rows.size(), 2U);
    EXPECT_EQ(trace.rows[1].at, Time{from_seconds(5'200'040)});
    EXPECT_EQ(trace.left_out, 1U);
  }
  EXPECT_THAT(trace_error("Request tokens,Response tokens\n5,5\n"), HasSubstr("or one is missing"));
  EXPECT_THAT(trace_error(head + rows + "9900000,2,GPT-4,10,20,30,API log\n"), HasSubstr("longer than 104 days"));

  const auto run_of = [&](const std::string& requests) {
    const std::string text = R"({"schema": "photonrail.scenario/1", "name": "trace",
        "cluster": {"servers": 1, "gpus_per_server": 2, "gpu": "h100", "rail": {"kind": "electrical"}},
        "workload": {"serving": {"model": "llama3_8b", "times": {"law": {"fixed_us": 1000}},
          "requests": {"trace": "burst.csv")" +
                             requests + "}}}}";
    try {
      const RunResult result = simulate(parse_scenario(text, folder.path()));
      return std::to_string(result.serving->finished) + " finished; " + (result.warnings.empty() ? "" : result.warnings[0]);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(run_of(""), HasSubstr("/workload/serving/requests/trace: has requests for 60 days, and times end at 46"));
  EXPECT_THAT(run_of(R"(, "rate_factor": 1000)"),
              HasSubstr("2 finished; 1 row of the trace without a prompt or without an answer"));
  EXPECT_THAT(run_of(R"(, "count": 1)"), HasSubstr("1 finished"));
  EXPECT_THAT(run_of(R"(, "rate_factor": 1e-6)"), HasSubstr("times end at 46 days"));
}

std::string refused(const std::string& serving) {
  try {
    static_cast<void>(parse_scenario(R"({"schema": "photonrail.scenario/1", "name": "names",
        "cluster": {"servers": 3, "gpus_per_server": 2, "gpu": "h100", "rail": {"kind": "electrical"}},
        "workload": {"serving": {"model": "llama3_8b", )" +
                                         serving + "}}}",
                                     "."));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ServingBooks, NamesThatResultsAndDonorsGoByAreOfOne) {
  const std::string classes = R"("requests": {"concurrency": 4, "input": 5, "output": 2, "count": 4, "classes": )";
  EXPECT_THAT(refused(classes + R"([{"name": "a"}, {"name": "a"}]})"),
              HasSubstr("/workload/serving/requests/classes: has two classes of the name \"a\""));
  const std::string pools = R"("requests": {"concurrency": 4, "input": 5, "output": 2, "count": 4}, "pools": )";
  EXPECT_THAT(refused(pools + R"([{"name": "x", "role": "prefill", "servers": [0]}, {"name": "x", "role": "decode"}])"),
              HasSubstr("/workload/serving/pools: has two pools of the name \"x\""));
  EXPECT_THAT(refused(pools + R"([{"name": "y", "servers": [0]}, {"name": "y", "servers": [1]},
                                  {"name": "x", "offload": {"to": "y"}, "engine": {"preemption": "swap"}}])"),
              HasSubstr("has two pools of the name \"y\""));
  EXPECT_EQ(refused(pools + R"([{"servers": [0]}, {"servers": [1]}])"), "accepted");
}

// 40 requests at 0.001 a second come for half a day; 1,024 times slower ones would come for more than runs hold.
TEST(ServingBooks, ASearchOfRatesEndsWhereTimesWould) {
  const std::string text = R"({"schema": "photonrail.scenario/1", "name": "slow",
      "cluster": {"servers": 1, "gpus_per_server": 1, "gpu": "h100", "rail": {"kind": "electrical"}},
      "workload": {"serving": {"model": "llama3_8b", "times": {"law": {"fixed_us": 10000}}, "slo": {"ttft_ms": 5},
        "requests": {"arrivals": {"per_s": 0.001}, "input": 1, "output": 1, "count": 40}, "find_rate": {}}}})";
  const RunResult result = simulate(parse_scenario(text, "."));
  EXPECT_FALSE(result.serving->rate_search->greatest);
  ASSERT_TRUE(result.serving->rate_search->beyond);
  EXPECT_LT(result.serving->rate_search->beyond->per_s, 0.0001);
}

}  // namespace
}  // namespace photonrail::serving
