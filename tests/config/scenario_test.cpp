// Good scenarios: every section ends up in its value, in the units of the value.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "support/shared_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace photonrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::uint32_t> gpus(const Scenario& scenario) {
  std::vector<std::uint32_t> values;
  for (const GpuId gpu : scenario.gpu_of_rank) values.push_back(gpu.value);
  return values;
}

Scenario parse(std::string_view text, const std::vector<Override>& changes = {}) {
  return parse_scenario(text, ".", "s.json", changes);
}

class Folder {
 public:
  explicit Folder(const std::string& name) : path_(std::filesystem::temp_directory_path() / ("photonrail-" + name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

constexpr std::string_view kMinimal = R"({ "schema": "photonrail.scenario/1",
  "cluster": { "servers": 2, "gpus_per_server": 2 },
  "workload": { "collective": { "op": "all_reduce", "bytes": 1e6 } } })";

constexpr std::string_view kOptical = R"({
  "schema": "photonrail.scenario/1", "name": "all of it", "why": "every key of the cluster and the controller",
  "cluster": { "servers": 4, "gpus_per_server": 2,
    "gpu": { "preset": "h200", "compute_efficiency": 0.5 },
    "scale_up": { "gb_per_s": 900, "latency_us": 1.5 },
    "nic": { "ports": 2, "port_gb_per_s": 25, "latency_ns": 936.25, "message_overhead_ns": 10 },
    "rail": { "kind": "optical", "forwarding": true, "on_dark": "pause",
      "switch": { "preset": "polatis_6000", "ports": 384, "reconfiguration_us": 11.5, "link_up_s": 0.2,
                  "power_w": 75, "usd_per_port": 100 } } },
  "placement": { "rank_to_gpu": [6, 4, 2, 0] },   // comments are allowed
  "controller": { "name": "opus", "mode": "provisioned", "order": "free",
                  "request_us": 1, "service_us": 2, "command_ms": 3, "acknowledgement_ns": 4 },
  "executor": { "comm_lanes": "one", "concurrent_collectives": "together", "buffered_send_bytes": 0 },
  "collectives": { "all_to_all": "pairwise", "gather": "direct", "chunks": 4 },
  "workload": { "collective": { "op": "all_to_all", "algorithm": "direct", "bytes": 1048576, "ranks": 4 } },
  "run": { "iterations": 3, "seed": 18446744073709551615, "fidelity": "exact", "spread_seeds": 7 } })";

TEST(Scenario, MinimalTakesDefaults) {
  const Scenario s = parse(kMinimal);
  EXPECT_EQ(s.name, "unnamed");
  EXPECT_EQ(s.cluster.rail.kind, RailKind::kElectrical);
  EXPECT_EQ(s.cluster.nic.ports, 1u);
  EXPECT_EQ(s.controller.name, "electrical");
  EXPECT_EQ(s.executor.buffered_send, Bytes{4 << 20});
  EXPECT_EQ(s.run.iterations, 1u);
  EXPECT_THAT(gpus(s), ElementsAre(0, 1, 2, 3));  // all GPUs of the cluster, rank r on GPU r
}

TEST(Scenario, EveryKeyOfAnOpticalCluster) {
  const Scenario s = parse(kOptical);
  EXPECT_EQ(s.name, "all of it");
  EXPECT_EQ(s.why, "every key of the cluster and the controller");
  const ClusterSpec& c = s.cluster;
  EXPECT_EQ(c.servers, 4u);
  EXPECT_EQ(c.gpus_per_server, 2u);
  EXPECT_EQ(c.gpu.peak_tflops, gpu_preset("h200").peak_tflops);
  EXPECT_EQ(c.gpu.compute_efficiency, 0.5);
  EXPECT_EQ(c.scale_up.per_gpu.bytes_per_second, 900e9);
  EXPECT_EQ(c.scale_up.latency, Duration{1'500'000});  // 1.5 us
  EXPECT_EQ(c.nic.ports, 2u);
  EXPECT_EQ(c.nic.per_port.bytes_per_second, 25e9);
  EXPECT_EQ(c.nic.latency, Duration{936'250});
  EXPECT_EQ(c.nic.message_overhead, Duration{10'000});
  EXPECT_EQ(c.rail.kind, RailKind::kOptical);
  EXPECT_TRUE(c.rail.forwarding);
  EXPECT_EQ(c.rail.on_dark, OnDark::kPause);
  EXPECT_EQ(c.rail.optical.name, optical_switch_preset("polatis_6000").name);
  EXPECT_EQ(c.rail.optical.ports, 384u);
  EXPECT_EQ(c.rail.optical.reconfiguration.kind, DelayDistribution::Kind::kConstant);
  EXPECT_EQ(c.rail.optical.reconfiguration.a, Duration{11'500'000});  // 11.5 us
  EXPECT_EQ(c.rail.optical.link_up, Duration{200'000'000'000});       // 0.2 s
  EXPECT_EQ(c.rail.optical.power_w, 75.0);
  EXPECT_EQ(c.rail.optical.usd_per_port, 100.0);
}

TEST(Scenario, EveryKeyOfTheOtherSections) {
  const Scenario s = parse(kOptical);
  EXPECT_THAT(gpus(s), ElementsAre(6, 4, 2, 0));
  EXPECT_EQ(s.controller.name, "opus");
  EXPECT_EQ(s.controller.parameters.word("mode"), "provisioned");
  EXPECT_EQ(s.controller.parameters.word("order"), "free");
  EXPECT_EQ(s.controller.request, Duration{1'000'000});
  EXPECT_EQ(s.controller.service, Duration{2'000'000});
  EXPECT_EQ(s.controller.command, Duration{3'000'000'000});
  EXPECT_EQ(s.controller.acknowledgement, Duration{4'000});
  EXPECT_EQ(s.executor.comm_lanes, CommLanes::kOne);
  EXPECT_EQ(s.executor.concurrent, ConcurrentCollectives::kTogether);
  EXPECT_EQ(s.executor.buffered_send, Bytes{0});
  const auto algorithm = [&](CollectiveOp op) { return s.collectives.algorithm[static_cast<std::size_t>(op)]; };
  EXPECT_EQ(algorithm(CollectiveOp::kGather), "direct");
  EXPECT_EQ(algorithm(CollectiveOp::kAllToAll), "direct");  // of the workload, which goes before "collectives"
  EXPECT_EQ(algorithm(CollectiveOp::kReduceScatter), "ring");
  EXPECT_EQ(s.collectives.chunks, 4u);
  EXPECT_EQ(s.run.iterations, 3u);
  EXPECT_EQ(s.run.seed, ~std::uint64_t{0});
  EXPECT_EQ(s.run.fidelity, Fidelity::kExact);
  EXPECT_EQ(s.run.spread_seeds, 7u);
}

TEST(Scenario, Stragglers) {
  const Scenario s = parse(kMinimal, {{"/collectives/straggler", "3"}, {"/stragglers", R"([
      {"ranks": [1, 3], "slowdown": 1.5},
      {"ranks": "random", "delay_ms": {"distribution": "uniform", "least": 1, "greatest": 2}},
      {"ranks": "all", "delay_us": [0, 500]}])"}});
  EXPECT_EQ(s.collectives.straggler, StragglerChoice::kKnown);
  EXPECT_EQ(s.collectives.straggler_rank, RankId{3u});
  ASSERT_EQ(s.stragglers.size(), 3u);
  EXPECT_EQ(s.stragglers[0].whom, StragglerSpec::Whom::kListed);
  EXPECT_THAT(s.stragglers[0].ranks, ElementsAre(RankId{1u}, RankId{3u}));
  EXPECT_EQ(s.stragglers[0].slowdown, 1.5);
  EXPECT_EQ(s.stragglers[1].whom, StragglerSpec::Whom::kOneAtRandom);
  EXPECT_EQ(s.stragglers[1].delay.kind, DelayDistribution::Kind::kUniform);
  EXPECT_EQ(s.stragglers[1].delay.b, Duration{2'000'000'000});
  EXPECT_EQ(s.stragglers[2].whom, StragglerSpec::Whom::kAll);
  EXPECT_THAT(s.stragglers[2].trace, ElementsAre(Duration{}, Duration{500'000'000}));
  EXPECT_EQ(parse(kMinimal, {{"/collectives/straggler", "predicted"}}).collectives.straggler, StragglerChoice::kPredicted);
}

TEST(Scenario, ElectricalRailsHaveTiers) {
  const Scenario s = parse(kMinimal, {{"/cluster/rail/kind", "electrical"},
                                      {"/cluster/rail/radix", "32"},
                                      {"/cluster/rail/oversubscription", "2.5"},
                                      {"/cluster/rail/tier_latency_us", "1"}});
  EXPECT_EQ(s.cluster.rail.switch_radix, 32u);
  EXPECT_EQ(s.cluster.rail.oversubscription, 2.5);
  EXPECT_EQ(s.cluster.rail.tier_latency, Duration{1'000'000});
}

TEST(Scenario, DistributionsAreInTheUnitOfTheirKey) {
  using Kind = DelayDistribution::Kind;
  const auto delay = [](const char* json) {
    return parse(kOptical, {{"/cluster/rail/switch/reconfiguration_us", json}}).cluster.rail.optical.reconfiguration;
  };
  const auto uniform = delay(R"({"distribution": "uniform", "least": 10, "greatest": 25})");
  EXPECT_EQ(uniform.kind, Kind::kUniform);
  EXPECT_EQ(uniform.a, Duration{10'000'000});
  EXPECT_EQ(uniform.b, Duration{25'000'000});
  const auto normal = delay(R"({"distribution": "normal", "mean": 10, "deviation": 0.5})");
  EXPECT_EQ(normal.kind, Kind::kNormal);
  EXPECT_EQ(normal.a, Duration{10'000'000});
  EXPECT_EQ(normal.b, Duration{500'000});
  const auto log_normal = delay(R"({"distribution": "log_normal", "median": 3, "sigma": 0.25})");
  EXPECT_EQ(log_normal.kind, Kind::kLogNormal);
  EXPECT_EQ(log_normal.a, Duration{3'000'000});
  EXPECT_EQ(log_normal.sigma, 0.25);
}

TEST(Scenario, PresetsByName) {
  const Scenario s = parse(kOptical, {{"/cluster/gpu", "h200"}, {"/cluster/rail/switch", "polatis_6000"}});
  EXPECT_EQ(s.cluster.gpu.name, gpu_preset("h200").name);
  EXPECT_EQ(s.cluster.rail.optical.ports, optical_switch_preset("polatis_6000").ports);
  EXPECT_EQ(s.cluster.rail.optical.reconfiguration.a, optical_switch_preset("polatis_6000").reconfiguration.a);
}

TEST(Scenario, StaticCircuitsByGpu) {
  const Scenario s = parse(kOptical, {{"/controller", R"({"name": "static", "circuits":
      [{"from": 0, "to": 2}, {"from": 2, "to": 0, "from_port": 1, "to_port": 1}]})"}});
  EXPECT_THAT(s.controller.circuits,
              ElementsAre(StaticCircuit{GpuId{0}, GpuId{2}, 0, 0}, StaticCircuit{GpuId{2}, GpuId{0}, 1, 1}));
}

TEST(Scenario, OverridesReplaceAndCreate) {
  const Scenario s = parse(kMinimal, {{"/name", "not json"},                                    // a bare string
                                      {"/why", "\"42\""},                                       // a JSON string
                                      {"/cluster/servers", "4"},                                // replaces
                                      {"/run/seed", "7"},                                       // the section is made
                                      {"/workload", R"({"collective": {"op": "barrier"}})"}});  // an object by another
  EXPECT_EQ(s.name, "not json");
  EXPECT_EQ(s.why, "42");
  EXPECT_EQ(s.cluster.servers, 4u);
  EXPECT_EQ(s.run.seed, 7u);
  EXPECT_EQ(s.graph.program(RankId{0}).task(TaskId{0}).op, CollectiveOp::kBarrier);
}

// Ranks that arrive together share a program: rank 2 is late by 500 us = 5e8 ps, so there are two, of 1 + 3 and 3 tasks.
TEST(Scenario, CollectiveWorkloadWithALateRank) {
  const Scenario s =
      parse(kMinimal, {{"/workload/collective/arrival_delay_us", R"({"2": 500})"}, {"/workload/collective/repeat", "3"}});
  ASSERT_EQ(s.graph.ranks(), 4u);
  EXPECT_EQ(s.graph.programs().size(), 2u);
  EXPECT_EQ(s.graph.program_of(RankId{0}), s.graph.program_of(RankId{3}));
  const Program& late = s.graph.program(RankId{2});
  ASSERT_EQ(late.tasks().size(), 4u);
  EXPECT_EQ(late.task(TaskId{0}).kind, TaskKind::kCompute);
  EXPECT_EQ(late.task(TaskId{0}).time(), Duration{500'000'000});
  EXPECT_EQ(late.task(TaskId{1}).kind, TaskKind::kCollective);
  EXPECT_EQ(late.task(TaskId{1}).size(), Bytes{1'000'000});
  EXPECT_THAT(late.successors(TaskId{1}), ElementsAre(TaskId{2}));  // in sequence
  EXPECT_EQ(s.graph.program(RankId{0}).tasks().size(), 3u);
  ASSERT_EQ(s.graph.communicators().size(), 1u);
  EXPECT_EQ(s.graph.communicators()[0].members.size(), 4u);
}

TEST(Scenario, DimensionsAreInferredFromThePlacement) {
  const Scenario in_server = parse(kMinimal, {{"/workload/collective/ranks", "2"}});
  EXPECT_EQ(in_server.graph.communicators()[0].dimension, Dimension::kTp);
  const Scenario on_rail = parse(kMinimal, {{"/workload/collective/ranks", "2"}, {"/placement/rank_to_gpu", "[1, 3]"}});
  EXPECT_EQ(on_rail.graph.communicators()[0].dimension, Dimension::kDp);
}

// Ranks are numbered dp, tp, pp (sizes 2, 2, 2): rank = dp + 2 tp + 4 pp. GPUs are filled tp, dp, pp:
// gpu = tp + 2 dp + 4 pp. Ranks 0..7 have (dp, tp, pp) = 000 100 010 110 001 101 011 111, so GPUs 0 2 1 3 4 6 5 7.
TEST(Scenario, PlacementOrderOfANumberedTrace) {
  const Scenario s = parse(kMinimal, {{"/cluster/servers", "4"},
                                      {"/placement/order", R"(["tp", "dp", "pp"])"},
                                      {"/placement/rank_order", R"(["dp", "tp", "pp"])"},
                                      {"/placement/sizes", R"({"tp": 2, "dp": 2, "pp": 2})"}});
  EXPECT_THAT(gpus(s), ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
}

constexpr const char* kTrainingJob = R"({ "training": { "model": { "preset": "llama3_8b", "layers": 4 },
  "sequence": 4096, "global_batch": 8, "micro_batch": 1, "schedule": "gpipe", "recompute": "full",
  "sequence_parallel": false,
  "parallelism": { "tp": 2, "pp": 2, "dp": 1, "cp": 1, "ep": 1, "fsdp": false },
  "precision": { "parameters": "bf16", "gradients": "fp32" } } })";

// With order tp, pp: ranks 0 and 1 are a tensor-parallel group; with pp, tp: ranks 0 and 2 are.
TEST(Scenario, TrainingWorkloadNumbersItsRanksInTheOrderOfThePlacement) {
  const auto tp_groups = [](const char* order) {
    const Scenario s = parse(kMinimal, {{"/workload", kTrainingJob}, {"/placement/order", order}});
    EXPECT_THAT(gpus(s), ElementsAre(0, 1, 2, 3));
    std::vector<std::vector<RankId>> groups;
    for (const Communicator& c : s.graph.communicators()) {
      if (c.dimension == Dimension::kTp) groups.push_back(c.members);
    }
    return groups;
  };
  EXPECT_THAT(tp_groups(R"(["tp", "pp"])"),
              ElementsAre(ElementsAre(RankId{0}, RankId{1}), ElementsAre(RankId{2}, RankId{3})));
  EXPECT_THAT(tp_groups(R"(["pp", "tp", "dp"])"),
              ElementsAre(ElementsAre(RankId{0}, RankId{2}), ElementsAre(RankId{1}, RankId{3})));
}

TEST(Scenario, TrainingPresetByName) {
  const Scenario s = parse(kMinimal, {{"/workload", kTrainingJob}, {"/workload/training/model", "llama3_8b"}});
  EXPECT_EQ(s.graph.ranks(), 4u);
}

// A preset has its protocols unless the file has a rate or a latency of its own.
TEST(Scenario, ServersMayDifferAndExchangesMayTakeMultiprocessors) {
  const Folder folder("scenario-servers");
  const auto read = [&](const std::string& scale_up) {
    std::ofstream(folder.path() / "s.json") << R"({ "schema": "photonrail.scenario/1", "name": "s",
      "cluster": { "servers": 2, "gpus_per_server": 4, "nic": { "gpus": 2 }, "scale_up": )" +
                                                   scale_up + R"(,
        "unlike_gpus": [ { "servers": [1], "gpus": [0, 3], "speed": 0.5, "memory_gb": 80 } ] },
      "executor": { "sm_share": { "ep": 0.25 } },
      "workload": { "collective": { "op": "all_gather", "bytes": 1024, "ranks": 8 } } })";
    return read_scenario(folder.path() / "s.json");
  };
  const Scenario s = read(R"("h100")");
  EXPECT_EQ(s.cluster.nic.gpus, 2u);
  ASSERT_EQ(s.cluster.unlike.size(), 1u);
  EXPECT_EQ(s.cluster.unlike[0].gpus, (std::vector<std::uint32_t>{0, 3}));
  EXPECT_EQ(s.cluster.unlike[0].memory_gb, 80.0);
  EXPECT_EQ(s.executor.sm_share[static_cast<std::size_t>(Dimension::kEp)], 0.25);
  EXPECT_EQ(s.cluster.scale_up.lines.size(), 3u);
  EXPECT_TRUE(read(R"({ "preset": "h100", "curve": "flat" })").cluster.scale_up.lines.empty());
  EXPECT_TRUE(read(R"({ "preset": "h100", "latency_us": 1 })").cluster.scale_up.lines.empty());
  EXPECT_EQ(read(R"({ "gb_per_s": 100, "curve": [ { "step_us": 1, "gb_per_s": 50 } ] })").cluster.scale_up.lines.size(),
            1u);
  EXPECT_THROW(read(R"({ "gb_per_s": 100, "curve": "measured" })"), ConfigError);
}

// All keys of the generator at once, and what they mean in the specification.
TEST(Scenario, TrainingSpecificationHasEveryKey) {
  const Folder folder("scenario-training");
  std::ofstream(folder.path() / "s.json") << R"({ "schema": "photonrail.scenario/1",
    "cluster": { "servers": 8, "gpus_per_server": 2 }, "placement": { "order": ["cp", "tp", "dp", "pp"] },
    "workload": { "training": {
      "model": { "preset": "mixtral_8x7b", "layers": 6, "moe": { "dense_layers": 2 } },
      "sequence": 4096, "global_batch": 8, "schedule": "interleaved", "recompute": "selective", "causal": true,
      "ends_count_as_layers": true, "average_loss": true,
      "parallelism": { "tp": 2, "cp": 2, "pp": 2, "dp": 2, "ep": 2, "etp": 1, "virtual_stages": 4, "fsdp": true,
                       "dp_replicate": 2 },
      "moe": { "router": { "kind": "zipf", "exponent": 0.5 }, "dispatch": "fp8" },
      "fsdp": { "reshard_after_forward": false, "prefetch": 2 },
      "gradients": { "every_micro_batch": false, "overlap": false, "clip": true },
      "overlap": { "experts": true, "pairing": "turn_by_turn", "delay_weights": false },
      "precision": { "parameters": "bf16", "gradients": "bf16" } } } })";
  const TrainingSpec spec = read_training_spec(folder.path() / "s.json");
  EXPECT_EQ(spec.model.moe, (ExpertSpec{.experts = 8, .top_k = 2, .dense_layers = 2}));
  EXPECT_EQ(spec.order, (std::vector<std::string>{"cp", "tp", "dp", "pp"}));
  EXPECT_EQ(spec.parallelism.ranks(), 16u);
  EXPECT_EQ(spec.parallelism.etp, 1u);
  EXPECT_EQ(spec.parallelism.virtual_stages, 4u);
  EXPECT_EQ(spec.parallelism.dp_replicate, 2u);
  EXPECT_EQ(spec.recompute, Recompute::kSelective);
  EXPECT_TRUE(spec.causal && spec.ends_count_as_layers && spec.average_loss && spec.clip_gradients);
  EXPECT_TRUE(spec.overlap.experts && !spec.overlap.by_layer && !spec.overlap.delay_weights);
  EXPECT_FALSE(spec.reshard_after_forward || spec.reduce_every_micro_batch || spec.overlap_gradients);
  EXPECT_EQ(spec.prefetch, 2u);
  EXPECT_EQ(spec.gradient_bytes, 2u);
  EXPECT_EQ(spec.moe->router.exponent, 0.5);
  EXPECT_EQ(spec.moe->dispatch_bytes, 1u);
  EXPECT_EQ(spec.moe->combine_bytes, 2u);
  const Scenario s = read_scenario(folder.path() / "s.json");
  EXPECT_EQ(s.graph.ranks(), 16u);
  ASSERT_EQ(s.memory.size(), 2u);
  EXPECT_GT(s.memory[0].total(), 0.0);
}

TEST(Scenario, AWarningSaysThatAPlanDoesNotFitTheGpu) {
  const std::vector<Override> training{{"/workload", kTrainingJob}};
  EXPECT_EQ(parse(kMinimal, training).infeasible(), "");
  auto small = training;
  small.push_back({"/cluster/gpu", R"({"preset": "h100", "memory_gb": 1})"});
  const Scenario s = parse(kMinimal, small);
  EXPECT_THAT(s.warnings(), ::testing::Contains(HasSubstr("the plan does not fit the GPU: stage ")));
}

// Paths are relative to the folder of the scenario, not to the working directory.
TEST(Scenario, ChakraWorkloadRelativeToTheFile) {
  const Folder folder("scenario-chakra");
  write_chakra(parse(kMinimal).graph, folder.path() / "traced");
  std::ofstream(folder.path() / "s.json") << R"({ "schema": "photonrail.scenario/1",
    "cluster": { "servers": 2, "gpus_per_server": 2 },
    "workload": { "chakra": { "prefix": "traced", "comm_groups": "traced.json" } } })";
  const Scenario s = read_scenario(folder.path() / "s.json");
  ASSERT_EQ(s.graph.ranks(), 4u);
  EXPECT_EQ(s.graph.program(RankId{0}).task(TaskId{0}).size(), Bytes{1'000'000});
}

constexpr std::string_view kTrace = R"({ "schema": "photonrail.scenario/1",
  "cluster": { "servers": 4, "gpus_per_server": 2 },
  "workload": { "chakra": { "prefix": "${PHOTONRAIL_TEST_TRACES}/opus-smoke-dp2-pp2-tp2/workload",
    "comm_groups": "${PHOTONRAIL_TEST_TRACES}/opus-smoke-dp2-pp2-tp2/${PHOTONRAIL_TEST_GROUPS:-workload.json}" } } })";

TEST(Scenario, ChakraWorkloadThroughTheEnvironment) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  ::setenv("PHOTONRAIL_TEST_TRACES", (data / "chakra").c_str(), 1);
  const Scenario s = parse(kTrace);
  EXPECT_EQ(s.graph.ranks(), 8u);
  EXPECT_EQ(s.gpu_of_rank.size(), 8u);
  try {
    static_cast<void>(parse(kTrace, {{"/cluster/servers", "3"}}));
    FAIL() << "8 ranks on 6 GPUs";
  } catch (const ConfigError& e) {
    EXPECT_EQ(e.where(), "s.json: /workload/chakra");
    EXPECT_THAT(e.what(), HasSubstr("8 ranks do not fit the cluster: 3 servers x 2 GPUs = 6"));
  }
  ::unsetenv("PHOTONRAIL_TEST_TRACES");
}

// Simple on an H100: 2.8 us a megabyte and 4.37 us a step.
TEST(Scenario, AScaleUpFabricMayBeAMeasuredOne) {
  const auto scale_up = [](const std::string& section) {
    return parse_scenario(
               R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 1, "gpus_per_server": 2, "scale_up": )" +
                   section + R"(, "rail": {"kind": "electrical"}},
                              "workload": {"collective": {"op": "all_reduce", "bytes": 1, "ranks": 2}}})",
               "/nowhere", "s.json")
        .cluster.scale_up;
  };
  EXPECT_NEAR(scale_up(R"("h100")").per_gpu.bytes_per_second, 1e12 / 2.8, 1.0);
  EXPECT_EQ(scale_up(R"({ "preset": "h100", "curve": "flat" })").latency, Duration{4'370'000});
  EXPECT_EQ(scale_up(R"("h100")").latency, Duration{5'000'000}) << "the launch";
  EXPECT_NEAR(scale_up(R"({"preset": "h100", "latency_ns": 7})").per_gpu.bytes_per_second, 1e12 / 2.8, 1.0);
  EXPECT_EQ(scale_up(R"({"preset": "h100", "latency_ns": 7})").latency, Duration{7'000});
  try {
    scale_up(R"("k80")");
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr("/cluster/scale_up"));
    EXPECT_THAT(e.what(), HasSubstr("gb200"));
  }
}

TEST(Scenario, APolicyHasKeysOfItsOwn) {
  const Scenario s = parse_scenario(R"({
    "schema": "photonrail.scenario/1",
    "cluster": { "servers": 2, "gpus_per_server": 1, "gpu": "h200", "scale_up": { "gb_per_s": 450 },
      "nic": { "ports": 1, "port_gb_per_s": 50 },
      "rail": { "kind": "optical", "switch": { "reconfiguration_us": 10 } } },
    "controller": { "name": "rotor", "duty": 0.5, "slot_ms": 3, "paths": "two_hop", "starvation_ms": 7 },
    "workload": { "collective": { "op": "all_reduce", "bytes": 1, "ranks": 2 } } })",
                                    "/nowhere", "s.json");
  EXPECT_EQ(s.controller.parameters.number("duty"), 0.5);
  EXPECT_EQ(s.controller.parameters.duration("slot"), Duration{3'000'000'000});
  EXPECT_EQ(s.controller.parameters.word("paths"), "two_hop");
  EXPECT_EQ(s.controller.starvation, Duration{7'000'000'000});
}

}  // namespace
}  // namespace photonrail
