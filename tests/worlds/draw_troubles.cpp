// Worlds in which several things go wrong at once: links, NICs, servers and GPUs that fail or stop, beside checkpoints that
// are saved meanwhile and a network within an accuracy. Each alone is in other worlds; three and more seldom meet there.
#include "worlds/twins.hpp"
#include "worlds/world.hpp"

namespace photonrail::worlds {

namespace {

// Half of what goes wrong begins at one instant, which what changes at others seldom meets.
void gather(Dice& dice, double at_us, Json& faults) {
  for (Json& fault : faults) {
    if (fault.contains("at_us") && dice.from_to(0, 1) == 0) fault["at_us"] = at_us;
    if (fault.contains("lasts_us") && dice.from_to(0, 1) == 0) fault["lasts_us"] = dice.pick<double>({1, 3, 5, 10, 40});
  }
}

}  // namespace

void draw_troubles(Dice& dice, const Extent& extent, Json& scenario) {
  if (scenario.contains("jobs")) return;
  Json& cluster = scenario["cluster"];
  if (dice.from_to(0, 1) == 0 && extent.gpus_per_server > 1 && !cluster.contains("/nic/gpus"_json_pointer)) {
    cluster["scale_up"].erase("curve");
    cluster["scale_up"].erase("ring");
    const std::uint32_t gpus = extent.gpus_per_server;
    cluster["scale_up"]["torus"] = {{"sides", gpus == 4 ? Json{2, 2} : Json{gpus}}};
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
  const double at_us = dice.pick<double>({0, 1, 1, 5, 20, 70});
  for (const auto& faults : {"/cluster/scale_up/faults"_json_pointer, "/cluster/rail/faults"_json_pointer,
                             "/server_faults"_json_pointer, "/stragglers"_json_pointer}) {
    if (scenario.contains(faults)) gather(dice, at_us, scenario[faults]);
  }
}

}  // namespace photonrail::worlds
