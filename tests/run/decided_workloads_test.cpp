// Served requests and reinforcement learning as workloads of a scenario.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "photonrail/simulate.hpp"
#include "rl/agent.hpp"
#include "run/rl_workload.hpp"
#include "run/served_workload.hpp"
#include "support/source_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::test {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

const std::filesystem::path kQuickstarts = std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / "configs";

TEST(ServedWorkload, KeepsItsSpecification) {
  serving::ServingSpec spec;
  spec.warm_up = 7;
  const run::ServedWorkload workload(spec);
  EXPECT_EQ(workload.name(), "serving");
  EXPECT_EQ(workload.spec().warm_up, 7u);
}

TEST(ServedWorkload, ServesTheQuickstart) {
  const RunResult result = simulate(read_scenario(kQuickstarts / "serving/quickstart.json"));
  ASSERT_TRUE(result.serving.has_value());
  EXPECT_EQ(result.serving->finished + result.serving->refused + result.serving->unfinished, result.serving->offered);
  EXPECT_EQ(result.serving->finished, 1000u);
  for (const RankTime& time : result.ranks) EXPECT_EQ(time.total(), result.makespan);
}

// The bytes of refits are those of 16 engines of two ranks: each engine rank gets its half of 16.1 GB, over a ring a rail.
TEST(ServedWorkload, HasNoBoundAmongOtherJobsEither) {
  Scenario scenario = read_scenario(kQuickstarts / "serving/quickstart.json");
  scenario.controller = {};
  scenario.controller.name = "oracle";
  Scenario shared;
  shared.cluster = scenario.cluster;
  shared.jobs = {scenario};
  EXPECT_THAT([&] { (void)simulate(shared); },
              ::testing::ThrowsMessage<ConfigError>(::testing::HasSubstr("jobs[0].controller.name: oracle is a bound")));
}

TEST(RlWorkload, RunsTheQuickstart) {
  const Scenario scenario = read_scenario(kQuickstarts / "rl/quickstart.json");
  const RunResult result = simulate(scenario);
  ASSERT_TRUE(result.rl.has_value());
  ASSERT_EQ(result.rl->steps.size(), 3u);
  Duration steps{};
  for (const RlStep& step : result.rl->steps) {
    steps += step.step;
    EXPECT_LE(step.generation + step.log_probabilities + step.training + step.refit, step.step);
    EXPECT_GT(step.refit, Duration{30'000'000'000});  // 16.1 GB over 8 rails of 50 GB/s take 40 ms
    EXPECT_LT(step.refit, Duration{80'000'000'000});
    EXPECT_EQ(step.staleness, 0.0);
  }
  EXPECT_LE(steps, result.makespan);
  // Four optimizer steps a batch reduce gradients of fp32 over four servers: on each of 8 rails 2 x 3 times an eighth of
  // 8.03 B parameters, 12 times.
  EXPECT_NEAR(static_cast<double>(result.traffic[static_cast<std::size_t>(Dimension::kDp)].bytes.count),
              12 * 2 * 3 * 4 * 8.03e9, 0.01 * 12 * 2 * 3 * 4 * 8.03e9);
  for (const RankTime& time : result.ranks) EXPECT_EQ(time.total(), result.makespan);
}

// Its agent's clock begins with the job.
TEST(RlWorkload, TakesAsLongWheneverItsJobStarts) {
  const Scenario alone = read_scenario(kQuickstarts / "rl/quickstart.json");
  Scenario all;
  all.cluster = alone.cluster;
  all.controller = alone.controller;
  all.jobs = {alone};
  all.jobs.front().start = Time{Duration{12'000'000'000}};
  const RunResult before = simulate(alone);
  const RunResult late = simulate(all).jobs.at(0);
  EXPECT_EQ(late.makespan, before.makespan);
  ASSERT_EQ(late.rl->steps.size(), before.rl->steps.size());
  for (std::size_t i = 0; i < before.rl->steps.size(); ++i) EXPECT_EQ(late.rl->steps[i].step, before.rl->steps[i].step);
}

TEST(RlWorkload, RefusesASpecificationThatCannotBe) {
  rl::RlSpec spec;
  spec.prompts.count = 0;
  EXPECT_THROW(run::RlWorkload{spec}, ConfigError);
}

TEST(RlWorkload, ItsGraphHasTheTrafficOfItsRefits) {
  const Scenario scenario = read_scenario(kQuickstarts / "rl/quickstart.json");
  ASSERT_NE(scenario.workload, nullptr);
  EXPECT_NE(scenario.graph.demands(), nullptr);
  const auto* workload = dynamic_cast<const run::RlWorkload*>(scenario.workload.get());
  ASSERT_NE(workload, nullptr);
  EXPECT_EQ(workload->graph().demands(), scenario.graph.demands());
}

double middle_rl_step(const Scenario& scenario) { return to_seconds(simulate(scenario).rl->steps[1].step); }

// OrchestrRL (arXiv 2601.01209) has 1.42 times the throughput of a static topology on 64 GPUs, with an optical switch that
// was not measured. Here, one ring a rail that stays and forwards, against circuits that follow the phases: better by a few
// percent with switches of 0.1 ms, and seven times worse with 10 ms, since experts change partners in every layer.
TEST(RlWorkload, CircuitsThatFollowThePhasesNeedAFastSwitch) {
  const Scenario fast = read_scenario(kQuickstarts / "rl/experts-over-servers.json");
  Scenario slow = fast;
  slow.cluster.rail.optical.reconfiguration = DelayDistribution::constant(Duration{10'000'000'000});
  Scenario ring = fast;
  ring.cluster.rail.forwarding = true;
  ring.controller = ControllerSpec{};
  ring.controller.name = "static";
  for (std::uint32_t gpu = 0; gpu < 64; ++gpu) ring.controller.circuits.push_back({GpuId{gpu}, GpuId{(gpu + 8) % 64}});
  ring.run.fidelity = Fidelity::kExact;
  const double stays = middle_rl_step(ring);
  const double follows = middle_rl_step(fast);
  EXPECT_NEAR(stays / follows, 1.06, 0.02);
  EXPECT_LT(stays / middle_rl_step(slow), 0.2);
}

// Engines over two servers reduce over the rails. A refit takes their circuits, and phases light them again before the
// engines ask: fewer are waited for than with opus, and no step is longer.
TEST(RlWorkload, PhasesLightTheCircuitsOfEnginesAgain) {
  Scenario scenario = read_scenario(kQuickstarts / "rl/phases.json");
  const RunResult phases = simulate(scenario);
  scenario.controller.parameters.set("generation", std::string("on_demand")).set("provisioned", 0.0);
  const RunResult on_demand = simulate(scenario);
  EXPECT_LT(phases.rl->steps[1].step, on_demand.rl->steps[1].step);
  EXPECT_GT(phases.traffic[static_cast<std::size_t>(Dimension::kTp)].bytes.count, 0);
}

// Over switches that take no time, phases that took idle circuits from each other would never come to an end: engines and
// training, and refits in matchings over several rails beside stages.
TEST(RlWorkload, PhasesComeToAnEndOverSwitchesThatTakeNoTime) {
  constexpr std::string_view kJob = R"({
    "schema": "photonrail.scenario/1",
    "cluster": { "servers": 6, "gpus_per_server": 1,
                 "rail": { "kind": "optical", "switch": { "reconfiguration_us": 0 } } },
    "controller": { "name": "phases" },
    "workload": { "rl": {
      "model": "llama3_8b", "prompts": { "count": 1, "responses": 1, "lengths": { "mean": 1 } },
      "generation": { "engines": 1, "engine": { "ranks": 2, "tp": 2 } },
      "training": { "parallelism": { "tp": 2, "dp": 2 } } } } })";
  const std::vector<Override> stages{{"/cluster/servers", "3"},
                                     {"/cluster/gpus_per_server", "4"},
                                     {"/workload/rl/training/parallelism", R"({"tp": 2, "pp": 4})"},
                                     {"/workload/rl/refit", R"({"by": "sharded_matchings"})"}};
  std::vector<Override> one_rank = stages;
  one_rank.push_back({"/workload/rl/generation/engine", R"({"ranks": 1})"});
  for (const auto& changes : {std::vector<Override>{}, stages, one_rank}) {
    EXPECT_GT(simulate(parse_scenario(kJob, "/nowhere", "s.json", changes)).makespan, Duration{});
  }
}

std::int64_t commands_for(const RunResult& result, Dimension dimension) {
  std::int64_t count = 0;
  for (const auto& [change, totals] : result.reconfigurations.by_change) {
    if (change.second == dimension) count += static_cast<std::int64_t>(totals.count);
  }
  return count;
}

bool says_no_effect(const RunResult& result) {
  return std::ranges::any_of(result.notes, [](const Note& note) { return note.id == "refit-provisioned"; });
}

/// A refit that needs other circuits gains a switch, or the time since the last message before it, where that is shorter. A
/// run whose refits gain nothing says so. Returns how long before a refit its circuits are asked for.
Duration expect_gain(Scenario scenario, const char* which, std::initializer_list<int> delays_ms = {40}) {
  Duration announced{};
  for (const int delay : delays_ms) {
    SCOPED_TRACE(std::string(which) + ", " + std::to_string(delay) + " ms");
    scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(milliseconds(delay));
    scenario.controller.parameters.set("provisioned", 1.0);
    const RunResult ahead = simulate(scenario);
    scenario.controller.parameters.set("provisioned", 0.0);
    const RunResult on_demand = simulate(scenario);
    const bool other = commands_for(on_demand, Dimension::kRefit) > 0;
    EXPECT_EQ(ahead.rl->steps.size(), on_demand.rl->steps.size());
    for (std::size_t s = 0; s < std::min(ahead.rl->steps.size(), on_demand.rl->steps.size()); ++s) {
      const RlStep& step = ahead.rl->steps[s];
      const Duration most = other ? std::min<Duration>(milliseconds(delay), step.refit_announced) : Duration{};
      EXPECT_EQ(on_demand.rl->steps[s].refit - step.refit, most) << s;
      EXPECT_EQ(on_demand.rl->steps[s].refit_announced, Duration{}) << s;
    }
    announced = ahead.rl->steps.at(1).refit_announced;
    EXPECT_EQ(says_no_effect(ahead), !other || announced == Duration{});
    EXPECT_FALSE(says_no_effect(on_demand)) << "nothing is provisioned";
  }
  return announced;
}

// A ring of a refit is asked for when the last message of training is over: before the optimizer's step, while state comes
// back from the hosts, and while engines that leave the rails alone generate the last responses. With ZeRO the last message
// is that of the new weights, after the optimizer's step. Where training has the same ring there is nothing to gain.
TEST(RlWorkload, ProvisioningARefitSavesOneSwitch) {
  const auto with = [](const char* file, const std::vector<Override>& settings) {
    return read_scenario(kQuickstarts / file, settings);
  };
  const Override stays{"/workload/rl/offload", "false"};
  const Override links{"/workload/rl/offload_gpus_per_link", "1"};
  const Override timed{"/workload/rl/generation/collectives", R"("timed")"};
  const Scenario pipeline = read_scenario(kQuickstarts / "rl/colocated.json");
  EXPECT_GT(expect_gain(pipeline, "state comes back"), milliseconds(100));
  const Scenario optimizer = with("rl/colocated.json", {stays, links});
  const Duration announced = expect_gain(optimizer, "the optimizer", {1, 10, 40});
  EXPECT_GT(announced, milliseconds(1));
  EXPECT_LT(announced, milliseconds(40));
  const Scenario sharded = with("rl/colocated.json", {stays, links, {"/workload/rl/training/parallelism/zero1", "true"}});
  EXPECT_EQ(expect_gain(sharded, "the last message is the last"), Duration{});
  expect_gain(with("rl/colocated.json", {{"/workload/rl/training/parallelism", R"({"tp": 8, "dp": 4})"}}), "the same ring");
  const Scenario responses = with("rl/phases.json", {timed, {"/workload/rl/generation/times/host/step_us", "8000"}});
  EXPECT_GT(expect_gain(responses, "the last responses"), milliseconds(100));
}

Scenario in_stages(const char* mode, bool overlap) {
  const std::vector<Override> settings{{"/workload/rl/mode", mode},
                                       {"/workload/rl/training/parallelism", R"({"tp": 8, "pp": 4})"},
                                       {"/workload/rl/other_s", "20"},  // one step off, training is the longer
                                       {"/workload/rl/refit/overlap", overlap ? "true" : "false"}};
  return read_scenario(kQuickstarts / "rl/quickstart.json", settings);
}

// The last stage has trained first: its weights go while the stages before it end their step. The refit begins earlier and
// lasts longer, the step is shorter, and all bytes are sent once.
TEST(RlWorkload, WeightsOfAStageGoWhileOthersTrain) {
  for (const bool optical : {true, false}) {
    SCOPED_TRACE(optical ? "on policy, circuits" : "one step off, electrical");
    const auto run = [&](bool overlap) {
      Scenario scenario = in_stages(optical ? R"("on_policy")" : R"("one_step_off")", overlap);
      if (!optical) {
        scenario.cluster.rail.kind = RailKind::kElectrical;
        scenario.controller = ControllerSpec{};
      }
      return simulate(scenario);
    };
    const RunResult after = run(false);
    const RunResult beside = run(true);
    ASSERT_EQ(beside.rl->steps.size(), after.rl->steps.size());
    EXPECT_LT(beside.rl->steps[1].step, after.rl->steps[1].step);
    EXPECT_GT(beside.rl->steps[1].refit, after.rl->steps[1].refit);
    const auto sent = [](const RunResult& result) {
      return result.traffic[static_cast<std::size_t>(Dimension::kRefit)].bytes;
    };
    EXPECT_EQ(sent(beside), sent(after));
  }
}

TEST(RlWorkload, RefitsBesideTrainingNeedEnginesThatStandAndStages) {
  const auto refusal = [](const std::vector<Override>& settings) {
    try {
      static_cast<void>(read_scenario(kQuickstarts / "rl/quickstart.json", settings));
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const Override overlap{"/workload/rl/refit/overlap", "true"};
  const Override stages{"/workload/rl/training/parallelism", R"({"tp": 8, "pp": 4})"};
  EXPECT_THAT(refusal({overlap}), HasSubstr("/workload/rl/refit/overlap: sends the weights of a pipeline stage"));
  EXPECT_THAT(refusal({overlap, stages, {"/workload/rl/mode", R"("async")"}}), HasSubstr("to engines that stand"));
  EXPECT_THAT(refusal({overlap, stages, {"/workload/rl/colocated", "true"}}), HasSubstr("GPUs are not the engines'"));
}

// A delta of a tenth of the bytes takes a tenth of the time, but for the switch.
TEST(RlWorkload, DeltasAreAShareOfTheBytes) {
  const std::vector<Override> share{{"/workload/rl/refit/share", "0.1"}};
  const RlStep whole = simulate(read_scenario(kQuickstarts / "rl/quickstart.json")).rl->steps[1];
  const RlStep delta = simulate(read_scenario(kQuickstarts / "rl/quickstart.json", share)).rl->steps[1];
  EXPECT_NEAR(to_seconds(delta.refit) - 0.01, 0.1 * (to_seconds(whole.refit) - 0.01), 1e-4);
}

// The energy of a step is that of the run, divided by steps of reinforcement.
TEST(RlWorkload, CostsAreOfAStep) {
  const Scenario scenario = read_scenario(kQuickstarts / "rl/quickstart.json");
  const RunResult result = simulate(scenario);
  ASSERT_TRUE(result.cost.has_value());
  EXPECT_NEAR(result.cost->network_energy_per_step_j, result.cost->bill.power_w() * to_seconds(result.makespan) / 3, 1.0);
}

// Plans and comparisons are of a step, not of a run that begins and ends.
TEST(RlWorkload, IsJudgedByAMiddleStep) {
  Scenario scenario = read_scenario(kQuickstarts / "rl/quickstart.json");
  const RunResult result = simulate(scenario);
  EXPECT_EQ(result.step_time(), result.rl->steps[1].step);
  EXPECT_LT(result.step_time(), result.makespan / 2);
}

// What an agent draws follows from the seed, in a repeated run too.
TEST(RlWorkload, SeedsGiveOtherResponses) {
  Scenario scenario = read_scenario(kQuickstarts / "rl/quickstart.json");
  scenario.run.spread_seeds = 3;
  const RunResult result = simulate(scenario);
  ASSERT_TRUE(result.spread.has_value());
  EXPECT_LT(result.spread->min, result.spread->max);
}

}  // namespace
}  // namespace photonrail::test
