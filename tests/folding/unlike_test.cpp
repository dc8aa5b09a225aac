// Jobs that look alike from several ranks but for one thing: folded or not they end in the same result, in which that thing
// counts. And jobs on servers of their own, which run as if alone only where they truly meet nowhere.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/folded.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kServers = 4;  // of a job, two GPUs each

Json training_of_servers() {
  return {{"model", {{"layers", 4}, {"hidden", 128}, {"ffn", 256}, {"heads", 16}, {"kv_heads", 8}, {"vocabulary", 512}}},
          {"sequence", 128},
          {"global_batch", 8},
          {"parallelism", {{"tp", 2}, {"pp", 2}, {"dp", kServers / 2}}}};
}

Json alike(bool optical, std::uint32_t servers) {
  Json scenario = Json::parse(R"({"schema": "photonrail.scenario/1", "name": "alike",
    "cluster": {"gpus_per_server": 2, "gpu": {"peak_tflops": 900, "memory_gb_per_s": 3000},
      "nic": {"port_gb_per_s": 50, "latency_us": 1}, "rail": {"kind": "electrical", "radix": 64}},
    "run": {"fidelity": "exact", "iterations": 2, "spread_seeds": 0}})");
  scenario["cluster"]["servers"] = servers;
  if (optical) {
    scenario["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 0.02}}}};
    scenario["controller"] = {{"name", "opus"}, {"mode", "provisioned"}};  // without anomalies of order
  }
  return scenario;
}

Json one_job(bool optical) {
  Json scenario = alike(optical, kServers);
  scenario["workload"]["training"] = training_of_servers();
  return scenario;
}

Json two_jobs(bool optical) {
  Json scenario = alike(optical, 2 * kServers);
  for (std::uint32_t j = 0; j < 2; ++j) {
    Json job;
    job["workload"]["training"] = training_of_servers();
    for (std::uint32_t s = 0; s < kServers; ++s) job["servers"].push_back(j * kServers + s);
    scenario["jobs"].push_back(job);
  }
  return scenario;
}

RunResult expect_file_same_folded(const Json& scenario) {
  return test::expect_same_folded(parse_scenario(scenario.dump(), "."));
}

/// What makes something unlike, as a patch of a scenario (RFC 7396).
struct Unlike {
  const char* name;
  Json patch;
  bool electrical = true;
  bool optical = true;
};

std::vector<Unlike> unlike_parts() {
  const auto rail = [](Json faults) {
    return Json{{"cluster", {{"rail", {{"faults", Json::array({std::move(faults)})}}}}}};
  };
  const auto on_switch = [](Json keys) { return Json{{"cluster", {{"rail", {{"switch", std::move(keys)}}}}}}; };
  const auto gpus = [](Json unlike) { return Json{{"cluster", {{"unlike_gpus", Json::array({std::move(unlike)})}}}}; };
  Json two_ports = rail({{"kind", "slow"}, {"server", 1}, {"port", 1}, {"rate", 0.5}});
  two_ports["cluster"]["nic"]["ports"] = 2;
  return {
      {"the NICs of a server", rail({{"kind", "slow"}, {"server", 1}, {"rate", 0.5}})},
      {"one NIC", rail({{"kind", "slow"}, {"server", 1}, {"rail", 1}, {"rate", 0.5}})},
      {"a rail", rail({{"kind", "slow"}, {"rail", 1}, {"rate", 0.5}})},
      {"all NICs", rail({{"kind", "slow"}, {"rate", 0.5}})},
      {"a NIC from a time on", rail({{"kind", "slow"}, {"server", 1}, {"rate", 0.5}, {"at_ms", 0.03}})},
      {"one of two ports", two_ports, false},
      {"the GPUs of a server", gpus({{"servers", {1}}, {"speed", 0.5}})},
      {"a GPU of each server", gpus({{"servers", {0, 1, 2, 3}}, {"gpus", {1}}, {"speed", 0.5}})},
      {"a model of GPUs", gpus({{"servers", {1}}, {"gpu", {{"peak_tflops", 300}, {"memory_gb_per_s", 1000}}}})},
      {"a server that stops", {{"server_faults", Json::array({{{"server", 1}, {"at_ms", 0.02}, {"lasts_ms", 0.05}}})}}},
      {"a switch that is dark as a whole", on_switch({{"dark", "switch"}}), false},
      {"a switch that collects commands", on_switch({{"batching_us", 3}}), false},
      {"a controller that serves in turn", {{"controller", {{"service_us", 3}}}}, false},
  };
}

// The thing counts: without it the job ends at another time, in each of the four settings.
TEST(FoldingUnlike, PartsOfTheClusterCount) {
  for (const Unlike& unlike : unlike_parts()) {
    for (const bool optical : {false, true}) {
      if (!(optical ? unlike.optical : unlike.electrical)) continue;
      SCOPED_TRACE(std::string(unlike.name) + (optical ? ", optical" : ", electrical"));
      Json one = one_job(optical);
      Json two = two_jobs(optical);
      const Duration alike = simulate(parse_scenario(one.dump(), ".")).makespan;
      one.merge_patch(unlike.patch);
      two.merge_patch(unlike.patch);
      EXPECT_NE(expect_file_same_folded(one).makespan, alike);
      EXPECT_NE(expect_file_same_folded(two).makespan, alike);
    }
  }
}

// One slow or late rank of one of two jobs; the other one stays as it is.
TEST(FoldingUnlike, RanksOfAJobCount) {
  for (const char* const text :
       {R"([{"ranks": [1], "slowdown": 2}])", R"([{"ranks": [5], "delay_us": 200}])",
        R"([{"ranks": [0, 1, 2, 3], "delay_us": [20, 0, 50]}])", R"([{"ranks": [1], "at_ms": 0.02, "slowdown": 3}])",
        R"([{"ranks": "random", "slowdown": 2}])"}) {
    for (const bool optical : {false, true}) {
      for (const std::uint32_t steps : {2, 30}) {
        for (const double start : {0.0, 2e-5}) {
          SCOPED_TRACE(std::string(text) + (optical ? ", optical" : ", electrical") + ", starts at " +
                       std::to_string(start));
          Json two = two_jobs(optical);
          two["run"]["iterations"] = steps;
          two["jobs"][1]["stragglers"] = Json::parse(text);
          two["jobs"][1]["start_s"] = start;
          const RunResult result = expect_file_same_folded(two);
          EXPECT_GT(result.jobs[1].makespan, result.jobs[0].makespan);
        }
      }
    }
  }
}

std::string off_of(const Json& scenario) { return expect_file_same_folded(scenario).folding.off; }

// Jobs of other policies each have their own controllers: they meet nowhere, whichever two they are.
TEST(FoldingUnlike, JobsOfUnlikeControllersRunAsIfAlone) {
  for (const char* const first : {"opus", "coalesce", "phases", "lru", "polling"}) {
    for (const char* const second : {"opus", "coalesce"}) {
      SCOPED_TRACE(std::string(first) + " beside " + second);
      Json two = two_jobs(true);
      two["jobs"][0]["controller"] = {{"name", first}};
      two["jobs"][1]["controller"] = {{"name", second}};
      two["jobs"][1]["start_s"] = 1.3e-5;
      const RunResult result = expect_file_same_folded(two);
      EXPECT_LT(result.folding.classes, result.folding.ranks);
      EXPECT_EQ(result.jobs[1].makespan, result.jobs[1].alone);
    }
  }
}

// Servers of a leaf of two jobs, so that both send over its uplinks; links between sites; pods that a job spans; a server
// of both. Where they do not meet, as in a pod each, they run as if alone.
TEST(FoldingUnlike, JobsThatMeetAreRunTogether) {
  Json in_turn = two_jobs(false);
  for (std::uint32_t j = 0; j < 2; ++j) in_turn["jobs"][j]["servers"] = {j, 2 + j, 4 + j, 6 + j};
  EXPECT_EQ(off_of(in_turn), "") << "one switch that does not block";
  Json narrow = in_turn;
  narrow["cluster"]["rail"] = {{"kind", "electrical"}, {"radix", 4}, {"oversubscription", 3}};
  EXPECT_EQ(off_of(narrow), "several jobs share the cluster");
  EXPECT_GT(expect_file_same_folded(narrow).jobs[0].makespan, expect_file_same_folded(narrow).jobs[0].alone);
  Json uplinks = in_turn;
  uplinks["cluster"]["rail"] = {{"kind", "electrical"}, {"radix", 4}, {"uplinks", {{"routing", "hash"}}}};
  EXPECT_EQ(off_of(uplinks), "several jobs share the cluster");
  Json sites = in_turn;
  sites["cluster"]["sites"] = Json::parse(R"({"servers": [4, 4], "links": [{"between": [0, 1], "gb_per_s": 20}]})");
  EXPECT_EQ(off_of(sites), "several jobs share the cluster");
  EXPECT_GT(expect_file_same_folded(sites).jobs[0].makespan, expect_file_same_folded(sites).jobs[0].alone);
  Json pods = two_jobs(true);
  pods["cluster"]["rail"]["pods"] = {{"servers", 4}, {"joined_by", "electrical"}, {"oversubscription", 2}};
  EXPECT_EQ(off_of(pods), "");
  pods["cluster"]["rail"]["pods"]["servers"] = 3;
  EXPECT_EQ(off_of(pods), "several jobs share the cluster");
}

// Bytes that do not divide, and numbers of servers that are no powers of two: what an algorithm does with the rest.
TEST(FoldingUnlike, OddSizesAndNumbersOfServers) {
  int folded = 0;
  for (const std::uint32_t servers : {2, 3, 5, 6, 7}) {
    for (const char* const algorithm : {"ring", "hierarchical", "direct", "bruck", "halving_doubling", "ring_bidirectional",
                                        "double_binary_tree", "pairwise", "one_factorisation"}) {
      for (const std::uint64_t bytes : {std::uint64_t{840 * 840}, std::uint64_t{1000003}}) {
        const std::string name = algorithm;
        const bool exchange = name == "pairwise" || name == "one_factorisation";
        Json job = alike(false, servers);
        job["workload"]["collective"] = {{"op", exchange ? "all_to_all" : "all_reduce"},
                                         {"bytes", bytes * (exchange ? 2 * servers : 1)},
                                         {"algorithm", name}};
        SCOPED_TRACE(job["workload"].dump() + " of " + std::to_string(servers) + " servers");
        const RunResult result = expect_file_same_folded(job);
        folded += result.folding.classes < result.folding.ranks ? 1 : 0;
      }
    }
  }
  EXPECT_GT(folded, 30);
}

// One pair exchanges more than the others, or one expert is chosen more often.
TEST(FoldingUnlike, UnevenDemandsCount) {
  for (const bool optical : {false, true}) {
    Json even = alike(optical, 4);
    even["workload"]["collective"] = Json::parse(R"({"op": "all_to_all", "moe": {"experts": 8, "top_k": 2, "tokens": 512,
      "hidden": 256, "router": "uniform"}, "algorithm": "pairwise"})");
    Json uneven = even;
    uneven["workload"]["collective"]["moe"]["router"] = "zipf";
    EXPECT_GT(expect_file_same_folded(uneven).makespan, expect_file_same_folded(even).makespan);
  }
}

// Two jobs on servers of their own meet nowhere; but one stands still with operations that hold a rail each, and has its
// controllers look again when no event is left, those of the other job too. Drawn as 101141.
TEST(FoldingUnlike, AJobThatStandsStillWaitsForTheOthers) {
  const RunResult result = expect_file_same_folded(Json::parse(R"({"schema":"photonrail.scenario/1","name":"drawn",
    "cluster":{"gpu":{"memory_gb_per_s":3000,"peak_tflops":900},"gpus_per_server":4,"servers":12,
      "nic":{"latency_ns":0.0,"port_gb_per_s":33.3},"scale_up":{"latency_ns":0.0},
      "rail":{"kind":"optical","switch":{"reconfiguration_ms":10.0}}},
    "controller":{"command_us":1,"name":"lru","request_us":5},
    "jobs":[{"placement":{"order":["tp","pp","dp","cp"]},"servers":[0,2,4,6,8,10],
        "workload":{"training":{"global_batch":12,"gradients":{"clip":true},"schedule":"zb_h1","sequence":64,
          "model":{"ffn":128,"heads":8,"hidden":64,"kv_heads":4,"layers":8,"vocabulary":256,
            "moe":{"experts":6,"ffn":32,"top_k":2}},
          "parallelism":{"cp":2,"dp":3,"ep":3,"pp":4,"tp":1}}}},
      {"controller":{"command_us":1,"name":"polling"},"placement":{"order":["cp","pp","tp","dp"]},
        "servers":[1,3,5,7,9,11],
        "workload":{"training":{"global_batch":24,"schedule":"1f1b","sequence":64,
          "model":{"ffn":128,"heads":8,"hidden":64,"kv_heads":4,"layers":8,"vocabulary":256,
            "moe":{"experts":6,"ffn":32,"top_k":1}},
          "parallelism":{"cp":2,"dp":3,"ep":3,"pp":4,"tp":1}}}}],
    "run":{"fidelity":"stream","iterations":1,"spread_seeds":0}})"));
  ASSERT_EQ(result.jobs.size(), 2u);
  EXPECT_EQ(result.jobs[1].folding.off, "several jobs share the cluster");
  EXPECT_GT(result.jobs[1].makespan, result.jobs[1].alone) << "the other job has ended before: the case says nothing";
}

// Two ports a NIC, and circuits of a class to itself: messages of one instant that share no port give up circuits to GPUs
// where others take some, and which of their ports are taken depends on whose turn is first. Drawn as 100261.
TEST(FoldingUnlike, CircuitsThatAreGivenUpFreePortsForOthers) {
  const RunResult result = expect_file_same_folded(Json::parse(R"({"schema":"photonrail.scenario/1","name":"drawn",
    "cluster":{"gpu":{"memory_gb_per_s":3000,"peak_tflops":900},"gpus_per_server":2,"servers":8,
      "nic":{"latency_ns":936.25,"port_gb_per_s":33.3,"ports":2},"scale_up":{"latency_ns":0.0},
      "rail":{"kind":"optical","switch":{"reconfiguration_ms":0.02}}},
    "collectives":{"all_gather":"hierarchical","all_reduce":"ring","all_to_all":"direct","reduce_scatter":"ring"},
    "controller":{"command_us":1,"name":"opus"},
    "workload":{"training":{"global_batch":16,"gradients":{"clip":true},"schedule":"zb_h1","sequence":64,
      "model":{"ffn":128,"heads":8,"hidden":64,"kv_heads":4,"layers":8,"vocabulary":256,
        "moe":{"experts":4,"ffn":32,"top_k":1}},
      "parallelism":{"cp":2,"dp":2,"ep":2,"pp":4,"tp":1}}},
    "run":{"fidelity":"exact","iterations":2,"spread_seeds":0}})"));
  EXPECT_EQ(result.folding.classes, result.folding.ranks);
}

}  // namespace
}  // namespace photonrail::test
