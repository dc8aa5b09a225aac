// Pools of engines: their sizes and servers, and whether these fit each other.
#include "config/scenario_serving.hpp"
#include "core/counted.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace photonrail::config {

namespace {

void check_shape(const JsonReader& section, const ClusterSpec& cluster, const ServedPool& pool, bool flows) {
  const std::string name = "pool \"" + pool.name + "\": ";
  const std::string tp = name + "tp " + std::to_string(pool.tp);
  if (!flows && cluster.gpus_per_server % pool.tp != 0) {
    section.fail(tp + " does not divide the " + core::counted(cluster.gpus_per_server, "GPU") + " of a server",
                 "stages lie inside servers unless \"collectives\" are \"flows\"");
  }
  const std::uint64_t gpus = pool.servers.size() * std::uint64_t{cluster.gpus_per_server};
  const std::uint64_t together = std::uint64_t{pool.tp} * pool.pp * pool.dp;
  if (gpus % together != 0) {
    section.fail(tp + " x pp " + std::to_string(pool.pp) + " x dp " + std::to_string(pool.dp) + " does not divide its " +
                     core::counted(gpus, "GPU"),
                 "give the pool as many servers as its engines take");
  }
  if (pool.pp > 1 && pool.dp > 1) section.fail(name + "has stages and engines that step together", "pp or dp");
  if (!pool.scaling) return;
  if (pool.pp > 1 || pool.dp > 1) section.fail(name + "engines with pp or dp do not scale", "remove \"scaling\"");
  if (gpus / together < pool.scaling->least)
    section.fail(name + "has fewer than the " + core::counted(pool.scaling->least, "engine") + " of \"least\"");
}

void give_sizes(const JsonReader& section, ServingFile& file) {
  const auto give = [&](const char* key, std::uint32_t& common, std::uint32_t ServedPool::*own) {
    const auto open = std::count_if(file.pools.begin(), file.pools.end(), [&](const auto& pool) { return pool.*own == 0; });
    if (common > 0 && open == 0)
      section.fail_at(key, "has no effect: each pool has its own", std::string("remove it, or \"") + key + "\" of a pool");
    for (ServedPool& pool : file.pools) {
      if (pool.*own == 0) pool.*own = std::max(common, 1U);
    }
  };
  give("tp", file.tp, &ServedPool::tp);
  give("pp", file.pp, &ServedPool::pp);
  give("dp", file.dp, &ServedPool::dp);
}

// Servers of each pool: what it names, or what no other does.
void deal_servers(const JsonReader& section, const ClusterSpec& cluster, bool flows, std::vector<ServedPool>& pools) {
  std::set<std::uint32_t> taken;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    for (const std::uint32_t server : pools[p].servers) {
      if (!taken.insert(server).second)
        section.fail("server " + std::to_string(server) + " is in two pools", "give each pool servers of its own");
    }
  }
  std::vector<std::uint32_t> rest;
  for (std::uint32_t server = 0; server < cluster.servers; ++server) {
    if (taken.count(server) == 0) rest.push_back(server);
  }
  const auto open = std::count_if(pools.begin(), pools.end(), [](const ServedPool& p) { return p.servers.empty(); });
  if (open > 1) section.fail("several pools name no servers", "name those of all but one");
  for (ServedPool& pool : pools) {
    if (pool.servers.empty()) pool.servers = rest;
    if (pool.servers.empty())
      section.fail("pool \"" + pool.name + "\" has no GPUs", "name its servers, or add some to /cluster");
    check_shape(section, cluster, pool, flows);
  }
}

void check_roles(const JsonReader& section, const std::vector<ServedPool>& pools) {
  std::size_t of[3] = {};
  for (const ServedPool& pool : pools) ++of[static_cast<std::size_t>(pool.role)];
  const auto [mixed, prefill, decode] = of;
  if ((prefill > 0) != (decode > 0))
    section.fail("has pools of one of the roles \"prefill\" and \"decode\" only", "one needs the other");
  if (mixed > 0 && prefill > 0) section.fail("has mixed pools beside others", "either all are mixed, or none is");
}

}  // namespace

void settle_pools(const JsonReader& section, const ClusterSpec& cluster, ServingFile& file) {
  give_sizes(section, file);
  deal_servers(section, cluster, file.flows, file.pools);
  check_roles(section, file.pools);
}

}  // namespace photonrail::config
