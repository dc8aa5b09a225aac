// Worlds in which several things go wrong at once: links, NICs, servers and GPUs that fail or stop, beside checkpoints that
// are saved meanwhile and a network within an accuracy. Each alone is in other worlds; three and more seldom meet there.
#include "worlds/twins.hpp"
#include "worlds/world.hpp"

namespace photonrail::worlds {

void draw_troubles(Dice& dice, const Extent& extent, Json& scenario) {
  if (scenario.contains("jobs")) return;
  Json& cluster = scenario["cluster"];
  if (dice.from_to(0, 1) == 0 && extent.gpus_per_server > 1 && !cluster.contains("/nic/gpus"_json_pointer)) {
    cluster["scale_up"].erase("curve");
    cluster["scale_up"].erase("ring");
    cluster["scale_up"]["torus"] = {{"sides", {extent.gpus_per_server}}};
    draw_link_faults(dice, cluster);
  }
  if (dice.from_to(0, 1) == 0) draw_slow_nics(dice, extent, cluster);
  if (dice.from_to(0, 1) == 0) scenario["server_faults"] = Json::array({draw_server_fault(dice, extent)});
  if (dice.from_to(0, 1) == 0) {
    Json stop{{"ranks", {dice.from_to(0, ranks_of(scenario) - 1)}}, {"stops", true}};
    stop["at_us"] = dice.pick<double>({0, 1, 5, 20, 70, 500});
    stop["lasts_us"] = dice.pick<double>({1, 10, 40, 3000});
    scenario["stragglers"] = Json::array({stop});
  }
  if (dice.from_to(0, 1) == 0) scenario["workload"]["checkpoint"] = draw_checkpoint(dice);
  if (dice.from_to(0, 1) == 0) scenario["network"] = {{"accuracy", dice.pick<double>({0.1, 0.01})}};
}

}  // namespace photonrail::worlds
