// Crowds: many unlike messages at once, of which the network may take some together within an accuracy
// (docs/models/network.md). It does so from 2 / accuracy messages on, which share ports or uplinks, and other worlds seldom
// have as many.
#include "worlds/judge.hpp"
#include "worlds/world.hpp"

#include <algorithm>

namespace photonrail::worlds {

namespace {

std::uint32_t servers_of(const Json& scenario) { return scenario["cluster"]["servers"]; }

// The new servers go to the jobs in turn.
void add_servers(Dice& dice, Json& scenario) {
  const std::uint32_t before = servers_of(scenario);
  const std::uint32_t width = scenario["cluster"]["gpus_per_server"];
  const std::uint32_t wish = dice.pick<std::uint32_t>({8, 12, 16, 24, 48});
  const std::uint32_t after = std::max(before, wish / width);
  scenario["cluster"]["servers"] = after;
  if (!scenario.contains("jobs")) return;
  Json& jobs = scenario["jobs"];
  for (std::uint32_t server = before; server < after; ++server) {
    Json& job = jobs[server % jobs.size()];
    if (job.contains("servers")) job["servers"].push_back(server);
  }
}

// Uplinks that leaves share, where most worlds have circuits that one pair has for itself.
void join_electrically(Dice& dice, Json& scenario) {
  scenario = on_electrical_rails(scenario);
  Json& rail = scenario["cluster"]["rail"];
  rail["radix"] = dice.pick<std::uint32_t>({64, 20, 8});
  rail["oversubscription"] = dice.pick<double>({1, 2, 4});
  if (dice.one_in(3)) rail["tier_latency_ns"] = 500;
}

// Messages of drawn sizes; some pairs have none.
Json draw_demand(Dice& dice, std::uint32_t ranks) {
  const std::uint64_t greatest = dice.pick<std::uint64_t>({5000, 200'000, 5'000'000});
  Json rows = Json::array();
  for (std::uint32_t i = 0; i < ranks; ++i) {
    Json row = Json::array();
    for (std::uint32_t j = 0; j < ranks; ++j) {
      row.push_back(dice.from_to(0, 9) == 0 ? 0 : dice.from_to(1, static_cast<std::uint32_t>(greatest)));
    }
    rows.push_back(row);
  }
  return rows;
}

// Routers send each pair of ranks another number of tokens.
Json draw_experts_of_all(Dice& dice, std::uint32_t ranks) {
  Json moe{{"experts", 2 * ranks},
           {"top_k", std::min(2 * ranks, dice.from_to(1, 8))},
           {"tokens", dice.pick<std::uint32_t>({50, 1000, 4000})},
           {"hidden", dice.pick<std::uint32_t>({64, 1024})},
           {"router", {{"kind", "zipf"}, {"exponent", dice.pick<double>({0.3, 1})}}}};
  if (dice.one_in(2)) moe["router"]["source_spread"] = dice.pick<double>({0.2, 1});
  return moe;
}

Json draw_exchange(Dice& dice, std::uint32_t ranks) {
  if (dice.one_in(3)) {
    Json layer = draw_experts_of_all(dice, ranks);
    layer["ffn"] = dice.pick<std::uint32_t>({1, 128});
    layer["execution"] = dice.one_in(3) ? "bulk" : "pipelined";
    layer["ranks"] = ranks;
    return {{"moe_layer", layer}};
  }
  Json call{{"op", "all_to_all"}, {"ranks", ranks}};
  if (dice.one_in(2)) {
    call.erase("ranks");  // the demand says how many
    call["demand"] = draw_demand(dice, ranks);
  } else {
    call["moe"] = draw_experts_of_all(dice, ranks);
  }
  if (!dice.one_in(4)) call["algorithm"] = "direct";
  if (dice.one_in(3)) call["repeat"] = 2;
  if (dice.one_in(3)) call["arrival_delay_us"] = {{std::to_string(dice.from_to(0, ranks - 1)), draw_us(dice)}};
  return {{"collective", call}};
}

void fill_with_crowd(Dice& dice, std::uint32_t servers, std::uint32_t width, Json& job) {
  const std::uint32_t ranks = servers * width;
  if (ranks < 2 || dice.one_in(6)) return;  // it keeps its workload
  const Json checkpoint = job["workload"].value("checkpoint", Json());
  job["workload"] = draw_exchange(dice, ranks);
  if (!checkpoint.is_null()) job["workload"]["checkpoint"] = checkpoint;
  if (!job.contains("placement")) return;
  std::vector<std::uint32_t> gpus;
  for (std::uint32_t gpu = 0; gpu < ranks; ++gpu) gpus.push_back(gpu);
  dice.shuffle(gpus);
  job["placement"] = {{"rank_to_gpu", gpus}};
}

}  // namespace

void draw_crowd(Dice& dice, Json& scenario) {
  constexpr std::uint32_t kMostServers = 64;  // one at the end of its range is left alone
  if (servers_of(scenario) > kMostServers) return;
  if (scenario.dump().find("\"rotor\"") != std::string::npos) return;  // it would turn for as long as all of them take
  if (dice.one_in(2)) join_electrically(dice, scenario);
  // Of a mesh each port has its place on the rim.
  if (!scenario.contains("/cluster/rail/switch/pip"_json_pointer)) add_servers(dice, scenario);
  const std::uint32_t width = scenario["cluster"]["gpus_per_server"];
  if (!scenario.contains("jobs")) return fill_with_crowd(dice, servers_of(scenario), width, scenario);
  for (Json& job : scenario["jobs"]) {
    const auto servers = job.contains("servers") ? static_cast<std::uint32_t>(job["servers"].size()) : servers_of(scenario);
    fill_with_crowd(dice, servers, width, job);
  }
}

}  // namespace photonrail::worlds
