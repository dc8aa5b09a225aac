// Bad input, one row each: which change to a good scenario, at which JSON pointer it is an error, and what is said.
#include "photonrail/config.hpp"
#include "photonrail/error.hpp"
#include "support/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace photonrail {
namespace {

using test::error_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// 4 servers x 2 GPUs, one port each: an OCS needs 8 ports a rail.
constexpr std::string_view kGood = R"({
  "schema": "photonrail.scenario/1",
  "cluster": { "servers": 4, "gpus_per_server": 2,
    "gpu": { "peak_tflops": 989, "memory_gb_per_s": 4800 },
    "scale_up": { "gb_per_s": 450, "latency_ns": 936.25 },
    "nic": { "ports": 1, "port_gb_per_s": 50, "latency_ns": 936.25 },
    "rail": { "kind": "optical", "switch": { "ports": 16, "reconfiguration_ms": 10 } } },
  "placement": { "rank_to_gpu": [0, 1, 2, 3, 4, 5, 6, 7] },
  "controller": { "name": "opus" },
  "executor": {},
  "collectives": {},
  "workload": { "collective": { "op": "all_reduce", "bytes": 1048576, "ranks": 8 } },
  "run": {} })";

constexpr const char* kTraining = R"({"training": {"model": {"layers": 4, "hidden": 512, "ffn": 1024, "heads": 8,
  "kv_heads": 8, "vocabulary": 1000}, "sequence": 128, "global_batch": 4, "parallelism": {"tp": 2, "pp": 2, "dp": 2}}})";

struct BadInput {
  std::string name;
  std::vector<Override> changes;
  std::string where;  // a JSON pointer
  std::string what;   // a part of problem and hint
};
std::ostream& operator<<(std::ostream& out, const BadInput& bad) { return out << bad.name; }

class BadScenario : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadScenario, IsRefusedAtItsPointer) {
  const BadInput& bad = GetParam();
  const ConfigError error = error_of([&] { static_cast<void>(parse_scenario(kGood, "/nowhere", "s.json", bad.changes)); });
  EXPECT_EQ(error.where(), bad.where.empty() ? "s.json" : "s.json: " + bad.where);
  EXPECT_THAT(error.what(), HasSubstr(bad.what));
  EXPECT_THAT(error.what(), StartsWith("s.json: "));
}

const auto kName = [](const auto& row) { return row.param.name; };

INSTANTIATE_TEST_SUITE_P(
    Top, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"schema", {{"/schema", "photonrail.scenario/2"}}, "/schema", "knows photonrail.scenario/1"},
        BadInput{"schema_type", {{"/schema", "1"}}, "/schema", "must be a string, not 1"},
        BadInput{"section", {{"/clutser", "{}"}}, "/clutser", "did you mean cluster?"},
        BadInput{"name_type", {{"/name", "[]"}}, "/name", "must be a string, not an array"},
        BadInput{"cluster_type", {{"/cluster", "big"}}, "/cluster", "must be an object, not the string \"big\""}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Cluster, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"no_servers", {{"/cluster", R"({"gpus_per_server": 2})"}}, "/cluster/servers", "missing"},
        BadInput{
            "unknown_key", {{"/cluster/gpu_per_server", "2"}}, "/cluster/gpu_per_server", "did you mean gpus_per_server?"},
        BadInput{"zero_servers", {{"/cluster/servers", "0"}}, "/cluster/servers", "from 1 to"},
        BadInput{"negative_servers", {{"/cluster/servers", "-4"}}, "/cluster/servers", "but is -4"},
        BadInput{"half_server", {{"/cluster/servers", "2.5"}}, "/cluster/servers", "but is 2.5"},
        BadInput{"huge_servers", {{"/cluster/servers", "1e300"}}, "/cluster/servers", "but is 1e+300"},
        BadInput{"unknown_gpu", {{"/cluster/gpu", "h2000"}}, "/cluster/gpu", "h200"},
        BadInput{"unknown_gpu_preset", {{"/cluster/gpu/preset", "nope"}}, "/cluster/gpu/preset", "known"},
        BadInput{
            "gpu_without_memory", {{"/cluster/gpu", R"({"peak_tflops": 9})"}}, "/cluster/gpu/memory_gb_per_s", "missing"},
        BadInput{
            "efficiency", {{"/cluster/gpu/compute_efficiency", "1.5"}}, "/cluster/gpu/compute_efficiency", "at most 1"},
        BadInput{"negative_rate",
                 {{"/cluster/nic/port_gb_per_s", "-50"}},
                 "/cluster/nic/port_gb_per_s",
                 "must be positive, but is -50"},
        BadInput{
            "zero_rate", {{"/cluster/scale_up/gb_per_s", "0"}}, "/cluster/scale_up/gb_per_s", "must be positive, but is 0"},
        BadInput{
            "nan_rate", {{"/cluster/nic/port_gb_per_s", "NaN"}}, "/cluster/nic/port_gb_per_s", "not the string \"NaN\""},
        BadInput{"huge_rate",
                 {{"/cluster/nic/port_gb_per_s", "1e300"}},
                 "/cluster/nic/port_gb_per_s",
                 "at most 1000000000, but is 1e+300"},
        BadInput{"tiny_rate", {{"/cluster/nic/port_gb_per_s", "1e-300"}}, "/cluster/nic/port_gb_per_s", "at least"},
        BadInput{
            "bit_rate", {{"/cluster/nic/port_gbit_per_s", "400"}}, "/cluster/nic/port_gbit_per_s", "400 Gb/s is 50 GB/s"},
        BadInput{"no_unit", {{"/cluster/nic/latency", "5"}}, "/cluster/nic/latency", "did you mean latency_ns?"},
        BadInput{"two_units",
                 {{"/cluster/nic", R"({"latency_ns": 1, "latency_us": 5})"}},
                 "/cluster/nic/latency_us",
                 "latency_ns is there too"},
        BadInput{
            "negative_latency", {{"/cluster/nic/latency_ns", "-1"}}, "/cluster/nic/latency_ns", "must not be negative"},
        BadInput{"endless_latency", {{"/cluster/nic/latency_ns", "1e200"}}, "/cluster/nic/latency_ns", "must be between"},
        BadInput{"no_ports", {{"/cluster/nic/ports", "0"}}, "/cluster/nic/ports", "from 1 to"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Rail, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"kind", {{"/cluster/rail/kind", "optic"}}, "/cluster/rail/kind", "did you mean optical?"},
        BadInput{"no_kind", {{"/cluster/rail", "{}"}}, "/cluster/rail/kind", "missing"},
        BadInput{"no_switch", {{"/cluster/rail", R"({"kind": "optical"})"}}, "/cluster/rail/switch", "missing"},
        BadInput{"radix_of_optical", {{"/cluster/rail/radix", "64"}}, "/cluster/rail/radix", "only electrical"},
        BadInput{"switch_of_electrical", {{"/cluster/rail/kind", "electrical"}}, "/cluster/rail/switch", "no circuits"},
        BadInput{"oversubscription",
                 {{"/cluster/rail", R"({"kind": "electrical", "oversubscription": 0.5})"}},
                 "/cluster/rail/oversubscription",
                 "must be between 1"},
        BadInput{"unknown_switch", {{"/cluster/rail/switch", "polaris"}}, "/cluster/rail/switch", "polaris"},
        BadInput{"no_reconfiguration",
                 {{"/cluster/rail/switch", R"({"ports": 16})"}},
                 "/cluster/rail/switch/reconfiguration_ms",
                 "missing"},
        BadInput{"negative_reconfiguration",
                 {{"/cluster/rail/switch/reconfiguration_ms", "-1"}},
                 "/cluster/rail/switch/reconfiguration_ms",
                 "must not be negative"},
        BadInput{"distribution",
                 {{"/cluster/rail/switch/reconfiguration_ms", R"({"distribution": "gauss"})"}},
                 "/cluster/rail/switch/reconfiguration_ms/distribution",
                 "known: uniform, normal, log_normal"},
        BadInput{"empty_range",
                 {{"/cluster/rail/switch/reconfiguration_ms", R"({"distribution": "uniform", "least": 2, "greatest": 1})"}},
                 "/cluster/rail/switch/reconfiguration_ms/greatest",
                 "must not be less"},
        BadInput{"small_ocs", {{"/cluster/rail/switch/ports", "7"}}, "/cluster/rail/switch/ports", "8"},
        BadInput{"on_dark", {{"/cluster/rail/on_dark", "ignore"}}, "/cluster/rail/on_dark", "known: error, pause"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Placement, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"empty", {{"/placement", "{}"}}, "/placement", "\"order\" or \"rank_to_gpu\""},
        BadInput{"both", {{"/placement/order", R"(["dp"])"}}, "/placement", "exclude each other"},
        BadInput{"twice", {{"/placement/rank_to_gpu/3", "2"}}, "/placement/rank_to_gpu/3", "GPU 2 runs rank 2 already"},
        BadInput{"no_such_gpu", {{"/placement/rank_to_gpu/3", "8"}}, "/placement/rank_to_gpu/3", "4 servers x 2 GPUs = 8"},
        BadInput{"fraction", {{"/placement/rank_to_gpu/0", "0.5"}}, "/placement/rank_to_gpu/0", "whole number"},
        BadInput{"too_short", {{"/placement/rank_to_gpu", "[0, 1]"}}, "/placement/rank_to_gpu", "has 2 entries"},
        BadInput{"order_alone",
                 {{"/placement", R"({"order": ["tp", "dp"]})"}},
                 "/placement",
                 "add \"rank_order\" and \"sizes\""},
        BadInput{"sizes_alone",
                 {{"/placement", R"({"order": ["tp"], "sizes": {"tp": 8}})"}},
                 "/placement/rank_order",
                 "missing"},
        BadInput{"sizes_product",
                 {{"/placement", R"({"order": ["tp", "dp"], "rank_order": ["dp", "tp"], "sizes": {"tp": 2, "dp": 2}})"}},
                 "/placement/sizes",
                 "multiply to 4, but the workload has 8 ranks"},
        BadInput{"order_names",
                 {{"/placement", R"({"order": ["tp"], "rank_order": ["dp", "tp"], "sizes": {"tp": 2, "dp": 4}})"}},
                 "/placement/order",
                 "every dimension"},
        BadInput{"order_of_training",
                 {{"/workload", kTraining}, {"/placement", R"({"order": ["tp", "xp", "pp"]})"}},
                 "/placement/order/1",
                 "unknown dimension \"xp\""},
        BadInput{"order_lacks_one",
                 {{"/workload", kTraining}, {"/placement", R"({"order": ["tp", "dp"]})"}},
                 "/placement/order",
                 "\"pp\" has size 2"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Stragglers, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"no_array", {{"/stragglers", "{}"}}, "/stragglers", "must be an array"},
        BadInput{"no_ranks", {{"/stragglers", R"([{"slowdown": 2}])"}}, "/stragglers/0/ranks", "missing"},
        BadInput{"empty_ranks",
                 {{"/stragglers", R"([{"ranks": [], "slowdown": 2}])"}},
                 "/stragglers/0/ranks",
                 "\"all\" or \"random\""},
        BadInput{"word", {{"/stragglers", R"([{"ranks": "any", "slowdown": 2}])"}}, "/stragglers/0/ranks", "known: all"},
        BadInput{"no_such_rank",
                 {{"/stragglers", R"([{"ranks": [0, 8], "slowdown": 2}])"}},
                 "/stragglers/0/ranks/1",
                 "ranks are 0 to 7"},
        BadInput{"neither", {{"/stragglers", R"([{"ranks": [0]}])"}}, "/stragglers/0", "neither late nor slow"},
        BadInput{
            "faster", {{"/stragglers", R"([{"ranks": [0], "slowdown": 0.5}])"}}, "/stragglers/0/slowdown", "between 1 and"},
        BadInput{"negative_delay",
                 {{"/stragglers", R"([{"ranks": [0], "delay_us": [1, -2]}])"}},
                 "/stragglers/0/delay_us/1",
                 "must not be negative"},
        BadInput{"empty_trace",
                 {{"/stragglers", R"([{"ranks": [0], "delay_us": []}])"}},
                 "/stragglers/0/delay_us",
                 "has no entry"},
        BadInput{"unknown_key",
                 {{"/stragglers", R"([{"ranks": [0], "slow_down": 2, "delay_us": 1}])"}},
                 "/stragglers/0/slow_down",
                 "did you mean slowdown?"},
        BadInput{"choice", {{"/collectives/straggler", "lazy"}}, "/collectives/straggler", "known: eager, predicted"},
        BadInput{"chosen_rank", {{"/collectives/straggler", "8"}}, "/collectives/straggler", "ranks are 0 to 7"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Controller, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"unknown", {{"/controller/name", "opuss"}}, "/controller/name", "did you mean opus?"},
        BadInput{"no_name", {{"/controller", "{}"}}, "/controller/name", "missing"},
        BadInput{"mode", {{"/controller/mode", "on-demand"}}, "/controller/mode", "did you mean on_demand?"},
        BadInput{"electrical_on_optical", {{"/controller/name", "electrical"}}, "/controller/name", "never light"},
        BadInput{"opus_on_electrical", {{"/cluster/rail", R"({"kind": "electrical"})"}}, "/controller/name", "no circuits"},
        BadInput{"mode_of_static",
                 {{"/controller", R"({"name": "static", "mode": "on_demand", "circuits": []})"}},
                 "/controller/mode",
                 "only opus, opus_artifact have it"},
        BadInput{"circuits_of_opus", {{"/controller/circuits", "[]"}}, "/controller/circuits", "only static has it"},
        BadInput{"static_without_circuits", {{"/controller/name", "static"}}, "/controller/circuits", "missing"},
        BadInput{"two_rails",
                 {{"/controller", R"({"name": "static", "circuits": [{"from": 0, "to": 3}]})"}},
                 "/controller/circuits/0",
                 "different rails"},
        BadInput{"circuit_gpu",
                 {{"/controller", R"({"name": "static", "circuits": [{"from": 0, "to": 9}]})"}},
                 "/controller/circuits/0/to",
                 "there is no GPU 9"},
        BadInput{"circuit_port",
                 {{"/controller", R"({"name": "static", "circuits": [{"from": 0, "to": 2, "to_port": 1}]})"}},
                 "/controller/circuits/0/to_port",
                 "there is no port 1"},
        BadInput{"circuit_to_itself",
                 {{"/controller", R"({"name": "static", "circuits": [{"from": 2, "to": 2}]})"}},
                 "/controller/circuits/0",
                 "to itself"},
        BadInput{"fibre_twice",
                 {{"/controller", R"({"name": "static", "circuits": [{"from": 0, "to": 2}, {"from": 0, "to": 4}]})"}},
                 "/controller/circuits/1",
                 "earlier circuit"},
        BadInput{"key_of_another_policy",
                 {{"/controller", R"({"name": "rotor", "width": 2})"}},
                 "/controller/width",
                 "only max_weight, mixnet, lru have it"},
        BadInput{"time_of_another_policy",
                 {{"/controller", R"({"name": "opus", "slot_us": 2})"}},
                 "/controller/slot_us",
                 "only rotor has it"},
        BadInput{"parameter_out_of_range",
                 {{"/controller", R"({"name": "rotor", "duty": 1})"}},
                 "/controller/duty",
                 "must be between 0.01 and 0.9999"},
        BadInput{"parameter_of_another_kind",
                 {{"/controller", R"({"name": "rotor", "paths": 2})"}},
                 "/controller/paths",
                 "string"},
        BadInput{"parameter_word",
                 {{"/controller", R"({"name": "rotor", "paths": "three_hop"})"}},
                 "/controller/paths",
                 "known: direct, two_hop"},
        BadInput{"parameter_time",
                 {{"/controller", R"({"name": "rotor", "slot_us": -1})"}},
                 "/controller/slot_us",
                 "must not be negative"},
        BadInput{
            "negative_service", {{"/controller/service_us", "-1"}}, "/controller/service_us", "must not be negative"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Execution, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"lanes", {{"/executor/comm_lanes", "two"}}, "/executor/comm_lanes", "known: per_communicator, one"},
        BadInput{"concurrent",
                 {{"/executor/concurrent_collectives", "both"}},
                 "/executor/concurrent_collectives",
                 "known: in_turn, together"},
        BadInput{"executor_key", {{"/executor/lanes", "one"}}, "/executor/lanes", "did you mean comm_lanes?"},
        BadInput{"algorithm", {{"/collectives/all_reduce", "rings"}}, "/collectives/all_reduce", "did you mean ring"},
        BadInput{"op", {{"/collectives/allreduce", "ring"}}, "/collectives/allreduce", "did you mean all_reduce or"},
        BadInput{"chunks", {{"/collectives/chunks", "0"}}, "/collectives/chunks", "from 1 to"},
        BadInput{"cannot_do",
                 {{"/collectives/all_reduce", "pairwise"}},
                 "/collectives/all_reduce",
                 "pairwise cannot do all_reduce among 8 members"},
        BadInput{"iterations", {{"/run/iterations", "0"}}, "/run/iterations", "from 1 to"},
        BadInput{"seed", {{"/run/seed", "-1"}}, "/run/seed", "but is -1"},
        BadInput{"accuracy", {{"/network/accuracy", "0.2"}}, "/network/accuracy", "0.1"},
        BadInput{"fidelity", {{"/run/fidelity", "fast"}}, "/run/fidelity", "known: stream, exact"},
        BadInput{"trace", {{"/run/trace", "true"}}, "/run/trace", "--trace"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Collective, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"none", {{"/workload", "{}"}}, "/workload", "exactly one of"},
        BadInput{"two", {{"/workload/graph", "g.json"}}, "/workload", "exactly one of"},
        BadInput{"kind", {{"/workload", R"({"trace": "x"})"}}, "/workload/trace", "known: chakra, kineto, training"},
        BadInput{"op", {{"/workload/collective/op", "send"}}, "/workload/collective/op", "unknown collective \"send\""},
        BadInput{"bytes", {{"/workload/collective/bytes", "0"}}, "/workload/collective/bytes", "from 1 to"},
        BadInput{"world",
                 {{"/workload/collective/ranks", "9"}},
                 "/workload/collective/ranks",
                 "9 ranks do not fit the cluster: 4 servers x 2 GPUs = 8 (set /cluster/servers to 5"},
        BadInput{"late_rank",
                 {{"/workload/collective/arrival_delay_us", R"({"8": 1})"}},
                 "/workload/collective/arrival_delay_us/8",
                 "no such rank"},
        BadInput{"late_word",
                 {{"/workload/collective/arrival_delay_us", R"({"last": 1})"}},
                 "/workload/collective/arrival_delay_us/last",
                 "no such rank"},
        BadInput{"root", {{"/workload/collective/root", "1"}}, "/workload/collective/root", "has no root"},
        BadInput{"root_range",
                 {{"/workload/collective/op", "broadcast"}, {"/workload/collective/root", "8"}},
                 "/workload/collective/root",
                 "from 0 to 7"},
        BadInput{"algorithm",
                 {{"/workload/collective/algorithm", "pairwise"}},
                 "/workload/collective/algorithm",
                 "these can: "}}),
    kName);

INSTANTIATE_TEST_SUITE_P(Training, BadScenario,
                         ::testing::ValuesIn(std::vector<BadInput>{
                             BadInput{"model",
                                      {{"/workload", kTraining}, {"/workload/training/model", "llama9"}},
                                      "/workload/training/model",
                                      "llama9"},
                             BadInput{"model_key",
                                      {{"/workload", kTraining}, {"/workload/training/model/layer", "9"}},
                                      "/workload/training/model/layer",
                                      "did you mean layers or layer_norm?"},
                             BadInput{"cp",
                                      {{"/workload", kTraining}, {"/workload/training/parallelism/cp", R"(2)"}},
                                      "/workload/training/parallelism",
                                      R"(16 ranks do not fit the cluster)"},
                             BadInput{"cp_divides",
                                      {{"/workload", kTraining}, {"/workload/training/parallelism", R"({"cp": 3})"}},
                                      "/workload/training/parallelism/cp",
                                      R"(128 is not a multiple of 3)"},
                             BadInput{"ep_without_experts",
                                      {{"/workload", kTraining}, {"/workload/training/parallelism/ep", R"(2)"}},
                                      "/workload/training/parallelism/ep",
                                      R"(no experts)"},
                             BadInput{"ep_in_order",
                                      {{"/workload", kTraining}, {"/placement", R"({"order": ["tp", "ep", "dp", "pp"]})"}},
                                      "/placement/order/1",
                                      R"(no place of its own)"},
                             BadInput{"virtual_stages",
                                      {{"/workload", kTraining},
                                       {"/workload/training/parallelism/virtual_stages", R"(4)"},
                                       {"/workload/training/schedule", R"(interleaved)"}},
                                      "/workload/training/parallelism/virtual_stages",
                                      R"(8 stages for 4 layers)"},
                             BadInput{"virtual_stages_divide",
                                      {{"/workload", kTraining},
                                       {"/workload/training/model/layers", R"(6)"},
                                       {"/workload/training/parallelism/virtual_stages", R"(2)"},
                                       {"/workload/training/schedule", R"(interleaved)"}},
                                      "/workload/training/parallelism/virtual_stages",
                                      R"(6 is not a multiple of 4)"},
                             BadInput{"chunks",
                                      {{"/workload", kTraining}, {"/workload/training/parallelism/virtual_stages", "2"}},
                                      "/workload/training/parallelism/virtual_stages",
                                      "has one model chunk a stage, not 2"},
                             BadInput{"router_without_experts",
                                      {{"/workload", kTraining}, {"/workload/training/moe", R"({"router": "zipf"})"}},
                                      "/workload/training/moe",
                                      "no tokens travel to experts"}}),
                         kName);

INSTANTIATE_TEST_SUITE_P(
    TrainingFurther, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"router",
                 {{"/workload", kTraining}, {"/workload/training/moe", R"({"router": "zip"})"}},
                 "/workload/training/moe/router",
                 "zipf"},
        BadInput{"zero1_and_fsdp",
                 {{"/workload", kTraining},
                  {"/workload/training/parallelism/zero1", R"(true)"},
                  {"/workload/training/parallelism/fsdp", R"(true)"}},
                 "/workload/training/parallelism/zero1",
                 R"(shards the optimizer already)"},
        BadInput{"fsdp_options",
                 {{"/workload", kTraining}, {"/workload/training/fsdp", R"({"prefetch": 2})"}},
                 "/workload/training/fsdp",
                 R"(not sharded)"},
        BadInput{"reduction_of_replicas",
                 {{"/workload", kTraining}, {"/workload/training/gradients", R"({"every_micro_batch": true})"}},
                 "/workload/training/gradients/every_micro_batch",
                 R"(only fsdp)"},
        BadInput{"bucket",
                 {{"/workload", kTraining}, {"/workload/training/gradients", R"({"bucket_mb": -1})"}},
                 "/workload/training/gradients/bucket_mb",
                 R"(-1)"},
        BadInput{"gradient_key",
                 {{"/workload", kTraining}, {"/workload/training/gradients", R"({"cliping": true})"}},
                 "/workload/training/gradients/cliping",
                 R"(known: every_micro_batch)"},
        BadInput{"recompute",
                 {{"/workload", kTraining}, {"/workload/training/recompute", R"(some)"}},
                 "/workload/training/recompute",
                 R"(did you mean none?)"},
        BadInput{"world",
                 {{"/workload", kTraining}, {"/workload/training/parallelism/dp", "1000000"}},
                 "/workload/training/parallelism",
                 "4000000 ranks do not fit the cluster: 4 servers x 2 GPUs = 8"},
        BadInput{"schedule",
                 {{"/workload", kTraining}, {"/workload/training/schedule", "1f2b"}},
                 "/workload/training/schedule",
                 "did you mean 1f1b?"},
        BadInput{"precision",
                 {{"/workload", kTraining}, {"/workload/training/precision", R"({"parameters": "int3"})"}},
                 "/workload/training/precision/parameters",
                 "fp8"},
        BadInput{"sizes",
                 {{"/workload", kTraining}, {"/placement", R"({"order": ["a"], "rank_order": ["a"], "sizes": {"a": 8}})"}},
                 "/placement/sizes",
                 "/workload/training/parallelism"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Files, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"no_variable",
                 {{"/workload", R"({"chakra": {"prefix": "${PHOTONRAIL_TEST_UNSET}/x"}})"}},
                 "/workload/chakra/prefix",
                 "variable PHOTONRAIL_TEST_UNSET is not set"},
        BadInput{"open_variable", {{"/workload", R"({"graph": "${HOME"})"}}, "/workload/graph", "without \"}\""},
        BadInput{"empty_path", {{"/workload", R"({"graph": ""})"}}, "/workload/graph", "empty"},
        BadInput{"element_bytes",
                 {{"/workload", R"({"chakra": {"prefix": "x", "element_bytes": 2}})"}},
                 "/workload/chakra/element_bytes",
                 "\"elements\""},
        BadInput{"dimension",
                 {{"/workload", R"({"chakra": {"prefix": "x", "dimensions": {"1": "zp"}}})"}},
                 "/workload/chakra/dimensions/1",
                 "zp"}}),
    kName);

INSTANTIATE_TEST_SUITE_P(
    Overrides, BadScenario,
    ::testing::ValuesIn(std::vector<BadInput>{
        BadInput{"below_a_number", {{"/cluster/servers/x", "1"}}, "/cluster/servers/x", "/cluster/servers, which is 4"},
        BadInput{"below_a_preset",
                 {{"/cluster/gpu", "h200"}, {"/cluster/gpu/memory_gb", "80"}},
                 "/cluster/gpu/memory_gb",
                 R"({"preset": "h200", ...})"},
        BadInput{"no_element", {{"/placement/rank_to_gpu/8", "0"}}, "/placement/rank_to_gpu/8", "array of 8"},
        BadInput{"broken_json", {{"/cluster/nic", "{\"ports\": "}}, "/cluster/nic", "broken JSON"},
        BadInput{"no_slash", {{"cluster", "1"}}, "cluster", "begin with '/'"}}),
    kName);

TEST(ScenarioFile, MissingFileAndFolderAreNamed) {
  const auto folder = std::filesystem::temp_directory_path();
  EXPECT_THAT(error_of([&] { static_cast<void>(read_scenario(folder / "photonrail-no-such.json")); }).what(),
              HasSubstr("photonrail-no-such.json: no such file"));
  EXPECT_THAT(error_of([&] { static_cast<void>(read_scenario(folder)); }).what(), HasSubstr("is a folder"));
}

TEST(ScenarioFile, ATraceThatIsNotThereIsNamedBelowThePointerOfItsKey) {
  const std::vector<Override> chakra{{"/workload", R"({"chakra": {"prefix": "no/trace"}})"}};
  const std::vector<Override> graph{{"/workload", R"({"graph": "no-graph.json"})"}};
  const auto text = [](const std::vector<Override>& changes) {
    return std::string(error_of([&] { static_cast<void>(parse_scenario(kGood, "/nowhere", "s.json", changes)); }).what());
  };
  EXPECT_THAT(text(chakra), StartsWith("s.json: /workload/chakra: /nowhere/no/trace"));
  EXPECT_THAT(text(graph), StartsWith("s.json: /workload/graph: /nowhere/no-graph.json"));
}

TEST(ScenarioText, SyntaxErrorsHaveLineAndColumn) {
  const auto where = [](std::string_view text) {
    return error_of([&] { static_cast<void>(parse_scenario(text, ".", "s.json")); }).where();
  };
  EXPECT_EQ(where("{\n\"schema\": nan}"), "s.json:2:12");
  EXPECT_EQ(where(kGood.substr(0, 40)), "s.json:3:2");  // lines of 1 and 36 characters, then one of 1
  EXPECT_EQ(where("[]"), "s.json");
}

TEST(ScenarioText, OpticalRailsNeedAController) {
  constexpr std::string_view kNoController = R"({"schema": "photonrail.scenario/1",
    "cluster": {"servers": 2, "gpus_per_server": 1, "rail": {"kind": "optical", "switch": {"reconfiguration_ms": 1}}},
    "workload": {"collective": {"op": "all_reduce", "bytes": 8}}})";
  const ConfigError error = error_of([&] { static_cast<void>(parse_scenario(kNoController, ".", "s.json")); });
  EXPECT_EQ(error.where(), "s.json: /controller");
  EXPECT_THAT(error.hint(), HasSubstr("opus"));
}

}  // namespace
}  // namespace photonrail
