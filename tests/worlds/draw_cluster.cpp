#include "worlds/world.hpp"

namespace photonrail::worlds {

namespace {

Json draw_fault(Dice& dice, const Extent& extent, std::uint32_t planes) {
  Json fault{{"kind", dice.one_in(2) ? "failed" : "stuck"}};
  if (dice.one_in(2)) fault["rail"] = dice.from_to(0, extent.gpus_per_server - 1);
  if (!dice.one_in(4)) fault["server"] = dice.from_to(0, extent.servers - 1);
  if (dice.one_in(2)) fault["port"] = dice.from_to(0, extent.ports - 1);
  fault["at_us"] = dice.pick<double>({0, 1, 5, 20, 70, 500, 2000});
  if (!dice.one_in(8)) fault["lasts_us"] = dice.pick<double>({0, 0, 1, 10, 40, 3000});
  if (!fault.contains("port") && dice.one_in(3)) fault["plane"] = dice.from_to(0, planes - 1);
  if (fault["kind"] == "failed" && dice.one_in(3)) fault["detection_us"] = dice.pick<double>({1, 5, 30, 400});
  return fault;
}

Json draw_switch(Dice& dice) {
  Json optical;
  optical["reconfiguration_us"] =
      dice.one_in(5) ? draw_delay_us(dice) : Json(dice.pick<double>({0, 1, 10, 10, 100, 1000, 10000}));
  if (dice.one_in(6)) optical["settle_us"] = draw_us(dice);
  if (dice.one_in(6)) optical["link_up_us"] = draw_us(dice);
  if (dice.one_in(4)) optical["dark"] = "switch";
  if (dice.one_in(8)) optical["batching_us"] = dice.pick<double>({1, 50, 300});
  if (dice.one_in(8)) optical["commands_per_s"] = dice.pick<double>({1000, 5000, 1e6});
  return optical;
}

std::uint32_t draw_planes(Dice& dice, std::uint32_t ports) {
  std::vector<std::uint32_t> divisors;
  for (std::uint32_t d = 1; d <= ports; ++d) {
    if (ports % d == 0) divisors.push_back(d);
  }
  return dice.pick(divisors);
}

// n x m hexagons have 4 (n + m) + 4 open ends for as many ports.
Json draw_mesh(Dice& dice, std::uint32_t ports) {
  const std::uint32_t sides = std::max(2U, (std::max(ports, 4U) - 4 + 3) / 4) + dice.from_to(0, 6);
  const std::uint32_t rows = dice.from_to(1, sides - 1);
  Json mesh{{"rows", rows}, {"columns", sides - rows}};
  if (dice.one_in(3)) mesh["cell_loss_db"] = 0.1;
  return mesh;
}

void draw_optical(Dice& dice, const Extent& extent, Json& rail) {
  rail["switch"] = draw_switch(dice);
  if (dice.one_in(4)) rail["forwarding"] = true;
  if (dice.one_in(3)) rail["on_dark"] = "pause";
  if (extent.ports > 1 && dice.one_in(2)) rail["planes"] = draw_planes(dice, extent.ports);
  if (extent.servers > 1 && dice.one_in(6)) {
    Json pods{{"servers", dice.from_to(1, extent.servers - 1)}, {"joined_by", dice.one_in(2) ? "optical" : "electrical"}};
    if (pods["joined_by"] == "electrical") pods["oversubscription"] = dice.pick<double>({1, 2, 3});
    if (dice.one_in(2)) pods["latency_us"] = dice.pick<double>({1, 2});
    rail["pods"] = pods;
  }
  if (!rail.contains("pods") && !rail.contains("forwarding") && dice.one_in(6)) {
    rail["switch"]["pip"] = draw_mesh(dice, 2 * extent.servers * (extent.ports / rail.value("planes", 1U)));
  }
  if (!dice.one_in(4)) return;
  rail["faults"] = Json::array();
  for (std::uint32_t left = dice.from_to(1, 3); left > 0; --left) {
    rail["faults"].push_back(draw_fault(dice, extent, rail.value("planes", 1U)));
  }
}

}  // namespace

double draw_us(Dice& dice) { return dice.pick<double>({0, 0, 1, 5, 7, 30, 100, 1000}); }

Json draw_delay_us(Dice& dice) {
  switch (dice.from_to(0, 5)) {
    case 0:
      return {{"distribution", "uniform"}, {"least", 1}, {"greatest", dice.pick<double>({1, 10, 1000})}};
    case 1:
      return {{"distribution", "normal"}, {"mean", 20}, {"deviation", dice.pick<double>({0, 5, 40})}};
    case 2:
      return {{"distribution", "log_normal"}, {"median", 10}, {"sigma", dice.pick<double>({0, 0.5, 2})}};
    case 3:
      return {{"distribution", "empirical"}, {"samples", {0, 3, 50}}};
    default:
      return draw_us(dice);
  }
}

// What servers differ in: protocols by the size of a message, NICs that GPUs share, GPUs of another speed, and exchanges
// that take multiprocessors.
void draw_hardware(Dice& dice, const Extent& extent, Json& scenario) {
  Json& cluster = scenario["cluster"];
  Json& inside = cluster["scale_up"];
  if (!inside.contains("torus") && !inside.contains("ring") && dice.one_in(2)) {
    const auto rate = inside["gb_per_s"].get<double>();
    inside["curve"] = Json::array({{{"step_ns", 512}, {"gb_per_s", rate / 4}}, {{"step_ns", 4096}, {"gb_per_s", rate}}});
  }
  if (!extent.optical && dice.one_in(2)) cluster["nic"]["gpus"] = extent.gpus_per_server;
  if (dice.one_in(2)) {
    cluster["unlike_gpus"] = Json::array({{{"servers", {0}}, {"speed", dice.pick<double>({0.5, 2})}}});
    if (extent.servers > 1 && dice.one_in(3)) {
      cluster["unlike_gpus"].push_back(gpu_of_another_model());
    }
  }
  if (dice.one_in(2)) scenario["executor"]["sm_share"] = {{"dp", 0.25}, {"tp", 0.5}, {"ep", 0.125}};
}

Json draw_cluster(Dice& dice, Extent& extent) {
  extent.servers = dice.pick<std::uint32_t>({1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8});
  extent.gpus_per_server = dice.pick<std::uint32_t>({1, 1, 1, 1, 2, 2, 3, 4});
  extent.ports = dice.pick<std::uint32_t>({1, 1, 1, 1, 2, 2, 3, 4});
  extent.optical = !dice.one_in(6);
  Json cluster{{"servers", extent.servers}, {"gpus_per_server", extent.gpus_per_server}};
  cluster["gpu"] = {{"peak_tflops", dice.pick<double>({100, 1000})}, {"memory_gb_per_s", 2048}};
  cluster["scale_up"] = {{"gb_per_s", dice.pick<double>({450, 128, 70})},
                         {"latency_ns", dice.pick<double>({0, 0, 512, 936.25})}};
  cluster["nic"] = {{"ports", extent.ports},
                    {"port_gb_per_s", dice.pick<double>({50, 50, 25, 33.3, 400, 1})},
                    {"latency_ns", dice.pick<double>({0, 0, 1000, 936.25})},
                    {"message_overhead_ns", dice.pick<double>({0, 0, 10, 500, 20000})}};
  Json rail{{"kind", extent.optical ? "optical" : "electrical"}};
  if (extent.optical) {
    draw_optical(dice, extent, rail);
  } else {
    rail["radix"] = dice.pick<std::uint32_t>({64, 64, 2, 4, 8});
    if (dice.one_in(2)) rail["oversubscription"] = dice.pick<double>({1, 2, 3});
    if (rail.contains("oversubscription") && dice.one_in(4)) rail["fewer_spines"] = true;
    if (dice.one_in(2)) rail["tier_latency_ns"] = 500;
  }
  cluster["rail"] = rail;
  return cluster;
}

// Any of them may cut a GPU off for good: then the world is stuck, and says why.
void draw_link_faults(Dice& dice, Json& cluster) {
  Json& links = cluster["scale_up"];
  const std::uint32_t gpus = cluster["gpus_per_server"];
  links["faults"] = Json::array();
  for (std::uint32_t left = dice.from_to(1, 3); left > 0; --left) {
    Json fault = Json::object();
    if (links.contains("torus") && links["torus"].contains("cube") && dice.one_in(2)) {
      const std::size_t others = links["torus"]["sides"].size() - 1;
      fault["switch"] = {{"dimension", 0}, {"at", Json::array()}};
      for (std::size_t i = 0; i < others; ++i) {
        fault["switch"]["at"].push_back(dice.from_to(0, links["torus"]["cube"].get<std::uint32_t>() - 1));
      }
    } else {
      const std::uint32_t gpu = dice.from_to(0, gpus - 1);
      fault["gpu"] = gpu;
      if (dice.from_to(0, 2) > 0 && (gpu ^ 1U) < gpus)
        fault["to"] = gpu ^ 1U;  // one link, around which there may be other ways
    }
    if (dice.one_in(2)) fault["server"] = dice.from_to(0, cluster["servers"].get<std::uint32_t>() - 1);
    if (dice.one_in(2)) fault["rate"] = dice.pick<double>({0, 0.5, 0.9});
    fault["at_us"] = dice.pick<double>({0, 1, 5, 20, 70, 500, 2000});
    if (!dice.one_in(8)) fault["lasts_us"] = dice.pick<double>({0, 0, 1, 10, 40, 3000});
    links["faults"].push_back(fault);
  }
}

void draw_links(Dice& dice, Json& cluster) {
  const std::uint32_t gpus = cluster["gpus_per_server"];
  Json& links = cluster["scale_up"];
  if (dice.one_in(6)) {
    links["ring"] = {{"reach", dice.from_to(1, 3)}};
  } else {
    Json torus{{"sides", {gpus}}};
    if (gpus > 2 && gpus % 2 == 0 && dice.from_to(0, 2) > 0) torus["sides"] = {gpus / 2, 2};
    if (gpus == 8 && dice.from_to(0, 2) > 0) torus["sides"] = {2, 2, 2};
    if (dice.one_in(2)) torus["wrap"] = dice.one_in(2);
    if (gpus % 2 == 0 && dice.one_in(4)) {
      torus["cube"] = dice.one_in(2) ? 1 : 2;
      torus["face_latency_ns"] = dice.pick<double>({0, 100, 936.25});
    }
    // One row of three nodes.
    if (gpus == 3 && dice.one_in(2)) torus = {{"sides", {1, 3}}, {"cube", 1}, {"rail_rings", true}};
    links["torus"] = torus;
  }
  if (dice.one_in(3)) links["pooled"] = true;
  const bool has_other_ways = gpus >= 4;
  if (gpus > 1 && (dice.one_in(3) || (has_other_ways && dice.from_to(0, 2) > 0))) draw_link_faults(dice, cluster);
}

void draw_slow_nics(Dice& dice, const Extent& extent, Json& cluster) {
  Json& rail = cluster["rail"];
  if (!rail.contains("faults")) rail["faults"] = Json::array();
  for (std::uint32_t left = dice.from_to(1, 2); left > 0; --left) {
    Json fault = draw_fault(dice, extent, rail.value("planes", 1U));
    fault.erase("detection_us");
    fault["kind"] = "slow";
    fault["rate"] = dice.pick<double>({1, 0.75, 0.5, 0.25});
    if (!extent.optical) {  // whole NICs, which may fail too
      fault.erase("port");
      fault.erase("plane");
      if (dice.one_in(3)) fault.erase("rate");
      if (!fault.contains("rate")) fault["kind"] = "failed";
    }
    rail["faults"].push_back(fault);
  }
}

// The longest of the shortest ways of a mesh has about as many cells as twice its sides together: budgets around what that
// loses, so that some circuits have too little light beside others; a few meshes are refused.
void draw_light(Dice& dice, const Extent& extent, Json& cluster) {
  Json& rail = cluster["rail"];
  if (!extent.optical) return;
  if (!rail["switch"].contains("pip") && !rail.contains("pods") && !rail.contains("forwarding") && dice.one_in(2)) {
    rail["switch"]["pip"] = draw_mesh(dice, 2 * extent.servers * (extent.ports / rail.value("planes", 1U)));
  }
  if (!rail["switch"].contains("pip")) {
    rail["switch"]["insertion_loss_db"] = dice.pick<double>({0.5, 1});
    cluster["nic"]["optical_budget_db"] = dice.pick<double>({3, 3, 1});
    return;
  }
  Json& mesh = rail["switch"]["pip"];
  if (dice.one_in(3)) mesh["port_loss_db"] = dice.pick<double>({0, 0.5});
  if (dice.one_in(2)) mesh["crosstalk_db"] = dice.pick<double>({-60, -40, -25});
  const double cells = 2.0 * (mesh["rows"].get<double>() + mesh["columns"].get<double>()) + 2.0;
  const double lost = 2.0 * mesh.value("port_loss_db", 1.0) + cells * (mesh.value("cell_loss_db", 0.25) + 0.005);
  cluster["nic"]["optical_budget_db"] = lost * dice.pick<double>({1, 1, 1.1, 1.1, 1.5, 4});
}

Json draw_server_fault(Dice& dice, const Extent& extent) {
  Json fault{{"server", dice.from_to(0, extent.servers - 1)}, {"at_us", dice.pick<double>({0, 1, 5, 20, 70, 500, 2000})}};
  if (dice.one_in(2)) fault["detection_us"] = dice.pick<double>({1, 5, 30});
  if (!dice.one_in(8)) fault["lasts_us"] = dice.pick<double>({30, 40, 3000});
  return fault;
}

Json gpu_of_another_model() {
  return {{"servers", {1}},
          {"gpus", {0}},
          {"speed", 0.75},
          {"memory_gb", 40},
          {"gpu", {{"peak_tflops", 250}, {"memory_gb_per_s", 1536}}}};
}

}  // namespace photonrail::worlds
