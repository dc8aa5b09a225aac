// "workload/serving" in a scenario: runs from a file, and what wrong files say.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/workload/scheduling.hpp"
#include "run/expected_time.hpp"
#include "run/rate_search.hpp"
#include "run/worth.hpp"
#include "support/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::HasSubstr;

std::string scenario_with(const std::string& serving, const std::string& servers = "3",
                          const std::string& model = R"("model": "llama3_8b", )") {
  return R"({"schema": "photonrail.scenario/1", "name": "served",
            "cluster": {"servers": )" +
         servers + R"(, "gpus_per_server": 2, "gpu": "h100", "scale_up": {"gb_per_s": 450},
                        "nic": {"port_gb_per_s": 50, "latency_us": 2}, "rail": {"kind": "electrical"}},
            "workload": {"serving": {)" +
         model + serving + "}}}";
}

const std::string kRequests = R"("requests": {"concurrency": 4, "input": 500, "output": 20, "count": 40})";
const std::string kLaw = R"("times": {"law": {"fixed_us": 1000, "prefill_token_us": 10, "decode_us": 20}})";

std::string refusal(const std::string& serving, const std::string& servers = "3",
                    const std::string& model = R"("model": "llama3_8b", )") {
  try {
    static_cast<void>(parse_scenario(scenario_with(serving, servers, model), "."));
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
  EXPECT_EQ(result.launches[3].bytes.count, static_cast<std::int64_t>(result.serving->transfer_bytes));  // kv_transfer
}

class SeenTrials final : public run::TrialObserver {
 public:
  void tried(std::size_t runs, const ServingResult::RateTrial& last) override {
    EXPECT_EQ(runs, rates.size() + 1);
    rates.push_back(last.per_s);
  }
  void end(Time /*makespan*/) override { ++ended; }
  std::vector<double> rates;
  int ended = 0;
};

// Two engines of one slot and 10 ms a request keep 10 ms to the first token up to 200 requests/s, which come evenly.
TEST(ServingScenario, FindsTheGreatestRate) {
  const std::string evenly =
      R"("requests": {"arrivals": {"process": "constant", "per_s": 30}, "input": 1, "output": 1, "count": 400},
         "engine": {"max_sequences": 1}, "times": {"law": {"fixed_us": 10000}},
         "slo": {"ttft_ms": 10, "share": 0.95}, "find_rate": {"within": 0.01})";
  SeenTrials seen;
  Observer* const told[] = {&seen};
  const RunResult result = simulate(parse_scenario(scenario_with(evenly, "1"), "."), told);
  EXPECT_EQ(seen.ended, 1);  // of the rate that was found
  const auto& search = result.serving->rate_search;
  ASSERT_TRUE(search && search->greatest && search->beyond);
  EXPECT_GT(search->greatest->per_s, 200.0 / 1.011);
  EXPECT_LT(search->greatest->per_s, 201.0);
  EXPECT_GE(search->greatest->share, 0.95);
  EXPECT_LT(search->beyond->share, 0.95);
  EXPECT_LE(search->beyond->per_s / search->greatest->per_s, 1.01);
  EXPECT_EQ(search->trials.size(), seen.rates.size());
  EXPECT_LE(search->trials.size(), 13U);  // 30, 60 .. 480, and seven halvings
  EXPECT_EQ(result.serving->slo->share, search->greatest->share);
  EXPECT_THAT(to_json(result), HasSubstr("\"rate_search\""));
  EXPECT_EQ(run::measure_of(result).kind, run::Measure::Kind::kRate);
}

TEST(ServingScenario, ARateThatNothingKeepsIsSaid) {
  const std::string never =
      R"("requests": {"arrivals": {"per_s": 30}, "input": 1, "output": 1, "count": 40},
         "times": {"law": {"fixed_us": 10000}}, "slo": {"ttft_ms": 5}, "find_rate": {})";
  const RunResult result = simulate(parse_scenario(scenario_with(never, "1"), "."));
  EXPECT_FALSE(result.serving->rate_search->greatest);
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_THAT(result.warnings.back(), HasSubstr("no rate that was tried"));
}

TEST(ServingScenario, WhatIsWorthMoreIsMeasuredByTheFirstToken) {
  const RunResult result = simulate(parse_scenario(scenario_with(kRequests + ", " + kLaw), "."));
  EXPECT_EQ(run::measure_of(result).kind, run::Measure::Kind::kTtft);
  EXPECT_EQ(run::measure_of(result).value, to_seconds(result.serving->ttft.mean));
  EXPECT_NEAR((run::Measure{run::Measure::Kind::kTtft, 0.9}).gain_over({run::Measure::Kind::kTtft, 1.0}), 0.1, 1e-12);
  EXPECT_NEAR((run::Measure{run::Measure::Kind::kRate, 1.1}).gain_over({run::Measure::Kind::kRate, 1.0}), 0.1, 1e-12);
}

// Server 0 has two of six engines; it fails at 100 ms, and for good. GPU 2 is another's, for 50 ms.
TEST(ServingScenario, FailuresOfServersAndGpusAreThoseOfTheirEngines) {
  const std::string requests = R"("requests": {"concurrency": 12, "input": 500, "output": 200, "count": 60})";
  std::string text = scenario_with(requests + ", " + kLaw);
  text.back() = ',';
  text += R"("server_faults": [{"server": 0, "at_ms": 100, "detection_ms": 20}],
             "stragglers": [{"ranks": [2], "at_ms": 150, "lasts_ms": 50, "stops": true}]})";
  const RunResult result = simulate(parse_scenario(text, "."));
  const ServingResult& served = *result.serving;
  EXPECT_EQ(served.finished, 60U);
  EXPECT_EQ(served.failures, 3U);
  EXPECT_GE(served.restarts, 4U);
  EXPECT_EQ(served.engines[0].off, served.makespan - Duration{100'000'000'000});
  EXPECT_EQ(served.engines[2].off, Duration{50'000'000'000});
  EXPECT_EQ(served.engines[3].off, Duration{});
  for (const RankTime& time : result.ranks) EXPECT_EQ(time.total(), result.makespan);
}

// One all-reduce of 500 tokens x 4 x 32 layers x 4,096 bytes for a prompt: traffic where collectives are flows.
TEST(ServingScenario, CollectivesOfAStepAreTrafficOnDemand) {
  const std::string one = R"("requests": {"concurrency": 1, "input": 500, "output": 1, "count": 1}, "pools": [{"tp": 2}])";
  const RunResult timed = simulate(parse_scenario(scenario_with(one + ", " + kLaw), "."));
  const RunResult flows = simulate(parse_scenario(scenario_with(one + R"(, "collectives": "flows", )" + kLaw), "."));
  const auto collectives = [](const RunResult& result) {
    return std::find_if(result.launches.begin(), result.launches.end(),
                        [](const auto& l) { return l.kind == "collective"; });
  };
  EXPECT_EQ(collectives(timed)->count, 0U);
  ASSERT_EQ(collectives(flows)->count, 1U);
  // A ring of two sends each half twice: 262 MB from each GPU at 450 GB/s, behind 6 ms of the law.
  const double ms = 6.0 + 500.0 * 4 * 32 * 4096 / 450e9 * 1e3;
  EXPECT_NEAR(to_seconds(flows.serving->ttft.mean) * 1e3, ms, 0.01);
  EXPECT_EQ(timed.serving->ttft.mean, Duration{6'000'000'000});
}

TEST(ServingScenario, StagesAndEnginesThatStepTogetherRun) {
  const RunResult stages =
      simulate(parse_scenario(scenario_with(kRequests + ", " + kLaw + R"(, "pools": [{"tp": 1, "pp": 3}])"), "."));
  EXPECT_EQ(stages.serving->finished, 40U);
  EXPECT_EQ(stages.serving->engines.size(), 6U);  // three slots of each of two engines
  const RunResult together =
      simulate(parse_scenario(scenario_with(kRequests + ", " + kLaw + R"(, "pools": [{"tp": 1, "dp": 3}])"), "."));
  EXPECT_EQ(together.serving->finished, 40U);
  EXPECT_GE(together.serving->ttft.mean, Duration{6'000'000'000});
  for (const RankTime& time : stages.ranks) EXPECT_EQ(time.total(), stages.makespan);
}

// One of six engines is there; others load 16 GB each from it: 0.32 s over a NIC of 50 GB/s.
TEST(ServingScenario, EnginesThatStartLoadTheirWeightsOverTheRails) {
  const std::string many = R"("requests": {"arrivals": {"per_s": 400}, "input": 500, "output": 20, "count": 800})";
  const RunResult result = simulate(
      parse_scenario(scenario_with(many + ", " + kLaw + R"(, "pools": [{"scaling": {"up": 8, "down": 1}}])"), "."));
  EXPECT_EQ(result.serving->finished, 800U);
  EXPECT_GE(result.serving->started, 2U);
  EXPECT_EQ(result.serving->weight_bytes % result.serving->started, 0U);
  EXPECT_GT(result.serving->weight_bytes, 15'000'000'000U);
  EXPECT_THAT(to_json(result), HasSubstr("\"fleet\""));
}

// One request at a time, whole.
class OneAtATime : public SchedulingPolicy {
 public:
  [[nodiscard]] std::string name() const override { return "one at a time"; }
  [[nodiscard]] StepDecision decide(const EngineView& view) const override {
    StepDecision step;
    if (!view.running.empty()) {
      step.run.push_back({0, view.running.front().wanted()});
    } else if (!view.waiting.empty()) {
      step.admit.push_back({0, view.waiting.front().wanted()});
    }
    return step;
  }
};

// Four requests at once, 6 ms of prompt and 19 decodes of 1.02 ms each: the last one's first token comes after three
// others.
TEST(ServingScenario, ASchedulerOfTheCallerDecidesTheSteps) {
  const std::string four =
      R"("requests": {"concurrency": 4, "input": 500, "output": 20, "count": 4}, "pools": [{"tp": 2}])";
  const Scenario scenario = parse_scenario(scenario_with(four + ", " + kLaw, "1"), ".");
  const RunResult result = simulate(with_scheduler(scenario, std::make_shared<OneAtATime>()));
  const Duration one{6'000'000'000 + 19 * 1'020'000'000LL};
  EXPECT_EQ(result.serving->ttft.most, 3 * one + Duration{6'000'000'000});
  EXPECT_EQ(result.makespan, 4 * one);
  const Scenario sliced = parse_scenario(scenario_with(four + R"(, "engine": {"slice_tokens": 2}, )" + kLaw, "1"), ".");
  EXPECT_THROW(static_cast<void>(with_scheduler(sliced, std::make_shared<OneAtATime>())), ConfigError);
  EXPECT_THROW(static_cast<void>(with_scheduler(Scenario{}, std::make_shared<OneAtATime>())), ConfigError);
}

// 898 GB are 877 million blocks of 16 tokens with 64 bytes: each is made when it is first taken.
// Requests share blocks of a prefix, few are free, and the last of those that run is preempted: the shared blocks stay.
TEST(ServingScenario, PreemptionFreesWhatNoOtherRequestHolds) {
  const std::string one_gpu = R"({"schema": "photonrail.scenario/1",
      "cluster": {"servers": 1, "gpus_per_server": 1, "rail": {"kind": "electrical"}}, "workload": {"serving": )";
  for (
      const char* serving :
      {R"({"model": "llama3_8b", "requests": {"arrivals": {"stages": [{"per_s": 31250, "lasts_ms": 1}], "process": "weibull",
            "shape": 1}, "input": {"distribution": "uniform", "least": 1, "greatest": 17}, "output": 5,
            "prefix": {"groups": 3, "tokens": 16}}, "engine": {"blocks": 7, "scheduler": "shortest_first"}})",
       R"({"model": "qwen3_30b_a3b", "requests": {"arrivals": {"per_s": 19}, "input": 4, "output": 35,
            "prefix": {"groups": 1, "tokens": 4}},
            "engine": {"block_tokens": 4, "blocks": 11, "scheduler": "shortest_first"}})"}) {
    const RunResult result = simulate(parse_scenario(one_gpu + serving + "}}", "."));
    EXPECT_EQ(result.serving->finished, result.serving->offered) << serving;
    EXPECT_GT(result.serving->engines[0].preemptions, 0U) << serving;
  }
}

TEST(ServingScenario, AnEngineWithMuchMemoryTakesNone) {
  const std::string tiny =
      R"("model": {"layers": 1, "hidden": 64, "ffn": 64, "heads": 1, "kv_heads": 1, "vocabulary": 64, "head_dim": 16}, )";
  const std::string cluster = R"("cluster": {"servers": 1, "gpus_per_server": 1, "gpu": {"peak_tflops": 1000,
      "memory_gb_per_s": 2000, "memory_gb": 1000}, "rail": {"kind": "electrical"}})";
  const RunResult result = simulate(parse_scenario(R"({"schema": "photonrail.scenario/1", "name": "tiny", )" + cluster +
                                                       R"(, "workload": {"serving": {)" + tiny + kRequests + "}}}",
                                                   "."));
  EXPECT_GT(result.serving->engines.front().blocks.total, 500'000'000u);
  EXPECT_EQ(result.serving->finished, 40u);
  EXPECT_LT(result.engine.peak_rss_mb, 1000.0);
}

// KV that is announced when prefill begins, by engines on both sides that fail, and up to a horizon: nothing is lost, no
// launch stays open, and every byte that goes arrives.
TEST(ServingScenario, WhatIsAnnouncedOutlivesFailuresAndHorizons) {
  for (const char* const controller : {R"({"name": "opus", "mode": "provisioned"})", R"({"name": "phases"})",
                                       R"({"name": "polling", "provisioned": true})"}) {
    for (const char* const when : {"at_end", "layer_by_layer"}) {
      for (const bool ends_early : {false, true}) {
        const std::string serving =
            R"("model": "llama3_8b", "requests": {"concurrency": 12, "input": 900, "output": 30, "count": 200,
                                                   "prefix": {"groups": 3, "tokens": 700}},
               "engine": {"token_budget": 400, "max_sequences": 8}, )" +
            kLaw + R"(, "pools": [{"role": "prefill", "servers": [0, 1], "tp": 2}, {"role": "decode", "tp": 2}],
               "transfer": {"open": "at_prefill", "order": "fifo", "when": ")" +
            when + R"("})" + (ends_early ? R"(, "horizon_ms": 333)" : "");
        const std::string text =
            R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 4, "gpus_per_server": 2, "gpu": "h100",
                "scale_up": {"gb_per_s": 450}, "nic": {"port_gb_per_s": 50},
                "rail": {"kind": "optical", "switch": {"reconfiguration_ms": 2}}}, "controller": )" +
            std::string(controller) +
            R"(, "server_faults": [{"server": 1, "at_ms": 100, "lasts_ms": 150, "detection_ms": 20},
                                   {"server": 2, "at_ms": 200, "lasts_ms": 300, "detection_ms": 10}],
                "workload": {"serving": {)" +
            serving + "}}}";
        SCOPED_TRACE(text);
        const RunResult result = simulate(parse_scenario(text, "."));
        const ServingResult& served = *result.serving;
        EXPECT_EQ(served.offered, served.finished + served.refused + served.unfinished);
        EXPECT_EQ(served.unfinished > 0, ends_early);
        EXPECT_GT(served.restarts, 0U);
        EXPECT_GT(served.found_bytes, 0U);
        EXPECT_EQ(result.launches[3].bytes.count, static_cast<std::int64_t>(served.transfer_bytes));
        EXPECT_TRUE(std::ranges::none_of(result.notes, [](const Note& note) { return note.id == "opened-circuits"; }));
      }
    }
  }
}

// Seeds give other runs where something of the requests is drawn, and the spread is theirs.
TEST(ServingScenario, TheSpreadIsOfRequestsThatAreDrawn) {
  const auto with_seeds = [](const std::string& serving) {
    std::string text = scenario_with(serving + ", " + kLaw, "1");
    text.insert(1, R"("run": {"spread_seeds": 3}, )");
    return simulate(parse_scenario(text, "."));
  };
  const auto says_nothing_is = [](const RunResult& result) {
    return std::ranges::any_of(result.notes, [](const Note& note) { return note.id == "nothing-drawn"; });
  };
  for (const char* const drawn :
       {R"("requests": {"arrivals": {"per_s": 50}, "input": 100, "output": 5, "count": 40})",
        R"("requests": {"concurrency": 2, "input": {"distribution": "uniform", "least": 1, "greatest": 900}, "output": 5,
                        "count": 40})",
        R"("requests": {"concurrency": 2, "input": 100, "output": 20, "count": 40},
           "engine": {"speculation": {"drafts": 2, "acceptance": 0.5}})"}) {
    const RunResult result = with_seeds(drawn);
    ASSERT_TRUE(result.spread.has_value()) << drawn;
    EXPECT_LT(result.spread->min, result.spread->max) << drawn;
    EXPECT_FALSE(says_nothing_is(result)) << drawn;
  }
  const RunResult result = with_seeds(kRequests);
  EXPECT_FALSE(result.spread.has_value());
  EXPECT_TRUE(says_nothing_is(result));
}

// "dp" of the section is that of a pool that says "ep" alone.
TEST(ServingScenario, ExpertsOfAPoolAreDividedAmongTheEnginesOfTheSection) {
  const auto tpot = [](const std::string& pools) {
    const std::string text = scenario_with(kRequests + pools, "3", R"("model": "qwen3_30b_a3b", )");
    const ServingResult result = *simulate(parse_scenario(text, ".")).serving;
    EXPECT_EQ(result.finished, 40U) << pools;
    return result.tpot.mean;
  };
  const Duration of_six = tpot(R"(, "dp": 3, "pools": [{"tp": 2, "ep": 6}])");
  EXPECT_EQ(of_six, tpot(R"(, "pools": [{"tp": 2, "dp": 3, "ep": 6}])"));
  EXPECT_NE(of_six, tpot(R"(, "dp": 3, "tp": 2)"));
  EXPECT_EQ(tpot(R"(, "dp": 3, "pools": [{"tp": 2, "ep": 3}])"), tpot(R"(, "dp": 3, "tp": 2)"));
  EXPECT_THAT(refusal(kRequests + R"(, "dp": 3, "pools": [{"tp": 2, "ep": 4}])", "3", R"("model": "qwen3_30b_a3b", )"),
              HasSubstr("ep 4 does not divide the 6 GPUs of tp x dp"));
}

// Where no controller provisions, that KV is announced changes nothing but when its engine is chosen, and the run says so.
TEST(ServingScenario, AnOpeningThatNoControllerHearsIsSaid) {
  const std::string pools = R"(, "pools": [{"role": "prefill", "servers": [0], "tp": 2}, {"role": "decode", "tp": 2}])";
  const RunResult result = simulate(
      parse_scenario(scenario_with(kRequests + ", " + kLaw + pools + R"(, "transfer": {"open": "at_prefill"})"), "."));
  EXPECT_TRUE(std::ranges::any_of(result.notes, [](const Note& note) { return note.id == "opened-circuits"; }));
  EXPECT_EQ(result.serving->transfers, 40U);
}

TEST(ServingScenario, SaysWhatIsWrong) {
  const std::string experts = R"("model": "qwen3_30b_a3b", )";
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"tp": 2, "ep": 2}])"), HasSubstr("ep 2 has no effect: the model has no"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"tp": 2, "ep": 4}])", "3", experts),
              HasSubstr("does not divide the 2 GPUs"));
  EXPECT_EQ(refusal(kRequests + R"(, "pools": [{"tp": 2, "dp": 3, "ep": 6}])", "3", experts), "accepted");
  EXPECT_THAT(refusal(kLaw), HasSubstr("/workload/serving"));
  EXPECT_THAT(refusal(R"("requests": {"input": 5, "output": 5})"), HasSubstr("\"concurrency\" or \"trace\""));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [])"), HasSubstr("/workload/serving/pools: names no pool"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"tp": 3}])"), HasSubstr("tp 3 does not divide the 2 GPUs of a server"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"role": "decode"}])"), HasSubstr("one needs the other"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"servers": [0, 1, 2]}, {"name": "b"}])"), HasSubstr("has no GPUs"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"servers": [0]}, {"servers": [0]}])"),
              HasSubstr("server 0 is in two pools"));
  EXPECT_THAT(refusal(kRequests + R"(, "times": {"law": {"fixed_us": 0}})"), HasSubstr("a step takes no time"));
  EXPECT_THAT(refusal(kRequests + R"(, "engine": {"memory_share": 0.1})"), HasSubstr("the model does not fit"));
  const auto of_model = [](const std::string& more) {
    return refusal(kRequests + R"(, "model": {"layers": 2, "hidden": 64, "ffn": 64, "heads": 2, "kv_heads": 2,
                                              "vocabulary": 64, )" +
                       more + "}",
                   "3", "");
  };
  const std::string mamba = R"("mamba": {"heads": 2, "head_dim": 8, "state": 16, "groups": 1})";
  EXPECT_THAT(of_model(R"("pattern": "--")"), HasSubstr("/workload/serving/model: has no attention"));
  EXPECT_THAT(of_model(R"("pattern": "*M", )" + mamba), HasSubstr("/workload/serving/model: has state space layers"));
  EXPECT_THAT(of_model(R"("pattern": "*M")"), HasSubstr("/workload/serving/model/pattern: the letter 'M' is of no part"));
  EXPECT_THAT(of_model(R"("pattern": "*")"), HasSubstr("/workload/serving/model/pattern: has 1 letter for 2 layers"));
  EXPECT_THAT(of_model(R"("moe": {"experts": 2, "top_k": 4})"), HasSubstr("/workload/serving/model/moe/top_k: 4 experts"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"pp": 6}], "model": {"preset": "llama3_8b", "layers": 4})", "3", ""),
              HasSubstr("pp 6 leaves stages without one of the 4 layers"));
  EXPECT_THAT(refusal(kRequests + R"(, "times": {"kernels": "/nowhere"})"), HasSubstr("/nowhere: is no folder"));
  EXPECT_THAT(refusal(kRequests + R"(, "slo": {"ttft": 3})"), HasSubstr("/workload/serving/slo"));
  EXPECT_THAT(refusal(kRequests + R"(, "find_rate": {})"), HasSubstr("needs limits to keep"));
  EXPECT_THAT(refusal(kRequests + R"(, "slo": {"ttft_ms": 3}, "find_rate": {})"), HasSubstr("has no rate to change"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"dp": 4}])"), HasSubstr("does not divide its 6 GPUs"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"scaling": {"up": 1, "down": 1}}])"),
              HasSubstr("\"down\" must be below \"up\""));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"dp": 2, "scaling": {}}])"), HasSubstr("do not scale"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"scaling": {"least": 6}}])"), HasSubstr("are all there always"));
  EXPECT_THAT(refusal(kRequests + R"(, "collectives": "flows")"), HasSubstr("has no traffic to show"));
  const auto lengths = [](const std::string& input, const std::string& output) {
    return refusal(R"("requests": {"concurrency": 4, "input": )" + input + R"(, "output": )" + output +
                   R"(}, "pools": [{"role": "prefill", "servers": [0]}, {"role": "decode", "engine": {"blocks": 20}}],
                   "engine": {"blocks": 10})");
  };
  EXPECT_EQ(lengths("160", "161"), "accepted");
  EXPECT_THAT(lengths("161", "1"), HasSubstr("/requests/input: no request could ever be served: each has at least 161"));
  EXPECT_THAT(lengths("160", "162"), HasSubstr("/workload/serving/requests/output: no request could ever be served"));
  EXPECT_THAT(lengths(R"({"distribution": "uniform", "least": 161, "greatest": 900})", "5"), HasSubstr("at least 165"));
  EXPECT_EQ(lengths(R"({"distribution": "log_normal", "median": 9000, "sigma": 0.1})", "5"), "accepted");
  EXPECT_THAT(refusal(kRequests + R"(, "engine": {"preemption": "swap"})"), HasSubstr("swaps, and no rate is given"));
  EXPECT_THAT(refusal(kRequests + R"(, "pools": [{"offload": {}}])"), HasSubstr("without effect"));
  EXPECT_THAT(
      refusal(R"("requests": {"concurrency": 4, "input": 5, "output": 2, "classes": [{"name": "a", "priority": 2}]})"),
      HasSubstr("no engine orders by them"));
}

TEST(ServingScenario, RequestsAreWorkThatIsKnownBefore) {
  const auto seconds_of = [](const std::string& count) {
    return run::expected_work(parse_scenario(scenario_with(R"("requests": {"arrivals": {"process": "poisson", "per_s": 10},
        "input": 500, "output": 20, "count": )" + count + "}, " +
                                                           kLaw),
                                             "."),
                              Registries{})
        .seconds();
  };
  EXPECT_LT(seconds_of("1000"), 1.0);
  EXPECT_GT(seconds_of("1000000000"), 10'000.0);
}

TEST(ServingScenario, ArrivalsThatTimeDoesNotHoldAreRefused) {
  const Scenario scenario = parse_scenario(
      scenario_with(R"("requests": {"arrivals": {"process": "poisson", "per_s": 1e-12}, "input": 500, "output": 20,
                                    "count": 40}, )" +
                    kLaw),
      ".");
  try {
    static_cast<void>(simulate(scenario));
    FAIL() << "arrivals of 1e12 s were taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("more than 53 days"));
  }
}

// A server's KV has no circuit: the prompts that are computed stay, and no other one can.
TEST(ServingScenario, KvThatCanNeverLeaveIsADeadlockThatNamesTheTransfer) {
  std::string text = scenario_with(
      R"("requests": {"concurrency": 3, "input": {"distribution": "uniform", "least": 1, "greatest": 60}, "output": 7,
                      "count": 40}, )" +
          kLaw +
          R"(, "pools": [{"role": "prefill", "servers": [0], "tp": 2}, {"role": "decode", "tp": 2}],
             "engine": {"blocks": 40, "block_tokens": 1, "token_budget": 8, "prefix_caching": false})",
      "2");
  text.replace(text.find(R"({"kind": "electrical"})"), 22, R"({"kind": "optical", "switch": {"reconfiguration_us": 1}})");
  text.back() = ',';
  text += R"("controller": {"name": "static", "circuits": []}})";
  try {
    static_cast<void>(simulate(parse_scenario(text, ".")));
    FAIL() << "it ended";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("waits for a circuit from rank 0 to rank 2"));
    EXPECT_THAT(error.what(), HasSubstr("(kv_transfer)"));
    EXPECT_THAT(error.what(), HasSubstr("engine 0 of pool \"prefill\" has 3 requests"));
    EXPECT_THAT(error.what(), HasSubstr("and 2 for their KV to go"));
  }
}

TEST(ServingScenario, AHorizonSaysWhatWasLeftAndWhenTheLastOfItEnded) {
  const RunResult result =
      simulate(parse_scenario(scenario_with(kRequests + ", " + kLaw + R"(, "horizon_ms": 7)", "1"), "."));
  EXPECT_EQ(result.serving->makespan, Duration{11'000'000'000});  // the step began before: 1 ms + 2 x 500 x 10 us
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_THAT(result.warnings.back(), HasSubstr("4 requests did not end by the horizon of 0.007000 s"));
  EXPECT_THAT(result.warnings.back(), HasSubstr("ended at 0.011000 s"));
}

TEST(ServingScenario, ATraceWithoutARequestThatFitsIsRefused) {
  const Folder folder;
  const std::string file = (folder.path() / "trace.csv").string();
  const auto trace = [&](const std::string& rows) {
    std::ofstream(file) << "arrival_ms,input_tokens,output_tokens\n" << rows;
    return refusal(R"("requests": {"trace": ")" + file + R"("}, "engine": {"blocks": 10})");
  };
  EXPECT_EQ(trace("0,1000,2\n5,10,2\n"), "accepted");
  EXPECT_THAT(trace("0,1000,2\n5,160,2\n"), HasSubstr("/requests/trace: has no request that could ever be served"));
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
  EXPECT_THAT(trace(R"({"timestamp": 0, "input_length": 600)"), HasSubstr("trace.csv:1: the text ends too early"));
  EXPECT_THAT(trace("arrival_ms,input_tokens,output_tokens\n0,10,0\n"),
              HasSubstr("has no requests (rows without a prompt or without an answer do not count)"));
}

}  // namespace
}  // namespace photonrail::test
