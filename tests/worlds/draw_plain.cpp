// Plain worlds: one job alone on optical rails, where nothing but bytes, messages and switching takes time. The strictest
// laws hold for these (what a policy makes of its ports, rails and circuits), and the mixture of everything seldom meets
// them.
#include "photonrail/controller.hpp"
#include "worlds/world.hpp"

namespace photonrail::worlds {

namespace {

Json draw_plain_cluster(Dice& dice, Extent& extent) {
  extent.servers = dice.from_to(2, 6);
  extent.gpus_per_server = dice.pick<std::uint32_t>({1, 2, 2, 4, 4, 8});
  extent.ports = dice.pick<std::uint32_t>({1, 1, 2, 2, 3, 4});
  extent.optical = true;
  Json rail{{"kind", "optical"}, {"switch", {{"reconfiguration_us", dice.pick<double>({0, 10, 1000, 100000})}}}};
  if (dice.one_in(4)) rail["forwarding"] = true;
  return {{"servers", extent.servers},
          {"gpus_per_server", extent.gpus_per_server},
          {"gpu", {{"peak_tflops", 1000}, {"memory_gb_per_s", 4096}}},
          {"scale_up", {{"gb_per_s", 450}, {"latency_ns", 500}}},
          {"nic",
           {{"ports", extent.ports},
            {"port_gb_per_s", dice.pick<double>({25, 50})},
            {"latency_ns", dice.pick<double>({0, 1000})},
            {"message_overhead_ns", dice.pick<double>({0, 10})}}},
          {"rail", rail}};
}

Json draw_all_ranks(Dice& dice, const Extent& extent) {
  const std::string op = dice.pick<std::string>({"all_to_all", "all_to_all", "all_reduce", "all_gather"});
  return {{"collective",
           {{"op", op}, {"ranks", extent.gpus()}, {"bytes", dice.pick<std::uint64_t>({65536, 1000000, 64 << 20})}}}};
}

// A stage a server, tensor parallelism within it: only the pipeline crosses rails.
Json draw_pipeline(Dice& dice, const Extent& extent) {
  const std::uint32_t tp = extent.gpus_per_server;
  const std::uint32_t pp = extent.servers;
  Json training{{"model",
                 {{"layers", pp * dice.from_to(1, 2)},
                  {"hidden", 64 * tp},
                  {"ffn", 128 * tp},
                  {"heads", 2 * tp},
                  {"kv_heads", tp},
                  {"vocabulary", 64 * tp}}},
                {"sequence", 32 * tp},
                {"global_batch", pp * dice.from_to(1, 2)},
                {"schedule", dice.one_in(4) ? "gpipe" : "1f1b"},
                {"parallelism", {{"tp", tp}, {"pp", pp}, {"dp", 1}}}};
  return {{"training", training}};
}

}  // namespace

Json draw_plain(Dice& dice) {
  Extent extent;
  Json scenario{{"cluster", draw_plain_cluster(dice, extent)}};
  const std::string policy = dice.pick<std::string>({"opus", "opus", "opus", "lru", "coalesce", "max_weight", "mixnet",
                                                     "bvn", "solstice", "polling", "topoopt", "static_split", "oracle"});
  scenario["controller"] = {{"name", policy}};
  scenario["workload"] = dice.one_in(3) ? draw_pipeline(dice, extent) : draw_all_ranks(dice, extent);
  if (scenario["workload"].contains("training")) scenario["placement"] = {{"order", {"tp", "pp"}}};
  scenario["run"] = {{"fidelity", dice.one_in(2) ? "stream" : "exact"}, {"iterations", dice.from_to(1, 2)}};
  return scenario;
}

}  // namespace photonrail::worlds
