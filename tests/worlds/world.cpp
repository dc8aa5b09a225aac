#include "worlds/world.hpp"

#include "photonrail/collective.hpp"
#include "worlds/plan.hpp"

#include <algorithm>
#include <fstream>

namespace photonrail::worlds {

namespace {

std::vector<std::uint32_t> numbers(std::uint32_t count) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < count; ++i) list.push_back(i);
  return list;
}

// Which GPUs the ranks are on, now and then; training jobs also by order.
void draw_placement(Dice& dice, const Extent& extent, std::uint32_t ranks, Json& job) {
  if (!dice.one_in(5)) return;
  std::vector<std::uint32_t> gpus = numbers(extent.gpus());
  dice.shuffle(gpus);
  gpus.resize(ranks);
  job["placement"] = {{"rank_to_gpu", gpus}};
}

// GPUs that stop or become slow at a time, mostly until a repair.
Json draw_gpu_failure(Dice& dice, std::uint32_t ranks) {
  Json failure{{"ranks", dice.one_in(4) ? Json("all") : Json{dice.from_to(0, ranks - 1)}}};
  if (dice.one_in(2)) {
    failure["stops"] = true;
  } else {
    failure["slowdown"] = dice.pick<double>({1, 1.5, 3});
  }
  failure["at_us"] = dice.pick<double>({0, 1, 5, 20, 70, 500, 2000});
  if (!dice.one_in(8)) failure["lasts_us"] = dice.pick<double>({0, 1, 10, 40, 3000});
  return failure;
}

Json draw_straggler(Dice& dice, std::uint32_t ranks) {
  if (dice.one_in(3)) return draw_gpu_failure(dice, ranks);
  Json straggler;
  switch (dice.from_to(0, 2)) {
    case 0:
      straggler["ranks"] = "all";
      break;
    case 1:
      straggler["ranks"] = "random";
      break;
    default:
      straggler["ranks"] = {dice.from_to(0, ranks - 1)};
      break;
  }
  if (dice.one_in(2)) straggler["slowdown"] = dice.pick<double>({1, 1.5, 3});
  straggler["delay_us"] = dice.one_in(3) ? Json({1, 100}) : draw_delay_us(dice);
  return straggler;
}

void draw_job(Dice& dice, const Extent& extent, Json& job) {
  std::uint32_t ranks = 1;
  job["workload"] = draw_workload(dice, extent, ranks);
  draw_placement(dice, extent, ranks, job);
  if (!dice.one_in(8)) return;
  job["stragglers"] = Json::array();
  for (std::uint32_t left = dice.from_to(1, 2); left > 0; --left) job["stragglers"].push_back(draw_straggler(dice, ranks));
}

// Jobs on servers of their own, or on GPUs of their own among all servers.
void draw_jobs(Dice& dice, const Extent& extent, Json& scenario) {
  scenario["jobs"] = Json::array();
  std::vector<std::uint32_t> servers = numbers(extent.servers);
  if (dice.one_in(2)) dice.shuffle(servers);
  std::size_t next = 0;
  const std::uint32_t count = dice.from_to(1, std::min(extent.servers, 3u));
  for (std::uint32_t j = 0; j < count && next < servers.size(); ++j) {
    Json job = Json::object();
    Extent own = extent;
    const std::size_t left = servers.size() - next;
    const std::size_t take = j + 1 == count && dice.one_in(2) ? left : std::max<std::size_t>(1, left / (count - j));
    own.servers = static_cast<std::uint32_t>(take);
    const auto first = servers.begin() + static_cast<std::ptrdiff_t>(next);
    if (count > 1 || dice.one_in(2)) {
      job["servers"] = std::vector<std::uint32_t>(first, first + static_cast<std::ptrdiff_t>(take));
    } else {
      own.servers = extent.servers;
    }
    next += take;
    if (dice.one_in(2)) job["start_us"] = dice.pick<double>({0, 1, 50, 1000});
    if (dice.one_in(4)) job["iterations"] = dice.from_to(1, 2);
    draw_job(dice, own, job);
    if (extent.optical && dice.one_in(4)) {
      Extent whole = extent;
      job["controller"] = draw_controller(dice, whole);
    }
    scenario["jobs"].push_back(job);
  }
}

void draw_collectives(Dice& dice, const Extent& extent, Json& scenario) {
  Json collectives = Json::object();
  if (dice.one_in(4)) collectives["chunks"] = dice.pick<std::uint32_t>({1, 2, 3, 4, 8, 16});
  if (dice.one_in(8)) collectives["straggler"] = dice.pick<std::string>({"eager", "predicted"});
  const CollectiveRegistry registry = CollectiveRegistry::builtin();
  for (const CollectiveOp op : {CollectiveOp::kAllReduce, CollectiveOp::kAllGather, CollectiveOp::kReduceScatter,
                                CollectiveOp::kAllToAll, CollectiveOp::kBroadcast}) {
    if (!dice.one_in(8)) continue;
    std::vector<std::string> names{"auto"};
    for (const auto& algorithm : registry.all()) {
      if (algorithm->supports(op, std::max(extent.gpus(), 2u)) && algorithm->supports(op, 2))
        names.emplace_back(algorithm->name());
    }
    collectives[std::string(name(op))] = dice.pick(names);
  }
  if (!collectives.empty()) scenario["collectives"] = collectives;
}

// One value at the end of its range: sums must not overflow, and memory must follow the job.
void draw_extreme(Dice& dice, const Extent& extent, Json& scenario) {
  Json& cluster = scenario["cluster"];
  // A rotor, or harvest, turns on for as long as a run takes: one of days has more events than a search has time for.
  for (const char* const turns : {"\"rotor\"", "\"harvest\""}) {
    if (scenario.dump().find(turns) != std::string::npos) return;
  }
  switch (dice.from_to(0, 5)) {
    case 0:
      cluster["nic"]["port_gb_per_s"] = dice.one_in(2) ? 1e9 : 1e-6;
      break;
    case 1:
      cluster["nic"]["latency_ns"] = 1e15;
      break;
    case 2:
      if (extent.optical) cluster["rail"]["switch"]["reconfiguration_us"] = dice.pick<double>({6e7, 1e12});
      break;
    case 3:
      if (scenario.contains("/workload/collective/bytes"_json_pointer)) {
        scenario["workload"]["collective"]["bytes"] = std::uint64_t{1} << 50;
        if (dice.one_in(2)) scenario["workload"]["collective"]["repeat"] = 2000;
      }
      cluster["nic"]["port_gb_per_s"] = 1e9;
      cluster["scale_up"]["gb_per_s"] = 1e9;
      break;
    case 4:
      // Links are simulated one by one, for 2^18 GPUs at the most.
      if (scenario.contains("/workload/graph/ranks"_json_pointer)) {
        cluster["servers"] = cluster["scale_up"].contains("torus") || cluster["scale_up"].contains("ring") ? 60000 : 200000;
      }
      break;
    default:
      scenario["run"]["seed"] = ~std::uint64_t{0};
      break;
  }
}

// Of streams of their own and last: a world that says no more of its training has the rest as it was.
void draw_trainings(std::uint64_t seed, Json& scenario) {
  Dice dice(seed, "parts of training");
  const auto draw = [&](Json& job) {
    if (job.contains("/workload/training"_json_pointer) && dice.from_to(0, 1) == 0) {
      draw_training_parts(dice, job["workload"]["training"]);
    }
  };
  draw(scenario);
  if (!scenario.contains("jobs")) return;
  for (Json& job : scenario["jobs"]) draw(job);
}

// Links have other ways around a failed one from four GPUs on.
void draw_width(Dice& dice, Extent& extent, Json& cluster) {
  if (extent.servers > 3 || dice.from_to(0, 1) == 1) return;
  extent.gpus_per_server = dice.pick<std::uint32_t>({4, 4, 6, 8});
  cluster["gpus_per_server"] = extent.gpus_per_server;
}

// Of a stream of its own and last: where it is not drawn, a seed has the world that it had before.
void draw_accuracy(std::uint64_t seed, Json& scenario) {
  Dice dice(seed, "accuracy");
  if (dice.from_to(1, 12) != 1) return;
  scenario["network"] = {{"accuracy", dice.pick<double>({0.1, 0.1, 0.01, 0.001})}};
  if (dice.from_to(1, 2) == 1) draw_crowd(dice, scenario);
}

}  // namespace

// Into the memory of peers, if each rank has one, or over a network of its own.
Json draw_checkpoint(Dice& dice) {
  Json checkpoint{{"to", dice.one_in(2) ? "peer" : "own_network"},
                  {"bytes_per_rank", dice.pick<std::uint32_t>({0, 1, 5000, 5'000'000})}};
  if (checkpoint["to"] == "own_network") checkpoint["gb_per_s"] = dice.pick<double>({50, 1});
  if (dice.one_in(2)) {
    checkpoint["mode"] = "asynchronous";
    checkpoint["over_steps"] = dice.from_to(1, 2);
  }
  if (dice.one_in(3)) checkpoint["host_gb_per_s"] = 50;
  return checkpoint;
}

World draw_ordinary(std::uint64_t seed) {
  Dice dice(seed, "worlds");
  Extent extent;
  Json scenario{{"schema", "photonrail.scenario/1"}, {"name", "world " + std::to_string(seed)}};
  // Of a stream of their own: what else is drawn stays as it is without them.
  Dice shapes(seed, "shapes of servers");
  const bool linked = shapes.from_to(1, 6) == 1;
  if (dice.from_to(1, 16) == 1) {
    scenario.update(draw_plain(dice));
    if (linked) draw_links(shapes, scenario["cluster"]);
    draw_accuracy(seed, scenario);
    return {seed, scenario};
  }
  scenario["cluster"] = draw_cluster(dice, extent);
  if (linked) draw_width(shapes, extent, scenario["cluster"]);
  if (extent.optical) scenario["controller"] = draw_controller(dice, extent);
  if (dice.one_in(3)) {
    scenario["executor"] = {{"comm_lanes", dice.one_in(2) ? "one" : "per_communicator"},
                            {"buffered_send_bytes", dice.one_in(2) ? 0 : 4194304}};
    if (dice.one_in(3)) scenario["executor"]["concurrent_collectives"] = "together";
  }
  draw_collectives(dice, extent, scenario);
  if (dice.one_in(4)) {
    draw_jobs(dice, extent, scenario);
  } else {
    draw_job(dice, extent, scenario);
  }
  Json run{{"seed", dice.from_to(1, 1000)}, {"fidelity", dice.one_in(2) ? "stream" : "exact"}};
  if (dice.one_in(3)) run["iterations"] = dice.from_to(2, 3);
  if (dice.one_in(4)) run["folding"] = false;
  if (Dice(seed, "spread").one_in(25)) run["spread_seeds"] = static_cast<int>(1 + seed % 3);
  scenario["run"] = run;
  if (linked) draw_links(shapes, scenario["cluster"]);
  Dice added(seed, "slow NICs, servers, checkpoints");
  if (added.one_in(12)) draw_slow_nics(added, extent, scenario["cluster"]);
  if (added.one_in(12)) scenario["server_faults"] = Json::array({draw_server_fault(added, extent)});
  if (added.one_in(12) && !scenario.contains("jobs")) scenario["workload"]["checkpoint"] = draw_checkpoint(added);
  Dice hardware(seed, "hardware");
  if (hardware.one_in(6)) draw_hardware(hardware, extent, scenario);
  Dice tiers(seed, "tiers");
  if (tiers.one_in(extent.optical ? 16 : 2)) draw_tiers(tiers, extent, scenario["cluster"]);
  Dice light(seed, "light");
  if (light.one_in(10)) draw_light(light, extent, scenario["cluster"]);
  if (dice.one_in(25)) draw_extreme(dice, extent, scenario);
  draw_trainings(seed, scenario);
  Dice troubles(seed, "troubles");
  if (troubles.from_to(1, 10) == 1) draw_troubles(troubles, extent, scenario);
  draw_accuracy(seed, scenario);
  Dice links(seed, "bypass and twist");
  draw_bypass(links, scenario);
  if (links.from_to(1, 30) == 1) draw_twist(links, scenario);
  draw_options(seed, scenario);
  Dice whole(seed, "whole microseconds");
  if (whole.from_to(1, 5) == 1) draw_whole(whole, scenario);
  return {seed, scenario};
}

World draw_world(std::uint64_t number) {
  if (number % 2 == 1) return draw_ordinary(number);
  World child = Plan::of_worlds().child(number / 2);
  child.seed = number;
  child.scenario["name"] = "world " + std::to_string(number);
  return child;
}

std::string to_text(const World& world) { return world.scenario.dump(1) + "\n"; }

World read_world(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {0, Json::parse(in)};
}

}  // namespace photonrail::worlds
