// GPUs of several models in one cluster: each computes by its own peak or tables, in a precision that it has.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/cost.hpp"
#include "photonrail/workload/training_operators.hpp"
#include "support/folded.hpp"
#include "support/folder.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

Scenario parse_models(const json& text) { return parse_scenario(text.dump(), "."); }

/// Two stages of a server each; tables time their operators.
json staged(const json& gpu, const json& other = {}) {
  json text = {{"schema", "photonrail.scenario/1"},
               {"cluster",
                {{"servers", 2},
                 {"gpus_per_server", 2},
                 {"gpu", gpu},
                 {"nic", {{"port_gb_per_s", 50}, {"latency_us", 2}}},
                 {"rail", {{"kind", "electrical"}}}}},
               {"workload",
                {{"training",
                  {{"model", {{"preset", "llama3_8b"}, {"layers", 4}}},
                   {"sequence", 1024},
                   {"global_batch", 4},
                   {"parallelism", {{"tp", 2}, {"pp", 2}}},
                   {"operators", {{"times", "tables"}}}}}}}};
  if (!other.is_null()) text["cluster"]["unlike_gpus"] = json::array({{{"servers", {1}}, {"gpu", other}}});
  return text;
}

json& operators_in(json& text) { return text["workload"]["training"]["operators"]; }

/// Two ranks, one a server; each computes 3e12 FLOPs, then 4e9 bytes, then one microsecond that is given.
json given(const json& unlike) {
  const json tasks = json::parse(R"([ { "rank": [0, 1], "flops": 3e12 },
    { "rank": [0, 1], "memory_bytes": 4000000000 }, { "rank": [0, 1], "compute_us": 1 } ])");
  return {{"schema", "photonrail.scenario/1"},
          {"cluster",
           {{"servers", 2},
            {"gpus_per_server", 1},
            {"gpu", {{"peak_tflops", 300}, {"memory_gb_per_s", 1000}}},
            {"unlike_gpus", json::array({unlike})}}},
          {"workload", {{"graph", {{"schema", "photonrail.graph/1"}, {"ranks", 2}, {"tasks", tasks}}}}}};
}

TEST(UnlikeModels, EachStageTakesTheTimeOfItsOwnTables) {
  const RunResult mixed = simulate(parse_models(staged("h100", "a100")));
  const RunResult fast = simulate(parse_models(staged("h100")));
  const RunResult slow = simulate(parse_models(staged("a100")));
  EXPECT_EQ(mixed.ranks[0].compute, fast.ranks[0].compute);
  EXPECT_EQ(mixed.ranks[2].compute, slow.ranks[2].compute);
  EXPECT_GT(slow.ranks[2].compute, fast.ranks[2].compute * 2);
  // What the operators of both took is what the ranks computed.
  Duration computed{};
  for (const RankTime& rank : mixed.ranks) computed += rank.compute;
  EXPECT_NEAR(mixed.work->operators->seconds() / to_seconds(computed), 1.0, 1e-6);
}

TEST(UnlikeModels, AClusterOfUnlikeGpusAloneIsOneOfThatModel) {
  json all = staged("h100", "a100");
  all["cluster"]["unlike_gpus"][0]["servers"] = {0, 1};
  for (const char* times : {"tables", "roofline"}) {
    json like = staged("a100");
    operators_in(all)["times"] = operators_in(like)["times"] = times;
    EXPECT_EQ(simulate(parse_models(all)).makespan, simulate(parse_models(like)).makespan) << times;
  }
  all["workload"]["training"].erase("operators");
  json like = staged("a100");
  like["workload"]["training"].erase("operators");
  EXPECT_EQ(simulate(parse_models(all)).makespan, simulate(parse_models(like)).makespan);
}

// 3e12 FLOPs at 300 and at 100 TFLOP/s: 10 and 30 ms. 4e9 bytes at 1,000 and 2,000 GB/s: 4 and 2 ms. The given microsecond
// stays, but for `speed`, which all computations have.
TEST(UnlikeModels, FlopsAndBytesTakeTheOwnRoofline) {
  const json gpu = {{"peak_tflops", 100}, {"memory_gb_per_s", 2000}};
  const auto compute = [&](const json& unlike, std::size_t rank) {
    return simulate(parse_models(given(unlike))).ranks[rank].compute;
  };
  const json own = {{"servers", {1}}, {"gpu", gpu}};
  EXPECT_EQ(compute(own, 0), Duration{14'001'000'000});
  EXPECT_EQ(compute(own, 1), Duration{32'001'000'000});
  EXPECT_EQ(compute({{"servers", {1}}, {"gpu", gpu}, {"speed", 0.5}}, 1), Duration{64'002'000'000});
  EXPECT_THAT(parse_models(given(own)).warnings(),
              Contains(HasSubstr("rank 1 whose time is given take as long on its custom as on a custom")));
  EXPECT_THAT(parse_models(given({{"servers", {1}}, {"gpu", gpu}, {"speed", 0.5}})).warnings(),
              Each(Not(HasSubstr("whose time is given"))));
}

TEST(UnlikeModels, APrecisionThatAGpuLacksIsSaidAndTheNextWiderOneTaken) {
  json text = staged("h100", "a100");
  operators_in(text)["precision"] = "fp8";
  const Scenario lacking = parse_models(text);
  EXPECT_THAT(lacking.graph.warnings(), Contains(HasSubstr("a GPU (a100) has no fp8: its products are timed in bf16")));
  operators_in(text)["unlike"]["a100"]["precision"] = "bf16";
  const Scenario chosen = parse_models(text);
  EXPECT_THAT(chosen.graph.warnings(), Each(Not(HasSubstr("fp8"))));
  const RunResult mixed = simulate(chosen);
  EXPECT_EQ(simulate(lacking).makespan, mixed.makespan);
  // The stage of the H100 is in FP8, that of the A100 is not.
  EXPECT_EQ(mixed.ranks[2].compute, simulate(parse_models(staged("a100"))).ranks[2].compute);
  EXPECT_LT(mixed.ranks[0].compute, simulate(parse_models(staged("h100"))).ranks[0].compute);
  bool low = false;
  for (const OperatorUse& use : mixed.work->operators->operators) {
    low |= use.name.ends_with(" fp8");
    if (use.name.ends_with(" on a100")) {
      EXPECT_THAT(use.name, Not(HasSubstr("fp8")));
    }
  }
  EXPECT_TRUE(low);
  json alone = staged("a100");
  operators_in(alone)["precision"] = "fp8";
  EXPECT_THAT(parse_models(alone).graph.warnings(), Contains(HasSubstr("the GPU has no fp8")));
  EXPECT_EQ(simulate(parse_models(alone)).makespan, simulate(parse_models(staged("a100"))).makespan);
}

TEST(UnlikeModels, OperatorsOfAGpuMayHaveAFactorAndOtherTables) {
  json text = staged("h100", "a100");
  const RunResult plain = simulate(parse_models(text));
  operators_in(text)["unlike"]["a100"] = {{"factor", 1.5}};
  const RunResult longer = simulate(parse_models(text));
  EXPECT_EQ(longer.ranks[0].compute, plain.ranks[0].compute);
  EXPECT_GT(longer.ranks[2].compute, plain.ranks[2].compute);
  operators_in(text)["unlike"]["a100"] = {{"tables", "h100"}};
  EXPECT_EQ(simulate(parse_models(text)).makespan, simulate(parse_models(staged("h100"))).makespan);
  // A GPU of one's own takes another's share of the roofline.
  text = staged("h100", json{{"peak_tflops", 495}, {"memory_gb_per_s", 3350}});
  EXPECT_THROW(parse_models(text), ConfigError);
  operators_in(text)["unlike"]["custom"] = {{"tables", "h100"}, {"borrowed_by", {{"bf16_tflops", 495}}}};
  EXPECT_GT(simulate(parse_models(text)).ranks[2].compute, plain.ranks[0].compute);
}

// Four data-parallel ranks a stage: those of one model are one class. Every part that makes ranks differ at once.
TEST(UnlikeModels, FoldWithTheirOwnKindOnly) {
  json text = staged("h100", "a100");
  text["cluster"]["servers"] = 8;
  text["cluster"]["unlike_gpus"][0]["servers"] = {1, 3, 6};
  text["workload"]["training"]["parallelism"] = {{"tp", 2}, {"dp", 4}, {"pp", 2}, {"fsdp", true}};
  text["workload"]["training"]["global_batch"] = 8;
  text["run"] = {{"iterations", 2}};
  for (const char* operators : {"tables", "none"}) {
    if (std::string(operators) == "none") text["workload"]["training"].erase("operators");
    const RunResult electrical = expect_same_folded(parse_models(text));
    EXPECT_LT(electrical.folding.classes, electrical.folding.ranks);
    json optical = text;
    optical["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 1}}}};
    optical["stragglers"] = json::parse(R"([ { "ranks": [5], "slowdown": 1.5 } ])");
    for (const char* mode : {"on_demand", "provisioned"}) {
      optical["controller"] = {{"name", "opus"}, {"mode", mode}};
      expect_same_folded(parse_models(optical));
    }
  }
}

TEST(UnlikeModels, GoWithJitterFailuresAndAShareOfTheServers) {
  json text = staged("h100", "a100");
  text["stragglers"] = json::parse(R"([ { "ranks": [3], "at_ms": 0.5, "slowdown": 2, "lasts_ms": 1 },
    { "ranks": "all", "delay_us": { "distribution": "uniform", "least": 0, "greatest": 50 } } ])");
  const RunResult late = simulate(parse_models(text));
  EXPECT_GT(late.makespan, simulate(parse_models(staged("h100", "a100"))).makespan);
  // Of two jobs one has the A100s: what it computes is what it computes alone on such GPUs.
  json jobs = staged("h100", "a100");
  const json workload = jobs["workload"];
  jobs.erase("workload");
  jobs["cluster"]["servers"] = 4;
  jobs["cluster"]["unlike_gpus"][0]["servers"] = {3, 2};
  jobs["jobs"] = json::array({{{"name", "a"}, {"servers", {0, 1}}, {"workload", workload}},
                              {{"name", "b"}, {"servers", {2, 3}}, {"workload", workload}}});
  const RunResult both = simulate(parse_models(jobs));
  EXPECT_EQ(both.jobs[0].makespan, simulate(parse_models(staged("h100"))).makespan);
  EXPECT_EQ(both.jobs[1].makespan, simulate(parse_models(staged("a100"))).makespan);
}

// 2 of 4 GPUs have 312 in place of 989.4 TFLOP/s, and 400 in place of 700 W.
TEST(UnlikeModels, AreInWhatARunAccountsFor) {
  const Scenario scenario = parse_models(staged(json{{"preset", "h100"}, {"power_w", 700}, {"memory_gb", 80}},
                                                json{{"preset", "a100"}, {"power_w", 400}, {"memory_gb", 40}}));
  const RunResult result = simulate(scenario);
  const double peak = 2 * (scenario.cluster.gpu.peak_tflops + 312.0);
  EXPECT_DOUBLE_EQ(result.peak_tflops, peak);
  EXPECT_NEAR(result.mfu().value(), scenario.work->flops / (to_seconds(result.step_time()) * peak * 1e12), 1e-12);
  EXPECT_EQ(scenario.cluster.memory_gb(1), 40.0);
  ClusterSpec unknown = scenario.cluster;
  Pricing pricing;
  pricing.catalogue = price_catalogues().front();
  const auto energy = [&](const ClusterSpec& cluster) {
    return cost_of(cluster, pricing, Duration{1'000'000'000'000}, 4, 1.0).gpu_energy_per_step_j;
  };
  EXPECT_NEAR(energy(scenario.cluster).value(), 2 * 700 + 2 * 400, 1e-6);
  unknown.unlike[0].gpu->power_w = 0.0;
  EXPECT_FALSE(energy(unknown).has_value());
}

// Of what a schedule is drawn, and jobs that lost a replica are made.
TEST(UnlikeModels, ASpecificationAloneIsTimedByTheGpusOfItsFile) {
  const Folder folder;
  json text = staged("a100", "h200");
  operators_in(text)["times"] = "roofline";
  folder.write("s.json", text.dump());
  const TrainingSpec spec = read_training_spec(folder.path() / "s.json");
  EXPECT_EQ(spec.operators->times.device().bf16_tflops, gpu_preset("a100").peak_tflops);
  ASSERT_EQ(spec.operators_of_ranks.size(), 4u);
  EXPECT_EQ(spec.operators_of_ranks[0], nullptr);
  EXPECT_EQ(spec.operators_of_ranks[2]->times.device().memory_gb_per_s, gpu_preset("h200").memory_gb_per_s);
}

TEST(UnlikeModels, WrongOnesAreRefusedWhereTheyStand) {
  const auto problem = [](const json& text) {
    try {
      static_cast<void>(parse_models(text));
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  json neither = staged("h100", "a100");
  neither["cluster"]["unlike_gpus"][0].erase("gpu");
  EXPECT_THAT(problem(neither), HasSubstr("/cluster/unlike_gpus/0"));
  EXPECT_THAT(problem(staged("h100", "a1000")), HasSubstr("/cluster/unlike_gpus/0/gpu"));
  json unknown = staged("h100", "a100");
  operators_in(unknown)["unlike"]["a10"] = {{"precision", "bf16"}};
  EXPECT_THAT(problem(unknown), HasSubstr("/workload/training/operators/unlike/a10"));
  json absent = staged("h100", "h200");  // as a sweep over models makes it
  operators_in(absent)["unlike"]["a100"] = {{"precision", "bf16"}};
  EXPECT_EQ(problem(absent), "none");
  const Folder folder;
  folder.write("s.json", staged("h100", "a100").dump());
  TrainingSpec spec = read_training_spec(folder.path() / "s.json");
  ASSERT_EQ(spec.operators_of_ranks.size(), 4u);
  auto frozen = std::make_shared<TrainingOperators>(*spec.operators);
  frozen->frozen_weights = true;
  spec.operators_of_ranks[1] = frozen;
  EXPECT_THROW(spec.validate(), ConfigError);
  spec.operators_of_ranks.pop_back();
  EXPECT_THROW(spec.validate(), ConfigError);
}

}  // namespace
}  // namespace photonrail::test
