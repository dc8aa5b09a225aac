// The same messages through SimGrid's flows and through this project's network, for time, memory and the makespan side by
// side. SimGrid (libsimgrid-dev of Debian, LGPL) solves the same max-min fair rates, flow by flow.
//
// usage: photonrail_beside_simgrid simgrid|photonrail equal|random|tiers|in_turn RANKS    prints CPU s, peak MB, makespan
// in s
//   equal, random: all to all at once on one switch; tiers: random sizes over leaves with uplinks 4:1; in_turn: each rank
//   to all others one after another over the same leaves.
#include "bench/loads.hpp"
#include "run/peak_memory.hpp"

#include <simgrid/s4u.hpp>

#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace photonrail::bench {
namespace {

namespace sg = simgrid::s4u;

double seconds_of(Time time) { return static_cast<double>(time.since_start().count()) * 1e-12; }

double by_photonrail(const std::string& load, std::uint32_t ranks) {
  if (load == "equal" || load == "random") {
    Switch network(ranks);
    network.post_all_to_all(load == "random");
    network.run();
    return seconds_of(network.now());
  }
  Tree network(ranks);
  load == "tiers" ? network.post_all_to_all() : network.post_one_after_another();
  network.run();
  return seconds_of(network.now());
}

constexpr double kLatency = 936.25e-9;  // s

/// Switch, or with `tiers` Tree: links for what are capacities there.
std::vector<sg::Host*> make_hosts(std::uint32_t ranks, bool tiers, double latency_s) {
  sg::NetZone* const zone = sg::create_full_zone("rail");
  const auto link = [&](const std::string& name, double rate, double latency) {
    return zone->create_link(name, rate)->set_latency(latency)->seal();
  };
  std::vector<sg::Host*> hosts;
  std::vector<sg::Link*> links[4];  // transmit, receive; up, down
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const std::string name = std::to_string(i);
    hosts.push_back(zone->create_host(name, 1e9)->seal());
    links[0].push_back(link("transmit " + name, 50e9, latency_s));
    links[1].push_back(link("receive " + name, 50e9, 0.0));
    if (!tiers || i % kLeaf != 0) continue;
    links[2].push_back(link("up " + name, 50e9 * kLeaf / 4, 0.0));
    links[3].push_back(link("down " + name, 50e9 * kLeaf / 4, 0.0));
  }
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      std::vector<sg::LinkInRoute> path{sg::LinkInRoute(links[0][from])};
      if (tiers && from / kLeaf != to / kLeaf) {
        path.emplace_back(links[2][from / kLeaf]);
        path.emplace_back(links[3][to / kLeaf]);
      }
      path.emplace_back(links[1][to]);
      zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, path, false);
    }
  }
  zone->seal();
  return hosts;
}

/// Flows without the corrections of its TCP model: no bandwidth or latency factor, no window, no traffic of
/// acknowledgements, no weight by latency.
double by_simgrid(const std::string& load, std::uint32_t ranks, int argc, char** argv) {
  sg::Engine engine(&argc, argv);
  for (const char* setting : {"network/model:CM02", "network/crosstraffic:0", "network/weight-S:0", "network/TCP-gamma:0",
                              "network/bandwidth-factor:1", "network/latency-factor:1"}) {
    sg::Engine::set_config(setting);
  }
  std::vector<std::vector<std::pair<std::uint32_t, std::uint64_t>>> in_turn(ranks);
  std::vector<sg::Host*> hosts;
  double after_last = 0.0;
  if (load == "in_turn") {
    // Here a NIC sends the next message while the one before is on its way: the latency counts once.
    hosts = make_hosts(ranks, true, 0.0);
    after_last = kLatency;
    to_each_in_turn(ranks, [&](std::uint32_t from, std::uint32_t to, Bytes bytes) {
      in_turn[from].emplace_back(to, static_cast<std::uint64_t>(bytes.count));
    });
    for (std::uint32_t from = 0; from < ranks; ++from) {
      sg::Actor::create(std::to_string(from), hosts[from], [&, from] {
        for (const auto& [to, bytes] : in_turn[from]) sg::Comm::sendto(hosts[from], hosts[to], bytes);
      });
    }
  } else {
    hosts = make_hosts(ranks, load == "tiers", kLatency);
    sg::Actor::create("all", hosts[0], [&] {
      std::vector<sg::CommPtr> messages;
      all_to_all(ranks, load != "equal", [&](std::uint32_t from, std::uint32_t to, Bytes bytes) {
        messages.push_back(sg::Comm::sendto_async(hosts[from], hosts[to], static_cast<std::uint64_t>(bytes.count)));
      });
      sg::Comm::wait_all(messages);
    });
  }
  engine.run();
  return sg::Engine::get_clock() + after_last;
}

}  // namespace
}  // namespace photonrail::bench

int main(int argc, char** argv) {
  const std::string tool = argc == 4 ? argv[1] : "";
  const std::string load = argc == 4 ? argv[2] : "";
  const bool known = (tool == "simgrid" || tool == "photonrail") &&
                     (load == "equal" || load == "random" || load == "tiers" || load == "in_turn");
  const auto ranks = static_cast<std::uint32_t>(known ? std::atoi(argv[3]) : 0);
  if (ranks < 2) {
    std::fputs("usage: photonrail_beside_simgrid simgrid|photonrail equal|random|tiers|in_turn RANKS\n", stderr);
    return 2;
  }
  const std::clock_t begin = std::clock();
  const double makespan = tool == "simgrid" ? photonrail::bench::by_simgrid(load, ranks, argc, argv)
                                            : photonrail::bench::by_photonrail(load, ranks);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%.4f,%.1f,%.9f\n", seconds, photonrail::run::peak_rss_mb(), makespan);
  return 0;
}
