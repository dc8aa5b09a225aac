// Jobs that are measured, as scenarios: what the benchmarks and the instruction guard run. Every rank is simulated, where a
// benchmark does not say folded.
#pragma once

#include "photonrail/config.hpp"
#include "photonrail/core/random.hpp"
#include "photonrail/scenario.hpp"
#include "photonrail/training.hpp"
#include "photonrail/workload/agent.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace photonrail::bench {

/// `servers` servers on non-blocking electrical rails of 50 GB/s, 936.25 ns, 10 ns a message.
inline ClusterSpec electrical_cluster(std::uint32_t servers, std::uint32_t gpus_per_server = 1) {
  ClusterSpec cluster;
  cluster.servers = servers;
  cluster.gpus_per_server = gpus_per_server;
  cluster.scale_up.latency = Duration{936'250};
  cluster.nic.latency = Duration{936'250};
  cluster.nic.message_overhead = Duration{10'000};
  cluster.rail.switch_radix = std::max(2u, servers);
  return cluster;
}

/// One collective on all ranks, one GPU a server.
inline Scenario collective_job(CollectiveOp op, std::uint32_t ranks, Bytes size, Fidelity fidelity,
                               std::uint32_t chunks = 1) {
  Scenario scenario;
  scenario.cluster = electrical_cluster(ranks);
  scenario.run.fidelity = fidelity;
  scenario.collectives.chunks = chunks;
  scenario.run.folding = false;
  std::vector<RankId> everyone;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    scenario.gpu_of_rank.push_back(GpuId{r});
    everyone.push_back(RankId{r});
  }
  TaskGraphBuilder builder(ranks);
  const CommunicatorId world = builder.add_communicator("world", everyone, Dimension::kDp);
  const ProgramId program = builder.add_program();
  builder.add_collective(program, 0, op, size);
  for (const RankId rank : everyone) builder.assign(rank, program, {world});
  scenario.graph = std::move(builder).build();
  return scenario;
}

/// 1 GiB by ring.
inline Scenario ring_all_reduce(std::uint32_t ranks, Fidelity fidelity, std::uint32_t chunks = 1) {
  return collective_job(CollectiveOp::kAllReduce, ranks, Bytes{1 << 30}, fidelity, chunks);
}

/// Launches a step of 1 MiB, summed up among all ranks, one after another.
class LaunchAfterLaunch final : public WorkloadAgent {
 public:
  LaunchAfterLaunch(std::uint32_t ranks, std::uint32_t launches) : left_(launches) {
    step_.graph = std::make_shared<const TaskGraph>(
        collective_job(CollectiveOp::kAllReduce, ranks, Bytes{1 << 20}, Fidelity::kExact).graph);
    for (std::uint32_t r = 0; r < ranks; ++r) step_.ranks.emplace_back(r);
  }
  void on(const WorkEvent&, WorkSink& sink) override {
    if (left_ == 0) return;
    --left_;
    static_cast<void>(sink.launch(step_));
  }
  [[nodiscard]] bool finished() const override { return left_ == 0; }

 private:
  Fragment step_;
  std::uint32_t left_;
};

/// Has 100,000 timers pending, and sets one anew when it is told of one.
class TimerAfterTimer final : public WorkloadAgent {
 public:
  static constexpr std::uint32_t kPending = 100'000;
  explicit TimerAfterTimer(std::uint32_t timers) : left_(timers) {}
  void on(const WorkEvent& event, WorkSink& sink) override {
    constexpr std::int64_t kApart = 1'000'000;
    if (event.kind == WorkEvent::Kind::kBegin) {
      for (std::uint32_t i = 0; i < kPending; ++i) sink.wake_at(Time{std::int64_t{i} * 7919 % kPending * kApart}, i);
      return;
    }
    --left_;
    sink.wake_at(event.now + Duration{kPending * kApart}, event.token);
  }
  [[nodiscard]] bool finished() const override { return left_ == 0; }

 private:
  std::uint32_t left_;
};

/// Eight idle ranks, one a server, on electrical rails or on circuits under lru.
inline Scenario idle_ranks(bool circuits, Fidelity fidelity) {
  Scenario scenario = collective_job(CollectiveOp::kAllReduce, 8, Bytes{1}, fidelity);
  scenario.graph = idle_graph(8);
  if (circuits) {
    scenario.cluster.rail.kind = RailKind::kOptical;
    scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(Duration{1'000'000'000});
    scenario.controller.name = "lru";
  }
  return scenario;
}

/// A row and a column all-reduce in turn, `rounds` times each, on side x side ranks, with a random computation before
/// each: many communicators out of step.
inline Scenario grid_job(std::uint32_t side, std::uint32_t rounds, Bytes size) {
  Scenario scenario;
  scenario.cluster = electrical_cluster(side * side);
  scenario.run.fidelity = Fidelity::kExact;
  scenario.run.folding = false;
  TaskGraphBuilder builder(std::size_t{side} * side);
  std::vector<CommunicatorId> rows;
  std::vector<CommunicatorId> columns;
  for (std::uint32_t i = 0; i < side; ++i) {
    std::vector<RankId> row;
    std::vector<RankId> column;
    for (std::uint32_t j = 0; j < side; ++j) {
      row.push_back(RankId{std::size_t{i} * side + j});
      column.push_back(RankId{std::size_t{j} * side + i});
    }
    rows.push_back(builder.add_communicator("row " + std::to_string(i), row, Dimension::kDp));
    columns.push_back(builder.add_communicator("column " + std::to_string(i), column, Dimension::kTp));
  }
  RandomStream random(1, "grid");
  for (std::uint32_t r = 0; r < side * side; ++r) {
    scenario.gpu_of_rank.push_back(GpuId{r});
    const ProgramId program = builder.add_program();
    std::vector<TaskId> last;
    for (std::uint32_t k = 0; k < 2 * rounds; ++k) {
      last = {builder.add_delay(program, Duration{static_cast<std::int64_t>(random.below(100'000'000))}, {}, last)};
      last = {builder.add_collective(program, k % 2, CollectiveOp::kAllReduce, size, {}, last)};
    }
    builder.assign(RankId{r}, program, {rows[r / side], columns[r % side]});
  }
  scenario.graph = std::move(builder).build();
  return scenario;
}

/// Dispatch and combine of a mixture of experts with skewed routing, all messages at once, on switches of 80 us under a
/// policy: no two pairs exchange the same bytes.
inline Scenario skewed_all_to_all(std::uint32_t ranks, const std::string& policy, std::uint32_t experts = 128) {
  return parse_scenario(R"({
    "schema": "photonrail.scenario/1", "name": "skewed all-to-all",
    "cluster": {"servers": )" +
                            std::to_string(ranks) + R"(, "gpus_per_server": 1,
      "nic": {"ports": 1, "port_gb_per_s": 50, "latency_us": 1, "message_overhead_ns": 10},
      "rail": {"kind": "optical", "switch": {"reconfiguration_us": 80}}},
    "controller": {"name": ")" +
                            policy + R"("},
    "collectives": {"all_to_all": "direct"},
    "workload": {"collective": {"op": "all_to_all", "moe": {"experts": )" +
                            std::to_string(experts) + R"(, "top_k": 8, "tokens": 8192, "hidden": 2048,
      "dispatch": "fp8", "combine": "bf16",
      "router": {"kind": "zipf", "exponent": 0.6, "source_spread": 0.2}}}}})",
                        ".");
}

/// A training step as a user writes it, folded: servers of 8 GPUs, a port of 50 GB/s a GPU, under Opus with switches of 10
/// ms or on one electrical switch a rail. `parallelism`: and the rest of the workload; `order`: of the placement.
inline Scenario folded_step(std::uint32_t gpus, bool optical, const std::string& model, const std::string& parallelism,
                            const std::string& order) {
  const std::string rail =
      optical
          ? R"({"kind": "optical", "switch": {"reconfiguration_ms": 10}}}, "controller": {"name": "opus", "mode": "provisioned"})"
          : R"({"kind": "electrical", "switch_radix": 8192}})";
  return parse_scenario(R"({"schema": "photonrail.scenario/1", "name": "step",
    "cluster": {"servers": )" +
                            std::to_string(gpus / 8) + R"(, "gpus_per_server": 8,
      "gpu": {"peak_tflops": 989, "memory_gb_per_s": 4800, "compute_efficiency": 1.0},
      "scale_up": {"gb_per_s": 450, "latency_ns": 936.25},
      "nic": {"ports": 1, "port_gb_per_s": 50, "latency_ns": 936.25, "message_overhead_ns": 10}, "rail": )" +
                            rail + R"(,
    "collectives": {"all_reduce": "ring", "all_gather": "ring", "reduce_scatter": "ring", "all_to_all": "pairwise"},
    "workload": {"training": {"model": ")" +
                            model + R"(", "micro_batch": 1, "schedule": "1f1b", )" + parallelism +
                            R"(}}, "placement": {"order": )" + order + "}}",
                        ".");
}

/// DeepSeek-V3 with even routing, 16 stages, experts over `ep` ranks and so over several servers.
inline Scenario expert_step(std::uint32_t gpus, std::uint32_t ep, bool optical, std::uint32_t micro_batches = 16) {
  const std::uint32_t dp = gpus / 16;
  return folded_step(gpus, optical, "deepseek_v3",
                     "\"sequence\": 4096, \"global_batch\": " + std::to_string(dp * micro_batches) +
                         ", \"parallelism\": {\"tp\": 1, \"pp\": 16, \"dp\": " + std::to_string(dp) +
                         ", \"ep\": " + std::to_string(ep) + "}",
                     R"(["dp", "pp"])");
}

/// Llama 3 405B with context parallelism: rings over servers beside those of the replicas of shards.
inline Scenario context_step(std::uint32_t gpus, std::uint32_t cp, std::uint32_t micro_batches = 16) {
  const std::uint32_t dp = gpus / 128 / cp;
  return folded_step(gpus, true, "llama3_405b",
                     "\"sequence\": 8192, \"global_batch\": " + std::to_string(dp * micro_batches) +
                         ", \"parallelism\": {\"tp\": 8, \"cp\": " + std::to_string(cp) +
                         ", \"pp\": 16, \"dp\": " + std::to_string(dp) + ", \"fsdp\": true}",
                     R"(["tp", "cp", "dp", "pp"])");
}

/// A dense Llama-405B-like model (arXiv 2407.21783, table 3) under TP8 PP16, 16 micro-batches of one sequence of 8,192.
inline TrainingSpec dense_405b(std::uint32_t dp) {
  TrainingSpec spec;
  spec.model = {"llama3_405b", 126, 16384, 53248, 128, 8, 128256};
  spec.parallelism = {8, 16, dp, false};
  spec.sequence = 8192;
  spec.micro_batch = 1;
  spec.global_batch = 16 * dp;
  return spec;
}

/// A training step, tensor parallelism inside servers of 8 GPUs, ranks on GPUs in order.
inline Scenario training_job(const TrainingSpec& spec, Fidelity fidelity) {
  const std::uint32_t ranks = spec.parallelism.ranks();
  Scenario scenario;
  scenario.cluster = electrical_cluster(ranks / 8, 8);
  scenario.run.fidelity = fidelity;
  scenario.run.folding = false;
  for (std::uint32_t r = 0; r < ranks; ++r) scenario.gpu_of_rank.push_back(GpuId{r});
  scenario.graph = make_training_graph(spec);
  return scenario;
}

/// The same under Opus provisioned at 15 ms.
inline Scenario on_optical_rails(Scenario scenario) {
  scenario.cluster.rail = RailSpec{};
  scenario.cluster.rail.kind = RailKind::kOptical;
  scenario.cluster.rail.optical.reconfiguration = DelayDistribution::constant(Duration{15'000'000'000});
  scenario.controller.name = "opus";
  scenario.controller.parameters.set("mode", "provisioned");
  return scenario;
}

/// The same, but every rank begins every step up to 200 us late, by a draw, so that no two are alike.
inline Scenario with_late_ranks(Scenario scenario) {
  scenario.run.folding = true;  // of the profiling run
  StragglerSpec late;
  late.delay = {DelayDistribution::Kind::kUniform, Duration{}, Duration{200'000'000}, 0.0, {}};
  scenario.stragglers = {late};
  return scenario;
}

}  // namespace photonrail::bench
