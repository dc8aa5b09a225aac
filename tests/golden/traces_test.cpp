// Every trace of the shared data, end to end. Sizes and counts come from a dump of the files.
#include "golden/golden.hpp"

namespace photonrail::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Duration kByte{20};                   // at 50 GB/s
constexpr Duration kMessage{936'250 + 10'000};  // latency and overhead

/// `servers` of one GPU with one electrical port of 50 GB/s, and the trace at `prefix`.
Scenario on_one_rail(const std::filesystem::path& prefix, int servers, const std::string& more = "") {
  return parse_scenario(R"({"schema": "photonrail.scenario/1",
    "cluster": {"servers": )" +
                            std::to_string(servers) + R"(, "gpus_per_server": 1, "rail": {"kind": "electrical"},
      "nic": {"ports": 1, "port_gb_per_s": 50, "latency_ns": 936.25, "message_overhead_ns": 10}},
    "workload": {"chakra": {"prefix": ")" +
                            prefix.string() + "\"" + more + "}}}",
                        ".");
}

RunResult run_both(Scenario scenario) {
  scenario.run.fidelity = Fidelity::kExact;
  const RunResult exact = simulate(scenario);
  scenario.run.fidelity = Fidelity::kStream;
  const RunResult stream = simulate(scenario);
  EXPECT_EQ(exact.makespan, stream.makespan) << "one piece a ring: what the two pay is the same";
  expect_balanced(exact);
  expect_balanced(stream);
  return exact;
}

// 14 steps of 131072 B (7 of a reduce-scatter, 7 of an all-gather, an eighth of 1 MiB each), and 7 reductions of 7 us as
// recorded. A send below 4 MiB lets its rank go on at once, so that a rank only waits for what it receives: the steps of
// all ranks are in step.
TEST(Traces, CustomRingOfSendsAndReceives) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto prefix = data / "chakra" / "custom-ring-allreduce-8" / "custom_allreduce";
  const Duration steps = 14 * (131072 * kByte + kMessage);
  EXPECT_EQ(run_both(on_one_rail(prefix, 8, R"(, "compute_time": "trace")")).makespan,
            steps + std::chrono::microseconds(49));
  // The reductions name no work: by the roofline they take no time, and the ring is an all-reduce of 1 MiB.
  const RunResult bare = run_both(on_one_rail(prefix, 8));
  EXPECT_EQ(bare.makespan, steps);
  EXPECT_EQ(traffic(bare, Dimension::kPp).bytes.count, 8 * 14 * 131072);
  EXPECT_EQ(
      bare.makespan,
      run_both(on_one_rail(data / "chakra" / "microbenchmarks" / "all_reduce" / "8npus_1MB" / "all_reduce", 8)).makespan);
}

// Closed forms of Thakur, Rabenseifner and Gropp (2005) for 1 MiB among n, S = 2^20: an all-reduce by ring takes 2(n-1)
// steps of S/n; a reduce-scatter n-1 of S/n; an all-gather of shards of S n-1 of S; a pairwise all-to-all n-1 rounds of
// S/n.
TEST(Traces, MicrobenchmarksTakeTheirClosedForms) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  constexpr std::int64_t kSize = 1 << 20;
  struct Form {
    std::string name;
    std::int64_t steps;  ///< over n - 1
    bool whole;          ///< of S, or of S/n
  };
  for (const Form& form : {Form{"all_reduce", 2, false}, Form{"reduce_scatter", 1, false}, Form{"all_gather", 1, true},
                           Form{"all_to_all", 1, false}}) {
    for (const int n : {4, 8}) {
      const auto folder = data / "chakra" / "microbenchmarks" / form.name / (std::to_string(n) + "npus_1MB");
      const RunResult result = run_both(on_one_rail(folder / form.name, n));
      const std::int64_t bytes = form.whole ? kSize : kSize / n;
      EXPECT_EQ(result.makespan, form.steps * (n - 1) * (bytes * kByte + kMessage)) << form.name << " among " << n;
      const Dimension dimension = form.name == "all_to_all" ? Dimension::kEp : Dimension::kDp;
      EXPECT_EQ(traffic(result, dimension).bytes.count, n * form.steps * (n - 1) * bytes) << form.name << " among " << n;
      EXPECT_THAT(result.warnings, IsEmpty());
    }
  }
}

// A real trace: two all-reduces of 4 GiB between two ranks, each 2 x 1/2 of the tensor on a port, in two groups, so that
// they share the port while both run: it is busy for the bytes of both, and for one message's latency or up to all four.
TEST(Traces, PytorchOnTwoGpus) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto folder = data / "chakra" / "pytorch-2gpu-allreduce";
  const std::string more = R"(, "compute_time": "trace", "comm_groups": ")" + (folder / "comm_group.json").string() + "\"";
  Scenario scenario = on_one_rail(folder / "chakra_trace", 2, more);
  constexpr Duration kBytes = 2 * 4294967296 * kByte;
  RunResult result;
  for (const Fidelity fidelity : {Fidelity::kExact, Fidelity::kStream}) {
    scenario.run.fidelity = fidelity;
    result = simulate(scenario);
    expect_balanced(result);
    EXPECT_EQ(traffic(result, Dimension::kDp).bytes.count, 2LL * 2 * 4294967296);
    EXPECT_GE(traffic(result, Dimension::kDp).busy, kBytes + kMessage);
    EXPECT_LE(traffic(result, Dimension::kDp).busy, kBytes + 4 * kMessage);
    // What was recorded of the computation hides some of them, not all.
    EXPECT_GT(result.makespan, traffic(result, Dimension::kDp).busy);
    EXPECT_LT(result.makespan, traffic(result, Dimension::kDp).busy + result.ranks[0].compute);
  }
  EXPECT_THAT(result.warnings, Contains(HasSubstr("do not name their Chakra version: 2")));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("without num_ops and tensor_size, which take no time: 2532")));
}

// One rank of a real trace, with everything that is wrong with it said once. Its collectives have no peers.
TEST(Traces, FeederTestsOnOneRank) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto prefix = data / "chakra" / "feeder-tests" / "chakra";
  const RunResult result = run_both(on_one_rail(prefix, 1, R"(, "compute_time": "trace")"));
  EXPECT_EQ(result.ranks[0].compute, result.makespan);
  EXPECT_EQ(result.engine.sends, 0u);
  EXPECT_THAT(result.warnings,
              Contains(::testing::AllOf(HasSubstr("not in the file, dropped: 1277"), HasSubstr("node 216"))));
  EXPECT_THAT(result.warnings, Contains(HasSubstr("without comm_type, taken as host tasks without work: 14")));
}

/// The 16-rank FSDP trace on 4 servers of 4. Ranks: DP innermost, then TP, then PP.
Scenario llama(const std::filesystem::path& data, const std::string& rail, const std::string& controller) {
  const auto folder = data / "chakra" / "llama3-8b-fsdp-dp2-pp2-tp4";
  return parse_scenario(R"({"schema": "photonrail.scenario/1",
    "cluster": {"servers": 4, "gpus_per_server": 4, "gpu": {"peak_tflops": 989, "memory_gb_per_s": 4800},
      "scale_up": {"gb_per_s": 450, "latency_ns": 936.25},
      "nic": {"ports": 1, "port_gb_per_s": 50, "latency_ns": 936.25, "message_overhead_ns": 10},
      "rail": )" + rail + R"(},
    "placement": {"order": ["tp", "dp", "pp"], "rank_order": ["dp", "tp", "pp"], "sizes": {"tp": 4, "dp": 2, "pp": 2}},
    "controller": )" + controller +
                            R"(,
    "workload": {"chakra": {"prefix": ")" +
                            (folder / "llama3_8b").string() + R"(", "comm_groups": ")" +
                            (folder / "llama3_8b.json").string() + R"("}}})",
                        ".");
}

// Gathers of weights may run any time beside the hops, so that there is no fixed order of phases to derive a cost from.
TEST(Traces, LlamaWithFsdpRunsUnderEveryController) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const RunResult electrical = simulate(llama(data, R"({"kind": "electrical"})", R"({"name": "electrical"})"));
  expect_balanced(electrical);
  // From a dump: 4 sends of one size from every rank, forward or backward, 4 micro-batches: 16 x 4.
  EXPECT_EQ(traffic(electrical, Dimension::kPp).operations, 16u * 4u);
  for (const std::string mode : {"on_demand", "provisioned"}) {
    for (const std::string order : {"free", "scheduled"}) {
      const RunResult result =
          simulate(llama(data, R"({"kind": "optical", "switch": {"reconfiguration_ms": 10}})",
                         R"({"name": "opus", "mode": ")" + mode + R"(", "order": ")" + order + R"("})"));
      expect_balanced(result);
      EXPECT_GT(result.makespan, electrical.makespan) << mode << ", " << order;
      // Less than as many delays as commands on the busiest rail: some hide.
      EXPECT_LT(result.makespan, electrical.makespan + 10 * ms(10)) << mode << ", " << order;
      for (std::size_t d = 0; d < kDimensionCount; ++d) {
        EXPECT_EQ(result.traffic[d].bytes, electrical.traffic[d].bytes) << mode << ", " << order;
      }
    }
  }
}

}  // namespace
}  // namespace photonrail::test
