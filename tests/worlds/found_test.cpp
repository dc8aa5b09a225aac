// What long campaigns found, made small: nothing is wrong with it any more.
#include "worlds/judge.hpp"

#include <gtest/gtest.h>

namespace photonrail::worlds {
namespace {

struct Found {
  const char* law;  // that is examined beside what holds of every run
  const char* scenario;
};

const Found kFound[] = {
    // A switch of minutes on a fast port loses more bytes than 64 bits hold.
    {"", R"({"schema":"photonrail.scenario/1","cluster":{"servers":2,"gpus_per_server":1,)"
         R"("nic":{"port_gb_per_s":250000000.0},"rail":{"kind":"optical","switch":"telescent_robotic"}},)"
         R"("controller":{"name":"solstice"},"workload":{"collective":{"op":"all_gather","bytes":1}}})"},
    // The same, of a layer of experts.
    {"", R"({"schema":"photonrail.scenario/1","cluster":{"servers":2,"gpus_per_server":1,)"
         R"("nic":{"port_gb_per_s":250000000.0},"rail":{"kind":"optical","switch":"telescent_robotic"}},)"
         R"("controller":{"name":"solstice"},"workload":{"moe_layer":{"experts":2,"top_k":1,"tokens":1,"hidden":1,"ffn":1,)"
         R"("execution":"pipelined"}}})"},
    // Bounds are of tasks that are known; an agent among the jobs is refused.
    {"", R"({"schema":"photonrail.scenario/1","cluster":{"servers":1,"gpus_per_server":2,"rail":{"kind":"optical",)"
         R"("switch":{"reconfiguration_us":0}}},"jobs":[{"workload":{"collective":{"op":"barrier"}},)"
         R"("controller":{"name":"oracle"}}],"agents":{}})"},
    // Latencies of a way over many circuits are longer than a run may be.
    {"", R"({"schema":"photonrail.scenario/1","cluster":{"servers":16,"gpus_per_server":1,)"
         R"("nic":{"latency_ns":1000000000000000.0},"rail":{"kind":"optical","switch":{"reconfiguration_us":0.0},)"
         R"("forwarding":true,"faults":[{"kind":"stuck","at_us":1.0}]}},"controller":{"name":"max_weight"},)"
         R"("workload":{"collective":{"op":"all_to_all","moe":{"experts":16,"top_k":1,"tokens":11,"hidden":1},)"
         R"("algorithm":"direct"}}})"},
    // Turns that differ between rails: two collectives each had one rail.
    {"", R"({"schema":"photonrail.scenario/1","cluster":{"servers":4,"gpus_per_server":3,"nic":{"ports":2},)"
         R"("rail":{"kind":"optical","switch":"rotor"}},"controller":{"name":"polling"},)"
         R"("workload":{"graph":{"schema":"photonrail.graph/1","ranks":12,"communicators":{"g0":{"ranks":[1,2,3,8,11]},)"
         R"("g1":{"ranks":[0,1,2,4,5,6,8,10]},"g2":{"ranks":[0,1,2,3,4,5,6,7,8,9,10,11]}},"tasks":[{"rank":[11],)"
         R"("send_to":7,"bytes":1,"tag":2},{"rank":[7],"id":"t3","receive_from":11,"bytes":1,"tag":2},{"rank":[1,2,3,8,)"
         R"(11],"id":"t5","collective":"all_to_all","communicator":"g0","demand":[[0,0,0,0,0],[0,0,0,0,0],[0,0,0,0,0],[0,)"
         R"(0,0,0,0],[0,0,0,0,0]]},{"rank":[1,2,3,8,11],"collective":"all_to_all","communicator":"g0","bytes":261897},)"
         R"({"rank":[0,1,2,4,5,6,8,10],"collective":"all_to_all","communicator":"g1","bytes":100000},{"rank":[0,1,2,3,4,5,)"
         R"(6,7,8,9,10,11],"collective":"all_to_all","communicator":"g2","bytes":100000}]}},)"
         R"("collectives":{"all_to_all":"birkhoff"}})"},
    // The same, of launches.
    {"", R"({"schema":"photonrail.scenario/1","cluster":{"servers":4,"gpus_per_server":2,"nic":{"port_gb_per_s":25.0},)"
         R"("rail":{"kind":"optical","switch":{"reconfiguration_us":0.0}}},"controller":{"name":"polling"},)"
         R"("workload":{"collective":{"op":"barrier","ranks":7}},"agents":{"launches":28}})"},
    // Circuits of another round that no port could have.
    {"", R"({"schema":"photonrail.scenario/1","cluster":{"servers":5,"gpus_per_server":2,"rail":{"kind":"optical",)"
         R"("switch":{"preset":"dicon_mems"}}},"controller":{"name":"harvest","other_rounds":true},)"
         R"("collectives":{"reduce_scatter":"bruck","all_reduce":"direct"},)"
         R"("workload":{"training":{"model":{"layers":1,"hidden":2,"ffn":2,"heads":2,"kv_heads":1,"vocabulary":2},)"
         R"("sequence":2,"global_batch":4,"parallelism":{"tp":2,"dp":4,"zero1":true},"average_loss":true},)"
         R"("checkpoint":{"to":"storage"}},"run":{"iterations":2}})"},
    // Blocks of KV that never comes: the only running request gave up its own again and again.
    {"", R"({"schema":"photonrail.scenario/1","cluster":{"servers":4,"gpus_per_server":1,"gpu":{"peak_tflops":1,)"
         R"("memory_gb_per_s":512,"memory_gb":80},"rail":{"kind":"optical","switch":{"reconfiguration_us":20}}},)"
         R"("controller":{"name":"static","circuits":[{"from":0,"to":3}]},"workload":{"serving":{"model":"llama3_8b",)"
         R"("requests":{"arrivals":{"per_s":20000},"input":{"distribution":"normal","mean":20,"deviation":9},)"
         R"("output":{"distribution":"uniform","least":1,"greatest":60},"count":60},"pools":[{"role":"prefill",)"
         R"("servers":[0,1,2]},{"role":"decode"}],"engine":{"max_sequences":1,"long_prefill_tokens":5,"blocks":3,)"
         R"("prefix_caching":false}}}})"},
    // A mesh has room for too few circuits.
    {"", R"({"schema":"photonrail.scenario/1","cluster":{"servers":8,"gpus_per_server":1,"nic":{"port_gb_per_s":1.0,)"
         R"("message_overhead_ns":1.0},"rail":{"kind":"optical","switch":{"reconfiguration_us":0.0,"pip":{"rows":1,)"
         R"("columns":2}}}},"controller":{"name":"polling"},"collectives":{"all_reduce":"recursive_doubling"},)"
         R"("workload":{"collective":{"op":"barrier","ranks":4}},"run":{"seed":18446744073709551615},)"
         R"("agents":{"launches":35}})"},
    // A graph without the other end is no fault.
    {"", R"({"schema":"photonrail.scenario/1","cluster":{"servers":1,"gpus_per_server":2,"rail":{"kind":"electrical"}},)"
         R"("workload":{"graph":{"schema":"photonrail.graph/1","ranks":2,"communicators":{"g0":{"ranks":[0,1]}},)"
         R"("tasks":[{"rank":[0],"collective":"barrier","communicator":"g0"}]}}})"},
    // Links inside a server are not re-pointed: NICs have no effect on matchings there.
    {"notes",
     R"({"schema":"photonrail.scenario/1","cluster":{"servers":1,"gpus_per_server":2,"rail":{"kind":"optical",)"
     R"("switch":"awgr_tunable_laser"}},"controller":{"name":"opus_artifact","acknowledgement_us":1.0},)"
     R"("workload":{"moe_layer":{"experts":4,"top_k":3,"tokens":4,"hidden":878,"router":{"kind":"dirichlet"},"ffn":1,)"
     R"("execution":"bulk"}},"collectives":{"all_to_all":"greedy_matchings"}})"},
    // Ranks of one server share the NIC of a local index.
    {"notes", R"({"schema":"photonrail.scenario/1","cluster":{"servers":3,"gpus_per_server":3,"nic":{"port_gb_per_s":1.0},)"
              R"("rail":{"kind":"optical","switch":"rotor"}},"controller":{"name":"phases"},)"
              R"("workload":{"collective":{"op":"all_reduce","algorithm":"recursive_doubling","bytes":15827}}})"},
    // A mean of equal uplinks is theirs but for rounding.
    {"notes", R"({"schema":"photonrail.scenario/1","cluster":{"servers":3,"gpus_per_server":2,"nic":{"ports":3,)"
              R"("message_overhead_ns":20000.0},"rail":{"kind":"electrical","radix":8,"uplinks":{"routing":"equal"}}},)"
              R"("workload":{"collective":{"op":"reduce","ranks":2,"bytes":65536}},"placement":{"rank_to_gpu":[1,5]}})"},
    // An accuracy without an effect leaves the results as they are.
    {"notes", R"({"schema":"photonrail.scenario/1","cluster":{"servers":4,"gpus_per_server":4},)"
              R"("workload":{"collective":{"op":"all_to_all","moe":{"experts":16,"top_k":1,"tokens":47,"hidden":1,)"
              R"("router":{"kind":"zipf"}},"algorithm":"direct","repeat":2}},"network":{"accuracy":0.01}})"},
};

TEST(Found, IsMended) {
  for (const Found& found : kFound) {
    JudgeOptions options;
    options.only_law = found.law;
    const Verdict verdict = judge({0, Json::parse(found.scenario)}, options);
    EXPECT_EQ(verdict.symptom, "") << verdict.detail << '\n' << found.scenario;
  }
}

}  // namespace
}  // namespace photonrail::worlds
